// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/explain/explain_table.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "framework/pod_requests.h"
#include "kubeschedctl/explain/group_table.h"
#include "kubeschedctl/text/columns.h"
#include "kubeschedctl/text/printable.h"

namespace ks::ctl {
namespace {

using inspect::Explanation;
using inspect::NodeVerdict;
using inspect::ReasonDetail;
using inspect::Shortage;
using inspect::Verdict;

constexpr const char* kReasonHead = "REASON";

// The nodes that a plugin rejected for one reason.
struct Group {
  std::string plugin;
  std::string reason;
  size_t nodes = 0;
  std::string first_node;
  std::optional<Shortage> shortage;            // of the node that has the most free
  std::vector<const ReasonDetail*> details{};  // story after story

  // The node that amounts and detail speak of.
  const std::string& Example() const {
    if (shortage && !shortage->node.empty()) return shortage->node;
    return !details.empty() && !details.front()->node.empty() ? details.front()->node : first_node;
  }
};

class Groups {
 public:
  Groups(const ShortageFinder& shortage_of, const std::vector<ReasonDetail>& details)
      : shortage_of_(shortage_of) {
    for (const ReasonDetail& detail : details) {
      details_[{detail.reason, detail.plugin}].push_back(&detail);
    }
  }

  void Add(const NodeVerdict& node) {
    if (node.reasons.empty()) AddReason(node, "");
    for (const std::string& reason : node.reasons) AddReason(node, reason);
  }

  // The most frequent reason first.
  std::vector<Group> Sorted() const {
    std::vector<Group> sorted;
    for (const auto& [key, group] : groups_) sorted.push_back(group);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Group& a, const Group& b) { return a.nodes > b.nodes; });
    return sorted;
  }

 private:
  void AddReason(const NodeVerdict& node, const std::string& reason) {
    const bool left_out = node.code == inspect::kNotInPreFilterResult;
    Group& group = groups_[{left_out ? "" : reason, node.plugin}];
    if (++group.nodes == 1) {
      group.plugin = node.plugin;
      group.reason = left_out ? "left out by a PreFilter plugin" : reason;
      group.first_node = node.name;
      const auto detail = details_.find({group.reason, group.plugin});
      if (detail != details_.end()) group.details = detail->second;
    }
    const auto shortage = shortage_of_(node, reason);
    if (shortage && (!group.shortage || shortage->free > group.shortage->free)) {
      group.shortage = shortage;
    }
  }

