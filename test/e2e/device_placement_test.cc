// SPDX-License-Identifier: Apache-2.0
// Placement of pods with resource claims, device by device: kubesched must choose as kube-scheduler
// does, also after pods are gone and their devices are free again. As placement_test.cc.
//
// A burst of pods waits when the scheduler starts. Then pods come one after the other, each when
// the one before it is bound, in rounds: after each the oldest pods go. That a scheduler has seen
// this is known when the pod of a pin is bound: there is one device for pins, and it is freed last.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "e2e/cluster.h"
#include "e2e/device_objects.h"

namespace ks::e2e {
namespace {

constexpr int kNodes = 8;
constexpr int kBurst = 24;
constexpr int kRounds = 20;
constexpr int kPodsOfRound = 10;
constexpr size_t kLeft = 14;  // pods that a round leaves
constexpr char kGpu[] = "gpu.example";
constexpr char kNic[] = "nic.example";
constexpr char kPart[] = "part.example";
constexpr char kPin[] = "pin.example";
constexpr char kExtended[] = "example.com/gpu";
const std::chrono::seconds kPatience(120);

std::string Node(int i) { return "node-" + std::to_string(i); }

// Six devices of two models on two sockets, one of them tainted at times.
json GpuSlice(Random& random, int node) {
  json slice = SliceManifest(kGpu, Node(node));
  for (int i = 0; i < 6; ++i) {
    json device = {{"name", "gpu-" + std::to_string(i)},
                   {"attributes",
                    {{"socket", {{"int", i % 2}}},
                     {"model", {{"string", random.Below(3) == 0 ? "big" : "small"}}}}}};
    if (random.Below(8) == 0) {
      device["taints"] = {{{"key", "worn"}, {"effect", "NoSchedule"}}};
    }
    slice["spec"]["devices"].push_back(device);
  }
  return slice;
}

// Two devices that several claims share.
json NicSlice(int node) {
  json slice = SliceManifest(kNic, Node(node));
  for (const char* name : {"nic-0", "nic-1"}) {
    slice["spec"]["devices"].push_back({{"name", name},
                                        {"allowMultipleAllocations", true},
                                        {"capacity", {{"bandwidth", {{"value", "10"}}}}}});
  }
  return slice;
}

// Parts of one device, of which a whole and its halves exclude each other.
std::vector<json> PartSlices(int node) {
  json counters = SliceManifest(kPart, Node(node), /*slices=*/2);
  counters["metadata"]["name"] = "part-counters-" + Node(node);
  counters["spec"]["sharedCounters"] = {
      {{"name", "card"}, {"counters", {{"memory", {{"value", "4"}}}}}}};
  json parts = SliceManifest(kPart, Node(node), /*slices=*/2);
  for (const auto& [name, memory] : std::vector<std::pair<const char*, const char*>>{
           {"half-0", "2"}, {"whole", "4"}, {"half-1", "2"}, {"quarter", "1"}}) {
    parts["spec"]["devices"].push_back(
        {{"name", name},
         {"attributes", {{"memory", {{"int", std::stoi(memory)}}}}},
         {"consumesCounters",
          {{{"counterSet", "card"}, {"counters", {{"memory", {{"value", memory}}}}}}}}});
  }
  return {counters, parts};
}

void CreateDevices(Cluster& cluster, Random& random) {
  const std::string devices(kDevicesPath);
  for (int i = 0; i < kNodes; ++i) {
    cluster.CreateNode(NodeManifest(
        Node(i),
        {{"cpu", std::to_string(16 + random.Below(16))}, {"memory", "64Gi"}, {"pods", "110"}}));
    cluster.Create(devices + "resourceslices", GpuSlice(random, i));
    cluster.Create(devices + "resourceslices", NicSlice(i));
    for (const json& slice : PartSlices(i)) cluster.Create(devices + "resourceslices", slice);
  }
  json pin = SliceManifest(kPin, Node(0));
  pin["spec"]["devices"] = {{{"name", "pin"}}};
  cluster.Create(devices + "resourceslices", pin);
  cluster.Create(devices + "deviceclasses", DriverClassManifest("gpu", kGpu, kExtended));
  for (const char* driver : {kNic, kPart, kPin}) {
    const std::string name(driver, std::string(driver).find('.'));
    cluster.Create(devices + "deviceclasses", DriverClassManifest(name, driver));
  }
  if (Cluster::IsOlder()) return;  // the server does not have this kind
  cluster.Create(devices + "devicetaintrules",
                 DeviceObject("DeviceTaintRule", "recalled",
                              {{"deviceSelector", {{"pool", Node(1)}, {"device", "gpu-0"}}},
                               {"taint", {{"key", "recalled"}, {"effect", "NoSchedule"}}}}));
}

json Selector(const std::string& expression) {
  return json::array({{{"cel", {{"expression", expression}}}}});
}

// Requests of a claim; each kind stands for a part of the allocator.
enum class Kind { kOne, kPair, kTolerant, kAlternatives, kFraction, kShare, kCount };

json Claim(Random& random, const std::string& name, Kind kind) {
  switch (kind) {
    case Kind::kPair: {
      json claim = DeviceClaimManifest(name, {DeviceRequest("r", "gpu", 2)});
      const char* const field = random.Below(2) == 0 ? "matchAttribute" : "distinctAttribute";
      claim["spec"]["devices"]["constraints"] = {{{field, std::string(kGpu) + "/socket"}}};
      return claim;
    }
    case Kind::kTolerant: {
      json request = DeviceRequest("r", "gpu", 1);
      request["exactly"]["tolerations"] = {{{"operator", "Exists"}}};
      return DeviceClaimManifest(name, {request});
    }
    case Kind::kAlternatives: {
      const json big = {
          {"name", "big"},
          {"deviceClassName", "gpu"},
          {"count", 2},
          {"selectors", Selector("device.attributes[\"gpu.example\"].model == \"big\"")}};
      const json any = {{"name", "any"}, {"deviceClassName", "gpu"}, {"count", 1}};
      const json request = {{"name", "r"}, {"firstAvailable", {big, any}}};
      return DeviceClaimManifest(name, {request});
    }
    case Kind::kFraction: {
      json request = DeviceRequest("r", "part", 1);
      if (random.Below(2) == 0) {
        request["exactly"]["selectors"] =
            Selector("device.attributes[\"part.example\"].memory >= 2");
      }
      return DeviceClaimManifest(name, {request});
    }
    case Kind::kShare: {
      json request = DeviceRequest("r", "nic", 1);
      request["exactly"]["capacity"] = {
          {"requests", {{"bandwidth", std::to_string(1 + random.Below(6))}}}};
      return DeviceClaimManifest(name, {request});
    }
    case Kind::kOne:
    case Kind::kCount:
      break;
  }
  return DeviceClaimManifest(name, {DeviceRequest("r", "gpu", 1)});
}

// What of a claim must be the same: not what is random, and no times.
std::string Comparable(json claim) {
  json& status = claim["status"];
  for (json& result : status["allocation"]["devices"]["results"]) {
    if (result.contains("shareID")) result["shareID"] = "*";
  }
  status["allocation"].erase("allocationTimestamp");
  for (json& consumer : status["reservedFor"]) consumer.erase("uid");
  return json{{"spec", claim["spec"]},
              {"status", status},
              {"finalizers", claim["metadata"].value("finalizers", json())}}
      .dump();
}

bool IsBound(const PodView::Pods& pods, const std::string& pod) {
  const auto it = pods.find("default/" + pod);
  return it != pods.end() && !it->second->node_name.empty();
}
bool WasTried(const PodView::Pods& pods, const std::string& pod) {
  const auto it = pods.find("default/" + pod);
  return it != pods.end() && it->second->FindCondition("PodScheduled") != nullptr;
}

using Choices = std::map<std::string, std::string>;  // pod -> node, claim -> what it got

// One scheduler's pass through the sequence.
class Sequence {
 public:
  Sequence(Cluster& cluster, uint64_t seed) : cluster_(cluster), random_(seed) {
    CreateDevices(cluster_, random_);
  }

