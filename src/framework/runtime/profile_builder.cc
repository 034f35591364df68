// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/profile_builder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/logging.h"
#include "config/text/nearest_name.h"
#include "framework/composed_plugin.h"
#include "framework/group_plugins.h"
#include "golang/quote.h"

namespace ks::framework {
namespace {

using config::PluginRef;
using config::Plugins;
using config::PluginSet;

template <class T>
bool Extends(const Plugin& plugin) {
  return InterfaceOf<const T>(plugin) != nullptr;
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

// Builds one ResolvedProfile. Goes on after a fault and leaves out what only follows from it.
class Resolver {
 public:
  Resolver(const Registry& registry, const config::Profile& profile, Handle& handle)
      : registry_(registry), profile_(profile), handle_(handle) {}

  // Faults in the order in which upstream would come upon them; the error is the first one.
  Result<ResolvedProfile> Run(std::vector<Error>* faults) {
    ReadArguments();
    InstantiateAll();
    FillExplicitLists();
    ExpandMultiPoint();
    CheckLists();
    CheckScoreMethods();
    FillWeights(Point::kScore, "score plugin", &resolved_.score_weights);
    FillWeights(Point::kPlacementScore, "placement score plugin",
                &resolved_.placement_score_weights);
    if (!first_) return std::move(resolved_);
    if (faults != nullptr) {
      std::move(faults_.begin(), faults_.end(), std::back_inserter(*faults));
    }
    return *std::move(first_);
  }

 private:
  void Fault(std::string text, std::string path = {}, std::string hint = {}) {
    faults_.push_back(Error{std::move(text), std::move(path), std::move(hint)});
    if (!first_) first_ = faults_.back();
  }

  void ReadArguments() {
    for (size_t i = 0; i < profile_.plugin_config.size(); ++i) {
      const config::PluginConfig& entry = profile_.plugin_config[i];
      if (args_.emplace(entry.name, &entry.args).second) continue;
      Fault("repeated config for plugin " + entry.name, "pluginConfig[" + std::to_string(i) + "]");
    }
  }

  void InstantiateAll() {
    std::vector<const PluginSet*> sets = {&profile_.plugins.multi_point};
    for (const PointRow& row : kPoints) sets.push_back(&(profile_.plugins.*row.section));
    for (const PluginSet* set : sets) {
      for (const PluginRef& ref : set->enabled) Instantiate(ref.name);
    }
  }

  void Instantiate(const std::string& name) {
    const PluginEntry* entry = registry_.Find(name);
    // Unknown names are reported with the lists.
    if (entry == nullptr || index_.contains(name) || broken_.contains(name)) return;
    if (resolved_.plugins.size() == kMaxPluginsPerProfile) {
      broken_.insert(name);
      if (std::exchange(is_full_, true)) return;
      return Fault("too many plugins: a profile can have " + std::to_string(kMaxPluginsPerProfile) +
                   ", remove some of the enabled ones");
    }
    auto plugin = Make(*entry);
    if (!plugin.ok()) {
      broken_.insert(name);
      return ReportBroken(*entry, plugin.error());
    }
    index_[name] = static_cast<uint32_t>(resolved_.plugins.size());
    resolved_.plugins.push_back({name, std::move(plugin).value()});
  }

  Result<std::unique_ptr<Plugin>> Make(const PluginEntry& entry) {
    const config::PluginArgs& args = ArgsOf(entry.name);
    if (entry.typed_args && std::holds_alternative<std::monostate>(args)) {
      return Error{"got args of type <nil>, want *" + std::string(entry.name) + "Args"};
    }
    if (entry.source != nullptr) return entry.source->Make(args, handle_);
    return entry.factory(args, handle_);
  }

  // The error has the whole text; of several faults in the arguments each is told by itself.
  void ReportBroken(const PluginEntry& entry, const Error& error) {
    const std::string prefix = "initializing plugin " + golang::Quote(entry.name) + ": ";
    if (!first_) {
      first_ = Error{prefix + error.message, ArgsPath(entry.name, error.path), error.hint};
    }
    std::vector<config::Finding> findings;
    if (entry.args_faults != nullptr) findings = entry.args_faults(ArgsOf(entry.name));
    if (findings.empty()) {
      findings.push_back({.path = error.path, .message = error.message, .hint = error.hint});
    }
    for (const config::Finding& finding : findings) {
      Fault(prefix + finding.message, ArgsPath(entry.name, finding.path), finding.hint);
    }
  }

  const config::PluginArgs& ArgsOf(std::string_view name) const {
    static const config::PluginArgs none;
    const auto found = args_.find(name);
    return found == args_.end() ? none : *found->second;
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
  void FillExplicitLists() {
    for (size_t point = 0; point < kPointCount; ++point) {
      const PointRow& row = kPoints[point];
      const std::vector<PluginRef>& enabled = (profile_.plugins.*row.section).enabled;
      for (size_t i = 0; i < enabled.size(); ++i) {
        AddExplicit(point, enabled[i].name, EnabledPath(Field(row), i));
      }
    }
  }

  void AddExplicit(size_t point, std::string_view name, const std::string& path) {
    const PointRow& row = kPoints[point];
    std::vector<uint32_t>& list = resolved_.lists[point];
    const auto found = index_.find(name);
    if (found == index_.end()) {
      incomplete_.insert(point);
      if (!broken_.contains(name)) Fault(DoesNotExist(row, name), path, NameHint(name));
    } else if (!row.extends(*resolved_.plugins[found->second].plugin)) {
      incomplete_.insert(point);
      Fault("plugin " + golang::Quote(name) + " does not extend " + std::string(row.name) +
                "Plugin plugin",
            path);
    } else if (Contains(list, found->second)) {
      Fault(AlreadyRegistered(row, name), path);
    } else {
      list.push_back(found->second);
    }
  }

  // Pass 2 of 5.5.
  void ExpandMultiPoint() {
    if (profile_.plugins.multi_point.enabled.empty()) return;
    std::set<size_t> reported;  // indices into the list, once for all points
    for (size_t point = 0; point < kPointCount; ++point) {
      if (Names((profile_.plugins.*kPoints[point].section).disabled, "*")) continue;
      ExpandPoint(point, &reported);
    }
  }

  void ExpandPoint(size_t point, std::set<size_t>* reported) {
    const PointRow& row = kPoints[point];
    const std::vector<PluginRef>& disabled = (profile_.plugins.*row.section).disabled;
    const std::vector<PluginRef>& enabled = profile_.plugins.multi_point.enabled;
    const std::vector<uint32_t> own = std::move(resolved_.lists[point]);
    std::set<uint32_t> overridden;
    std::vector<uint32_t> taken;
    for (size_t i = 0; i < enabled.size(); ++i) {
      const std::string& name = enabled[i].name;
      const auto found = index_.find(name);
      if (found == index_.end()) {
        incomplete_.insert(point);
        if (broken_.contains(name) || !reported->insert(i).second) continue;
        Fault(DoesNotExist(row, name), EnabledPath("multiPoint", i), NameHint(name));
        continue;
      }
      const uint32_t index = found->second;
      if (!row.extends(*resolved_.plugins[index].plugin) || Names(disabled, name)) continue;
      if (Contains(own, index)) {
        overridden.insert(index);
        log::Info(0, "MultiPoint plugin is explicitly re-configured; overriding",
                  {{"plugin", name}});
      } else if (!Contains(taken, index)) {
        taken.push_back(index);
      } else if (reported->insert(i).second) {
        Fault(AlreadyRegistered(row, name), EnabledPath("multiPoint", i));
      }
    }
    std::vector<uint32_t>& list = resolved_.lists[point];
    list.clear();
    std::copy_if(own.begin(), own.end(), std::back_inserter(list),
                 [&](uint32_t index) { return overridden.contains(index); });
    list.insert(list.end(), taken.begin(), taken.end());
    std::copy_if(own.begin(), own.end(), std::back_inserter(list),
                 [&](uint32_t index) { return !overridden.contains(index); });
  }

  // The first rows of 5.6. What a list lacks may be what was reported already.
  void CheckLists() {
    const std::string profile =
        " for profile with scheduler name " + golang::Quote(profile_.name());
    const size_t queue_sorts = resolved_.List(Point::kQueueSort).size();
    if (queue_sorts > 1 || (queue_sorts == 0 && IsComplete(Point::kQueueSort))) {
      Fault("only one queue sort plugin required" + profile + ", but got " +
                std::to_string(queue_sorts),
            "plugins.queueSort");
    }
    if (resolved_.List(Point::kBind).empty() && IsComplete(Point::kBind)) {
      Fault("at least one bind plugin is needed" + profile, "plugins.bind");
    }
    if (resolved_.List(Point::kPlacementGenerate).size() > 1) {
      Fault("at most one placement generate plugin is allowed" + profile,
            "plugins.placementGenerate");
    }
  }

  // Not upstream's: it has no two plugins of one method.
  void CheckScoreMethods() {
    std::map<std::string_view, std::string_view> plugin_of;
    for (const uint32_t index : resolved_.List(Point::kScore)) {
      const Plugin& plugin = *resolved_.plugins[index].plugin;
      const auto* method = InterfaceOf<const ScoreMethod>(plugin);
      if (method == nullptr) continue;
      const auto [other, is_new] = plugin_of.emplace(method->MethodName(), plugin.Name());
      if (is_new) continue;
      Fault("plugins " + golang::Quote(other->second) + " and " + golang::Quote(plugin.Name()) +
            " both score by " + std::string(method->MethodName()) +
            ", which would count it twice, for profile with scheduler name " +
            golang::Quote(profile_.name()) + ": disable one of them at score");
    }
  }

  // 5.7, and the check that every plugin of the list has a weight under its own name.
  void FillWeights(Point point, const std::string& what,
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
          return Fault(what + "s: total score of Score plugins could overflow",
                       "plugins." + Field(row));
        }
        total += weight * kMaxNodeScore;
        weights->emplace(ref.name, weight);
      }
    }
    for (const uint32_t index : resolved_.List(point)) {
      const std::string_view own_name = resolved_.plugins[index].plugin->Name();
      if (weights->contains(own_name)) continue;
      Fault(what + " " + golang::Quote(own_name) + " is not configured with weight");
    }
  }

