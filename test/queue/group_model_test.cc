// SPDX-License-Identifier: Apache-2.0
// A long random run of pod groups against a model that searches everything: each pod is in one
// place, and what that is follows from section 18 of docs/spec/queue.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "group_fixture.h"

namespace ks::queue::testing {
namespace {

using framework::QueuedPodGroupPtr;
using framework::QueuedPodPtr;
using ks::testing::MakePod;

// More are run with KS_MODEL_STEPS, from another seed with KS_MODEL_SEED.
constexpr uint64_t kSteps = 8'000;
constexpr uint64_t kSeed = 20261126;
constexpr BackoffOptions kBackoff;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct ModelPod {
  api::PodPtr pod;
  std::string place;  // "incomplete", "pending", "flight", "active", "parked", or "in"
  std::string root;   // of the entity, in "in"
  std::set<std::string> rejecting;
  TimePoint timestamp{};
  int64_t attempts = 0;

  bool member() const { return GroupQueue::IsMember(*pod); }
  const std::string& leaf() const { return *pod->spec->scheduling_group; }
};

struct ModelGroup {
  std::string store;  // "active", "error", "gated"
  TimePoint timestamp{};
  std::optional<TimePoint> end;  // of its backoff
  int64_t attempts = 0;
  int64_t unschedulable = 0;
  int64_t errors = 0;
};

class Model {
 public:
  explicit Model(const FakeForest& forest) : forest_(forest) {}

  TimePoint now{};
  bool gates_by_tree = false;                // `closed` has roots
  std::set<std::string> closed;              // pods that are gated, or roots whose members are
  std::map<std::string, ModelPod> pods;      // by uid
  std::map<std::string, ModelGroup> groups;  // by root
  std::optional<std::string> last_popped;

  ModelPod* Named(const std::string& name) {
    for (auto& [uid, pod] : pods) {
      if (pod.pod->meta.name == name && pod.place != "flight") return &pod;
    }
    return nullptr;
  }

  void Add(const api::PodPtr& pod, TimePoint timestamp) {
    ModelPod& added = pods[pod->meta.uid];
    added = {.pod = pod, .place = {}, .root = {}, .rejecting = {}, .timestamp = timestamp};
    if (added.member()) {
      Settle(added);
    } else {
      added.place = "active";
    }
  }

  void Delete(const std::string& uid) {
    const ModelPod gone = pods.at(uid);
    pods.erase(uid);
    if (gone.place == "in") PlaceAgain(gone.root);
  }

  void Return(ModelPod& pod, const std::set<std::string>& rejecting) {
    pod.rejecting = rejecting;
    pod.timestamp = now;
    if (pod.member()) {
      Settle(pod);
    } else {
      last_popped.reset();
      pod.place = "parked";
    }
  }

  // False: there is one already.
  bool ReturnGroup(const std::string& root, const ModelGroup& popped,
                   const std::set<std::string>& tried, ReturnStatus status) {
    last_popped.reset();
    if (groups.contains(root)) return false;
    const std::vector<ModelPod*> members = Pending(root);
    if (members.empty()) return true;
    ModelGroup& next = groups[root] = popped;
    next.end.reset();
    bool some_tried = false;
    for (ModelPod* pod : members) {
      some_tried |= tried.contains(pod->pod->meta.uid);
      pod->place = "in";
      pod->root = root;
    }
    if (status == ReturnStatus::kSuccess) next.unschedulable = next.errors = 0;
    if (status == ReturnStatus::kRejected) {
      ++next.unschedulable;
      next.errors = 0;
    }
    if (status == ReturnStatus::kError) ++next.errors;
    if (status != ReturnStatus::kSuccess || !some_tried) next.timestamp = now;
    Place(root, status == ReturnStatus::kSuccess ? "active" : "backoff");
    return true;
  }

  void ObjectAdded(const PodGroupKey& key) {
    const auto root = forest_.RootOf(key);
    if (!root) return;
    std::vector<ModelPod*> found;
    for (auto& [uid, pod] : pods) {
      if (pod.place == "incomplete" && RootOf(pod) == root->name) found.push_back(&pod);
    }
    const std::vector<std::string> leaves = Leaves(*root);
    std::sort(found.begin(), found.end(), [&leaves](const ModelPod* a, const ModelPod* b) {
      const auto rank = [&leaves](const ModelPod& pod) {
        return std::tuple(std::find(leaves.begin(), leaves.end(), pod.leaf()), pod.timestamp,
                          pod.pod->meta.name);
      };
      return rank(*a) < rank(*b);
    });
    for (ModelPod* pod : found) Settle(*pod);
  }

