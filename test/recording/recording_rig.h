// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scheduler in a cluster of JSON objects, recorded: what a recording needs and the builders do
// not give.

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "api/decode/decoder.h"
#include "recording/recording.h"
#include "recording/replay.h"
#include "scheduler/rig.h"
#include "testing/no_objects.h"

namespace ks::scheduler {

using nlohmann::json;

inline json NodeJson(const std::string& name, int cpu) {
  return {
      {"metadata",
       {{"name", name}, {"uid", "uid-" + name}, {"labels", {{"kubernetes.io/hostname", name}}}}},
      {"status",
       {{"allocatable", {{"cpu", std::to_string(cpu)}, {"memory", "64Gi"}, {"pods", "110"}}}}}};
}

inline json PodJson(const std::string& name, const std::string& cpu, int priority = 0) {
  return {
      {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", "uid-" + name}}},
      {"spec",
       {{"schedulerName", "default-scheduler"},
        {"priority", priority},
        {"containers",
         {{{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}, {"memory", "1Gi"}}}}}}}}}}};
}

// `state` of an object as an informer delivers it, with its text.
template <class T>
api::Delta<T> WithText(const char* type, const json& state) {
  api::Decoder decoder;
  decoder.set_keep_texts(api::KeepTexts::kAsSent);
  std::string event = json{{"type", type}, {"object", state}}.dump();
  event.reserve(event.size() + api::kJsonPadding);
  auto decoded = decoder.Event<T>(event);
  EXPECT_TRUE(decoded.ok()) << (decoded.ok() ? "" : decoded.error().message);
  const bool gone = decoded->type == api::WatchEventType::kDeleted;
  return {gone ? api::Delta<T>::Type::kDelete : api::Delta<T>::Type::kUpsert,
          decoded->object,
          {},
          decoded->text};
}

// Threads: one at a time.
class RecordedRun {
 public:
  RecordedRun() : RecordedRun(Rig::Options()) {}
  // `gates`: what the options' gates were made from.
  explicit RecordedRun(Rig::Options options, config::GateFlags gates = {})
      : rig_(Observed(std::move(options))) {
    const SchedulerOptions& made = rig_.scheduler->options();
    header_ = {.version = "0.1.0",
               .seed = made.seed,
               .standby = made.standby,
               .remember_verdicts = made.memory.remember_verdicts,
               .unschedulable_max = made.unschedulable_max,
               .max_outstanding_bindings = made.max_outstanding_bindings,
               .gates = std::move(gates),
               .kinds = rig_.scheduler->NeededKinds(),
               .configuration = recording::RecordedConfiguration(made.configuration)};
  }

  Rig& rig() { return rig_; }

  void Sync(const std::vector<json>& nodes) {
    api::Delta<api::Node> list;
    for (const json& node : nodes) {
      auto delta = WithText<api::Node>("ADDED", node);
      list.items.push_back(delta.object);
      list.texts.push_back(delta.text);
    }
    rig_.scheduler->Post(NodeDeltas{list});
    rig_.scheduler->Post(PodDeltas{{}});
  }
  void UpsertNode(const json& node) {
    rig_.scheduler->Post(NodeDeltas{WithText<api::Node>("MODIFIED", node)});
  }
  void DeleteNode(const json& node) {
    rig_.scheduler->Post(NodeDeltas{WithText<api::Node>("DELETED", node)});
  }
  // The first full state of the kinds of groups: there are none. Requires: their gates.
  void SyncGroups() { testing::PostNoGroups(*rig_.scheduler); }
  template <class T>
  void UpsertGroup(const json& group) {
    rig_.scheduler->Post(GroupDeltas(std::vector<api::Delta<T>>{WithText<T>("MODIFIED", group)}));
  }
  void UpsertPod(const json& pod) {
    pods_[pod["metadata"]["uid"]] = pod;
    rig_.scheduler->Post(PodDeltas{WithText<api::Pod>("MODIFIED", pod)});
  }
  void DeletePod(const std::string& uid) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return;
    rig_.scheduler->Post(PodDeltas{WithText<api::Pod>("DELETED", found->second)});
    pods_.erase(found);
  }

  // Answers what is open, every `failing`th binding with an error (0: none), as an API server
  // would, and settles.
  void Answer(int failing = 0) {
    for (size_t i = 0; i < rig_.api.binds.size(); ++i) {
      auto& call = rig_.api.binds[i];
      if (!call.done) continue;
      const auto done = std::exchange(call.done, nullptr);
      const auto known = pods_.find(call.pod->meta.uid);
      if (known == pods_.end()) {
        done(api::ApiError{.code = 404, .reason = "NotFound", .message = "it is gone"});
        continue;
      }
      if (failing != 0 && ++bindings_ % failing == 0) {
        done(api::ApiError{.code = 500, .reason = "InternalError", .message = "etcd is away"});
        continue;
      }
      json bound = known->second;
      bound["spec"]["nodeName"] = call.node_name;
      UpsertPod(bound);
      done(std::nullopt);
    }
    while (const api::PodPtr victim =
               rig_.api.AnswerEviction(framework::EvictionOutcome::kEvicted)) {
      DeletePod(victim->meta.uid);
    }
    rig_.Settle();
  }

  const recording::RecordingHeader& header() const { return header_; }
  std::string Text() const {
    return recording::HeaderLine(header_) + rounds_ + recording::EndLine(recording::kStopped);
  }

 private:
  Rig::Options Observed(Rig::Options options) {
    options.on_step = [this](const StepRecord& record) {
      const Result<void> appended = recording::AppendLines(record, &rounds_);
      ASSERT_TRUE(appended.ok()) << appended.error().message;
    };
    return options;
  }

  std::string rounds_;
  recording::RecordingHeader header_;
  std::map<std::string, json> pods_;  // by uid
  int bindings_ = 0;
  Rig rig_;
};

inline Result<std::unique_ptr<recording::RecordingReader>> OpenText(const std::string& text,
                                                                    bool partial = false) {
  return recording::RecordingReader::Open(std::make_unique<std::istringstream>(text),
                                          {.name = "FILE", .partial = partial});
}

// The error, or the report.
inline Result<recording::ReplayReport> ReplayText(const std::string& text,
                                                  const recording::ReplayQuestion& question = {},
                                                  bool partial = false) {
  auto reader = OpenText(text, partial);
  if (!reader.ok()) return reader.error();
  const framework::Registry registry = plugins::InTreeRegistry();
  return recording::Replay(**reader, question, registry);
}

inline std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace ks::scheduler
