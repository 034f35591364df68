// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/job_controller.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/controllers/controller_event.h"
#include "apiserver/controllers/job_objects.h"
#include "apiserver/controllers/volume_controller_objects.h"
#include "apiserver/store/json_fields.h"
#include "apiserver/store/log_cursor.h"

namespace ks::apiserver {
namespace {

using jobs::Job;
using jobs::Pod;

constexpr Duration kRetry = std::chrono::seconds(10);  // after something could not be made

// Objects by namespace and name.
using Key = std::pair<std::string, std::string>;
Key KeyOf(const StoredObject& object) { return {object.ns, object.name}; }

class JobController final : public Controller {
 public:
  explicit JobController(Service& service)
      : registry_(service.registry()), store_(service.store()), clock_(service.clock()) {}

  void Step() override {
    Read();
    for (auto it = retries_.begin(); it != retries_.end();) {
      if (it->second > clock_.Now()) {
        ++it;
        continue;
      }
      dirty_.insert(it->first);
      it = retries_.erase(it);
    }
    while (!dirty_.empty()) {
      const Key key = *dirty_.begin();
      dirty_.erase(dirty_.begin());
      Sync(key);
      Read();
    }
  }
  std::optional<TimePoint> NextDue() const override {
    if (job_log_.Unread() || pod_log_.Unread() || !dirty_.empty()) return clock_.Now();
    std::optional<TimePoint> due;
    for (const auto& [key, at] : retries_) due = due ? std::min(*due, at) : at;
    return due;
  }

 private:
  // The pods of a Job, by name.
  using Pods = std::map<std::string, Pod>;
  // A Job that is looked at.
  struct Work {
    ObjectPtr object;
    Json json{};
    Job job{};
    Json status{};
    std::string group{};  // that its pods are to name; empty: none
  };

  void Read();
  void Rebuild();
  void ReadPod(const StoredObject& pod, bool deleted);
  void CleanUp(const StoredObject& job);
  void DeleteOwned(const KindInfo& kind, const StoredObject& job);

  void Sync(const Key& key);
  void Count(Work& work, Pods& pods);
  bool End(Work& work, Pods& pods);
  void SayEnd(Work& work, bool complete);
  void Suspend(Work& work, Pods& pods);
  void Resume(Work& work);
  bool PrepareGroup(Work& work);
  void FollowGang(const Work& work, const StoredObject& workload, const StoredObject& group);
  void Adjust(Work& work, Pods& pods);
  void MakePods(Work& work, const std::vector<std::optional<int64_t>>& indexes);
  std::vector<std::optional<int64_t>> Missing(const Work& work, const Pods& pods) const;
  size_t DeletePods(const Work& work, Pods& pods, size_t kept);
  void WriteStatus(Work& work, const Pods& pods);
  void Untrack(const std::string& ns, const std::string& pod);
  void Say(const Work& work, std::string_view reason, const std::string& message,
           std::string_view type = "Normal");
  // Says it and looks again later.
  void Failed(const Work& work, const Failure& failure);

  static size_t CountActive(const Pods& pods) {
    return static_cast<size_t>(std::count_if(pods.begin(), pods.end(), [](const auto& each) {
      return each.second.phase == Pod::Phase::kActive;
    }));
  }

  const KindInfo& job_kind_ = *FindResource("batch", "v1", "jobs");
  const KindInfo& pod_kind_ = *FindResource("", "v1", "pods");
  const KindInfo& group_kind_ = *FindResource("scheduling.k8s.io", "v1beta1", "podgroups");
  const KindInfo& workload_kind_ = *FindResource("scheduling.k8s.io", "v1beta1", "workloads");

