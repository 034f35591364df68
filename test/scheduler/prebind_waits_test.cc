// SPDX-License-Identifier: Apache-2.0
#include "scheduler/prebind_waits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace ks::scheduler {
namespace {

using framework::ObjectChange;
using framework::ObjectLog;
using framework::OptionalKind;
using framework::PreBindWait;
using std::chrono::seconds;

using Uids = std::vector<std::string>;

const TimePoint kBegin = TimePoint() + seconds(1000);

ObjectChange ClaimNamed(const std::string& key) {
  return {OptionalKind::kPersistentVolumeClaim, key};
}
ObjectChange VolumeNamed(const std::string& name) {
  return {OptionalKind::kPersistentVolume, name};
}

// Where nothing has to be found out first.
struct Waiting {
  Waiting() { EXPECT_EQ(Due(), Uids()); }
  void Set(const std::string& uid, PreBindWait wait) { waits.Set(uid, std::move(wait)); }
  Uids Due(Duration after = {}) { return waits.Due(kBegin + after, {&log, &other_log}); }

  ObjectLog log{64};
  ObjectLog other_log{64};
  PreBindWaits waits;
};

TEST(PreBindWaits, ThoseWhomAChangeConcerns) {
  Waiting rig;
  rig.Set("a", {.deadline = {}, .objects = {ClaimNamed("ns/x"), VolumeNamed("pv")}});
  rig.Set("b", {.deadline = {}, .objects = {ClaimNamed("ns/y")}});
  rig.Set("c", {.deadline = {}, .objects = {ClaimNamed("ns/x")}});
  (void)rig.Due();
  EXPECT_EQ(rig.Due(), Uids());
  rig.log.Append(ClaimNamed("ns/x"));
  EXPECT_EQ(rig.Due(), (Uids{"a", "c"}));
  EXPECT_EQ(rig.Due(), Uids()) << "a change counts once";
  rig.other_log.Append(ClaimNamed("ns/y"));
  EXPECT_EQ(rig.Due(), Uids{"b"}) << "in the other log";
  rig.log.Append(ClaimNamed("pv"));
  EXPECT_EQ(rig.Due(), Uids()) << "another kind";
  rig.log.Append(VolumeNamed("pv"));
  rig.log.Append(ClaimNamed("ns/y"));
  EXPECT_EQ(rig.Due(), (Uids{"a", "b"}));
  rig.waits.Remove("a");
  rig.Set("b", {.deadline = {}, .objects = {}});
  for (const char* key : {"ns/x", "ns/y"}) rig.log.Append(ClaimNamed(key));
  EXPECT_EQ(rig.Due(), Uids{"c"}) << "the others wait for something else now";
}

TEST(PreBindWaits, DeadlinesAndAnyChange) {
  Waiting rig;
  EXPECT_EQ(rig.waits.NextDeadline(), std::nullopt);
  rig.Set("late", {.deadline = kBegin + seconds(2)});
  rig.Set("soon", {.deadline = kBegin + seconds(1)});
  rig.Set("any", {.deadline = {}, .for_any_change = true});
  (void)rig.Due();
  EXPECT_EQ(rig.waits.NextDeadline(), kBegin + seconds(1));
  EXPECT_EQ(rig.Due(), Uids{"any"});
  EXPECT_EQ(rig.Due(seconds(1)), (Uids{"any", "soon"}));
  rig.Set("soon", {.deadline = kBegin + seconds(3)});
  EXPECT_EQ(rig.waits.NextDeadline(), kBegin + seconds(2));
  EXPECT_EQ(rig.Due(seconds(3)), (Uids{"any", "late", "soon"}));
  for (const char* uid : {"any", "late", "soon"}) rig.waits.Remove(uid);
  EXPECT_EQ(rig.waits.NextDeadline(), std::nullopt);
  EXPECT_EQ(rig.Due(seconds(9)), Uids());
}

TEST(PreBindWaits, AllWhenTheLogDoesNotReachBack) {
  Waiting rig;
  rig.Set("a", {.deadline = {}, .objects = {ClaimNamed("ns/x")}});
  rig.Set("b", {.deadline = {}, .objects = {ClaimNamed("ns/y")}});
  (void)rig.Due();
  for (int i = 0; i < 65; ++i) rig.log.Append(ClaimNamed("ns/other"));
  EXPECT_EQ(rig.Due(), (Uids{"a", "b"}));
}

// Against a plain list of what was said last.
TEST(PreBindWaits, AgreesWithALookAtAll) {
  size_t asked = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Waiting rig;
    std::map<std::string, PreBindWait> model;
    std::vector<ObjectChange> changed;
    Duration now{};
    bool first = true;
    const auto some_object = [&random] {
      const std::string key = "ns/" + std::to_string(random.Below(6));
      return random.Below(2) == 0 ? ClaimNamed(key) : VolumeNamed(key);
    };
    for (int step = 0; step < 200; ++step) {
      const std::string uid = "u" + std::to_string(random.Below(8));
      switch (random.Below(4)) {
        case 0: {
          PreBindWait wait;
          if (random.Below(2) == 0) wait.deadline = kBegin + now + seconds(random.Below(5));
          wait.for_any_change = random.Below(8) == 0;
          for (uint64_t i = random.Below(4); i > 0; --i) wait.objects.push_back(some_object());
          model[uid] = wait;
          rig.Set(uid, std::move(wait));
          break;
        }
        case 1:
          if (random.Below(2) == 0) break;
          model.erase(uid);
          rig.waits.Remove(uid);
          break;
        case 2:
          changed.push_back(some_object());
          rig.log.Append(changed.back());
          break;
        default: {
          if (random.Below(2) == 0) now += seconds(1);
          Uids want;
          for (const auto& [key, wait] : model) {
            const bool concerned = std::any_of(
                wait.objects.begin(), wait.objects.end(), [&changed](const ObjectChange& object) {
                  return std::count(changed.begin(), changed.end(), object) > 0;
                });
            const bool ended = wait.deadline && *wait.deadline <= kBegin + now;
            if (first || wait.for_any_change || concerned || ended) want.push_back(key);
          }
          ASSERT_EQ(rig.Due(now), want);
          asked += want.size();
          first = model.empty();
          changed.clear();
        }
      }
      std::optional<TimePoint> next;
      for (const auto& [key, wait] : model) {
        if (wait.deadline && (!next || *wait.deadline < *next)) next = wait.deadline;
      }
      ASSERT_EQ(rig.waits.NextDeadline(), next);
      ASSERT_EQ(rig.waits.Contains(uid), model.contains(uid));
    }
  }
  EXPECT_GT(asked, 10000u) << "too little happens to say anything";
}

}  // namespace
}  // namespace ks::scheduler
