// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the classes of plugin.hpp become the tables of plugin.h. Included by plugin.hpp.

#include "kubesched/plugin.hpp"

namespace kubesched::detail {

template <class T>
struct Instance {
  const ks_host* host;
  T plugin;
};

// Runs a method and hands its status over; an exception is an error.
template <class Method>
ks_status Answer(const ks_host* host, ks_call* call, const Method& method) noexcept {
  try {
    const Status status = method();
    if (status.reason().empty()) return status.code();
    return host->fail(call, status.code(), Str(status.reason()));
  } catch (const std::exception& error) {
    return host->fail(call, KS_ERROR, Str(error.what()));
  } catch (...) {
    return host->fail(call, KS_ERROR, Str("an exception that is no std::exception"));
  }
}

template <class T>
struct Functions {
  static Instance<T>& Of(void* self) { return *static_cast<Instance<T>*>(self); }

  static void* Create(const ks_host* host, ks_str args, ks_call* call) {
    void* made = nullptr;
    Answer(host, call, [&] {
      made = new Instance<T>{host, T(Host(host), View(args))};
      return Status();
    });
    return made;
  }
  static void Close(void* self) {
    try {
      delete &Of(self);
    } catch (...) {
    }
  }
  // Calls a method with (call, pod, more...).
  template <class Method, class... More>
  static ks_status Run(void* self, ks_call* call, const ks_pod* pod, Method method, More... more) {
    Instance<T>& own = Of(self);
    return Answer(own.host, call, [&]() -> Status {
      return (own.plugin.*method)(kubesched::Call(own.host, call), Pod(own.host, pod), more...);
    });
  }
  template <class Method, class... More>
  static void RunVoid(void* self, ks_call* call, const ks_pod* pod, Method method, More... more) {
    Instance<T>& own = Of(self);
    Answer(own.host, call, [&] {
      (own.plugin.*method)(kubesched::Call(own.host, call), Pod(own.host, pod), more...);
      return Status();
    });
  }
  static Nodes NodesOf(void* self, const ks_node* const* nodes, size_t count) {
    return {Of(self).host, nodes, count};
  }

  static constexpr void FillDeciding(ks_plugin* table) {
    if constexpr (std::derived_from<T, PreEnqueuePlugin>) {
      table->pre_enqueue = [](void* self, ks_call* call, const ks_pod* pod) {
        return Run(self, call, pod, &T::PreEnqueue);
      };
    }
    if constexpr (std::derived_from<T, PreFilterPlugin>) {
      table->pre_filter = [](void* self, ks_call* call, const ks_pod* pod) {
        return Run(self, call, pod, &T::PreFilter);
      };
    }
    if constexpr (std::derived_from<T, FilterPlugin>) {
      table->filter = [](void* self, ks_call* call, const ks_pod* pod, const ks_node* node) {
        // Not through Run: this is asked for each node, and need not look the method up.
        Instance<T>& own = Of(self);
        return Answer(own.host, call, [&]() -> Status {
          return own.plugin.T::Filter(kubesched::Call(own.host, call), Pod(own.host, pod),
                                      Node(own.host, node));
        });
      };
    }
    if constexpr (std::derived_from<T, PostFilterPlugin>) {
      table->post_filter = [](void* self, ks_call* call, const ks_pod* pod) {
        return Run(self, call, pod, &T::PostFilter);
      };
    }
    if constexpr (std::derived_from<T, PreScorePlugin>) {
      table->pre_score = [](void* self, ks_call* call, const ks_pod* pod,
                            const ks_node* const* nodes, size_t count) {
        return Run(self, call, pod, &T::PreScore, NodesOf(self, nodes, count));
      };
    }
    if constexpr (std::derived_from<T, ScorePlugin>) {
      table->score = [](void* self, ks_call* call, const ks_pod* pod, const ks_node* node,
                        int64_t* score) {
        Instance<T>& own = Of(self);
        return Answer(own.host, call, [&]() -> Status {
          return own.plugin.T::Score(kubesched::Call(own.host, call), Pod(own.host, pod),
                                     Node(own.host, node), score);
        });
      };
    }
    if constexpr (std::derived_from<T, ScoreNormalizer>) {
      table->normalize_score = [](void* self, ks_call* call, const ks_pod* pod,
                                  const ks_node* const* nodes, int64_t* scores, size_t count) {
        return Run(self, call, pod, &T::NormalizeScore, NodesOf(self, nodes, count),
                   std::span<int64_t>(scores, count));
      };
    }
  }

