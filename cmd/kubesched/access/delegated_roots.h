// SPDX-License-Identifier: Apache-2.0
#pragma once
// The trust roots that a cluster publishes: ConfigMap
// kube-system/extension-apiserver-authentication, read once at start and watched from then on.
//
// Upstream: docs/spec/operations.md sections 4.2 and 4.4.

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/rest/rest_client.h"
#include "server/tls/trust_roots.h"

namespace ks::daemon {

// The roots of a ConfigMap's JSON; a key that is missing leaves its part out. Error: a bundle or a
// list that cannot be read, by key.
Result<server::TrustRoots> ReadTrustRoots(const std::string& config_map);

// Threads: any. Lifetime: `client` lives until Stop.
class PublishedRoots {
 public:
  using Changed = std::function<void(server::TrustRoots)>;

  // `changed` runs on client threads, one at a time; not after Stop.
  PublishedRoots(client::RestClient& client, Changed changed);
  ~PublishedRoots();
  PublishedRoots(const PublishedRoots&) = delete;
  PublishedRoots& operator=(const PublishedRoots&) = delete;

  // Blocks for one request. Error: why it could not be read.
  Result<server::TrustRoots> ReadOnce();
  // Lists, watches, and begins anew whenever that ends. Requires: called once.
  void Watch();
  // Idempotent. Requires: not called on a client thread.
  void Stop();

 private:
  class Stream;
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace ks::daemon
