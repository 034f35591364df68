// SPDX-License-Identifier: Apache-2.0
// A long random run against a model that does everything the slow and obvious way: one list of
// pods, searched in full for every question.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "queue_fixture.h"

namespace ks::queue::testing {
namespace {

using framework::QueuedPodPtr;
using ks::testing::MakePod;

constexpr int kNames = 60;
// More are run with KS_MODEL_STEPS, from another seed with KS_MODEL_SEED.
constexpr uint64_t kSteps = 100'000;
constexpr uint64_t kSeed = 20260718;
constexpr ClusterEvent kLabelChange = TargetPod(framework::kActionUpdatePodLabel);
constexpr ClusterEvent kRunningLabelChange{
    EventResource::kAssignedPod, framework::kActionUpdatePodLabel, {}};

// The plugins, once as registrations and once as a plain function:
//   A      new nodes help
//   B      new nodes never help; a deleted pod helps pods of even priority (asked once per spec)
//   C      new nodes always help; a change of the pod's own labels helps
//   Labels taints help pods with an even label; fail for 5, which queues (once per labels)
//   Names  taints, and new claims whichever they are, help pods whose name ends with an even digit
//          (asked for each pod)
//   Claims a new claim helps the pods that use it, but those of priority 3 (asked for its users)
//   Reads  a change of label "all", or of the one named by the pod's priority, helps; for pods of
//          priority 3 every change does (asked once per spec, if the label is read)
//   Gate   holds the pods named in a set; node labels open it
bool EvenEnd(std::string_view text) { return (text.back() - '0') % 2 == 0; }
const Symbol kLabelKey("k");

// Pods of priority 2 and more have these: one for all, and one of their own.
std::vector<api::Volume> Volumes() {
  std::vector<api::Volume> volumes(2);
  volumes[0].name = "shared";
  volumes[0].source = api::Volume::Source::kPersistentVolumeClaim;
  volumes[0].id = "shared";
  volumes[1].name = "own";
  volumes[1].source = api::Volume::Source::kEphemeral;
  return volumes;
}
bool Uses(const api::Pod& pod, const std::string& claim) {
  return !pod.spec->volumes.empty() && (claim == "shared" || claim == pod.meta.name + "-own");
}

// A new claim's event is told from others by its name, "PersistentVolumeClaimAdd shared", that of a
// node's labels by the label, "NodeUpdateNodeLabel all", or by the one that the node has got,
// "NodeUpdateNodeLabel given=1".
std::string LabelOf(const std::string& event) { return event.substr(0, event.find(' ')); }
std::string ClaimOf(const std::string& event) { return event.substr(event.find(' ') + 1); }

// The only label that changed; empty: the event has no nodes.
std::string ChangedLabel(const EventObject& after) {
  const auto* node = std::get_if<api::NodePtr>(&after);
  if (node == nullptr) return {};
  const auto& [key, value] = *(*node)->meta.labels.begin();
  return key.view() == "given" ? "given=" + value.str() : key.str();
}
bool Reads(const api::PodSpec& spec, const std::string& label) {
  const int32_t priority = spec.priority.value_or(0);
  const std::string own = std::to_string(priority);
  return !label.empty() &&
         (priority == 3 || label == "all" || label == own || label == "given=" + own);
}

ProfileHooks::Registrations Plugins() {
  ProfileHooks::Registrations plugins;
  plugins["A"] = {{kNodeAdd, Says(QueueingHint::kQueue)}};
  plugins["B"] = {
      {kNodeAdd, Says(QueueingHint::kSkip)},
      {kAssignedPodDelete,
       [](const api::Pod& pod, const EventObject&, const EventObject&) -> Result<QueueingHint> {
         return pod.Priority() % 2 == 0 ? QueueingHint::kQueue : QueueingHint::kSkip;
       },
       framework::HintScope::kSpec}};
  plugins["Labels"] = {
      {kNodeTaint,
       [](const api::Pod& pod, const EventObject&, const EventObject&) -> Result<QueueingHint> {
         const Symbol* value = pod.meta.labels.Find(kLabelKey);
         if (value == nullptr) return QueueingHint::kSkip;
         if (value->view() == "5") return Error{"five is wrong"};
         return EvenEnd(value->view()) ? QueueingHint::kQueue : QueueingHint::kSkip;
       },
       framework::HintScope::kLabels}};
  plugins["Names"] = {
      {kNodeTaint,
       [](const api::Pod& pod, const EventObject&, const EventObject&) -> Result<QueueingHint> {
         return EvenEnd(pod.meta.name) ? QueueingHint::kQueue : QueueingHint::kSkip;
       }}};
  plugins["Names"].push_back({kClaimAdd, plugins["Names"][0].hint});
  plugins["Claims"] = {
      {kClaimAdd,
       [](const api::Pod& pod, const EventObject&, const EventObject& added) {
         const api::ObjectMeta& claim = std::get<api::PersistentVolumeClaimPtr>(added)->meta;
         const bool helps = claim.ns == pod.meta.ns && pod.Priority() != 3 && Uses(pod, claim.name);
         return Result<QueueingHint>(helps ? QueueingHint::kQueue : QueueingHint::kSkip);
       },
       framework::HintScope::kClaims}};
  plugins["C"] = {{kNodeAdd, {}},
                  {kLabelChange, Says(QueueingHint::kQueue)},
                  {kRunningLabelChange, Says(QueueingHint::kQueue)}};
  plugins["Reads"] = {{kNodeLabel,
                       [](const api::Pod& pod, const EventObject&, const EventObject& after) {
                         const bool helps = Reads(*pod.spec, ChangedLabel(after));
                         return Result<QueueingHint>(helps ? QueueingHint::kQueue
                                                           : QueueingHint::kSkip);
                       },
                       framework::HintScope::kSpec,
                       [](const api::PodSpec& spec, framework::NodeLabelReads* reads) {
                         const Symbol own(std::to_string(spec.priority.value_or(0)));
                         if (own.view() == "3") reads->others = true;
                         reads->keys = {Symbol("all"), own};
                         reads->additions = {{Symbol("given"), own}};
                       }}};
  plugins["Gate"] = {{kNodeLabel, {}}};
  return plugins;
}
bool PluginWants(const std::string& plugin, const std::string& event, const api::Pod& pod) {
  if (plugin == "A") return event == "NodeAdd";
  if (plugin == "B") return event == "AssignedPodDelete" && pod.Priority() % 2 == 0;
  if (plugin == "C") {
    return event == "NodeAdd" || event == "TargetPodUpdatePodLabel" ||
           event == "AssignedPodUpdatePodLabel";
  }
  if (plugin == "Labels") {
    const Symbol* value = pod.meta.labels.Find(kLabelKey);
    return event == "NodeUpdateNodeTaint" && value != nullptr &&
           (EvenEnd(value->view()) || value->view() == "5");
  }
  const bool claim_added = LabelOf(event) == "PersistentVolumeClaimAdd";
  if (plugin == "Names") {
    return (claim_added || event == "NodeUpdateNodeTaint") && EvenEnd(pod.meta.name);
  }
  if (plugin == "Claims") return claim_added && pod.Priority() != 3 && Uses(pod, ClaimOf(event));
  const bool label_changed = LabelOf(event) == "NodeUpdateNodeLabel";
  if (plugin == "Reads")
    return label_changed && event != LabelOf(event) && Reads(*pod.spec, ClaimOf(event));
  return plugin == "Gate" && label_changed;
}
bool AnyoneRegistered(const std::string& event) {
  return event == "NodeAdd" || event == "AssignedPodDelete" ||
         LabelOf(event) == "NodeUpdateNodeLabel" || event == "NodeUpdateNodeTaint" ||
         LabelOf(event) == "PersistentVolumeClaimAdd";
}

struct ModelPod {
  api::PodPtr pod;
  Store store = Store::kNone;
  TimePoint timestamp{};
  int64_t attempts = 0;
  int64_t unschedulable = 0;
  int64_t errors = 0;
  std::set<std::string> rejecting;
  std::set<std::string> pending;
  std::string gate;
  std::optional<TimePoint> flushed;
  bool flag = false;
};

class Model {
 public:
  explicit Model(const Clock& clock) : clock_(clock) {}

