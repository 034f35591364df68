// SPDX-License-Identifier: Apache-2.0
#include "client/auth/exec_plugin.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/check.h"
#include "base/file_text.h"
#include "client/http/process_environment.h"
#include "golang/base64.h"
#include "golang/quote.h"

extern char** environ;

namespace ks::client {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostOutput = 1 << 20;

std::string ExecInfo(const ExecPlugin& plugin, const ExecClusterInfo& cluster, bool interactive) {
  nlohmann::ordered_json info = {{"kind", "ExecCredential"},
                                 {"apiVersion", plugin.api_version},
                                 {"spec", {{"interactive", interactive}}}};
  if (plugin.provide_cluster_info) {
    nlohmann::ordered_json about = {{"server", cluster.server}};
    if (!cluster.tls_server_name.empty()) about["tls-server-name"] = cluster.tls_server_name;
    if (cluster.insecure_skip_tls_verify) about["insecure-skip-tls-verify"] = true;
    if (!cluster.ca_pem.empty()) {
      about["certificate-authority-data"] = golang::EncodeBase64(cluster.ca_pem);
    }
    if (!cluster.proxy_url.empty()) about["proxy-url"] = cluster.proxy_url;
    info["spec"]["cluster"] = std::move(about);
  }
  return info.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Our environment as the process was started, the plugin's variables, and KUBERNETES_EXEC_INFO.
std::vector<std::string> Environment(const ExecPlugin& plugin, const std::string& info) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  const SystemRoots& roots = OriginalRoots();
  variables.erase("SSL_CERT_FILE");
  variables.erase("SSL_CERT_DIR");
  if (roots.file_variable.has_value()) variables["SSL_CERT_FILE"] = *roots.file_variable;
  if (roots.dir_variable.has_value()) variables["SSL_CERT_DIR"] = *roots.dir_variable;
  for (const auto& [name, value] : plugin.env) variables[name] = value;
  variables["KUBERNETES_EXEC_INFO"] = info;
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(name + "=" + value);
  return list;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error WithHint(const ExecPlugin& plugin, std::string message) {
  if (!plugin.install_hint.empty()) message += "\n\n" + plugin.install_hint;
  return Error{std::move(message)};
}

// Whether the plugin may talk with whoever sits at our standard input. Error: it has to, and nobody
// does.
Result<bool> IsInteractive(const ExecPlugin& plugin) {
  if (plugin.interactive_mode == "Never") return false;
  const bool has_terminal = isatty(STDIN_FILENO) == 1;
  if (plugin.interactive_mode == "Always" && !has_terminal) {
    return Error{"exec plugin cannot support interactive mode: standard input is not a terminal"};
  }
  return has_terminal;
}

struct Child {
  pid_t pid = 0;
  int output = -1;
  bool leads_group = true;

  void Kill() const { kill(leads_group ? -pid : pid, SIGKILL); }
};

Result<Child> Spawn(const ExecPlugin& plugin, const ExecClusterInfo& cluster, bool interactive,
                    ExecCall* call) {
  std::vector<std::string> arguments = {plugin.command};
  arguments.insert(arguments.end(), plugin.args.begin(), plugin.args.end());
  std::vector<std::string> variables = Environment(plugin, ExecInfo(plugin, cluster, interactive));
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return Error{std::string("exec: pipe: ") + SystemErrorText(errno)};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!interactive) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // A group of its own: killing it also ends what a shell script has started. Such a group may not
  // read from the terminal.
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group_flag = interactive ? 0 : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | group_flag));
  Child child{.leads_group = !interactive};
  const int code = posix_spawnp(&child.pid, plugin.command.c_str(), &actions, &attributes,
                                Pointers(arguments).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (code == 0) {
    child.output = pipe_ends[0];
    return child;
  }
  close(pipe_ends[0]);
  if (code == ENOENT || code == EACCES) {
    call->status = ExecCall::Status::kNotFound;
    return WithHint(plugin, "exec: executable " + plugin.command + " not found");
  }
  return WithHint(plugin, "exec: " + SystemErrorText(code));
}

// Everything the child prints. False: stopped, or too much.
bool ReadOutput(int fd, const StopFlag& stop, std::string* output) {
  char buffer[4096];
  while (true) {
    pollfd waits[2] = {{fd, POLLIN, 0}, {stop.fd(), POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return false;
    if (waits[1].revents != 0) return false;
    if (waits[0].revents == 0) continue;
    const ssize_t count = read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0;
    output->append(buffer, static_cast<size_t>(count));
    if (output->size() > kMostOutput) return false;
  }
}

// A child that has closed its output may still run for a while; `stop` kills it.
int WaitForEnd(const Child& child, const StopFlag& stop) {
  constexpr int kPollMs = 20;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child.pid, &status, WNOHANG);
    if (ended == child.pid || (ended < 0 && errno != EINTR)) return status;
    pollfd wait = {stop.fd(), POLLIN, 0};
    if (poll(&wait, 1, kPollMs) > 0) {
      child.Kill();
      waitpid(child.pid, &status, 0);
      return status;
    }
  }
}

Result<std::string> Text(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return std::string();
  if (!it->is_string()) {
    return Error{std::string("decoding stdout: status.") + key + ": expected a string"};
  }
  return it->get<std::string>();
}

