// SPDX-License-Identifier: Apache-2.0
#pragma once
// One call of a module's function, as the module sees it (ks_call): what host functions may do
// during it, and what they were told. Calls lie in storage of their thread that outlives them, so
// that a ks_call that a module kept, or handed to another thread, is noticed and harmless.
//
// Upstream: none; its plugins are compiled in.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/pod.h"
#include "base/check.h"
#include "framework/cycle_state.h"
#include "framework/diagnosis.h"
#include "framework/sign_plugin.h"
#include "kubesched/plugin.h"

namespace ks::modules {

class PluginHost;

enum class CallPoint : uint8_t {
  kCreate,
  kPreEnqueue,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalize,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBind,
  kPostBind,
  kHint,
  kSign,
};

// A set of points.
constexpr uint32_t Points(std::initializer_list<CallPoint> points) {
  uint32_t bits = 0;
  for (const CallPoint point : points) bits |= 1U << static_cast<uint32_t>(point);
  return bits;
}

// What a module said beside the code it returned.
struct Answer {
  std::vector<std::string> reasons;
  std::optional<std::set<std::string>> nodes;  // PreFilter
  std::optional<std::string> nomination;       // PostFilter
  std::vector<framework::SignFragment> fragments;
  std::vector<api::PodPtr> kept_pods;  // that it looked up
};

// Trivial, so that a call of Filter costs a few stores.
struct Call {
  PluginHost* host;
  CallPoint point;
  const framework::CycleState* state;       // null: no attempt
  framework::CycleState* writable;          // null: read only
  const framework::NodeStatuses* statuses;  // PostFilter
  void* datum;                              // PreBind: the datum of the attempt
  Answer* answer;                           // null: nothing was said; owned by the CallScope

  bool IsAt(uint32_t points) const { return (points & Points({point})) != 0; }
  Answer& Said() {
    if (answer == nullptr) answer = new Answer();
    return *answer;
  }
};

// Threads: each has its own. Host functions call no module, so that there is one call at a time,
// but for those that a module makes by itself of its own functions.
struct CallStack {
  std::array<Call, 4> calls;
  uint32_t depth;
};
extern constinit thread_local CallStack call_stack;

// The call of this handle; null: it is over, of another thread, or none at all.
inline Call* CallOf(ks_call* handle) {
  CallStack& stack = call_stack;
  const size_t offset =
      reinterpret_cast<uintptr_t>(handle) - reinterpret_cast<uintptr_t>(stack.calls.data());
  if (offset % sizeof(Call) != 0 || offset / sizeof(Call) >= stack.depth) return nullptr;
  return &stack.calls[offset / sizeof(Call)];
}

// Makes a call for as long as it lives.
class CallScope {
 public:
  CallScope(PluginHost& host, CallPoint point, const framework::CycleState* state = nullptr,
            framework::CycleState* writable = nullptr)
      : stack_(call_stack), call_(stack_.calls[stack_.depth % stack_.calls.size()]) {
    KS_CHECK(stack_.depth < stack_.calls.size(), "calls of modules do not nest");
    ++stack_.depth;
    call_ = {.host = &host,
             .point = point,
             .state = state,
             .writable = writable,
             .statuses = nullptr,
             .datum = nullptr,
             .answer = nullptr};
  }
  ~CallScope() {
    --stack_.depth;
    delete call_.answer;
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  Call& call() { return call_; }
  ks_call* handle() { return reinterpret_cast<ks_call*>(&call_); }

 private:
  CallStack& stack_;
  Call& call_;
};

}  // namespace ks::modules