  void Add(const api::PodPtr& pod) {
    Nominate(*pod, pod->status.nominated_node_name.str());
    Drop(pod->meta.name);
    ModelPod& added = pods_.emplace_back();
    added.pod = pod;
    added.timestamp = clock_.Now();
    Place(added, std::nullopt, "UnscheduledPodAdd");
  }

  void Update(const api::Pod& old_pod, const api::PodPtr& pod, bool labels) {
    const std::string event = std::string(pod->node_name.empty() ? "TargetPod" : "AssignedPod") +
                              (labels ? "UpdatePodLabel" : "Update");
    if (InFlight(pod->meta.uid)) {
      log_.push_back({.uid = "", .event = event, .object = pod});
      return;
    }
    ModelPod* stored = Find(pod->meta.name);
    if (stored == nullptr) return Add(pod);
    if (stored->pod->meta.uid != pod->meta.uid) {
      Delete(*stored->pod);
      return Add(pod);
    }
    stored->pod = pod;
    const std::string named = pod->status.nominated_node_name.str();
    const bool silent = named.empty() && old_pod.status.nominated_node_name.empty();
    Nominate(*pod, silent ? NodeOf(pod->meta.uid) : named);
    if (stored->store != Store::kUnschedulable) return;
    const int strategy = Decide(*stored, event, pod);
    if (strategy > 0) Place(*stored, strategy, event);
  }

