// SPDX-License-Identifier: Apache-2.0
// A module whose plugin breaks the contract of plugin.h in the way that its arguments name, with
// the reason of its answer telling what the host said to it. Written against plugin.h alone: the
// C++ comfort would not let it.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "kubesched/plugin.h"

namespace {

struct Plugin {
  const ks_host* host;
  std::string deed;
  ks_call* kept_call = nullptr;

  bool Does(std::string_view other) const { return deed == "\"" + std::string(other) + "\""; }
};

Plugin& Of(void* self) { return *static_cast<Plugin*>(self); }

ks_str Str(std::string_view text) { return {text.data(), text.size()}; }

std::atomic<const ks_host*> last_host{nullptr};
std::atomic<int> destroyed{0};

void* Create(const ks_host* host, ks_str args, ks_call* call) {
  auto* plugin = new Plugin{host, std::string(args.data, args.size)};
  last_host = host;
  if (plugin->Does("create throws")) {
    delete plugin;
    throw std::runtime_error("thrown");
  }
  const bool silent = plugin->Does("create says nothing");
  if (silent || plugin->Does("create refuses")) {
    delete plugin;
    if (!silent) host->fail(call, KS_ERROR, Str("not like this"));
    return nullptr;
  }
  plugin->kept_call = call;
  return plugin;
}

// For the test, which cannot reach into a loaded module.
void Record(int64_t answer) { setenv("MISBEHAVING_ANSWER", std::to_string(answer).c_str(), 1); }

void Close(void* self) {
  const bool throws = Of(self).Does("close throws");
  if (Of(self).Does("keeps its call")) {
    Record(Of(self).host->state_set(Of(self).kept_call, nullptr, nullptr));
  }
  delete &Of(self);
  if (throws) throw 1;
}

// What the host answers, as the reason of a rejection.
ks_status Tell(ks_call* call, const ks_host* host, int64_t answer) {
  return host->fail(call, KS_UNSCHEDULABLE, Str(std::to_string(answer)));
}

ks_status PreFilter(void* self, ks_call* call, const ks_pod*) {
  Plugin& plugin = Of(self);
  const ks_host* host = plugin.host;
  plugin.kept_call = call;
  const ks_str untrue = {nullptr, 10};
  const ks_str endless = {"x", SIZE_MAX};
  if (plugin.Does("null node names")) return Tell(call, host, host->only_nodes(call, nullptr, 3));
  if (plugin.Does("untrue node name")) return Tell(call, host, host->only_nodes(call, &untrue, 1));
  if (plugin.Does("endless node name")) {
    return Tell(call, host, host->only_nodes(call, &endless, 1));
  }
  if (plugin.Does("nominates early")) return Tell(call, host, host->nominate(call, Str("n")));
  if (plugin.Does("signs early")) return Tell(call, host, host->sign(call, Str("k"), Str("1")));
  if (plugin.Does("statuses early")) return Tell(call, host, host->node_status(call, 0));
  if (plugin.Does("node beyond the end")) {
    return Tell(call, host, host->node_at(call, SIZE_MAX) == nullptr ? 0 : 1);
  }
  if (plugin.Does("state of nobody")) {
    const auto destroy = [](void*) { ++destroyed; };
    const ks_result result = host->state_set(nullptr, &plugin, destroy);
    return Tell(call, host, result * 10 - destroyed);
  }
  if (plugin.Does("outlives itself")) {
    const auto destroy = [](void*) {
      const ks_host* closed = last_host;
      Record(closed->activate(closed, Str("ns"), Str("p")) +
             10 * closed->count(closed, Str("x"), 1));
    };
    host->state_set(call, &plugin, destroy);
  }
  if (plugin.Does("null everywhere")) {
    host->log(nullptr, 0, untrue);
    host->log(host, 99, untrue);
    host->log(host, KS_LOG_DEBUG, untrue);
    host->fail(nullptr, KS_ERROR, untrue);
    ks_str out = {};
    ks_taint taint = {};
    int64_t sum = host->name(nullptr, Str("x")) + host->name(host, untrue);
    sum += host->count(nullptr, untrue, 1) + host->count(host, untrue, -1);
    sum += host->observe(host, Str("x"), -1) + host->activate(host, untrue, {nullptr, 0});
    sum += host->allow(nullptr, untrue) + host->reject(host, {nullptr, 0}, untrue);
    sum += host->pod_label_at(nullptr, 0, &out, &out) + host->node_taint_at(nullptr, 0, &taint);
    sum += static_cast<int64_t>(host->node_pod_count(nullptr)) + host->pod_priority(nullptr);
    sum += static_cast<int64_t>(host->pod_name(nullptr).size + host->node_name(nullptr).size);
    sum += host->pod_request(nullptr, 7) + host->node_requested(nullptr, UINT32_MAX);
    return Tell(call, host, sum);
  }
  if (plugin.Does("other thread")) {
    size_t nodes = 1;
    std::thread([&] { nodes = host->node_count(call); }).join();
    return Tell(call, host, static_cast<int64_t>(nodes));
  }
  if (plugin.Does("invented call")) {
    return Tell(call, host, host->state_set(reinterpret_cast<ks_call*>(0x1234), nullptr, nullptr));
  }
  return KS_SUCCESS;
}

ks_status Filter(void* self, ks_call* call, const ks_pod*, const ks_node*) {
  Plugin& plugin = Of(self);
  const ks_host* host = plugin.host;
  if (plugin.Does("code 99")) return 99;
  if (plugin.Does("code -1")) return -1;
  if (plugin.Does("constant of nobody")) return 5000;
  if (plugin.Does("wait in filter")) return KS_WAIT;
  if (plugin.Does("skip in filter")) return KS_SKIP;
  if (plugin.Does("throws")) throw std::runtime_error("thrown");
  if (plugin.Does("error without reason")) return KS_ERROR;
  if (plugin.Does("untrue reason")) return host->fail(call, KS_UNSCHEDULABLE, {nullptr, 1000});
  if (plugin.Does("damaged reason")) return host->fail(call, KS_UNSCHEDULABLE, Str("a\xff\xc3"));
  if (plugin.Does("long reason")) {
    const std::string text(1 << 20, 'x');
    return host->fail(call, KS_UNSCHEDULABLE, Str(text));
  }
  if (plugin.Does("success with reason")) {
    return host->fail(call, KS_SUCCESS, Str("it is fine")) == KS_ERROR ? KS_SUCCESS : 99;
  }
  if (plugin.Does("writes state")) return Tell(call, host, host->state_set(call, &plugin, nullptr));
  if (plugin.Does("narrows late")) return Tell(call, host, host->only_nodes(call, nullptr, 0));
  if (plugin.Does("looks pods up")) {
    return Tell(call, host, host->find_pod(call, Str("ns"), Str("p")) == nullptr ? 0 : 1);
  }
  if (plugin.Does("error with an empty reason")) return host->fail(call, KS_ERROR, Str(""));
  if (plugin.Does("constant error with an empty reason")) {
    return host->constant_status(host, KS_ERROR, Str(""));
  }
  if (plugin.Does("constant of success")) {
    return Tell(call, host, host->constant_status(host, KS_SUCCESS, Str("x")));
  }
  return KS_SUCCESS;
}

ks_status Score(void* self, ks_call*, const ks_pod*, const ks_node*, int64_t* score) {
  Plugin& plugin = Of(self);
  if (plugin.Does("score 101")) *score = 101;
  if (plugin.Does("score -1")) *score = -1;
  if (plugin.Does("score of a code")) return 12;
  return KS_SUCCESS;
}

ks_status Permit(void* self, ks_call*, const ks_pod*, ks_str, int64_t* timeout_ms) {
  Plugin& plugin = Of(self);
  if (plugin.Does("waits for ever")) {
    *timeout_ms = INT64_MAX;
    return KS_WAIT;
  }
  if (plugin.Does("waits backwards")) {
    *timeout_ms = INT64_MIN;
    return KS_WAIT;
  }
  return KS_SUCCESS;
}

ks_status PreBind(void* self, ks_call* call, const ks_pod*, ks_str) {
  Plugin& plugin = Of(self);
  if (plugin.Does("throws in pre_bind")) throw 7;
  if (plugin.Does("nodes in pre_bind")) {
    return Tell(call, plugin.host, static_cast<int64_t>(plugin.host->node_count(call)));
  }
  return KS_SUCCESS;
}

int32_t Hint(void* self, ks_call*, size_t, const ks_pod*, const ks_event_objects*) {
  Plugin& plugin = Of(self);
  if (plugin.Does("hint 77")) return 77;
  if (plugin.Does("hint throws")) throw 1;
  return KS_HINT_SKIP;
}

ks_status Sign(void* self, ks_call* call, const ks_pod*) {
  Plugin& plugin = Of(self);
  if (plugin.Does("empty signature")) {
    return Tell(call, plugin.host, plugin.host->sign(call, {nullptr, 5}, {nullptr, 0}));
  }
  return KS_SUCCESS;
}

constexpr ks_event kEvents[] = {{KS_EVENT_NODE, KS_ACTION_ADD}};
constexpr ks_plugin kPlugin = {
    .size = sizeof(ks_plugin),
    .name = "Misbehaving",
    .flags = 0,
    .create = Create,
    .close = Close,
    .pre_enqueue = nullptr,
    .pre_filter = PreFilter,
    .filter = Filter,
    .post_filter = nullptr,
    .pre_score = nullptr,
    .score = Score,
    .normalize_score = nullptr,
    .reserve = nullptr,
    .unreserve = nullptr,
    .permit = Permit,
    .pre_bind = PreBind,
    .post_bind = nullptr,
    .events = kEvents,
    .event_count = 1,
    .hint = Hint,
    .sign = Sign,
    .outside_version = nullptr,
};
const ks_plugin* const kPlugins[] = {&kPlugin};
constexpr ks_module kModule = {
    .magic = KS_PLUGIN_MAGIC,
    .abi_version = KS_PLUGIN_ABI_VERSION,
    .needs = 0,
    .size = sizeof(ks_module),
    .name = "misbehaving",
    .version = "1",
    .plugins = kPlugins,
    .plugin_count = 1,
};

}  // namespace

extern "C" KS_PLUGIN_EXPORT const ks_module* kubesched_module(void) { return &kModule; }
