// SPDX-License-Identifier: Apache-2.0
// ValidConfiguration: what kube-scheduler accepts, from the tables of docs/spec/config.md.
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

#include "testing/config_mutations.h"

namespace ks::testing {
namespace {

using Words = std::initializer_list<std::string_view>;

struct PointRow {
  std::string_view point;
  std::vector<std::string_view> plugins;  // that serve it
};

// Section 5.4.
const std::vector<PointRow>& Points() {
  static const std::vector<std::string_view> filters = {
      "NodeName",         "NodeUnschedulable",   "TaintToleration",    "NodeAffinity",
      "NodePorts",        "NodeResourcesFit",    "VolumeRestrictions", "NodeVolumeLimits",
      "VolumeBinding",    "VolumeZone",          "PodTopologySpread",  "InterPodAffinity",
      "DynamicResources", "NodeDeclaredFeatures"};
  static const std::vector<PointRow> points = {
      {"preEnqueue", {"SchedulingGates", "DynamicResources", "DefaultPreemption"}},
      {"queueSort", {"PrioritySort"}},
      {"preFilter", filters},
      {"filter", filters},
      {"postFilter", {"DynamicResources", "DefaultPreemption"}},
      {"preScore",
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread",
        "InterPodAffinity", "NodeResourcesBalancedAllocation"}},
      {"score",
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread",
        "InterPodAffinity", "DynamicResources", "NodeResourcesBalancedAllocation",
        "ImageLocality"}},
      {"reserve", {"VolumeBinding", "DynamicResources"}},
      {"permit", {"GangScheduling"}},
      {"preBind", {"VolumeBinding", "DynamicResources"}},
      {"bind", {"DefaultBinder"}},
      {"postBind", {}},
      {"multiPoint",
       {"NodeName", "TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding",
        "PodTopologySpread", "InterPodAffinity", "DynamicResources", "ImageLocality",
        "NodeResourcesBalancedAllocation", "GangScheduling", "PodGroupPodsCount",
        "TopologyPlacementGenerator", "DefaultPreemption", "NodeDeclaredFeatures"}},
      {"placementGenerate", {"TopologyPlacementGenerator"}},
      {"placementScore", {"NodeResourcesFit", "PodGroupPodsCount"}},
      {"podGroupPostFilter", {"DefaultPreemption", "DynamicResources"}},
  };
  return points;
}

// Makes the parts of a valid file.
class Valid {
 public:
  explicit Valid(Random& random) : random_(random) {}

  Tree Configuration();

 private:
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  std::string_view Pick(Words words) { return words.begin()[random_.Below(words.size())]; }
  Tree Any(Words words) { return Plain(Pick(words)); }
  Tree Number(int64_t low, int64_t high) {
    const auto width = static_cast<uint64_t>(high - low + 1);
    return Plain(std::to_string(low + static_cast<int64_t>(random_.Below(width))));
  }
  Tree Bool() { return Any({"true", "false", "yes", "off", "True"}); }
  Tree Styled(Tree tree) {
    tree.flow = OneIn(3);
    return tree;
  }
  // Leaves out about half of the members.
  Tree Some(std::vector<TreeMember> members) {
    Tree tree = Mapping({});
    for (TreeMember& member : members) {
      if (OneIn(2)) tree.members.push_back(std::move(member));
    }
    return Styled(std::move(tree));
  }

  Tree LeaderElection();
  Tree ClientConnection();
  Tree Profile(const std::string& name);
  Tree Plugins();
  Tree Set(const PointRow& row);
  Tree PluginConfig();
  Tree Args(std::string_view plugin);
  Tree FitArgs();
  Tree AffinityArgs();
  Tree SpreadArgs();
  Tree Resources(bool weighted);
  Tree Shape();
  Tree Term();
  Tree Extender(size_t index);

  Random& random_;
};

Tree Valid::LeaderElection() {
  return Some({{"leaderElect", Bool()},
               {"leaseDuration", Any({"15s", "1m", "1m30.5s", "25h", "20000ms", "\"0\""})},
               {"renewDeadline", Any({"10s", "5s", "7.5s", "8000ms", "0s"})},
               {"retryPeriod", Any({"2s", "500ms", "1500us", "0s"})},
               {"resourceLock", Any({"leases", "\"\""})},
               {"resourceName", Any({"kube-scheduler", "other", "\"\"", "\"a b\""})},
               {"resourceNamespace", Any({"kube-system", "default"})}});
}

