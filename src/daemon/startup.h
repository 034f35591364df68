// SPDX-License-Identifier: Apache-2.0
#pragma once
// Would a scheduler start with this configuration? The one judge of it: the daemon starts by it and
// reloads by it, and kubeschedctl check-config says what it says. What depends on other flags
// (listener, certificates, authorization) is the daemon's own.
//
// Upstream: docs/spec/config.md section 1, steps 8 to 12, and section 2.9 (which error wins).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/auth/kubeconfig.h"
#include "config/gates/feature_gates.h"
#include "config/read/load.h"
#include "config/text/findings.h"
#include "config/types.h"
#include "framework/registry.h"

namespace ks::daemon {

struct StartupQuestion {
  // How far the start is to go.
  enum class Until : uint8_t {
    kReloaded,  // what a running scheduler can take over: nothing about clients and election
    kWritten,   // --write-config-to: everything but running
    kRunning,
  };
  // Where the scheduler is going to run.
  enum class Place : uint8_t {
    kHere,       // in this process' place: in-cluster configuration is looked for
    kPerhaps,    // files that the configuration names are here, a pod's own are not
    kElsewhere,  // they are not here either
  };

  const config::FeatureGates& gates;
  Until until = Until::kRunning;
  Place place = Place::kHere;
  const framework::Registry* registry = nullptr;  // of plugins; null: those in the tree
  std::string master{};                           // --master
  // The caller's own steps between the kubeconfig and the rest; only while nothing is wrong.
  std::function<Result<void>()> between{};
};

struct StartupVerdict {
  // Complete, with what extenders change in it. As it is meant only without faults.
  config::Configuration configuration{};
  client::ClusterAccess access{};  // unless kReloaded, kElsewhere, or for a pod
  // Upstream's text (empty: it starts), and everything that is wrong, by place in the file.
  config::Faults faults{};
  std::vector<config::Finding> warnings{};  // beside those of the reading
};

// Blocks for a few files; asks nobody. Requires: InitializeClientProcess() ran, unless kReloaded.
StartupVerdict JudgeStartup(const config::Reading& reading, const StartupQuestion& question);

}  // namespace ks::daemon
