// SPDX-License-Identifier: Apache-2.0
#include "plugins/pod_topology_spread/spread_counter.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ks::plugins {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxCounters = 8192;
constexpr size_t kBytesPerText = 100;  // of a selector, with its symbol or its place in a table

// What a counter's specification takes, roughly.
size_t RoughBytes(const CounterSpec& spec) {
  size_t texts = spec.selector.labels.size() + spec.required_keys.size();
  if (spec.selector.requirements) {
    for (const api::Requirement& each : spec.selector.requirements->requirements()) {
      texts += 1 + each.values.size() + (each.many_values ? each.many_values->all().size() : 0);
    }
  }
  return texts * kBytesPerText;
}

// Writes values one after another so that different sequences give different texts.
class KeyWriter {
 public:
  void Number(uint64_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Text(std::string_view value) {
    Number(value.size());
    text_.append(value);
  }
  void Id(const Symbol& value) {
    const uint32_t id = value.id();
    text_.append(reinterpret_cast<const char*>(&id), sizeof id);
  }
  void Labels(const api::LabelMap& labels) {
    Number(labels.size());
    for (const auto& [key, value] : labels) {
      Id(key);
      Id(value);
    }
  }
  void Selector(const std::optional<api::LabelSelector>& selector) {
    Number(selector ? selector->requirements().size() + 1 : 0);
    if (!selector) return;
    Number(selector->MatchesNothing() ? 1 : 0);
    for (const api::Requirement& requirement : selector->requirements()) {
      Id(requirement.key);
      Number(static_cast<uint64_t>(requirement.op));
      Number(static_cast<uint64_t>(requirement.bound));
      Number(requirement.values.size());
      for (const Symbol& value : requirement.values) Id(value);
      Texts(requirement.many_values);
    }
  }
  void Texts(const std::shared_ptr<const api::ValueTexts>& values) {
    Number(values ? values->all().size() : 0);
    if (!values) return;
    for (const std::string_view value : values->all()) Text(value);
  }
  void Requirements(const std::vector<api::SelectorRequirement>& requirements) {
    Number(requirements.size());
    for (const api::SelectorRequirement& requirement : requirements) {
      Text(requirement.key);
      Text(requirement.op);
      Number(requirement.values.size());
      for (const std::string& value : requirement.values) Text(value);
    }
  }
  void Affinity(const api::PodSpec& spec) {
    Labels(spec.node_selector);
    const bool required = spec.node_affinity && spec.node_affinity->required;
    Number(required ? spec.node_affinity->required->terms.size() + 1 : 0);
    if (!required) return;
    for (const api::NodeSelectorTerm& term : spec.node_affinity->required->terms) {
      Requirements(term.match_expressions);
      Requirements(term.match_fields);
    }
  }
  void Tolerations(const std::vector<api::Toleration>& tolerations) {
    Number(tolerations.size());
    for (const api::Toleration& toleration : tolerations) {
      Id(toleration.key);
      Text(toleration.op);
      Id(toleration.value);
      Id(toleration.effect);
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Those that every pod has which the selector matches.
std::vector<framework::Label> NeededLabels(const DerivedSelector& selector) {
  std::vector<framework::Label> labels;
  for (const auto& [key, value] : selector.labels) labels.push_back({key, value});
  if (selector.requirements) framework::AppendNeededLabels(*selector.requirements, &labels);
  return labels;
}

}  // namespace

NodeInclusion::NodeInclusion(const api::PodSpec& spec, LtAndGt lt_and_gt)
    : has_affinity_(!spec.node_selector.empty() ||
                    (spec.node_affinity && spec.node_affinity->required)),
      affinity_(spec),
      tolerations_(spec.tolerations),
      lt_and_gt_(lt_and_gt) {}

bool NodeInclusion::ToleratesTaints(const api::Node& node) const {
  static const Symbol no_schedule("NoSchedule");
  static const Symbol no_execute("NoExecute");
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& taint) {
    return (taint.effect != no_schedule && taint.effect != no_execute) ||
           Tolerated(tolerations_, taint, lt_and_gt_);
  });
}

std::string CounterKey(const CounterSpec& spec, const api::PodSpec& pod_spec) {
  KeyWriter key;
  key.Id(spec.ns);
  key.Labels(spec.selector.labels);
  key.Selector(spec.selector.requirements);
  key.Id(spec.topology_key);
  key.Number((spec.missing_is_empty ? 1U : 0U) | (spec.honor_affinity ? 2U : 0U) |
             (spec.honor_taints ? 4U : 0U));
  key.Number(spec.required_keys.size());
  for (const Symbol& required : spec.required_keys) key.Id(required);
  if (spec.honor_affinity) key.Affinity(pod_spec);
  if (spec.honor_taints) key.Tolerations(pod_spec.tolerations);
  return key.Take();
}

SpreadCounter::SpreadCounter(TopologyPtr topology, CountingHelp& help, CounterSpec spec,
                             size_t spec_bytes)
    : DomainCounts(*topology, help, NeededLabels(spec.selector)),
      own_topology_(std::move(topology)),
      spec_(std::move(spec)),
      spec_bytes_(spec_bytes),
      counts_nothing_(spec_.selector.Empty() || (spec_.selector.requirements &&
                                                 spec_.selector.requirements->MatchesNothing())) {}

// An empty selector counts no pod, although it matches all.
int32_t SpreadCounter::CountOf(const framework::PodInfo& pod) const {
  if (counts_nothing_) return 0;
  const api::ObjectMeta& meta = pod.pod().meta;
  return meta.ns == spec_.ns && !meta.deletion_timestamp && spec_.selector.Matches(meta.labels) ? 1
                                                                                                : 0;
}

bool SpreadCounter::TakesPart(const framework::NodeInfo& node) const {
  const api::Node& object = *node.node();
  for (const Symbol& key : spec_.required_keys) {
    if (!object.meta.labels.Contains(key)) return false;
  }
  if (spec_.honor_affinity && !spec_.inclusion->MatchesAffinity(object)) return false;
  return !spec_.honor_taints || !node.has_hard_taints() || spec_.inclusion->ToleratesTaints(object);
}

std::shared_ptr<const SpreadCounter> SpreadCounters::Get(const std::string& key,
                                                         const CounterSpec& spec,
                                                         const framework::Snapshot& snapshot) {
  const TopologyPtr topology =
      topologies_.Get(spec.topology_key, snapshot, {.missing_is_empty = spec.missing_is_empty});
  const std::shared_ptr<SpreadCounter> counter = counters_.GetOrMake(
      key, {.values = kMaxCounters, .bytes = kMaxBytes},
      [&] {
        auto made = std::make_shared<SpreadCounter>(topology, help_, spec,
                                                    2 * key.size() + RoughBytes(spec));
        made->Refresh(snapshot);
        return made;
      },
      [](const SpreadCounter& each) { return each.MemoryBytes(); });
  counter->Refresh(snapshot);
  return counter;
}

}  // namespace ks::plugins
