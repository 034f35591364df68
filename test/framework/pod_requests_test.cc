// SPDX-License-Identifier: Apache-2.0
// Rows 1 to 21 of docs/spec/plugins-node.md 7.1 (ex1 to ex21), and rows 6 to 12 of
// docs/spec/cache.md (cache_ex6 to cache_ex12). Row 13's ephemeral storage has a test of its own.
#include "framework/pod_requests.h"

#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "api/decode/decoder.h"
#include "testing/builders.h"

namespace ks::framework {
namespace {

using testing::MakePod;
using testing::MakeResources;
using testing::PodBuilder;
using testing::Resources;

struct Amounts {
  int64_t milli_cpu = 0;
  int64_t memory = 0;

  friend bool operator==(const Amounts&, const Amounts&) = default;
};
void PrintTo(const Amounts& a, std::ostream* os) { *os << a.milli_cpu << "m/" << a.memory; }

// What a status says about one container.
struct Resize {
  std::string container;
  std::optional<Resources> allocated;
  std::optional<Resources> actual;
};

PodBuilder WithResize(PodBuilder pod, const std::vector<Resize>& resizes,
                      std::string_view pending_reason = "") {
  for (const Resize& resize : resizes) {
    api::ContainerStatus status;
    status.name = resize.container;
    if (resize.allocated) status.allocated_resources = MakeResources(*resize.allocated);
    if (resize.actual) status.resources_requests = MakeResources(*resize.actual);
    pod.pod().status.resources.Mutable().containers.push_back(std::move(status));
  }
  if (!pending_reason.empty()) {
    api::Condition condition;
    condition.type = "PodResizePending";
    condition.reason = pending_reason;
    pod.Condition(condition);
  }
  return pod;
}

PodBuilder WithPodStatus(PodBuilder pod, const Resources& allocated, const Resources& requests) {
  api::PodResourceStatus& resources = pod.pod().status.resources.Mutable();
  resources.allocated = MakeResources(allocated);
  resources.present = true;
  resources.requests = MakeResources(requests);
  return pod;
}

// Pod-level limits are not even decoded.
PodBuilder PodLevelLimits() {
  std::string json = R"({"metadata": {"name": "p"}, "spec": {
      "resources": {"limits": {"cpu": "2", "memory": "1Gi"}},
      "containers": [{"name": "a"}, {"name": "b"}]}})";
  const size_t size = json.size();
  json.append(api::kJsonPadding, ' ');
  api::Decoder decoder;
  PodBuilder pod;
  pod.spec() = *decoder.Object<api::Pod>(std::string_view(json).substr(0, size)).value()->spec;
  return pod;
}

struct RequestCase {
  std::string name;
  PodBuilder pod;
  Amounts want;                          // requested, as a node accounts it
  std::optional<Amounts> want_non_zero;  // where the example names it
  std::optional<Amounts> want_incoming;  // of the incoming pod, where it differs
};

class PodRequestsTest : public ::testing::TestWithParam<RequestCase> {};

TEST_P(PodRequestsTest, CountsForANode) {
  const api::PodPtr pod = GetParam().pod.Obj();
  const AccountedRequest account = AccountPod(*pod);
  EXPECT_EQ((Amounts{account.requested.milli_cpu, account.requested.memory}), GetParam().want);
  if (GetParam().want_non_zero) {
    EXPECT_EQ((Amounts{account.non_zero_milli_cpu, account.non_zero_memory}),
              *GetParam().want_non_zero);
  }
  const Resource incoming = PodRequest(*pod);
  EXPECT_EQ((Amounts{incoming.milli_cpu, incoming.memory}),
            GetParam().want_incoming.value_or(GetParam().want));
}