  void Drop(const std::string& name) {
    std::erase_if(pods_, [&name](const ModelPod& p) { return p.pod->meta.name == name; });
  }

  void Delete(const api::Pod& pod) {
    Nominate(pod, "");
    Drop(std::string(pod.meta.name));
  }

  // An empty node: not any more.
  void Nominate(const api::Pod& pod, const std::string& node) {
    std::erase_if(nominations_, [&pod](const auto& entry) { return entry.first == pod.meta.uid; });
    if (!node.empty()) nominations_.emplace_back(pod.meta.uid, node);
  }
  std::string NodeOf(const std::string& uid) const {
    for (const auto& [nominated, node] : nominations_) {
      if (nominated == uid) return node;
    }
    return "";
  }
  std::vector<std::string> NominatedTo(const std::string& node) const {
    std::vector<std::string> uids;
    for (const auto& [uid, on] : nominations_) {
      if (on == node) uids.push_back(uid);
    }
    return uids;
  }

  void Reconfigure(int backoff_initial_s) {
    backoff_initial_s_ = backoff_initial_s;
    for (ModelPod& p : pods_) {
      const bool active = p.store == Store::kActive;
      p.store = Store::kNone;
      Place(p, active ? std::optional<int>() : std::optional(1), "ConfigurationReload");
    }
    if (!log_.empty())
      log_.push_back({.uid = "", .event = "ConfigurationReload", .object = nullptr});
  }
  void Close() { log_.clear(); }

  // What Pop must return.
  std::optional<ModelPod> Pop() {
    ModelPod* best = nullptr;
    for (ModelPod& p : pods_) {
      if (p.store != Store::kActive) continue;
      if (best == nullptr || Before(p, *best)) best = &p;
    }
    const bool backoff = best == nullptr;
    for (ModelPod& p : pods_) {
      if (!backoff || p.store != Store::kBackoff) continue;
      if (best == nullptr || End(p) < End(*best) || (End(p) == End(*best) && Before(p, *best))) {
        best = &p;
      }
    }
    if (best == nullptr) return std::nullopt;
    if (backoff) Count("active", "PopFromBackoffQ", true);
    ModelPod popped = *best;
    Drop(popped.pod->meta.name);
    ++popped.attempts;
    log_.push_back({.uid = popped.pod->meta.uid, .event = "", .object = nullptr});
    return popped;
  }

  void Done(const std::string& uid) {
    std::erase_if(log_, [&uid](const Logged& l) { return l.uid == uid; });
    while (!log_.empty() && log_.front().uid.empty()) log_.erase(log_.begin());
  }

  void Fail(ModelPod pod) {
    const std::string uid = pod.pod->meta.uid;
    const bool rejected = !pod.rejecting.empty();
    ++(rejected ? pod.unschedulable : pod.errors);
    if (rejected) pod.errors = 0;
    pod.timestamp = clock_.Now();
    pod.flag = false;
    pod.flushed.reset();
    pod.gate.clear();
    int strategy = rejected ? 0 : 1;
    bool after = false;
    for (const Logged& logged : log_) {
      if (after && logged.uid.empty() && rejected) {
        strategy = std::max(strategy, Decide(pod, logged.event, logged.object));
      }
      after |= logged.uid == uid;
    }
    pod.store = Store::kNone;
    pods_.push_back(pod);
    Place(pods_.back(), strategy, "ScheduleAttemptFailure");
    Done(uid);
  }

