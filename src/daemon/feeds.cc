// SPDX-License-Identifier: Apache-2.0
#include "daemon/feeds.h"

#include <type_traits>
#include <vector>

#include "api/kinds.h"
#include "base/logging.h"
#include "daemon/measured_feed.h"

namespace ks::daemon {
namespace {

// What a recording needs of objects.
api::KeepTexts KeptTexts(const scheduler::Scheduler& scheduler) {
  return scheduler.options().on_step ? api::KeepTexts::kAsSent : api::KeepTexts::kNo;
}

}  // namespace

Feeds::Feeds(client::RestClient& client, scheduler::Scheduler& scheduler,
             client::InformerMetrics& metrics, uint64_t seed, DeltaObserver* observer)
    : client_(client),
      scheduler_(scheduler),
      metrics_(metrics),
      seed_(seed),
      observer_(observer),
      objects_(scheduler.in_force().NeededWholeObjects()),
      optional_(
          client, metrics, seed + 10,
          [this](OptionalInformers::Deltas deltas, client::InformerSeries& series) {
            std::visit([&](auto& of_kind) { Deliver(std::move(of_kind), series); }, deltas);
          },
          KeptTexts(scheduler)) {
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
  nodes_ = MakeReflector<api::Node>({.seed = seed_ + 1, .keep_raw = objects_.nodes});
  pods_ = MakeReflector<api::Pod>({.field_selector = "status.phase!=Succeeded,status.phase!=Failed",
                                   .seed = seed_ + 2,
                                   .keep_raw = objects_.pods});
  if (const auto wish = wishes_.find(Inherited::kPods); wish != wishes_.end()) {
    pods_->WhenReached(wish->second.first, wish->second.second);
  }
  nodes_->Start();
  pods_->Start();
}

template <class T>
std::unique_ptr<client::Reflector<T>> Feeds::MakeReflector(client::ReflectorOptions options) {
  const api::KindInfo& kind = api::kKindOf<T>;
  client::InformerSeries& series = metrics_.For(kind.Path(), kind.kind);
  series.Begin();
  options.path = kind.Path();
  options.type_name = kind.GoType();
  options.resource = std::string(kind.plural);
  options.keep_texts = KeptTexts(scheduler_);
  options.metrics = &series;
  return std::make_unique<client::Reflector<T>>(
      client_, std::move(options),
      [this, &series](std::vector<api::Delta<T>> deltas) { Deliver(std::move(deltas), series); });
}

template <class Deltas>
void Feeds::Deliver(Deltas deltas, client::InformerSeries& series) {
  if (observer_ != nullptr) observer_->OnDeltas(deltas);
  PostMeasured(scheduler_, series, std::move(deltas));
}

template <class T>
client::Reflector<T>* Feeds::StreamOf() const {
  if constexpr (std::is_same_v<T, api::Pod>) {
    return pods_.get();
  } else {
    return optional_.Find<T>();
  }
}

bool Feeds::Watches(Inherited what) const {
  return WithType(what, [this]<class T>(const T*) { return StreamOf<T>() != nullptr; });
}

template <class Action>
void Feeds::WithStream(Inherited what, Action action) {
  WithType(what, [&]<class T>(const T*) { action(*StreamOf<T>()); });
}

void Feeds::WhenReached(Inherited what, std::string resource_version,
                        std::function<void()> reached) {
  wishes_[what] = {resource_version, reached};
  WithStream(what, [&](auto& stream) {
    stream.WhenReached(std::move(resource_version), std::move(reached));
  });
}

void Feeds::ListAgain(Inherited what) {
  const auto wish = wishes_.find(what);
  if (wish == wishes_.end()) return;
  WithStream(what, [&](auto& stream) { stream.ListAgain(wish->second.first); });
}

}  // namespace ks::daemon
