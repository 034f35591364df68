// SPDX-License-Identifier: Apache-2.0
#include "daemon/feeds.h"

#include "base/logging.h"
#include "daemon/measured_feed.h"

namespace ks::daemon {

Feeds::Feeds(client::RestClient& client, scheduler::Scheduler& scheduler,
             client::InformerMetrics& metrics, uint64_t seed)
    : client_(client),
      scheduler_(scheduler),
      metrics_(metrics),
      seed_(seed),
      objects_(scheduler.NeededWholeObjects()),
      optional_(
          client, metrics, seed + 10,
          [&scheduler](OptionalInformers::Deltas deltas, client::InformerSeries& series) {
            std::visit(
                [&](auto&& of_kind) {
                  PostMeasured(scheduler, series, std::forward<decltype(of_kind)>(of_kind));
                },
                std::move(deltas));
          },
          static_cast<bool>(scheduler.options().on_step)) {
  Open();
  optional_.Ensure(scheduler.NeededKinds());
}

void Feeds::Ensure(const Needs& needs) {
  optional_.Ensure(needs.kinds);
  if (needs.objects == objects_) return;
  log::Info(1, "Listing pods and nodes again: extenders need them whole, or no longer");
  Close();
  objects_ = needs.objects;
  Open();
}

void Feeds::Stop() {
  optional_.Stop();
  Close();
}

void Feeds::Close() {
  pods_->Stop();
  nodes_->Stop();
}

void Feeds::Open() {
  scheduler::Scheduler& scheduler = scheduler_;
  client::InformerSeries& nodes = metrics_.For("/api/v1/nodes", "Node");
  client::InformerSeries& pods = metrics_.For("/api/v1/pods", "Pod");
  const bool keep_texts = static_cast<bool>(scheduler.options().on_step);
  nodes.Begin();
  pods.Begin();
  nodes_ = std::make_unique<client::Reflector<api::Node>>(
      client_,
      client::ReflectorOptions{.path = "/api/v1/nodes",
                               .field_selector = "",
                               .type_name = "*v1.Node",
                               .resource = "nodes",
                               .seed = seed_ + 1,
                               .keep_raw = objects_.nodes,
                               .keep_texts = keep_texts,
                               .metrics = &nodes},
      [&scheduler, &nodes](scheduler::NodeDeltas deltas) {
        PostMeasured(scheduler, nodes, std::move(deltas));
      });
  pods_ = std::make_unique<client::Reflector<api::Pod>>(
      client_,
      client::ReflectorOptions{.path = "/api/v1/pods",
                               .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
                               .type_name = "*v1.Pod",
                               .resource = "pods",
                               .seed = seed_ + 2,
                               .keep_raw = objects_.pods,
                               .keep_texts = keep_texts,
                               .metrics = &pods},
      [&scheduler, &pods](scheduler::PodDeltas deltas) {
        PostMeasured(scheduler, pods, std::move(deltas));
      });
  if (wish_) pods_->WhenReached(wish_->first, wish_->second);
  nodes_->Start();
  pods_->Start();
}

void Feeds::WhenPodsReached(std::string resource_version, std::function<void()> reached) {
  wish_.emplace(resource_version, reached);
  pods_->WhenReached(std::move(resource_version), std::move(reached));
}

void Feeds::ListPodsAgain() {
  if (wish_) pods_->ListAgain(wish_->first);
}

}  // namespace ks::daemon