  void Move(const std::string& event, const SchedulingQueue::PreCheck& precheck) {
    if (!AnyoneRegistered(event)) return;
    for (ModelPod& p : pods_) {
      if (p.store != Store::kUnschedulable || (precheck && !precheck(framework::QueuedPod(p.pod))))
        continue;
      MoveOne(p, event);
    }
    if (!log_.empty()) log_.push_back({.uid = "", .event = event, .object = nullptr});
  }

  void Activate(const api::PodPtr& pod) {
    ModelPod* stored = Find(pod->meta.name);
    if (stored == nullptr) {
      if (InFlight(pod->meta.uid)) {
        log_.push_back({.uid = "", .event = "ForceActivate", .object = pod});
      }
    } else if (stored->store == Store::kUnschedulable) {
      Place(*stored, std::nullopt, "ForceActivate");
    } else if (stored->store != Store::kActive) {
      stored->store = Store::kActive;
      Count("active", "ForceActivate", true);
    }
  }

  void FlushBackoff() {
    for (ModelPod& p : pods_) {
      if (p.store != Store::kBackoff && p.store != Store::kErrorBackoff) continue;
      if (BackingOff(p)) continue;
      p.store = Store::kActive;
      Count("active", "BackoffComplete", true);
    }
  }

  void FlushLeftover() {
    std::vector<std::string> names;
    for (ModelPod& p : pods_) {
      if (p.store != Store::kUnschedulable) continue;
      const TimePoint since =
          p.flushed.has_value() ? std::max(*p.flushed, p.timestamp) : p.timestamp;
      if (clock_.Now() - since <= std::chrono::minutes(5)) continue;
      p.flag = true;
      p.flushed = clock_.Now();
      names.push_back(p.pod->meta.name);
    }
    for (const std::string& name : names) MoveOne(*Find(name), "UnschedulableTimeout");
    if (!names.empty() && !log_.empty()) {
      log_.push_back({.uid = "", .event = "UnschedulableTimeout", .object = nullptr});
    }
  }

  ModelPod* Find(const std::string& name) {
    for (ModelPod& p : pods_) {
      if (p.pod->meta.name == name) return &p;
    }
    return nullptr;
  }
  bool InFlight(const std::string& uid) const {
    return std::any_of(log_.begin(), log_.end(), [&uid](const Logged& l) { return l.uid == uid; });
  }
  size_t EventCount() const {
    return static_cast<size_t>(
        std::count_if(log_.begin(), log_.end(), [](const Logged& l) { return l.uid.empty(); }));
  }
  const std::vector<ModelPod>& pods() const { return pods_; }

  std::set<std::string> gated_names;
  // "pods active NodeAdd" and the like.
  std::map<std::string, int64_t> counters;

 private:
  struct Logged {
    std::string uid;  // a marker; empty: an event
    std::string event;
    api::PodPtr object;
  };

  static bool Before(const ModelPod& a, const ModelPod& b) {
    if (a.pod->Priority() != b.pod->Priority()) return a.pod->Priority() > b.pod->Priority();
    return a.timestamp < b.timestamp;
  }
  TimePoint End(const ModelPod& p) const {
    static constexpr int kFactors[] = {0, 1, 2, 4, 8};
    const int64_t count = p.errors > 0 ? p.errors : p.unschedulable;
    const int seconds = count > 4 ? 10 : std::min(10, backoff_initial_s_ * kFactors[count]);
    return std::chrono::floor<std::chrono::seconds>(p.timestamp + std::chrono::seconds(seconds));
  }
  bool BackingOff(const ModelPod& p) const {
    if (p.errors == 0 && p.unschedulable == 0) return false;
    return End(p) >= std::chrono::floor<std::chrono::seconds>(clock_.Now());
  }

  int Decide(const ModelPod& p, const std::string& event, const api::PodPtr& object) const {
    if (p.rejecting.empty()) return 1;
    if (event == "ForceActivate" || event == "UnschedulableTimeout" ||
        event == "ConfigurationReload") {
      return object == nullptr || object->meta.uid == p.pod->meta.uid ? 1 : 0;
    }
    int strategy = 0;
    for (const std::string& plugin : p.rejecting) {
      if (!PluginWants(plugin, event, *p.pod)) continue;
      strategy = std::max(strategy, p.pending.contains(plugin) ? 2 : 1);
    }
    return strategy;
  }

