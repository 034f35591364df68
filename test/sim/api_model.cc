// SPDX-License-Identifier: Apache-2.0
#include "sim/api_model.h"

#include <array>
#include <utility>

#include "apiserver/controllers/pod_group_controller.h"
#include "client/election/lease_object.h"
#include "framework/node_info.h"
#include "sim/device_model.h"
#include "sim/slow_controller.h"
#include "sim/volume_model.h"

namespace ks::sim {
namespace {

using apiserver::ApiRequest;
using apiserver::ApiResponse;
using apiserver::KindInfo;
using apiserver::Part;

const KindInfo& KindOf(std::string_view plural) {
  constexpr std::array<std::string_view, 7> kGroups = {"",
                                                       "apps",
                                                       "scheduling.k8s.io",
                                                       "policy",
                                                       "storage.k8s.io",
                                                       "coordination.k8s.io",
                                                       "resource.k8s.io"};
  const KindInfo* kind = nullptr;
  for (const std::string_view group : kGroups) {
    for (const std::string_view version : {"v1", "v1beta1", "v1alpha3"}) {
      if (kind == nullptr) kind = apiserver::FindResource(group, version, plural);
    }
  }
  KS_CHECK(kind != nullptr, "a kind of the simulation is not stored");
  return *kind;
}

// spec.nodeName without parsing the whole object: fields are kept beside the text.
std::string NodeName(const apiserver::StoredObject& pod) {
  const auto& names = pod.kind->selectable_fields;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "spec.nodeName") return pod.fields[i];
  }
  KS_CHECK(false, "pods can be selected by spec.nodeName");
  return {};
}

bool StoredPodIsFinished(const apiserver::StoredObject& pod) {
  const auto& names = pod.kind->selectable_fields;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "status.phase") {
      return pod.fields[i] == "Succeeded" || pod.fields[i] == "Failed";
    }
  }
  return false;
}

// A change that the registry may ask for, and that refuses nothing.
auto NeverRefused(const std::function<void(apiserver::Json&)>& change) {
  return [&change](apiserver::Json& json) -> std::optional<apiserver::Failure> {
    change(json);
    return std::nullopt;
  };
}

}  // namespace

ApiModel::ApiModel(EventLoop& loop, Trace& trace, const Plan& plan, Fail fail)
    : loop_(loop),
      trace_(trace),
      plan_(plan),
      fail_(std::move(fail)),
      service_(loop, {.seed = plan.seed}) {
  seen_ = service_.store().NextSequence(KindOf("pods"));
  if (plan_.volumes) {
    for (auto& controller : NewSlowVolumeControllers(service_, plan_)) {
      service_.AddController(std::move(controller));
    }
    volume_watch_ = std::make_unique<VolumeWatch>(*this, service_.store(), plan_, fail_);
  }
  if (plan_.groups != 0) {
    service_.AddController(NewSlowController(
        service_,
        {.longest = plan_.group_delay, .outages = {}, .seed = plan_.seed ^ 0x70726f74656374ULL},
        apiserver::NewPodGroupController(service_)));
    gang_watch_ = std::make_unique<GangWatch>(*this, service_.store(), fail_);
  }
  if (!plan_.devices) return;
  for (auto& controller : NewSlowDeviceControllers(service_, plan_)) {
    service_.AddController(std::move(controller));
  }
  device_watch_ = std::make_unique<DeviceWatch>(
      *this, service_.store(), fail_,
      [this](const std::string& what) { trace_.Line(loop_.Now(), "server", "{}", what); });
}

void ApiModel::Restart() {
  ++restarts_;
  service_.store().ForgetHistory();
  service_.EndWatches();
}

ApiResponse ApiModel::Handle(const ApiRequest& request) {
  ApiResponse response = service_.Handle(request);
  AfterWrite();
  return response;
}

ApiResponse ApiModel::HandleStale(const ApiRequest& request) {
  asked_lists_.insert(request.target);
  const auto it = remembered_.find(request.target);
  if (it == remembered_.end()) return Handle(request);
  trace_.Line(loop_.Now(), "server", "stale answer to {}", request.target);
  ApiResponse response;
  response.body = it->second;
  return response;
}

void ApiModel::RememberLists() {
  for (const std::string& target : asked_lists_) {
    ApiResponse list = Handle({.target = target,
                               .accept = "application/json",
                               .user = {.name = "simulation", .groups = {"system:masters"}}});
    KS_CHECK(list.status == 200, "a list that was answered once is answered");
    remembered_[target] = std::move(list.body);
  }
}

// Controllers and timers of the service, and our own look at what changed.
void ApiModel::AfterWrite() {
  Watch();
  service_.Step();
  if (plan_.volumes || plan_.devices || plan_.groups != 0) Watch();
  const std::optional<TimePoint> next = service_.NextDue();
  if (!next.has_value() || (due_.has_value() && *due_ <= *next)) return;
  due_ = *next;
  loop_.At(*next, [this, when = *next] {
    if (due_ == when) due_.reset();
    AfterWrite();
  });
}