  void ObjectRemoved() {
    std::set<std::string> lost;
    for (auto& [uid, pod] : pods) {
      if ((pod.place != "in" && pod.place != "pending") || !RootOf(pod).empty()) continue;
      if (pod.place == "in") lost.insert(pod.root);
      pod.place = "incomplete";
    }
    for (const std::string& root : lost) PlaceAgain(root);
  }

  // An event about the group, or one of the member itself that its gate listens to.
  void PodAdded(const std::string& leaf) {
    const auto root = forest_.RootOf(Leaf(leaf));
    Wake([&](const std::string& of) { return root && root->name == of; });
  }
  void Updated(const ModelPod& pod) {
    if (pod.place != "in" || groups.at(pod.root).store != "gated") return;
    const std::string root = pod.root;
    WakeOne(root, true);
  }

  void Activate(const ModelPod& pod) {
    if (pod.place != "in") return;
    ModelGroup& group = groups.at(pod.root);
    if (group.store == "error" || (group.store == "gated" && Passes(pod.root))) {
      group.store = "active";
    }
  }

  void Flush() {
    for (auto& [root, group] : groups) {
      if (group.store == "error" && !BackingOff(root)) group.store = "active";
    }
  }

  std::vector<ModelPod*> Of(const std::string& root) {
    std::vector<ModelPod*> members;
    for (auto& [uid, pod] : pods) {
      if (pod.place == "in" && pod.root == root) members.push_back(&pod);
    }
    return members;
  }

  bool Closed(const api::Pod& pod) const {
    if (!gates_by_tree) return closed.contains(pod.meta.name);
    const auto root = forest_.RootOf(Leaf(*pod.spec->scheduling_group));
    return root && closed.contains(root->name);
  }

  // As GroupFixture::Stored.
  std::string Stored() const {
    std::map<std::string, std::set<std::string>> names;
    for (const auto& [uid, pod] : pods) {
      if (pod.place == "flight") continue;
      names[pod.place == "in" ? groups.at(pod.root).store + " " + pod.root : pod.place].insert(
          pod.pod->meta.name);
    }
    std::string text;
    for (const auto& [place, in] : names) {
      text += (text.empty() ? "" : "; ") + place + "[";
      for (const std::string& pod : in) text += (pod == *in.begin() ? "" : " ") + pod;
      text += "]";
    }
    return text;
  }

  // A popped group's members as GroupFixture::Names says.
  std::string Order(const PodGroupKey& root) {
    std::string text;
    for (const std::string& leaf : Leaves(root)) {
      std::vector<ModelPod*> members;
      for (ModelPod* pod : Of(root.name)) {
        if (pod->leaf() == leaf) members.push_back(pod);
      }
      std::sort(members.begin(), members.end(), [](const ModelPod* a, const ModelPod* b) {
        const auto rank = [](const ModelPod& pod) {
          return std::tuple(-pod.pod->Priority(), -pod.attempts, pod.timestamp, pod.pod->meta.name);
        };
        return rank(*a) < rank(*b);
      });
      if (members.empty()) continue;
      text += text.empty() ? "" : " | ";
      for (ModelPod* pod : members) {
        text += (pod == members.front() ? "" : " ") + pod->pod->meta.name;
      }
    }
    return text;
  }

 private:
  std::string RootOf(const ModelPod& pod) const {
    const auto root = forest_.RootOf(Leaf(pod.leaf()));
    return root ? root->name : "";
  }
  std::vector<std::string> Leaves(const PodGroupKey& key) const {
    if (!key.composite) return {key.name};
    std::vector<std::string> leaves;
    for (const PodGroupKey& child : forest_.ChildrenOf(key)) {
      for (const std::string& leaf : Leaves(child)) leaves.push_back(leaf);
    }
    return leaves;
  }

  std::vector<ModelPod*> Pending(const std::string& root) {
    std::vector<ModelPod*> members;
    for (auto& [uid, pod] : pods) {
      if (pod.place == "pending" && RootOf(pod) == root) members.push_back(&pod);
    }
    std::sort(members.begin(), members.end(), [](const ModelPod* a, const ModelPod* b) {
      return std::tie(a->timestamp, a->pod->meta.name) < std::tie(b->timestamp, b->pod->meta.name);
    });
    return members;
  }

  void Settle(ModelPod& pod) {
    const std::string root = RootOf(pod);
    pod.place = root.empty() ? "incomplete" : "in";
    if (root.empty()) return;
    pod.root = root;
    const auto known = groups.find(root);
    if (known != groups.end()) {
      PlaceAgain(root);
    } else if (last_popped == root) {
      pod.place = "pending";
    } else {
      groups[root].timestamp = pod.timestamp;
      Place(root, "active");
    }
  }