  void MoveOne(ModelPod& p, const std::string& event) {
    const bool wildcard = event == "UnschedulableTimeout";
    if (!p.gate.empty() && !wildcard && LabelOf(event) != "NodeUpdateNodeLabel") return;
    const int strategy = Decide(p, event, nullptr);
    if (strategy == 0) return;
    p.store = Store::kNone;
    Place(p, strategy, event);
  }

  void Place(ModelPod& p, std::optional<int> strategy, const std::string& label) {
    const bool was_parked = p.store == Store::kUnschedulable;
    if (strategy == 0) {
      p.store = Store::kUnschedulable;
      Count("unschedulable", label, false);
      return;
    }
    if (gated_names.contains(p.pod->meta.name)) {
      p.gate = "Gate";
      p.rejecting.insert("Gate");
      p.flag = false;
      p.store = Store::kUnschedulable;
      if (!was_parked) Count("unschedulable", label, true);
      return;
    }
    p.gate.clear();
    if (strategy == 1 && BackingOff(p)) {
      p.store = p.rejecting.empty() ? Store::kErrorBackoff : Store::kBackoff;
      Count("backoff", label, false);
    } else {
      p.store = Store::kActive;
      Count("active", label, strategy != 2);
    }
  }

  void Count(const std::string& queue, const std::string& label, bool entity) {
    ++counters["pods " + queue + " " + LabelOf(label)];
    if (entity) ++counters["entities " + queue + " " + LabelOf(label)];
  }

  const Clock& clock_;
  int backoff_initial_s_ = 1;
  std::vector<std::pair<std::string, std::string>> nominations_;  // uid, node; oldest first
  std::vector<ModelPod> pods_;
  std::vector<Logged> log_;
};

class QueueModelTest : public QueueTest {
 protected:
  std::map<std::string, int64_t> Counters() const {
    std::map<std::string, int64_t> counters;
    const auto add = [&counters](const std::string& queue, const StoreArrivals& arrivals) {
      for (const auto& [label, count] : arrivals.pods) {
        counters["pods " + queue + " " + label] = count;
      }
      for (const auto& [label, count] : arrivals.entities) {
        counters["entities " + queue + " " + label] = count;
      }
    };
    add("active", queue_->stats().active);
    add("backoff", queue_->stats().backoff);
    add("unschedulable", queue_->stats().unschedulable);
    return counters;
  }

  void Run(uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Make(Plugins());
    Model model(clock_);
    gate_ = [&model](const api::Pod& pod) {
      if (!model.gated_names.contains(pod.meta.name)) return framework::Status();
      return framework::Status(framework::Code::kUnschedulable, {"closed"}, "Gate");
    };
    for (uint64_t step = 0; step < Setting("KS_MODEL_STEPS", kSteps) && !HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      // Mostly fractions of a second, now and then minutes.
      clock_.Advance(random.Below(2000) == 0 ? Duration(std::chrono::minutes(5))
                                             : std::chrono::milliseconds(1 + random.Below(300)));
      Step(random, model);
      CompareCounts(model);
      if (step % 100 == 0) Compare(model);
    }
    Compare(model);
    if (HasFailure()) return;
    // Closed, but what is stored can still be popped.
    queue_->Close();
    model.Close();
    CompareCounts(model);
    while (!HasFailure() && queue_->pending().active + queue_->pending().backoff > 0) {
      PopPod(model);
      const size_t left = queue_->pending().active + queue_->pending().backoff;
      if (left == queue_->stores().PodsIn(Store::kErrorBackoff).size()) break;
    }
    Compare(model);
  }

  static uint64_t Setting(const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
  }

 private:
  struct Flight {
    QueuedPodPtr pod;
    ModelPod model;
  };

  // Pods of one priority share their spec, as pods of one template do.
  api::PodPtr NewPod(Random& random, const std::string& name) {
    const auto priority = static_cast<int32_t>(random.Below(4));
    auto pod = std::make_shared<api::Pod>(
        *MakePod().Name(name).Uid(name + "-" + std::to_string(++uids_)).Priority(priority).Obj());
    auto& spec = specs_[priority];
    if (spec == nullptr) {
      auto made = std::make_shared<api::PodSpec>(*pod->spec);
      if (priority >= 2) made->volumes = Volumes();
      spec = made;
    }
    pod->spec = spec;
    pod->status.nominated_node_name = Symbol(RandomNode(random));
    if (random.Below(5) == 0) pod->node_name = Symbol("n0");  // it waits for its resize there
    return pod;
  }
  // Mostly none.
  static std::string RandomNode(Random& random) {
    const uint64_t choice = random.Below(8);
    return choice < 3 ? "n" + std::to_string(choice) : "";
  }

