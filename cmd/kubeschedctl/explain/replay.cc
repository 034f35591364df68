// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/replay.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/file_text.h"
#include "config/print/print_json.h"
#include "kubeschedctl/config/effective.h"
#include "kubeschedctl/config/known_plugins.h"
#include "kubeschedctl/text/answer_fields.h"
#include "kubeschedctl/text/columns.h"
#include "recording/replay.h"

namespace ks::ctl {
namespace {

using nlohmann::json;
using recording::Outcome;
using recording::ReplayDifference;
using recording::ReplayReport;

constexpr const char* kRecorded = "recorded";
constexpr const char* kReplayed = "replayed";

// What the sides are called.
struct Names {
  std::string left;
  std::string right;
};

Result<std::unique_ptr<std::istream>> OpenRecording(const std::string& file) {
  if (file == "-") return std::make_unique<std::istream>(std::cin.rdbuf());
  auto stream = std::make_unique<std::ifstream>(file, std::ios::binary);
  if (!*stream) return Error{file + ": " + SystemErrorText(errno)};
  return std::unique_ptr<std::istream>(std::move(stream));
}

Result<recording::ReplaySide> LoadSide(const std::string& file, const config::FeatureGates& gates) {
  config::LoadResult loaded = LoadForScheduler(file, gates);
  if (const auto* faults = std::get_if<config::Faults>(&loaded)) {
    return FaultsError(*faults, file);
  }
  return recording::ReplaySide{std::move(std::get<config::Loaded>(loaded).configuration)};
}

json Parsed(const std::optional<Outcome>& outcome) {
  return outcome ? json::parse(outcome->json, nullptr, false) : json();
}

std::string Headline(const std::optional<Outcome>& outcome) {
  if (!outcome) return "nothing at this point";
  const json object = Parsed(outcome);
  if (outcome->kind == Outcome::Kind::kEviction) {
    return "evicts " + Text(object, "victim") + " from " + Text(object, "node");
  }
  std::string line = Text(object, "pod") + ": " + Text(object, "result");
  if (const std::string node = Text(object, "node"); !node.empty()) line += " on " + node;
  if (object.contains("nodes")) {
    line += ", " + std::to_string(Number(object, "feasibleNodes")) + " of " +
            Count(static_cast<size_t>(Number(object, "nodes")), "node") + " feasible";
  }
  if (const std::string node = Text(object, "nominatedNode"); !node.empty()) {
    line += ", nominated to " + node;
  }
  return line;
}

// The best nodes, with their scores by plugin where they are there.
std::string ScoreTable(const json& decision) {
  const auto best = decision.find("best");
  if (best == decision.end() || !best->is_array() || best->empty()) return "";
  std::vector<std::string> plugins;
  for (const json& node : *best) {
    for (const json& score : node.value("scores", json::array())) {
      const std::string plugin = Text(score, "plugin");
      if (std::find(plugins.begin(), plugins.end(), plugin) == plugins.end()) {
        plugins.push_back(plugin);
      }
    }
  }
  Columns columns("lr" + std::string(plugins.size(), 'r'));
  std::vector<std::string> head = {"NODE", "TOTAL"};
  head.insert(head.end(), plugins.begin(), plugins.end());
  columns.Add(std::move(head));
  for (const json& node : *best) {
    std::vector<std::string> row = {Text(node, "node"), std::to_string(Number(node, "total"))};
    for (const std::string& plugin : plugins) {
      std::string cell = "-";
      for (const json& score : node.value("scores", json::array())) {
        if (Text(score, "plugin") == plugin) cell = std::to_string(Number(score, "weighted"));
      }
      row.push_back(std::move(cell));
    }
    columns.Add(std::move(row));
  }
  return columns.Text("  ");
}

std::string SideText(const std::string& name, const std::optional<Outcome>& outcome) {
  std::string text = "\n" + name + ": " + Headline(outcome) + "\n";
  if (!outcome || outcome->kind == Outcome::Kind::kEviction) return text;
  const json decision = Parsed(outcome);
  if (const std::string message = Text(decision, "message"); !message.empty()) {
    text += "  " + message + "\n";
  }
  return text + ScoreTable(decision);
}

std::string DifferenceText(const ReplayReport& report, const std::string& file,
                           const Names& names) {
  const ReplayDifference& difference = *report.difference;
  std::string text = "first difference: decision " + std::to_string(difference.decision) + ", " +
                     file + " line " + std::to_string(difference.line) + "; " +
                     Count(report.decisions, "decision") + " before it the same\n";
  return text + SideText(names.left, difference.left) + SideText(names.right, difference.right);
}

std::string TextOf(const ReplayReport& report, const std::string& file, const Names& names) {
  std::string text;
  if (report.difference) {
    text = DifferenceText(report, file, names);
  } else {
    text = Count(report.decisions, "decision") + " of " + file + ": " + names.left + " and " +
           names.right + " are the same\n";
  }
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  if (!report.ended.empty() && report.ended != recording::kStopped) {
    text += "note: the recording ends before its time: " + report.ended + "\n";
  }
  return text;
}

void AddSide(config::JsonBuilder& out, const char* key, const std::optional<Outcome>& outcome) {
  out.Key(key);
  if (!outcome) {
    out.Null();
    return;
  }
  out.BeginObject();
  out.Key(outcome->kind == Outcome::Kind::kEviction ? "eviction" : "decision").Json(outcome->json);
  out.EndObject();
}

std::string JsonOf(const ReplayReport& report, const std::string& file, const Names& names) {
  config::JsonBuilder out;
  out.BeginObject().Key("recording").BeginObject();
  out.Key("file").Text(file).Key("version").Text(report.header.version);
  out.Key("term").Number(report.header.term);
  if (!report.ended.empty()) out.Key("ended").Text(report.ended);
  out.EndObject();
  out.Key("left").Text(names.left).Key("right").Text(names.right);
  out.Key("same").Bool(!report.difference).Key("decisions").Number(report.decisions);
  out.Key("notes").BeginArray();
  for (const std::string& note : report.notes) out.Text(note);
  out.EndArray();
  if (report.difference) {
    out.Key("difference").BeginObject();
    out.Key("decision").Number(report.difference->decision);
    out.Key("line").Number(report.difference->line);
    AddSide(out, "left", report.difference->left);
    AddSide(out, "right", report.difference->right);
    out.EndObject();
  }
  return out.EndObject().Take() + "\n";
}

}  // namespace

Result<ReplayAnswer> ReplayRecording(const ReplayOptions& options) {
  const std::string name = options.recording == "-" ? "standard input" : options.recording;
  auto stream = OpenRecording(options.recording);
  if (!stream.ok()) return stream.error();
  auto reader = recording::RecordingReader::Open(std::move(stream).value(),
                                                 {.name = name, .partial = options.partial});
  if (!reader.ok()) return reader.error();
  const auto gates = config::FeatureGates::Make((*reader)->header().gates, nullptr);
  if (!gates.ok()) return gates.error();
  recording::ReplayQuestion question;
  const std::string config_name = options.config_file.empty() ? kReplayed : options.config_file;
  Names names{.left = kRecorded, .right = config_name};
  if (!options.config_file.empty()) {
    auto side = LoadSide(options.config_file, *gates);
    if (!side.ok()) return side.error();
    question.config = std::move(side).value();
  }
  if (!options.against_file.empty()) {
    auto side = LoadSide(options.against_file, *gates);
    if (!side.ok()) return side.error();
    question.against = std::move(side).value();
    names = {.left = config_name, .right = options.against_file};
  }
  const framework::Registry& registry = KnownPlugins();
  const auto report = recording::Replay(**reader, question, registry);
  if (!report.ok()) return report.error();
  return ReplayAnswer{
      .text = options.json ? JsonOf(*report, name, names) : TextOf(*report, name, names),
      .same = !report->difference};
}

}  // namespace ks::ctl
