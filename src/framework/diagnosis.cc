// SPDX-License-Identifier: Apache-2.0
#include "framework/diagnosis.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/check.h"

namespace ks::framework {
namespace {

// Called for every rejected node; a linear look at the few names avoids making a string.
void Record(std::set<std::string>& plugins, std::string_view plugin) {
  // NOLINTNEXTLINE(performance-inefficient-algorithm): the set's own find would make a string.
  if (std::find(plugins.begin(), plugins.end(), plugin) == plugins.end()) plugins.emplace(plugin);
}

}  // namespace

void NodeStatuses::Reset(size_t size) {
  static const Status initial(Code::kUnschedulableAndUnresolvable, {});
  for (const uint32_t index : explicit_) statuses_[index] = Status();
  explicit_.clear();
  statuses_.resize(size);
  absent_ = initial;
}

void NodeStatuses::Set(uint32_t index, Status status) {
  KS_CHECK(index < statuses_.size(), "a node status needs the index of a snapshot node");
  KS_CHECK(!status.ok(), "success is no node status");
  if (statuses_[index].ok()) explicit_.push_back(index);
  statuses_[index] = std::move(status);
}

const Status& NodeStatuses::Get(uint32_t index) const {
  return statuses_[index].ok() ? absent_ : statuses_[index];
}

std::vector<uint32_t> NodeStatuses::NodesForCode(Code code) const {
  std::vector<uint32_t> nodes;
  const bool absent_has_it = absent_.code() == code;
  for (uint32_t i = 0; i < statuses_.size(); ++i) {
    const Status& status = statuses_[i];
    if (status.ok() ? absent_has_it : status.code() == code) nodes.push_back(i);
  }
  return nodes;
}

Status NotInNodeSet(const std::set<std::string>& plugins) {
  std::string names;
  for (const std::string& name : plugins) {
    if (!names.empty()) names += ' ';
    names += name;
  }
  return Status(Code::kUnschedulableAndUnresolvable,
                {"node(s) didn't satisfy plugin(s) [" + names + "]"});
}

void Diagnosis::AddNodeStatus(uint32_t index, const Status& status) {
  nodes.Set(index, status);
  if (!status.IsRejected() || status.plugin().empty()) return;
  Record(unschedulable_plugins, status.plugin());
  if (status.code() == Code::kPending) Record(pending_plugins, status.plugin());
}

void ReasonCounts::Add(const Status& status, size_t nodes) {
  if (nodes == 0) return;
  nodes_ += nodes;
  if (last_ == nullptr || status.id() != last_->first.id()) {
    last_ = &bodies_.try_emplace(status.id(), status, 0).first->second;
  }
  last_->second += nodes;
}

std::vector<std::string> ReasonCounts::Lines() const {
  std::map<std::string_view, size_t> texts;
  for (const auto& [id, entry] : bodies_) {
    for (const std::string& reason : entry.first.reasons()) texts[reason] += entry.second;
  }
  std::vector<std::string> lines;
  lines.reserve(texts.size());
  for (const auto& [reason, count] : texts) {
    lines.push_back(std::to_string(count) + " ");
    lines.back() += reason;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string ReasonCounts::Text(size_t all_nodes) const {
  std::string text = "0/" + std::to_string(all_nodes) + " nodes are available:";
  const std::vector<std::string> lines = Lines();
  for (const std::string& line : lines) {
    text += (&line == &lines.front() ? " " : ", ") + line;
  }
  if (!lines.empty()) text += '.';
  return text;
}

std::string Diagnosis::Text() const {
  std::string text;
  if (!pre_filter_message.empty()) {
    text = "0/" + std::to_string(num_all_nodes) + " nodes are available: " + pre_filter_message;
    text += '.';
  } else {
    ReasonCounts counts;
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (nodes.IsExplicit(i)) counts.Add(nodes.Get(i), 1);
    }
    if (nodes.explicit_count() < num_all_nodes) {
      counts.Add(nodes.absent(), num_all_nodes - nodes.explicit_count());
    }
    text = counts.Text(num_all_nodes);
  }
  if (!post_filter_message.empty()) text += " " + post_filter_message;
  return text;
}

}  // namespace ks::framework
