// SPDX-License-Identifier: Apache-2.0
// Probe: takes part at every point and counts its calls; PreFilter tells what the host says to the
// question that its arguments ask.
#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kubesched/plugin.hpp"

namespace {

using kubesched::Call;
using kubesched::Node;
using kubesched::Pod;
using kubesched::Status;

std::string Text(kubesched::Labels labels) {
  std::string text;
  for (const auto& [key, value] : std::map(labels.begin(), labels.end())) {
    text.append(key).append("=").append(value).append(";");
  }
  return text;
}

struct Datum {
  explicit Datum(const kubesched::Host& own) : host(own) {}
  ~Datum() { host.Count("datum destroyed"); }
  kubesched::Host host;
  int value = 7;
};

class Probe final : public kubesched::PreEnqueuePlugin,
                    public kubesched::PreFilterPlugin,
                    public kubesched::FilterPlugin,
                    public kubesched::PostFilterPlugin,
                    public kubesched::PreScorePlugin,
                    public kubesched::ScorePlugin,
                    public kubesched::ScoreNormalizer,
                    public kubesched::ReservePlugin,
                    public kubesched::PermitPlugin,
                    public kubesched::PreBindPlugin,
                    public kubesched::PostBindPlugin,
                    public kubesched::QueueingHints,
                    public kubesched::SignPlugin,
                    public kubesched::NodeLocalPlugin {
 public:
  static constexpr ks_event kEvents[] = {{KS_EVENT_NODE, KS_ACTION_ADD},
                                         {KS_EVENT_POD, KS_ACTION_DELETE}};

  Probe(const kubesched::Host& host, std::string_view args) : host_(host), question_(args) {}
  ~Probe() override { host_.Count("close"); }

  Status PreEnqueue(Call, Pod pod) override {
    host_.Count("pre_enqueue");
    if (pod.Name() == "gated") return {KS_PENDING, "not yet"};
    return {};
  }
  Status PreFilter(Call call, Pod pod) override {
    host_.Count("pre_filter");
    call.SetState(std::make_unique<Datum>(host_));
    if (question_ == "\"narrow\"") {
      call.OnlyNodes(std::array<std::string_view, 2>{"n", "other"});
      return {};
    }
    if (question_.empty()) return {};
    return {KS_UNSCHEDULABLE, Answer(call, pod)};
  }
  Status Filter(Call call, Pod, Node) const override {
    host_.Count("filter");
    return call.State<Datum>()->value == 7 ? Status() : Status(KS_ERROR);
  }
  Status PostFilter(Call call, Pod) override {
    host_.Count("post_filter");
    if (call.NodeStatus(0) != KS_UNSCHEDULABLE || call.NodeStatus(99) != KS_NOT_FOUND) {
      return {KS_ERROR, "statuses"};
    }
    if (call.Nominate("nowhere") != KS_NOT_FOUND || call.Nominate("n") != KS_OK) {
      return {KS_ERROR, "nominations"};
    }
    return {};
  }
  Status PreScore(Call, Pod, kubesched::Nodes nodes) override {
    host_.Count("pre_score");
    return nodes.size() == 1 && nodes[0].Name() == "n" ? Status() : Status(KS_ERROR);
  }
  Status Score(Call call, Pod, Node, int64_t* score) const override {
    host_.Count("score");
    *score = 1000 + call.State<Datum>()->value;
    return {};
  }
  Status NormalizeScore(Call, Pod, kubesched::Nodes, std::span<int64_t> scores) override {
    host_.Count("normalize_score");
    for (int64_t& score : scores) score -= 1000;
    return {};
  }
  Status Reserve(Call, Pod, std::string_view node) override {
    host_.Count("reserve");
    return node == "n" ? Status() : Status(KS_ERROR);
  }
  void Unreserve(Call, Pod, std::string_view) override { host_.Count("unreserve"); }
  Status Permit(Call, Pod, std::string_view, int64_t* timeout_ms) override {
    host_.Count("permit");
    *timeout_ms = 1500;
    return KS_WAIT;
  }
  Status PreBind(Call call, Pod pod, std::string_view node) override {
    host_.Count("pre_bind");
    if (call.State<Datum>() == nullptr) return {KS_ERROR, "no datum"};
    return {KS_UNSCHEDULABLE, std::string(pod.Name()) + " on " + std::string(node)};
  }
  void PostBind(Call call, Pod, std::string_view) override {
    host_.Count(call.State<Datum>() != nullptr ? "post_bind" : "post_bind without datum");
  }
  bool IsWorthATry(Call, size_t event, Pod pod, const ks_event_objects& objects) override {
    host_.Count("hint");
    if (event == 0) {
      return Node(host_.get(), objects.new_node).Name() == "n" && objects.old_node == nullptr;
    }
    return Pod(host_.get(), objects.old_pod).Name() != pod.Name();
  }
  Status Sign(Call call, Pod pod) override {
    host_.Count("sign");
    call.Sign("name", "\"" + std::string(pod.Name()) + "\"");
    return {};
  }
  uint64_t OutsideVersion() const override { return 5; }

 private:
  std::string Answer(Call call, Pod pod) const {
    const Node node = call.FindNode("n");
    const auto name = [this](std::string_view text) { return host_.Name(text); };
    const auto asks = [this](std::string_view text) {
      return question_ == "\"" + std::string(text) + "\"";
    };
    if (asks("pod")) {
      return std::string(pod.Namespace()) + "/" + std::string(pod.Name()) + " " +
             std::string(pod.Uid()) + " " + std::string(pod.SchedulerName()) + " " +
             std::to_string(pod.Priority()) + " [" + std::string(pod.NodeName()) + "]";
    }
    if (asks("pod label")) return std::string(pod.Label(name("app")).value_or("none"));
    if (asks("no pod label")) return std::string(pod.Label(name("none")).value_or("none"));
    if (asks("pod labels")) return Text(pod.AllLabels());
    if (asks("pod annotation")) return std::string(pod.Annotation(name("note")).value_or("none"));
    if (asks("pod cpu")) return std::to_string(pod.Request(name("cpu")));
    if (asks("pod gpu")) return std::to_string(pod.Request(name("example.com/gpu")));
    if (asks("pod json")) return std::string(pod.Json());
    if (asks("node label")) return std::string(node.Label(name("disk")).value_or("none"));
    if (asks("node labels")) return Text(node.AllLabels());
    if (asks("node annotation")) return std::string(node.Annotation(name("note")).value_or("none"));
    if (asks("node memory")) return std::to_string(node.Allocatable(name("memory")));
    if (asks("node cpu used")) return std::to_string(node.Requested(name("cpu")));
    if (asks("node pods used")) return std::to_string(node.Requested(name("pods")));
    if (asks("node pods")) {
      std::string text;
      for (size_t i = 0; i < node.PodCount(); ++i) text += std::string(node.PodAt(i).Name()) + ";";
      return text + (node.PodAt(node.PodCount()) ? "one more" : "");
    }
    if (asks("node taint")) {
      const ks_taint taint = node.Taints().at(0);
      return std::string(kubesched::View(taint.key)) + "=" +
             std::string(kubesched::View(taint.value)) + ":" +
             std::string(kubesched::View(taint.effect));
    }
    if (asks("node unschedulable")) return node.Unschedulable() ? "yes" : "no";
    if (asks("node json")) return std::string(node.Json());
    if (asks("nodes")) {
      return std::to_string(call.NodeCount()) + " " + std::string(call.NodeAt(0).Name());
    }
    if (asks("no node")) return call.FindNode("none") ? "found" : "none";
    if (asks("other pod")) {
      return std::string(call.FindPod("ns", "other").Label(name("app")).value_or("none"));
    }
    if (asks("no other pod")) return call.FindPod("ns", "none") ? "found" : "none";
    if (asks("clock")) return std::to_string(host_.NowNs());
    return "what?";
  }

  const kubesched::Host host_;
  const std::string question_;
};

}  // namespace

KUBESCHED_MODULE("probe", "1", KS_NEEDS_POD_ANNOTATIONS | KS_NEEDS_POD_JSON | KS_NEEDS_NODE_JSON,
                 KUBESCHED_PLUGIN("Probe", Probe));
