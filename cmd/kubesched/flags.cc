// SPDX-License-Identifier: Apache-2.0
#include "flags.h"

#include <arpa/inet.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "base/logging.h"
#include "config/defaults.h"
#include "config/load.h"
#include "config/nearest_name.h"

namespace ks {
namespace {

// Flags of upstream that this version does not have.
constexpr std::string_view kLaterFlags[] = {
    "allow-metric-labels",
    "allow-metric-labels-manifest",
    "authentication-kubeconfig",
    "authentication-skip-lookup",
    "authentication-token-webhook-cache-ttl",
    "authentication-tolerate-lookup-failure",
    "authorization-always-allow-paths",
    "authorization-kubeconfig",
    "authorization-webhook-cache-authorized-ttl",
    "authorization-webhook-cache-unauthorized-ttl",
    "cert-dir",
    "client-ca-file",
    "contention-profiling",
    "disable-http2-serving",
    "disabled-metrics",
    "emulated-version",
    "feature-gates",
    "http2-max-streams-per-connection",
    "kube-api-burst",
    "kube-api-content-type",
    "kube-api-qps",
    "leader-elect-lease-duration",
    "leader-elect-renew-deadline",
    "leader-elect-resource-lock",
    "leader-elect-resource-name",
    "leader-elect-resource-namespace",
    "leader-elect-retry-period",
    "log-flush-frequency",
    "log-json-info-buffer-size",
    "log-json-split-stream",
    "log-text-info-buffer-size",
    "log-text-split-stream",
    "logging-format",
    "min-compatibility-version",
    "permit-address-sharing",
    "permit-port-sharing",
    "pod-max-in-unschedulable-pods-duration",
    "profiling",
    "requestheader-allowed-names",
    "requestheader-client-ca-file",
    "requestheader-extra-headers-prefix",
    "requestheader-group-headers",
    "requestheader-uid-headers",
    "requestheader-username-headers",
    "show-hidden-metrics-for-version",
    "tls-cipher-suites",
    "tls-curve-preferences",
    "tls-min-version",
    "tls-sni-cert-key",
    "vmodule",
    "write-config-to",
};

constexpr std::string_view kFlags[] = {
    "bind-address",         "config", "help",        "kubeconfig",
    "leader-elect",         "master", "secure-port", "tls-cert-file",
    "tls-private-key-file", "v",      "version",
};

// Values as given; they are read by this file so that errors have upstream's words.
struct RawFlags {
  Options options;
  std::string secure_port;
  std::string verbosity;
  std::string leader_elect;
  std::string version;
};

class Parser {
 public:
  ParsedFlags Parse(const std::vector<std::string>& arguments);

 private:
  void Declare(CLI::App& app);
  void CheckRest(const std::vector<std::string>& rest);
  void CheckFlagName(const std::string& argument);
  void CheckValues(CLI::App& app);
  void CheckServing(CLI::App& app);
  ParsedFlags Failed() const;

  RawFlags raw_;
  bool version_asked_ = false;
  std::vector<std::string> errors_;
};

std::string InvalidArgument(const std::string& value, const std::string& flag,
                            const std::string& reason) {
  return "invalid argument \"" + value + "\" for \"" + flag + "\" flag: " + reason;
}

std::string NumberError(const char* function, const std::string& value, std::errc error) {
  return std::string("strconv.") + function + ": parsing \"" + value + "\": " +
         (error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax");
}

// Go's strconv.ParseBool.
std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) {
      return true;
    }
  }
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) {
      return false;
    }
  }
  return std::nullopt;
}

std::errc ParseNumber(std::string_view text, int& value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return end == text.data() + text.size() ? error : std::errc::invalid_argument;
}