// The plugin's output. `call` becomes how the run ended.
Result<std::string> RunToEnd(const ExecPlugin& plugin, const ExecClusterInfo& cluster,
                             bool interactive, const StopFlag& stop, ExecCall* call) {
  *call = {.status = ExecCall::Status::kClientError, .code = 1};
  const Result<Child> child = Spawn(plugin, cluster, interactive, call);
  if (!child.ok()) return child.error();
  std::string output;
  const bool complete = ReadOutput(child->output, stop, &output);
  close(child->output);
  if (!complete) child->Kill();
  const int status = WaitForEnd(*child, stop);
  if (!complete) {
    return WithHint(
        plugin, "exec: executable " + plugin.command + " was stopped or printed more than 1 MiB");
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 0) {
    *call = {};
    return output;
  }
  *call = {.status = ExecCall::Status::kExecutionError, .code = code};
  // Shells and spawn report a missing executable as 127.
  if (code == 127 && output.empty()) {
    return WithHint(plugin, "exec: executable " + plugin.command + " not found");
  }
  return WithHint(plugin, "exec: executable " + plugin.command + " failed with exit code " +
                              std::to_string(code));
}

std::optional<TimePoint> Asn1Time(const ASN1_TIME* time) {
  tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return TimePoint(std::chrono::seconds(timegm(&parts)));
}

// RFC 3339, whole seconds or fractions, UTC or an offset.
std::optional<TimePoint> ParseTime(const std::string& text) {
  tm parts{};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  if (*rest == '.') rest += 1 + std::strspn(rest + 1, "0123456789");
  int offset = 0;
  if (*rest == '+' || *rest == '-') {
    int hours = 0;
    int minutes = 0;
    if (std::sscanf(rest + 1, "%2d:%2d", &hours, &minutes) != 2) return std::nullopt;
    offset = (hours * 3600 + minutes * 60) * (*rest == '-' ? -1 : 1);
  } else if (*rest != 'Z') {
    return std::nullopt;
  }
  return TimePoint(std::chrono::seconds(timegm(&parts) - offset));
}

}  // namespace

StopFlag::StopFlag() : fd_(eventfd(0, EFD_CLOEXEC)) { KS_CHECK(fd_ >= 0, "eventfd failed"); }
StopFlag::~StopFlag() { close(fd_); }
void StopFlag::Set() {
  const uint64_t one = 1;
  const ssize_t written = write(fd_, &one, sizeof(one));
  KS_CHECK(written == sizeof(one), "eventfd refused a write");
}

Result<ExecCredential> ParseExecCredential(const std::string& output,
                                           const std::string& api_version) {
  const Json document = Json::parse(output, nullptr, false);
  if (document.is_discarded() || !document.is_object()) {
    return Error{"decoding stdout: expected an ExecCredential object in JSON"};
  }
  const auto kind = document.find("kind");
  const auto version = document.find("apiVersion");
  if (kind == document.end() || *kind != "ExecCredential" || version == document.end() ||
      !version->is_string()) {
    return Error{"decoding stdout: expected kind ExecCredential and an apiVersion"};
  }
  if (*version != api_version) {
    return Error{"exec plugin is configured to use API version " + api_version +
                 ", plugin returned version " + version->get<std::string>()};
  }
  const auto status = document.find("status");
  if (status == document.end() || !status->is_object()) {
    return Error{"exec plugin didn't return a status field"};
  }
  ExecCredential credential;
  std::string expires;
  for (const auto& [key, into] : {std::pair("token", &credential.token),
                                  std::pair("clientCertificateData", &credential.client_cert_pem),
                                  std::pair("clientKeyData", &credential.client_key_pem),
                                  std::pair("expirationTimestamp", &expires)}) {
    Result<std::string> text = Text(*status, key);
    if (!text.ok()) return text.error();
    *into = std::move(*text);
  }
  if (credential.token.empty() && credential.client_cert_pem.empty() &&
      credential.client_key_pem.empty()) {
    return Error{"exec plugin didn't return a token or cert/key pair"};
  }
  if (credential.client_cert_pem.empty() != credential.client_key_pem.empty()) {
    return Error{"exec plugin returned only certificate or key, not both"};
  }
  if (!expires.empty()) {
    credential.expires = ParseTime(expires);
    if (!credential.expires.has_value()) {
      return Error{"decoding stdout: status.expirationTimestamp: " + golang::Quote(expires) +
                   " is no RFC 3339 time"};
    }
  }
  return credential;
}

Result<ExecCredential> RunExecPlugin(const ExecPlugin& plugin, const ExecClusterInfo& cluster,
                                     const StopFlag& stop, ConnectionMetrics* metrics) {
  const Result<bool> interactive = IsInteractive(plugin);
  if (!interactive.ok()) return interactive.error();
  ExecCall call;
  const Result<std::string> output = RunToEnd(plugin, cluster, *interactive, stop, &call);
  if (metrics != nullptr) metrics->CountExecCall(call);
  if (!output.ok()) return output.error();
  return ParseExecCredential(*output, plugin.api_version);
}

std::optional<CertificateLife> LifeOfCertificate(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  if (certificate == nullptr) return std::nullopt;
  const auto from = Asn1Time(X509_get0_notBefore(certificate.get()));
  const auto end = Asn1Time(X509_get0_notAfter(certificate.get()));
  if (!from.has_value() || !end.has_value()) return std::nullopt;
  return CertificateLife{.from = *from, .end = *end};
}

}  // namespace ks::client
