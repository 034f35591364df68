// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs that ask a running kubesched. Each prints to standard output, errors to standard error,
// and returns the exit status: 0 for an answer, 1 for none.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "kubeschedctl/cluster/daemon_access.h"

namespace ks::ctl {

// What all of them have.
struct LiveOptions {
  DaemonOptions daemon;
  bool json = false;
};

struct LiveQueueOptions {
  LiveOptions live;
  std::string ns{};
  std::string pod{};
  std::string plugin{};
  std::string part{};
  int64_t limit = 500;  // 0: all
};
int RunLiveQueue(const LiveQueueOptions& options);

struct LiveDecisionsOptions {
  LiveOptions live;
  std::string ns{};
  std::string pod{};
  std::string node{};
  std::string result{};
  int64_t limit = 50;  // 0: all
};
int RunLiveDecisions(const LiveDecisionsOptions& options);

struct LiveCacheOptions {
  LiveOptions live;
  std::string node{};
  bool pods = false;
  bool compare = false;
};
// 1 also when a comparison found differences.
int RunLiveCache(const LiveCacheOptions& options);

struct LiveSimulateOptions {
  LiveOptions live;
  std::string file{};     // "-": standard input
  int64_t replicas = -1;  // negative: as the manifests say
  bool fill = false;      // how many more fit
  // What would be different: inspect::ClusterChanges, an entry each.
  std::vector<std::string> more_nodes{};
  std::vector<std::string> without_nodes{};
  std::vector<std::string> weights{};
};
int RunLiveSimulate(const LiveSimulateOptions& options);

struct LiveExplainOptions {
  LiveOptions live;
  std::string ns{};
  std::string pod{};  // [NAMESPACE/]POD, or a group (inspect::ParseGroupName)
  std::string node{};
  bool preemption = false;
  bool suggest = false;
};
int RunLiveExplain(const LiveExplainOptions& options);

struct TopOptions {
  LiveOptions live;
  std::chrono::seconds interval{2};
  int64_t rounds = 0;  // 0: until interrupted; one when the output is no terminal, or JSON
};
int RunTop(const TopOptions& options);

// [NAMESPACE/]POD or a group's name, with this namespace if it names none; empty stays empty.
std::string InNamespace(const std::string& name, const std::string& ns);

// Targets at the daemon, with their queries.
std::string QueueTarget(const LiveQueueOptions& options);
std::string DecisionsTarget(const LiveDecisionsOptions& options);
std::string CacheTarget(const LiveCacheOptions& options);
std::string SimulateTarget(const LiveSimulateOptions& options);
std::string ExplainTarget(const LiveExplainOptions& options);

}  // namespace ks::ctl