  const ShortageFinder& shortage_of_;
  // By reason and plugin.
  std::map<std::pair<std::string, std::string>, std::vector<const ReasonDetail*>> details_;
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

// "Insufficient cpu: needs 2, free 1.3", for several nodes "free at most 1.3".
std::string ReasonText(const Group& group) {
  if (!group.shortage) return group.reason;
  const Shortage& shortage = *group.shortage;
  return group.reason + ": needs " + AmountText(shortage.resource, shortage.needed, Round::kUp) +
         (group.nodes > 1 ? ", free at most " : ", free ") +
         AmountText(shortage.resource, shortage.free, Round::kDown);
}

std::string VerdictLine(const Explanation& explanation, size_t feasible) {
  std::string line = explanation.pod + ": " + std::string(VerdictText(explanation.result));
  if (explanation.result != Verdict::kSchedulable) return line + "\n";
  const auto& best = explanation.best_nodes;
  if (!explanation.nominated_node.empty()) {
    line += " on " + explanation.nominated_node + ", to which it is nominated";
  } else if (best.size() == 1) {
    line += " on " + best.front();
  } else {
    line += ", " + std::to_string(best.size()) + " nodes share the best total";
  }
  return line + " (" + Count(feasible, "feasible node") + " of " +
         std::to_string(explanation.nodes.size()) + ")\n";
}

// One a text. Where the nodes of a row differ, each says of which it speaks: "n1 and 2 alike: …".
std::vector<std::string> DetailLines(const std::vector<const ReasonDetail*>& details) {
  std::vector<std::string> lines;
  size_t stories = 0;
  const ReasonDetail* last = nullptr;
  const bool several = std::any_of(details.begin(), details.end(), [&](const ReasonDetail* one) {
    return one->nodes != details.front()->nodes;
  });
  for (const ReasonDetail* detail : details) {
    if (last == nullptr || detail->nodes != last->nodes) ++stories;
    last = detail;
    if (stories > kStoriesShown) continue;
    std::string line;
    if (several) {
      line = detail->node;
      if (detail->nodes.size() > 1) {
        line += " and " + std::to_string(detail->nodes.size() - 1) + " alike";
      }
      line += ": ";
    }
    lines.push_back(line + detail->text);
  }
  if (stories > kStoriesShown) {
    lines.push_back("(other nodes differ: " + std::to_string(stories - kStoriesShown) +
                    " more kinds; --node NODE tells of one, -o json of all)");
  }
  return lines;
}

// Details stand on lines of their own below the reason: they are long.
std::string RejectedNodes(const std::vector<Group>& groups) {
  Columns columns({true, false, false, false});
  columns.Add({"NODES", "PLUGIN", kReasonHead, "FOR EXAMPLE"});
  for (const Group& group : groups) {
    columns.Add({std::to_string(group.nodes), group.plugin.empty() ? "-" : group.plugin,
                 ReasonText(group), group.Example()});
  }
  const std::string table = columns.Text("  ");
  const std::string indent(table.find(kReasonHead), ' ');
  size_t end = table.find('\n') + 1;
  std::string text = table.substr(0, end);
  for (const Group& group : groups) {
    const size_t begin = std::exchange(end, table.find('\n', end) + 1);
    text += table.substr(begin, end - begin);
    for (const std::string& line : DetailLines(group.details)) text += indent + line + "\n";
  }
  return text;
}

// " [memory 10Gi, 25Gi of 40Gi free]"; empty: the device is the claim's alone.
std::string ShareText(const NodeVerdict& node, size_t claim, size_t result) {
  std::string text;
  for (const inspect::DeviceShare& share : node.shares) {
    if (share.claim != claim || share.result != result) continue;
    for (const inspect::DeviceShare::Amount& amount : share.amounts) {
      text += (text.empty() ? " [" : "; ") + amount.capacity + ' ' + amount.asked + ", " +
              amount.free + " of " + amount.total + " free";
    }
  }
  return text.empty() ? text : text + ']';
}

// "    claim c: gpu-0, gpu-1 (drv.example, pool n1)", a line each.
std::string ClaimLines(const NodeVerdict& node) {
  std::string text;
  for (size_t claim = 0; claim < node.allocations.size(); ++claim) {
    const framework::ClaimOutcome& outcome = node.allocations[claim];
    text += "    claim " + outcome.claim + ": ";
    const std::vector<api::DeviceResult>& results = outcome.allocation.results;
    for (size_t i = 0; i < results.size(); ++i) {
      const api::DeviceResult& result = results[i];
      const bool last_of_pool = i + 1 == results.size() || results[i + 1].pool != result.pool ||
                                results[i + 1].driver != result.driver;
      text += result.device.str() + ShareText(node, claim, i);
      if (last_of_pool) text += " (" + result.driver.str() + ", pool " + result.pool.str() + ")";
      if (i + 1 < results.size()) text += last_of_pool ? "; " : ", ";
    }
    text += results.empty() ? "no devices\n" : "\n";
  }
  return text;
}

// Nodes with the best total are followed by the devices that the pod would get there.
std::string BestNodes(std::vector<const NodeVerdict*> feasible) {
  // Highest total first, then by name, as they come.
  std::stable_sort(feasible.begin(), feasible.end(),
                   [](const NodeVerdict* a, const NodeVerdict* b) { return a->total > b->total; });
  const size_t shown = std::min(feasible.size(), kBestNodesShown);
  std::vector<std::string> head = {"NODE", "TOTAL"};
  for (const auto& score : feasible.front()->scores) head.emplace_back(score.plugin);
  std::vector<bool> to_the_right(head.size(), true);
  to_the_right.front() = false;
  Columns columns(std::move(to_the_right));
  columns.Add(std::move(head));
  for (size_t i = 0; i < shown; ++i) {
    std::vector<std::string> cells = {feasible[i]->name, std::to_string(feasible[i]->total)};
    for (const auto& score : feasible[i]->scores) cells.push_back(std::to_string(score.weighted));
    columns.Add(std::move(cells));
  }
  const std::string table = columns.Text("  ");
  size_t end = table.find('\n') + 1;
  std::string text = table.substr(0, end);
  for (size_t i = 0; i < shown; ++i) {
    const size_t begin = std::exchange(end, table.find('\n', end) + 1);
    text += table.substr(begin, end - begin);
    if (feasible[i]->total == feasible.front()->total) text += ClaimLines(*feasible[i]);
  }
  if (shown < feasible.size()) {
    text += "  (" + Count(feasible.size() - shown, "more feasible node") + " left out)\n";
  }
  return text;
}

std::string VictimsText(const std::vector<inspect::VictimVerdict>& victims) {
  std::string text;
  for (const inspect::VictimVerdict& victim : victims) {
    text += (text.empty() ? "" : ", ") + victim.pod + " (priority " +
            std::to_string(victim.priority) + (victim.terminating ? ", leaving" : "") + ")";
  }
  return text;
}

std::string TriedText(const inspect::TriedNode& tried) {
  if (!tried.victims.empty()) return VictimsText(tried.victims);
  std::string text;
  for (const std::string& reason : tried.reasons) text += (text.empty() ? "" : ", ") + reason;
  return text.empty() ? std::string(tried.code) : text;
}

std::string PreemptionText(const inspect::PreemptionVerdict& preemption,
                           std::string_view only_node) {
  std::string text =
      "  " + (preemption.message.empty() ? "preemption: nothing to say" : preemption.message) +
      "\n";
  if (preemption.nomination == "clear") text += "  its nomination, if it has one, is cleared\n";
  // The chosen node, those that would do as well, the others.
  std::vector<const inspect::TriedNode*> tried;
  for (const inspect::TriedNode& node : preemption.tried) {
    if (only_node.empty() || node.name == only_node) tried.push_back(&node);
  }
  if (tried.empty()) return text;
  const auto rank = [&](const inspect::TriedNode* node) {
    if (node->name == preemption.node) return 0;
    return node->victims.empty() ? 2 : 1;
  };
  std::stable_sort(tried.begin(), tried.end(),
                   [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  Columns columns({false, false, true, false});
  columns.Add({"", "TRIED", "BUDGETS VIOLATED", "VICTIMS, OR WHY NONE HELP"});
  const size_t shown = std::min(tried.size(), kTriedNodesShown);
  for (size_t i = 0; i < shown; ++i) {
    columns.Add({rank(tried[i]) == 0 ? "*" : "", tried[i]->name,
                 tried[i]->victims.empty() ? "-" : std::to_string(tried[i]->violations),
                 TriedText(*tried[i])});
  }
  text += columns.Text("  ");
  if (shown < tried.size()) {
    text += "  (" + Count(tried.size() - shown, "more node") + " tried, left out)\n";
  }
  return text;
}

std::string GroupLines(const inspect::GroupShare& share) {
  std::string text =
      "  its group, " + share.group + ": " + std::string(VerdictText(share.result)) + "\n";
  if (!share.message.empty()) text += "    " + share.message + "\n";
  if (!share.summary.empty()) text += "    " + share.summary + "\n";
  text += "    this pod in it: " + std::string(VerdictText(share.member_result));
  if (!share.member_node.empty()) text += " on " + share.member_node;
  if (!share.member_message.empty() && share.member_message != share.message) {
    text += ": " + share.member_message;
  }
  return text + "\n";
}

}  // namespace

ShortageFinder ShortagesIn(const framework::Snapshot& snapshot, const api::Pod& pod) {
  return [&snapshot, &pod, request = framework::PodRequest(pod)](
             const NodeVerdict& node, const std::string& reason) -> std::optional<Shortage> {
    const framework::NodeInfo* info = snapshot.Find(node.name);
    if (info == nullptr) return std::nullopt;
    return inspect::ShortageOf(reason, pod, request, *info);
  };
}

std::string ExplanationTable(const Explanation& explanation, const ShortageFinder& shortage_of,
                             std::string_view only_node) {
  Groups groups(shortage_of, explanation.details);
  size_t feasible = 0;
  std::vector<const NodeVerdict*> to_rank;
  for (const NodeVerdict& node : explanation.nodes) {
    if (node.feasible) ++feasible;
    if (!only_node.empty() && node.name != only_node) continue;
    if (node.feasible) {
      to_rank.push_back(&node);
    } else {
      groups.Add(node);
    }
  }
  std::string text = VerdictLine(explanation, feasible);
  if (!explanation.message.empty()) text += "  " + explanation.message + "\n";
  if (explanation.group) text += GroupLines(*explanation.group);
  for (const std::string& note : explanation.notes) text += "  note: " + note + "\n";
  const std::vector<Group> rejected = groups.Sorted();
  if (!rejected.empty()) text += "\n" + RejectedNodes(rejected);
  if (!to_rank.empty()) text += "\n" + BestNodes(std::move(to_rank));
  if (!explanation.suggestions.empty()) text += "\n  it would fit with one of\n";
  for (const inspect::Suggestion& one : explanation.suggestions) {
    text += "  - " + Printable(one.text) + "\n";
  }
  if (explanation.preemption) text += "\n" + PreemptionText(*explanation.preemption, only_node);
  if (explanation.group && explanation.group->preemption) {
    text += "\n" + GroupPreemptionText(*explanation.group->preemption);
  }
  return text;
}

}  // namespace ks::ctl
