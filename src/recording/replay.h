// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replays recordings: the same rounds, in virtual time, through a scheduler that is the daemon's,
// and finds the first outcome that is another one.
//
// Upstream: none; it has no such thing. Rule: the same recording and configurations give the same
// result, byte for byte.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/recording_reader.h"
#include "scheduler/scheduler.h"

namespace ks::recording {

// What a replay runs with.
struct ReplaySide {
  // Absent: the recorded one, and its reloads.
  std::optional<config::Configuration> configuration{};
};

// A scheduler that lives through the rounds of a recording. Nothing leaves it: calls get the
// recorded answers. Threads: one at a time. Lifetime: registry and gates outlive it.
class ReplayedScheduler {
 public:
  // Error: a profile cannot be built (`initializing profiles: …`), or the recorded configuration is
  // refused by this version.
  static Result<std::unique_ptr<ReplayedScheduler>> Make(const RecordingHeader& header,
                                                         const ReplaySide& side,
                                                         const framework::Registry& registry,
                                                         const config::FeatureGates& gates);
  ~ReplayedScheduler();
  ReplayedScheduler(const ReplayedScheduler&) = delete;
  ReplayedScheduler& operator=(const ReplayedScheduler&) = delete;

  // What the scheduler did in this round, and since the one before.
  std::vector<Outcome> Run(const scheduler::StepRecord& round);
  // Kinds that the configuration's plugins read and that the recording has not: they look empty.
  framework::OptionalKinds missing_kinds() const { return missing_; }

 private:
  class ReplayClock;
  class ReplayApi;
  class ReplayTransport;
  ReplayedScheduler();
  Result<void> Build(const RecordingHeader& header, const ReplaySide& side,
                     const framework::Registry& registry, const config::FeatureGates& gates);
  void Post(const scheduler::StepInput& input);
  void PostMissing();

  std::unique_ptr<ReplayClock> clock_;
  std::unique_ptr<ReplayApi> api_;
  std::shared_ptr<ReplayTransport> transport_;
  bool follows_reloads_ = true;
  bool may_attempt_ = true;
  framework::OptionalKinds missing_;
  std::vector<Outcome> outcomes_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
};

// The first outcome that differs. Absent: that side did nothing there.
struct ReplayDifference {
  uint64_t decision = 0;  // counted from 1 over the recording
  size_t line = 0;        // of the recording: of the round
  std::optional<Outcome> left;
  std::optional<Outcome> right;
};

struct ReplayReport {
  RecordingHeader header;
  uint64_t decisions = 0;  // compared, the differing one not counted
  std::string ended;       // RecordingReader::ended; empty after a difference
  std::optional<ReplayDifference> difference;
  std::vector<std::string> notes;  // what makes the comparison weaker, a sentence each
};

struct ReplayQuestion {
  ReplaySide config;  // whose outcomes are on the right, or on the left with `against`
  std::optional<ReplaySide> against;  // absent: compared with the recording, which is on the left
};

// Whether two outcomes are the same to an operator: pod, result, node, nominated node, and the text
// of a failure; of an eviction the victim. Scores and times are not compared.
bool SameOutcome(const Outcome& left, const Outcome& right);

// Sets framework::SetRequestGates to the recording's gates, for the whole process. Errors: of the
// reader, of ReplayedScheduler::Make.
Result<ReplayReport> Replay(RecordingReader& reader, const ReplayQuestion& question,
                            const framework::Registry& registry);

}  // namespace ks::recording
