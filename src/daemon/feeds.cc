// SPDX-License-Identifier: Apache-2.0
#include "daemon/feeds.h"

#include "base/logging.h"
#include "daemon/measured_feed.h"

namespace ks::daemon {

Feeds::Feeds(client::RestClient& client, scheduler::Scheduler& scheduler,
             client::InformerMetrics& metrics, uint64_t seed, DeltaObserver* observer)
    : client_(client),
      scheduler_(scheduler),
      metrics_(metrics),
      seed_(seed),
      observer_(observer),
      objects_(scheduler.NeededWholeObjects()),
      optional_(
          client, metrics, seed + 10,
          [this](OptionalInformers::Deltas deltas, client::InformerSeries& series) {
            std::visit([&](auto& of_kind) { Deliver(std::move(of_kind), series); }, deltas);
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
  client::InformerSeries& nodes = metrics_.For("/api/v1/nodes", "Node");
  client::InformerSeries& pods = metrics_.For("/api/v1/pods", "Pod");
  const bool keep_texts = static_cast<bool>(scheduler_.options().on_step);
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
      [this, &nodes](scheduler::NodeDeltas deltas) { Deliver(std::move(deltas), nodes); });
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
      [this, &pods](scheduler::PodDeltas deltas) { Deliver(std::move(deltas), pods); });
  if (wish_) pods_->WhenReached(wish_->first, wish_->second);
  nodes_->Start();
  pods_->Start();
}

void Feeds::Deliver(scheduler::PodDeltas deltas, client::InformerSeries& series) {
  if (observer_ != nullptr) observer_->OnPods(deltas);
  PostMeasured(scheduler_, series, std::move(deltas));
}

void Feeds::Deliver(scheduler::NodeDeltas deltas, client::InformerSeries& series) {
  if (observer_ != nullptr) observer_->OnNodes(deltas);
  PostMeasured(scheduler_, series, std::move(deltas));
}

void Feeds::Deliver(scheduler::OwnerDeltas deltas, client::InformerSeries& series) {
  if (observer_ != nullptr) observer_->OnOwners(deltas);
  PostMeasured(scheduler_, series, std::move(deltas));
}

void Feeds::Deliver(scheduler::StorageDeltas deltas, client::InformerSeries& series) {
  if (observer_ != nullptr) observer_->OnStorage(deltas);
  PostMeasured(scheduler_, series, std::move(deltas));
}

void Feeds::WhenPodsReached(std::string resource_version, std::function<void()> reached) {
  wish_.emplace(resource_version, reached);
  pods_->WhenReached(std::move(resource_version), std::move(reached));
}

void Feeds::ListPodsAgain() {
  if (wish_) pods_->ListAgain(wish_->first);
}

}  // namespace ks::daemon