Tree Valid::ClientConnection() {
  return Some({{"acceptContentTypes", Any({"\"\"", "application/json"})},
               {"contentType", Any({"application/json", "application/vnd.kubernetes.protobuf"})},
               {"qps", Any({"50", "12.5", "0.1", "-1", "0", "1e3", "100.0", "1234567.5"})},
               {"burst", Number(0, 200)}});
}

Tree Valid::Set(const PointRow& row) {
  Tree enabled = List({});
  const size_t wanted = row.plugins.empty() ? 0 : random_.Below(4);
  std::vector<std::string_view> left = row.plugins;
  for (size_t i = 0; i < wanted && !left.empty(); ++i) {
    const size_t at = random_.Below(left.size());
    Tree entry = Mapping({{"name", Plain(left[at])}});
    if (OneIn(2)) entry.members.push_back({"weight", Number(0, 10)});
    enabled.items.push_back(Styled(std::move(entry)));
    left.erase(left.begin() + static_cast<ptrdiff_t>(at));
  }
  Tree disabled = List({});
  if (row.point != "queueSort" && row.point != "bind" && row.point != "multiPoint" && OneIn(4)) {
    disabled.items.push_back(Mapping({{"name", Quoted("*")}}));
  } else if (!left.empty() && row.point != "queueSort" && row.point != "bind" && OneIn(2)) {
    disabled.items.push_back(Mapping({{"name", Plain(left[random_.Below(left.size())])}}));
  }
  Tree set = Mapping({});
  if (!enabled.items.empty() || OneIn(4)) set.members.push_back({"enabled", Styled(enabled)});
  if (!disabled.items.empty() || OneIn(4)) set.members.push_back({"disabled", Styled(disabled)});
  return Styled(std::move(set));
}

Tree Valid::Plugins() {
  Tree plugins = Mapping({});
  for (const PointRow& row : Points()) {
    if (row.point != "queueSort" && OneIn(4)) {
      plugins.members.push_back({std::string(row.point), Set(row)});
    }
  }
  return Styled(std::move(plugins));
}

Tree Valid::Resources(bool weighted) {
  Tree resources = List({});
  for (const std::string_view name : {"cpu", "memory", "example.com/gpu"}) {
    if (OneIn(3)) continue;
    Tree resource = Mapping({{"name", Plain(name)}});
    if (OneIn(2)) resource.members.push_back({"weight", weighted ? Number(1, 100) : Plain("1")});
    resources.items.push_back(Styled(std::move(resource)));
  }
  return Styled(std::move(resources));
}

Tree Valid::Shape() {
  Tree shape = List({});
  int64_t utilization = static_cast<int64_t>(random_.Below(20));
  for (size_t i = 1 + random_.Below(3); i > 0; --i) {
    shape.items.push_back(Styled(
        Mapping({{"utilization", Number(utilization, utilization)}, {"score", Number(0, 10)}})));
    utilization += 1 + static_cast<int64_t>(random_.Below(25));
  }
  return Styled(std::move(shape));
}

Tree Valid::FitArgs() {
  Tree args = Some({{"ignoredResources", List({Plain("example.com/a"), Plain("b")})},
                    {"ignoredResourceGroups", List({Plain("example.com")})}});
  switch (random_.Below(4)) {
    case 0:
      break;
    case 1:
      args.members.push_back(
          {"scoringStrategy",
           Styled(Mapping({{"type", Plain("RequestedToCapacityRatio")},
                           {"requestedToCapacityRatio", Mapping({{"shape", Shape()}})}}))});
      break;
    default:
      args.members.push_back(
          {"scoringStrategy", Styled(Mapping({{"type", Any({"LeastAllocated", "MostAllocated"})},
                                              {"resources", Resources(true)}}))});
  }
  return args;
}

