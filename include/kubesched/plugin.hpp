// SPDX-License-Identifier: Apache-2.0
#pragma once
// plugin.h for C++20: a plugin is a class that derives from the interfaces of the points it takes
// part in, as in kubesched itself. Exceptions end at the border: an exception is the error of the
// call, and in the constructor the reason why the plugin is refused. Header only; builds with
// g++ -std=c++20 -shared -fPIC. What functions mean, and on which threads: plugin.h.
//
//   class OnlyArm final : public kubesched::FilterPlugin {
//    public:
//     OnlyArm(const kubesched::Host& host, std::string_view args)
//         : arch_(host.Name("kubernetes.io/arch")) {}
//     kubesched::Status Filter(kubesched::Call, kubesched::Pod, kubesched::Node node) const
//     override {
//       if (node.Label(arch_) == "arm64") return {};
//       return {KS_UNSCHEDULABLE_AND_UNRESOLVABLE, "node is not an ARM machine"};
//     }
//    private:
//     const ks_name arch_;
//   };
//   KUBESCHED_MODULE("arm", "1.0", 0, KUBESCHED_PLUGIN("OnlyArm", OnlyArm));

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kubesched/plugin.h"

// Hidden: two modules, or two versions of one, must not share anything of this.
#pragma GCC visibility push(hidden)

