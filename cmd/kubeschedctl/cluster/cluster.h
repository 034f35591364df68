// SPDX-License-Identifier: Apache-2.0
#pragma once
// The API server as the tool's verbs use it: one connection with an operator's kubeconfig, and many
// requests at a time. No rate limit of our own. Watches come as protobuf where the server has it:
// it encodes that form once for all its watchers, so that looking on costs it little.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "base/result.h"
#include "client/rest/connection.h"
#include "client/rest/rest_client.h"

namespace ks::ctl {

// Threads: one at a time.
class Cluster {
 public:
  static Result<std::unique_ptr<Cluster>> Open(const std::string& kubeconfig);

  // Sends make(0) … make(count - 1), in this order, `in_flight` at a time, and waits for all
  // answers. `done` (may be empty) is called on a client thread for each success. Error: the first
  // failure; nothing more is sent then.
  Result<void> SendAll(size_t count, size_t in_flight,
                       const std::function<client::RestRequest(size_t)>& make,
                       const std::function<void(size_t)>& done = {});

  // All objects below `path` ("/api/v1/nodes"), in pages. `selector` is a label selector
  // or empty, `ns` a namespace or empty for all.
  Result<std::vector<api::NodePtr>> ListNodes(const std::string& selector);
  Result<std::vector<api::PodPtr>> ListPods(const std::string& ns, const std::string& selector);

  // Deletes what a label selector finds, without grace period. Waits for the answer.
  Result<void> DeleteAll(const std::string& path, const std::string& selector);

  client::RestClient& rest() { return *rest_; }
  const std::string& server() const { return connection_->server(); }

 private:
  Cluster() = default;

  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::RestClient> rest_;
};

}  // namespace ks::ctl