Tree Valid::Term() {
  Tree expressions = List({});
  for (size_t i = random_.Below(3); i > 0; --i) {
    const std::string_view op = Pick({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"});
    Tree expression =
        Mapping({{"key", Any({"zone", "example.com/disk", "a.b_c-d"})}, {"operator", Plain(op)}});
    if (op == "In" || op == "NotIn") {
      expression.members.push_back({"values", List({Plain("a"), Any({"b", "\"1\""})})});
    } else if (op == "Gt" || op == "Lt") {
      expression.members.push_back({"values", List({Any({"\"5\"", "\"0\"", "\"100\""})})});
    }
    expressions.items.push_back(Styled(std::move(expression)));
  }
  Tree term = Mapping({});
  if (!expressions.items.empty()) term.members.push_back({"matchExpressions", expressions});
  if (OneIn(3)) {
    term.members.push_back({"matchFields", List({Mapping({{"key", Plain("metadata.name")},
                                                          {"operator", Any({"In", "NotIn"})},
                                                          {"values", List({Plain("node-1")})}})})});
  }
  return Styled(std::move(term));
}

Tree Valid::AffinityArgs() {
  if (OneIn(5)) return Mapping({});
  Tree affinity = Mapping({});
  if (OneIn(2)) {
    affinity.members.push_back({"requiredDuringSchedulingIgnoredDuringExecution",
                                Mapping({{"nodeSelectorTerms", List({Term(), Term()})}})});
  }
  if (OneIn(2)) {
    affinity.members.push_back(
        {"preferredDuringSchedulingIgnoredDuringExecution",
         List({Mapping({{"weight", Number(0, 100)}, {"preference", Term()}}),
               Mapping({{"weight", Number(1, 100)}, {"preference", Term()}})})});
  }
  return Mapping({{"addedAffinity", Styled(std::move(affinity))}});
}

Tree Valid::SpreadArgs() {
  if (OneIn(4)) return Mapping({{"defaultingType", Any({"System", "List", "\"\""})}});
  Tree constraints = List({});
  for (const std::string_view key : {"kubernetes.io/hostname", "topology.kubernetes.io/zone"}) {
    if (OneIn(3)) continue;
    Tree constraint = Mapping({{"maxSkew", Number(1, 9)},
                               {"topologyKey", Plain(key)},
                               {"whenUnsatisfiable", Any({"ScheduleAnyway", "DoNotSchedule"})}});
    if (OneIn(3)) constraint.members.push_back({"minDomains", Number(-1, 3)});
    if (OneIn(3)) constraint.members.push_back({"nodeTaintsPolicy", Any({"Honor", "Other"})});
    if (OneIn(3)) constraint.members.push_back({"matchLabelKeys", List({Plain("app")})});
    constraints.items.push_back(Styled(std::move(constraint)));
  }
  return Mapping({{"defaultConstraints", constraints}, {"defaultingType", Plain("List")}});
}

Tree Valid::Args(std::string_view plugin) {
  if (plugin == "DefaultPreemption") {
    return Some({{"minCandidateNodesPercentage", Number(1, 100)},
                 {"minCandidateNodesAbsolute", Number(1, 1000)}});
  }
  if (plugin == "InterPodAffinity") {
    return Some({{"hardPodAffinityWeight", Number(0, 100)},
                 {"ignorePreferredTermsOfExistingPods", Bool()}});
  }
  if (plugin == "NodeResourcesFit") return FitArgs();
  if (plugin == "NodeResourcesBalancedAllocation") return Some({{"resources", Resources(false)}});
  if (plugin == "NodeAffinity") return AffinityArgs();
  if (plugin == "PodTopologySpread") return SpreadArgs();
  if (plugin == "VolumeBinding") return Some({{"bindTimeoutSeconds", Number(0, 900)}});
  if (plugin == "DynamicResources") {
    return Some({{"filterTimeout", Any({"5s", "0s", "null", "1.5s"})},
                 {"bindingTimeout", Any({"1s", "10m", "null", "1h"})}});
  }
  return Some({{"anything", List({Number(0, 9), Plain("no"), Quoted("")})},
               {"nested", Mapping({{"z", Plain("~")}, {"a", Plain("1.50")}})}});
}

Tree Valid::PluginConfig() {
  Tree list = List({});
  for (const std::string_view plugin :
       {"DefaultPreemption", "InterPodAffinity", "NodeResourcesFit", "NodeAffinity",
        "NodeResourcesBalancedAllocation", "PodTopologySpread", "VolumeBinding", "DynamicResources",
        "NodeName", "OutOfTree"}) {
    if (!OneIn(3)) continue;
    Tree args = Args(plugin);
    if (OneIn(6) && plugin != "NodeName" && plugin != "OutOfTree") {
      args.members.push_back({"kind", Plain(std::string(plugin) + "Args")});
      args.members.push_back({"apiVersion", Plain("kubescheduler.config.k8s.io/v1")});
    }
    list.items.push_back(
        Styled(Mapping({{"name", Plain(plugin)}, {"args", Styled(std::move(args))}})));
  }
  return list;
}

Tree Valid::Profile(const std::string& name) {
  Tree profile = Mapping({{"schedulerName", Quoted(name)}});
  if (OneIn(3)) profile.members.push_back({"percentageOfNodesToScore", Number(0, 100)});
  if (!OneIn(3)) profile.members.push_back({"plugins", Plugins()});
  if (!OneIn(3)) profile.members.push_back({"pluginConfig", PluginConfig()});
  return Styled(std::move(profile));
}

Tree Valid::Extender(size_t index) {
  Tree extender = Some({{"urlPrefix", Any({"http://extender.example.com/x", "\"\""})},
                        {"filterVerb", Plain("filter")},
                        {"preemptVerb", Plain("preempt")},
                        {"httpTimeout", Any({"100ms", "0s", "1h", "-5s"})},
                        {"nodeCacheCapable", Bool()},
                        {"ignorable", Bool()},
                        {"enableHTTPS", Bool()}});
  if (OneIn(3)) {
    extender.members.push_back({"prioritizeVerb", Plain("prioritize")});
    extender.members.push_back({"weight", Number(1, 20)});
  }
  if (index == 0 && OneIn(3)) extender.members.push_back({"bindVerb", Plain("bind")});
  if (OneIn(3)) {
    extender.members.push_back(
        {"tlsConfig", Some({{"insecure", Bool()}, {"serverName", Plain("example.com")}})});
  }
  if (OneIn(3)) {
    extender.members.push_back(
        {"managedResources",
         List({Styled(Mapping({{"name", Quoted("example.com/r" + std::to_string(index))},
                               {"ignoredByScheduler", Any({"false", "false", "true"})}}))})});
  }
  return extender;
}

Tree Valid::Configuration() {
  Tree root = Mapping({{"apiVersion", Plain("kubescheduler.config.k8s.io/v1")},
                       {"kind", Plain("KubeSchedulerConfiguration")}});
  for (TreeMember& member : Some({{"parallelism", Number(1, 64)},
                                  {"leaderElection", LeaderElection()},
                                  {"clientConnection", ClientConnection()},
                                  {"enableProfiling", Bool()},
                                  {"enableContentionProfiling", Bool()},
                                  {"percentageOfNodesToScore", Number(0, 100)},
                                  {"podInitialBackoffSeconds", Number(1, 10)},
                                  {"podMaxBackoffSeconds", Number(10, 60)},
                                  {"delayCacheUntilActive", Bool()}})
                                .members) {
    root.members.push_back(std::move(member));
  }
  Tree profiles = List({});
  static constexpr std::array<std::string_view, 3> kNames = {"default-scheduler", "other", "Third"};
  const size_t wanted = random_.Below(8);  // mostly one
  const size_t count = wanted == 0 ? 0 : (wanted < 6 ? 1 : wanted - 4);
  for (size_t i = 0; i < count; ++i) {
    profiles.items.push_back(Profile(std::string(kNames[i])));
  }
  if (count > 0) root.members.push_back({"profiles", std::move(profiles)});
  if (OneIn(4)) {
    Tree extenders = List({});
    const size_t extender_count = 1 + random_.Below(2);
    for (size_t i = 0; i < extender_count; ++i) extenders.items.push_back(Extender(i));
    root.members.push_back({"extenders", std::move(extenders)});
  }
  return root;
}

}  // namespace

Tree ValidConfiguration(Random& random) { return Valid(random).Configuration(); }

}  // namespace ks::testing
