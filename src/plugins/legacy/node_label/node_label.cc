// SPDX-License-Identifier: Apache-2.0
#include "plugins/legacy/node_label/node_label.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "golang/quote.h"
#include "plugins/kit/legacy.h"

namespace ks::plugins {
namespace {

using framework::Code;
using framework::EventResource;
using framework::NodeInfo;
using framework::Status;
using Keys = std::vector<Symbol>;

struct NodeLabelArgs {
  Keys present;
  Keys absent;
  Keys preferred_present;
  Keys preferred_absent;
};

void CheckDisjoint(const Keys& present, const Keys& absent, const std::string& suffix,
                   ArgsFaults* faults) {
  for (size_t i = 0; i < absent.size(); ++i) {
    if (std::find(present.begin(), present.end(), absent[i]) == present.end()) continue;
    faults->push_back({.path = "absentLabels" + suffix + "[" + std::to_string(i) + "]",
                       .message = "presentLabels" + suffix + " and absentLabels" + suffix +
                                  " both list " + golang::Quote(absent[i].view()) +
                                  ": remove it from one of them"});
  }
}

NodeLabelArgs ReadArgs(const config::PluginArgs& args, ArgsFaults* faults) {
  const nlohmann::json json = JsonOf(args);
  const ArgsReader root(
      json, "",
      {"presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference"},
      faults);
  NodeLabelArgs read;
  read.present = ReadLabelKeys(root, "presentLabels");
  read.absent = ReadLabelKeys(root, "absentLabels");
  read.preferred_present = ReadLabelKeys(root, "presentLabelsPreference");
  read.preferred_absent = ReadLabelKeys(root, "absentLabelsPreference");
  CheckDisjoint(read.present, read.absent, "", faults);
  CheckDisjoint(read.preferred_present, read.preferred_absent, "Preference", faults);
  return read;
}

class NodeLabel final : public framework::Plugin,
                        public framework::FilterPlugin,
                        public framework::ScorePlugin,
                        public framework::EnqueueExtensions,
                        public framework::SignPlugin,
                        public framework::NodeLocalPlugin {
 public:
  explicit NodeLabel(NodeLabelArgs args) : args_(std::move(args)) {}

  std::string_view Name() const override { return kNodeLabelName; }

  Status Filter(const framework::CycleState&, const api::Pod&,
                const NodeInfo& node) const override {
    const api::LabelMap& labels = node.node()->meta.labels;
    const auto has = [&labels](const Symbol& key) { return labels.Contains(key); };
    const bool fits = std::all_of(args_.present.begin(), args_.present.end(), has) &&
                      std::none_of(args_.absent.begin(), args_.absent.end(), has);
    return fits ? Status() : rejection_;
  }

  Status Score(const framework::CycleState&, const api::Pod&, const NodeInfo& node,
               int64_t* score) const override {
    const api::LabelMap& labels = node.node()->meta.labels;
    const auto has = [&labels](const Symbol& key) { return labels.Contains(key); };
    const Keys& present = args_.preferred_present;
    const Keys& absent = args_.preferred_absent;
    const auto preferences = static_cast<int64_t>(present.size() + absent.size());
    const int64_t met = std::count_if(present.begin(), present.end(), has) +
                        std::count_if(absent.begin(), absent.end(), std::not_fn(has));
    *score = preferences == 0 ? 0 : met * framework::kMaxNodeScore / preferences;
    return {};
  }

  std::vector<framework::EventRegistration> EventsToRegister() const override {
    return {{{EventResource::kNode, framework::kActionAdd | framework::kActionUpdateNodeLabel, {}},
             {}}};
  }

  // Reads nothing of a pod.
  Status Sign(const api::Pod&, std::vector<framework::SignFragment>*) const override { return {}; }

 private:
  const NodeLabelArgs args_;
  const Status rejection_{Code::kUnschedulableAndUnresolvable,
                          {"node(s) didn't have the requested labels"},
                          std::string(kNodeLabelName)};
};

}  // namespace

ArgsFaults NodeLabelArgsFaults(const config::PluginArgs& args) { return FaultsOf(args, ReadArgs); }

Result<std::unique_ptr<framework::Plugin>> NewNodeLabel(const config::PluginArgs& args,
                                                        framework::Handle& handle) {
  Result<NodeLabelArgs> read = ReadOrFault(args, ReadArgs);
  if (!read.ok()) return read.error();
  WarnLegacy(kNodeLabelName, "node affinity, or NodeAffinity's addedAffinity", handle);
  return std::unique_ptr<framework::Plugin>(std::make_unique<NodeLabel>(std::move(read).value()));
}

}  // namespace ks::plugins
