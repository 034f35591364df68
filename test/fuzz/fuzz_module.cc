// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_module.h"

#include <array>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "api/pod.h"
#include "framework/composed_plugin.h"
#include "fuzz/script.h"
#include "golang/utf8.h"
#include "kubesched/plugin.h"
#include "metrics/registry.h"
#include "modules/loaded_plugin.h"
#include "modules/module_metrics.h"
#include "testing/builders.h"
#include "testing/fake_handle.h"

namespace ks::fuzz {

namespace {

// What the plugin lives by. PreBind's part runs on a thread of its own while this one waits.
struct Play {
  explicit Play(std::string_view input) : script(input) {}

  Script script;
  const ks_host* host = nullptr;
  ks_call* over = nullptr;  // the handle of a call that is over, or of another thread
  int live = 0;             // data that were handed over and not destroyed
  std::string wrong;
};
Play* play = nullptr;

struct Datum {
  Datum() { ++play->live; }
  ~Datum() { --play->live; }
};
void Destroy(void* datum) { delete static_cast<Datum*>(datum); }

// Texts that exist, pieces of the input, and what is no text.
ks_str DrawText() {
  constexpr std::array<std::string_view, 6> kKnown = {"n", "other", "ns", "p", "uid-p", "app"};
  const uint8_t kind = play->script.Byte();
  if (kind < 160) {
    const std::string_view known = kKnown[kind % kKnown.size()];
    return {known.data(), known.size()};
  }
  if (kind < 200) return {nullptr, kind % 2U};
  const std::string_view piece = play->script.Text();
  return {piece.data(), piece.size()};
}

// Mostly the one that is given.
ks_call* DrawCall(ks_call* call) {
  const uint8_t kind = play->script.Byte();
  if (kind < 224) return call;
  return kind % 2 == 0 ? nullptr : play->over;
}

void Expect(bool fine, const char* what) {
  if (!fine && play->wrong.empty()) play->wrong = what;
}
// A text from the host can be read to its end.
void Read(ks_str text) {
  volatile char sum = 0;
  for (size_t i = 0; i < text.size; ++i) sum = static_cast<char>(sum ^ text.data[i]);
}

void LookAtPod(const ks_pod* pod) {
  const ks_host& host = *play->host;
  for (const auto function : {host.pod_namespace, host.pod_name, host.pod_uid, host.pod_node_name,
                              host.pod_scheduler_name, host.pod_json}) {
    Read(function(pod));
  }
  host.pod_priority(pod);
  ks_str key{};
  ks_str value{};
  const ks_name name = host.name(play->host, DrawText());
  if (host.pod_label(pod, name, &value) == KS_OK) Read(value);
  if (host.pod_annotation(pod, name, &value) == KS_OK) Read(value);
  host.pod_request(pod, name);
  const uint8_t index = play->script.Byte();
  const bool there = index < host.pod_label_count(pod);
  Expect((host.pod_label_at(pod, index, &key, &value) == KS_OK) == there, "labels of a pod");
  if (there) Read(key);
}

void LookAtNode(const ks_node* node) {
  const ks_host& host = *play->host;
  Read(host.node_name(node));
  Read(host.node_json(node));
  ks_str key{};
  ks_str value{};
  const ks_name name = host.name(play->host, DrawText());
  if (host.node_label(node, name, &value) == KS_OK) Read(value);
  if (host.node_annotation(node, name, &value) == KS_OK) Read(value);
  host.node_allocatable(node, name);
  host.node_requested(node, name);
  host.node_unschedulable(node);
  const uint8_t index = play->script.Byte();
  const bool label = index < host.node_label_count(node);
  Expect((host.node_label_at(node, index, &key, &value) == KS_OK) == label, "labels of a node");
  ks_taint taint{};
  const bool tainted = index < host.node_taint_count(node);
  Expect((host.node_taint_at(node, index, &taint) == KS_OK) == tainted, "taints of a node");
  const ks_pod* pod = host.node_pod_at(node, index);
  Expect((pod != nullptr) == (index < host.node_pod_count(node)), "pods of a node");
  if (pod != nullptr) LookAtPod(pod);
}

// What a host function may answer.
void ExpectResult(ks_result result) {
  Expect(result <= KS_OK && result >= KS_FULL, "an answer that does not exist");
}

void AskHost(ks_call* call) {
  const ks_host& host = *play->host;
  switch (play->script.Byte() % 8) {
    case 0:
      host.log(play->host, play->script.Byte() % 8 - 2, DrawText());
      break;
    case 1:
      ExpectResult(host.count(play->host, DrawText(), static_cast<double>(play->script.Number())));
      break;
    case 2:
      ExpectResult(host.observe(play->host, DrawText(), static_cast<double>(play->script.Byte())));
      break;
    case 3:
      ExpectResult(host.activate(play->host, DrawText(), DrawText()));
      break;
    case 4:
      ExpectResult(host.allow(play->host, DrawText()));
      break;
    case 5:
      ExpectResult(host.reject(play->host, DrawText(), DrawText()));
      break;
    case 6: {
      const ks_node* node = host.find_node(DrawCall(call), DrawText());
      if (node != nullptr) LookAtNode(node);
      break;
    }
    default: {
      const ks_pod* pod = host.find_pod(DrawCall(call), DrawText(), DrawText());
      if (pod != nullptr) LookAtPod(pod);
    }
  }
}

void AskCall(ks_call* call) {
  const ks_host& host = *play->host;
  switch (play->script.Byte() % 7) {
    case 0:
      ExpectResult(host.state_set(DrawCall(call), new Datum(), Destroy));
      break;
    case 1:
      host.state_get(DrawCall(call));
      break;
    case 2: {
      const uint8_t index = play->script.Byte() % 4;
      const ks_node* node = host.node_at(DrawCall(call), index);
      Expect(node == nullptr || index < host.node_count(call), "a node beyond the last");
      if (node != nullptr) LookAtNode(node);
      break;
    }
    case 3: {
      const std::array<ks_str, 2> names = {DrawText(), DrawText()};
      ExpectResult(host.only_nodes(DrawCall(call), names.data(), play->script.Byte() % 3));
      break;
    }
    case 4:
      host.node_status(DrawCall(call), play->script.Byte() % 4);
      break;
    case 5:
      ExpectResult(host.nominate(DrawCall(call), DrawText()));
      break;
    default:
      ExpectResult(host.sign(DrawCall(call), DrawText(), DrawText()));
  }
}

// Does a few things, and says something.
ks_status Act(ks_call* call, const ks_pod* pod, const ks_node* node = nullptr) {
  for (int left = play->script.Byte() % 6; left > 0; --left) {
    const uint8_t what = play->script.Byte();
    if (what < 100) {
      AskCall(call);
    } else if (what < 200) {
      AskHost(call);
    } else if (node != nullptr) {
      LookAtNode(node);
    } else if (pod != nullptr) {
      LookAtPod(pod);
    }
  }
  play->over = call;
  const uint8_t end = play->script.Byte();
  const ks_status code = play->script.Byte() % 12 - 2;
  if (end < 100) return KS_SUCCESS;
  if (end < 180) return play->host->fail(DrawCall(call), code, DrawText());
  if (end < 220) return play->host->constant_status(play->host, code, DrawText());
  return end < 240 ? code : static_cast<ks_status>(play->script.Number());
}

void* Create(const ks_host* host, ks_str args, ks_call* call) {
  play->host = host;
  Read(args);
  const ks_status said = Act(call, nullptr);
  return said == KS_ERROR ? nullptr : play;
}

constexpr std::array kEvents = {ks_event{KS_EVENT_NODE, KS_ACTION_ADD},
                                ks_event{KS_EVENT_POD, KS_ACTION_ALL}};

ks_plugin Table() {
  ks_plugin table{};
  table.size = sizeof(ks_plugin);
  table.name = "Fuzzed";
  table.create = Create;
  table.pre_enqueue = [](void*, ks_call* call, const ks_pod* pod) { return Act(call, pod); };
  table.pre_filter = [](void*, ks_call* call, const ks_pod* pod) { return Act(call, pod); };
  table.filter = [](void*, ks_call* call, const ks_pod* pod, const ks_node* node) {
    return Act(call, pod, node);
  };
  table.post_filter = [](void*, ks_call* call, const ks_pod* pod) { return Act(call, pod); };
  table.pre_score = [](void*, ks_call* call, const ks_pod* pod, const ks_node* const* nodes,
                       size_t count) { return Act(call, pod, count == 0 ? nullptr : nodes[0]); };
  table.score = [](void*, ks_call* call, const ks_pod* pod, const ks_node* node, int64_t* score) {
    *score = static_cast<int64_t>(play->script.Number());
    return Act(call, pod, node);
  };
  table.normalize_score = [](void*, ks_call* call, const ks_pod* pod, const ks_node* const* nodes,
                             int64_t* scores, size_t count) {
    for (size_t i = 0; i < count; ++i) scores[i] -= static_cast<int64_t>(play->script.Byte());
    return Act(call, pod, count == 0 ? nullptr : nodes[count - 1]);
  };
  table.reserve = [](void*, ks_call* call, const ks_pod* pod, ks_str node) {
    Read(node);
    return Act(call, pod);
  };
  table.unreserve = [](void*, ks_call* call, const ks_pod* pod, ks_str) { Act(call, pod); };
  table.permit = [](void*, ks_call* call, const ks_pod* pod, ks_str, int64_t* timeout_ms) {
    *timeout_ms = static_cast<int64_t>(play->script.Number());
    return Act(call, pod);
  };
  table.pre_bind = [](void*, ks_call* call, const ks_pod* pod, ks_str) { return Act(call, pod); };
  table.post_bind = [](void*, ks_call* call, const ks_pod* pod, ks_str) { Act(call, pod); };
  table.events = kEvents.data();
  table.event_count = kEvents.size();
  table.hint = [](void*, ks_call* call, size_t, const ks_pod* pod,
                  const ks_event_objects* objects) { return Act(call, pod, objects->new_node); };
  table.sign = [](void*, ks_call* call, const ks_pod* pod) { return Act(call, pod); };
  return table;
}

// Texts that others will read.
void ExpectStatus(const framework::Status& status) {
  Expect(status.code() <= framework::Code::kPending, "a code that does not exist");
  Expect(golang::IsUtf8(status.Message()), "a reason that is not UTF-8");
  Expect(status.code() != framework::Code::kError || !status.Message().empty(),
         "an error without a text");
}

// One attempt of a pod on a cluster of two nodes, all points in their order, whatever they say.
class Attempt {
 public:
  Attempt(framework::Plugin& plugin, testing::FakeHandle& handle)
      : plugin_(plugin), handle_(handle) {}