  // Pods that the scheduler finds when it starts. No shares of devices: upstream counts one that is
  // being bound twice (docs/spec/plugins-dra.md, trap 33).
  void CreateBurst() {
    constexpr Kind kKinds[] = {Kind::kOne, Kind::kPair, Kind::kAlternatives, Kind::kTolerant};
    for (int i = 0; i < kBurst; ++i) CreatePod({kKinds[random_.Below(4)]}, random_.Below(5) == 0);
  }
  void AwaitBurst() {
    for (const Live& pod : live_) {
      Await(pod);
      ASSERT_TRUE(choices_[pod.name].starts_with("node-")) << pod.name << choices_[pod.name];
    }
  }

  void Round(int round) {
    for (int i = 0; i < kPodsOfRound; ++i) {
      std::vector<Kind> kinds{RandomKind()};
      if (random_.Below(4) == 0) kinds.push_back(RandomKind());
      CreatePod(kinds, random_.Below(6) == 0);
      Await(live_.back());
      if (::testing::Test::HasFatalFailure()) return;
      if (!choices_[live_.back().name].starts_with("node-")) {  // it shall not be tried again
        Free(live_.back());
        live_.pop_back();
      }
    }
    while (live_.size() > kLeft) {
      Free(live_.front());
      live_.pop_front();
    }
    Pin(round);
  }

