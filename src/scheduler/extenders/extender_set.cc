// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extenders/extender_set.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "scheduler/extenders/extender_round.h"

namespace ks::scheduler {

using framework::Status;

namespace {

bool Names(const api::Container& container, const Symbol& resource) {
  return container.requests.Find(resource) != nullptr || container.limits.Find(resource) != nullptr;
}

bool Names(const std::vector<api::Container>& containers, const std::vector<Symbol>& resources) {
  return std::any_of(
      containers.begin(), containers.end(), [&resources](const api::Container& container) {
        return std::any_of(resources.begin(), resources.end(),
                           [&container](const Symbol& name) { return Names(container, name); });
      });
}

class PreemptingExtender final : public framework::PreemptionExtender {
 public:
  PreemptingExtender(ExtenderSet& set, const ExtenderEntry& entry) : set_(set), entry_(entry) {}

  const std::string& Name() const override { return entry_.config.url_prefix; }
  bool IsIgnorable() const override { return entry_.config.ignorable; }
  bool SupportsPreemption() const override { return !entry_.config.preempt_verb.empty(); }
  bool IsInterested(const api::Pod& pod) const override { return entry_.IsInterestedIn(pod); }
  void ProcessPreemption(const api::Pod& pod, const framework::VictimsByNode& victims,
                         Answered answered) override {
    set_.Preempt(entry_, pod, victims, std::move(answered));
  }