const RequestCase kSpecCases[] = {
    {"ex1",
     MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}}).Req({}),
     {1000, 1073741824},
     Amounts{1100, 1283457024},
     {}},
    {"ex2",
     MakePod()
         .InitReq({{"cpu", "2"}, {"memory", "1G"}})
         .InitReq({{"cpu", "2"}, {"memory", "3G"}})
         .Req({{"cpu", "2"}, {"memory", "1G"}})
         .Req({{"cpu", "1"}, {"memory", "1G"}}),
     {3000, 3000000000},
     {},
     {}},
    {"ex3",
     MakePod().SidecarReq({{"cpu", "1"}}).InitReq({{"cpu", "4"}}).Req({{"cpu", "2"}}),
     {5000, 0},
     {},
     {}},
    {"ex4",
     MakePod().InitReq({{"cpu", "4"}}).SidecarReq({{"cpu", "1"}}).Req({{"cpu", "2"}}),
     {4000, 0},
     {},
     {}},
    {"ex5",
     MakePod()
         .Overhead({{"cpu", "100m"}, {"memory", "64Mi"}})
         .SidecarReq({{"cpu", "500m"}, {"memory", "1Gi"}})
         .InitReq({{"cpu", "3"}, {"memory", "512Mi"}})
         .SidecarReq({{"cpu", "250m"}})
         .Req({{"cpu", "1"}, {"memory", "2Gi"}})
         .Req({}),
     {3600, 3288334336},
     Amounts{3600, 3707764736},
     {}},
    {"ex6", MakePod().Req({}).Req({}), {0, 0}, Amounts{200, 419430400}, {}},
    {"ex7", MakePod().Req({{"cpu", "0"}}), {0, 0}, Amounts{0, 209715200}, {}},
    {"ex8", MakePod().InitReq({}).SidecarReq({}).Req({}), {0, 0}, Amounts{200, 419430400}, {}},
    {"ex9",
     MakePod().Overhead({{"cpu", "250m"}, {"memory", "10Mi"}}).Req({}),
     {250, 10485760},
     Amounts{350, 220200960},
     {}},
    {"ex10",
     MakePod().PodLevel({{"cpu", "2"}}).Req({{"cpu", "1"}}).Req({}),
     {2000, 0},
     Amounts{2000, 419430400},
     {}},
    {"ex11",
     MakePod().PodLevel({{"cpu", "2"}, {"memory", "1Gi"}}).Req({}).Req({}),
     {2000, 1073741824},
     Amounts{2000, 1073741824},
     {}},
    {"ex12", PodLevelLimits(), {0, 0}, Amounts{200, 419430400}, {}},
    {"ex13",
     MakePod().PodLevel({{"ephemeral-storage", "2Gi"}}).Req({{"ephemeral-storage", "1Gi"}}),
     {0, 0},
     Amounts{100, 209715200},
     {}},
    // Trap 3: the overhead makes the memory key exist, so no default is added.
    {"ex14",
     MakePod().Overhead({{"cpu", "100m"}, {"memory", "100Mi"}}).PodLevel({{"cpu", "2"}}).Req({}),
     {2100, 104857600},
     Amounts{2100, 104857600},
     {}},
};