  const Choices& choices() const { return choices_; }

 private:
  struct Live {
    std::string name;
    std::vector<std::string> claims;
  };

  Kind RandomKind() { return static_cast<Kind>(random_.Below(static_cast<int>(Kind::kCount))); }

  std::string NextName(const char* prefix) {
    const std::string digits = std::to_string(created_++);
    return prefix + std::string(4 - digits.size(), '0') + digits;
  }

  // `extended`: the pod also asks for the class's extended resource. One of the claims of a pod
  // that is still there may take the place of the last of its own.
  void CreatePod(const std::vector<Kind>& kinds, bool extended) {
    Live made{NextName("pod-"), {}};
    for (const Kind kind : kinds) {
      made.claims.push_back(made.name + "-" + std::to_string(made.claims.size()));
      cluster_.Create(kDeviceClaimsPath, Claim(random_, made.claims.back(), kind));
    }
    if (kinds.size() > 1 && random_.Below(2) == 0) made.claims.push_back(live_.back().claims[0]);
    json pod = PodManifest(made.name, {{"cpu", std::to_string(100 + random_.Below(400)) + "m"}});
    if (extended) {
      json& resources = pod["spec"]["containers"][0]["resources"];
      resources["requests"][kExtended] = resources["limits"][kExtended] = "1";
    }
    AddDeviceClaims(pod, made.claims);
    for (const std::string& claim : made.claims) ++users_[claim];
    cluster_.CreatePod(pod);
    live_.push_back(std::move(made));
  }

  static std::string PodPath(const std::string& name) {
    return "/api/v1/namespaces/default/pods/" + name;
  }
  static std::string ClaimPath(const std::string& name) {
    return std::string(kDeviceClaimsPath) + "/" + name;
  }

  // Until the pod is bound, or has been tried in vain; then notes what came of it.
  void Await(const Live& made) {
    ASSERT_TRUE(cluster_.view().WaitFor(
        [&](const PodView::Pods& pods) {
          return IsBound(pods, made.name) || WasTried(pods, made.name);
        },
        kPatience))
        << made.name;
    const json pod = cluster_.Get(PodPath(made.name));
    choices_[made.name] = pod["spec"].contains("nodeName")
                              ? pod["spec"]["nodeName"].get<std::string>()
                              : pod["status"]["conditions"][0]["message"].get<std::string>();
    for (const std::string& claim : made.claims) {
      choices_[made.name + ": " + claim] = Comparable(cluster_.Get(ClaimPath(claim)));
    }
    const json special = pod["status"].value("extendedResourceClaimStatus", json());
    if (special.is_null()) return;
    choices_[made.name + ": mappings"] = special["requestMappings"].dump();
    choices_[made.name + ": special"] =
        Comparable(cluster_.Get(ClaimPath(special["resourceClaimName"])));
  }