  void Run() {
    framework::CycleState state;
    Decide(state);
    Follow(state);
    AskQueuePoints();
  }

 private:
  template <class Interface>
  Interface& At() {
    return *framework::InterfaceOf<Interface>(plugin_);
  }

  void Decide(framework::CycleState& state) {
    const auto nodes = handle_.snapshot().nodes();
    const auto narrowed =
        At<framework::PreFilterPlugin>().PreFilter(state, *pod_, handle_.snapshot());
    ExpectStatus(narrowed.status);
    framework::NodeStatuses statuses;
    statuses.Reset(nodes.size());
    std::vector<int64_t> scores(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const framework::Status verdict =
          At<framework::FilterPlugin>().Filter(state, *pod_, *nodes[i]);
      ExpectStatus(verdict);
      if (!verdict.ok()) statuses.Set(i, verdict);
    }
    const auto made_room = At<framework::PostFilterPlugin>().PostFilter(state, pod_, statuses);
    ExpectStatus(made_room.status);
    if (made_room.nomination.has_value() && !made_room.nomination->node_name.empty()) {
      Expect(handle_.snapshot().Find(made_room.nomination->node_name) != nullptr,
             "a nomination to no node");
    }
    ExpectStatus(At<framework::PreScorePlugin>().PreScore(state, *pod_, nodes));
    for (size_t i = 0; i < nodes.size(); ++i) {
      ExpectStatus(At<framework::ScorePlugin>().Score(state, *pod_, *nodes[i], &scores[i]));
    }
    for (int64_t& score : scores) score %= 1'000'000;  // within which normalizing does not overflow
    ExpectStatus(At<framework::ScoreNormalizer>().NormalizeScore(state, *pod_, nodes, scores));
  }

