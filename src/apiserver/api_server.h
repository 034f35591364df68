// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole in-memory API server as the programs and tests use it: service, front, credentials,
// kubeconfigs, simulated nodes.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/https_front.h"
#include "apiserver/node_agents.h"
#include "apiserver/service.h"
#include "base/result.h"

namespace ks::apiserver {

struct ApiServerOptions {
  std::string bind_address = "127.0.0.1";
  uint16_t port = 0;
  // Gets admin.kubeconfig, scheduler.kubeconfig, ca.crt, and token.csv-like files. Made if missing.
  std::string dir{};
  std::string policy_file{};        // empty: everything is allowed
  std::string faults_file{};        // empty: none
  std::vector<std::string> load{};  // dumps to begin with
  bool agents = false;              // simulated node agents
  NodeAgentOptions agent_options{};
  bool volumes = false;  // the PV controller
  uint64_t seed = 1;
  ServiceOptions service{};
};

// Threads: any. Serves from Start to destruction.
class ApiServer {
 public:
  static Result<std::unique_ptr<ApiServer>> Start(ApiServerOptions options);
  ~ApiServer();

  std::string url() const;
  std::string admin_kubeconfig() const;      // path
  std::string scheduler_kubeconfig() const;  // path
  HttpsFront& front() { return *front_; }
  // Only on the front's thread (HttpsFront::Run).
  Service& service() { return *service_; }

  void Stop();

 private:
  ApiServer() = default;
  std::string dir_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<HttpsFront> front_;
};

}  // namespace ks::apiserver
