// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/live_tables.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "api/time_text.h"
#include "kubeschedctl/explain/explain_table.h"
#include "kubeschedctl/explain/explanation_reader.h"
#include "kubeschedctl/explain/group_table.h"
#include "kubeschedctl/text/answer_fields.h"
#include "kubeschedctl/text/columns.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

using nlohmann::json;

constexpr size_t kMembersShown = 20;  // of a group

// Empty when it is not there.
const json& List(const json& object, const char* key) {
  static const json empty = json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : empty;
}
const json& Part(const json& object, const char* key) {
  static const json empty = json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string Joined(const json& texts) {
  std::string joined;
  for (const json& text : texts) {
    if (!text.is_string()) continue;
    joined += (joined.empty() ? "" : ",") + Printable(text.get<std::string>());
  }
  return joined;
}

// "45s", "3m12s", "2h5m": between two times of an answer.
std::string Between(const std::string& from, const std::string& to) {
  const auto begin = api::ParseTime(from, api::TimePrecision::kAny);
  const auto end = api::ParseTime(to, api::TimePrecision::kAny);
  if (!begin || !end) return "-";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*end - *begin).count();
  if (seconds < 0) return "0s";
  if (seconds < 60) return std::to_string(seconds) + "s";
  const int64_t minutes = seconds / 60;
  if (minutes < 60) return std::to_string(minutes) + "m" + std::to_string(seconds % 60) + "s";
  return std::to_string(minutes / 60) + "h" + std::to_string(minutes % 60) + "m";
}

std::string Microseconds(const json& object, const char* key) {
  return object.contains(key) ? MillisecondsText(static_cast<double>(Number(object, key)) / 1000)
                              : "-";
}

Result<json> Parsed(std::string_view body, const char* must_have) {
  json parsed = json::parse(body, nullptr, false);
  if (parsed.is_object() && parsed.contains(must_have)) return parsed;
  return Error{std::string("the answer is not what a kubesched answers (no \"") + must_have +
               "\"): " + Printable(body.substr(0, 200))};
}

std::string ReplicaLine(const json& answer) {
  std::string line = Flag(answer, "standby") ? "standby" : "leader";
  if (const std::string identity = Text(answer, "identity"); !identity.empty()) {
    line += " " + identity;
  }
  if (answer.contains("synced") && !Flag(answer, "synced")) {
    line += ", which has not read the cluster yet";
  }
  return line;
}

std::string LeftOut(size_t all, size_t shown, std::string_view noun) {
  if (all <= shown) return "";
  return "(" + Count(all - shown, noun) + " left out: --limit=0 shows all)\n";
}

std::string WokenBy(const json& pod) {
  const std::string event = Text(pod, "wokenBy");
  const std::string plugin = Text(pod, "wokenByHintOf");
  return event + (plugin.empty() ? "" : " (" + plugin + ")");
}

std::string HeldBy(const json& pod) {
  if (std::string gate = Text(pod, "gatedBy"); !gate.empty()) return gate;
  std::string plugins = Joined(List(pod, "rejectedBy"));
  if (const std::string pending = Joined(List(pod, "pendingFor")); !pending.empty()) {
    plugins += (plugins.empty() ? "" : ",") + pending;
  }
  return plugins;
}

// A pod, a group, or below its group a member, of which only what is its own is shown.
void AddQueueRow(const json& entry, const std::string& now, bool member, Columns& columns) {
  const std::string since = Text(entry, "since");
  const std::string end = Text(entry, "backoffEnd");
  const std::string node = Text(entry, "node");
  const std::string left = end.empty() ? "-" : Between(now, end);
  const std::string group = Text(entry, "podGroup");
  const bool is_group = entry.contains("members");
  const std::string name =
      is_group ? group + " (" + Count(List(entry, "members").size(), "member") + ")"
               : (member ? "  " : "") + Text(entry, "pod") + (node.empty() ? "" : " -> " + node);
  columns.Add(
      {member ? "" : Text(entry, "queue"),
       member                       ? ""
       : entry.contains("position") ? std::to_string(Number(entry, "position"))
                                    : "-",
       name, std::to_string(Number(entry, "priority")), std::to_string(Number(entry, "attempts")),
       member || since.empty() ? "-" : Between(since, now), member || left == "0s" ? "-" : left,
       OrDash(HeldBy(entry)), member ? "-" : OrDash(Text(entry, "lastEvent")),
       member ? "-" : OrDash(WokenBy(entry))});
}