  void PlaceAgain(const std::string& root) {
    if (!Of(root).empty()) {
      const std::string former = groups.at(root).store;
      if (former != "gated") Place(root, former == "active" ? "active" : "backoff");
      return;
    }
    groups.erase(root);
    if (last_popped == root) return;
    for (ModelPod* pod : Pending(root)) Settle(*pod);
  }

  bool Passes(const std::string& root) {
    bool passes = true;
    for (ModelPod* pod : Of(root)) {
      if (!Closed(*pod->pod)) continue;
      pod->rejecting.insert("Gang");
      passes = false;
    }
    return passes;
  }

  bool BackingOff(const std::string& root) {
    ModelGroup& group = groups.at(root);
    const int64_t failures = group.errors > 0 ? group.errors : group.unschedulable;
    if (failures == 0) return false;
    if (!group.end) {
      group.end = std::chrono::floor<std::chrono::seconds>(
          group.timestamp + BackoffDuration(kBackoff, failures, Of(root).size()));
    }
    return *group.end >= std::chrono::floor<std::chrono::seconds>(now);
  }

  void Place(const std::string& root, const std::string& wish) {
    const bool waits = wish == "backoff" && BackingOff(root);
    groups.at(root).store = !Passes(root) ? "gated" : waits ? "error" : "active";
  }

  template <class Concerns>
  void Wake(Concerns concerns) {
    std::vector<std::string> roots;
    for (const auto& [root, group] : groups) {
      if (group.store == "gated") roots.push_back(root);
    }
    for (const std::string& root : roots) WakeOne(root, concerns(root));
  }
  void WakeOne(const std::string& root, bool concerned) {
    bool wakes = false;
    for (const ModelPod* pod : Of(root)) {
      wakes |= pod->rejecting.empty() || (concerned && pod->rejecting.contains("Gang"));
    }
    if (wakes) Place(root, "backoff");
  }

  const FakeForest& forest_;
};

class GroupModelTest : public GroupFixture {
 protected:
  struct Attempt {
    QueuedPodGroupPtr group;
    ModelGroup model;
  };

  // `gates_by_tree`: all members of a tree are gated, or none, and the queue knows that.
  void MakeQueue(bool gates_by_tree) {
    model_.gates_by_tree = gates_by_tree;
    gate_ = [this](const api::Pod& pod) {
      if (!GroupQueue::IsMember(pod) || !model_.Closed(pod)) return framework::Status();
      return framework::Status(framework::Code::kUnschedulableAndUnresolvable, {"closed"}, "Gang");
    };
    const auto same_tree = [this](const api::Pod& pod, const EventObject&,
                                  const EventObject& added) -> Result<QueueingHint> {
      const auto mine = forest_.RootOf(Leaf(*pod.spec->scheduling_group));
      const auto& other = std::get<api::PodPtr>(added)->spec->scheduling_group;
      const bool same = mine && mine == forest_.RootOf(Leaf(*other));
      return same ? QueueingHint::kQueue : QueueingHint::kSkip;
    };
    MakeWithGroups({{"Gang",
                     {{kPodAdd, same_tree, framework::HintScope::kGroup},
                      {TargetPod(framework::kActionUpdatePodLabel), {}}}},
                    {"X", {}}},
                   [gates_by_tree](SchedulingQueueOptions& options) {
                     if (!gates_by_tree) return;
                     options.profiles.begin()->second.gate_changes_alone = [](const api::Pod&) {
                       return false;
                     };
                   });
  }

  std::string Any(const char* prefix, uint64_t of) {
    return prefix + std::to_string(random_.Below(of));
  }

  void AddPod() {
    const std::string name = Any("p", 24);
    if (model_.Named(name) != nullptr) return;
    const std::string uid = name + "-" + std::to_string(next_uid_++);
    auto pod =
        random_.Below(6) == 0
            ? MakePod().Name(name).Namespace("ns").Uid(uid).Priority(100)
            : MemberOf(Any("g", 6), name).Uid(uid).Priority(static_cast<int32_t>(random_.Below(2)));
    last_add_ = std::max(clock_.Now(), last_add_ + Duration(1));
    const api::PodPtr object = pod.Obj();
    queue_->Add(object);
    model_.Add(object, last_add_);
  }
  void DeletePod() {
    ModelPod* pod = model_.Named(Any("p", 24));
    if (pod == nullptr) return;
    const api::PodPtr object = pod->pod;
    queue_->Delete(*object);
    model_.Delete(object->meta.uid);
  }
  void UpdatePod() {
    ModelPod* pod = model_.Named(Any("p", 24));
    if (pod == nullptr || !pod->member()) return;
    auto changed = std::make_shared<api::Pod>(*pod->pod);
    changed->meta.labels.Set(Symbol("k"), Symbol(std::to_string(next_uid_++)));
    const api::PodPtr before = pod->pod;
    pod->pod = changed;
    queue_->Update(before, changed);
    model_.Updated(*pod);
  }
  void ChangeObject() {
    const PodGroupKey key = random_.Below(3) == 0 ? Composite(Any("c", 3)) : Leaf(Any("g", 6));
    if (!forest_.Has(key)) {
      AddGroup(key, random_.Below(2) == 0 ? Any("c", 3) : "");
      model_.ObjectAdded(key);
    } else if (random_.Below(2) == 0) {
      groups().OnGroupUpdate(key);
    } else {
      RemoveGroup(key);
      model_.ObjectRemoved();
    }
  }

