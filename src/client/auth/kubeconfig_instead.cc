// SPDX-License-Identifier: Apache-2.0
#include "client/auth/kubeconfig_instead.h"

namespace ks::client {
namespace {

// Both of them, if there is either: a file does not mix with what the kubeconfig holds.
void ReplaceFile(const std::string& file, const std::string& data, std::string* own_file,
                 std::string* own_data) {
  if (file.empty() && data.empty()) return;
  *own_file = file;
  *own_data = data;
}

}  // namespace

void ReplaceCluster(const ClusterAccess& instead, ClusterAccess* access) {
  if (!instead.proxy_url.empty()) access->proxy_url = instead.proxy_url;
  if (!instead.tls_server_name.empty()) access->tls_server_name = instead.tls_server_name;
  const bool has_ca = !instead.ca_file.empty() || !instead.ca_data.empty();
  if (instead.insecure_skip_tls_verify) {
    access->insecure_skip_tls_verify = true;
    access->ca_file.clear();
    access->ca_data.clear();
  } else if (has_ca) {
    access->insecure_skip_tls_verify = false;
  }
  ReplaceFile(instead.ca_file, instead.ca_data, &access->ca_file, &access->ca_data);
}

void ReplaceUser(const ClusterAccess& instead, ClusterAccess* access) {
  ReplaceFile(instead.client_cert_file, instead.client_cert_data, &access->client_cert_file,
              &access->client_cert_data);
  ReplaceFile(instead.client_key_file, instead.client_key_data, &access->client_key_file,
              &access->client_key_data);
  if (!instead.token.empty() || !instead.token_file.empty()) {
    access->token = instead.token;
    access->token_file = instead.token_file;
    access->username.clear();
    access->password.clear();
  }
  if (!instead.username.empty() || !instead.password.empty()) {
    access->username = instead.username;
    access->password = instead.password;
    access->token.clear();
    access->token_file.clear();
  }
  if (!instead.impersonation.empty()) access->impersonation = instead.impersonation;
}

}  // namespace ks::client