void ApiModel::Watch() {
  if (volume_watch_ != nullptr) volume_watch_->Look();
  if (device_watch_ != nullptr) device_watch_->Look();
  if (gang_watch_ != nullptr) gang_watch_->Look();
  const KindInfo& pods = KindOf("pods");
  while (const apiserver::Change* change = service_.store().At(pods, seen_)) {
    ++seen_;
    PodChanged(*change);
  }
}

void ApiModel::PodChanged(const apiserver::Change& change) {
  const apiserver::StoredObject& pod = *change.object;
  if (change.type == apiserver::Change::Type::kDeleted) return;
  if (pod_watcher_) pod_watcher_(Decoded<api::Pod>(pod));
  const std::string node = NodeName(pod);
  std::string& known = node_of_[pod.uid];
  if (node == known) return;
  if (!known.empty()) {
    fail_(fmt::format("pod {} was bound twice: to {} and to {}", pod.name, known,
                      node.empty() ? "nothing" : node));
    return;
  }
  known = node;
  ++binds_;
  last_bind_ = loop_.Now();
  trace_.Line(loop_.Now(), "server", "pod {} is on {}", pod.name, node);
  CheckCapacity(node);
  if (volume_watch_ != nullptr) volume_watch_->PodBound(*Decoded<api::Pod>(pod), node);
  if (device_watch_ != nullptr) device_watch_->PodBound(*Decoded<api::Pod>(pod), node);
}

void ApiModel::CheckCapacity(const std::string& name) {
  const apiserver::ObjectPtr node = Find("nodes", "", name);
  if (node == nullptr) return;
  framework::NodeInfo info(Decoded<api::Node>(*node));
  for (const auto& [key, pod] : Objects("pods")) {
    if (NodeName(*pod) != name || StoredPodIsFinished(*pod)) continue;
    info.AddPod(std::make_shared<const framework::PodInfo>(Decoded<api::Pod>(*pod)));
  }
  const bool fits =
      info.requested().milli_cpu <= info.allocatable().milli_cpu &&
      info.requested().memory <= info.allocatable().memory &&
      static_cast<int64_t>(info.pods().size()) <= info.allocatable().allowed_pod_number;
  if (fits) return;
  ++exceeded_;
  trace_.Line(loop_.Now(), "server", "node {} holds more than it has", name);
  if (plan_.strict_capacity) fail_("node " + name + " holds more than it has");
}

bool ApiModel::Create(std::string_view plural, std::string_view ns, apiserver::Json object) {
  const bool done = service_.registry().Create(KindOf(plural), ns, std::move(object)).ok();
  AfterWrite();
  return done;
}

bool ApiModel::Modify(std::string_view plural, std::string_view ns, std::string_view name,
                      const std::function<void(apiserver::Json&)>& change) {
  const auto outcome =
      service_.registry().Modify(KindOf(plural), ns, name, Part::kMain, NeverRefused(change));
  AfterWrite();
  return outcome.ok();
}

bool ApiModel::ModifyStatus(std::string_view plural, std::string_view ns, std::string_view name,
                            const std::function<void(apiserver::Json&)>& change) {
  const auto outcome =
      service_.registry().Modify(KindOf(plural), ns, name, Part::kStatus, NeverRefused(change));
  AfterWrite();
  return outcome.ok();
}

bool ApiModel::Overwrite(std::string_view plural, std::string_view ns, std::string_view name,
                         const std::function<void(apiserver::Json&)>& change) {
  const auto outcome =
      service_.registry().Overwrite(KindOf(plural), ns, name, NeverRefused(change));
  AfterWrite();
  return outcome.ok();
}

bool ApiModel::Delete(std::string_view plural, std::string_view ns, std::string_view name) {
  const auto outcome =
      service_.registry().Delete(KindOf(plural), ns, name, {.grace_period_seconds = 0});
  AfterWrite();
  return outcome.ok();
}

bool ApiModel::Terminate(std::string_view ns, std::string_view name) {
  const auto outcome = service_.registry().Delete(KindOf("pods"), ns, name);
  AfterWrite();
  return outcome.ok();
}

apiserver::ObjectPtr ApiModel::Find(std::string_view plural, std::string_view ns,
                                    std::string_view name) {
  return service_.store().Find(KindOf(plural), ns, name);
}

const apiserver::Store::Objects& ApiModel::Objects(std::string_view plural) {
  return service_.store().objects(KindOf(plural));
}

std::string ApiModel::NodeOf(const std::string& uid) const {
  const auto it = node_of_.find(uid);
  return it == node_of_.end() ? std::string() : it->second;
}

std::string ApiModel::LeaseHolder() {
  const apiserver::ObjectPtr stored = Find("leases", "kube-system", "kube-scheduler");
  if (stored == nullptr) return {};
  const auto lease = client::LeaseObject::Parse(stored->text);
  KS_CHECK(lease.ok(), "a stored lease can be read");
  return lease->record().holder;
}

}  // namespace ks::sim