  void Step(Random& random, Model& model) {
    const std::string name = "p" + std::to_string(random.Below(kNames));
    const uint64_t action = random.Below(100);
    if (action < 18) {
      if (!Known(name, model)) AddPod(NewPod(random, name), model);
    } else if (action < 38) {
      PopPod(model);
    } else if (action < 56) {
      FailPod(random, model);
    } else if (action < 60) {
      DonePod(random, model);
    } else if (action < 68) {
      UpdatePod(random, name, model);
    } else if (action < 72) {
      DeletePod(name, model);
    } else if (action < 85) {
      MovePods(random, model);
    } else if (action < 90) {
      if (const auto pod = Current(name); pod != nullptr) {
        queue_->Activate({pod});
        model.Activate(pod);
      }
    } else if (action < 95) {
      queue_->FlushBackoffCompleted();
      model.FlushBackoff();
    } else if (action < 96) {
      queue_->FlushUnschedulableLeftover();
      model.FlushLeftover();
    } else if (action < 97) {
      if (random.Below(10) == 0) Reconfigure(model);
    } else if (!model.gated_names.erase(name)) {
      model.gated_names.insert(name);
    }
  }

  void Reconfigure(Model& model) {
    const int initial_s = 3 - std::exchange(backoff_initial_s_, 3 - backoff_initial_s_);
    SchedulingQueue::Settings settings;
    settings.profiles = profiles_;
    settings.backoff_initial = std::chrono::seconds(initial_s);
    queue_->Reconfigure(std::move(settings));
    model.Reconfigure(initial_s);
  }

  bool Known(const std::string& name, Model& model) {
    return known_.contains(name) || model.Find(name);
  }
  api::PodPtr Current(const std::string& name) {
    const auto it = known_.find(name);
    return it == known_.end() ? nullptr : it->second;
  }

  void AddPod(const api::PodPtr& pod, Model& model) {
    known_[pod->meta.name] = pod;
    queue_->Add(pod);
    model.Add(pod);
  }

  void PopPod(Model& model) {
    const QueuedPodPtr got = queue_->Pop().pod;
    const std::optional<ModelPod> want = model.Pop();
    ASSERT_EQ(got == nullptr ? "" : got->pod()->meta.uid,
              want.has_value() ? want->pod->meta.uid : "");
    if (got == nullptr) return;
    EXPECT_EQ(got->attempts, want->attempts);
    EXPECT_EQ(got->timestamp, want->timestamp);
    EXPECT_EQ(got->pod(), want->pod);
    flights_.push_back({.pod = got, .model = *want});
  }

  Flight TakeFlight(Random& random) {
    const size_t place = random.Below(flights_.size());
    Flight flight = flights_[place];
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(place));
    return flight;
  }

  void FailPod(Random& random, Model& model) {
    if (flights_.empty()) return;
    Flight flight = TakeFlight(random);
    const std::string name = flight.model.pod->meta.name;
    const auto known = known_.find(name);
    if (known == known_.end() || known->second->meta.uid != flight.model.pod->meta.uid) {
      queue_->Done(flight.model.pod->meta.uid);  // gone or recreated meanwhile
      model.Done(flight.model.pod->meta.uid);
      return;
    }
    std::set<std::string> rejecting;
    std::set<std::string> pending;
    for (const char* plugin : {"A", "B", "C", "Labels", "Names", "Claims", "Reads"}) {
      if (random.Below(4) == 0) rejecting.insert(plugin);
      if (rejecting.contains(plugin) && random.Below(5) == 0) pending.insert(plugin);
    }
    flight.pod->set_pod(known->second);
    flight.model.pod = known->second;
    flight.model.rejecting = rejecting;
    flight.model.pending = pending;
    Fail(flight.pod, rejecting, pending);
    model.Fail(flight.model);
    if (random.Below(3) == 0) {  // what PostFilter found, or that it cannot help
      const std::string node = RandomNode(random);
      queue_->nominator().AddNominatedPod(known->second, framework::NominatingInfo{node});
      model.Nominate(*known->second, node);
    }
  }