 private:
  ExtenderSet& set_;
  const ExtenderEntry& entry_;
};

}  // namespace

std::string ExtenderEntry::Url(const std::string& verb) const {
  std::string url = config.url_prefix;
  while (url.ends_with('/')) url.pop_back();
  return url + "/" + verb;
}

bool ExtenderEntry::IsInterestedIn(const api::Pod& pod) const {
  return managed.empty() || Names(pod.spec->containers, managed) ||
         Names(pod.spec->init_containers, managed);
}

ExtenderSet::ExtenderSet(const std::vector<config::Extender>& extenders,
                         std::shared_ptr<framework::ExtenderTransport> transport)
    : transport_(std::move(transport)), aside_(std::make_unique<BlockingPool>(1)) {
  for (const config::Extender& extender : extenders) {
    ExtenderEntry& entry = entries_.emplace_back();
    entry.config = extender;
    entry.position = entries_.size() - 1;
    for (const config::ExtenderManagedResource& resource : extender.managed_resources) {
      entry.managed.emplace_back(resource.name);
    }
    wants_every_pod_ |= entry.managed.empty();
    const bool chooses = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    const bool preempts = !extender.preempt_verb.empty();
    choose_ |= chooses;
    if (chooses && !extender.node_cache_capable) nodes_needed_ = api::KeepRaw::kAll;
    if (preempts && !extender.node_cache_capable) {
      pods_needed_ = api::KeepRaw::kAll;
    } else if ((chooses || preempts) && pods_needed_ == api::KeepRaw::kNone) {
      pods_needed_ = api::KeepRaw::kPendingPods;
    }
  }
  std::stable_partition(entries_.begin(), entries_.end(),
                        [](const ExtenderEntry& entry) { return !entry.config.ignorable; });
  for (const ExtenderEntry& entry : entries_) {
    preempting_owned_.push_back(std::make_unique<PreemptingExtender>(*this, entry));
    preempting_.push_back(preempting_owned_.back().get());
  }
}

ExtenderSet::~ExtenderSet() {
  std::unique_ptr<BlockingPool> aside;
  std::shared_ptr<framework::ExtenderTransport> transport;
  {
    MutexLock lock(mutex_);
    aside = std::move(aside_);
    transport = std::move(transport_);
  }
  aside.reset();
  transport.reset();
}

bool ExtenderSet::IsInterestedIn(const api::Pod& pod) const {
  return wants_every_pod_ ||
         std::any_of(entries_.begin(), entries_.end(),
                     [&pod](const ExtenderEntry& entry) { return entry.IsInterestedIn(pod); });
}

bool ExtenderSet::RunAside(std::function<void()> task) {
  MutexLock lock(mutex_);
  if (aside_ == nullptr) return false;
  aside_->Run(std::move(task));
  return true;
}

bool ExtenderSet::Call(framework::ExtenderRequest request,
                       framework::ExtenderTransport::Done done) {
  MutexLock lock(mutex_);
  if (transport_ == nullptr) return false;
  transport_->Call(std::move(request), std::move(done));
  return true;
}

// Answers to other questions may ask on meanwhile.
std::optional<std::vector<framework::ExtenderReply>> ExtenderSet::CallAndWait(
    std::vector<framework::ExtenderRequest> requests, const std::stop_token& stop) {
  std::shared_ptr<framework::ExtenderTransport> transport;
  {
    MutexLock lock(mutex_);
    transport = transport_;
  }
  KS_CHECK(transport != nullptr, "nobody waits while the extenders are being destroyed");
  return transport->CallAndWait(std::move(requests), stop);
}

void ExtenderSet::Choose(const api::PodPtr& pod, std::vector<api::NodePtr> nodes, bool scores,
                         VerdictDone done) {
  ++outstanding_;
  ExtenderRound::Start(*this, pod, std::move(nodes), scores,
                       [this, done = std::move(done)](ExtenderVerdict verdict) {
                         done(std::move(verdict));
                         --outstanding_;
                       });
}

ExtenderVerdict ExtenderSet::ChooseAndWait(const api::PodPtr& pod, std::vector<api::NodePtr> nodes,
                                           bool scores, const std::stop_token& stop) {
  return ExtenderRound::RunAndWait(*this, pod, std::move(nodes), scores, stop);
}

bool ExtenderSet::Binds(const api::Pod& pod) const {
  return std::any_of(entries_.begin(), entries_.end(), [&pod](const ExtenderEntry& entry) {
    return !entry.config.bind_verb.empty() && entry.IsInterestedIn(pod);
  });
}

// Validation admits one binding extender at most.
void ExtenderSet::Bind(const api::PodPtr& pod, const std::string& node,
                       std::function<void(Status)> done) {
  const auto binder =
      std::find_if(entries_.begin(), entries_.end(), [&pod](const ExtenderEntry& entry) {
        return !entry.config.bind_verb.empty() && entry.IsInterestedIn(*pod);
      });
  if (binder == entries_.end()) {
    done(Status(framework::Code::kSkip, {}));
    return;
  }
  ++outstanding_;
  const ExtenderEntry& entry = *binder;
  const bool asked = Call(
      {.extender = entry.position,
       .verb = entry.config.bind_verb,
       .body = BindRequestBody(*pod, node),
       .repeatable = false},
      [this, &entry, key = pod->meta.Key(),
       done = std::move(done)](const framework::ExtenderReply& reply) {
        const std::string& verb = entry.config.bind_verb;
        const Result<void> bound = ReadBindAnswer(reply, verb, entry.Url(verb));
        if (bound.ok()) {
          done(Status());
        } else if (entry.config.ignorable) {
          KS_LOG(2, "Skipping extender in bind as it returned error and has ignorable flag set",
                 {{"extender", entry.config.ShownUrl()},
                  {"pod", key},
                  {"err", bound.error().message}});
          done(Status(framework::Code::kSkip, {}));
        } else {
          done(Status::Error(bound.error().message));
        }
        --outstanding_;
      });
  KS_CHECK(asked, "nothing is bound while the extenders are being destroyed");
}

void ExtenderSet::Preempt(const ExtenderEntry& extender, const api::Pod& pod,
                          const framework::VictimsByNode& victims,
                          framework::PreemptionExtender::Answered answered) {
  ++outstanding_;
  const auto finish =
      [this, answered = std::move(answered)](const Result<framework::MetaVictimsByNode>& answer) {
        deliver_([answered, answer] { answered(answer); });
        --outstanding_;
      };
  Result<std::string> body = PreemptRequestBody(pod, victims, extender.config.node_cache_capable);
  if (!body.ok()) {
    finish(body.error());
    return;
  }
  const bool asked = Call({.extender = extender.position,
                           .verb = extender.config.preempt_verb,
                           .body = std::move(body).value()},
                          [&extender, finish](const framework::ExtenderReply& reply) {
                            const std::string& verb = extender.config.preempt_verb;
                            finish(ReadPreemptAnswer(reply, verb, extender.Url(verb)));
                          });
  KS_CHECK(asked, "nobody preempts while the extenders are being destroyed");
}

}  // namespace ks::scheduler