  void Follow(framework::CycleState& state) {
    const std::string on = "n";
    ExpectStatus(At<framework::ReservePlugin>().Reserve(state, pod_, on));
    const auto permitted = At<framework::PermitPlugin>().Permit(state, pod_, on);
    ExpectStatus(permitted.status);
    Expect(permitted.timeout >= Duration::zero(), "a wait that is over before it began");
    auto& pre_bind = At<framework::PreBindPlugin>();
    ExpectStatus(pre_bind.PreBindPreFlight(state, pod_, on).status);
    const auto sequence = pre_bind.PreBind(state, pod_, on);
    const framework::PreBindStep step = sequence->Next({});
    framework::Status blocked;
    std::thread([&] { blocked = step.blocking(); }).join();
    ExpectStatus(blocked);
    ExpectStatus(sequence->Next(blocked).status);
    At<framework::PostBindPlugin>().PostBind(state, pod_, on);
    At<framework::ReservePlugin>().Unreserve(state, pod_, on);
  }

  void AskQueuePoints() {
    ExpectStatus(At<framework::PreEnqueuePlugin>().PreEnqueue(*pod_));
    std::vector<framework::SignFragment> fragments;
    ExpectStatus(At<framework::SignPlugin>().Sign(*pod_, &fragments));
    const api::NodePtr node = testing::MakeNode().Name("new").Obj();
    const auto events = At<framework::EnqueueExtensions>().EventsToRegister();
    const auto added = events[0].hint(*pod_, {}, node);
    Expect(added.ok() || !added.error().message.empty(), "a hint's error without a text");
    const auto gone = events[1].hint(*pod_, pod_, {});
    Expect(gone.ok() || !gone.error().message.empty(), "a hint's error without a text");
  }

