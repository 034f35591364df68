// SPDX-License-Identifier: Apache-2.0
#include "queue/parked_pods.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "api/pod_claims.h"
#include "api/storage.h"
#include "base/check.h"
#include "queue/pod_stores.h"

namespace ks::queue {
namespace {

const api::ObjectMeta& MetaOf(const Record& record) { return record.pod->pod()->meta; }

// Closes the gap with the last one.
template <class List>
void TakeOut(List& list, size_t index) {
  list[index] = list.back();
  list[index]->index = static_cast<uint32_t>(index);
  list.pop_back();
}

struct ClassKey {
  ClassKey(const ParkedBucket& of, const api::Pod& pod)
      : bucket(&of), meta(pod.meta), hash(absl::HashOf(bucket, meta.ns)) {
    for (const auto& [key, value] : meta.labels) hash = absl::HashOf(hash, key, value);
  }
  const ParkedBucket* bucket;
  const api::ObjectMeta& meta;
  size_t hash;
};

// A class knows its hash and is equal to itself alone, so that it can be taken out without its key.
struct ClassHash {
  using is_transparent = void;
  size_t operator()(const std::unique_ptr<ParkedClass>& of) const { return of->hash; }
  size_t operator()(const ParkedClass* of) const { return of->hash; }
  size_t operator()(const ClassKey& key) const { return key.hash; }
};

struct ClassEqual {
  using is_transparent = void;
  bool operator()(const std::unique_ptr<ParkedClass>& a,
                  const std::unique_ptr<ParkedClass>& b) const {
    return a == b;
  }
  bool operator()(const std::unique_ptr<ParkedClass>& a, const ParkedClass* b) const {
    return a.get() == b;
  }
  bool operator()(const std::unique_ptr<ParkedClass>& a, const ClassKey& key) const {
    if (a->hash != key.hash || a->bucket != key.bucket) return false;
    const api::ObjectMeta& meta = MetaOf(*a->pods.front());
    return meta.ns == key.meta.ns && meta.labels == key.meta.labels;
  }
};

template <class Counts, class Key>
void CountOne(Counts& counts, const Key& key, int32_t change) {
  const auto it = counts.try_emplace(key, 0).first;
  it->second += change;
  KS_CHECK(it->second >= 0, "a label is read by fewer than no parked pods");
  if (it->second == 0) counts.erase(it);
}

}  // namespace

bool ParkedLabelReads::MayMatter(const std::vector<api::LabelMap::Entry>& labels) const {
  return others_ > 0 ||
         std::any_of(labels.begin(), labels.end(), [this](const api::LabelMap::Entry& label) {
           return by_key_.contains(label.first) || additions_.contains(label);
         });
}

void ParkedLabelReads::Count(const api::PodSpec& spec, int32_t change) {
  framework::NodeLabelReads reads;
  for (const framework::NodeLabelReadsFn* reader : readers_) (*reader)(spec, &reads);
  if (reads.others) others_ += change;
  for (const Symbol& key : reads.keys) CountOne(by_key_, key, change);
  for (const api::LabelMap::Entry& label : reads.additions) CountOne(additions_, label, change);
}

bool IsOf(const Rejection& rejection, const Record& record) {
  const framework::QueuedPod& pod = *record.pod;
  return rejection.gating_plugin == EntityOf(record).entity().gating_plugin &&
         rejection.scheduler_name == pod.pod()->spec->scheduler_name &&
         rejection.unschedulable_plugins == pod.unschedulable_plugins &&
         rejection.pending_plugins == pod.pending_plugins;
}

struct ParkedPods::Classes {
  absl::flat_hash_set<std::unique_ptr<ParkedClass>, ClassHash, ClassEqual> all;
};

ParkedPods::ParkedPods(PluginsOf plugins_of)
    : plugins_of_(std::move(plugins_of)), classes_(std::make_unique<Classes>()) {}
ParkedPods::~ParkedPods() = default;
ParkedPods::ParkedPods(ParkedPods&&) noexcept = default;
ParkedPods& ParkedPods::operator=(ParkedPods&&) noexcept = default;

ParkedGroup& ParkedPods::GroupOf(const Record& record) {
  const framework::QueuedPod& pod = *record.pod;
  const Rejection rejection{.unschedulable_plugins = pod.unschedulable_plugins,
                            .pending_plugins = pod.pending_plugins,
                            .gating_plugin = EntityOf(record).entity().gating_plugin,
                            .scheduler_name = pod.pod()->spec->scheduler_name};
  const auto [it, added] = group_of_.try_emplace(rejection, nullptr);
  if (added) {
    groups_.push_back(std::make_unique<ParkedGroup>());
    it->second = groups_.back().get();
    it->second->rejection = rejection;
    it->second->plugins = plugins_of_(pod);
  }
  return *it->second;
}

ParkedBucket& ParkedPods::BucketOf(ParkedGroup& group, const api::PodSpec* spec) {
  const auto [it, added] = buckets_.try_emplace({&group, spec}, nullptr);
  if (added) {
    it->second = std::make_unique<ParkedBucket>();
    it->second->group = &group;
    it->second->spec = spec;
    it->second->index = static_cast<uint32_t>(group.buckets.size());
    group.buckets.push_back(it->second.get());
    group.label_reads.Add(*spec);
  }
  return *it->second;
}

ParkedClass& ParkedPods::ClassOf(ParkedBucket& bucket, const api::Pod& pod) {
  const ClassKey key(bucket, pod);
  const auto known = classes_->all.find(key);
  if (known != classes_->all.end()) return **known;
  auto made = std::make_unique<ParkedClass>();
  made->bucket = &bucket;
  made->hash = key.hash;
  made->index = static_cast<uint32_t>(bucket.classes.size());
  bucket.classes.push_back(made.get());
  return **classes_->all.insert(std::move(made)).first;
}

bool ParkedPods::ClaimUseOrder::operator()(const ClaimUse& a, const ClaimUse& b) const {
  if (a.group != b.group) return std::less<>()(a.group, b.group);
  if (const int order = a.claim.compare(b.claim); order != 0) return order < 0;
  if (a.record == nullptr || b.record == nullptr) return a.record == nullptr && b.record != nullptr;
  return MetaOf(*a.record).name < MetaOf(*b.record).name;
}

template <class Visit>
void ParkedPods::ForEachClaim(const ParkedGroup& group, Record& record, Visit visit) {
  const api::Pod& pod = *record.pod->pod();
  for (const api::Volume& volume : pod.spec->volumes) {
    if (api::MeansClaim(volume)) visit(ClaimUse{&group, api::ClaimKey(pod, volume), &record});
  }
  for (const api::PodResourceClaim& entry : pod.spec->resource_claims) {
    const std::string* name = api::ResourceClaimName(pod, entry);
    if (name == nullptr) continue;
    visit(ClaimUse{&group, ResourceClaimId(pod.meta.ns.str() + '/' + *name), &record});
  }
  if (&EntityOf(record) != &record) {
    visit(ClaimUse{&group, EntityOf(record).entity().Key(), &record});
  }
}

std::vector<Record*> ParkedPods::UsersOf(const ParkedGroup& group, const std::string& claim) const {
  std::vector<Record*> users;
  for (auto it = claim_uses_.lower_bound({&group, claim, nullptr});
       it != claim_uses_.end() && it->group == &group && it->claim == claim; ++it) {
    users.push_back(it->record);
  }
  return users;
}

Record* ParkedPods::FirstUserOf(const ParkedGroup& group, const std::string& claim) const {
  const auto it = claim_uses_.lower_bound({&group, claim, nullptr});
  const bool found = it != claim_uses_.end() && it->group == &group && it->claim == claim;
  return found ? it->record : nullptr;
}

bool ParkedPods::MayMatter(const ParkedGroup& group, const LabelReaders& readers,
                           const std::vector<api::LabelMap::Entry>& labels) {
  ParkedLabelReads& reads = group.label_reads;
  if (!reads.active()) {
    reads.SetReaders(readers);
    for (const ParkedBucket* bucket : group.buckets) reads.Add(*bucket->spec);
  }
  return reads.MayMatter(labels);
}

void ParkedPods::Add(Record& record) {
  KS_CHECK(record.parked == nullptr, "a pod is parked twice");
  const api::Pod& pod = *record.pod->pod();
  ParkedBucket& bucket = BucketOf(GroupOf(record), pod.spec.get());
  ParkedClass& of_labels = ClassOf(bucket, pod);
  record.parked = &of_labels;
  record.index = static_cast<uint32_t>(of_labels.pods.size());
  of_labels.pods.push_back(&record);
  ForEachClaim(*bucket.group, record, [this](ClaimUse use) { claim_uses_.insert(std::move(use)); });
  ++size_;
}

void ParkedPods::Remove(Record& record) {
  ParkedClass* of_labels = record.parked;
  KS_CHECK(of_labels != nullptr, "a pod leaves the unschedulable map without being in it");
  ForEachClaim(*of_labels->bucket->group, record,
               [this](const ClaimUse& use) { claim_uses_.erase(use); });
  KS_CHECK(record.index < of_labels->pods.size() && of_labels->pods[record.index] == &record,
           "a parked pod is not at its place");
  record.parked = nullptr;
  --size_;
  TakeOut(of_labels->pods, record.index);
  if (!of_labels->pods.empty()) return;
  ParkedBucket* bucket = of_labels->bucket;
  TakeOut(bucket->classes, of_labels->index);
  classes_->all.erase(classes_->all.find(of_labels));
  if (!bucket->classes.empty()) return;
  ParkedGroup* group = bucket->group;
  TakeOut(group->buckets, bucket->index);
  group->label_reads.Remove(*bucket->spec);
  buckets_.erase(std::make_pair(static_cast<const ParkedGroup*>(group), bucket->spec));
}

}  // namespace ks::queue