// Upstream takes --leader_elect for --leader-elect; CLI11 wants an empty value as a word of its
// own.
std::vector<std::string> Normalize(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("-v=")) {
      result.push_back("-" + argument);
      continue;
    }
    if (!argument.starts_with("--") || argument == "--") {
      result.push_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    std::replace(name.begin(), name.end(), '_', '-');
    if (equals == std::string::npos) {
      result.push_back(std::move(name));
    } else if (equals + 1 == argument.size()) {
      result.push_back(std::move(name));
      result.emplace_back();
    } else {
      result.push_back(name + argument.substr(equals));
    }
  }
  return result;
}

void Parser::Declare(CLI::App& app) {
  Options& options = raw_.options;
  const auto value = [&app](const char* name, std::string& target, const char* help,
                            const char* type) {
    app.add_option(name, target, help)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  };
  value("--config", options.config_file, "KubeSchedulerConfiguration v1 file, YAML or JSON",
        "FILE");
  value("--kubeconfig", options.kubeconfig,
        "kubeconfig file with the API server and the credentials; ignored with --config", "FILE");
  value("--master", options.master,
        "address of the API server, instead of the one in the kubeconfig", "URL");
  value("--bind-address", options.bind_address,
        "IP address of the HTTPS server; empty, 0.0.0.0 or ::: all addresses", "IP");
  value("--secure-port", raw_.secure_port, "port of the HTTPS server (default 10259); 0: no server",
        "PORT");
  value("--tls-cert-file", options.tls_cert_file,
        "serving certificate; without it a self-signed one is made at start", "FILE");
  value("--tls-private-key-file", options.tls_private_key_file, "key of --tls-cert-file", "FILE");
  value("-v,--v", raw_.verbosity, "log verbosity (default 0)", "LEVEL");
  app.add_flag("--leader-elect", raw_.leader_elect,
               "leader election: only --leader-elect=false, the default, is supported yet")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_flag("--version", raw_.version, "print the version and exit")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void Parser::CheckFlagName(const std::string& argument) {
  if (!argument.starts_with("--")) {
    errors_.push_back("unknown shorthand flag: '" + argument.substr(1, 1) + "' in " + argument);
    return;
  }
  const std::string name = argument.substr(2, argument.find('=') - 2);
  if (std::find(std::begin(kLaterFlags), std::end(kLaterFlags), name) != std::end(kLaterFlags)) {
    errors_.push_back("flag --" + name +
                      " is not supported by this version of kubesched yet; remove it");
    return;
  }
  const std::string nearest = config::NearestName(name, kFlags);
  errors_.push_back("unknown flag: --" + name +
                    (nearest.empty() ? "" : "; did you mean --" + nearest + "?"));
}

// What CLI11 left over: unknown flags (a value behind one is not told apart from an argument) or
// arguments, of which there are none.
void Parser::CheckRest(const std::vector<std::string>& rest) {
  std::string arguments;
  for (const std::string& argument : rest) {
    if (argument.size() > 1 && argument[0] == '-' && argument != "--") {
      CheckFlagName(argument);
    } else if (!argument.empty() && argument != "--") {
      arguments += (arguments.empty() ? "\"" : " \"") + argument + '"';
    }
  }
  if (errors_.empty() && !arguments.empty()) {
    errors_.push_back("\"kubesched\" does not take any arguments, got [" + arguments + "]");
  }
}

void Parser::CheckServing(CLI::App& app) {
  Options& options = raw_.options;
  if (app.count("--secure-port") > 0) {
    const std::errc error = ParseNumber(raw_.secure_port, options.secure_port);
    if (error != std::errc()) {
      errors_.push_back(InvalidArgument(raw_.secure_port, "--secure-port",
                                        NumberError("ParseInt", raw_.secure_port, error)));
    } else if (options.secure_port < 0) {
      errors_.push_back("--secure-port " + raw_.secure_port +
                        " must be between 0 and 65535, inclusive. 0 for turning off secure port");
    } else if (options.secure_port > 65535) {
      errors_.push_back("--secure-port " + raw_.secure_port +
                        " must be between 1 and 65535, inclusive. It cannot be turned off with 0");
    }
  }
  in6_addr unused{};
  const std::string& address = options.bind_address;
  if (!address.empty() && inet_pton(AF_INET, address.c_str(), &unused) != 1 &&
      inet_pton(AF_INET6, address.c_str(), &unused) != 1) {
    errors_.push_back(
        InvalidArgument(address, "--bind-address", "failed to parse IP: \"" + address + "\""));
  }
}

void Parser::CheckValues(CLI::App& app) {
  Options& options = raw_.options;
  CheckServing(app);
  if (app.count("--v") > 0) {
    const std::errc error = ParseNumber(raw_.verbosity, options.verbosity);
    if (error != std::errc() || options.verbosity < 0) {
      errors_.push_back(InvalidArgument(raw_.verbosity, "-v, --v",
                                        NumberError("ParseUint", raw_.verbosity, error)));
    }
  }
  if (app.count("--leader-elect") > 0) {
    options.leader_elect_given = true;
    const std::optional<bool> on = ParseBool(raw_.leader_elect);
    if (!on) {
      errors_.push_back(InvalidArgument(raw_.leader_elect, "--leader-elect",
                                        NumberError("ParseBool", raw_.leader_elect, {})));
    } else if (*on) {
      errors_.emplace_back(
          "leader election is not supported by this version of kubesched yet: run one instance, "
          "with --leader-elect=false");
    }
  }
  if (app.count("--version") > 0) {
    const std::optional<bool> on = raw_.version == "raw" ? true : ParseBool(raw_.version);
    if (!on) {
      errors_.push_back(
          InvalidArgument(raw_.version, "--version", NumberError("ParseBool", raw_.version, {})));
    }
    version_asked_ = on.value_or(false);
  }
}

ParsedFlags Parser::Failed() const {
  ParsedFlags parsed{.run = false, .exit_code = 1};
  parsed.standard_error = "Usage:\n  kubesched [flags]   (kubesched --help lists them)\n\n";
  for (const std::string& error : errors_) {
    parsed.standard_error += "Error: " + error + "\n";
  }
  return parsed;
}

ParsedFlags Parser::Parse(const std::vector<std::string>& arguments) {
  CLI::App app("kubesched decides on which node each pod of a Kubernetes cluster runs.",
               "kubesched");
  app.set_help_flag("-h,--help", "print this text and exit");
  app.allow_extras();
  Declare(app);
  std::vector<std::string> reversed = Normalize(arguments);
  std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
  bool help = false;
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    help = true;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();
    errors_.push_back("flag needs an argument: " + std::string(text.substr(0, text.find(':'))));
  } catch (const CLI::Error& error) {
    errors_.emplace_back(error.what());
  }
  CheckRest(app.remaining());
  if (errors_.empty() && !help) {
    CheckValues(app);
  }
  if (!errors_.empty()) {
    return Failed();
  }
  if (help) {
    return ParsedFlags{.run = false, .standard_output = app.help()};
  }
  if (version_asked_) {
    return ParsedFlags{.run = false, .standard_output = "kubesched " KS_VERSION "\n"};
  }
  return ParsedFlags{.options = raw_.options};
}

}  // namespace

ParsedFlags ParseFlags(const std::vector<std::string>& arguments) {
  return Parser().Parse(arguments);
}

Result<config::Configuration> LoadEffectiveConfiguration(const Options& options) {
  if (options.config_file.empty()) {
    config::Configuration configuration = config::DefaultConfiguration();
    configuration.client_connection.kubeconfig = options.kubeconfig;
    return configuration;
  }
  if (!options.kubeconfig.empty()) {
    log::Info(0,
              "--kubeconfig is ignored because --config is given: set clientConnection.kubeconfig",
              {{"config", options.config_file}});
  }
  config::LoadResult loaded = config::LoadConfiguration(options.config_file);
  if (auto* faults = std::get_if<config::Faults>(&loaded)) return Error{faults->text};
  return std::get<config::Loaded>(loaded).configuration;
}

}  // namespace ks
