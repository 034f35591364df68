// SPDX-License-Identifier: Apache-2.0
// From options to what is asked of the daemon.
#include <string>
#include <vector>

#include "base/join.h"
#include "inspect/explain_group.h"
#include "kubeschedctl/live/live_verbs.h"

namespace ks::ctl {
namespace {

// A path with a query.
class Target {
 public:
  explicit Target(const std::string& name) : text_("/debug/kubesched/" + name) {}

  Target& Add(const char* key, const std::string& value) {
    if (!value.empty()) Append(key, value);
    return *this;
  }
  Target& Add(const char* key, bool value) {
    if (value) Append(key, "true");
    return *this;
  }
  Target& Add(const char* key, const std::vector<std::string>& entries) {
    return Add(key, Join(entries, ","));
  }
  Target& AddNumber(const char* key, int64_t value) {
    if (value >= 0) Append(key, std::to_string(value));
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void Append(const char* key, const std::string& value) {
    text_ += (first_ ? "?" : "&") + std::string(key) + "=" + client::EscapeUrl(value);
    first_ = false;
  }

  std::string text_;
  bool first_ = true;
};

}  // namespace

std::string InNamespace(const std::string& name, const std::string& ns) {
  const bool group = inspect::ParseGroupName(name).has_value();
  const size_t begin = group ? name.find('/') + 1 : 0;  // behind "podgroup/"
  if (name.empty() || name.find('/', begin) != std::string::npos) return name;
  return name.substr(0, begin) + ns + "/" + name.substr(begin);
}

std::string QueueTarget(const LiveQueueOptions& options) {
  return Target("queue")
      .Add("namespace", options.ns)
      .Add("pod", options.pod)
      .Add("plugin", options.plugin)
      .Add("queue", options.part)
      .AddNumber("limit", options.limit)
      .text();
}

std::string DecisionsTarget(const LiveDecisionsOptions& options) {
  return Target("decisions")
      .Add("namespace", options.ns)
      .Add("pod", options.pod)
      .Add("node", options.node)
      .Add("result", options.result)
      .AddNumber("limit", options.limit)
      .text();
}

std::string CacheTarget(const LiveCacheOptions& options) {
  return Target("cache")
      .Add("node", options.node)
      .Add("pods", options.pods)
      .Add("compare", options.compare)
      .text();
}

std::string SimulateTarget(const LiveSimulateOptions& options) {
  return Target("simulate")
      .AddNumber("replicas", options.replicas)
      .Add("fill", options.fill)
      .Add("moreNodes", options.more_nodes)
      .Add("withoutNodes", options.without_nodes)
      .Add("weights", options.weights)
      .text();
}

std::string ExplainTarget(const LiveExplainOptions& options) {
  const bool group = inspect::ParseGroupName(options.pod).has_value();
  return Target("explain")
      .Add(group ? "podGroup" : "pod", options.pod)
      .Add("node", options.node)
      .Add("preemption", options.preemption)
      .Add("suggest", options.suggest && !group)
      .text();
}

}  // namespace ks::ctl
