// SPDX-License-Identifier: Apache-2.0
#include "queue/return_decision.h"

#include <vector>

#include "base/logging.h"

namespace ks::queue {

std::string PluginsText(const framework::QueuedPod& pod) {
  std::string text = "[";
  for (const std::string& plugin : pod.unschedulable_plugins) {
    if (text.size() > 1) text += ' ';
    text += plugin;
  }
  return text + "]";
}

ReturnDecision DecideOnReturn(RequeueRules& rules, const InFlightLog& in_flight,
                              const framework::QueuedPod& pod) {
  if (!pod.HasRejectingPlugins()) return {.answer = {.strategy = Strategy::kAfterBackoff}};
  const std::string& uid = pod.pod()->meta.uid;
  if (!in_flight.Contains(uid)) {
    log::Error("",
               "in flight entity isn't found in the scheduling queue. If you see this error log, "
               "it's likely a bug in the scheduler",
               {{"pod", pod.pod()->meta.Key()}});
    return {.answer = {.strategy = Strategy::kAfterBackoff}};
  }
  const std::vector<const InFlightEvent*> events = in_flight.EventsAfter(uid);
  KS_LOG(5, "Checking events for in-flight pod",
         {{"pod", pod.pod()->meta.Key()},
          {"unschedulablePlugins", PluginsText(pod)},
          {"inFlightEventsSize", in_flight.event_count()},
          {"inFlightPodsSize", in_flight.pod_count()}});
  ReturnDecision decision;
  for (const InFlightEvent* logged : events) {
    KS_LOG(5, "Checking event for in-flight pod",
           {{"pod", pod.pod()->meta.Key()}, {"event", logged->event.Label()}});
    const Answer answer =
        rules.DecideWhy(pod, logged->event, logged->old_object, logged->new_object);
    if (answer.strategy <= decision.answer.strategy) continue;
    decision = {.answer = answer, .event = logged->event.Label()};
    if (answer.strategy == Strategy::kImmediately) break;
    if (answer.strategy == Strategy::kAfterBackoff && pod.pending_plugins.empty()) break;
  }
  return decision;
}

}  // namespace ks::queue