const RequestCase kStatusCases[] = {
    {"ex15",
     WithResize(MakePod().Req({{"cpu", "2"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "1"}}}}}),
     {2000, 0},
     {},
     {}},
    {"ex16",
     WithResize(MakePod().Req({{"cpu", "1"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "2"}}}}}),
     {2000, 0},
     {},
     Amounts{1000, 0}},
    {"ex17",
     WithResize(MakePod().Req({{"cpu", "8"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "1"}}}}},
                "Infeasible"),
     {1000, 0},
     {},
     Amounts{8000, 0}},
    {"ex18",
     WithResize(MakePod().Req({{"cpu", "8"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "1"}}}}},
                "Deferred"),
     {8000, 0},
     {},
     {}},
    {"ex19",
     WithResize(
         MakePod().Req({{"cpu", "3"}}).Req({{"cpu", "1"}}),
         {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "1"}}}}, {"c1", {{{"cpu", "2"}}}, {{{"cpu", "2"}}}}}),
     {4000, 0},
     {},
     {}},
    // Trap 34.
    {"ex20",
     WithResize(MakePod().Req({{"cpu", "8"}}), {}, "Infeasible"),
     {0, 0},
     Amounts{100, 209715200},
     Amounts{8000, 0}},
    {"ex21",
     WithPodStatus(MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}}),
                   {{"cpu", "3"}, {"memory", "2Gi"}}, {{"cpu", "1"}}),
     {3000, 2147483648},
     {},
     Amounts{1000, 1073741824}},
    {"cache_ex6",
     MakePod()
         .SidecarReq({{"cpu", "100m"}})
         .InitReq({{"cpu", "1"}})
         .SidecarReq({{"cpu", "300m"}})
         .InitReq({{"cpu", "900m"}})
         .Req({{"cpu", "500m"}}),
     {1300, 0},
     Amounts{1300, 629145600},
     {}},
    {"cache_ex7",
     WithResize(MakePod().Req({{"cpu", "2"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "3"}}}}}),
     {3000, 0},
     {},
     Amounts{2000, 0}},
    {"cache_ex8",
     WithResize(MakePod().Req({{"cpu", "2"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "1500m"}}}}},
                "Infeasible"),
     {1500, 0},
     {},
     Amounts{2000, 0}},
    {"cache_ex9",
     WithResize(MakePod().Req({{"cpu", "2"}}), {}, "Infeasible"),
     {0, 0},
     Amounts{100, 209715200},
     Amounts{2000, 0}},
    {"cache_ex10",
     MakePod()
         .PodLevel({{"cpu", "1"}})
         .Overhead({{"cpu", "50m"}})
         .Req({{"cpu", "200m"}, {"memory", "64Mi"}})
         .Req({}),
     {1050, 67108864},
     Amounts{1050, 67108864},
     {}},
    {"cache_ex11",
     MakePod().PodLevel({{"cpu", "1"}}).Req({}).Req({}),
     {1000, 0},
     Amounts{1000, 419430400},
     {}},
    {"cache_ex12",
     WithPodStatus(MakePod()
                       .PodLevel({{"cpu", "1"}})
                       .Overhead({{"cpu", "50m"}})
                       .Req({{"cpu", "200m"}, {"memory", "64Mi"}})
                       .Req({}),
                   {{"cpu", "1200m"}, {"memory", "96Mi"}}, {{"cpu", "1500m"}, {"memory", "128Mi"}}),
     {1550, 134217728},
     {},
     Amounts{1050, 67108864}},
    {"pod_level_resize_not_yet_actuated",
     WithPodStatus(MakePod().PodLevel({{"cpu", "2"}}).Req({}), {{"cpu", "1"}}, {{"cpu", "1"}}),
     {2000, 0},
     {},
     {}},
    {"pod_level_resize_infeasible",
     WithResize(
         WithPodStatus(MakePod().PodLevel({{"cpu", "8"}}).Req({}), {{"cpu", "1"}}, {{"cpu", "1"}}),
         {}, "Infeasible"),
     {1000, 0},
     {},
     Amounts{8000, 0}},
    // Rounded once per pod, not per container.
    {"half_milli_twice",
     MakePod().Req({{"cpu", "0.5m"}}).Req({{"cpu", "0.5m"}}),
     {1, 0},
     Amounts{1, 419430400},
     {}},
};

std::string CaseName(const ::testing::TestParamInfo<RequestCase>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Spec, PodRequestsTest, ::testing::ValuesIn(kSpecCases), CaseName);
INSTANTIATE_TEST_SUITE_P(Status, PodRequestsTest, ::testing::ValuesIn(kStatusCases), CaseName);

TEST(PodRequestsTest, Ex13KeepsTheContainersEphemeralStorage) {
  const api::PodPtr pod =
      MakePod().PodLevel({{"ephemeral-storage", "2Gi"}}).Req({{"ephemeral-storage", "1Gi"}}).Obj();
  EXPECT_EQ(PodRequest(*pod).ephemeral_storage, 1073741824);
  EXPECT_EQ(AccountPod(*pod).requested.ephemeral_storage, 1073741824);
}

// Puts gates in force while it lives.
class ScopedGates {
 public:
  explicit ScopedGates(std::initializer_list<config::Gate> off) {
    config::FeatureGates gates;
    for (const config::Gate gate : off) gates.Set(gate, false);
    SetRequestGates(gates);
  }
  ~ScopedGates() { SetRequestGates({}); }
};

struct GateCase {
  std::string name;
  PodBuilder pod;
  Amounts want_without_status;  // InPlacePodLevelResourcesVerticalScaling off
  Amounts want_without_level;   // PodLevelResources off as well
};

