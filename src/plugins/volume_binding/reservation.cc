// SPDX-License-Identifier: Apache-2.0
#include "plugins/volume_binding/reservation.h"

#include <utility>

#include "base/canary.h"
#include "plugins/volume_binding/static_match.h"

namespace ks::plugins {
namespace {

template <class T>
std::shared_ptr<const T> WithVersion(const std::shared_ptr<const T>& object,
                                     const std::string& resource_version) {
  auto written = std::make_shared<T>(*object);
  written->meta.resource_version = resource_version;
  return written;
}

}  // namespace

api::PersistentVolumePtr BoundTo(const api::PersistentVolumePtr& volume,
                                 const api::PersistentVolumeClaim& claim) {
  const bool was_bound = volume->claim_ref && MayBelongTo(*volume, claim);
  const bool refers = was_bound && volume->claim_ref->uid == claim.meta.uid;
  if (refers) return volume;
  auto bound = std::make_shared<api::PersistentVolume>(*volume);
  bound->claim_ref = api::ClaimReference{.kind = "PersistentVolumeClaim",
                                         .api_version = "v1",
                                         .ns = claim.meta.ns.str(),
                                         .name = claim.meta.name,
                                         .uid = claim.meta.uid,
                                         .resource_version = claim.meta.resource_version};
  if (!was_bound) bound->bound_by_controller = true;
  return bound;
}

Result<std::shared_ptr<Reservation>> Reservation::Make(framework::StorageState& storage,
                                                       std::string node_name,
                                                       const std::vector<StaticBinding>& bindings,
                                                       const std::vector<Provision>& provisions) {
  const std::shared_ptr<Reservation> made(new Reservation(storage, std::move(node_name)));
  for (const StaticBinding& binding : bindings) {
    if (Result<void> assumed = made->AssumeVolume(binding); !assumed.ok()) {
      made->Revert();
      return assumed.error();
    }
  }
  for (const Provision& provision : provisions) {
    if (Result<void> assumed = made->AssumeClaim(provision.claim); !assumed.ok()) {
      made->Revert();
      return assumed.error();
    }
  }
  made->written_.resize(made->writes());
  return made;
}

Result<void> Reservation::AssumeVolume(const StaticBinding& binding) {
  api::PersistentVolumePtr version = BoundTo(binding.volume, *binding.claim);
  if (version != binding.volume) {
    if (Result<void> assumed = storage_.Assume(version); !assumed.ok()) return assumed;
  }
  bindings_.push_back({.claim = binding.claim, .volume = std::move(version)});
  return {};
}

Result<void> Reservation::AssumeClaim(const api::PersistentVolumeClaimPtr& claim) {
  auto version = std::make_shared<api::PersistentVolumeClaim>(*claim);
  version->selected_node = node_name_;
  version->has_annotations = true;
  const api::PersistentVolumeClaimPtr pinned = std::move(version);
  if (Result<void> assumed = storage_.Assume(pinned); !assumed.ok()) return assumed;
  provisions_.push_back(pinned);
  return {};
}

framework::PreBindStep::Call Reservation::Write(size_t index) {
  return [self = shared_from_this(), index](framework::ApiWriter& api,
                                            framework::ApiWriter::Done done) {
    framework::ApiWriter::WriteDone answered = [self, index, done = std::move(done)](
                                                   std::optional<api::ApiError> error,
                                                   std::string resource_version) {
      self->written_[index] = std::move(resource_version);
      done(std::move(error));
    };
    if (index < self->bindings_.size()) {
      api.WriteVolume(self->bindings_[index].volume, std::move(answered));
    } else {
      api.WriteClaim(self->provisions_[index - self->bindings_.size()], std::move(answered));
    }
  };
}

void Reservation::TakeAnswers() {
  for (size_t i = 0; i < written_.size(); ++i) {
    const std::string version = std::exchange(written_[i], {});
    if (version.empty()) continue;
    if (i < bindings_.size()) {
      bindings_[i].volume = WithVersion(bindings_[i].volume, version);
    } else {
      api::PersistentVolumeClaimPtr& claim = provisions_[i - bindings_.size()];
      claim = WithVersion(claim, version);
    }
  }
}

void Reservation::Revert(size_t first) {
  TakeAnswers();
  if (KS_CANARY(VolumeStaysAssumed)) return;
  for (size_t i = first; i < bindings_.size(); ++i) storage_.Restore(*bindings_[i].volume);
  for (size_t i = 0; i < provisions_.size(); ++i) {
    if (bindings_.size() + i >= first) storage_.Restore(*provisions_[i]);
  }
}

}  // namespace ks::plugins
