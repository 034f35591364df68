// SPDX-License-Identifier: Apache-2.0
#include "serving.h"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/logging.h"
#include "client/kubeconfig.h"
#include "server/certificate.h"
#include "server/path_authorization.h"
#include "server/tls_settings.h"

namespace ks::daemon {
namespace {

// Empty: the file can be read.
std::string ReadFault(const std::string& file) {
  const std::ifstream stream(file);
  if (stream) return "";
  const bool absent = errno == ENOENT;
  return "open " + file + ": " +
         (absent ? "no such file or directory" : std::generic_category().message(errno));
}

Result<void> CheckKubeconfig(const std::string& file, const std::string& start) {
  if (file.empty()) return {};
  const auto access = client::LoadClientConfig(file, "");
  if (!access.ok()) return Error{start + access.error().message};
  return {};
}

Result<void> CheckAuthentication(const AuthenticationOptions& options) {
  const std::string start = "failed to get delegated authentication kubeconfig: ";
  if (Result<void> fine = CheckKubeconfig(options.kubeconfig, start + start); !fine.ok()) {
    return fine;
  }
  if (!options.client_ca_file.empty()) {
    if (const std::string fault = ReadFault(options.client_ca_file); !fault.empty()) {
      return Error{"unable to load client CA provider: " + fault};
    }
  }
  if (!options.request_header_ca_file.empty()) {
    if (const std::string fault = ReadFault(options.request_header_ca_file); !fault.empty()) {
      return Error{"unable to create request header authentication config: " + fault};
    }
  }
  return {};
}

// What an operator may rely on and this version does not have.
void WarnOfAnonymity(const Options& options) {
  std::string given;
  const auto add = [&given](const std::string& value, const char* flag) {
    if (!value.empty()) given += std::string(given.empty() ? "" : ", ") + "--" + flag;
  };
  add(options.authentication.kubeconfig, "authentication-kubeconfig");
  add(options.authorization.kubeconfig, "authorization-kubeconfig");
  add(options.authentication.client_ca_file, "client-ca-file");
  add(options.authentication.request_header_ca_file, "requestheader-client-ca-file");
  if (given.empty()) return;
  log::Plain('W', given +
                      ": delegated authentication and authorization are not in this version of "
                      "kubesched; every caller stays anonymous and may read the paths of "
                      "--authorization-always-allow-paths only");
}

// The certificate of the two files, else the generated one.
Result<server::ServingCertificate> Certificate(
    const ServingOptions& options, const std::optional<server::ServingCertificate>& generated) {
  if (generated) return *generated;
  return server::LoadServingCertificate(options.tls_cert_file, options.tls_private_key_file);
}

}  // namespace

Result<std::optional<server::ServingCertificate>> PrepareCertificate(
    const ServingOptions& options) {
  const bool files = !options.tls_cert_file.empty() || !options.tls_private_key_file.empty();
  if (options.secure_port == 0 || files) return std::optional<server::ServingCertificate>();
  const auto now = std::chrono::floor<std::chrono::seconds>(RealClock().WallNow());
  const int64_t now_unix_s = now.time_since_epoch().count();
  bool made = true;
  auto pair = options.cert_dir.empty()
                  ? server::MakeSelfSignedCertificate(options.bind_address, now_unix_s)
                  : server::LoadOrMakeCertificate(options.cert_dir, options.bind_address,
                                                  now_unix_s, &made);
  if (!pair.ok()) return pair.error();
  if (options.cert_dir.empty()) {
    log::Plain('I', "Generated self-signed cert in-memory");
  } else if (made) {
    log::Plain('I', "Generated self-signed cert (" + options.cert_dir + "/kube-scheduler.crt, " +
                        options.cert_dir + "/kube-scheduler.key)");
  }
  return std::optional<server::ServingCertificate>(std::move(pair).value());
}

Result<std::unique_ptr<server::HttpsServer>> Listen(
    const Options& options, const std::optional<server::ServingCertificate>& generated) {
  const ServingOptions& serving = options.serving;
  if (serving.secure_port == 0) return std::unique_ptr<server::HttpsServer>();
  server::HttpsOptions https;
  https.bind_address = serving.bind_address;
  https.port = static_cast<uint16_t>(serving.secure_port);
  https.share_port = serving.permit_port_sharing;

  auto bound = server::HttpsServer::Bind(std::move(https));
  if (!bound.ok()) return bound;
  server::HttpsServer& server = *bound.value();

  const auto certificate = Certificate(serving, generated);
  if (!certificate.ok()) return certificate.error();
  std::vector<std::string> warnings;
  const auto tls = server::MakeTlsSettings(serving.cipher_suites, serving.curve_preferences,
                                           serving.tls_min_version, &warnings);
  if (!tls.ok()) return tls.error();
  for (const std::string& warning : warnings) log::Plain('W', warning);
  if (Result<void> fine = server.Secure(certificate.value(), tls.value()); !fine.ok()) {
    return fine.error();
  }
  if (Result<void> fine = CheckAuthentication(options.authentication); !fine.ok()) {
    return fine.error();
  }
  if (Result<void> fine = CheckKubeconfig(options.authorization.kubeconfig,
                                          "failed to get delegated authorization kubeconfig: ");
      !fine.ok()) {
    return fine.error();
  }
  const auto paths = server::PathAuthorization::Make(options.authorization.always_allow_paths);
  if (!paths.ok()) return paths.error();
  server.SetGuard(paths.value().MakeGuard());
  WarnOfAnonymity(options);
  return bound;
}

}  // namespace ks::daemon
