// SPDX-License-Identifier: Apache-2.0
#pragma once
// What must hold of groups of pods at the API server, after every write.
//
// Upstream: docs/spec/pod-groups.md section 4.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/pod.h"
#include "api/pod_group.h"
#include "apiserver/service/service.h"

namespace ks::sim {

class ApiModel;

// "namespace/name" of the PodGroup that the pod is a member of; empty: of none.
std::string GroupOf(const api::Pod& pod);

// The API server's state of groups and members, followed write by write. Threads: one. Lifetime:
// the model owns it.
//
// A gang may be left torn, with fewer members on nodes than it wants: no binding is taken back
// because that of a sibling failed, as with kube-scheduler. From such an event on until the gang is
// whole again it is not asked for its number.
class GangWatch {
 public:
  using Fail = std::function<void(const std::string& what)>;

  GangWatch(ApiModel& api, apiserver::Store& store, Fail fail);

  // After every write.
  void Look();

  // A scheduler gives a member a node, for good. `known`: what it has been told of the group.
  struct Known {
    std::string uid{};                           // of the object
    std::string version{};                       // likewise
    std::map<std::string, std::string> nodes{};  // of the members, by uid
  };
  void Decided(const std::string& scheduler, const api::Pod& pod, const Known& known);
  // It takes the node back.
  void GivenUp(const api::Pod& pod);
  // It takes the member to be on its node.
  void Landed(const api::Pod& pod);
  // The scheduler is gone.
  void Orphaned(const std::string& scheduler);
  // A scheduler sends a condition of the group, and has its answer.
  void ConditionSent(const std::string& scheduler, const api::PodGroup& group, bool scheduled);
  void ConditionAnswered(const api::PodGroup& group, bool scheduled, bool done);

  // Once nothing happens any more, and the groups wait: `fresh` has the conditions that a scheduler
  // without a past would write, by key. Empty: all is as it should be.
  // `pods`: all that live, nominated as their scheduler thinks of them.
  std::string AtEnd(const std::map<std::string, api::Condition>& fresh,
                    const std::vector<api::PodPtr>& pods) const;

 private:
  struct Gang {
    api::PodGroupPtr object;
    std::map<std::string, api::PodPtr> members;    // by uid: they have not ended
    std::map<std::string, std::string> under_way;  // uids, and the schedulers that bind them
    std::set<std::string> orphans;                 // uids: the schedulers that bound them are gone
    std::set<std::string> ever;                    // uids of all that it ever had
    std::optional<int32_t> least;                  // minCount
    bool torn = false;
    bool is_owed_news = false;    // it is gone, and a condition of it is under way
    bool is_overwritten = false;  // its last change was a condition that came late
  };

  void NoteMisaddressed(const api::PodGroup& group);
  void GroupChanged(const apiserver::Change& change);
  void PodChanged(const apiserver::Change& change);
  void MemberBound(const std::string& key, const Gang& gang, const api::Pod& pod);
  void Judge(const std::string& key, Gang& gang);
  static int64_t OnNodes(const Gang& gang);
  std::string WhyConditionIsWrong(const std::string& key, const Gang& gang,
                                  const api::Condition* fresh) const;
  std::string WhyItFits(const Gang& gang, const std::vector<api::PodPtr>& pods) const;

  ApiModel& api_;
  apiserver::Store& store_;
  const Fail fail_;
  uint64_t groups_read_ = 0;
  uint64_t pods_read_ = 0;
  std::map<std::string, Gang> gangs_;   // by key
  std::set<std::string> decided_;       // uids of groups, as their schedulers knew them
  std::set<std::string> once_decided_;  // keys
  // Uids of groups whose news of having been scheduled may be lost; conditions under way, with
  // their schedulers.
  std::map<std::string, std::string> sending_;
  std::set<std::string> in_doubt_;  // uids of groups
  // Whose news of having been scheduled came last, by uid.
  std::map<std::string, std::string> told_by_;
  // Those of which a condition may come from somebody who does not know yet that they were
  // scheduled: from a scheduler that died with it under way, from a successor whose lists were
  // older, or late, from a request that was given up.
  std::set<std::string> late_;
};

}  // namespace ks::sim
