// SPDX-License-Identifier: Apache-2.0
#include "framework/profile_builder.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/logging.h"
#include "config/nearest_name.h"
#include "framework/placement_plugins.h"
#include "framework/quote.h"

namespace ks::framework {
namespace {

using config::PluginRef;
using config::Plugins;
using config::PluginSet;

template <class T>
bool Extends(const Plugin& plugin) {
  return dynamic_cast<const T*>(&plugin) != nullptr;
}

struct PointRow {
  std::string_view name;
  PluginSet Plugins::*section;
  bool (*extends)(const Plugin& plugin);
};

// Indexed by Point.
constexpr std::array<PointRow, kPointCount> kPoints = {{
    {"PreFilter", &Plugins::pre_filter, &Extends<PreFilterPlugin>},
    {"Filter", &Plugins::filter, &Extends<FilterPlugin>},
    {"PostFilter", &Plugins::post_filter, &Extends<PostFilterPlugin>},
    {"Reserve", &Plugins::reserve, &Extends<ReservePlugin>},
    {"PreScore", &Plugins::pre_score, &Extends<PreScorePlugin>},
    {"Score", &Plugins::score, &Extends<ScorePlugin>},
    {"PreBind", &Plugins::pre_bind, &Extends<PreBindPlugin>},
    {"Bind", &Plugins::bind, &Extends<BindPlugin>},
    {"PostBind", &Plugins::post_bind, &Extends<PostBindPlugin>},
    {"Permit", &Plugins::permit, &Extends<PermitPlugin>},
    {"PreEnqueue", &Plugins::pre_enqueue, &Extends<PreEnqueuePlugin>},
    {"QueueSort", &Plugins::queue_sort, &Extends<QueueSortPlugin>},
    {"PlacementGenerate", &Plugins::placement_generate, &Extends<PlacementGeneratePlugin>},
    {"PlacementScore", &Plugins::placement_score, &Extends<PlacementScorePlugin>},
    {"PodGroupPostFilter", &Plugins::pod_group_post_filter, &Extends<PodGroupPostFilterPlugin>},
}};

bool Names(const std::vector<PluginRef>& refs, std::string_view name) {
  return std::any_of(refs.begin(), refs.end(),
                     [&](const PluginRef& ref) { return ref.name == name; });
}

// Builds one ResolvedProfile; each step stops at the first error.
class Resolver {
 public:
  Resolver(const Registry& registry, const config::Profile& profile, Handle& handle)
      : registry_(registry), profile_(profile), handle_(handle) {}

  Result<ResolvedProfile> Run() {
    for (const auto step :
         {&Resolver::ReadArguments, &Resolver::Instantiate, &Resolver::FillExplicitLists,
          &Resolver::ExpandMultiPoint, &Resolver::CheckLists, &Resolver::CheckScoreMethods,
          &Resolver::FillScoreWeights, &Resolver::FillPlacementScoreWeights}) {
      if (auto done = (this->*step)(); !done.ok()) return done.error();
    }
    return std::move(resolved_);
  }

 private:
  Result<void> ReadArguments() {
    for (const config::PluginConfig& entry : profile_.plugin_config) {
      if (!args_.emplace(entry.name, &entry.args).second) {
        return Error{"repeated config for plugin " + entry.name};
      }
    }
    return {};
  }

  Result<void> Instantiate() {
    if (auto made = InstantiateAll(profile_.plugins.multi_point.enabled); !made.ok()) return made;
    for (const PointRow& row : kPoints) {
      if (auto made = InstantiateAll((profile_.plugins.*row.section).enabled); !made.ok()) {
        return made;
      }
    }
    return {};
  }

  Result<void> InstantiateAll(const std::vector<PluginRef>& refs) {
    for (const PluginRef& ref : refs) {
      const PluginEntry* entry = registry_.Find(ref.name);
      // Unknown names are reported with the lists.
      if (entry == nullptr || index_.contains(ref.name)) continue;
      if (resolved_.plugins.size() == kMaxPluginsPerProfile) {
        return Error{"too many plugins: a profile can have " +
                     std::to_string(kMaxPluginsPerProfile) + ", remove some of the enabled ones"};
      }
      auto plugin = Make(*entry);
      if (!plugin.ok()) {
        return Error{"initializing plugin " + Quoted(ref.name) + ": " + plugin.error().message,
                     ArgsPath(ref.name, plugin.error().path)};
      }
      index_[ref.name] = static_cast<uint32_t>(resolved_.plugins.size());
      resolved_.plugins.push_back({ref.name, std::move(plugin).value()});
    }
    return {};
  }

  Result<std::unique_ptr<Plugin>> Make(const PluginEntry& entry) {
    const auto found = args_.find(entry.name);
    const config::PluginArgs none;
    const config::PluginArgs& args = found == args_.end() ? none : *found->second;
    if (entry.typed_args && std::holds_alternative<std::monostate>(args)) {
      return Error{"got args of type <nil>, want *" + std::string(entry.name) + "Args"};
    }
    return entry.factory(args, handle_);
  }

