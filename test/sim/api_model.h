// SPDX-License-Identifier: Apache-2.0
#pragma once
// The API server of a simulation: the real apiserver::Service under virtual time, with a switch for
// being down, and a monitor that looks at every change of a pod.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "api/decode/decoder.h"
#include "apiserver/service/service.h"
#include "base/check.h"
#include "sim/device_watch.h"
#include "sim/event_loop.h"
#include "sim/gang_watch.h"
#include "sim/plan.h"
#include "sim/trace.h"
#include "sim/volume_watch.h"

namespace ks::sim {

// A stored object as the scheduler would read it.
template <class T>
std::shared_ptr<const T> Decoded(const apiserver::StoredObject& stored,
                                 api::KeepRaw keep = api::KeepRaw::kNone) {
  std::string padded;
  padded.reserve(stored.text.size() + api::kJsonPadding);
  padded = stored.text;
  api::Decoder decoder;
  decoder.set_keep_raw(keep);
  auto object = decoder.Object<T>(padded);
  KS_CHECK(object.ok(), "a stored object can be read");
  return std::move(object).value();
}

// Threads: one. Lifetime: the loop and the trace outlive it.
class ApiModel {
 public:
  using Fail = std::function<void(const std::string& what)>;

  ApiModel(EventLoop& loop, Trace& trace, const Plan& plan, Fail fail);

  const Plan& plan() const { return plan_; }
  bool up() const { return up_; }
  void set_up(bool up) { up_ = up; }
  // A restart: watches end, nothing older than now can be watched from.
  void Restart();
  uint64_t restarts() const { return restarts_; }
  void ForgetHistory() { service_.store().ForgetHistory(); }

  apiserver::ApiResponse Handle(const apiserver::ApiRequest& request);
  // As Handle, but a list with resourceVersion=0 may come from a former state.
  apiserver::ApiResponse HandleStale(const apiserver::ApiRequest& request);
  // Remembers the present lists for HandleStale.
  void RememberLists();

  // Straight to the registry, as users do whose requests arrive.
  bool Create(std::string_view plural, std::string_view ns, apiserver::Json object);
  bool Modify(std::string_view plural, std::string_view ns, std::string_view name,
              const std::function<void(apiserver::Json&)>& change);
  bool ModifyStatus(std::string_view plural, std::string_view ns, std::string_view name,
                    const std::function<void(apiserver::Json&)>& change);
  // Whatever it is: the server has no `resize` below pods.
  bool Overwrite(std::string_view plural, std::string_view ns, std::string_view name,
                 const std::function<void(apiserver::Json&)>& change);
  // At once.
  bool Delete(std::string_view plural, std::string_view ns, std::string_view name);
  // A pod, with its grace period.
  bool Terminate(std::string_view ns, std::string_view name);
  apiserver::ObjectPtr Find(std::string_view plural, std::string_view ns, std::string_view name);
  const apiserver::Store::Objects& Objects(std::string_view plural);

  // Told of each change of a pod that is not its end.
  void set_pod_watcher(std::function<void(const api::PodPtr& pod)> watcher) {
    pod_watcher_ = std::move(watcher);
  }
  // Null in seeds without volumes.
  VolumeWatch* volume_watch() { return volume_watch_.get(); }
  // Null in seeds without devices.
  DeviceWatch* device_watch() { return device_watch_.get(); }
  // Null in seeds without groups of pods.
  GangWatch* gang_watch() { return gang_watch_.get(); }
  // Where the server put a pod of that uid; empty: nowhere, or never seen.
  std::string NodeOf(const std::string& uid) const;
  // The holder of the schedulers' lease; empty: nobody holds it.
  std::string LeaseHolder();
  uint64_t binds() const { return binds_; }
  TimePoint last_bind() const { return last_bind_; }
  uint64_t exceeded() const { return exceeded_; }  // bindings beyond a node's capacity

 private:
  void AfterWrite();
  void Watch();
  void PodChanged(const apiserver::Change& change);
  void CheckCapacity(const std::string& node);

  EventLoop& loop_;
  Trace& trace_;
  const Plan& plan_;
  const Fail fail_;
  apiserver::Service service_;
  bool up_ = true;
  uint64_t restarts_ = 0;
  uint64_t seen_ = 0;  // of the pods' log
  std::map<std::string, std::string> node_of_;
  std::optional<TimePoint> due_;                   // of the event that calls Step
  std::map<std::string, std::string> remembered_;  // target -> body
  std::set<std::string> asked_lists_;
  uint64_t binds_ = 0;
  TimePoint last_bind_{};
  uint64_t exceeded_ = 0;
  std::function<void(const api::PodPtr&)> pod_watcher_;
  std::unique_ptr<VolumeWatch> volume_watch_;
  std::unique_ptr<DeviceWatch> device_watch_;
  std::unique_ptr<GangWatch> gang_watch_;
};

}  // namespace ks::sim
