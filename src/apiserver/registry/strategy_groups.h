// SPDX-License-Identifier: Apache-2.0
#pragma once
// What groups of pods (scheduling.k8s.io) and the templates of Workloads share: the checks of their
// fields, on creation and on updates. For strategy*.cc only; everywhere JSON of any form is taken.
//
// Upstream: docs/spec/pod-groups.md section 2; texts as the real kube-apiserver gives them.

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry/strategy_check.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// Which kind's list AddDuplicate (strategy_devices.h) is to show.
struct ListPlace {
  std::string_view kind;
  std::string_view path;
};

// Names as these kinds have them: lengths are counted in bytes.
std::vector<std::string> GroupSubdomainErrors(std::string_view name);
std::vector<std::string> GroupLabelErrors(std::string_view name);

// Exactly one of the members is set.
void CheckUnion(const std::string& field, const Json& object,
                std::initializer_list<std::string_view> members, Causes& causes);
// Whether `owner`.`name`, which never changes, is to be looked at: on creation (`before` is no
// object). A change is a cause.
bool IsNewField(const std::string& owner_field, const Json& before, const Json& owner,
                std::string_view name, Causes& causes);
// schedulingPolicy, whose kind is fixed, and whose `count` is not.
void CheckSchedulingPolicy(const std::string& owner_field, const Json& before, const Json& owner,
                           std::string_view count, Causes& causes);
// The fields behind the policy, all fixed. `claims`: where resourceClaims stand.
void CheckGroupFields(const std::string& owner_field, const Json& before, const Json& owner,
                      const ListPlace& claims, Causes& causes);

// strategy_workload.cc
// `before`: no object on creation.
void CheckWorkload(const Json& before, const Json& workload, Causes& causes);

}  // namespace ks::apiserver