  void Pop() {
    if (attempt_) return;  // one cycle at a time
    const Popped popped = queue_->Pop();
    std::optional<TimePoint> first;
    bool pods = false;
    for (const auto& [uid, pod] : model_.pods) {
      if (pod.place != "active") continue;
      if (!pods || pod.timestamp < *first) first = pod.timestamp;
      pods = true;
    }
    for (const auto& [root, group] : model_.groups) {
      if (!pods && group.store == "active" && (!first || group.timestamp < *first)) {
        first = group.timestamp;
      }
    }
    ASSERT_EQ(static_cast<bool>(popped), first.has_value());
    if (!popped) return;
    ASSERT_EQ(popped.pod != nullptr, pods);
    if (pods) {
      ModelPod& pod = model_.pods.at(popped.pod->pod()->meta.uid);
      EXPECT_EQ(pod.timestamp, *first);
      TakeOff(popped.pod);
      model_.last_popped.reset();
      return;
    }
    const PodGroupKey& root = popped.group->root();
    const ModelGroup group = model_.groups.at(root.name);
    EXPECT_EQ(group.timestamp, *first);
    EXPECT_EQ(popped.group->timestamp, group.timestamp);
    EXPECT_EQ(Names(*popped.group), model_.Order(root));
    model_.groups.erase(root.name);
    model_.last_popped = root.name;
    attempt_ = {.group = popped.group, .model = group};
    ++attempt_->model.attempts;
    EXPECT_EQ(popped.group->attempts, attempt_->model.attempts);
    for (const auto& leaf : popped.group->leaves) {
      for (const QueuedPodPtr& pod : leaf.members) TakeOff(pod);
    }
  }
  void TakeOff(const QueuedPodPtr& pod) {
    ModelPod& of = model_.pods.at(pod->pod()->meta.uid);
    of.place = "flight";
    EXPECT_EQ(pod->attempts, ++of.attempts);
    flights_.push_back(pod);
  }

  // A pod in flight is bound, has gone meanwhile, or comes back.
  void Land() {
    if (flights_.empty()) return;
    const size_t place = random_.Below(flights_.size());
    const QueuedPodPtr pod = flights_[place];
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(place));
    const std::string uid = pod->pod()->meta.uid;
    if (random_.Below(3) == 0 || model_.Named(pod->pod()->meta.name) != nullptr) {
      queue_->Done(uid);
      model_.pods.erase(uid);
      return;
    }
    std::set<std::string> rejecting;
    if (!GroupQueue::IsMember(*pod->pod()) || random_.Below(2) == 0) rejecting.insert("X");
    Fail(pod, rejecting);
    model_.Return(model_.pods.at(uid), rejecting);
  }
  void EndAttempt() {
    if (!attempt_) return;
    static constexpr ReturnStatus kAll[] = {ReturnStatus::kSuccess, ReturnStatus::kRejected,
                                            ReturnStatus::kError};
    const ReturnStatus status = kAll[random_.Below(3)];
    std::set<std::string> tried;
    for (const auto& leaf : attempt_->group->leaves) {
      for (const QueuedPodPtr& pod : leaf.members) tried.insert(pod->pod()->meta.uid);
    }
    const bool returned = groups().Return(attempt_->group, status).ok();
    EXPECT_EQ(returned,
              model_.ReturnGroup(attempt_->group->root().name, attempt_->model, tried, status));
    refused_ += returned ? 0 : 1;
    attempt_.reset();
  }

