// SPDX-License-Identifier: Apache-2.0
#include "plugins/image_locality/image_locality.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "golang/go_arithmetic.h"
#include "plugins/kit/signature.h"

namespace ks::plugins {
namespace {

using framework::NodeInfo;
using framework::Status;

constexpr int64_t kMib = 1024 * 1024;
constexpr int64_t kLowBytes = 23 * kMib;
constexpr int64_t kHighBytesPerImage = 1000 * kMib;

// Adds ":latest" where neither tag nor digest follows the last slash. Nothing else is normalized.
std::string NormalizedImageName(std::string_view name) {
  const size_t colon = name.rfind(':');
  const size_t slash = name.rfind('/');
  const bool tagged =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return std::string(name) + (tagged ? "" : ":latest");
}

// Normalized, in the order of the spec, with repetitions.
std::vector<Symbol> ImagesOf(const api::PodSpec& spec) {
  std::vector<Symbol> images;
  for (const auto* containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      images.emplace_back(NormalizedImageName(container.image));
    }
  }
  for (const api::Volume& volume : spec.volumes) {
    if (volume.source == api::Volume::Source::kImage) {
      images.emplace_back(NormalizedImageName(volume.id));
    }
  }
  return images;
}

// The images of the spec this thread scored last. There is no PreScore to prepare them in, and
// interning a name costs more than scoring a node.
const std::vector<Symbol>& CachedImagesOf(const std::shared_ptr<const api::PodSpec>& spec) {
  thread_local std::shared_ptr<const api::PodSpec> last_spec;
  thread_local std::vector<Symbol> last_images;
  if (last_spec != spec) {
    last_images = ImagesOf(*spec);
    last_spec = spec;
  }
  return last_images;
}

class ImageLocality final : public framework::Plugin,
                            public framework::ScorePlugin,
                            public framework::SignPlugin,
                            public framework::NodeLocalPlugin {
 public:
  explicit ImageLocality(framework::Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return kImageLocalityName; }

  Status Score(const framework::CycleState&, const api::Pod& pod, const NodeInfo& node,
               int64_t* score) const override {
    *score = 0;
    if (node.images().empty()) return {};
    const std::vector<Symbol>& images = CachedImagesOf(pod.spec);
    if (images.empty()) return {};
    const auto all_nodes = static_cast<double>(handle_.snapshot().nodes().size());
    int64_t sum = 0;
    for (const Symbol& name : images) {
      const framework::ImageState* image = node.FindImage(name);
      if (image == nullptr) continue;
      const double spread = static_cast<double>(image->num_nodes) / all_nodes;
      sum = golang::WrappingAdd(sum,
                                golang::Truncated(static_cast<double>(image->size_bytes) * spread));
    }
    const int64_t high = kHighBytesPerImage * static_cast<int64_t>(images.size());
    sum = std::clamp(sum, kLowBytes, high);
    *score = framework::kMaxNodeScore * (sum - kLowBytes) / (high - kLowBytes);
    return {};
  }

  Status Sign(const api::Pod& pod, std::vector<framework::SignFragment>* fragments) const override {
    std::set<std::string> names;
    for (const auto* containers : {&pod.spec->init_containers, &pod.spec->containers}) {
      for (const api::Container& container : *containers) {
        names.insert(NormalizedImageName(container.image));
      }
    }
    fragments->push_back({"v1.Pod.Spec.CanonicalImageNames()", SignatureText(names)});
    return {};
  }

 private:
  framework::Handle& handle_;
};

}  // namespace

Result<std::unique_ptr<framework::Plugin>> NewImageLocality(const config::PluginArgs&,
                                                            framework::Handle& handle) {
  return std::unique_ptr<framework::Plugin>(std::make_unique<ImageLocality>(handle));
}

}  // namespace ks::plugins
