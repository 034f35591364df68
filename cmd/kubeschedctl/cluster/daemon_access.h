// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way to a running kubesched: straight to its HTTPS port, or through the API server's pod
// proxy, which finds the leader by its lease.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"

namespace ks::ctl {

struct DaemonOptions {
  std::string kubeconfig{};  // a list as in KUBECONFIG; empty: that variable, else ~/.kube/config
  client::KubeconfigOptions api{};   // what is taken of it, and what stands in the place of parts
  std::chrono::seconds timeout{60};  // of a request; a large simulation takes seconds
  // Straight to it; empty: through the API server.
  std::string server{};
  std::string certificate_authority{};  // file, for `server`; empty: the system's
  bool insecure_skip_tls_verify = false;
  // Through the API server.
  std::string ns = "kube-system";
  std::string lease = "kube-scheduler";
  std::string pod{};  // empty: the holder of the lease
  int port = 10259;
};

// The pod that an identity in leader election (`<host name>_<uuid>`) names.
std::string PodOfIdentity(std::string_view identity);
// "/api/v1/namespaces/NS/pods/https:POD:PORT/proxy".
std::string ProxyPath(const DaemonOptions& options, std::string_view pod);

// Threads: one at a time.
class DaemonAccess {
 public:
  // Error: the kubeconfig is of no use, or nobody holds the lease.
  static Result<std::unique_ptr<DaemonAccess>> Open(const DaemonOptions& options);

  // The body of the answer. `target`: path and query at the daemon. Error: what was asked and what
  // the daemon, or the API server, said.
  Result<std::string> Get(const std::string& target);
  Result<std::string> Post(const std::string& target, std::string body);
  // Where a pod is that is named without a namespace: the context's, else "default".
  const std::string& default_namespace() const { return default_namespace_; }
  // Who is asked: "https://10.0.0.1:10259", "pod kube-system/kubesched-1".
  const std::string& name() const { return name_; }

 private:
  DaemonAccess() = default;
  Result<void> FindPod(const DaemonOptions& options);

  std::string name_;
  std::string prefix_;  // before each target
  std::string default_namespace_ = "default";
  std::chrono::seconds timeout_{};
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::RestClient> client_;
};

}  // namespace ks::ctl