  framework::Plugin& plugin_;
  testing::FakeHandle& handle_;
  const api::PodPtr pod_ = testing::MakePod().Name("p").Labels({{"app", "web"}, {"b", ""}}).Obj();
};

}  // namespace

std::string RunModule(std::string_view input) {
  static const modules::ModulePlugin kPlugin = {.name = "Fuzzed", .table = Table()};
  Play now(input);
  play = &now;
  {
    testing::FakeHandle handle;
    handle.fake_tasks().Keep();
    handle.fake_snapshot().Add(
        testing::MakeNode().Name("n").Label("disk", "ssd").Taint("k", "v", "NoExecute").Obj(),
        {testing::MakePod().Name("a").Req({{"cpu", "1"}}).Obj()});
    handle.fake_snapshot().Add(testing::MakeNode().Name("other").Obj(), {});
    handle.fake_pods().Add(testing::MakePod().Name("p").Obj());
    metrics::Registry registry;
    modules::ModuleMetrics counted(registry);
    auto made = modules::MakeLoadedPlugin(
        {.name = "Fuzzed", .plugin = kPlugin, .needs = 0, .metrics = &counted},
        config::RawArgs{R"({"a":1})"}, handle);
    if (!made.ok()) {
      Expect(!made.error().message.empty(), "refused without a text");
    } else {
      Attempt(**made, handle).Run();
      handle.fake_tasks().RunKept();
      registry.Text();
    }
  }
  Expect(now.live == 0, "data of the plugin that nobody destroyed");
  play = nullptr;
  return now.wrong;
}

}  // namespace ks::fuzz
