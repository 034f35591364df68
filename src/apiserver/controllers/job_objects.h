// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jobs and their pods as the job controller sees them, and the objects that it makes of them: pure
// functions, no timing.
//
// Upstream: docs/spec/pod-groups.md section 3; kube-controller-manager v1.37.1.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/store/object.h"

namespace ks::apiserver::jobs {

inline constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";

// What cannot be read counts as absent; the API server has checked it.
struct Job {
  std::string ns;
  std::string name;
  std::string uid;
  int64_t parallelism = 1;
  std::optional<int64_t> completions;  // none: done when one pod has succeeded and all have ended
  int64_t backoff_limit = 6;
  bool indexed = false;
  bool suspended = false;
  bool finished = false;  // Complete or Failed
  bool terminating = false;
  bool own_group = false;       // the template names a group
  std::optional<int64_t> gang;  // pods that it wants placed together
  std::set<int64_t> completed;  // indexes
  int64_t succeeded = 0;
  int64_t failed = 0;
};
Job ReadJob(const Json& json);

struct Pod {
  std::string job;  // uid of the Job that controls it; empty: none
  enum class Phase : uint8_t { kActive, kSucceeded, kFailed } phase = Phase::kActive;
  bool ready = false;
  bool tracked = false;  // has the finalizer: nobody counted it yet
  std::optional<int64_t> index;
};
// A pod that is being deleted before it has ended counts as failed.
Pod ReadPod(const Json& json);

// "0-2,5"
std::string IndexesText(const std::set<int64_t>& indexes);
std::set<int64_t> ReadIndexes(std::string_view text);

// A pod of the Job's template. `index`: of an indexed Job. `group`: of its PodGroup; empty: none.
Json NewPod(const Json& job, std::optional<int64_t> index, const std::string& group);

// Names that a Job's own objects have, whatever happened to earlier ones.
std::string WorkloadName(const Job& job);
std::string GroupName(const Job& job);
Json NewWorkload(const Json& job);
Json NewGroup(const Json& job, const StoredObject& workload);

// Sets a condition, `now` being the time of its change; one that is there changes its status.
void SetCondition(Json& status, std::string_view type, bool value, std::string_view reason,
                  std::string_view message, const std::string& now);
bool HasCondition(const Json& job, std::string_view type);

}  // namespace ks::apiserver::jobs
