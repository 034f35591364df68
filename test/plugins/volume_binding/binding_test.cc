// SPDX-License-Identifier: Apache-2.0
// Reserve, Unreserve and PreBind of VolumeBinding, on a fake API server under a fake clock
// (docs/spec/plugins-volume.md 2.9 to 2.12 and its traps).
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "framework/runtime/prebind_runner.h"
#include "plugins/volume_binding/volume_world.h"

namespace ks::plugins {
namespace {

using std::chrono::seconds;

// The pod "p" with claim "x" on n1, through PreBind.
class BindingRig : public VolumeWorld {
 public:
  explicit BindingRig(const std::string& args = "null") : VolumeWorld(args) {
    rig.handle.fake_pods().Add(pod);
    for (const framework::NodeInfo* node : rig.nodes()) {
      rig.handle.fake_nodes().Put(node->node_ptr());
    }
    environment_.api = &api;
    environment_.post_to_scheduling_thread = [this](auto task) { inbox_.push_back(task); };
  }

  // Judges all nodes, reserves on n1 and begins PreBind. `uses`: the claims of the pod.
  void Start(const std::vector<std::string>& uses = {"x"}) {
    pod = PodWith(uses).Obj();
    Judge(*pod);
    ASSERT_EQ(Describe(Reserve(pod, "n1")), "Success");
    auto& pre_bind = *rig.As<framework::PreBindPlugin>();
    const auto flight = pre_bind.PreBindPreFlight(rig.state, pod, "n1");
    ASSERT_EQ(Describe(flight.status), "Success");
    EXPECT_TRUE(flight.allow_parallel);
    runner_ = std::make_unique<framework::PreBindRunner>(
        std::vector<std::vector<framework::BindingPoints::PreBindMember>>{
            {{.name = kVolumeBindingName, .plugin = &pre_bind, .meter = nullptr}}},
        framework::PreBindRequest{.state = &rig.state, .pod = pod, .node_name = "n1"}, environment_,
        [this](const framework::Status& status) { result = Describe(status); });
    if (const auto at_once = runner_->Start()) result = Describe(*at_once);
  }

  // Answers the oldest write. The object's next version is `version`.
  void Answer(const std::string& version) {
    ASSERT_TRUE(api.AnswerWrite(std::nullopt, version));
    Run();
  }
  void Refuse(const std::string& message) {
    api::ApiError error;
    error.code = 409;
    error.reason = "Conflict";
    error.message = message;
    ASSERT_TRUE(api.AnswerWrite(error));
    Run();
  }
  // What is posted to the scheduling thread, then a poll.
  void Run() {
    while (!inbox_.empty()) {
      const auto task = inbox_.front();
      inbox_.pop_front();
      task();
    }
    runner_->Poll(rig.handle.clock().Now());
  }
  void Advance(Duration by) {
    rig.handle.fake_clock().Advance(by);
    Run();
  }
  template <class T>
  void Show(const std::shared_ptr<T>& object) {
    put(object);
    Run();
  }
  // The object as another version.
  template <class T>
  static std::shared_ptr<T> Next(const std::shared_ptr<T>& object, const std::string& version) {
    auto next = std::make_shared<T>(*object);
    next->meta.resource_version = version;
    return next;
  }
  framework::PreBindRunner& runner() { return *runner_; }

  api::PodPtr pod = PodWith({"x"}).Obj();
  testing::FakeApiWriter& api = rig.handle.fake_api();
  std::string result = "pending";

