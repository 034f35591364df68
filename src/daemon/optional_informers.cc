// SPDX-License-Identifier: Apache-2.0
#include "daemon/optional_informers.h"

#include <string_view>
#include <utility>
#include <vector>

#include "cache/optional_deltas.h"

namespace ks::daemon {
namespace {

// Clusters without devices, or groups of pods, need not serve what these are made of.
constexpr std::string_view kDeviceGroup = "resource.k8s.io";
constexpr std::string_view kPodGroupGroup = "scheduling.k8s.io";

}  // namespace

OptionalInformers::OptionalInformers(client::RestClient& client, client::InformerMetrics& metrics,
                                     uint64_t seed, Sink sink, api::KeepTexts keep_texts)
    : client_(client),
      metrics_(metrics),
      next_seed_(seed),
      sink_(std::move(sink)),
      keep_texts_(keep_texts) {}

OptionalInformers::~OptionalInformers() { Stop(); }

template <class T>
void OptionalInformers::Start() {
  Watch<T>& watch = std::get<Watch<T>>(watches_);
  if (watch != nullptr) return;
  const api::KindInfo& kind = api::kKindOf<T>;
  client::InformerSeries& series = metrics_.For(kind.Path(), kind.kind);
  series.Begin();
  watch = std::make_unique<client::Reflector<T>>(
      client_,
      client::ReflectorOptions{
          .path = kind.Path(),
          .type_name = kind.GoType(),
          .resource = std::string(kind.plural),
          .seed = next_seed_++,
          .keep_texts = keep_texts_,
          .absent_is_empty = kind.group == kDeviceGroup || kind.group == kPodGroupGroup,
          .metrics = &series},
      [this, &series](std::vector<api::Delta<T>> deltas) {
        sink_(cache::OptionalDeltasOf<T>(std::move(deltas)), series);
      });
  watch->Start();
}

void OptionalInformers::Ensure(framework::OptionalKinds kinds) {
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (kinds.Contains(framework::kOptionalKindOf<T>)) Start<T>();
  });
}

void OptionalInformers::Stop() {
  const auto stop = [](auto&... watches) { ((watches ? watches->Stop() : void()), ...); };
  std::apply(stop, watches_);
}

}  // namespace ks::daemon