  void DonePod(Random& random, Model& model) {
    if (flights_.empty()) return;
    const Flight flight = TakeFlight(random);
    const std::string& uid = flight.model.pod->meta.uid;
    queue_->nominator().DeleteNominatedPodIfExists(*flight.model.pod);
    model.Nominate(*flight.model.pod, "");
    queue_->Done(uid);
    model.Done(uid);
    const auto known = known_.find(flight.model.pod->meta.name);
    if (known != known_.end() && known->second->meta.uid == uid) known_.erase(known);
  }

  void UpdatePod(Random& random, const std::string& name, Model& model) {
    const api::PodPtr old_pod = Current(name);
    if (old_pod == nullptr) return;
    auto changed = std::make_shared<api::Pod>(*old_pod);
    const bool labels = random.Below(2) == 0;
    if (labels) changed->meta.labels.Set(Symbol("k"), Symbol(std::to_string(++label_values_ % 7)));
    const bool really = changed->meta.labels != old_pod->meta.labels;
    if (random.Below(4) == 0) changed->status.nominated_node_name = Symbol(RandomNode(random));
    if (random.Below(40) == 0 && !queue_->IsInFlight(old_pod->meta.uid)) {
      changed->meta.uid =
          name + "-" + std::to_string(++uids_);  // recreated; the deletion was missed
    }
    known_[name] = changed;
    queue_->Update(old_pod, changed);
    model.Update(*old_pod, changed, really);
  }

  void DeletePod(const std::string& name, Model& model) {
    const api::PodPtr pod = Current(name);
    if (pod == nullptr) return;
    known_.erase(name);
    queue_->Delete(*pod);
    model.Delete(*pod);
  }

  void MovePods(Random& random, Model& model) {
    static const ClusterEvent kEvents[] = {kNodeAdd, kAssignedPodDelete, kNodeLabel, kNodeTaint,
                                           kVolumeAdd};
    const ClusterEvent& event = kEvents[random.Below(std::size(kEvents))];
    SchedulingQueue::PreCheck precheck;
    if (random.Below(3) == 0)
      precheck = [](const framework::QueuedPod& pod) { return pod.Priority() <= 1; };
    Send(event, precheck);
    model.Move(event.Label(), precheck);
    if (random.Below(2) == 0) AddClaim(random, model);
    if (random.Below(2) == 0) ChangeLabel(random, model);
  }

  void ChangeLabel(Random& random, Model& model) {
    static const char* const kLabels[] = {"all",     "0",       "1",       "3",
                                          "given=1", "given=2", "given=4", "unread"};
    const std::string label = kLabels[random.Below(std::size(kLabels))];
    const size_t equals = label.find('=');
    const auto with = [&](const std::string& value) {
      const std::string key = label.substr(0, equals);
      return EventObject(ks::testing::MakeNode().Name("n").Label(key, value).Obj());
    };
    const std::string value = equals == std::string::npos ? "new" : label.substr(equals + 1);
    queue_->MoveAllToActiveOrBackoff(kNodeLabel, with("old"), with(value));
    model.Move(kNodeLabel.Label() + " " + label, {});
  }

  void AddClaim(Random& random, Model& model) {
    auto claim = std::make_shared<api::PersistentVolumeClaim>();
    claim->meta.ns = Symbol(random.Below(8) == 0 ? "other" : "ns");
    claim->meta.name =
        random.Below(3) == 0 ? "shared" : "p" + std::to_string(random.Below(kNames)) + "-own";
    queue_->MoveAllToActiveOrBackoff(kClaimAdd, {}, api::PersistentVolumeClaimPtr(claim));
    const std::string name = claim->meta.ns.view() == "ns" ? claim->meta.name : "of another";
    model.Move(kClaimAdd.Label() + " " + name, {});
  }

  void CompareCounts(Model& model) {
    std::map<Store, size_t> stores;
    size_t gated = 0;
    for (const ModelPod& p : model.pods()) {
      ++stores[p.store];
      gated += p.store == Store::kUnschedulable && !p.gate.empty() ? 1 : 0;
    }
    const PendingCounts pending = queue_->pending();
    ASSERT_EQ(pending.active, stores[Store::kActive]);
    ASSERT_EQ(pending.backoff, stores[Store::kBackoff] + stores[Store::kErrorBackoff]);
    ASSERT_EQ(pending.gated, gated);
    ASSERT_EQ(pending.unschedulable, stores[Store::kUnschedulable] - gated);
    ASSERT_EQ(queue_->in_flight().event_count(), model.EventCount());
  }

