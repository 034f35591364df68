// SPDX-License-Identifier: Apache-2.0
#pragma once
// The bugs that ks_sim_canary can plant (base/canary.h). docs/simulation.md has the table of how
// soon each was found.

#include <array>

namespace ks::sim {

struct CanaryInfo {
  const char* name;
  const char* bug;
};

inline constexpr std::array<CanaryInfo, 24> kCanaries = {{
    {"ForgetSkipped", "a pod whose binding failed stays assumed"},
    {"EventLostInFlight", "cluster events are not kept for pods that are being scheduled"},
    {"OldVersionResumed", "a watch is resumed from an older version than was seen"},
    {"GoneIgnored", "a watch that the server calls too old is tried again without a list"},
    {"RelistHidesDeletions", "pods that are missing in a list are not taken for deleted"},
    {"ConflictTakenForSuccess", "a 409 after an uncertain binding counts as success unseen"},
    {"BackoffTimerLost", "pods that failed with an error never leave their backoff"},
    {"AssumedCountedTwice", "a confirmed pod is charged again without releasing the assumed one"},
    {"NodeRemovalIgnored", "a removed node stays while pods are on it"},
    {"DoneForgotten", "a pod that is gone when its attempt fails stays in flight"},
    {"DeletedPodKeepsRoom", "a pod deleted on its way to a node keeps its room there"},
    {"WrongPluginMask", "an event is taken for one that interests other plugins"},
    {"CutFrameDropped", "the first part of a watch event that comes in two pieces is lost"},
    {"PreemptorsNotHeld", "PreEnqueue lets preemptors through while their victims are evicted"},
    {"NominationsIgnored", "filters do not see pods that are nominated to the node"},
    {"BudgetSplitReversed", "victims whose eviction violates a budget are taken for the others"},
    {"EvictionErrorSwallowed", "an eviction that failed counts as done"},
    {"FenceNotAsked", "a write is sent without asking whether the lease is still held"},
    {"CaughtUpTooEarly", "any news of the pods counts as all that the former leader did"},
    {"VolumeStaysAssumed", "what was assumed of volumes stays so when the attempt fails"},
    {"ClaimsNotAwaited", "PreBind does not wait until the claims are bound"},
    {"StalePreemptAnswers", "what extenders said of candidates counts whatever has become of them"},
    {"ResizeEndUnseen", "a pod whose resize is done stays in the queue"},
    {"VolumePatchUnguarded", "a volume is written whatever has become of it meanwhile"},
}};

}  // namespace ks::sim