std::string QueueRows(const json& answer) {
  const std::string now = Text(answer, "time");
  Columns columns("lrlrrrrlll");
  columns.Add({"QUEUE", "POS", "POD", "PRIORITY", "ATTEMPTS", "SINCE", "BACKOFF", "HELD BY",
               "LAST EVENT", "WOKEN BY"});
  for (const json& entry : List(answer, "pods")) {
    AddQueueRow(entry, now, false, columns);
    for (const json& member : List(entry, "members")) AddQueueRow(member, now, true, columns);
  }
  return columns.Text("");
}

// Pods, those in groups included.
size_t PodsIn(const json& entries) {
  size_t pods = 0;
  for (const json& entry : entries) {
    pods += entry.contains("members") ? List(entry, "members").size() : 1;
  }
  return pods;
}

std::string BestText(const json& decision) {
  std::string text;
  for (const json& node : List(decision, "best")) {
    text += (text.empty() ? "" : ", ") + Text(node, "node") + " " +
            std::to_string(Number(node, "total"));
  }
  return text;
}

// "extender http://x dropped 3 of 3 nodes without a reason", of those that dropped some.
std::string ExtendersText(const json& decision) {
  std::string text;
  for (const json& one : List(decision, "extenders")) {
    const int64_t asked = Number(one, "asked");
    const int64_t dropped = asked - Number(one, "kept");
    const int64_t unexplained = Number(one, "unexplained");
    if (dropped <= 0) continue;
    text += (text.empty() ? "" : "; ") + ("extender " + Text(one, "extender")) + " dropped " +
            std::to_string(dropped) + " of " + Count(static_cast<size_t>(asked), "node");
    if (unexplained == dropped) text += " without a reason";
    if (unexplained > 0 && unexplained < dropped) {
      text += ", " + std::to_string(unexplained) + " of them without a reason";
    }
  }
  return text;
}

// What the message does not say, in parentheses behind a blank; or empty.
std::string RemarksOf(const json& decision) {
  std::string text = ExtendersText(decision);
  for (const json& cut : List(decision, "cutRequests")) {
    text += (text.empty() ? "" : "; ") + Text(cut, "resource") + " " + Text(cut, "asked") +
            " is too large to be counted and taken for " + std::to_string(Number(cut, "counted"));
  }
  return text.empty() ? "" : " (" + text + ")";
}

// The time of day is enough for the last thousand decisions.
std::string TimeOfDay(const std::string& time) {
  const size_t begin = time.find('T');
  return begin == std::string::npos ? time : time.substr(begin + 1, 12);
}

void AddDecision(const json& decision, const std::string& indent, Columns& columns) {
  const std::string node = Text(decision, "node");
  const std::string nominated = Text(decision, "nominatedNode");
  const std::string message = Text(decision, "message");
  columns.Add({TimeOfDay(Text(decision, "time")), indent + Text(decision, "pod"),
               std::to_string(Number(decision, "attempt")), Text(decision, "result"),
               node.empty() ? (nominated.empty() ? "-" : "(" + nominated + ")") : node,
               std::to_string(Number(decision, "feasibleNodes")) + "/" +
                   std::to_string(Number(decision, "evaluatedNodes")),
               Microseconds(decision, "decidedMicroseconds"),
               Microseconds(decision, "endedMicroseconds"),
               OrDash(message.empty() ? BestText(decision) : message) + RemarksOf(decision)});
}

// The attempt of a group, and its members below it.
void AddGroupAttempt(const json& attempt, Columns& columns) {
  const json& members = List(attempt, "members");
  columns.Add({TimeOfDay(Text(attempt, "time")), Text(attempt, "podGroup"),
               std::to_string(Number(attempt, "attempt")), Text(attempt, "result"), "-", "-", "-",
               "-", OrDash(Text(attempt, "message"))});
  for (size_t i = 0; i < std::min(members.size(), kMembersShown); ++i) {
    AddDecision(members[i], "  ", columns);
  }
  if (members.size() <= kMembersShown) return;
  columns.Add({"", "  (" + Count(members.size() - kMembersShown, "more member") + ")", "", "", "",
               "", "", "", "-o json has all"});
}

