// SPDX-License-Identifier: Apache-2.0
// PreFilter to NormalizeScore of a loaded plugin.

#include <string>
#include <utility>

#include "base/join.h"
#include "modules/objects.h"
#include "modules/plugin_parts.h"

namespace ks::modules {
namespace {

using framework::CycleState;
using framework::NodeInfo;
using framework::Snapshot;
using framework::Status;
using Nodes = std::span<const NodeInfo* const>;

class PreFilterPart final : public framework::PluginPart, public framework::PreFilterPlugin {
 public:
  explicit PreFilterPart(const PartContext& context) : context_(context) {}

  framework::PreFilterResult PreFilter(CycleState& state, const api::Pod& pod,
                                       const Snapshot& /*snapshot*/) override {
    CallScope scope(context_.host, CallPoint::kPreFilter, &state, &state);
    const ks_status code = Guarded(
        [&] { return context_.table.pre_filter(context_.self, scope.handle(), HandleOf(pod)); });
    framework::PreFilterResult result{.status = context_.host.StatusOf(code, scope.call()),
                                      .nodes = {}};
    if (result.status.ok() && scope.call().answer != nullptr) {
      result.nodes = std::move(scope.call().answer->nodes);
    }
    return result;
  }

 private:
  const PartContext context_;
};

class FilterPart final : public framework::PluginPart, public framework::FilterPlugin {
 public:
  explicit FilterPart(const PartContext& context)
      : host_(context.host), filter_(context.table.filter), self_(context.self) {}

  Status Filter(const CycleState& state, const api::Pod& pod, const NodeInfo& node) const override {
    CallScope scope(host_, CallPoint::kFilter, &state);
    const ks_status code =
        Guarded([&] { return filter_(self_, scope.handle(), HandleOf(pod), HandleOf(node)); });
    if (code == KS_SUCCESS) [[likely]] {
      return {};
    }
    return host_.StatusOf(code, scope.call());
  }

 private:
  PluginHost& host_;
  decltype(ks_plugin::filter) const filter_;
  void* const self_;
};

class PostFilterPart final : public framework::PluginPart, public framework::PostFilterPlugin {
 public:
  explicit PostFilterPart(const PartContext& context) : context_(context) {}

  framework::PostFilterResult PostFilter(CycleState& state, const api::PodPtr& pod,
                                         const framework::NodeStatuses& statuses) override {
    CallScope scope(context_.host, CallPoint::kPostFilter, &state, &state);
    scope.call().statuses = &statuses;
    const ks_status code = Guarded(
        [&] { return context_.table.post_filter(context_.self, scope.handle(), HandleOf(*pod)); });
    framework::PostFilterResult result{.status = context_.host.StatusOf(code, scope.call()),
                                       .nomination = {}};
    const Answer* answer = scope.call().answer;
    if (!result.status.ok() || answer == nullptr) return result;
    if (answer->nomination.has_value()) result.nomination = {.node_name = *answer->nomination};
    result.message = Join(answer->reasons, ", ");
    return result;
  }

 private:
  const PartContext context_;
};

class PreScorePart final : public framework::PluginPart, public framework::PreScorePlugin {
 public:
  explicit PreScorePart(const PartContext& context) : context_(context) {}

  Status PreScore(CycleState& state, const api::Pod& pod, Nodes nodes) override {
    CallScope scope(context_.host, CallPoint::kPreScore, &state, &state);
    const ks_status code = Guarded([&] {
      return context_.table.pre_score(context_.self, scope.handle(), HandleOf(pod),
                                      HandlesOf(nodes), nodes.size());
    });
    return context_.host.StatusOf(code, scope.call());
  }

 private:
  const PartContext context_;
};

class ScorePart final : public framework::PluginPart, public framework::ScorePlugin {
 public:
  explicit ScorePart(const PartContext& context)
      : host_(context.host), score_(context.table.score), self_(context.self) {}

  Status Score(const CycleState& state, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    CallScope scope(host_, CallPoint::kScore, &state);
    int64_t value = 0;
    const ks_status code = Guarded(
        [&] { return score_(self_, scope.handle(), HandleOf(pod), HandleOf(node), &value); });
    *score = value;
    if (code == KS_SUCCESS) [[likely]] {
      return {};
    }
    return host_.StatusOf(code, scope.call());
  }

 private:
  PluginHost& host_;
  decltype(ks_plugin::score) const score_;
  void* const self_;
};

class NormalizePart final : public framework::PluginPart, public framework::ScoreNormalizer {
 public:
  explicit NormalizePart(const PartContext& context) : context_(context) {}

  Status NormalizeScore(const CycleState& state, const api::Pod& pod, Nodes nodes,
                        std::span<int64_t> scores) const override {
    CallScope scope(context_.host, CallPoint::kNormalize, &state);
    const ks_status code = Guarded([&] {
      return context_.table.normalize_score(context_.self, scope.handle(), HandleOf(pod),
                                            HandlesOf(nodes), scores.data(), scores.size());
    });
    return context_.host.StatusOf(code, scope.call());
  }

 private:
  const PartContext context_;
};

class NodeLocalPart final : public framework::PluginPart, public framework::NodeLocalPlugin {
 public:
  explicit NodeLocalPart(const PartContext& context) : context_(context) {}

  // What throws looks as if it had changed.
  uint64_t OutsideVersion() const override {
    if (context_.table.outside_version == nullptr) return 0;
    uint64_t version = 0;
    const ks_status code = Guarded([&] {
      version = context_.table.outside_version(context_.self);
      return KS_SUCCESS;
    });
    return code == KS_SUCCESS ? version : ++thrown_;
  }

 private:
  const PartContext context_;
  mutable uint64_t thrown_ = 0;
};

}  // namespace

void AddDecidingParts(const PartContext& context, Parts* parts) {
  const ks_plugin& table = context.table;
  if (table.pre_filter != nullptr) parts->push_back(std::make_unique<PreFilterPart>(context));
  if (table.filter != nullptr) parts->push_back(std::make_unique<FilterPart>(context));
  if (table.post_filter != nullptr) parts->push_back(std::make_unique<PostFilterPart>(context));
  if (table.pre_score != nullptr) parts->push_back(std::make_unique<PreScorePart>(context));
  if (table.score != nullptr) parts->push_back(std::make_unique<ScorePart>(context));
  if (table.normalize_score != nullptr) parts->push_back(std::make_unique<NormalizePart>(context));
  if ((table.flags & KS_PLUGIN_NODE_LOCAL) != 0) {
    parts->push_back(std::make_unique<NodeLocalPart>(context));
  }
}

}  // namespace ks::modules