namespace kubesched {

inline ks_str Str(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view View(ks_str text) { return {text.data, text.size}; }

// An answer: a code, or what Host::Constant made; a reason is formatted anew for each answer.
class Status {
 public:
  Status() = default;                      // success
  Status(ks_status code) : code_(code) {}  // NOLINT(google-explicit-constructor)
  Status(ks_status code, std::string reason) : code_(code), reason_(std::move(reason)) {}
  ks_status code() const { return code_; }
  const std::string& reason() const { return reason_; }

 private:
  ks_status code_ = KS_SUCCESS;
  std::string reason_;
};

// Any thread; may be kept.
class Host {
 public:
  explicit Host(const ks_host* host) : host_(host) {}
  const ks_host* get() const { return host_; }

  ks_name Name(std::string_view text) const { return host_->name(host_, Str(text)); }
  Status Constant(ks_status code, std::string_view reason) const {
    return host_->constant_status(host_, code, Str(reason));
  }
  void Log(int32_t level, std::string_view text) const { host_->log(host_, level, Str(text)); }
  bool Logs(int32_t level) const { return host_->log_enabled(host_, level) != 0; }
  int64_t NowNs() const { return host_->now(host_); }
  void Count(std::string_view event, double by = 1) const { host_->count(host_, Str(event), by); }
  void Observe(std::string_view what, double seconds) const {
    host_->observe(host_, Str(what), seconds);
  }
  ks_result Activate(std::string_view pod_namespace, std::string_view pod) const {
    return host_->activate(host_, Str(pod_namespace), Str(pod));
  }
  ks_result Allow(std::string_view uid) const { return host_->allow(host_, Str(uid)); }
  ks_result Reject(std::string_view uid, std::string_view message) const {
    return host_->reject(host_, Str(uid), Str(message));
  }

 private:
  const ks_host* host_;
};

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

// Valid during the call that it was given to. May be empty where something was looked up.
class Pod {
 public:
  Pod(const ks_host* host, const ks_pod* pod) : host_(host), pod_(pod) {}
  explicit operator bool() const { return pod_ != nullptr; }
  const ks_pod* get() const { return pod_; }

  std::string_view Namespace() const { return View(host_->pod_namespace(pod_)); }
  std::string_view Name() const { return View(host_->pod_name(pod_)); }
  std::string_view Uid() const { return View(host_->pod_uid(pod_)); }
  std::string_view NodeName() const { return View(host_->pod_node_name(pod_)); }
  std::string_view SchedulerName() const { return View(host_->pod_scheduler_name(pod_)); }
  int32_t Priority() const { return host_->pod_priority(pod_); }
  std::optional<std::string_view> Label(ks_name key) const {
    ks_str value;
    if (host_->pod_label(pod_, key, &value) == 0) return std::nullopt;
    return View(value);
  }
  std::optional<std::string_view> Annotation(ks_name key) const {
    ks_str value;
    if (host_->pod_annotation(pod_, key, &value) == 0) return std::nullopt;
    return View(value);
  }
  Labels AllLabels() const {
    Labels labels;
    ks_str key, value;
    for (size_t i = 0; host_->pod_label_at(pod_, i, &key, &value) == KS_OK; ++i) {
      labels.emplace_back(View(key), View(value));
    }
    return labels;
  }
  int64_t Request(ks_name resource) const { return host_->pod_request(pod_, resource); }
  std::string_view Json() const { return View(host_->pod_json(pod_)); }

 private:
  const ks_host* host_;
  const ks_pod* pod_;
};

// As Pod.
class Node {
 public:
  Node(const ks_host* host, const ks_node* node) : host_(host), node_(node) {}
  explicit operator bool() const { return node_ != nullptr; }
  const ks_node* get() const { return node_; }

  std::string_view Name() const { return View(host_->node_name(node_)); }
  std::optional<std::string_view> Label(ks_name key) const {
    ks_str value;
    if (host_->node_label(node_, key, &value) == 0) return std::nullopt;
    return View(value);
  }
  std::optional<std::string_view> Annotation(ks_name key) const {
    ks_str value;
    if (host_->node_annotation(node_, key, &value) == 0) return std::nullopt;
    return View(value);
  }
  Labels AllLabels() const {
    Labels labels;
    ks_str key, value;
    for (size_t i = 0; host_->node_label_at(node_, i, &key, &value) == KS_OK; ++i) {
      labels.emplace_back(View(key), View(value));
    }
    return labels;
  }
  bool Unschedulable() const { return host_->node_unschedulable(node_) != 0; }
  std::vector<ks_taint> Taints() const {
    std::vector<ks_taint> taints(host_->node_taint_count(node_));
    for (size_t i = 0; i < taints.size(); ++i) host_->node_taint_at(node_, i, &taints[i]);
    return taints;
  }
  int64_t Allocatable(ks_name resource) const { return host_->node_allocatable(node_, resource); }
  int64_t Requested(ks_name resource) const { return host_->node_requested(node_, resource); }
  size_t PodCount() const { return host_->node_pod_count(node_); }
  Pod PodAt(size_t index) const { return {host_, host_->node_pod_at(node_, index)}; }
  std::string_view Json() const { return View(host_->node_json(node_)); }

 private:
  const ks_host* host_;
  const ks_node* node_;
};

// The call that runs; not to be kept.
class Call {
 public:
  Call(const ks_host* host, ks_call* call) : host_(host), call_(call) {}
  const ks_host* host() const { return host_; }
  ks_call* get() const { return call_; }

  // One object of one type T a plugin and attempt.
  template <class T>
  ks_result SetState(std::unique_ptr<T> state) const {
    return host_->state_set(call_, state.release(),
                            [](void* data) { delete static_cast<T*>(data); });
  }
  template <class T>
  T* State() const {
    return static_cast<T*>(host_->state_get(call_));
  }
  size_t NodeCount() const { return host_->node_count(call_); }
  Node NodeAt(size_t index) const { return {host_, host_->node_at(call_, index)}; }
  Node FindNode(std::string_view name) const { return {host_, host_->find_node(call_, Str(name))}; }
  Pod FindPod(std::string_view pod_namespace, std::string_view name) const {
    return {host_, host_->find_pod(call_, Str(pod_namespace), Str(name))};
  }
  ks_result OnlyNodes(std::span<const std::string_view> names) const {
    std::vector<ks_str> texts;
    for (const std::string_view name : names) texts.push_back(Str(name));
    return host_->only_nodes(call_, texts.data(), texts.size());
  }
  ks_status NodeStatus(size_t index) const { return host_->node_status(call_, index); }
  ks_result Nominate(std::string_view node) const { return host_->nominate(call_, Str(node)); }
  ks_result Sign(std::string_view key, std::string_view json) const {
    return host_->sign(call_, Str(key), Str(json));
  }

 private:
  const ks_host* host_;
  ks_call* call_;
};

// The nodes that are left.
class Nodes {
 public:
  Nodes(const ks_host* host, const ks_node* const* nodes, size_t size)
      : host_(host), nodes_(nodes), size_(size) {}
  size_t size() const { return size_; }
  Node operator[](size_t index) const { return {host_, nodes_[index]}; }

 private:
  const ks_host* host_;
  const ks_node* const* nodes_;
  size_t size_;
};

// ---- the points ----

class Plugin {
 public:
  virtual ~Plugin() = default;
};
struct PreEnqueuePlugin : virtual Plugin {
  virtual Status PreEnqueue(Call call, Pod pod) = 0;
};
struct PreFilterPlugin : virtual Plugin {
  virtual Status PreFilter(Call call, Pod pod) = 0;
};
struct FilterPlugin : virtual Plugin {
  virtual Status Filter(Call call, Pod pod, Node node) const = 0;
};
struct PostFilterPlugin : virtual Plugin {
  virtual Status PostFilter(Call call, Pod pod) = 0;
};
struct PreScorePlugin : virtual Plugin {
  virtual Status PreScore(Call call, Pod pod, Nodes nodes) = 0;
};
struct ScorePlugin : virtual Plugin {
  virtual Status Score(Call call, Pod pod, Node node, int64_t* score) const = 0;
};
struct ScoreNormalizer : virtual Plugin {
  virtual Status NormalizeScore(Call call, Pod pod, Nodes nodes, std::span<int64_t> scores) = 0;
};
struct ReservePlugin : virtual Plugin {
  virtual Status Reserve(Call call, Pod pod, std::string_view node) = 0;
  virtual void Unreserve(Call call, Pod pod, std::string_view node) = 0;
};
struct PermitPlugin : virtual Plugin {
  virtual Status Permit(Call call, Pod pod, std::string_view node, int64_t* timeout_ms) = 0;
};
struct PreBindPlugin : virtual Plugin {
  virtual Status PreBind(Call call, Pod pod, std::string_view node) = 0;
};
struct PostBindPlugin : virtual Plugin {
  virtual void PostBind(Call call, Pod pod, std::string_view node) = 0;
};
// Beside `static constexpr ks_event kEvents[]`, which a class may also have alone.
struct QueueingHints : virtual Plugin {
  virtual bool IsWorthATry(Call call, size_t event, Pod pod, const ks_event_objects& objects) = 0;
};
struct SignPlugin : virtual Plugin {
  virtual Status Sign(Call call, Pod pod) = 0;
};
// KS_PLUGIN_NODE_LOCAL.
struct NodeLocalPlugin : virtual Plugin {
  virtual uint64_t OutsideVersion() const { return 0; }
};

}  // namespace kubesched

#include "kubesched/plugin_table.hpp"  // KUBESCHED_MODULE, KUBESCHED_PLUGIN

#pragma GCC visibility pop