// The verdict of a simulated group and its members' nodes.
std::string SimulatedGroupText(const json& group) {
  std::string text = Text(group, "podGroup") + ": " + Text(group, "result") + "\n";
  if (const std::string message = Text(group, "message"); !message.empty()) {
    text += "  " + message + "\n";
  }
  Columns columns("lll");
  columns.Add({"MEMBER", "NODE", "WHY NONE"});
  const std::vector<inspect::MemberVerdict> members = ReadMembers(group);
  for (size_t i = 0; i < std::min(members.size(), kMembersShown); ++i) {
    columns.Add({members[i].pod, OrDash(members[i].node), OrDash(members[i].message)});
  }
  text += columns.Text("  ");
  if (members.size() > kMembersShown) {
    text += "  (" + Count(members.size() - kMembersShown, "more member") + ": -o json has all)\n";
  }
  return text;
}

std::string NodeCell(int64_t used, int64_t all, std::string_view resource) {
  const Symbol name(resource);
  return AmountText(name, used, Round::kUp) + "/" + AmountText(name, all, Round::kDown);
}

std::string DifferencesText(const json& comparison) {
  std::string text =
      "compared with " + Count(static_cast<size_t>(Number(comparison, "nodes")), "node") + " and " +
      Count(static_cast<size_t>(Number(comparison, "pods")), "pod") + " of the API server: ";
  const json& differences = List(comparison, "differences");
  if (differences.empty()) return text + "no difference\n";
  text += Count(differences.size(), "difference") + "\n\n";
  Columns columns("llll");
  columns.Add({"DIFFERENCE", "OBJECT", "CACHE", "API SERVER"});
  for (const json& difference : differences) {
    columns.Add({Text(difference, "kind"), Text(difference, "object"),
                 OrDash(Text(difference, "cache")), OrDash(Text(difference, "apiServer"))});
  }
  return text + columns.Text("");
}

std::string NodesTable(const json& nodes) {
  Columns columns("lrrrrl");
  columns.Add({"NODE", "PODS", "CPU", "MEMORY", "EPHEMERAL", "REMARKS"});
  for (const json& node : nodes) {
    const json& used = Part(node, "requested");
    const json& all = Part(node, "allocatable");
    std::string remarks = Flag(node, "deleted") ? "deleted" : "";
    if (Flag(node, "unschedulable")) remarks += remarks.empty() ? "cordoned" : ", cordoned";
    if (const std::string nominated = Joined(List(node, "nominated")); !nominated.empty()) {
      remarks += (remarks.empty() ? "" : ", ") + ("nominated: " + nominated);
    }
    columns.Add({Text(node, "name"),
                 std::to_string(Number(used, "pods")) + "/" + std::to_string(Number(all, "pods")),
                 NodeCell(Number(used, "cpuMilli"), Number(all, "cpuMilli"), "cpu"),
                 NodeCell(Number(used, "memory"), Number(all, "memory"), "memory"),
                 NodeCell(Number(used, "ephemeralStorage"), Number(all, "ephemeralStorage"),
                          "ephemeral-storage"),
                 remarks});
  }
  return columns.Text("");
}

std::string PodsOfNodes(const json& nodes) {
  Columns columns("llrrrl");
  columns.Add({"NODE", "POD", "PRIORITY", "CPU", "MEMORY", "REMARKS"});
  bool any = false;
  for (const json& node : nodes) {
    for (const json& pod : List(node, "pods")) {
      any = true;
      std::string remarks = Flag(pod, "assumed") ? "assumed" : "";
      if (Flag(pod, "terminating")) remarks += remarks.empty() ? "leaving" : ", leaving";
      columns.Add({Text(node, "name"), Text(pod, "pod"), std::to_string(Number(pod, "priority")),
                   AmountText(Symbol("cpu"), Number(pod, "cpuMilli"), Round::kUp),
                   AmountText(Symbol("memory"), Number(pod, "memory"), Round::kUp), remarks});
    }
  }
  return any ? "\n" + columns.Text("") : "";
}