  static constexpr void FillBinding(ks_plugin* table) {
    if constexpr (std::derived_from<T, ReservePlugin>) {
      table->reserve = [](void* self, ks_call* call, const ks_pod* pod, ks_str node) {
        return Run(self, call, pod, &T::Reserve, View(node));
      };
      table->unreserve = [](void* self, ks_call* call, const ks_pod* pod, ks_str node) {
        RunVoid(self, call, pod, &T::Unreserve, View(node));
      };
    }
    if constexpr (std::derived_from<T, PermitPlugin>) {
      table->permit = [](void* self, ks_call* call, const ks_pod* pod, ks_str node,
                         int64_t* timeout_ms) {
        return Run(self, call, pod, &T::Permit, View(node), timeout_ms);
      };
    }
    if constexpr (std::derived_from<T, PreBindPlugin>) {
      table->pre_bind = [](void* self, ks_call* call, const ks_pod* pod, ks_str node) {
        return Run(self, call, pod, &T::PreBind, View(node));
      };
    }
    if constexpr (std::derived_from<T, PostBindPlugin>) {
      table->post_bind = [](void* self, ks_call* call, const ks_pod* pod, ks_str node) {
        RunVoid(self, call, pod, &T::PostBind, View(node));
      };
    }
  }

  static constexpr void FillQueue(ks_plugin* table) {
    if constexpr (requires { T::kEvents; }) {
      table->events = std::span<const ks_event>(T::kEvents).data();
      table->event_count = std::span<const ks_event>(T::kEvents).size();
    }
    if constexpr (std::derived_from<T, QueueingHints>) {
      table->hint = [](void* self, ks_call* call, size_t index, const ks_pod* pod,
                       const ks_event_objects* objects) -> int32_t {
        Instance<T>& own = Of(self);
        try {
          return own.plugin.IsWorthATry(kubesched::Call(own.host, call), index, Pod(own.host, pod),
                                        *objects)
                     ? KS_HINT_QUEUE
                     : KS_HINT_SKIP;
        } catch (...) {
          return KS_HINT_QUEUE;
        }
      };
    }
    if constexpr (std::derived_from<T, SignPlugin>) {
      table->sign = [](void* self, ks_call* call, const ks_pod* pod) {
        return Run(self, call, pod, &T::Sign);
      };
    }
    if constexpr (std::derived_from<T, NodeLocalPlugin>) {
      table->flags |= KS_PLUGIN_NODE_LOCAL;
      table->outside_version = [](void* self) -> uint64_t {
        return Of(self).plugin.OutsideVersion();
      };
    }
  }

  static constexpr ks_plugin Table(const char* name) {
    ks_plugin table{};
    table.size = sizeof(ks_plugin);
    table.name = name;
    table.create = &Create;
    table.close = &Close;
    FillDeciding(&table);
    FillBinding(&table);
    FillQueue(&table);
    return table;
  }
};

}  // namespace kubesched::detail

// One plugin of KUBESCHED_MODULE: its name in profiles and its class, which is made with
// (const kubesched::Host&, std::string_view args).
#define KUBESCHED_PLUGIN(name, ...) ::kubesched::detail::Functions<__VA_ARGS__>::Table(name)

// The module: name and version for the log, KS_NEEDS_… or 0, and its plugins.
#define KUBESCHED_MODULE(module_name, module_version, module_needs, ...)         \
  extern "C" KS_PLUGIN_EXPORT const ks_module* kubesched_module(void) {          \
    static constexpr ks_plugin kPlugins[] = {__VA_ARGS__};                       \
    constexpr size_t kCount = sizeof(kPlugins) / sizeof(kPlugins[0]);            \
    static const ks_plugin* plugins[kCount];                                     \
    for (size_t i = 0; i < kCount; ++i) plugins[i] = &kPlugins[i];               \
    static const ks_module module = {                                            \
        KS_PLUGIN_MAGIC, KS_PLUGIN_ABI_VERSION, module_needs, sizeof(ks_module), \
        module_name,     module_version,        plugins,      kCount};           \
    return &module;                                                              \
  }                                                                              \
  static_assert(true, "a semicolon follows")