  // "pluginConfig[1].args.<field>"; empty when the profile gives none.
  std::string ArgsPath(std::string_view name, const std::string& field) const {
    for (size_t i = 0; i < profile_.plugin_config.size(); ++i) {
      if (profile_.plugin_config[i].name == name) {
        return "pluginConfig[" + std::to_string(i) + "].args" + (field.empty() ? "" : "." + field);
      }
    }
    return {};
  }

  // Pass 1 of 5.5.
  Result<void> FillExplicitLists() {
    for (size_t point = 0; point < kPointCount; ++point) {
      const PointRow& row = kPoints[point];
      std::vector<uint32_t>& list = resolved_.lists[point];
      const std::vector<PluginRef>& enabled = (profile_.plugins.*row.section).enabled;
      for (size_t i = 0; i < enabled.size(); ++i) {
        if (auto added = AddExplicit(row, enabled[i].name, &list); !added.ok()) {
          return Error{added.error().message,
                       "plugins." + Field(row) + ".enabled[" + std::to_string(i) + "].name",
                       added.error().hint};
        }
      }
    }
    return {};
  }

  Result<void> AddExplicit(const PointRow& row, std::string_view name,
                           std::vector<uint32_t>* list) {
    const auto found = index_.find(name);
    if (found == index_.end()) return DoesNotExist(row, name);
    if (!row.extends(*resolved_.plugins[found->second].plugin)) {
      return Error{"plugin " + Quoted(name) + " does not extend " + std::string(row.name) +
                   "Plugin plugin"};
    }
    if (Contains(*list, found->second)) return AlreadyRegistered(row, name);
    list->push_back(found->second);
    return {};
  }

  // Pass 2 of 5.5.
  Result<void> ExpandMultiPoint() {
    if (profile_.plugins.multi_point.enabled.empty()) return {};
    for (size_t point = 0; point < kPointCount; ++point) {
      if (Names((profile_.plugins.*kPoints[point].section).disabled, "*")) continue;
      if (auto expanded = ExpandPoint(point); !expanded.ok()) {
        return Error{expanded.error().message, "plugins.multiPoint.enabled", expanded.error().hint};
      }
    }
    return {};
  }

  Result<void> ExpandPoint(size_t point) {
    const PointRow& row = kPoints[point];
    const std::vector<PluginRef>& disabled = (profile_.plugins.*row.section).disabled;
    const std::vector<uint32_t> own = std::move(resolved_.lists[point]);
    std::set<uint32_t> overridden;
    std::vector<uint32_t> taken;
    for (const PluginRef& ref : profile_.plugins.multi_point.enabled) {
      const auto found = index_.find(ref.name);
      if (found == index_.end()) return DoesNotExist(row, ref.name);
      const uint32_t index = found->second;
      if (!row.extends(*resolved_.plugins[index].plugin) || Names(disabled, ref.name)) continue;
      if (Contains(own, index)) {
        overridden.insert(index);
        log::Info(0, "MultiPoint plugin is explicitly re-configured; overriding",
                  {{"plugin", ref.name}});
        continue;
      }
      if (Contains(taken, index)) return AlreadyRegistered(row, ref.name);
      taken.push_back(index);
    }
    std::vector<uint32_t>& list = resolved_.lists[point];
    list.clear();
    std::copy_if(own.begin(), own.end(), std::back_inserter(list),
                 [&](uint32_t index) { return overridden.contains(index); });
    list.insert(list.end(), taken.begin(), taken.end());
    std::copy_if(own.begin(), own.end(), std::back_inserter(list),
                 [&](uint32_t index) { return !overridden.contains(index); });
    return {};
  }

  // The first rows of 5.6.
  Result<void> CheckLists() {
    const std::string profile = " for profile with scheduler name " + Quoted(profile_.name());
    const size_t queue_sorts = resolved_.List(Point::kQueueSort).size();
    if (queue_sorts != 1) {
      return Error{"only one queue sort plugin required" + profile + ", but got " +
                       std::to_string(queue_sorts),
                   "plugins.queueSort"};
    }
    if (resolved_.List(Point::kBind).empty()) {
      return Error{"at least one bind plugin is needed" + profile, "plugins.bind"};
    }
    if (resolved_.List(Point::kPlacementGenerate).size() > 1) {
      return Error{"at most one placement generate plugin is allowed" + profile,
                   "plugins.placementGenerate"};
    }
    return {};
  }

