// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/verdicts_ahead.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/logging.h"
#include "cel/weight.h"

namespace ks::plugins {
namespace {

// Evaluated nodes of expressions, some 20 ms: what selectors of bounded cost may take in an
// attempt. They are asked there, about as few devices as possible.
constexpr size_t kLightWork = 1'000'000;
// Units of cost, some 0.3 ms: what is asked at once, without the thread.
constexpr uint64_t kBudget = 200'000;
// Bytes of texts, some 0.4 ms: what an attempt compiles itself.
constexpr size_t kShortTexts = 4096;
// Bytes of texts beyond which the sets of one pod are not all remembered at a time (SelectorSets):
// waiting for them could go on for ever. More than six claims as large as the API server takes.
constexpr size_t kMostTexts = size_t{10} << 20;
// Bytes of programs that the engine can be expected to remember during an attempt.
constexpr size_t kMostLeftBytes = size_t{32} << 20;
// The same as kMostTexts for tables (VerdictTables), in bytes.
constexpr size_t kMostTables = size_t{32} << 20;
constexpr size_t kLeastCleaning = 1024;

bool IsWhole(const std::vector<api::DeviceSelector>& selectors) {
  return std::all_of(selectors.begin(), selectors.end(),
                     [](const api::DeviceSelector& each) { return each.has_value(); });
}

size_t BytesOf(const SelectorSets::Texts& texts) {
  size_t bytes = 0;
  for (const api::DeviceSelector& text : texts) bytes += text->size();
  return bytes;
}

template <class Visit>
void ForEachSpec(const api::DeviceRequest& request, Visit visit) {
  if (request.exactly) visit(*request.exactly);
  for (const api::ExactDeviceRequest& spec : request.first_available) visit(spec);
}

// Of the calling thread, as Linux has it: what can wait gives way to what decides pods. SCHED_IDLE
// made those wait longer: it counts as an idle processor, on which they are then woken.
void LowerPriority() {
  constexpr int kNice = 10;
  if (getpriority(PRIO_PROCESS, 0) < kNice) setpriority(PRIO_PROCESS, 0, kNice);
}

void Store(VerdictTable::Kept& kept, SelectorSet::Verdict verdict) {
  kept.store(static_cast<uint8_t>(verdict), std::memory_order_relaxed);
}

}  // namespace

VerdictsAhead::~VerdictsAhead() {
  if (running_ != nullptr) running_->cancelled = true;
}

void VerdictsAhead::Job::Run(SelectorSets& sets) {
  for (const Texts& each : texts) {
    if (cancelled) return;
    sets.Get(each.of_class->selectors, *each.of_request);
  }
  if (set == nullptr) return;
  table->ForEachUnasked(*row, [this](VerdictTable::Kept& kept, const cel::Device& device) {
    const SelectorSet::Verdict verdict = set->Ask(device, {.cancelled = &cancelled});
    if (cancelled) return false;
    Store(kept, verdict);
    return true;
  });
}

std::vector<VerdictsAhead::Texts> VerdictsAhead::TextsOf(const ClaimList& claims) const {
  std::vector<Texts> texts;
  for (const api::ResourceClaimPtr& claim : claims) {
    if (claim->allocation != nullptr) continue;
    for (const api::DeviceRequest& request : claim->requests) {
      ForEachSpec(request, [&](const api::ExactDeviceRequest& spec) {
        api::DeviceClassPtr device_class =
            parts_.devices.FindDeviceClass(spec.device_class_name.view());
        if (device_class == nullptr || !IsWhole(spec.selectors)) return;
        if (!IsWhole(device_class->selectors)) return;
        texts.push_back({.of_class = std::move(device_class), .of_request = &spec.selectors});
      });
    }
  }
  return texts;
}

VerdictsAhead::Compiled VerdictsAhead::CompileShortOnes(const std::vector<Texts>& all) {
  SelectorSets& sets = parts_.memory.selectors();
  Compiled compiled;
  size_t all_bytes = 0;
  size_t left = kShortTexts;
  for (const Texts& each : all) {
    const size_t bytes = BytesOf(each.of_class->selectors) + BytesOf(*each.of_request);
    all_bytes += bytes;
    SetPtr set = sets.Find(each.of_class->selectors, *each.of_request);
    if (set == nullptr && bytes > left) {
      compiled.others.push_back(each);
      continue;
    }
    if (set == nullptr) {
      set = sets.Get(each.of_class->selectors, *each.of_request);
      left -= bytes;
    }
    compiled.sets.push_back(std::move(set));
  }
  if (all_bytes <= kMostTexts) return compiled;
  for (const Texts& each : compiled.others) {
    compiled.sets.push_back(sets.Get(each.of_class->selectors, *each.of_request));
  }
  compiled.others.clear();
  return compiled;
}

bool VerdictsAhead::Cheap(const std::vector<SetPtr>& sets) {
  size_t weight = 0;
  size_t left_bytes = 0;
  for (const SetPtr& set : sets) {
    weight = cel::AddWeights(weight, set->weight());
    left_bytes += set->left_bytes();
  }
  if (weight == 0) return true;
  parts_.memory.CatchUp();
  const size_t devices = parts_.memory.slices().devices();
  if (devices == 0 || sets.size() > kMostTables / devices) return true;
  return weight <= kLightWork / devices && left_bytes <= kMostLeftBytes;
}

bool VerdictsAhead::Ready(const api::Pod& pod, const ClaimList& claims) {
  if (!parts_.tasks.attended()) return true;
  Compiled compiled = CompileShortOnes(TextsOf(claims));
  if (!compiled.others.empty()) {
    auto job = std::make_shared<Job>();
    job->key = TextHash()("texts of " + pod.meta.uid);
    job->claims = claims;
    job->texts = std::move(compiled.others);
    Wait(pod, job);
    return false;
  }
  const std::vector<SetPtr>& sets = compiled.sets;
  if (!Cheap(sets)) {
    uint64_t budget = waits_for_.contains(pod.meta.uid) ? 0 : kBudget;
    for (const SetPtr& set : sets) {
      std::shared_ptr<VerdictTable> table = TableOf(*set);
      if (table->complete()) continue;
      const size_t key = TextHash()(set->texts());
      if (!waiting_.contains(key) && AskAtOnce(*set, *table, budget)) continue;
      auto job = std::make_shared<Job>();
      job->key = key;
      job->set = set;
      job->row = parts_.memory.row();
      job->table = std::move(table);
      Wait(pod, job);
      return false;
    }
  }
  waits_for_.erase(pod.meta.uid);
  return true;
}

// Of the devices that there are now.
std::shared_ptr<VerdictTable> VerdictsAhead::TableOf(const SelectorSet& set) {
  std::shared_ptr<VerdictTable> table = parts_.memory.tables().Find(set);
  const DeviceRow& row = *parts_.memory.row();
  if (table != nullptr && table->IsOf(row)) return table;
  auto made = std::make_shared<VerdictTable>(row);
  if (table != nullptr) made->TakeOver(*table, row);
  parts_.memory.tables().Keep(set, made);
  return made;
}

// What the budget suffices for. False: more is missing.
bool VerdictsAhead::AskAtOnce(const SelectorSet& set, VerdictTable& table, uint64_t& budget) {
  if (set.left_bytes() > 0) return false;
  const bool complete = table.ForEachUnasked(
      *parts_.memory.row(), [&](VerdictTable::Kept& kept, const cel::Device& device) {
        const SelectorSet::Verdict verdict = set.AskWithin(device, budget);
        if (verdict == SelectorSet::Verdict::kNotAsked) return false;
        Store(kept, verdict);
        return true;
      });
  if (complete) table.set_complete();
  return complete;
}

void VerdictsAhead::Wait(const api::Pod& pod, const std::shared_ptr<Job>& job) {
  const auto [waits, added] = waits_for_.try_emplace(pod.meta.uid, job->key);
  if (added || waits->second != job->key) {
    KS_LOG(3, "The pod waits until its device selectors are evaluated", {{"pod", pod.meta.Key()}});
    waits->second = job->key;
    std::vector<WaitingPod>& pods = waiting_[job->key];
    if (pods.empty()) line_.push_back(job->key);
    pods.push_back({.key = pod.meta.Key(), .uid = pod.meta.uid});
    if (waits_for_.size() >= std::max(next_cleaning_, kLeastCleaning)) DropGonePods();
  }
  if (running_ == nullptr) Start(job);
}

void VerdictsAhead::Start(const std::shared_ptr<Job>& job) {
  running_ = job;
  pool_.Run([job, weak = weak_from_this(), &parts = parts_] {
    LowerPriority();
    job->Run(parts.memory.selectors());
    parts.tasks.PostTask([job, weak] {
      if (const auto self = weak.lock()) self->Finished(job);
    });
  });
}

void VerdictsAhead::Finished(const std::shared_ptr<Job>& job) {
  KS_CHECK(job == running_, "one job at a time");
  running_ = nullptr;
  if (job->set != nullptr) {
    job->table->set_complete();
    parts_.memory.CatchUp();
    const std::shared_ptr<VerdictTable> present = TableOf(*job->set);
    if (present != job->table) present->TakeOver(*job->table, *parts_.memory.row());
  }
  const size_t key = job->key;
  const auto waiting = waiting_.extract(key);
  if (!waiting.empty()) {
    for (const WaitingPod& pod : waiting.mapped()) Wake(pod, key);
  }
  while (running_ == nullptr && !line_.empty()) WakeFirst();
}

// Wakes the pods of the key that is first in line until one of them has begun its job; the
// others go on waiting for it.
void VerdictsAhead::WakeFirst() {
  const size_t key = line_.front();
  line_.pop_front();
  auto waiting = waiting_.extract(key);
  if (waiting.empty()) return;
  std::vector<WaitingPod>& pods = waiting.mapped();
  size_t next = 0;
  while (next < pods.size() && running_ == nullptr) Wake(pods[next++], key);
  if (next == pods.size()) return;
  std::vector<WaitingPod>& rest = waiting_[key];
  if (rest.empty()) line_.push_front(key);
  rest.insert(rest.end(), std::make_move_iterator(pods.begin() + static_cast<ptrdiff_t>(next)),
              std::make_move_iterator(pods.end()));
}

bool VerdictsAhead::Waits(const WaitingPod& pod, size_t key) const {
  const auto waits = waits_for_.find(pod.uid);
  return waits != waits_for_.end() && waits->second == key;
}

api::PodPtr VerdictsAhead::Find(const WaitingPod& pod) const {
  api::PodPtr found = parts_.pods.FindPod(pod.key);
  return found != nullptr && found->meta.uid == pod.uid ? found : nullptr;
}

// It is asked anew, and may have to wait again.
void VerdictsAhead::Wake(const WaitingPod& pod, size_t key) {
  if (!Waits(pod, key)) return;
  waits_for_.erase(pod.uid);
  if (const api::PodPtr found = Find(pod)) parts_.activator.Activate({found});
}

void VerdictsAhead::DropGonePods() {
  for (auto& [key, pods] : waiting_) {
    std::erase_if(pods, [this, key = key](const WaitingPod& pod) {
      if (!Waits(pod, key)) return true;
      if (Find(pod) != nullptr) return false;
      waits_for_.erase(pod.uid);
      return true;
    });
  }
  absl::erase_if(waiting_, [](const auto& each) { return each.second.empty(); });
  std::erase_if(line_, [this](size_t key) { return !waiting_.contains(key); });
  next_cleaning_ = 2 * waits_for_.size();
}

}  // namespace ks::plugins
