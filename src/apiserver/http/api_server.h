// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole in-memory API server as the programs and tests use it: service, front, credentials,
// kubeconfigs, simulated nodes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/controllers/device_drivers.h"
#include "apiserver/controllers/node_agents.h"
#include "apiserver/http/https_front.h"
#include "apiserver/service/service.h"
#include "base/result.h"

namespace ks::apiserver {

struct ApiServerOptions {
  std::string bind_address = "127.0.0.1";
  uint16_t port = 0;
  // Gets admin.kubeconfig and scheduler.kubeconfig at each start. Made if missing, and so are
  // ca.crt, ca.key and tokens.csv (kube-apiserver's --token-auth-file: a token for
  // kubernetes-admin, one for system:kube-scheduler, and what users add); those that are there are
  // used again, so that older kubeconfigs stay valid where the port is the same.
  std::string dir{};
  std::string policy_file{};        // empty: everything is allowed
  std::string faults_file{};        // empty: none
  std::vector<std::string> load{};  // dumps to begin with
  bool agents = false;              // simulated node agents
  NodeAgentOptions agent_options{};
  bool volumes = false;  // the PV controller
  bool claims = false;   // the resource claim controller; also there with simulated devices
  DeviceDriverOptions devices{};
  uint64_t seed = 1;
  // Called when everything is loaded and before the first request; may be empty.
  std::function<Result<void>(Service&)> before_serving{};
  ServiceOptions service{};
  FrontOptions front{};  // limits and deadlines; address, certificate and users are filled in
};

// Threads: any. Serves from Start to destruction.
class ApiServer {
 public:
  // Errors name the file at fault and the cure.
  static Result<std::unique_ptr<ApiServer>> Start(const ApiServerOptions& options);
  ~ApiServer();

  std::string url() const;
  std::string admin_kubeconfig() const;      // path
  std::string scheduler_kubeconfig() const;  // path
  HttpsFront& front() { return *front_; }
  // Only on the front's thread (HttpsFront::Run).
  Service& service() { return *service_; }
  // What `load` left out, one line a file; empty: nothing.
  const std::string& left_out() const { return left_out_; }

  void Stop();

 private:
  ApiServer() = default;
  Result<void> Prepare(const ApiServerOptions& options);
  Result<void> LoadDumps(const std::vector<std::string>& files);
  Result<void> PublishAuthority();
  Result<void> Listen(const ApiServerOptions& options);

  std::string dir_;
  std::string left_out_;
  CertificateAuthority authority_;
  std::map<std::string, UserInfo> tokens_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpsFront> front_;
};

}  // namespace ks::apiserver