  // What the kubelet, the garbage collector and the claim controller would do.
  void Free(const Live& gone) {
    const json special =
        cluster_.Get(PodPath(gone.name))["status"].value("extendedResourceClaimStatus", json());
    cluster_.Delete(PodPath(gone.name) + "?gracePeriodSeconds=0");
    if (!special.is_null()) Release(special["resourceClaimName"], /*remove=*/true);
    for (const std::string& claim : gone.claims) {
      if (--users_[claim] == 0) Release(claim, /*remove=*/random_.Below(2) == 0);
    }
  }
  // Deallocates the claim, or removes it as it stands: either frees its devices.
  void Release(const std::string& claim, bool remove) {
    if (!remove) {
      cluster_.MergePatch(ClaimPath(claim) + "/status",
                          {{"status", {{"allocation", nullptr}, {"reservedFor", nullptr}}}});
      return;
    }
    cluster_.MergePatch(ClaimPath(claim), {{"metadata", {{"finalizers", nullptr}}}});
    cluster_.Delete(ClaimPath(claim));
  }

  // The pod of the pin before this one goes, and with it its device.
  void Pin(int round) {
    Live pin{"pin-" + std::to_string(round), {"pin-" + std::to_string(round)}};
    if (!pin_.name.empty()) {
      cluster_.Delete(PodPath(pin_.name) + "?gracePeriodSeconds=0");
      Release(pin_.name, /*remove=*/round % 2 == 0);
    }
    cluster_.Create(kDeviceClaimsPath,
                    DeviceClaimManifest(pin.name, {DeviceRequest("r", "pin", 1)}));
    json pod = PodManifest(pin.name, json::object());
    AddDeviceClaims(pod, pin.claims);
    cluster_.CreatePod(pod);
    ASSERT_TRUE(cluster_.view().WaitFor(
        [&](const PodView::Pods& pods) { return IsBound(pods, pin.name); }, kPatience))
        << pin.name;
    pin_ = std::move(pin);
  }

  Cluster& cluster_;
  Random random_;
  int created_ = 0;
  std::deque<Live> live_;  // in the order of creation
  Live pin_;
  std::map<std::string, int> users_;  // of a claim
  Choices choices_;
};

void Choose(bool kubesched, uint64_t seed, Choices* choices) {
  const auto cluster = Cluster::Start();
  ASSERT_NE(cluster, nullptr);
  Sequence sequence(*cluster, seed);
  ASSERT_NO_FATAL_FAILURE(sequence.CreateBurst());
  const std::string configuration =
      SchedulerConfiguration(cluster->plane().SchedulerKubeconfig(), /*parallelism=*/1);
  kubesched ? cluster->StartKubesched(configuration) : cluster->StartKubeScheduler(configuration);
  ASSERT_NO_FATAL_FAILURE(sequence.AwaitBurst());
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(sequence.Round(round)) << "round " << round;
  }
  EXPECT_TRUE(cluster->view().moved().empty());
  *choices = sequence.choices();
}

// KS_DEVICE_PLACEMENT_TWICE: kube-scheduler in both places, to see whether it repeats.
TEST(DevicePlacement, EqualsKubeScheduler) {
  std::string why;
  if (!testing::ControlPlane::Available(&why, {36, "extended resources that are devices"})) {
    GTEST_SKIP() << why;
  }
  constexpr uint64_t kSeed = 808;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const bool twice = std::getenv("KS_DEVICE_PLACEMENT_TWICE") != nullptr;
  Choices theirs;
  Choices ours;
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/false, kSeed, &theirs));
  ASSERT_NO_FATAL_FAILURE(Choose(/*kubesched=*/!twice, kSeed, &ours));
  ASSERT_GT(theirs.size(), static_cast<size_t>(2 * kRounds * kPodsOfRound)) << "few claims";
  ASSERT_EQ(theirs.size(), ours.size());
  int different = 0;
  for (const auto& [what, choice] : theirs) {
    if (ours[what] == choice) continue;
    if (++different <= 5) {
      ADD_FAILURE() << what << ":\nkube-scheduler " << choice << "\nkubesched " << ours[what];
    }
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace ks::e2e
