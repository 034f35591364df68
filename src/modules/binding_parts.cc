// SPDX-License-Identifier: Apache-2.0
// Reserve to PostBind of a loaded plugin.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/canary.h"
#include "modules/objects.h"
#include "modules/plugin_parts.h"
#include "modules/texts.h"

namespace ks::modules {
namespace {

using framework::CycleState;
using framework::Status;

// What Permit waits at most; the runtime cuts, too, but not what does not fit into a Duration.
constexpr int64_t kMostPermitMs = 15LL * 60 * 1000;

class ReservePart final : public framework::PluginPart, public framework::ReservePlugin {
 public:
  explicit ReservePart(const PartContext& context) : context_(context) {}

  Status Reserve(CycleState& state, const api::PodPtr& pod, const std::string& node) override {
    if (context_.table.reserve == nullptr) return {};
    CallScope scope(context_.host, CallPoint::kReserve, &state, &state);
    const ks_status code = Guarded([&] {
      return context_.table.reserve(context_.self, scope.handle(), HandleOf(*pod), StrOf(node));
    });
    return context_.host.StatusOf(code, scope.call());
  }

  void Unreserve(CycleState& state, const api::PodPtr& pod, const std::string& node) override {
    if (context_.table.unreserve == nullptr || KS_CANARY(LoadedUnreserveSkipped)) return;
    CallScope scope(context_.host, CallPoint::kUnreserve, &state);
    (void)Guarded([&] {
      context_.table.unreserve(context_.self, scope.handle(), HandleOf(*pod), StrOf(node));
      return KS_SUCCESS;
    });
  }

 private:
  const PartContext context_;
};

class PermitPart final : public framework::PluginPart, public framework::PermitPlugin {
 public:
  explicit PermitPart(const PartContext& context) : context_(context) {}

  framework::PermitResult Permit(CycleState& state, const api::PodPtr& pod,
                                 const std::string& node) override {
    CallScope scope(context_.host, CallPoint::kPermit, &state, &state);
    int64_t timeout_ms = 0;
    const ks_status code = Guarded([&] {
      return context_.table.permit(context_.self, scope.handle(), HandleOf(*pod), StrOf(node),
                                   &timeout_ms);
    });
    timeout_ms = std::clamp<int64_t>(timeout_ms, 0, kMostPermitMs);
    return {.status = context_.host.StatusOf(code, scope.call()),
            .timeout = std::chrono::milliseconds(timeout_ms)};
  }

 private:
  const PartContext context_;
};

// One blocking step. The state of the attempt stays on the scheduling thread; the plugin's datum
// comes along.
class BlockingPreBind final : public framework::PreBindSequence {
 public:
  BlockingPreBind(const PartContext& context, std::shared_ptr<void> datum, api::PodPtr pod,
                  std::string node)
      : run_([context, datum = std::move(datum), pod = std::move(pod), node = std::move(node)] {
          CallScope scope(context.host, CallPoint::kPreBind);
          scope.call().datum = datum.get();
          const ks_status code = Guarded([&] {
            return context.table.pre_bind(context.self, scope.handle(), HandleOf(*pod),
                                          StrOf(node));
          });
          return context.host.StatusOf(code, scope.call());
        }) {}

  framework::PreBindStep Next(const Status& previous) override {
    framework::PreBindStep step;
    if (run_ == nullptr) {
      step.finished = true;
      step.status = previous;
    } else {
      step.blocking = std::exchange(run_, nullptr);
    }
    return step;
  }

 private:
  std::function<Status()> run_;
};

class PreBindPart final : public framework::PluginPart, public framework::PreBindPlugin {
 public:
  explicit PreBindPart(const PartContext& context) : context_(context) {}

  framework::PreBindPreFlightResult PreBindPreFlight(CycleState&, const api::PodPtr&,
                                                     const std::string&) override {
    return {};
  }
  std::unique_ptr<framework::PreBindSequence> PreBind(CycleState& state, const api::PodPtr& pod,
                                                      const std::string& node) override {
    const ForeignState* own = context_.host.state_slot().Read(state);
    return std::make_unique<BlockingPreBind>(context_, own == nullptr ? nullptr : own->data(), pod,
                                             node);
  }

 private:
  const PartContext context_;
};

class PostBindPart final : public framework::PluginPart, public framework::PostBindPlugin {
 public:
  explicit PostBindPart(const PartContext& context) : context_(context) {}

  void PostBind(CycleState& state, const api::PodPtr& pod, const std::string& node) override {
    CallScope scope(context_.host, CallPoint::kPostBind, &state);
    (void)Guarded([&] {
      context_.table.post_bind(context_.self, scope.handle(), HandleOf(*pod), StrOf(node));
      return KS_SUCCESS;
    });
  }

 private:
  const PartContext context_;
};

}  // namespace

void AddBindingParts(const PartContext& context, Parts* parts) {
  const ks_plugin& table = context.table;
  if (table.reserve != nullptr || table.unreserve != nullptr) {
    parts->push_back(std::make_unique<ReservePart>(context));
  }
  if (table.permit != nullptr) parts->push_back(std::make_unique<PermitPart>(context));
  if (table.pre_bind != nullptr) parts->push_back(std::make_unique<PreBindPart>(context));
  if (table.post_bind != nullptr) parts->push_back(std::make_unique<PostBindPart>(context));
}

}  // namespace ks::modules
