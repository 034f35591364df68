// SPDX-License-Identifier: Apache-2.0
#include "tracing/traced_writer.h"

#include <string_view>

namespace ks::tracing {
namespace {

// "Preempted by pod UID on node NAME": the event names the preemptor here only. Empty: a group.
std::string_view PreemptorIn(std::string_view note) {
  constexpr std::string_view kBefore = "Preempted by pod ";
  if (!note.starts_with(kBefore)) return {};
  note.remove_prefix(kBefore.size());
  return note.substr(0, note.find(' '));
}

}  // namespace

void TracedWriter::RecordEvent(framework::PodEvent event) {
  if (event.reason == "Preempted" && event.regarding != nullptr) {
    const std::string_view preemptor = PreemptorIn(event.note);
    if (!preemptor.empty()) traces_.Evicted(*event.regarding, preemptor);
  }
  inner_.RecordEvent(std::move(event));
}

}  // namespace ks::tracing
