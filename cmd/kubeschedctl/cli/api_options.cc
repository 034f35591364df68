// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cli/api_options.h"

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kubeschedctl/cluster/daemon_access.h"
#include "kubeschedctl/text/called_as.h"
#include "kubeschedctl/text/duration_option.h"

namespace ks::ctl {
namespace {

constexpr const char* kGroup = "The API server";

CLI::Option* AddText(CLI::App& verb, const char* name, std::string& target, const char* help) {
  return verb.add_option(name, target, help)->group(kGroup);
}

CLI::Option* AddHeader(CLI::App& verb, const char* name, DaemonOptions& options,
                       const std::string& header, const char* help) {
  const auto add = [&options, header](const std::string& value) {
    options.api.instead.impersonation.emplace_back(header, value);
  };
  return verb.add_option_function<std::string>(name, add, help)->group(kGroup);
}

void AddLogin(CLI::App& verb, DaemonOptions& options) {
  client::ClusterAccess& instead = options.api.instead;
  AddText(verb, "--token", instead.token, "bearer token, instead of the kubeconfig's login");
  auto* user = AddText(verb, "--username", instead.username, "for basic authentication");
  AddText(verb, "--password", instead.password, "for basic authentication")->needs(user);
  auto* certificate =
      AddText(verb, "--client-certificate", instead.client_cert_file, "certificate for logging in");
  auto* key = AddText(verb, "--client-key", instead.client_key_file, "its key");
  certificate->type_name("FILE")->needs(key);
  key->type_name("FILE")->needs(certificate);
  auto* as = AddHeader(verb, "--as", options, "Impersonate-User", "user to impersonate");
  AddHeader(verb, "--as-uid", options, "Impersonate-Uid", "UID to impersonate")->needs(as);
  const auto add_groups = [&options](const std::vector<std::string>& groups) {
    for (const std::string& group : groups) {
      options.api.instead.impersonation.emplace_back("Impersonate-Group", group);
    }
  };
  verb.add_option_function<std::vector<std::string>>("--as-group", add_groups,
                                                     "group to impersonate; can be repeated")
      ->allow_extra_args(false)
      ->needs(as)
      ->group(kGroup);
}

// Those whose names mean something else where this program is not kubectl's plugin.
void AddKubectlNames(CLI::App& verb, DaemonOptions& options) {
  client::ClusterAccess& instead = options.api.instead;
  AddText(verb, "--cluster", options.api.cluster, "of the kubeconfig")->type_name("NAME");
  AddText(verb, "-s,--server", options.api.master, "of the API server")->type_name("URL");
  auto* ca = AddText(verb, "--certificate-authority", instead.ca_file,
                     "what the API server's certificate is checked with");
  ca->type_name("FILE");
  verb.add_flag("--insecure-skip-tls-verify", instead.insecure_skip_tls_verify,
                "do not check the API server's certificate")
      ->excludes(ca)
      ->group(kGroup);
  AddText(verb, "--tls-server-name", instead.tls_server_name,
          "name that the API server's certificate is checked for");
}

}  // namespace

void AddApiOptions(CLI::App& verb, DaemonOptions& options) {
  AddText(verb, "--kubeconfig", options.kubeconfig,
          "API server and credentials (default: $KUBECONFIG, then ~/.kube/config)")
      ->type_name("FILE");
  AddText(verb, "--context", options.api.context, "of the kubeconfig")->type_name("NAME");
  AddText(verb, "--user", options.api.user, "of the kubeconfig")->type_name("NAME");
  if (IsKubectlPlugin()) AddKubectlNames(verb, options);
  AddLogin(verb, options);
  AddTimeout(verb, "--request-timeout", options.timeout, "for an answer; 0: without end");
  verb.get_option("--request-timeout")->group(kGroup);
}

}  // namespace ks::ctl
