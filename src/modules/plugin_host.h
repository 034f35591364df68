// SPDX-License-Identifier: Apache-2.0
#pragma once
// PluginHost: what the scheduler is to one plugin of a module: the ks_host that it was given, with
// everything that its functions keep. The functions themselves: host_functions.cc (any thread),
// host_calls.cc (during a call), host_objects.cc (pods and nodes).
//
// Never freed, because threads of the module may hold on to it: once closed it only refuses.
//
// Upstream: none; its plugins are compiled in.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "framework/handle.h"
#include "framework/status.h"
#include "kubesched/plugin.h"
#include "modules/call.h"
#include "modules/module_metrics.h"

namespace ks::modules {

// What a plugin set for an attempt. The datum lives on while somebody holds it.
class ForeignState final : public framework::StateData {
 public:
  ForeignState(void* data, void (*destroy)(void*)) : data_(data, Destroy{destroy}) {}
  const std::shared_ptr<void>& data() const { return data_; }

 private:
  struct Destroy {
    void (*function)(void*);
    void operator()(void* data) const {
      if (function != nullptr) function(data);
    }
  };
  std::shared_ptr<void> data_;
};

// Threads: any, unless said otherwise.
class PluginHost final : public ks_host {
 public:
  // Lives for the rest of the process. `name` may be used as long. Lifetime: `handle` and `metrics`
  // (null: nothing is counted) outlive it until Close.
  static PluginHost& Make(std::string name, framework::Handle& handle, ModuleMetrics* metrics);
  static PluginHost* Of(const ks_host* host) {
    return const_cast<PluginHost*>(static_cast<const PluginHost*>(host));
  }
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;

  const std::string& name() const { return name_; }
  const framework::StateSlot<ForeignState>& state_slot() const { return state_slot_; }

  // What a function's answer means. Of a code that does not exist, an error.
  framework::Status StatusOf(ks_status code, const Call& call) const;
  // Every use of the handle ends.
  void Close() KS_EXCLUDES(mutex_);

  ks_name Intern(std::string_view text) KS_EXCLUDES(mutex_);
  ks_status AddConstant(framework::Code code, std::string reason) KS_EXCLUDES(mutex_);
  int64_t Now() const KS_EXCLUDES(mutex_);
  ks_result Count(const std::string& event, double by) KS_EXCLUDES(mutex_);
  ks_result Observe(const std::string& operation, double seconds) KS_EXCLUDES(mutex_);
  // Runs on the scheduling thread, unless the plugin is closed by then.
  ks_result Post(std::function<void(framework::Handle&)> task) KS_EXCLUDES(mutex_);

  // During a call on the scheduling thread, or on a worker.
  framework::Handle& handle() const { return *during_calls_; }

  static constexpr ks_status kFirstConstant = 256;
  // Stands for an exception that left a module's function.
  static constexpr ks_status kThrew = INT32_MIN;

 private:
  PluginHost(std::string name, framework::Handle& handle, ModuleMetrics* metrics);
  framework::Handle* OpenHandle() const KS_EXCLUDES(mutex_);

  static constexpr size_t kMostConstants = 1024;
  static constexpr size_t kMostNames = 4096;
  static constexpr size_t kMostSeries = 64;

  const std::string name_;
  ModuleMetrics* const metrics_;
  framework::Handle* const during_calls_;
  const framework::StateSlot<ForeignState> state_slot_;
  const std::array<framework::Status, 7> plain_;  // by code

  // Written under the mutex, read without it below the published count.
  std::array<framework::Status, kMostConstants> constants_;
  std::atomic<uint32_t> constant_count_{0};

  mutable Mutex mutex_;
  framework::Handle* open_ KS_GUARDED_BY(mutex_);  // null: closed
  std::set<Symbol> names_ KS_GUARDED_BY(mutex_);
  std::map<std::string, metrics::Counter*> events_ KS_GUARDED_BY(mutex_);
  std::map<std::string, metrics::Histogram*> durations_ KS_GUARDED_BY(mutex_);
};

// Fills the function table: each part its own file.
void SetHostFunctions(ks_host* table);
void SetCallFunctions(ks_host* table);
void SetObjectFunctions(ks_host* table);

}  // namespace ks::modules