  void Step() {
    clock_.Advance(std::chrono::milliseconds(1 + random_.Below(300)));
    model_.now = clock_.Now();
    const uint64_t kind = random_.Below(20);
    if (kind < 5) AddPod();
    if (kind == 5) DeletePod();
    if (kind == 6) UpdatePod();
    if (kind == 7) ChangeObject();
    if (kind >= 8 && kind < 11) Pop();
    if (kind >= 11 && kind < 14) Land();
    if (kind == 14) EndAttempt();
    if (kind == 15) {
      queue_->FlushBackoffCompleted();
      model_.Flush();
    }
    if (kind == 16) ToggleGate();
    if (kind == 17 || kind == 18) SendPodAdd();
    if (kind == 19) ActivateOne();
  }
  void ToggleGate() {
    if (model_.gates_by_tree) {
      const std::string root = random_.Below(2) == 0 ? Any("c", 3) : Any("g", 6);
      if (model_.closed.erase(root) == 0) model_.closed.insert(root);
      return;
    }
    const std::string name = Any("p", 24);
    const ModelPod* pod = model_.Named(name);
    if (pod == nullptr || !pod->member() || random_.Below(4) != 0) {
      model_.closed.erase(name);
    } else {
      model_.closed.insert(name);
    }
  }
  void SendPodAdd() {
    const std::string leaf = Any("g", 6);
    queue_->MoveAllToActiveOrBackoff(kPodAdd, {}, MemberOf(leaf, "new").Obj());
    model_.PodAdded(leaf);
  }
  void ActivateOne() {
    const ModelPod* pod = model_.Named(Any("p", 24));
    if (pod == nullptr || !pod->member()) return;
    queue_->Activate({pod->pod});
    model_.Activate(*pod);
  }

  void RunSteps() {
    const uint64_t seed = FromEnvironment("KS_MODEL_SEED", kSeed);
    const uint64_t steps = FromEnvironment("KS_MODEL_STEPS", kSteps);
    SCOPED_TRACE("KS_MODEL_SEED=" + std::to_string(seed));
    random_ = Random(seed);
    for (uint64_t step = 0; step < steps; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
      Compare();
      if (HasFailure()) return;
    }
    for (const char* store : {"active", "error", "gated", "incomplete", "pending"}) {
      EXPECT_GT(seen_[store], 0U) << store;
    }
    EXPECT_GT(refused_, 0) << "no return found an entity in its way";
  }

  void Compare() {
    ASSERT_EQ(Stored(), model_.Stored());
    size_t in_flight = 0;
    for (const auto& [uid, pod] : model_.pods) {
      in_flight += pod.place == "flight" ? 1 : 0;
      if (pod.place == "flight") continue;
      const framework::QueuedPod* stored = queue_->stores().FindPod(pod.pod->meta.Key());
      ASSERT_NE(stored, nullptr);
      EXPECT_EQ(stored->pod(), pod.pod);
      EXPECT_EQ(stored->attempts, pod.attempts);
    }
    ASSERT_EQ(queue_->in_flight().pod_count(), in_flight);
    ASSERT_EQ(queue_->stores().size() + in_flight, model_.pods.size());
    size_t groups_stored = 0;
    for (const auto& [root, group] : model_.groups) {
      ++groups_stored;
      const GroupRecord* record = groups().Find(Leaf(root));
      ASSERT_NE(record, nullptr);
      EXPECT_EQ(record->group->PodCount(), model_.Of(root).size());
      EXPECT_EQ(record->group->timestamp, group.timestamp);
      EXPECT_EQ(record->group->unschedulable_count, group.unschedulable);
      EXPECT_EQ(record->group->consecutive_errors_count, group.errors);
      ++seen_[group.store];
    }
    const PendingCounts counts = queue_->pending();
    ASSERT_EQ(counts.groups.active + counts.groups.backoff + counts.groups.unschedulable +
                  counts.groups.gated,
              groups_stored);
    ASSERT_EQ(counts.active + counts.backoff + counts.unschedulable + counts.gated +
                  counts.incomplete + counts.pending,
              queue_->stores().size());
    seen_["incomplete"] += counts.incomplete;
    seen_["pending"] += counts.pending;
  }

  Model model_{forest_};
  Random random_{0};
  TimePoint last_add_{};
  int next_uid_ = 0;
  std::vector<QueuedPodPtr> flights_;
  std::optional<Attempt> attempt_;
  int refused_ = 0;
  std::map<std::string, size_t> seen_;
};

TEST_F(GroupModelTest, AgreesWithTheModel) {
  MakeQueue(false);
  RunSteps();
}

// The queue asks one member for all, and nobody can tell.
TEST_F(GroupModelTest, AgreesWithTheModelWhereTreesAreGatedAsAWhole) {
  MakeQueue(true);
  RunSteps();
}

}  // namespace
}  // namespace ks::queue::testing
