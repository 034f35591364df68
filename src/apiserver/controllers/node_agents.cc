// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/node_agents.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/controllers/controller_event.h"
#include "apiserver/controllers/node_agents_addresses.h"
#include "apiserver/controllers/node_agents_status.h"
#include "apiserver/store/log_cursor.h"
#include "base/check.h"
#include "base/random.h"

namespace ks::apiserver {
namespace {

// What one Step does at most, so that requests are served in between: a write costs some 50 us,
// and the Service takes a few steps in a row.
constexpr size_t kWorkPerStep = 32;
constexpr size_t kChangesPerStep = 4096;
// Leases become due in so many bunches per interval instead of one by one.
constexpr int kLeaseSlots = 64;
constexpr int kLeaseSeconds = 40;

// What can become due for a pod; a later arming of the same replaces the earlier one.
enum class Work : uint8_t {
  kStart,
  kFinish,
  kTerminate,
  kEvict,
  kReadiness,
  kNodeReady,  // from here on for nodes
  kLease,
  kFail,
  kRecover,
};
constexpr size_t kPodWorks = static_cast<size_t>(Work::kNodeReady);
constexpr size_t kNodeWorks = static_cast<size_t>(Work::kRecover) + 1 - kPodWorks;

struct Timer {
  TimePoint due;
  uint64_t order = 0;  // unique: equal times fire in the order of arming
  Work work = Work::kStart;
  std::string key;  // "ns/name" of a pod, name of a node
};
struct FiresLater {
  bool operator()(const Timer& a, const Timer& b) const {
    return a.due != b.due ? a.due > b.due : a.order > b.order;
  }
};

struct BoundPod {
  std::string uid;
  std::string node;
  std::array<uint64_t, kPodWorks> armed{};  // order of the valid timer; 0: none
  TimePoint evict_due{};                    // while kEvict is armed
};

struct Node {
  bool exists = false;
  bool ready = false;
  std::string uid;
  std::string host_ip;
  std::vector<agents::Taint> evicting;
  std::set<std::string> pods;  // keys; ordered, because chance is drawn in this order
  std::array<uint64_t, kNodeWorks> armed{};
};

size_t FieldIndex(const KindInfo& kind, std::string_view field) {
  const auto& fields = kind.selectable_fields;
  const auto it = std::find(fields.begin(), fields.end(), field);
  KS_CHECK(it != fields.end(), "a field that node agents read is not kept by the store");
  return static_cast<size_t>(it - fields.begin());
}

// The value behind `"name":"` in the text of an object that has it outside of strings: inside of
// strings the quotes are escaped. Saves parsing.
std::string_view TextBehind(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return {};
  const size_t begin = at + name.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string_view DeletionTime(const StoredObject& pod) {
  return TextBehind(pod.text, R"("deletionTimestamp":")");
}

class NodeAgents final : public Controller {
 public:
  NodeAgents(Service& service, NodeAgentOptions options)
      : registry_(service.registry()),
        store_(service.store()),
        clock_(service.clock()),
        options_(options),
        random_(options.seed),
        node_log_(store_, nodes_kind_),
        pod_log_(store_, pods_kind_) {}

  void Step() override {
    Read();
    const TimePoint now = clock_.Now();
    size_t done = 0;
    for (; done < kWorkPerStep && !timers_.empty() && timers_.top().due <= now; ++done) {
      const Timer timer = timers_.top();
      timers_.pop();
      Fire(timer);
    }
    if (done > 0) Read();  // what was just written arms the next timers
  }

  std::optional<TimePoint> NextDue() const override {
    if (node_log_.Unread() || pod_log_.Unread()) return clock_.Now();
    if (timers_.empty()) return std::nullopt;
    return timers_.top().due;
  }

 private:
  using Pods = std::unordered_map<std::string, BoundPod>;

  void Read();
  void Rebuild();
  void ReadNode(const Change& change);
  void ReadPod(const Change& change);
  void Forget(const std::string& key);
  void Arm(const StoredObject& pod, BoundPod& bound, const std::string& key);
  void ArmLifetime(const StoredObject& pod, BoundPod& bound, const std::string& key);
  void ArmTermination(const StoredObject& pod, BoundPod& bound, const std::string& key);
  void ArmEviction(const StoredObject& pod, BoundPod& bound, const std::string& key);
  void NodeSeen(const StoredObject& object, Node& node);
  void Reconsider(Node& node, bool was_there, bool was_ready, bool taints_changed);

  void Fire(const Timer& timer);
  void FirePod(const Timer& timer, const BoundPod& bound);
  void Start(const StoredObject& pod, const Node& node);
  void Finish(const StoredObject& pod, const std::string& key);
  void Terminate(const StoredObject& pod);
  void Evict(const StoredObject& pod);
  void FireNode(const Timer& timer, Node& node);
  void RenewLease(const Timer& timer, Node& node);

  void Push(uint64_t& armed, Work work, const std::string& key, TimePoint due) {
    armed = ++order_;
    timers_.push({due, order_, work, key});
  }
  void ArmPod(BoundPod& bound, Work work, const std::string& key, TimePoint due) {
    Push(bound.armed[static_cast<size_t>(work)], work, key, due);
  }
  void ArmNode(Node& node, Work work, const std::string& name, TimePoint due) {
    Push(node.armed[static_cast<size_t>(work) - kPodWorks], work, name, due);
  }

  void ArmFailure(const std::string& name, Node& node) {
    const Duration mean = options_.mean_time_between_failures;
    ArmNode(node, Work::kFail, name, clock_.Now() + Exponential(mean));
  }

  ObjectPtr FindPod(const std::string& key) const {
    const size_t slash = key.find('/');
    return store_.Find(pods_kind_, std::string_view(key).substr(0, slash),
                       std::string_view(key).substr(slash + 1));
  }
  // Status written as the agent or a controller does it: no checks of what may change.
  void Write(const StoredObject& object, const std::function<void(Json&)>& change) {
    registry_.OverwriteIfThere(*object.kind, object.ns, object.name, change);
  }
  const std::string& NodeName(const StoredObject& pod) const { return pod.fields[node_name_]; }
  const std::string& Phase(const StoredObject& pod) const { return pod.fields[phase_]; }
  bool NotStarted(const StoredObject& pod) const {
    return Phase(pod) == "Pending" || Phase(pod).empty();
  }

  Duration Around(Duration mean);
  Duration Exponential(Duration mean);
  TimePoint LeaseSlot(TimePoint after);

  const KindInfo& nodes_kind_ = *FindResource("", "v1", "nodes");
  const KindInfo& pods_kind_ = *FindResource("", "v1", "pods");
  const KindInfo& leases_kind_ = *FindResource("coordination.k8s.io", "v1", "leases");
  const size_t node_name_ = FieldIndex(pods_kind_, "spec.nodeName");
  const size_t phase_ = FieldIndex(pods_kind_, "status.phase");
  const size_t restart_policy_ = FieldIndex(pods_kind_, "spec.restartPolicy");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  const NodeAgentOptions options_;
  Random random_;
  LogCursor node_log_;
  LogCursor pod_log_;
  std::unordered_map<std::string, Node> nodes_;  // also nodes that only pods know
  Pods pods_;                                    // bound ones
  std::priority_queue<Timer, std::vector<Timer>, FiresLater> timers_;
  uint64_t order_ = 0;
  agents::AddressPool addresses_;
};

// Nodes first: what pods may do depends on them.
void NodeAgents::Read() {
  if (node_log_.Lost() || pod_log_.Lost()) return Rebuild();
  size_t read = 0;
  for (const Change* change = nullptr; read < kChangesPerStep; ++read) {
    if ((change = node_log_.Next()) == nullptr) break;
    ReadNode(*change);
  }
  for (const Change* change = nullptr; read < kChangesPerStep; ++read) {
    if ((change = pod_log_.Next()) == nullptr) break;
    ReadPod(*change);
  }
}

// At the beginning and when the log was too short: everything from the state as it is.
void NodeAgents::Rebuild() {
  node_log_.Restart();
  pod_log_.Restart();
  timers_ = {};
  pods_.clear();
  for (auto& [name, node] : nodes_) node = Node{.host_ip = std::move(node.host_ip)};
  for (const auto& [key, object] : store_.objects(nodes_kind_)) {
    NodeSeen(*object, nodes_[object->name]);
  }
  for (const auto& [ns_and_name, object] : store_.objects(pods_kind_)) {
    ReadPod({.type = Change::Type::kAdded, .version = 0, .object = object, .before = nullptr});
  }
  std::erase_if(
      nodes_, [](const auto& entry) { return !entry.second.exists && entry.second.pods.empty(); });
}

void NodeAgents::ReadNode(const Change& change) {
  const std::string& name = change.object->name;
  Node& node = nodes_[name];
  if (change.type != Change::Type::kDeleted) return NodeSeen(*change.object, node);
  node.exists = false;
  node.ready = false;
  node.evicting.clear();
  node.armed = {};
  if (options_.lease_interval > Duration::zero()) ArmNode(node, Work::kLease, name, clock_.Now());
  for (const std::string& key : node.pods) {
    const ObjectPtr pod = FindPod(key);
    if (pod != nullptr) ArmTermination(*pod, pods_[key], key);
  }
  if (node.pods.empty() && options_.lease_interval == Duration::zero()) nodes_.erase(name);
}

void NodeAgents::NodeSeen(const StoredObject& object, Node& node) {
  const Json json = object.Parse();
  const bool is_new = !node.exists || node.uid != object.uid;
  const bool was_ready = node.ready && !is_new;
  const std::string ready = agents::ReadyStatus(json);
  if (node.uid != object.uid) node.armed = {};
  node.uid = object.uid;
  node.exists = true;
  node.ready = ready == "True";
  if (std::string ip = agents::InternalIp(json); !ip.empty()) node.host_ip = std::move(ip);
  if (node.host_ip.empty()) node.host_ip = addresses_.NextHostIp();
  std::vector<agents::Taint> evicting = agents::EvictingTaints(json);
  const bool taints_changed = evicting != node.evicting;
  node.evicting = std::move(evicting);
  const TimePoint now = clock_.Now();
  if (ready.empty()) ArmNode(node, Work::kNodeReady, object.name, now);
  if (is_new && options_.lease_interval > Duration::zero()) {
    ArmNode(node, Work::kLease, object.name, LeaseSlot(now));
  }
  if (is_new && options_.mean_time_between_failures > Duration::zero()) {
    ArmFailure(object.name, node);
  }
  Reconsider(node, !is_new, was_ready, taints_changed);
}

void NodeAgents::Reconsider(Node& node, bool was_there, bool was_ready, bool taints_changed) {
  const bool turned = was_there && was_ready != node.ready;
  if (was_there && !turned && !taints_changed) return;
  for (const std::string& key : node.pods) {
    const ObjectPtr pod = FindPod(key);
    if (pod == nullptr) continue;
    BoundPod& bound = pods_[key];
    if (node.ready && !was_ready) Arm(*pod, bound, key);
    if (turned && Phase(*pod) == "Running") ArmPod(bound, Work::kReadiness, key, clock_.Now());
    if (taints_changed) ArmEviction(*pod, bound, key);
  }
}

void NodeAgents::ReadPod(const Change& change) {
  const StoredObject& pod = *change.object;
  const std::string& node_name = NodeName(pod);
  if (node_name.empty()) return;  // pending: nobody's
  const std::string key = pod.ns + "/" + pod.name;
  if (change.type == Change::Type::kDeleted) return Forget(key);
  const auto [it, is_new] = pods_.try_emplace(key);
  BoundPod& bound = it->second;
  if (is_new || bound.uid != pod.uid) {
    if (!is_new) nodes_[bound.node].pods.erase(key);
    bound = BoundPod{.uid = pod.uid, .node = node_name};
    nodes_[node_name].pods.insert(key);
    addresses_.MarkUsed(TextBehind(pod.text, R"("podIP":")"));
    Arm(pod, bound, key);
    ArmEviction(pod, bound, key);
    return;
  }
  if (change.before == nullptr) return;
  if (Phase(pod) != Phase(*change.before)) ArmLifetime(pod, bound, key);
  if (DeletionTime(pod) != DeletionTime(*change.before)) ArmTermination(pod, bound, key);
}

void NodeAgents::Forget(const std::string& key) {
  const auto it = pods_.find(key);
  if (it == pods_.end()) return;
  const auto node = nodes_.find(it->second.node);
  if (node != nodes_.end()) {
    node->second.pods.erase(key);
    if (!node->second.exists && node->second.pods.empty()) nodes_.erase(node);
  }
  pods_.erase(it);
}

// Timers of a pod from its state alone.
void NodeAgents::Arm(const StoredObject& pod, BoundPod& bound, const std::string& key) {
  if (!DeletionTime(pod).empty()) return ArmTermination(pod, bound, key);
  if (NotStarted(pod)) {
    return ArmPod(bound, Work::kStart, key, clock_.Now() + Around(options_.start_delay));
  }
  ArmLifetime(pod, bound, key);
}

void NodeAgents::ArmLifetime(const StoredObject& pod, BoundPod& bound, const std::string& key) {
  if (Phase(pod) != "Running") return;
  Duration lifetime = options_.lifetime;
  const bool says = pod.text.find(agents::kLifetimeAnnotation) != std::string::npos;
  if (!says && lifetime <= Duration::zero()) return;
  const Json json = pod.Parse();
  if (const Json* annotations = Find(json, "metadata", "annotations");
      annotations != nullptr && Find(*annotations, agents::kLifetimeAnnotation)) {
    const std::string text = Text(*annotations, agents::kLifetimeAnnotation);
    const std::optional<Duration> said = agents::ParseLifetime(text);
    if (!said) {
      return RecordEvent(
          registry_, pod,
          {.component = "kubesched-node-agents",
           .type = "Warning",
           .reason = "InvalidLifetime",
           .message = "Annotation " + std::string(agents::kLifetimeAnnotation) + ": \"" + text +
                      "\" is not a duration such as \"1m30s\"; the pod runs on"});
    }
    lifetime = *said;
  }
  if (lifetime <= Duration::zero()) return;  // for ever
  const TimePoint wall = clock_.WallNow();
  const TimePoint end = agents::StartedAt(json).value_or(wall) + lifetime;
  // startedAt has whole seconds: a pod that was started this second lives its full time.
  const bool just_now = end - lifetime > wall - std::chrono::seconds(1);
  ArmPod(bound, Work::kFinish, key,
         clock_.Now() + (just_now ? lifetime : std::max(end - wall, Duration::zero())));
}

void NodeAgents::ArmTermination(const StoredObject& pod, BoundPod& bound, const std::string& key) {
  const std::string_view deletion = DeletionTime(pod);
  if (deletion.empty()) return;
  const Json json = pod.Parse();
  const Json* grace = Find(json, "metadata", "deletionGracePeriodSeconds");
  const int64_t seconds =
      grace != nullptr && grace->is_number_integer() ? grace->get<int64_t>() : 0;
  const Json* finalizers = Find(json, "metadata", "finalizers");
  // The agent has done its part: what remains waits for finalizers.
  if (seconds == 0 && finalizers != nullptr && !finalizers->empty()) return;
  const Duration limit = std::chrono::seconds(std::clamp<int64_t>(seconds, 0, 365LL * 24 * 3600));
  ArmPod(bound, Work::kTerminate, key, clock_.Now() + std::min(options_.termination, limit));
}

// As the taint manager: the time runs from now on; an earlier deadline stays.
void NodeAgents::ArmEviction(const StoredObject& pod, BoundPod& bound, const std::string& key) {
  uint64_t& armed = bound.armed[static_cast<size_t>(Work::kEvict)];
  const Node& node = nodes_[bound.node];
  if (node.evicting.empty() || !DeletionTime(pod).empty()) {
    armed = 0;
    return;
  }
  const std::optional<Duration> stay = agents::MayStay(pod.Parse(), node.evicting);
  if (!stay) {
    armed = 0;
    return;
  }
  const TimePoint due = clock_.Now() + *stay;
  if (armed != 0 && bound.evict_due <= due) return;
  bound.evict_due = due;
  ArmPod(bound, Work::kEvict, key, due);
}

void NodeAgents::Fire(const Timer& timer) {
  if (timer.work < Work::kNodeReady) {
    const auto it = pods_.find(timer.key);
    if (it == pods_.end()) return;
    uint64_t& armed = it->second.armed[static_cast<size_t>(timer.work)];
    if (armed != timer.order) return;
    armed = 0;
    return FirePod(timer, it->second);
  }
  const auto it = nodes_.find(timer.key);
  if (it == nodes_.end()) return;
  uint64_t& armed = it->second.armed[static_cast<size_t>(timer.work) - kPodWorks];
  if (armed != timer.order) return;
  armed = 0;
  FireNode(timer, it->second);
}

void NodeAgents::FirePod(const Timer& timer, const BoundPod& bound) {
  const ObjectPtr pod = FindPod(timer.key);
  if (pod == nullptr || pod->uid != bound.uid) return;
  const Node& node = nodes_[bound.node];
  const bool terminating = !DeletionTime(*pod).empty();
  switch (timer.work) {
    case Work::kStart:
      if (node.ready && !terminating && NotStarted(*pod)) Start(*pod, node);
      return;
    case Work::kFinish:
      if (node.ready && !terminating && Phase(*pod) == "Running") Finish(*pod, timer.key);
      return;
    case Work::kTerminate:
      // Nobody answers for a node that is gone: as the pod garbage collector.
      if (terminating && (node.ready || !node.exists)) Terminate(*pod);
      return;
    case Work::kEvict:
      if (!terminating) Evict(*pod);
      return;
    case Work::kReadiness:
      if (!node.exists) return;
      return Write(*pod,
                   [&](Json& json) { agents::MarkReadiness(json, node.ready, clock_.WallNow()); });
    default:
      return;
  }
}

void NodeAgents::Start(const StoredObject& pod, const Node& node) {
  Write(pod, [&](Json& json) {
    agents::MarkRunning(json, {.pod_ip = addresses_.NextPodIp(), .host_ip = node.host_ip},
                        clock_.WallNow());
  });
}

void NodeAgents::Finish(const StoredObject& pod, const std::string& key) {
  const bool restarts = pod.fields[restart_policy_] == "Always";
  Write(pod, [&](Json& json) {
    if (restarts) {
      agents::MarkRestarted(json, clock_.WallNow());
    } else {
      agents::MarkSucceeded(json, clock_.WallNow());
    }
  });
  // The phase stays, so the log does not arm the next end.
  const ObjectPtr written = restarts ? FindPod(key) : nullptr;
  if (written != nullptr) ArmLifetime(*written, pods_[key], key);
}

void NodeAgents::Terminate(const StoredObject& pod) {
  // What finalizers keep must not count as running any longer.
  if (pod.text.find(R"("finalizers":[")") != std::string::npos && Phase(pod) == "Running") {
    Write(pod, [&](Json& json) { agents::MarkSucceeded(json, clock_.WallNow()); });
  }
  [[maybe_unused]] const auto deleted =
      registry_.Delete(pods_kind_, pod.ns, pod.name, {.grace_period_seconds = 0, .uid = pod.uid});
}

void NodeAgents::Evict(const StoredObject& pod) {
  RecordEvent(registry_, pod,
              {.component = "taint-eviction-controller",
               .reason = "TaintManagerEviction",
               .message = "Marking for deletion Pod " + pod.ns + "/" + pod.name});
  Write(pod, [&](Json& json) { agents::MarkEvicted(json, clock_.WallNow()); });
  [[maybe_unused]] const auto deleted =
      registry_.Delete(pods_kind_, pod.ns, pod.name, {.uid = pod.uid});
}

void NodeAgents::FireNode(const Timer& timer, Node& node) {
  const ObjectPtr object = store_.Find(nodes_kind_, "", timer.key);
  const TimePoint wall = clock_.WallNow();
  if (timer.work == Work::kLease) return RenewLease(timer, node);
  if (object == nullptr || object->uid != node.uid) return;
  if (timer.work == Work::kNodeReady) {
    if (!agents::ReadyStatus(object->Parse()).empty()) return;
    return Write(*object, [&](Json& json) { agents::MarkNodeReady(json, node.host_ip, wall); });
  }
  if (timer.work == Work::kFail) {
    // A node that somebody else broke fails later.
    if (!node.ready) return ArmFailure(timer.key, node);
    Write(*object, [&](Json& json) { agents::MarkNodeUnreachable(json, wall); });
    return ArmNode(node, Work::kRecover, timer.key, clock_.Now() + options_.failure_duration);
  }
  if (!node.ready) {
    Write(*object, [&](Json& json) { agents::MarkNodeReady(json, node.host_ip, wall); });
  }
  ArmFailure(timer.key, node);
}

// Creates, renews, or (node gone) deletes it. An agent that does not answer does not renew.
void NodeAgents::RenewLease(const Timer& timer, Node& node) {
  const std::string& name = timer.key;
  const std::string lease_namespace = "kube-node-lease";
  const ObjectPtr lease = store_.Find(leases_kind_, lease_namespace, name);
  if (!node.exists) {
    if (lease != nullptr) {
      [[maybe_unused]] const auto deleted = registry_.Delete(leases_kind_, lease_namespace, name);
    }
    if (node.pods.empty()) nodes_.erase(name);
    return;
  }
  // The same slot of the next interval.
  ArmNode(node, Work::kLease, name, std::max(timer.due + options_.lease_interval, clock_.Now()));
  if (!node.ready) return;
  const std::string renewed = FormatMicroTime(clock_.WallNow());
  if (lease != nullptr) {
    return Write(*lease, [&](Json& json) { json["spec"]["renewTime"] = renewed; });
  }
  Json json{
      {"metadata",
       {{"name", name},
        {"ownerReferences",
         Json::array(
             {{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", name}, {"uid", node.uid}}})}}},
      {"spec",
       {{"holderIdentity", name},
        {"leaseDurationSeconds", kLeaseSeconds},
        {"renewTime", renewed}}}};
  [[maybe_unused]] const auto created =
      registry_.Create(leases_kind_, lease_namespace, std::move(json));
}

// Uniform between half and one and a half of the mean.
Duration NodeAgents::Around(Duration mean) {
  return Duration(static_cast<int64_t>(static_cast<double>(mean.count()) * (0.5 + random_.Unit())));
}

Duration NodeAgents::Exponential(Duration mean) {
  const double factor = -std::log1p(-random_.Unit());
  return Duration(static_cast<int64_t>(static_cast<double>(mean.count()) * factor));
}

// One of the slots of the next interval, by chance.
TimePoint NodeAgents::LeaseSlot(TimePoint after) {
  const Duration slot = std::max(options_.lease_interval / kLeaseSlots, Duration(1));
  const int64_t now = after.time_since_epoch() / slot;
  return TimePoint((now + 1 + static_cast<int64_t>(random_.Below(kLeaseSlots))) * slot);
}

}  // namespace

std::unique_ptr<Controller> NewNodeAgents(Service& service, NodeAgentOptions options) {
  return std::make_unique<NodeAgents>(service, options);
}

}  // namespace ks::apiserver
