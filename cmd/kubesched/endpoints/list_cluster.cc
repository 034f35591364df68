// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/list_cluster.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "client/rest/connection.h"

namespace ks::daemon {
namespace {

constexpr Duration kPageTimeout = std::chrono::seconds(10);
constexpr const char* kPageSize = "2000";

// Without a resourceVersion the list is a consistent one.
template <class T>
Result<std::vector<std::shared_ptr<const T>>> ListAll(client::RestClient& client,
                                                      const std::string& target) {
  std::vector<std::shared_ptr<const T>> all;
  api::Decoder decoder;
  std::string next;
  do {
    const char* join = target.find('?') == std::string::npos ? "?limit=" : "&limit=";
    std::string page_target = target + join + kPageSize;
    if (!next.empty()) page_target += "&continue=" + client::EscapeUrl(next);
    const client::RestReply reply = client.Get(page_target, kPageTimeout);
    if (!reply.ok()) return Error{"GET " + target + ": " + reply.error->message};
    auto page = decoder.List<T>(reply.body);
    if (!page.ok()) return Error{"GET " + target + ": " + page.error().message};
    all.insert(all.end(), page->items.begin(), page->items.end());
    next = std::move(page->continue_token);
  } while (!next.empty());
  return all;
}

}  // namespace

Result<inspect::ClusterAccount> ListCluster(const client::ClusterAccess& access) {
  auto connection = client::Connection::Make(access);
  if (!connection.ok()) return connection.error();
  client::RestOptions options;
  options.user_agent = client::UserAgent("kubesched", "debug");
  const auto client = (*connection)->NewRestClient(std::move(options));
  auto nodes = ListAll<api::Node>(*client, "/api/v1/nodes");
  if (!nodes.ok()) return nodes.error();
  auto pods = ListAll<api::Pod>(
      *client, "/api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed");
  if (!pods.ok()) return pods.error();
  return inspect::ClusterAccount{.nodes = std::move(nodes).value(),
                                 .pods = std::move(pods).value()};
}

}  // namespace ks::daemon
