// SPDX-License-Identifier: Apache-2.0
#pragma once
// What users, controllers, nodes and a foreign scheduler do at the API server during a simulation.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "sim/process.h"

namespace ks::sim {

// Threads: one. Lifetime: outlives the events it posts, that is, the loop's last.
class Workload {
 public:
  explicit Workload(World& world);

  // Makes the nodes, and posts everything that happens until the plan's faults_end.
  void Start();

 private:
  using Json = apiserver::Json;

  bool Chance(double p) { return random_.Unit() < p; }
  int Between(int low, int high) {
    return low + static_cast<int>(random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  void Sometime(Duration until, Action action);
  void TraceAction(const std::string& what);

  // Nodes.
  void AddNode(const std::string& name);
  void ChangeNode();
  void ReplaceTaints(const std::string& name);
  void Resize(const std::string& name);
  void CollectPodsOf(const std::string& node);

  // Pods.
  Json NewPod(const std::string& name);
  void Place(Json& spec);
  void Repel(Json& spec, const std::string& app);
  void AddPod();
  void ChangePod();
  void EditPod(const std::string& name);
  void EndPod(const std::string& name);
  void LiftGates(const std::string& name);
  void AddForeignPod();
  void SelectNamespaces(Json& term);
  void RelabelNamespace();

  // Preemption: workload_preemption.cc.
  void StartPreemption();
  void MakeImportant(Json& spec);
  void AddBudget(int number);
  void ChangeBudget();
  void Nominate();
  // What the agent of the pod's node does.
  void Attend(const api::PodPtr& pod);
  void StartPod(const std::string& name, const std::string& uid);
  void EndPodOf(const std::string& name, const std::string& uid);

  // Resizes of pods that run: workload_resizes.cc.
  void ResizePod();
  void ActOnResize(const std::string& name, const std::string& uid);
  bool HasRoomForResize(const api::Pod& pod);
  int64_t GivenTo(const api::Pod& pod) const;

  // Volumes: workload_volumes.cc.
  void StartVolumes();
  void StartStorageNews();
  void AddClass(size_t number);
  void SetCapacity(const std::string& zone);
  void AddVolume();
  Json ClaimSpec(bool for_one_pod);
  void AddClaim(const std::string& name);
  void KeepVolume();
  std::string FreeVolumeFor(const api::PersistentVolumeClaim& claim);
  void UseClaims(const std::string& pod, Json& spec);
  void BringClaim(const std::string& pod, Json& spec);
  void ChangeVolumes();
  void DeleteClaim(const std::string& name);
  void DeleteVolume(const std::string& name);
  void Recycle();
  void FailProvisioning();
  void EndWaitingPod();
  void AddDriver(const std::string& node);
  std::string AnyOf(const char* plural);

  // Devices: workload_devices.cc.
  void StartDevices();
  void AddDeviceClass();
  void AddClaimTemplate(int number);
  Json DeviceClaimSpec();
  void AddDeviceClaim(const std::string& name);
  void UseDevices(const std::string& pod, Json& spec);
  void ChangeDevices();
  void DeleteDeviceClaim();
  void DeleteSlice();
  void ChangeTaintRules();
  void FailDevice();
  void EndDevicePod();
  bool DeviceChance(double p) { return devices_random_.Unit() < p; }
  int DeviceBetween(int low, int high) {
    return low + static_cast<int>(devices_random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  void DeviceSometime(Duration until, Action action);

  // Groups of pods: workload_groups.cc.
  struct Gang {
    Json pod;  // a member; each gets a name of its own
    bool alike = true;
    int next_member = 0;
    Json spec;  // of the group
  };
  void StartGroups();
  std::string NewGang(int members, int wanted, Json pod);
  void PlaceGang(Json& pod, Json& group);
  void AddGang(const std::string& parent);
  void AddTwins();
  void AddTree();
  void BringGang(const std::string& name, int members, Duration within);
  void AddGroup(const std::string& name);
  void AddMember(const std::string& name);
  void ChangeGroups();
  void ChangeMinCount(const std::string& name);
  void DeleteGroup(const std::string& name);
  void DeleteGang(const std::string& name);
  void EndMember(const std::string& name);
  void ChangeTree();
  std::string AnyGang();
  std::vector<std::string> MembersOf(const std::string& name);
  bool GroupChance(double p) { return groups_random_.Unit() < p; }
  int GroupBetween(int low, int high) {
    return low + static_cast<int>(groups_random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  void GroupSometime(Duration until, Action action);

  std::string AnyNode();
  std::string AnyPod();

  World& world_;
  Random random_;
  Random namespaces_random_;  // so that seeds without such changes are what they were
  Random devices_random_;     // likewise
  Random groups_random_;      // likewise
  std::map<std::string, std::string> zone_of_;  // by node; empty: none
  int next_node_ = 0;
  int next_pod_ = 0;
  int next_foreign_ = 0;
  int next_volume_ = 0;
  int next_rule_ = 0;
  std::map<std::string, Gang> gangs_;  // by name
  std::map<std::string, Json> trees_;  // composites, by name
  std::set<std::string> started_;      // uids
  std::set<std::string> ending_;
  std::map<std::string, int64_t> given_;  // milli-CPU, to pods that somebody resized; by uid
};

}  // namespace ks::sim
