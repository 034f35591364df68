// SPDX-License-Identifier: Apache-2.0
#include "client/auth/kubeconfig_checks.h"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "api/selector.h"
#include "base/file_text.h"
#include "golang/quote.h"
#include "golang/url.h"

namespace ks::client {
namespace {

using Faults = std::vector<std::string>;

// "unable to read client-key /x for u due to open /x: no such file or directory".
void CheckReadable(const std::string& what, const std::string& file, const std::string& name,
                   Faults* faults) {
  if (file.empty()) return;
  errno = 0;
  if (std::ifstream(file, std::ios::binary)) return;
  faults->push_back("unable to read " + what + " " + file + " for " + name + " due to open " +
                    file + ": " + SystemErrorText(errno));
}

void CheckProxy(const std::string& name, const std::string& proxy, Faults* faults) {
  if (proxy.empty()) return;
  const std::string where =
      "invalid 'proxy-url' " + golang::Quote(proxy) + " for cluster " + golang::Quote(name) + ": ";
  const Result<golang::Url> url = golang::ParseUrl(proxy);
  if (!url.ok()) {
    faults->push_back(where + "could not parse: " + proxy);
  } else if (url->scheme != "http" && url->scheme != "https" && url->scheme != "socks5") {
    faults->push_back(where + "unsupported scheme " + golang::Quote(url->scheme) +
                      ", must be http, https, or socks5");
  }
}

void CheckCertificate(const std::string& name, const ClusterAccess& access, Faults* faults) {
  if (access.client_cert_file.empty() && access.client_cert_data.empty()) return;
  if (!access.client_cert_file.empty() && !access.client_cert_data.empty()) {
    faults->push_back("client-cert-data and client-cert are both specified for " + name +
                      ". client-cert-data will override.");
  }
  if (!access.client_key_file.empty() && !access.client_key_data.empty()) {
    faults->push_back("client-key-data and client-key are both specified for " + name +
                      "; client-key-data will override");
  }
  if (access.client_key_file.empty() && access.client_key_data.empty()) {
    faults->push_back("client-key-data or client-key must be specified for " + name +
                      " to use the clientCert authentication method.");
  }
  CheckReadable("client-cert", access.client_cert_file, name, faults);
  CheckReadable("client-key", access.client_key_file, name, faults);
}

void CheckExec(const std::string& name, const ExecPlugin& exec, bool auth_provider,
               Faults* faults) {
  constexpr std::string_view kGroup = "client.authentication.k8s.io/";
  const std::string end = " for " + name + " to use exec authentication plugin";
  if (auth_provider) {
    faults->push_back("authProvider cannot be provided in combination with an exec plugin for " +
                      name);
  }
  if (exec.command.empty()) faults->push_back("command must be specified" + end);
  if (exec.api_version.empty()) faults->push_back("apiVersion must be specified" + end);
  for (const auto& [variable, value] : exec.env) {
    if (variable.empty()) faults->push_back("env variable name must be specified" + end);
  }
  const std::string& mode = exec.interactive_mode;
  if (mode.empty()) {
    // The versions before v1 have a default.
    const bool older = exec.api_version.starts_with(std::string(kGroup) + "v1alpha") ||
                       exec.api_version.starts_with(std::string(kGroup) + "v1beta");
    if (!older) faults->push_back("interactiveMode must be specified" + end);
  } else if (mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    faults->push_back("invalid interactiveMode for " + name + ": " + golang::Quote(mode));
  }
}

}  // namespace

std::vector<std::string> ClusterFaults(const std::string& name, const ClusterAccess& access) {
  Faults faults;
  if (access.server.empty()) {
    faults.push_back("no server found for cluster " + golang::Quote(name));
  }
  CheckProxy(name, access.proxy_url, &faults);
  if (!access.ca_file.empty() && !access.ca_data.empty()) {
    faults.push_back(
        "certificate-authority-data and certificate-authority are both specified for " + name +
        ". certificate-authority-data will override.");
  }
  CheckReadable("certificate-authority", access.ca_file, name, &faults);
  return faults;
}

std::vector<std::string> UserFaults(const std::string& name, const ClusterAccess& access,
                                    bool auth_provider) {
  Faults faults;
  CheckCertificate(name, access, &faults);
  if (access.exec.has_value()) CheckExec(name, *access.exec, auth_provider, &faults);
  if (!access.token.empty() && !(access.username.empty() && access.password.empty())) {
    faults.push_back("more than one authentication method found for " + name +
                     "; found [token basicAuth], only one is allowed");
  }
  if (!access.impersonation.empty() && access.impersonation[0].first != "Impersonate-User") {
    faults.push_back("requesting uid, groups or user-extra for " + name +
                     " without impersonating a user");
  }
  return faults;
}

Error InvalidConfiguration(const std::vector<std::string>& faults) {
  std::string text;
  for (const std::string& fault : faults) text.append(text.empty() ? "" : ", ").append(fault);
  return Error{"invalid configuration: " + (faults.size() == 1 ? text : "[" + text + "]")};
}

}  // namespace ks::client
