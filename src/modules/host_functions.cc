// SPDX-License-Identifier: Apache-2.0
// The functions of ks_host for any thread.

#include <string>
#include <utility>

#include "base/logging.h"
#include "modules/plugin_host.h"
#include "modules/texts.h"

namespace ks::modules {
namespace {

constexpr int kDebugVerbosity = 4;

ks_name Name(const ks_host* host, ks_str text) {
  if (host == nullptr || !IsText(text)) return 0;
  return PluginHost::Of(host)->Intern(ViewOf(text));
}

ks_status ConstantStatus(const ks_host* host, ks_status code, ks_str reason) {
  if (host == nullptr || code <= KS_SUCCESS || code > KS_PENDING) return KS_ERROR;
  return PluginHost::Of(host)->AddConstant(static_cast<framework::Code>(code), TextFrom(reason));
}

int32_t LogEnabled(const ks_host* /*host*/, int32_t level) {
  if (level < KS_LOG_ERROR || level > KS_LOG_DEBUG) return 0;
  return level < KS_LOG_DEBUG || log::Enabled(kDebugVerbosity) ? 1 : 0;
}

void Log(const ks_host* host, int32_t level, ks_str message) {
  if (host == nullptr || LogEnabled(host, level) == 0) return;
  const std::string& plugin = PluginHost::Of(host)->name();
  const std::string text = TextFrom(message);
  if (level == KS_LOG_ERROR) {
    log::Error("", text, {{"plugin", plugin}});
  } else if (level == KS_LOG_WARNING) {
    log::Plain('W', "plugin " + plugin + ": " + text);
  } else {
    log::Info(level == KS_LOG_DEBUG ? kDebugVerbosity : 0, text, {{"plugin", plugin}});
  }
}

int64_t Now(const ks_host* host) { return host == nullptr ? 0 : PluginHost::Of(host)->Now(); }

ks_result Count(const ks_host* host, ks_str event, double by) {
  return host == nullptr ? KS_INVALID : PluginHost::Of(host)->Count(TextFrom(event), by);
}

ks_result Observe(const ks_host* host, ks_str operation, double seconds) {
  return host == nullptr ? KS_INVALID : PluginHost::Of(host)->Observe(TextFrom(operation), seconds);
}

ks_result Activate(const ks_host* host, ks_str pod_namespace, ks_str pod_name) {
  if (host == nullptr || pod_name.size == 0) return KS_INVALID;
  std::string key = TextFrom(pod_namespace) + "/" + TextFrom(pod_name);
  return PluginHost::Of(host)->Post([key = std::move(key)](framework::Handle& handle) {
    if (const api::PodPtr pod = handle.pods().FindPod(key)) handle.activator().Activate({pod});
  });
}

ks_result Allow(const ks_host* host, ks_str pod_uid) {
  if (host == nullptr || pod_uid.size == 0) return KS_INVALID;
  PluginHost& own = *PluginHost::Of(host);
  return own.Post([&own, uid = TextFrom(pod_uid)](framework::Handle& handle) {
    if (auto* waiting = handle.waiting_pods().GetWaitingPod(uid)) waiting->Allow(own.name());
  });
}

ks_result Reject(const ks_host* host, ks_str pod_uid, ks_str message) {
  if (host == nullptr || pod_uid.size == 0) return KS_INVALID;
  PluginHost& own = *PluginHost::Of(host);
  return own.Post(
      [&own, uid = TextFrom(pod_uid), text = TextFrom(message)](framework::Handle& handle) {
        auto* waiting = handle.waiting_pods().GetWaitingPod(uid);
        if (waiting != nullptr) (void)waiting->Reject(own.name(), text);
      });
}

}  // namespace

void SetHostFunctions(ks_host* table) {
  table->name = &Name;
  table->constant_status = &ConstantStatus;
  table->log = &Log;
  table->log_enabled = &LogEnabled;
  table->now = &Now;
  table->count = &Count;
  table->observe = &Observe;
  table->activate = &Activate;
  table->allow = &Allow;
  table->reject = &Reject;
}

}  // namespace ks::modules
