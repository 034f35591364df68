// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recordings: JSON Lines of everything that a scheduler was told and of what it decided, for
// `kubeschedctl replay`. This is the writing side; recording_reader.h reads, replay.h replays. The
// format is described in docs/debugging.md.
//
// Upstream: none; it has no such thing.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/gates/feature_gates.h"
#include "config/types.h"
#include "framework/optional_kinds.h"
#include "scheduler/step_record.h"

namespace ks::recording {

// Another number whenever a reader of the former one would misunderstand.
inline constexpr int kRecordingFormat = 2;
// The earliest that is read still: it knows objects as JSON only.
inline constexpr int kFirstRecordingFormat = 1;

// The first line: how the scheduler was made.
struct RecordingHeader {
  std::string version;  // of the program, "0.1.0"
  uint64_t term = 1;    // of the process that recorded
  TimePoint began{};
  uint64_t seed = 0;
  bool standby = false;
  bool remember_verdicts = true;
  Duration unschedulable_max{};
  uint64_t max_outstanding_bindings = 0;
  config::GateFlags gates{};
  framework::OptionalKinds kinds{};  // that were watched beside pods and nodes
  std::string configuration{};       // RecordedConfiguration
};

// As a file: what config::ParseConfiguration and config::ApplyExtenders want. Without the TLS data
// of extenders, which a replay does not ask.
std::string RecordedConfiguration(config::Configuration configuration);

std::string HeaderLine(const RecordingHeader& header);
// The lines of one round. Error: an object came without its text.
Result<void> AppendLines(const scheduler::StepRecord& record, std::string* lines);
// The last line. `why`: "stopped", or what ended the recording before its time.
std::string EndLine(std::string_view why);
inline constexpr std::string_view kStopped = "stopped";

// The victims of evictions are compared as decisions are.
std::string EvictionJson(const scheduler::EvictionOrder& order);

// "Service" …, as in `kind` of an object.
std::string_view OptionalKindText(framework::OptionalKind kind);
std::string_view EvictionOutcomeText(framework::EvictionOutcome outcome);

}  // namespace ks::recording