  void Compare(Model& model) {
    std::map<std::pair<std::string, std::string>, int64_t> rejections;
    for (const ModelPod& p : model.pods()) {
      const framework::QueuedPod* got = queue_->stores().FindPod("ns/" + p.pod->meta.name);
      ASSERT_NE(got, nullptr);
      SCOPED_TRACE(p.pod->meta.name);
      EXPECT_EQ(got->pod(), p.pod);
      EXPECT_EQ(StoreOf(p.pod->meta.name), p.store);
      EXPECT_EQ(got->timestamp, p.timestamp);
      EXPECT_EQ(got->unschedulable_count, p.unschedulable);
      EXPECT_EQ(got->consecutive_errors_count, p.errors);
      EXPECT_EQ(got->unschedulable_plugins, p.rejecting);
      EXPECT_EQ(got->gating_plugin.view(), p.gate);
      EXPECT_EQ(got->was_flushed_from_unschedulable, p.flag);
      EXPECT_EQ(got->flush_timestamp, p.flushed);
      for (const std::string& plugin : p.rejecting) ++rejections[{plugin, "default-scheduler"}];
    }
    auto got_rejections = queue_->stats().unschedulable_pods;
    std::erase_if(got_rejections, [](const auto& entry) { return entry.second == 0; });
    EXPECT_EQ(got_rejections, rejections);
    for (const char* node : {"n0", "n1", "n2"}) CompareNominations(model, node);
    EXPECT_EQ(Counters(), model.counters);
  }

  void CompareNominations(Model& model, const std::string& node) {
    std::vector<std::string> uids;
    for (const framework::PodInfoPtr& info : queue_->nominator().NominatedPodsForNode(node)) {
      uids.push_back(info->pod().meta.uid);
      const ModelPod* stored = model.Find(info->pod().meta.name);
      if (stored != nullptr && stored->pod->meta.uid == info->pod().meta.uid) {
        EXPECT_EQ(info->ptr(), stored->pod);
      } else {
        EXPECT_EQ(info->pod().Priority(), 0) << "known by its identity only";
      }
    }
    EXPECT_EQ(uids, model.NominatedTo(node)) << node;
  }

  std::map<std::string, api::PodPtr> known_;                      // as the informer sees them
  std::map<int32_t, std::shared_ptr<const api::PodSpec>> specs_;  // by priority
  int backoff_initial_s_ = 1;
  std::vector<Flight> flights_;
  int uids_ = 0;
  int label_values_ = 0;
};

TEST_F(QueueModelTest, AgreesWithTheModel) {
  Run(Setting("KS_MODEL_SEED", kSeed));
  if (HasFailure()) return;
  // The run is worth something only if everything happened in it.
  for (const char* counter : {"pods active UnscheduledPodAdd",
                              "pods active NodeAdd",
                              "pods active BackoffComplete",
                              "pods active PopFromBackoffQ",
                              "pods active ForceActivate",
                              "pods active UnschedulableTimeout",
                              "pods active AssignedPodDelete",
                              "pods active ScheduleAttemptFailure",
                              "pods active TargetPodUpdatePodLabel",
                              "pods backoff NodeAdd",
                              "pods backoff ScheduleAttemptFailure",
                              "pods backoff TargetPodUpdatePodLabel",
                              "pods unschedulable NodeUpdateNodeLabel",
                              "pods active NodeUpdateNodeLabel",
                              "pods unschedulable UnscheduledPodAdd",
                              "pods unschedulable ScheduleAttemptFailure",
                              "pods unschedulable UnschedulableTimeout",
                              "pods active NodeUpdateNodeTaint",
                              "pods backoff NodeUpdateNodeTaint",
                              "pods active PersistentVolumeClaimAdd",
                              "pods backoff PersistentVolumeClaimAdd",
                              "pods active ConfigurationReload",
                              "pods backoff ConfigurationReload"}) {
    EXPECT_GT(Counters()[counter], 10) << counter;
  }
}

}  // namespace
}  // namespace ks::queue::testing