// 2.3 to 2.5 with the gates off; with them on the same pods are rows above.
TEST(PodRequestsTest, GatesOff) {
  const PodBuilder resized = WithPodStatus(MakePod()
                                               .PodLevel({{"cpu", "1"}})
                                               .Overhead({{"cpu", "50m"}})
                                               .Req({{"cpu", "200m"}, {"memory", "64Mi"}})
                                               .Req({}),
                                           {{"cpu", "1200m"}, {"memory", "96Mi"}},
                                           {{"cpu", "1500m"}, {"memory", "128Mi"}});
  const GateCase cases[] = {
      {"ex10",
       MakePod().PodLevel({{"cpu", "2"}}).Req({{"cpu", "1"}}).Req({}),
       {2000, 0},
       {1000, 0}},
      {"ex14",
       MakePod().Overhead({{"cpu", "100m"}, {"memory", "100Mi"}}).PodLevel({{"cpu", "2"}}).Req({}),
       {2100, 104857600},
       {100, 104857600}},
      {"ex21",
       WithPodStatus(MakePod().Req({{"cpu", "1"}, {"memory", "1Gi"}}),
                     {{"cpu", "3"}, {"memory", "2Gi"}}, {{"cpu", "1"}}),
       {1000, 1073741824},
       {1000, 1073741824}},
      {"cache_ex12", resized, {1050, 67108864}, {250, 67108864}},
      {"container status counts still",
       WithResize(MakePod().Req({{"cpu", "1"}}), {{"c0", {{{"cpu", "1"}}}, {{{"cpu", "2"}}}}}),
       {2000, 0},
       {2000, 0}},
  };
  using config::Gate;
  for (const GateCase& c : cases) {
    SCOPED_TRACE(c.name);
    const api::PodPtr pod = c.pod.Obj();
    const auto counted = [&pod] {
      const Resource requested = AccountPod(*pod).requested;
      return Amounts{requested.milli_cpu, requested.memory};
    };
    {
      const ScopedGates off({Gate::kInPlacePodLevelResourcesVerticalScaling});
      EXPECT_EQ(counted(), c.want_without_status);
    }
    const ScopedGates off(
        {Gate::kInPlacePodLevelResourcesVerticalScaling, Gate::kPodLevelResources});
    EXPECT_EQ(counted(), c.want_without_level);
  }
}

TEST(PodRequestsTest, WithoutPodLevelResourcesContainersGetTheirDefaults) {
  const api::PodPtr pod = MakePod().PodLevel({{"cpu", "2"}, {"memory", "1Gi"}}).Req({}).Obj();
  const ScopedGates off({config::Gate::kPodLevelResources});
  EXPECT_EQ(PodRequest(*pod), Resource{});
  EXPECT_EQ(AccountPod(*pod).non_zero_milli_cpu, 100);
  EXPECT_EQ(AccountPod(*pod).non_zero_memory, 209715200);
}

TEST(PodRequestsTest, DeferredIsTheFirstConditionsReason) {
  EXPECT_TRUE(HasDeferredResize(*WithResize(MakePod(), {}, "Deferred").Obj()));
  EXPECT_FALSE(HasDeferredResize(*WithResize(MakePod(), {}, "Infeasible").Obj()));
  EXPECT_FALSE(HasDeferredResize(*MakePod().Obj()));
  const PodBuilder second = WithResize(WithResize(MakePod(), {}, "Infeasible"), {}, "Deferred");
  EXPECT_FALSE(HasDeferredResize(*second.Obj()));
}

TEST(PodRequestsTest, PodsIsNoRequest) {
  EXPECT_EQ(PodRequest(*MakePod().Req({{"pods", "3"}}).Obj()), Resource{});
}

TEST(PodRequestsTest, OnlyTheFirstResizeConditionCounts) {
  PodBuilder pod = WithResize(MakePod().Req({{"cpu", "8"}}), {}, "Deferred");
  pod = WithResize(pod, {}, "Infeasible");
  EXPECT_EQ(AccountPod(*pod.Obj()).requested.milli_cpu, 8000);
}

TEST(PodRequestsTest, AbsentNamesStayAbsent) {
  const api::ResourceList list =
      AggregateRequests(*MakePod().Req({{"cpu", "0"}}).Obj(), {.use_status = false});
  EXPECT_TRUE(list.Contains(Symbol("cpu")));
  EXPECT_FALSE(list.Contains(Symbol("memory")));
}

// Traps 1 and 2: Fit scoring's view of an incoming pod.
TEST(PodRequestsTest, DefaultsGoIntoEveryContainer) {
  const RequestOptions scoring{.pod_level = false, .default_cpu = true, .default_memory = true};
  const api::PodPtr pod =
      MakePod().PodLevel({{"cpu", "2"}, {"memory", "4Gi"}}).Req({}).Req({{"cpu", "0"}}).Obj();
  const Resource amount = Resource::FromList(AggregateRequests(*pod, scoring));
  EXPECT_EQ(amount.milli_cpu, 100);
  EXPECT_EQ(amount.memory, 419430400);
}

}  // namespace
}  // namespace ks::framework
