// SPDX-License-Identifier: Apache-2.0
#include "modules/plugin_host.h"

#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/symbol.h"

namespace ks::modules {
namespace {

using framework::Code;
using framework::Status;

// Reachable for as long as the process lives.
void KeepForever(PluginHost* host) {
  static Mutex mutex;
  static auto& all = *new std::vector<PluginHost*>();
  MutexLock lock(mutex);
  all.push_back(host);
}

// Answers without a reason, by code.
std::array<Status, 7> PlainStatuses(const std::string& name) {
  std::array<Status, 7> plain;
  plain[KS_ERROR] = Status::Error("the plugin failed and gave no reason").WithPlugin(name);
  for (const Code code : {Code::kUnschedulable, Code::kUnschedulableAndUnresolvable, Code::kWait,
                          Code::kSkip, Code::kPending}) {
    plain[static_cast<size_t>(code)] = Status(code, {}, name);
  }
  return plain;
}

}  // namespace

constinit thread_local CallStack call_stack{};

PluginHost& PluginHost::Make(std::string name, framework::Handle& handle, ModuleMetrics* metrics) {
  auto* host = new PluginHost(std::move(name), handle, metrics);
  KeepForever(host);
  return *host;
}

PluginHost::PluginHost(std::string name, framework::Handle& handle, ModuleMetrics* metrics)
    : ks_host(),
      name_(std::move(name)),
      metrics_(metrics),
      during_calls_(&handle),
      state_slot_(handle.NewStateSlot()),
      plain_(PlainStatuses(name_)),
      open_(&handle) {
  size = sizeof(ks_host);
  SetHostFunctions(this);
  SetCallFunctions(this);
  SetObjectFunctions(this);
}

Status PluginHost::StatusOf(ks_status code, const Call& call) const {
  if (code == kThrew) return Status::Error("an exception left the plugin");
  if (code >= kFirstConstant) {
    const auto index = static_cast<uint32_t>(code - kFirstConstant);
    if (index < constant_count_.load(std::memory_order_acquire)) return constants_[index];
  }
  if (code < KS_SUCCESS || code > KS_PENDING) {
    return Status::Error("the plugin answered with the code " + std::to_string(code) +
                         ", which does not exist");
  }
  if (code == KS_SUCCESS) return {};
  if (call.answer == nullptr || call.answer->reasons.empty()) {
    return plain_[static_cast<size_t>(code)];
  }
  if (code == KS_ERROR) return Status::Error(Join(call.answer->reasons, ", "));
  return Status(static_cast<Code>(code), call.answer->reasons);
}

void PluginHost::Close() {
  MutexLock lock(mutex_);
  open_ = nullptr;
}

framework::Handle* PluginHost::OpenHandle() const {
  MutexLock lock(mutex_);
  return open_;
}

ks_name PluginHost::Intern(std::string_view text) {
  if (text.empty()) return 0;
  MutexLock lock(mutex_);
  if (names_.size() >= kMostNames) return 0;
  return names_.emplace(text).first->id();
}

ks_status PluginHost::AddConstant(Code code, std::string reason) {
  if (reason.empty()) return static_cast<ks_status>(code);  // which is constant as it is
  MutexLock lock(mutex_);
  const uint32_t index = constant_count_.load(std::memory_order_relaxed);
  if (index >= kMostConstants) return KS_ERROR;
  constants_[index] = code == Code::kError ? Status::Error(std::move(reason)).WithPlugin(name_)
                                           : Status(code, {std::move(reason)}, name_);
  constant_count_.store(index + 1, std::memory_order_release);
  return kFirstConstant + static_cast<ks_status>(index);
}

int64_t PluginHost::Now() const {
  MutexLock lock(mutex_);
  return open_ == nullptr ? 0 : open_->clock().Now().time_since_epoch().count();
}

ks_result PluginHost::Count(const std::string& event, double by) {
  if (event.empty() || !std::isfinite(by) || by < 0) return KS_INVALID;
  MutexLock lock(mutex_);
  if (open_ == nullptr) return KS_CLOSED;
  if (metrics_ == nullptr) return KS_OK;
  auto found = events_.find(event);
  if (found == events_.end()) {
    if (events_.size() >= kMostSeries) return KS_FULL;
    found = events_.emplace(event, &metrics_->Events(name_, event)).first;
  }
  found->second->Increment(by);
  return KS_OK;
}

ks_result PluginHost::Observe(const std::string& operation, double seconds) {
  if (operation.empty() || !std::isfinite(seconds) || seconds < 0) return KS_INVALID;
  MutexLock lock(mutex_);
  if (open_ == nullptr) return KS_CLOSED;
  if (metrics_ == nullptr) return KS_OK;
  auto found = durations_.find(operation);
  if (found == durations_.end()) {
    if (durations_.size() >= kMostSeries) return KS_FULL;
    found = durations_.emplace(operation, &metrics_->Durations(name_, operation)).first;
  }
  found->second->Observe(seconds);
  return KS_OK;
}

ks_result PluginHost::Post(std::function<void(framework::Handle&)> task) {
  MutexLock lock(mutex_);
  if (open_ == nullptr) return KS_CLOSED;
  open_->tasks().PostTask([this, task = std::move(task)] {
    if (framework::Handle* handle = OpenHandle()) task(*handle);
  });
  return KS_OK;
}

}  // namespace ks::modules