  Registry& registry_;
  Store& store_;
  const Clock& clock_;
  LogCursor job_log_{store_, job_kind_};
  LogCursor pod_log_{store_, pod_kind_};
  std::map<std::string, Key> names_;   // of Jobs, by uid
  std::map<std::string, Pods> pods_;   // by uid of their Job; no empty ones
  std::map<Key, std::string> job_of_;  // uid of a pod's Job
  std::map<Key, TimePoint> retries_;
  std::set<Key> dirty_;
};

void JobController::Read() {
  if (job_log_.Lost() || pod_log_.Lost()) return Rebuild();
  while (const Change* change = job_log_.Next()) {
    // The change goes with the next write.
    const ObjectPtr job = change->object;
    if (change->type == Change::Type::kDeleted) {
      CleanUp(*job);
    } else {
      names_[job->uid] = KeyOf(*job);
      dirty_.insert(KeyOf(*job));
    }
  }
  while (const Change* change = pod_log_.Next()) {
    ReadPod(*change->object, change->type == Change::Type::kDeleted);
  }
}

void JobController::Rebuild() {
  job_log_.Restart();
  pod_log_.Restart();
  names_.clear();
  pods_.clear();
  job_of_.clear();
  for (const auto& [key, job] : store_.objects(job_kind_)) {
    names_[job->uid] = KeyOf(*job);
    dirty_.insert(KeyOf(*job));
  }
  for (const auto& [key, pod] : store_.objects(pod_kind_)) ReadPod(*pod, false);
}

void JobController::ReadPod(const StoredObject& object, bool deleted) {
  const Key key = KeyOf(object);
  if (const auto known = job_of_.find(key); known != job_of_.end()) {
    if (const auto name = names_.find(known->second); name != names_.end()) {
      dirty_.insert(name->second);
    }
    const auto pods = pods_.find(known->second);
    pods->second.erase(object.name);
    if (pods->second.empty()) pods_.erase(pods);
    job_of_.erase(known);
  }
  if (deleted || object.text.find("\"kind\":\"Job\"") == std::string::npos) return;
  const Pod pod = jobs::ReadPod(object.Parse());
  if (pod.job.empty()) return;
  pods_[pod.job][object.name] = pod;
  job_of_[key] = pod.job;
  if (const auto name = names_.find(pod.job); name != names_.end()) dirty_.insert(name->second);
}

// Nobody else collects what belonged to a Job that is gone.
void JobController::CleanUp(const StoredObject& job) {
  names_.erase(job.uid);
  retries_.erase(KeyOf(job));
  if (const auto pods = pods_.find(job.uid); pods != pods_.end()) {
    const Pods copy = pods->second;
    for (const auto& [name, pod] : copy) {
      if (pod.tracked) Untrack(job.ns, name);
      [[maybe_unused]] const auto deleted = registry_.Delete(pod_kind_, job.ns, name, {});
    }
  }
  DeleteOwned(group_kind_, job);
  DeleteOwned(workload_kind_, job);
}

void JobController::DeleteOwned(const KindInfo& kind, const StoredObject& job) {
  std::vector<std::string> owned;
  for (const auto& [key, object] : store_.objects(kind)) {
    if (object->ns == job.ns && object->text.find(job.uid) != std::string::npos) {
      owned.push_back(object->name);
    }
  }
  for (const std::string& name : owned) {
    [[maybe_unused]] const auto deleted = registry_.Delete(kind, job.ns, name, {});
  }
}

void JobController::Sync(const Key& key) {
  Work work{.object = store_.Find(job_kind_, key.first, key.second)};
  if (work.object == nullptr) return;
  work.json = work.object->Parse();
  work.job = jobs::ReadJob(work.json);
  if (work.job.terminating) return;
  const Json* status = Find(work.json, "status");
  work.status = status == nullptr || !status->is_object() ? Json::object() : *status;
  const auto found = pods_.find(work.job.uid);
  Pods pods = found == pods_.end() ? Pods() : found->second;
  Count(work, pods);
  if (work.job.finished) return;
  if (!End(work, pods)) {
    const bool grouped = work.job.own_group || PrepareGroup(work);
    if (work.job.suspended) {
      Suspend(work, pods);
    } else {
      Resume(work);
      if (grouped) Adjust(work, pods);
    }
  }
  WriteStatus(work, pods);
}

// Pods that have ended are counted once, then they may go.
void JobController::Count(Work& work, Pods& pods) {
  Job& job = work.job;
  for (auto& [name, pod] : pods) {
    if (!pod.tracked || pod.phase == Pod::Phase::kActive) continue;
    if (!job.finished && pod.phase == Pod::Phase::kFailed) ++job.failed;
    if (!job.finished && pod.phase == Pod::Phase::kSucceeded) {
      if (!job.indexed) {
        ++job.succeeded;
      } else if (pod.index && *pod.index < job.completions.value_or(0)) {
        job.completed.insert(*pod.index);
      }
    }
    pod.tracked = false;
    Untrack(job.ns, name);
  }
  if (job.indexed) job.succeeded = static_cast<int64_t>(job.completed.size());
}

// Whether the Job ends here.
bool JobController::End(Work& work, Pods& pods) {
  Job& job = work.job;
  const bool failed = job.failed > job.backoff_limit;
  const bool complete = job.completions ? job.succeeded >= *job.completions
                                        : job.succeeded > 0 && CountActive(pods) == 0;
  if (!failed && !complete) return false;
  const size_t active = DeletePods(work, pods, 0);
  if (failed) job.failed += static_cast<int64_t>(active);
  SayEnd(work, !failed);
  return true;
}

void JobController::SayEnd(Work& work, bool complete) {
  const std::string now = registry_.Now();
  if (complete) {
    for (const char* type : {"SuccessCriteriaMet", "Complete"}) {
      jobs::SetCondition(work.status, type, true, "CompletionsReached",
                         "Reached expected number of succeeded pods", now);
    }
    work.status["completionTime"] = now;
    Say(work, "Completed", "Job completed");
    return;
  }
  const std::string message = "Job has reached the specified backoff limit";
  for (const char* type : {"FailureTarget", "Failed"}) {
    jobs::SetCondition(work.status, type, true, "BackoffLimitExceeded", message, now);
  }
  Say(work, "BackoffLimitExceeded", message, "Warning");
}

void JobController::Suspend(Work& work, Pods& pods) {
  DeletePods(work, pods, 0);
  if (jobs::HasCondition(work.json, "Suspended")) return;
  jobs::SetCondition(work.status, "Suspended", true, "JobSuspended", "Job suspended",
                     registry_.Now());
  work.status.erase("startTime");
  Say(work, "Suspended", "Job suspended");
}

void JobController::Resume(Work& work) {
  const std::string now = registry_.Now();
  if (jobs::HasCondition(work.json, "Suspended")) {
    jobs::SetCondition(work.status, "Suspended", false, "JobResumed", "Job resumed", now);
    Say(work, "Resumed", "Job resumed");
  }
  if (Find(work.status, "startTime") == nullptr) work.status["startTime"] = now;
}

// Makes what of Workload and PodGroup is missing. False: they could not be made.
bool JobController::PrepareGroup(Work& work) {
  const Job& job = work.job;
  ObjectPtr workload = store_.Find(workload_kind_, job.ns, jobs::WorkloadName(job));
  if (workload == nullptr) {
    const auto made = registry_.Create(workload_kind_, job.ns, jobs::NewWorkload(work.json));
    if (!made.ok()) {
      Failed(work, made.failure());
      return false;
    }
    workload = *made;
    Say(work, "WorkloadCreated", "Created Workload " + workload->name + " for Job " + job.name);
  }
  ObjectPtr group = store_.Find(group_kind_, job.ns, jobs::GroupName(job));
  if (group == nullptr) {
    const auto made = registry_.Create(group_kind_, job.ns, jobs::NewGroup(work.json, *workload));
    if (!made.ok()) {
      Failed(work, made.failure());
      return false;
    }
    group = *made;
    Say(work, "PodGroupCreated", "Created PodGroup " + group->name + " for Job " + job.name);
  }
  work.group = group->name;
  if (job.gang) FollowGang(work, *workload, *group);
  return true;
}

// The pods that a gang needs change with the Job.
void JobController::FollowGang(const Work& work, const StoredObject& workload,
                               const StoredObject& group) {
  const int64_t wanted = *work.job.gang;
  const Json::json_pointer in_group("/spec/schedulingPolicy/gang/minCount");
  const Json::json_pointer in_workload("/spec/podGroupTemplates/0/schedulingPolicy/gang/minCount");
  const auto set = [&](const KindInfo& kind, const StoredObject& object,
                       const Json::json_pointer& at) {
    if (const Json json = object.Parse(); !json.contains(at) || json.at(at) == wanted) return;
    registry_.OverwriteIfThere(kind, object.ns, object.name,
                               [&](Json& json) { json[at] = wanted; });
  };
  set(workload_kind_, workload, in_workload);
  set(group_kind_, group, in_group);
}

void JobController::Adjust(Work& work, Pods& pods) {
  const Job& job = work.job;
  const size_t active = CountActive(pods);
  int64_t wanted = job.parallelism;
  if (job.completions) {
    wanted = std::min(wanted, *job.completions - job.succeeded);
  } else if (job.succeeded > 0) {  // those that run are the last ones
    wanted = std::min(wanted, static_cast<int64_t>(active));
  }
  const auto most = static_cast<size_t>(std::max<int64_t>(wanted, 0));
  if (active > most) {
    DeletePods(work, pods, most);
  } else if (active < most) {
    std::vector<std::optional<int64_t>> indexes(most - active);
    MakePods(work, job.indexed ? Missing(work, pods) : indexes);
  }
}

// The lowest indexes that have neither a pod nor succeeded, as many as may run.
std::vector<std::optional<int64_t>> JobController::Missing(const Work& work,
                                                           const Pods& pods) const {
  std::set<int64_t> taken = work.job.completed;
  for (const auto& [name, pod] : pods) {
    if (pod.phase == Pod::Phase::kActive && pod.index) taken.insert(*pod.index);
  }
  const auto most = static_cast<size_t>(std::max<int64_t>(work.job.parallelism, 0));
  const size_t active = CountActive(pods);
  std::vector<std::optional<int64_t>> missing;
  for (int64_t i = 0; i < work.job.completions.value_or(0); ++i) {
    if (active + missing.size() >= most) break;
    if (!taken.contains(i)) missing.emplace_back(i);
  }
  return missing;
}

void JobController::MakePods(Work& work, const std::vector<std::optional<int64_t>>& indexes) {
  for (const std::optional<int64_t>& index : indexes) {
    const auto made =
        registry_.Create(pod_kind_, work.job.ns, jobs::NewPod(work.json, index, work.group));
    if (!made.ok()) return Failed(work, made.failure());
    Say(work, "SuccessfulCreate", "Created pod: " + (*made)->name);
  }
}

// Deletes active pods until `kept` are left, those that are not ready and have high indexes first;
// they are not counted. Returns how many.
size_t JobController::DeletePods(const Work& work, Pods& pods, size_t kept) {
  std::vector<std::string> active;
  for (const auto& [name, pod] : pods) {
    if (pod.phase == Pod::Phase::kActive) active.push_back(name);
  }
  const auto rank = [&pods](const std::string& name) {
    const Pod& pod = pods.at(name);
    return std::pair(!pod.ready, pod.index.value_or(0));
  };
  std::stable_sort(active.begin(), active.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  for (size_t i = kept; i < active.size(); ++i) {
    Untrack(work.job.ns, active[i]);
    const auto deleted = registry_.Delete(pod_kind_, work.job.ns, active[i], {});
    if (deleted.ok()) Say(work, "SuccessfulDelete", "Deleted pod: " + active[i]);
    pods.erase(active[i]);
  }
  return active.size() - std::min(kept, active.size());
}

void JobController::WriteStatus(Work& work, const Pods& before) {
  Read();
  const auto found = pods_.find(work.job.uid);
  const Pods& pods = found == pods_.end() ? before : found->second;
  const auto set = [&work](const char* key, int64_t number) {
    work.status.erase(key);
    if (number > 0) work.status[key] = number;
  };
  const bool ended = jobs::HasCondition({{"status", work.status}}, "Complete") ||
                     jobs::HasCondition({{"status", work.status}}, "Failed");
  set("active", ended ? 0 : static_cast<int64_t>(CountActive(pods)));
  set("succeeded", work.job.succeeded);
  set("failed", work.job.failed);
  work.status["ready"] = std::count_if(pods.begin(), pods.end(), [&](const auto& each) {
    return !ended && each.second.phase == Pod::Phase::kActive && each.second.ready;
  });
  work.status["terminating"] = 0;
  work.status["uncountedTerminatedPods"] = Json::object();
  if (work.job.indexed && !work.job.completed.empty()) {
    work.status["completedIndexes"] = jobs::IndexesText(work.job.completed);
  }
  registry_.OverwriteIfThere(job_kind_, work.job.ns, work.job.name,
                             [&work](Json& json) { json["status"] = work.status; });
}

void JobController::Untrack(const std::string& ns, const std::string& pod) {
  registry_.OverwriteIfThere(pod_kind_, ns, pod,
                             [](Json& json) { volumes::RemoveFinalizer(json, jobs::kTracking); });
}

void JobController::Say(const Work& work, std::string_view reason, const std::string& message,
                        std::string_view type) {
  RecordEvent(registry_, *work.object,
              {.component = "job-controller",
               .type = std::string(type),
               .reason = std::string(reason),
               .message = message});
}

void JobController::Failed(const Work& work, const Failure& failure) {
  Say(work, "FailedCreate", "Error creating: " + failure.message, "Warning");
  retries_[KeyOf(*work.object)] = clock_.Now() + kRetry;
}

}  // namespace

std::unique_ptr<Controller> NewJobController(Service& service) {
  return std::make_unique<JobController>(service);
}

}  // namespace ks::apiserver