 private:
  framework::PreBindEnvironment environment_;
  std::deque<std::function<void()>> inbox_;
  std::unique_ptr<framework::PreBindRunner> runner_;
};

const std::string kFailed = "Error: running PreBind plugin \"VolumeBinding\": ";

// As an EBS volume, where that is migrated.
std::shared_ptr<api::PersistentVolume> Untranslatable(
    std::shared_ptr<api::PersistentVolume> volume) {
  volume->source = api::Volume::Source::kAwsElasticBlockStore;
  volume->source_id = "aws://z/xx";
  return volume;
}
const std::string kUntranslatable =
    "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID Invalid format for "
    "AWS volume (aws://z/xx)";

// A claim with a volume on n1.
struct StaticRig : BindingRig {
  explicit StaticRig(const std::string& args = "null") : BindingRig(args) { put(claim)(volume); }
  std::shared_ptr<api::PersistentVolumeClaim> claim = Claim("x");
  std::shared_ptr<api::PersistentVolume> volume = VolumeOn("pv1", "10Gi", "n1");

  // As the volume is after the write.
  std::shared_ptr<api::PersistentVolume> Written() {
    auto written = std::make_shared<api::PersistentVolume>(*api.writes[0].volume);
    written->meta.resource_version = "9";
    return written;
  }
  std::shared_ptr<api::PersistentVolumeClaim> Bound() { return Next(BoundClaim("x", "pv1"), "6"); }
};

// A claim that a driver provisions.
struct ProvisioningRig : BindingRig {
  ProvisioningRig() {
    put(Class("wait", "drv"))(Claim("x"));
    Start();
  }
  std::shared_ptr<api::PersistentVolumeClaim> Written() {
    auto written = std::make_shared<api::PersistentVolumeClaim>(*api.writes[0].claim);
    written->meta.resource_version = "8";
    return written;
  }
};

TEST(VolumeBindingReserve, AssumesAVolumeForItsClaim) {
  StaticRig rig;
  rig.Start();
  const auto assumed = rig.storage.CurrentVolume("pv1");
  ASSERT_TRUE(assumed->claim_ref);
  EXPECT_EQ(*assumed->claim_ref,
            (api::ClaimReference{"PersistentVolumeClaim", "v1", "ns", "x", "uid-x", "5"}));
  EXPECT_TRUE(assumed->bound_by_controller);
  EXPECT_FALSE(rig.storage.FindVolume("pv1")->claim_ref) << "the API server's stays";
  ASSERT_EQ(rig.api.writes.size(), 1u);
  EXPECT_EQ(rig.api.writes[0].volume, assumed);
  // Trap 25: another pod that shares the claim sees the volume taken for it, and gets it.
  VolumeWorld& world = rig;
  EXPECT_EQ(world.Judge(*PodWith({"x"}).Obj()).substr(0, 5), "n1: 0");
}

// E13: reserved by an administrator, without uid.
TEST(VolumeBindingReserve, AReservedVolumeGetsTheWholeReferenceButNoAnnotation) {
  StaticRig rig;
  rig.volume = BindingRig::Next(rig.volume, "8");
  rig.volume->claim_ref = api::ClaimReference{
      .kind = {}, .api_version = {}, .ns = "ns", .name = "x", .uid = {}, .resource_version = {}};
  rig.put(rig.volume);
  rig.Start();
  const auto assumed = rig.storage.CurrentVolume("pv1");
  EXPECT_EQ(assumed->claim_ref->uid, "uid-x");
  EXPECT_EQ(assumed->claim_ref->kind, "PersistentVolumeClaim");
  EXPECT_FALSE(assumed->bound_by_controller);
}

TEST(VolumeBindingReserve, AVolumeThatNeedsNoChangeIsWrittenAllTheSame) {
  StaticRig rig;
  rig.volume = BindingRig::Next(rig.volume, "8");
  rig.volume->claim_ref =
      api::ClaimReference{"PersistentVolumeClaim", "v1", "ns", "x", "uid-x", "5"};
  rig.put(rig.volume);
  rig.Start();
  ASSERT_EQ(rig.api.writes.size(), 1u);
  EXPECT_EQ(rig.api.writes[0].volume->meta.resource_version, "8");
}

TEST(VolumeBindingReserve, UnreserveTakesEverythingBack) {
  StaticRig rig;
  rig.put(Class("dyn", "drv"));
  auto dynamic = Claim("y");
  dynamic->storage_class_name = Symbol("dyn");
  rig.put(dynamic);
  rig.Start({"x", "y"});
  EXPECT_EQ(rig.storage.CurrentClaim("ns/y")->selected_node, "n1");
  rig.Unreserve(rig.pod, "n1");
  EXPECT_FALSE(rig.storage.CurrentVolume("pv1")->claim_ref);
  EXPECT_FALSE(rig.storage.CurrentClaim("ns/y")->selected_node);
  rig.Unreserve(rig.pod, "n1");  // idempotent
}

TEST(VolumeBindingReserve, AFailureTakesBackWhatItAssumed) {
  StaticRig rig;
  rig.put(Class("dyn", "drv"));
  auto dynamic = Claim("y");
  dynamic->storage_class_name = Symbol("dyn");
  rig.put(dynamic);
  const api::PodPtr pod = PodWith({"x", "y"}).Obj();
  rig.Judge(*pod);
  rig.put(BindingRig::Next(dynamic, "6"));  // after Filter, as an extender's round allows
  EXPECT_EQ(Describe(rig.Reserve(pod, "n1")),
            "Error: \"ns/y\" is out of sync (stored: 6, assume: 5)");
  EXPECT_FALSE(rig.storage.CurrentVolume("pv1")->claim_ref);
}

TEST(VolumeBindingReserve, NothingIsLeftToDoForBoundClaims) {
  BindingRig rig;
  rig.put(BoundClaim("x", "pv1"))(Volume("pv1", "10Gi"));
  const api::PodPtr pod = PodWith({"x"}).Obj();
  rig.Judge(*pod);
  EXPECT_EQ(Describe(rig.Reserve(pod, "n1")), "Success");
  EXPECT_EQ(Describe(rig.rig.As<framework::PreBindPlugin>()
                         ->PreBindPreFlight(rig.rig.state, pod, "n1")
                         .status),
            "Skip");
}

// Without a pre-flight the framework asks PreBind itself.
TEST(VolumeBindingPreBind, HasNothingToDoWithoutClaims) {
  BindingRig rig;
  const api::PodPtr pod = PodWith({}).Obj();
  EXPECT_EQ(rig.PreFilter(*pod), "Skip");
  ASSERT_TRUE(rig.Reserve(pod, "n1").ok());
  const framework::PreBindStep step =
      rig.rig.As<framework::PreBindPlugin>()->PreBind(rig.rig.state, pod, "n1")->Next({});
  EXPECT_TRUE(step.finished);
  EXPECT_TRUE(step.status.ok());
}

// Members of a group reserve twice.
TEST(VolumeBindingReserve, AFixedStateReservesAgainWhatItDid) {
  for (const bool fixed : {true, false}) {
    SCOPED_TRACE(fixed);
    StaticRig rig;
    rig.Judge(*rig.pod);
    if (fixed) rig.rig.state.Fix(*rig.rig.nodes()[0]);
    ASSERT_TRUE(rig.Reserve(rig.pod, "n1").ok());
    rig.Unreserve(rig.pod, "n1");
    ASSERT_FALSE(rig.storage.CurrentVolume("pv1")->claim_ref);
    EXPECT_TRUE(rig.Reserve(rig.pod, "n1").ok());
    EXPECT_EQ(rig.storage.CurrentVolume("pv1")->claim_ref.has_value(), fixed);
  }
}

TEST(VolumeBindingReserve, PreFlightMissesTheNode) {
  StaticRig rig;
  rig.Judge(*rig.pod);
  EXPECT_EQ(Describe(rig.rig.As<framework::PreBindPlugin>()
                         ->PreBindPreFlight(rig.rig.state, rig.pod, "n1")
                         .status),
            "Error: no pod volume found for node \"n1\"");
}

// ---- PreBind: a volume for a claim ----

TEST(VolumeBindingPreBind, WaitsForTheClaimAndNotLonger) {
  StaticRig rig;
  rig.Start();
  rig.Answer("9");
  EXPECT_EQ(rig.result, "pending");
  rig.Show(rig.Bound());
  EXPECT_EQ(rig.result, "pending") << "row 4: the volume's version is not known yet";
  rig.Show(rig.Written());
  EXPECT_EQ(rig.result, "Success");
}

// E26.
TEST(VolumeBindingPreBind, TimesOut) {
  StaticRig rig(R"({"bindTimeoutSeconds": 3})");
  rig.Start();
  rig.Answer("9");
  rig.Show(rig.Written());
  rig.Advance(seconds(2));
  EXPECT_EQ(rig.result, "pending");
  rig.Advance(seconds(1));
  EXPECT_EQ(rig.result, kFailed + "binding volumes: context deadline exceeded");
  // Trap 26: what is written stays.
  rig.Unreserve(rig.pod, "n1");
  EXPECT_TRUE(rig.storage.CurrentVolume("pv1")->claim_ref);
}

// Trap 10.
TEST(VolumeBindingPreBind, NoTimeMeansFailureEvenIfAllIsBound) {
  StaticRig rig(R"({"bindTimeoutSeconds": 0})");
  rig.Start();
  rig.put(rig.Bound())(rig.Written());
  rig.Answer("9");
  EXPECT_EQ(rig.result, kFailed + "binding volumes: context deadline exceeded");
}

TEST(VolumeBindingPreBind, AFailedWriteEndsItAndTakesBackTheRest) {
  BindingRig rig;
  rig.put(Claim("x"))(Claim("y", "20Gi"));
  rig.put(VolumeOn("a", "10Gi", "n1"))(VolumeOn("b", "20Gi", "n1"))(VolumeOn("c", "30Gi", "n1"));
  rig.put(Claim("z", "30Gi"));
  rig.Start({"x", "y", "z"});
  ASSERT_EQ(rig.api.writes.size(), 1u) << "one after the other";
  rig.Answer("9");
  ASSERT_EQ(rig.api.writes.size(), 2u);
  rig.Refuse("the object has been modified");
  EXPECT_EQ(rig.result, kFailed + "the object has been modified");
  EXPECT_EQ(rig.api.writes.size(), 2u);
  EXPECT_TRUE(rig.storage.CurrentVolume("a")->claim_ref) << "written";
  EXPECT_FALSE(rig.storage.CurrentVolume("b")->claim_ref);
  EXPECT_FALSE(rig.storage.CurrentVolume("c")->claim_ref);
  rig.Unreserve(rig.pod, "n1");
  EXPECT_TRUE(rig.storage.CurrentVolume("a")->claim_ref) << "until the API server shows it";
}

TEST(VolumeBindingPreBind, VolumesAreWrittenBeforeClaims) {
  StaticRig rig;
  rig.put(Class("dyn", "drv"));
  auto dynamic = Claim("y");
  dynamic->storage_class_name = Symbol("dyn");
  rig.put(dynamic);
  rig.Start({"y", "x"});
  ASSERT_EQ(rig.api.writes.size(), 1u);
  EXPECT_NE(rig.api.writes[0].volume, nullptr);
  rig.Answer("9");
  ASSERT_EQ(rig.api.writes.size(), 2u);
  ASSERT_NE(rig.api.writes[1].claim, nullptr);
  EXPECT_EQ(rig.api.writes[1].claim->selected_node, "n1");
}

TEST(VolumeBindingPreBind, CancelWhileAWriteIsUnderWay) {
  StaticRig rig;
  rig.Start();
  EXPECT_TRUE(rig.runner().Cancel("preempted"));
  rig.Run();
  EXPECT_EQ(rig.result, "pending") << "the write may still succeed";
  rig.Answer("9");
  EXPECT_EQ(rig.result, kFailed + "preempted");
  rig.Unreserve(rig.pod, "n1");
  EXPECT_TRUE(rig.storage.CurrentVolume("pv1")->claim_ref) << "it was written";
}

struct Failure {
  const char* name;
  std::function<void(StaticRig&)> change;
  std::string want;
};

TEST(VolumeBindingPreBind, EveryFailureOfABinding) {
  const Failure failures[] = {
      {"node", [](StaticRig& rig) { rig.rig.handle.fake_nodes().Remove("n1"); },
       "failed to get node \"n1\": node \"n1\" not found"},
      {"volume", [](StaticRig& rig) { rig.put.Delete(rig.volume); },
       "failed to check binding: persistentvolumes \"pv1\" not found"},
      {"claim", [](StaticRig& rig) { rig.put.Delete(rig.claim); },
       "failed to check binding: persistentvolumeclaims \"ns/x\" not found"},
      {"affinity",
       [](StaticRig& rig) {
         rig.rig.handle.fake_nodes().Put(testing::MakeNode().Name("n1").Obj());
         rig.put(rig.Written());
       },
       "pv \"pv1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
      {"reference",
       [](StaticRig& rig) {
         auto reset = rig.Written();
         reset->claim_ref.reset();
         rig.put(reset);
       },
       "ClaimRef got reset for pv \"pv1\""},
      {"referenceWithoutUid",
       [](StaticRig& rig) {
         auto reset = rig.Written();
         reset->claim_ref->uid.clear();
         rig.put(reset);
       },
       "ClaimRef got reset for pv \"pv1\""},
      {"translationBeforeTheReference",
       [](StaticRig& rig) {
         auto broken = Untranslatable(rig.Written());
         broken->claim_ref.reset();
         rig.put(broken)(MigratedNode("n1", "kubernetes.io/aws-ebs"));
       },
       "failed to translate pv to csi: " + kUntranslatable},
      {"translatedAffinity",
       [](StaticRig& rig) {
         auto moved = rig.Written();
         moved->source = api::Volume::Source::kGcePersistentDisk;
         moved->meta.labels = testing::MakeLabels({{"topology.kubernetes.io/zone", "z"}});
         rig.put(moved)(MigratedNode("n1", "kubernetes.io/gce-pd"));
       },
       "pv \"pv1\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
  };
  for (const Failure& row : failures) {
    SCOPED_TRACE(row.name);
    StaticRig rig;
    rig.Start();
    rig.Answer("9");
    ASSERT_EQ(rig.result, "pending");
    row.change(rig);
    rig.Run();
    rig.Advance(seconds(1));
    EXPECT_EQ(rig.result, kFailed + "binding volumes: " + row.want);
  }
}

// A volume that cannot be translated is used all the same where its type is not migrated.
TEST(VolumeBindingPreBind, WhatIsNotMigratedIsNotTranslated) {
  StaticRig rig;
  rig.Start();
  rig.Answer("9");
  rig.put(MigratedNode("n1", "kubernetes.io/gce-pd"));
  rig.put(MigratedNode("n2", "kubernetes.io/aws-ebs"));
  rig.put(rig.Bound());
  rig.Show(Untranslatable(rig.Written()));
  EXPECT_EQ(rig.result, "Success");
}

TEST(VolumeBindingPreBind, ANodeThatMigratesDuringTheWaitIsNoticedAtOnce) {
  StaticRig rig;
  rig.Start();
  rig.Answer("9");
  rig.Show(Untranslatable(rig.Written()));
  EXPECT_EQ(rig.result, "pending");
  rig.Show(MigratedNode("n2", "kubernetes.io/aws-ebs"));
  EXPECT_EQ(rig.result, "pending");
  rig.Show(MigratedNode("n1", "kubernetes.io/aws-ebs"));
  EXPECT_EQ(rig.result,
            kFailed + "binding volumes: failed to translate pv to csi: " + kUntranslatable);
}

TEST(VolumeBindingPreBind, ThePodIsGone) {
  StaticRig rig;
  rig.pod = testing::MakePod().Name("other").Obj();
  rig.Judge(*PodWith({"x"}).Obj());
  const api::PodPtr gone = PodWith({"x"}).Name("gone").Obj();
  ASSERT_TRUE(rig.Reserve(gone, "n1").ok());
  const auto sequence = rig.rig.As<framework::PreBindPlugin>()->PreBind(rig.rig.state, gone, "n1");
  ASSERT_EQ(sequence->Next({}).calls.size(), 1u);
  const framework::PreBindStep step = sequence->Next({});
  EXPECT_TRUE(step.finished);
  EXPECT_EQ(Describe(step.status),
            "Error: binding volumes: pod does not exist any more: pod \"gone\" not found");
}

// ---- PreBind: a claim to provision ----

TEST(VolumeBindingPreBind, WaitsForTheProvisioner) {
  ProvisioningRig rig;
  rig.Answer("8");
  rig.Show(rig.Written());
  EXPECT_EQ(rig.result, "pending");
  auto made = BindingRig::Next(rig.Written(), "9");
  made->volume_name = "made";
  made->bind_completed = true;
  rig.Show(made);
  EXPECT_EQ(rig.result, "pending") << "row 13: the volume is not known yet";
  rig.Show(VolumeOn("made", "10Gi", "n1"));
  EXPECT_EQ(rig.result, "Success");
}

struct ClaimFailure {
  const char* name;
  std::function<void(ProvisioningRig&, api::PersistentVolumeClaim&)> change;
  std::string want;
};

TEST(VolumeBindingPreBind, EveryFailureOfAProvision) {
  const ClaimFailure failures[] = {
      {"E27",
       [](ProvisioningRig&, api::PersistentVolumeClaim& claim) { claim.selected_node.reset(); },
       "provisioning failed for PVC \"x\""},
      {"otherNode",
       [](ProvisioningRig&, api::PersistentVolumeClaim& claim) { claim.selected_node = "n2"; },
       "provisioning failed for PVC \"x\""},
      {"noAnnotations",
       [](ProvisioningRig&, api::PersistentVolumeClaim& claim) {
         claim.selected_node.reset();
         claim.has_annotations = false;
       },
       "selectedNode annotation reset for PVC \"x\""},
      {"elsewhere",
       [](ProvisioningRig& rig, api::PersistentVolumeClaim& claim) {
         rig.put(VolumeOn("made", "10Gi", "n2"));
         claim.volume_name = "made";
       },
       "pv \"made\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms"},
      {"translation",
       [](ProvisioningRig& rig, api::PersistentVolumeClaim& claim) {
         rig.put(Untranslatable(VolumeOn("made", "10Gi", "n1")));
         rig.put(MigratedNode("n1", "kubernetes.io/aws-ebs"));
         claim.volume_name = "made";
       },
       kUntranslatable},
  };
  for (const ClaimFailure& row : failures) {
    SCOPED_TRACE(row.name);
    ProvisioningRig rig;
    rig.Answer("8");
    auto changed = BindingRig::Next(rig.Written(), "9");
    row.change(rig, *changed);
    rig.Show(changed);
    EXPECT_EQ(rig.result, kFailed + "binding volumes: " + row.want);
  }
  ProvisioningRig rig;
  rig.Answer("8");
  rig.put.Delete(rig.Written());
  rig.Run();
  EXPECT_EQ(rig.result,
            kFailed +
                "binding volumes: failed to check provisioning pvc: persistentvolumeclaims "
                "\"ns/x\" not found");
}

// Versions are numbers: "10" is newer than "9".
TEST(VolumeBindingPreBind, WrittenVersionsAreComparedAsNumbers) {
  StaticRig rig;
  rig.Start();
  rig.Answer("10");
  rig.put(rig.Bound());
  auto older = rig.Written();  // "9"
  rig.Show(older);
  EXPECT_EQ(rig.result, "pending");
  rig.Show(BindingRig::Next(older, "10"));
  EXPECT_EQ(rig.result, "Success");
}

// ---- metrics ----

// The lines about volumes of /metrics, without their family's name.
std::vector<std::string> ErrorCounts(BindingRig& rig) {
  constexpr std::string_view kFamily = "scheduler_volume_scheduling_stage_error_total";
  std::vector<std::string> counts;
  std::istringstream text(rig.rig.handle.metrics().Text());
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kFamily)) counts.push_back(line.substr(kFamily.size()));
  }
  return counts;
}
using Counts = std::vector<std::string>;

TEST(VolumeBindingMetrics, SuccessesAndRejectionsDoNotCount) {
  StaticRig rig;
  rig.Judge(*PodWith({"x"}).Obj());      // n2 has no volume
  rig.PreFilter(*PodWith({"z"}).Obj());  // there is no such claim
  rig.Start();
  rig.Answer("9");
  rig.put(rig.Bound());
  rig.Show(rig.Written());
  ASSERT_EQ(rig.result, "Success");
  EXPECT_EQ(ErrorCounts(rig), Counts());
}

TEST(VolumeBindingMetrics, AFilterThatFailsCounts) {
  BindingRig rig;
  auto claim = Claim("x");
  claim->selector_error = "\"Foo\" is not a valid label selector operator";
  rig.put(claim);
  rig.Judge(*PodWith({"x"}).Obj());
  EXPECT_EQ(ErrorCounts(rig), Counts{"{operation=\"predicate\"} 2"}) << "once a node";
}

TEST(VolumeBindingMetrics, AReserveThatFailsCounts) {
  StaticRig rig;
  rig.Judge(*rig.pod);
  rig.put(BindingRig::Next(rig.volume, "8"));
  ASSERT_FALSE(rig.Reserve(rig.pod, "n1").ok());
  EXPECT_EQ(ErrorCounts(rig), Counts{"{operation=\"assume\"} 1"});
}

TEST(VolumeBindingMetrics, APreBindThatFailsCountsOnce) {
  const Counts one{"{operation=\"bind\"} 1"};
  {
    StaticRig rig;
    rig.Start();
    rig.Refuse("the object has been modified");
    EXPECT_EQ(ErrorCounts(rig), one);
  }
  {
    StaticRig rig(R"({"bindTimeoutSeconds": 1})");
    rig.Start();
    rig.Answer("9");
    EXPECT_EQ(ErrorCounts(rig), Counts());
    rig.Advance(seconds(1));
    ASSERT_NE(rig.result, "pending");
    EXPECT_EQ(ErrorCounts(rig), one);
  }
  {
    StaticRig rig;
    rig.Start();
    rig.runner().Cancel("preempted");
    rig.Answer("9");
    ASSERT_EQ(rig.result, kFailed + "preempted");
    EXPECT_EQ(ErrorCounts(rig), one);
  }
}

// ---- hints ----

std::string Hint(framework::EventResource resource, const api::Pod& pod,
                 const framework::EventObject& before, const framework::EventObject& after) {
  PluginRig rig(NewVolumeBinding);
  for (const auto& registration : rig.As<framework::EnqueueExtensions>()->EventsToRegister()) {
    if (registration.event.resource != resource) continue;
    if (!registration.hint) return "Queue";
    const auto answer = registration.hint(pod, before, after);
    return answer.ok() && *answer == framework::QueueingHint::kSkip ? "Skip" : "Queue";
  }
  return "not registered";
}

template <class T>
std::string HintOf(framework::EventResource resource, const api::Pod& pod,
                   const std::shared_ptr<T>& before, const std::shared_ptr<T>& after) {
  using Ptr = std::shared_ptr<const T>;
  return Hint(resource, pod,
              before ? framework::EventObject(Ptr(before)) : framework::EventObject(),
              after ? framework::EventObject(Ptr(after)) : framework::EventObject());
}

TEST(VolumeBindingHints, Events) {
  PluginRig rig(NewVolumeBinding);
  const std::string add_or_update =
      "/" + std::to_string(framework::kActionAdd | framework::kActionUpdate);
  EXPECT_EQ(rig.Events(),
            (std::vector<std::string>{
                "storage.k8s.io/StorageClass" + add_or_update,
                "PersistentVolumeClaim" + add_or_update, "PersistentVolume" + add_or_update,
                "Node/" + std::to_string(framework::kActionAdd | framework::kActionUpdateNodeLabel),
                "storage.k8s.io/CSINode" + add_or_update,
                "storage.k8s.io/CSIDriver/" + std::to_string(framework::kActionUpdate),
                "storage.k8s.io/CSIStorageCapacity" + add_or_update}));
}

TEST(VolumeBindingHints, EveryRow) {
  using framework::EventResource;
  const api::PodPtr pod = PodWith({"x"}).Obj();

  const auto plain = Class();
  auto restricted = Class();
  restricted->allowed_topologies = {{{{Symbol("h"), {Symbol("n2")}}}}};
  const auto none_class = std::shared_ptr<api::StorageClass>();
  EXPECT_EQ(HintOf(EventResource::kStorageClass, *pod, none_class, plain), "Queue");
  EXPECT_EQ(HintOf(EventResource::kStorageClass, *pod, plain, Class("wait", "other")), "Skip");
  EXPECT_EQ(HintOf(EventResource::kStorageClass, *pod, plain, restricted), "Queue");

  auto elsewhere = Claim("x");
  elsewhere->meta.ns = Symbol("other");
  const auto none_claim = std::shared_ptr<api::PersistentVolumeClaim>();
  EXPECT_EQ(HintOf(EventResource::kPersistentVolumeClaim, *pod, none_claim, Claim("x")), "Queue");
  EXPECT_EQ(HintOf(EventResource::kPersistentVolumeClaim, *pod, Claim("x"), Claim("x")), "Queue");
  EXPECT_EQ(HintOf(EventResource::kPersistentVolumeClaim, *pod, none_claim, Claim("y")), "Skip");
  EXPECT_EQ(HintOf(EventResource::kPersistentVolumeClaim, *pod, none_claim, elsewhere), "Skip");
  EXPECT_EQ(HintOf(EventResource::kPersistentVolume, *pod, Volume("a", "1Gi"), Volume("a", "1Gi")),
            "Queue");

  const auto none_node = std::shared_ptr<api::CsiNode>();
  EXPECT_EQ(HintOf(EventResource::kCsiNode, *pod, none_node, MigratedNode("n", "")), "Queue");
  EXPECT_EQ(HintOf(EventResource::kCsiNode, *pod, MigratedNode("n", "a"), MigratedNode("n", "a")),
            "Skip");
  EXPECT_EQ(HintOf(EventResource::kCsiNode, *pod, MigratedNode("n", "a"), MigratedNode("n", "b")),
            "Queue");

  auto with_inline = testing::MakePod();
  api::Volume csi;
  csi.source = api::Volume::Source::kCsi;
  csi.id = "drv";
  with_inline.spec().volumes.push_back(csi);
  const api::PodPtr inlined = with_inline.Obj();
  EXPECT_EQ(HintOf(EventResource::kCsiDriver, *inlined, Driver("drv", true), Driver("drv", false)),
            "Queue");
  EXPECT_EQ(HintOf(EventResource::kCsiDriver, *inlined, Driver("drv", false), Driver("drv", true)),
            "Skip");
  EXPECT_EQ(HintOf(EventResource::kCsiDriver, *inlined, Driver("o", true), Driver("o", false)),
            "Skip");
  // Trap 18: pods with claims are not told.
  EXPECT_EQ(HintOf(EventResource::kCsiDriver, *pod, Driver("drv", true), Driver("drv", false)),
            "Skip");

  const auto none_capacity = std::shared_ptr<api::CsiStorageCapacity>();
  auto unset = Capacity("c", "1Gi", "");
  unset->capacity.reset();
  const auto small = Capacity("c", "1Gi", "");
  const auto large = Capacity("c", "2Gi", "");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, none_capacity, unset), "Queue");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, small, large), "Queue");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, large, small), "Skip");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, small, small), "Skip");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, unset, small), "Queue");
  EXPECT_EQ(HintOf(EventResource::kCsiStorageCapacity, *pod, small, unset), "Skip");
}

}  // namespace
}  // namespace ks::plugins