  // Not upstream's: it has no two plugins of one method.
  Result<void> CheckScoreMethods() {
    std::map<std::string_view, std::string_view> plugin_of;
    for (const uint32_t index : resolved_.List(Point::kScore)) {
      const Plugin& plugin = *resolved_.plugins[index].plugin;
      const auto* method = dynamic_cast<const ScoreMethod*>(&plugin);
      if (method == nullptr) continue;
      const auto [other, is_new] = plugin_of.emplace(method->MethodName(), plugin.Name());
      if (is_new) continue;
      return Error{"plugins " + Quoted(other->second) + " and " + Quoted(plugin.Name()) +
                   " both score by " + std::string(method->MethodName()) +
                   ", which would count it twice, for profile with scheduler name " +
                   Quoted(profile_.name()) + ": disable one of them at score"};
    }
    return {};
  }

  Result<void> FillScoreWeights() {
    return FillWeights(Point::kScore, "score plugin", &resolved_.score_weights);
  }

  Result<void> FillPlacementScoreWeights() {
    return FillWeights(Point::kPlacementScore, "placement score plugin",
                       &resolved_.placement_score_weights);
  }

  // 5.7, and the check that every plugin of the list has a weight under its own name.
  Result<void> FillWeights(Point point, const std::string& what,
                           std::map<std::string, int64_t, std::less<>>* weights) {
    const PointRow& row = kPoints[static_cast<size_t>(point)];
    int64_t total = 0;
    for (const auto* refs :
         {&(profile_.plugins.*row.section).enabled, &profile_.plugins.multi_point.enabled}) {
      for (const PluginRef& ref : *refs) {
        const auto found = index_.find(ref.name);
        if (found == index_.end() || !row.extends(*resolved_.plugins[found->second].plugin) ||
            weights->contains(ref.name)) {
          continue;
        }
        const int64_t weight = ref.weight == 0 ? 1 : ref.weight;
        // Upstream's MaxInt64 - total wraps around when the total is negative and then refuses
        // whatever follows.
        if (total < 0 || weight * kMaxNodeScore > std::numeric_limits<int64_t>::max() - total) {
          return Error{what + "s: total score of Score plugins could overflow",
                       "plugins." + Field(row)};
        }
        total += weight * kMaxNodeScore;
        weights->emplace(ref.name, weight);
      }
    }
    for (const uint32_t index : resolved_.List(point)) {
      const std::string_view own_name = resolved_.plugins[index].plugin->Name();
      if (!weights->contains(own_name)) {
        return Error{what + " " + Quoted(own_name) + " is not configured with weight"};
      }
    }
    return {};
  }

  static bool Contains(const std::vector<uint32_t>& list, uint32_t index) {
    return std::find(list.begin(), list.end(), index) != list.end();
  }
  // "preFilter"
  static std::string Field(const PointRow& row) {
    std::string field(row.name);
    field[0] = static_cast<char>(field[0] - 'A' + 'a');
    return field;
  }
  Error DoesNotExist(const PointRow& row, std::string_view name) const {
    return Error{std::string(row.name) + "Plugin " + Quoted(name) + " does not exist", "",
                 NameHint(name)};
  }
  std::string NameHint(std::string_view name) const {
    if (name == "*") return "\"*\" stands for all plugins in \"disabled\" only";
    std::vector<std::string_view> known;
    for (const PluginEntry& entry : registry_.entries()) known.push_back(entry.name);
    const std::string nearest = config::NearestName(name, known);
    return nearest.empty() ? "" : "did you mean " + Quoted(nearest) + "?";
  }
  static Error AlreadyRegistered(const PointRow& row, std::string_view name) {
    return Error{"plugin " + Quoted(name) + " already registered as \"" + std::string(row.name) +
                 "Plugin\""};
  }

  const Registry& registry_;
  const config::Profile& profile_;
  Handle& handle_;
  std::map<std::string_view, const config::PluginArgs*> args_;
  std::map<std::string, uint32_t, std::less<>> index_;  // configured name -> index into plugins
  ResolvedProfile resolved_;
};

}  // namespace

std::string_view PointName(Point point) { return kPoints[static_cast<size_t>(point)].name; }

config::Plugins ExpandedPlugins(const ResolvedProfile& resolved) {
  Plugins expanded;
  for (size_t point = 0; point < kPointCount; ++point) {
    const auto* weights = point == static_cast<size_t>(Point::kScore) ? &resolved.score_weights
                          : point == static_cast<size_t>(Point::kPlacementScore)
                              ? &resolved.placement_score_weights
                              : nullptr;
    for (const uint32_t index : resolved.lists[point]) {
      const std::string& name = resolved.plugins[index].name;
      const int64_t weight = weights == nullptr ? 0 : weights->find(name)->second;
      (expanded.*kPoints[point].section).enabled.push_back({name, static_cast<int32_t>(weight)});
    }
  }
  return expanded;
}

Result<ResolvedProfile> ResolveProfile(const Registry& registry, const config::Profile& profile,
                                       Handle& handle) {
  return Resolver(registry, profile, handle).Run();
}

}  // namespace ks::framework
