// SPDX-License-Identifier: Apache-2.0
// What the queue asks of a loaded plugin: PreEnqueue, events with their hint, Sign.

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/canary.h"
#include "base/check.h"
#include "modules/objects.h"
#include "modules/plugin_parts.h"

namespace ks::modules {
namespace {

using framework::EventObject;
using framework::EventResource;
using framework::NodeInfo;
using framework::QueueingHint;
using framework::Status;

class PreEnqueuePart final : public framework::PluginPart, public framework::PreEnqueuePlugin {
 public:
  explicit PreEnqueuePart(const PartContext& context) : context_(context) {}

  Status PreEnqueue(const api::Pod& pod) override {
    CallScope scope(context_.host, CallPoint::kPreEnqueue);
    const ks_status code = Guarded(
        [&] { return context_.table.pre_enqueue(context_.self, scope.handle(), HandleOf(pod)); });
    return context_.host.StatusOf(code, scope.call());
  }

 private:
  const PartContext context_;
};

// The node of an event in the form that modules know. One event asks about many pods.
class EventNode {
 public:
  const ks_node* Of(const EventObject& object) {
    const auto* node = std::get_if<api::NodePtr>(&object);
    if (node == nullptr || *node == nullptr) return nullptr;
    if (!info_.has_value() || info_->node_ptr() != *node) info_.emplace(*node);
    return HandleOf(*info_);
  }

 private:
  std::optional<NodeInfo> info_;
};

const ks_pod* PodIn(const EventObject& object) {
  const auto* pod = std::get_if<api::PodPtr>(&object);
  return pod == nullptr || *pod == nullptr ? nullptr : HandleOf(**pod);
}

// Requires: one of the header's.
EventResource ResourceOf(uint32_t resource) {
  constexpr std::array kResources = {
      EventResource::kPod,       EventResource::kAssignedPod, EventResource::kUnscheduledPod,
      EventResource::kTargetPod, EventResource::kNode,        EventResource::kWildcard};
  KS_CHECK(resource >= KS_EVENT_POD && resource <= KS_EVENT_ANY, "events were checked");
  return kResources[resource - KS_EVENT_POD];
}

class EventsPart final : public framework::PluginPart, public framework::EnqueueExtensions {
 public:
  explicit EventsPart(const PartContext& context) : context_(context) {}

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    std::vector<framework::EventRegistration> registrations;
    for (size_t i = 0; i < context_.table.event_count; ++i) {
      const ks_event& event = context_.table.events[i];
      framework::EventRegistration& made = registrations.emplace_back();
      made.event = {ResourceOf(event.resource), event.actions, {}};
      if (context_.table.hint == nullptr) continue;
      made.hint = [this, i](const api::Pod& pod, const EventObject& old_object,
                            const EventObject& new_object) {
        return Hint(i, pod, old_object, new_object);
      };
    }
    return registrations;
  }

 private:
  Result<QueueingHint> Hint(size_t index, const api::Pod& pod, const EventObject& old_object,
                            const EventObject& new_object) const {
    const ks_event_objects objects = {.size = sizeof(ks_event_objects),
                                      .old_pod = PodIn(old_object),
                                      .new_pod = PodIn(new_object),
                                      .old_node = old_node_.Of(old_object),
                                      .new_node = new_node_.Of(new_object)};
    CallScope scope(context_.host, CallPoint::kHint);
    const int32_t answer = Guarded([&] {
      return context_.table.hint(context_.self, scope.handle(), index, HandleOf(pod), &objects);
    });
    if (answer == KS_HINT_SKIP || KS_CANARY(LoadedHintsUnheard)) return QueueingHint::kSkip;
    if (answer == KS_HINT_QUEUE) return QueueingHint::kQueue;
    if (answer == PluginHost::kThrew) return Error{"an exception left the plugin"};
    return Error{"the plugin answered with the hint " + std::to_string(answer) +
                 ", which does not exist"};
  }

  const PartContext context_;
  mutable EventNode old_node_;
  mutable EventNode new_node_;
};

class SignPart final : public framework::PluginPart, public framework::SignPlugin {
 public:
  explicit SignPart(const PartContext& context) : context_(context) {}

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    CallScope scope(context_.host, CallPoint::kSign);
    const ks_status code =
        Guarded([&] { return context_.table.sign(context_.self, scope.handle(), HandleOf(pod)); });
    Status status = context_.host.StatusOf(code, scope.call());
    if (!status.ok() || scope.call().answer == nullptr) return status;
    for (framework::SignFragment& fragment : scope.call().answer->fragments) {
      fragments->push_back(std::move(fragment));
    }
    return status;
  }

 private:
  const PartContext context_;
};

}  // namespace

void AddQueueParts(const PartContext& context, Parts* parts) {
  const ks_plugin& table = context.table;
  if (table.pre_enqueue != nullptr) parts->push_back(std::make_unique<PreEnqueuePart>(context));
  if (table.events != nullptr) parts->push_back(std::make_unique<EventsPart>(context));
  if (table.sign != nullptr) parts->push_back(std::make_unique<SignPart>(context));
}

}  // namespace ks::modules
