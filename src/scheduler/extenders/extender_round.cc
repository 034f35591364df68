// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extenders/extender_round.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/logging.h"
#include "base/text_hash.h"
#include "golang/go_arithmetic.h"

namespace ks::scheduler {
namespace {

using framework::Code;
using framework::ExtenderReply;
using framework::Status;

// Largest request put together on the thread that asks, by the sizes of its node objects.
constexpr size_t kInlineBytes = size_t{256} << 10;

constexpr const char* kStopping = "kubesched is stopping";

// Score of an extender to score of a plugin: 100 / 10.
constexpr int64_t kScoreFactor = 10;

ExtenderFiltering Numbers(std::string extender, const std::vector<api::NodePtr>& asked,
                          const std::vector<api::NodePtr>& kept, const FilterAnswer& answer) {
  ExtenderFiltering numbers{
      .extender = std::move(extender), .asked = asked.size(), .kept = kept.size()};
  if (numbers.kept >= numbers.asked) return numbers;
  std::unordered_set<std::string_view, TextHash> explained;
  for (const api::NodePtr& node : kept) explained.insert(node->meta.name);
  for (const auto& [name, text] : answer.failed) explained.insert(name);
  for (const auto& [name, text] : answer.unresolvable) explained.insert(name);
  for (const api::NodePtr& node : asked) {
    if (!explained.contains(node->meta.name)) ++numbers.unexplained;
  }
  return numbers;
}

}  // namespace

ExtenderRound::ExtenderRound(ExtenderSet& set, api::PodPtr pod, std::vector<api::NodePtr> nodes,
                             bool scores, ExtenderSet::VerdictDone done)
    : set_(set),
      pod_(std::move(pod)),
      scores_(scores),
      done_(std::move(done)),
      nodes_(std::move(nodes)) {}

void ExtenderRound::Start(ExtenderSet& set, const api::PodPtr& pod, std::vector<api::NodePtr> nodes,
                          bool scores, ExtenderSet::VerdictDone done) {
  const std::shared_ptr<ExtenderRound> round(
      new ExtenderRound(set, pod, std::move(nodes), scores, std::move(done)));
  round->FilterNext();
}

ExtenderVerdict ExtenderRound::RunAndWait(ExtenderSet& set, const api::PodPtr& pod,
                                          std::vector<api::NodePtr> nodes, bool scores,
                                          const std::stop_token& stop) {
  ExtenderVerdict verdict;
  const std::shared_ptr<ExtenderRound> round(
      new ExtenderRound(set, pod, std::move(nodes), scores,
                        [&verdict](ExtenderVerdict found) { verdict = std::move(found); }));
  round->stop_ = &stop;
  round->FilterNext();
  return verdict;
}

void ExtenderRound::FilterNext() {
  const std::vector<ExtenderEntry>& extenders = set_.entries();
  while (next_ < extenders.size() && !nodes_.empty()) {
    const ExtenderEntry& extender = extenders[next_++];
    if (extender.config.filter_verb.empty() || !extender.IsInterestedIn(*pod_)) continue;
    Ask({&extender}, &config::Extender::filter_verb, &ExtenderRound::Filtered);
    return;
  }
  {
    MutexLock lock(mutex_);
    for (const api::NodePtr& node : nodes_) {
      verdict_.kept.push_back({node->meta.name, replaced_ ? node : nullptr});
    }
  }
  if (scores_ && nodes_.size() > 1) {
    Prioritize();
  } else {
    Finish({});
  }
}

void ExtenderRound::Ask(const Extenders& extenders, Verb verb, Reader reader) {
  if (stop_ != nullptr) return AskAndWait(extenders, verb, reader);
  for (const ExtenderEntry* extender : extenders) AskLater(*extender, verb, reader);
}

void ExtenderRound::AskAndWait(const Extenders& extenders, Verb verb, Reader reader) {
  Extenders asked;
  std::vector<framework::ExtenderRequest> requests;
  for (const ExtenderEntry* extender : extenders) {
    Result<framework::ExtenderRequest> request = RequestTo(*extender, verb);
    if (!request.ok()) {
      (this->*reader)(*extender, {.error = request.error().message});
      continue;
    }
    asked.push_back(extender);
    requests.push_back(std::move(request).value());
  }
  if (asked.empty()) return;
  const auto replies = set_.CallAndWait(std::move(requests), *stop_);
  if (!replies) return Finish(kStopping, true);
  for (size_t i = 0; i < asked.size(); ++i) (this->*reader)(*asked[i], (*replies)[i]);
}

void ExtenderRound::AskLater(const ExtenderEntry& extender, Verb verb, Reader reader) {
  size_t bytes = 0;
  if (!extender.config.node_cache_capable) {
    for (const api::NodePtr& node : nodes_) bytes += node->raw == nullptr ? 0 : node->raw->size();
  }
  if (bytes <= kInlineBytes) {
    Send(extender, verb, reader);
    return;
  }
  const bool going = set_.RunAside(
      [self = shared_from_this(), &extender, verb, reader] { self->Send(extender, verb, reader); });
  if (!going) (this->*reader)(extender, {.error = kStopping});
}

Result<framework::ExtenderRequest> ExtenderRound::RequestTo(const ExtenderEntry& extender,
                                                            Verb verb) const {
  Result<std::string> body = FilterRequestBody(*pod_, nodes_, extender.config.node_cache_capable);
  if (!body.ok()) return body.error();
  return framework::ExtenderRequest{.extender = extender.position,
                                    .verb = extender.config.*verb,
                                    .body = std::move(body).value()};
}

void ExtenderRound::Send(const ExtenderEntry& extender, Verb verb, Reader reader) {
  Result<framework::ExtenderRequest> request = RequestTo(extender, verb);
  if (!request.ok()) {
    (this->*reader)(extender, {.error = request.error().message});
    return;
  }
  const bool going = set_.Call(std::move(request).value(), [self = shared_from_this(), &extender,
                                                            reader](const ExtenderReply& reply) {
    ((*self).*reader)(extender, reply);
  });
  if (!going) (this->*reader)(extender, {.error = kStopping});
}

void ExtenderRound::Filtered(const ExtenderEntry& extender, const ExtenderReply& reply) {
  const std::string& verb = extender.config.filter_verb;
  Result<FilterAnswer> answer = ReadFilterAnswer(reply, verb, extender.Url(verb));
  std::string error;
  if (!answer.ok()) {
    error = answer.error().message;
  } else {
    TakeAnswer(extender, std::move(answer).value(), &error);
  }
  if (!error.empty() && !extender.config.ignorable) {
    Finish(std::move(error));
    return;
  }
  if (!error.empty()) {
    log::Info(0, "Skipping extender as it returned error and has ignorable flag set",
              {{"extender", extender.config.ShownUrl()}, {"err", error}});
  }
  FilterNext();
}

// Which nodes are left, and why others are not. Nothing has changed after an error.
bool ExtenderRound::TakeAnswer(const ExtenderEntry& extender, FilterAnswer answer,
                               std::string* error) {
  std::unordered_map<std::string_view, const api::NodePtr*, TextHash> sent;
  for (const api::NodePtr& node : nodes_) sent.emplace(node->meta.name, &node);
  std::vector<api::NodePtr> left;
  if (extender.config.node_cache_capable && answer.node_names) {
    for (const std::string& name : *answer.node_names) {
      const auto it = sent.find(name);
      if (it == sent.end()) {
        *error = "extender \"" + extender.config.url_prefix + "\" claims a filtered node \"" +
                 name + "\" which is not found in the input node list";
        return false;
      }
      left.push_back(*it->second);
    }
  } else if (answer.nodes) {
    left = std::move(*answer.nodes);
    // Upstream would go on with a node that nobody knows.
    for (const api::NodePtr& node : left) {
      if (sent.contains(node->meta.name)) continue;
      *error = "extender \"" + extender.config.url_prefix + "\" returns a node \"" +
               node->meta.name + "\" that it was not sent";
      return false;
    }
    replaced_ = true;
  }
  ExtenderFiltering numbers = Numbers(extender.config.ShownUrl(), nodes_, left, answer);
  nodes_ = std::move(left);
  MutexLock lock(mutex_);
  verdict_.filterings.push_back(std::move(numbers));
  for (auto& [name, text] : answer.failed) {
    verdict_.statuses.insert_or_assign(name, Status(Code::kUnschedulable, {std::move(text)}));
  }
  for (auto& [name, text] : answer.unresolvable) {
    verdict_.statuses.insert_or_assign(
        name, Status(Code::kUnschedulableAndUnresolvable, {std::move(text)}));
  }
  return true;
}

void ExtenderRound::Prioritize() {
  Extenders asked;
  for (const ExtenderEntry& extender : set_.entries()) {
    if (!extender.IsInterestedIn(*pod_)) continue;
    if (!extender.config.prioritize_verb.empty()) {
      asked.push_back(&extender);
      continue;
    }
    // Names every node, which makes ties random, and adds nothing.
    std::vector<HostPriority> zeros;
    for (const api::NodePtr& node : nodes_) zeros.push_back({node->meta.name, 0});
    AddScores(extender, zeros);
  }
  if (asked.empty()) {
    Finish({});
    return;
  }
  {
    MutexLock lock(mutex_);
    unanswered_ = asked.size();
  }
  Ask(asked, &config::Extender::prioritize_verb, &ExtenderRound::Prioritized);
}

void ExtenderRound::AddScores(const ExtenderEntry& extender,
                              const std::vector<HostPriority>& priorities) {
  const bool scores = !extender.config.prioritize_verb.empty();
  const int64_t factor = scores ? golang::WrappingMul(extender.config.weight, kScoreFactor) : 0;
  MutexLock lock(mutex_);
  for (const HostPriority& priority : priorities) {
    int64_t& total = verdict_.scores[priority.host];
    total = golang::WrappingAdd(total, golang::WrappingMul(priority.score, factor));
  }
}

void ExtenderRound::Prioritized(const ExtenderEntry& extender, const ExtenderReply& reply) {
  const std::string& verb = extender.config.prioritize_verb;
  const auto priorities = ReadPrioritizeAnswer(reply, verb, extender.Url(verb));
  if (priorities.ok()) {
    AddScores(extender, *priorities);
  } else {
    KS_LOG(5, "Failed to run extender's priority function. No score given by this extender.",
           {{"error", priorities.error().message},
            {"pod", pod_->meta.Key()},
            {"extender", extender.config.ShownUrl()}});
  }
  bool last = false;
  {
    MutexLock lock(mutex_);
    last = --unanswered_ == 0;
  }
  if (last) Finish({});
}

void ExtenderRound::Finish(std::string error, bool given_up) {
  ExtenderVerdict verdict;
  {
    MutexLock lock(mutex_);
    verdict = std::move(verdict_);
  }
  verdict.error = std::move(error);
  verdict.given_up = given_up;
  done_(std::move(verdict));
}

}  // namespace ks::scheduler
