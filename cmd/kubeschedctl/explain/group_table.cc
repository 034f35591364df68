// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/group_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "kubeschedctl/text/columns.h"

namespace ks::ctl {
namespace {

using inspect::GroupExplanation;
using inspect::GroupVerdict;
using inspect::MemberVerdict;
using inspect::PlacementVerdict;
using inspect::Verdict;

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

std::string LeftOut(size_t all, const char* noun) {
  if (all <= kGroupRowsShown) return "";
  return "  (" + Count(all - kGroupRowsShown, noun) + " left out: -o json has all)\n";
}

// The placements in which most members fit first.
std::vector<const PlacementVerdict*> Ranked(const std::vector<PlacementVerdict>& placements) {
  std::vector<const PlacementVerdict*> ranked;
  for (const PlacementVerdict& one : placements) ranked.push_back(&one);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto* a, const auto* b) {
    return std::make_pair(a->result == Verdict::kSchedulable, a->tally.fit) >
           std::make_pair(b->result == Verdict::kSchedulable, b->tally.fit);
  });
  return ranked;
}

std::string WhyNot(const PlacementVerdict& placement) {
  if (placement.result == Verdict::kSchedulable) return "-";
  const auto& failure = placement.tally.first_failure;
  return failure ? failure->pod + ": " + failure->message : OrDash(placement.message);
}

void AddPlacements(const std::vector<PlacementVerdict>& placements, const std::string& indent,
                   Columns& columns) {
  size_t shown = 0;
  for (const PlacementVerdict* one : Ranked(placements)) {
    if (shown++ == kGroupRowsShown) return;
    const std::string name = one->name.empty() ? "all of its nodes" : one->name;
    columns.Add({indent + (indent.empty() ? name : one->group + " in " + name),
                 std::to_string(one->nodes),
                 std::to_string(one->tally.fit) + "/" + std::to_string(one->tally.members),
                 std::string(VerdictText(one->result)), WhyNot(*one)});
    AddPlacements(one->inside, indent + "  ", columns);
  }
}

std::string PlacementsTable(const std::vector<PlacementVerdict>& placements,
                            const char* head = "PLACEMENT") {
  Columns columns("lrrll");
  columns.Add({head, "NODES", "FIT", "RESULT", "WHY NOT"});
  AddPlacements(placements, "", columns);
  return "\n" + columns.Text("  ") + LeftOut(placements.size(), "more placement");
}

std::string GroupsTable(const std::vector<GroupVerdict>& groups) {
  Columns columns("lrrrrll");
  columns.Add({"GROUP", "WANTED", "ON NODES", "WAITING", "FIT", "RESULT", "WHY NOT"});
  for (size_t i = 0; i < std::min(groups.size(), kGroupRowsShown); ++i) {
    const GroupVerdict& group = groups[i];
    columns.Add({group.group, group.wanted ? std::to_string(*group.wanted) : "-",
                 std::to_string(group.scheduled), std::to_string(group.queued),
                 std::to_string(group.fit), std::string(VerdictText(group.result)),
                 OrDash(group.message)});
  }
  return "\n" + columns.Text("  ") + LeftOut(groups.size(), "more group");
}

struct Row {
  std::string name;
  std::string example;
  size_t members = 0;
};

// The rows with most members first.
std::vector<Row> Sorted(const std::map<std::string, Row>& rows) {
  std::vector<Row> sorted;
  for (const auto& [name, row] : rows) sorted.push_back(row);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Row& a, const Row& b) { return a.members > b.members; });
  return sorted;
}

void CountMember(const std::string& name, const MemberVerdict& member,
                 std::map<std::string, Row>& rows) {
  Row& row = rows[name];
  if (++row.members > 1) return;
  row.name = name;
  row.example = member.pod;
}

}  // namespace

std::string MembersTable(const std::vector<MemberVerdict>& members) {
  std::map<std::string, Row> by_node;
  std::map<std::string, Row> by_reason;
  for (const MemberVerdict& member : members) {
    if (!member.node.empty()) {
      CountMember(member.node, member, by_node);
    } else {
      CountMember(std::string(VerdictText(member.result)) +
                      (member.message.empty() ? "" : ": " + member.message),
                  member, by_reason);
    }
  }
  std::string text;
  const auto add = [&text](const char* head, const std::map<std::string, Row>& rows,
                           const char* noun) {
    if (rows.empty()) return;
    Columns columns("rll");
    columns.Add({"MEMBERS", "FOR EXAMPLE", head});
    const std::vector<Row> sorted = Sorted(rows);
    for (size_t i = 0; i < std::min(sorted.size(), kGroupRowsShown); ++i) {
      columns.Add({std::to_string(sorted[i].members), sorted[i].example, sorted[i].name});
    }
    text += "\n" + columns.Text("  ") + LeftOut(rows.size(), noun);
  };
  add("NODE", by_node, "more node");
  add("RESULT", by_reason, "more reason");
  return text;
}

std::string GroupPreemptionText(const inspect::GroupPreemptionVerdict& preemption) {
  std::string text = "  ";
  text += preemption.message.empty() ? "pod group preemption: nothing to say" : preemption.message;
  if (!preemption.placement.empty()) text += ", in " + preemption.placement;
  if (preemption.violations > 0) {
    text += "; against PodDisruptionBudgets: " + std::to_string(preemption.violations);
  }
  text += "\n";
  std::map<std::string, std::pair<size_t, std::string>> nodes;  // members and victims
  for (const auto& [pod, node] : preemption.nominated) ++nodes[node].first;
  for (const inspect::GroupVictimVerdict& one : preemption.victims) {
    std::string& victims = nodes[one.node].second;
    victims += (victims.empty() ? "" : ", ") + one.victim.pod + " (priority " +
               std::to_string(one.victim.priority) +
               (one.group.empty() ? "" : ", of " + one.group) +
               (one.victim.terminating ? ", leaving" : "") + ")";
  }
  if (nodes.empty()) return text;
  Columns columns("lrl");
  columns.Add({"NODE", "MEMBERS", "VICTIMS"});
  size_t shown = 0;
  for (const auto& [node, row] : nodes) {
    if (shown++ == kGroupRowsShown) break;
    columns.Add({node, std::to_string(row.first), OrDash(row.second)});
  }
  return text + columns.Text("  ") + LeftOut(nodes.size(), "more node");
}

std::string GroupTable(const GroupExplanation& explanation) {
  std::string text = explanation.group + ": " + std::string(VerdictText(explanation.result)) + "\n";
  if (!explanation.message.empty()) text += "  " + explanation.message + "\n";
  if (!explanation.summary.empty()) text += "  " + explanation.summary + "\n";
  for (const std::string& note : explanation.notes) text += "  note: " + note + "\n";
  if (!explanation.placements.empty()) text += PlacementsTable(explanation.placements);
  if (!explanation.groups.empty()) text += GroupsTable(explanation.groups);
  text += MembersTable(explanation.members);
  if (explanation.preemption) text += "\n" + GroupPreemptionText(*explanation.preemption);
  if (!explanation.preempting_placements.empty()) {
    text += PlacementsTable(explanation.preempting_placements, "WITHOUT LOWER PRIORITIES");
  }
  return text;
}

}  // namespace ks::ctl