std::string LiveText(const json& live) {
  std::string text;
  for (const json& note : List(live, "notes")) {
    if (note.is_string()) text += "  note: " + Printable(note.get<std::string>()) + "\n";
  }
  if (const json& queue = Part(live, "queue"); !queue.empty()) {
    text += "  queue: " + Text(queue, "queue");
    if (queue.contains("position")) text += " at " + std::to_string(Number(queue, "position"));
    text += ", " + Count(static_cast<size_t>(Number(queue, "attempts")), "attempt");
    if (const std::string event = Text(queue, "lastEvent"); !event.empty()) {
      text += ", moved there by " + event;
    }
    if (const std::string woken = WokenBy(queue); !woken.empty()) text += ", woken by " + woken;
    text += "\n";
  }
  if (const json& last = Part(live, "lastDecision"); !last.empty()) {
    text += "  last decision: " + Text(last, "result") + " at " + Text(last, "time");
    if (const std::string node = Text(last, "node"); !node.empty()) text += " on " + node;
    text += ", attempt " + std::to_string(Number(last, "attempt"));
    if (const std::string dropped = ExtendersText(last); !dropped.empty()) text += ": " + dropped;
    text += "\n";
  }
  return text;
}

ShortageFinder ShortagesOf(const json& live) {
  struct Known {
    std::string reason, plugin;
    inspect::Shortage shortage;
  };
  std::vector<Known> known;
  for (const json& shortage : List(live, "shortages")) {
    known.push_back({Text(shortage, "reason"),
                     Text(shortage, "plugin"),
                     {.resource = Symbol(Text(shortage, "resource")),
                      .needed = Number(shortage, "needed"),
                      .free = Number(shortage, "mostFree"),
                      .node = Text(shortage, "node")}});
  }
  return [known](const inspect::NodeVerdict& node,
                 const std::string& reason) -> std::optional<inspect::Shortage> {
    for (const Known& one : known) {
      if (one.reason == reason && one.plugin == node.plugin) return one.shortage;
    }
    return std::nullopt;
  };
}

}  // namespace

Result<std::string> QueueTable(std::string_view body) {
  const auto answer = Parsed(body, "pods");
  if (!answer.ok()) return answer.error();
  const json& counts = Part(*answer, "counts");
  const auto count = [&counts](const char* key) { return std::to_string(Number(counts, key)); };
  std::string text = ReplicaLine(*answer) + ": " + count("active") + " active, " +
                     count("backoff") + " in backoff, " + count("inFlight") + " in flight, " +
                     count("waiting") + " waiting at Permit, " + count("binding") +
                     " being bound, " + count("unschedulable") + " unschedulable, " +
                     count("gated") + " gated";
  for (const char* part : {"incomplete", "pending"}) {
    if (counts.contains(part)) text += ", " + count(part) + " " + part;
  }
  text += "\n";
  std::string rejected;
  for (const json& plugin : List(*answer, "rejectedBy")) {
    rejected += (rejected.empty() ? "" : ", ") + Text(plugin, "plugin") + " " +
                std::to_string(Number(plugin, "pods"));
  }
  if (!rejected.empty()) text += "rejected by: " + rejected + "\n";
  const size_t shown = PodsIn(List(*answer, "pods"));
  if (shown > 0) text += "\n" + QueueRows(*answer);
  return text + LeftOut(static_cast<size_t>(Number(*answer, "matching")), shown, "pod");
}

Result<std::string> DecisionsTable(std::string_view body) {
  const auto answer = Parsed(body, "decisions");
  if (!answer.ok()) return answer.error();
  std::string text = ReplicaLine(*answer) + ": " + std::to_string(Number(*answer, "made")) +
                     " decisions made, the last " + std::to_string(Number(*answer, "kept")) +
                     " are kept\n";
  if (Number(*answer, "kept") == 0) return text + "(--decisions-kept=0 keeps none)\n";
  Columns columns("llrllrrrl");
  columns.Add({"TIME", "POD", "ATTEMPT", "RESULT", "NODE", "FEASIBLE", "TOOK", "BOUND AFTER",
               "BEST NODES, OR WHY NONE"});
  const json& decisions = List(*answer, "decisions");
  for (const json& decision : decisions) {
    if (decision.contains("members")) {
      AddGroupAttempt(decision, columns);
    } else {
      AddDecision(decision, "", columns);
    }
  }
  if (!decisions.empty()) text += "\n" + columns.Text("");
  return text;
}

