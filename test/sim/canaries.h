// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bugs that ks_sim_canary can plant (base/canary.h). docs/simulation.md has the table of how
// soon each was found.

#include <array>
#include <cstdint>

namespace ks::sim {

struct CanaryInfo {
  const char* name;
  const char* bug;
  // One that found it, tried first so that nobody waits for all before it. When it does not any
  // more, because the simulation changed, all are tried, and the one that does is named.
  uint64_t seed;
};

inline constexpr std::array<CanaryInfo, 82> kCanaries = {{
    {"ForgetSkipped", "a pod whose binding failed stays assumed", 1},
    {"EventLostInFlight", "cluster events are not kept for pods that are being scheduled", 1393},
    {"OldVersionResumed", "a watch is resumed from an older version than was seen", 4},
    {"GoneIgnored", "a watch that the server calls too old is tried again without a list", 6},
    {"RelistHidesDeletions", "pods that are missing in a list are not taken for deleted", 1},
    {"ConflictTakenForSuccess", "a 409 after an uncertain binding counts as success unseen", 4},
    {"BackoffTimerLost", "pods that failed with an error never leave their backoff", 1},
    {"AssumedCountedTwice", "a confirmed pod is charged again without releasing the assumed one",
     1},
    {"NodeRemovalIgnored", "a removed node stays while pods are on it", 6},
    {"DoneForgotten", "a pod that is gone when its attempt fails stays in flight", 26},
    {"DeletedPodKeepsRoom", "a pod deleted on its way to a node keeps its room there", 5},
    {"WrongPluginMask", "an event is taken for one that interests other plugins", 4},
    {"CutFrameDropped", "the first part of a watch event that comes in two pieces is lost", 1},
    {"PreemptorsNotHeld", "PreEnqueue lets preemptors through while their victims are evicted", 4},
    {"FreedRoomTooSmall", "room that somebody left is never enough for who waits for victims", 4},
    {"NominationsIgnored", "filters do not see pods that are nominated to the node", 4},
    {"BudgetSplitReversed", "victims whose eviction violates a budget are taken for the others",
     22},
    {"EvictionErrorSwallowed", "an eviction that failed counts as done", 46},
    {"FenceNotAsked", "a write is sent without asking whether the lease is still held", 176},
    {"CaughtUpTooEarly", "any news of the pods counts as all that the former leader did", 3},
    {"LeadsBeforeCaughtUp", "a lease that is won is enough to lead", 3},
    {"CatchesUpToWrongVersion", "a new leader waits for a version that was long ago", 3},
    {"LeadsBeforeClaimsCaughtUp", "a new leader does not wait for its claims", 14},
    {"VolumeStaysAssumed", "what was assumed of volumes stays so when the attempt fails", 23},
    {"ClaimsNotAwaited", "PreBind does not wait until the claims are bound", 6},
    {"StalePreemptAnswers", "what extenders said of candidates counts whatever has become of them",
     213},
    {"ResizeEndUnseen", "a pod whose resize is done stays in the queue", 24},
    {"VolumePatchUnguarded", "a volume is written whatever has become of it meanwhile", 1632},
    {"PendingAllocationsIgnored", "devices that are being given count as free", 6},
    {"ReservationStays", "a claim stays reserved for a pod whose attempt failed", 169},
    {"ClaimPatchUnguarded", "a claim is written whatever has become of it meanwhile", 116},
    {"DevicesNotAwaited", "PreBind does not wait until the devices are ready", 14},
    {"PendingAddUnheard", "a pod that nobody has scheduled does not get into the queue", 1},
    {"PendingUpdateUnheard", "the queue does not hear of changes of pods that wait", 1},
    {"PendingDeleteUnheard", "a deleted pod stays in the queue", 1},
    {"PendingAssignmentUnheard", "a pod that somebody else has bound stays in the queue", 2},
    {"NominationFreedUnheard", "nobody is woken when a nomination is given up", 4},
    {"AssignedPodDeleteUnheard", "a pod that leaves its node wakes nobody", 1},
    {"AssignedPodUpdatePodScaleDownUnheard", "a pod on a node that asks for less wakes nobody", 48},
    {"TargetPodUpdatePodSchedulingGatesEliminatedUnheard",
     "a pod does not hear that its gates are lifted", 2},
    {"NodeAddUnheard", "a node that joins wakes nobody", 16},
    {"PersistentVolumeClaimAddUnheard", "a new claim wakes nobody", 17},
    {"FailedBindingUnheard", "nobody hears that a binding failed, and that its room is free", 1},
    {"DeletedOnItsWayUnheard", "nobody hears that a pod was deleted on its way to a node", 5},
    {"AssignedPodAddUnheard", "a pod that gets to a node wakes nobody", 4},
    {"AssignedPodUpdatePodLabelUnheard", "new labels of a pod on a node wake nobody", 16},
    {"NodeDeleteUnheard", "a node that goes wakes nobody", 10},
    {"NodeUpdateNodeAllocatableUnheard", "a node that has more room wakes nobody", 6},
    {"NodeUpdateNodeLabelUnheard", "new labels of a node wake nobody", 6},
    {"NodeUpdateNodeTaintUnheard", "a node that loses a taint, or its cordon, wakes nobody", 3},
    {"TargetPodUpdatePodLabelUnheard", "a pod does not hear of its new labels", 17},
    {"TargetPodUpdatePodTolerationUnheard", "a pod does not hear of its new tolerations", 17},
    {"PersistentVolumeClaimUpdateUnheard", "a claim that changed wakes nobody", 5},
    {"StorageClassAddUnheard", "a new class wakes nobody", 6},
    {"PersistentVolumeAddUnheard", "a new volume wakes nobody", 6},
    {"PersistentVolumeUpdateUnheard", "a volume that changed wakes nobody", 5},
    {"CSINodeAddUnheard", "a driver on a node that had none wakes nobody", 16},
    {"CSINodeUpdateUnheard", "a driver that attaches more wakes nobody", 700},
    {"CSIStorageCapacityAddUnheard", "news of capacity wake nobody", 10},
    {"CSIStorageCapacityUpdateUnheard", "more capacity wakes nobody", 10},
    {"AssignedPodUpdatePodScaleUpUnheard", "a pod on a node that asks for more wakes nobody", 25},
    {"GangQuorumIgnored", "too few members are enough for a gang", 8},
    {"GroupTrialStays", "what an attempt of a group tried stays in the view when it fails", 8},
    {"MembersKeptBelowQuorum", "members keep their nodes although their gang fails", 8},
    {"PendingMembersLost", "members that come back from an attempt do not get into the queue", 8},
    {"RejectedGroupParked", "a group that was rejected never leaves its backoff", 8},
    {"IncompleteMembersForgotten", "members do not hear that their group has come", 8},
    {"SiblingsNotReleased", "who makes a gang whole does not let the others go", 18},
    {"GroupConditionReverts", "a group that was scheduled is said not to be", 8},
    {"UnscheduledPodAddUnheard", "a gang does not hear of a new member", 8},
    {"PodGroupAddUnheard", "a gang does not hear that its group has come", 94},
    {"PodGroupUpdateUnheard", "a gang does not hear that it wants fewer members", 86},
    {"ResourceClaimAddUnheard", "a new claim of devices wakes nobody", 61},
    {"ResourceClaimUpdateUnheard", "a claim that gives back its devices wakes nobody", 6},
    {"ResourceClaimDeleteUnheard", "the devices of a claim that goes wake nobody", 16},
    {"ResourceSliceAddUnheard", "new devices wake nobody", 15},
    {"ResourceSliceUpdateUnheard", "devices that changed wake nobody", 15},
    {"TaintRuleUnheard", "devices that a rule does not taint any more wake nobody", 15},
    {"NobodySpared", "preemption for a group spares nobody who is on a member's node", 24},
    {"LoadedUnreserveSkipped", "a loaded plugin does not hear that a pod goes elsewhere", 2},
    {"LoadedHintsUnheard", "a loaded plugin's word that an event is worth a try is ignored", 430},
    {"GroupsTornApart", "of a group that goes as a whole some are evicted", 65},
}};

}  // namespace ks::sim