  bool IsComplete(Point point) const { return !incomplete_.contains(static_cast<size_t>(point)); }

  static bool Contains(const std::vector<uint32_t>& list, uint32_t index) {
    return std::find(list.begin(), list.end(), index) != list.end();
  }
  // "preFilter"
  static std::string Field(const PointRow& row) {
    std::string field(row.name);
    field[0] = static_cast<char>(field[0] - 'A' + 'a');
    return field;
  }
  static std::string EnabledPath(const std::string& field, size_t index) {
    return "plugins." + field + ".enabled[" + std::to_string(index) + "].name";
  }
  static std::string DoesNotExist(const PointRow& row, std::string_view name) {
    return std::string(row.name) + "Plugin " + golang::Quote(name) + " does not exist";
  }
  std::string NameHint(std::string_view name) const {
    if (name == "*") return "\"*\" stands for all plugins in \"disabled\" only";
    std::vector<std::string_view> known;
    for (const PluginEntry& entry : registry_.entries()) known.push_back(entry.name);
    const std::string nearest = config::NearestName(name, known);
    return nearest.empty() ? "" : "did you mean " + golang::Quote(nearest) + "?";
  }
  static std::string AlreadyRegistered(const PointRow& row, std::string_view name) {
    return "plugin " + golang::Quote(name) + " already registered as \"" + std::string(row.name) +
           "Plugin\"";
  }

  const Registry& registry_;
  const config::Profile& profile_;
  Handle& handle_;
  std::map<std::string_view, const config::PluginArgs*> args_;
  std::map<std::string, uint32_t, std::less<>> index_;  // configured name -> index into plugins
  std::set<std::string, std::less<>> broken_;           // reported; left out of the lists
  bool is_full_ = false;                                // told once
  std::set<size_t> incomplete_;                         // points that lack what was reported
  std::vector<Error> faults_;
  std::optional<Error> first_;
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
                                       Handle& handle, std::vector<Error>* faults) {
  return Resolver(registry, profile, handle).Run(faults);
}

}  // namespace ks::framework