Result<std::string> CacheTable(std::string_view body) {
  const auto answer = Parsed(body, "counts");
  if (!answer.ok()) return answer.error();
  const json& counts = Part(*answer, "counts");
  std::string text = ReplicaLine(*answer) + ": " +
                     Count(static_cast<size_t>(Number(counts, "nodes")), "node") + ", " +
                     Count(static_cast<size_t>(Number(counts, "pods")), "pod") + ", " +
                     std::to_string(Number(counts, "assumedPods")) + " of them assumed\n";
  if (answer->contains("comparison")) text += DifferencesText(Part(*answer, "comparison"));
  const json& nodes = List(*answer, "nodes");
  if (!nodes.empty()) text += "\n" + NodesTable(nodes) + PodsOfNodes(nodes);
  return text;
}

Result<std::string> SimulationTable(std::string_view body) {
  const auto answer = Parsed(body, "sources");
  if (!answer.ok()) return answer.error();
  std::string text;
  for (const json& note : List(*answer, "notes")) {
    if (note.is_string()) text += "note: " + Printable(note.get<std::string>()) + "\n";
  }
  for (const json& source : List(*answer, "sources")) {
    text += Text(source, "source") + ": " + std::to_string(Number(source, "placed")) + " of " +
            Count(static_cast<size_t>(Number(source, "pods")), "pod") + " would be placed\n";
    Columns columns("lr");
    columns.Add({"NODE", "PODS"});
    for (const json& node : List(source, "nodes")) {
      columns.Add({Text(node, "node"), std::to_string(Number(node, "pods"))});
    }
    if (!List(source, "nodes").empty()) text += columns.Text("  ");
  }
  for (const json& group : List(*answer, "podGroups")) text += SimulatedGroupText(group);
  // Replicas mostly fail for one reason.
  std::vector<std::pair<std::string, size_t>> reasons;
  for (const json& pod : List(*answer, "pods")) {
    const std::string message = Text(pod, "message");
    if (message.empty()) continue;
    const std::string line = Text(pod, "source") + ", " + Text(pod, "result") + ": " + message;
    const auto known = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& reason) { return reason.first == line; });
    if (known != reasons.end()) {
      ++known->second;
    } else {
      reasons.emplace_back(line, 1);
    }
  }
  for (const auto& [reason, pods] : reasons) text += Count(pods, "pod") + " of " + reason + "\n";
  return text;
}

Result<std::string> FillTable(std::string_view body) {
  const auto answer = Parsed(body, "fill");
  if (!answer.ok()) return answer.error();
  std::string text;
  for (const json& note : List(*answer, "notes")) {
    if (note.is_string()) text += "note: " + Printable(note.get<std::string>()) + "\n";
  }
  for (const json& source : List(*answer, "fill")) {
    const json& nodes = List(source, "nodes");
    const std::string pods = Count(static_cast<size_t>(Number(source, "fits")), "pod");
    text += Text(source, "source") + ": " + pods + " more fit, on " + Count(nodes.size(), "node");
    text += source.value("limited", false) ? "; more are not tried\n" : "\n";
    if (const std::string why = Text(source, "message"); !why.empty()) {
      text += "  the next one: " + why + "\n";
    }
    Columns columns("rll");
    columns.Add({"NODES", "PLUGIN", "RUNS OUT"});
    for (const json& reason : List(source, "runsOut")) {
      columns.Add({std::to_string(Number(reason, "nodes")), Text(reason, "plugin"),
                   Text(reason, "reason")});
    }
    if (!List(source, "runsOut").empty()) text += columns.Text("  ");
  }
  return text;
}

Result<std::string> LiveExplanationTable(std::string_view body, std::string_view only_node) {
  const auto answer = Parsed(body, "result");
  if (!answer.ok()) return answer.error();
  const json& live = Part(*answer, "live");
  if (const std::string group = Text(*answer, "podGroup"); !group.empty()) {
    std::string table = GroupTable(ReadGroupExplanation(*answer));
    return table.insert(table.find('\n') + 1, LiveText(live));
  }
  inspect::Explanation explanation = ReadExplanation(*answer);
  explanation.nominated_node = Text(live, "nominatedNode");
  std::string table = ExplanationTable(explanation, ShortagesOf(live), only_node);
  const size_t first_line = table.find('\n');
  return table.insert(first_line + 1, LiveText(live));
}

}  // namespace ks::ctl
