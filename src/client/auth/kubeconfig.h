// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the API server is and how to log in there: kubeconfig files, --master, in-cluster. Only
// reads and checks; tokens and certificates that change while running are the business of
// credentials.h.
//
// Upstream: docs/spec/api.md sections 8.1 to 8.3.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ks::client {

// users[].user.exec, docs/spec/api.md 8.5.
struct ExecPlugin {
  std::string api_version{};
  // A relative path with a slash is already resolved against the kubeconfig's folder.
  std::string command;
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::string install_hint{};
  std::string interactive_mode{};
  bool provide_cluster_info = false;
};

// A client configuration: one context of a kubeconfig, or the in-cluster one. Files are absolute or
// relative to the working directory; `…_data` is decoded and wins over the file.
struct ClusterAccess {
  std::string server{};
  std::string proxy_url{};  // empty: what the environment says
  std::string tls_server_name{};
  bool insecure_skip_tls_verify = false;
  std::string ca_file{};
  std::string ca_data{};

  std::string client_cert_file{};
  std::string client_cert_data{};
  std::string client_key_file{};
  std::string client_key_data{};
  std::string token{};
  std::string token_file{};  // wins over token
  std::string username{};
  std::string password{};
  std::optional<ExecPlugin> exec{};
  // Impersonate-* headers, in order.
  std::vector<std::pair<std::string, std::string>> impersonation{};

  // Of the context; empty: it names none. No part of the access: what an operator means who does
  // not say more.
  std::string context_namespace{};
};

struct KubeconfigOptions {
  std::string master{};   // replaces the server of the cluster
  std::string context{};  // instead of current-context
  std::string cluster{};  // the entry of clusters instead of the context's
  std::string user{};     // the entry of users instead of the context's
  // What is set here replaces its like, as kubectl's flags do. A login replaces those that exclude
  // it: a token a password and the other way round, a certificate the one in the file;
  // impersonation is replaced as a whole. A CA ends insecure_skip_tls_verify and the other way
  // round.
  ClusterAccess instead{};
};

// One file, which must exist. Errors: docs/spec/api.md 8.1 and 8.3; file, line and path of the
// field are named.
Result<ClusterAccess> LoadKubeconfig(const std::string& path,
                                     const KubeconfigOptions& options = {});

// A list as in the variable KUBECONFIG (separated by ':'), merged: the first entry of a name wins.
// Missing files are skipped.
Result<ClusterAccess> LoadKubeconfigList(std::string_view paths,
                                         const KubeconfigOptions& options = {});

struct InClusterSource {
  std::string host{};  // KUBERNETES_SERVICE_HOST
  std::string port{};  // KUBERNETES_SERVICE_PORT
  std::string token_file = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  std::string ca_file = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";
};
// From the process environment.
InClusterSource InClusterFromEnvironment();
Result<ClusterAccess> LoadInCluster(const InClusterSource& source);

// The scheduler's choice of 8.1: the file if one is named (with `master` replacing its server),
// else `master` alone, else in-cluster.
Result<ClusterAccess> LoadClientConfig(
    const std::string& kubeconfig, const std::string& master,
    const InClusterSource& in_cluster = InClusterFromEnvironment());

}  // namespace ks::client
