// SPDX-License-Identifier: Apache-2.0
#pragma once
// Feature gates: which of upstream's are known, their stages at each emulated version, locks,
// dependencies; and the set in force.
//
// Upstream: docs/spec/config.md section 9.

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ks::config {

// Gates that matter to a scheduler (9.2). feature_gate_table.cc has all others by name.
enum class Gate : uint8_t {
  kCompositePodGroup,
  kComponentFlagz,
  kComponentStatusz,
  kContextualLogging,
  kCoordinatedLeaderElection,
  kDRAAdminAccess,
  kDRAConsumableCapacity,
  kDRADerivedAttributes,
  kDRADeviceBindingConditions,
  kDRADeviceCompatibilityGroups,
  kDRADeviceTaintRules,
  kDRADeviceTaints,
  kDRAExtendedResource,
  kDRAFractionalCapacityRange,
  kDRAListTypeAttributes,
  kDRANodeAllocatableResources,
  kDRAOptionalNodeOperations,
  kDRAPartitionableDevices,
  kDRAPrioritizedList,
  kDRAResourceClaimDeviceStatus,
  kDRASchedulerFilterTimeout,
  kDRAWorkloadResourceClaims,
  kDynamicResourceAllocation,
  kGenericWorkload,
  kInPlacePodLevelResourcesVerticalScaling,
  kInPlacePodVerticalScaling,
  kInPlacePodVerticalScalingSchedulerPreemption,
  kInterPodAffinityHostnameFastPath,
  kLoggingAlphaOptions,
  kLoggingBetaOptions,
  kMatchLabelKeysInPodTopologySpread,
  kNativeHistograms,
  kNodeDeclaredFeatures,
  kNodeInclusionPolicyInPodTopologySpread,
  kNominatedNodeNameForExpectation,
  kOpportunisticBatching,
  kPodGroupPreemptionPolicy,
  kPodLevelResources,
  kRemoteRequestHeaderUID,
  kSchedulerAsyncAPICalls,
  kSchedulerAsyncPreemption,
  kSchedulerPopFromBackoffQ,
  kSchedulerPreQueueingHints,
  kStorageCapacityScoring,
  kTaintTolerationComparisonOperators,
  kTopologyAwareWorkloadScheduling,
  kVolumeAttributesClass,
  kVolumeLimitScaling,
  kCount,
};

struct GateFlags {
  std::vector<std::string> feature_gates;              // values of --feature-gates, in order
  std::vector<std::string> emulated_version;           // values of --emulated-version
  std::vector<std::string> min_compatibility_version;  // values of --min-compatibility-version
};

// What upstream finds at once but says later, with the checks of the other options.
struct LateGateFindings {
  std::vector<std::string> errors;    // versions out of range
  std::vector<std::string> warnings;  // alpha gates that are on
};

// The gates in force. Threads: immutable after Make. Cheap to copy.
class FeatureGates {
 public:
  // Defaults of v1.37.
  FeatureGates();

  // Errors: the texts of 9.1 and 9.3. `notes` gets what upstream logs at once (GA and deprecated
  // gates that are set), as whole klog messages with the severity letter first ("I…"). With `late`,
  // its findings do not fail this call; without, its errors do and its warnings are notes ("W…").
  // Both may be null.
  static Result<FeatureGates> Make(const GateFlags& flags, std::vector<std::string>* notes,
                                   LateGateFindings* late = nullptr);

  bool Enabled(Gate gate) const { return enabled_[static_cast<size_t>(gate)]; }
  // For tests: no checks.
  void Set(Gate gate, bool on) { enabled_[static_cast<size_t>(gate)] = on; }

  // Gates that are set to a value that this version of kubesched does not implement, one sentence
  // each naming gate, value and cure; empty: all fine.
  std::vector<std::string> NotImplemented() const;

  bool operator==(const FeatureGates&) const = default;

 private:
  using Bits = std::bitset<static_cast<size_t>(Gate::kCount)>;
  explicit FeatureGates(Bits enabled) : enabled_(enabled) {}

  Bits enabled_;
};

// A gate that exists at the emulated version.
struct GateState {
  std::string_view name;
  std::string_view stage;  // "ALPHA", "BETA", "DEPRECATED"; empty: GA
  bool on = false;
};
struct GateReport {
  std::string emulated;           // "1.37"
  std::string min_compatibility;  // "1.36"
  std::vector<GateState> gates;   // sorted by name
};
// What the flags come to. Requires: FeatureGates::Make accepts them.
GateReport ReportGates(const GateFlags& flags);

// Lines of --help for --feature-gates: `kube:<name>=true|false (BETA - default=true)`, sorted.
std::vector<std::string> FeatureGateHelp();

}  // namespace ks::config
