// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads recordings (recording.h), round by round.

#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/recording.h"

namespace ks::recording {

// What a scheduler put out: a decision or an eviction.
struct Outcome {
  enum class Kind : uint8_t { kDecision, kEviction };
  Kind kind = Kind::kDecision;
  std::string json;  // DecisionJson, EvictionJson
};

struct RecordedRound {
  scheduler::StepRecord in;  // without decisions and evictions
  std::vector<Outcome> out;
  size_t line = 0;  // of the round itself, from 1
};

// Errors are one line: `FILE: line 12: <cause>`, with a cure. Threads: one at a time.
class RecordingReader {
 public:
  struct Options {
    std::string name;      // of the file, in errors
    bool partial = false;  // a recording that does not end is read as far as its rounds are whole
  };

  // Reads the header.
  static Result<std::unique_ptr<RecordingReader>> Open(std::unique_ptr<std::istream> stream,
                                                       Options options);
  ~RecordingReader();
  RecordingReader(const RecordingReader&) = delete;
  RecordingReader& operator=(const RecordingReader&) = delete;

  const RecordingHeader& header() const;
  // Absent: the recording is over. After an error or the end it is of no use.
  Result<std::optional<RecordedRound>> Next();
  // How it ended: kStopped, what ended it before its time, or "cut off" (partial). Empty before.
  const std::string& ended() const;

 private:
  struct Impl;
  explicit RecordingReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Complete, extenders applied. Error: this version refuses it; upstream's text.
Result<config::Configuration> ReadRecordedConfiguration(const std::string& yaml,
                                                        const config::FeatureGates& gates);

}  // namespace ks::recording
