// SPDX-License-Identifier: Apache-2.0
#include "framework/runtime/profiles.h"

#include <optional>
#include <string_view>
#include <utility>

#include "framework/runtime/profile_faults.h"
#include "golang/quote.h"

namespace ks::framework {
namespace {

Error Failed(const std::string& text, const std::string& path = {}, const std::string& hint = {}) {
  return Error{"initializing profiles: " + text, path, hint};
}

// The raw arguments of a plugin; absent when the profile gives none.
std::optional<config::PluginArgs> Arguments(const config::Profile& profile,
                                            std::string_view plugin) {
  for (const config::PluginConfig& entry : profile.plugin_config) {
    if (entry.name == plugin) return entry.args;
  }
  return std::nullopt;
}

// Builds all profiles, also behind one that cannot be built, and keeps what is wrong.
class Builder {
 public:
  Builder(const Registry& registry, const config::Configuration& configuration,
          const FrameworkOptions& shared)
      : registry_(registry), configuration_(configuration), options_(shared) {
    options_.parallelism = configuration.parallelism;
  }

  void Run() {
    for (size_t i = 0; i < configuration_.profiles.size(); ++i) Build(i);
    if (configuration_.profiles.empty()) Fault(Failed("at least one profile is required"));
  }

  Result<Profiles> Take() {
    if (first_) return *std::move(first_);
    return std::move(profiles_);
  }
  std::optional<ProfileFaults> TakeFaults() {
    if (!first_) return std::nullopt;
    return ProfileFaults{.first = *std::move(first_), .all = std::move(faults_)};
  }

 private:
  void Fault(Error error) {
    if (!first_) first_ = error;
    faults_.push_back(std::move(error));
  }

  void Build(size_t i) {
    const config::Profile& profile = configuration_.profiles[i];
    const std::string path = "profiles[" + std::to_string(i) + "]";
    const std::string& name = profile.name();
    const auto creating = [&](const Error& error) {
      return Failed("creating profile for scheduler name " + name + ": " + error.message,
                    error.path.empty() ? path : path + "." + error.path, error.hint);
    };
    std::vector<Error> faults;
    auto framework = Framework::Create(registry_, profile, options_, &faults);
    if (!framework.ok()) {
      if (!first_) first_ = creating(framework.error());
      for (const Error& fault : faults) Fault(creating(fault));
      return;
    }
    const std::string at_name = path + ".schedulerName";
    if (name.empty()) return Fault(Failed("scheduler name is needed", at_name));
    if (profiles_.contains(name)) {
      return Fault(Failed("duplicate profile with scheduler name " + golang::Quote(name), at_name));
    }
    if (CheckQueueSort(profile, path, std::string((*framework)->plugins().QueueSortPluginName()))) {
      profiles_.emplace(name, std::move(framework).value());
    }
  }

  // All profiles must sort alike.
  bool CheckQueueSort(const config::Profile& profile, const std::string& path,
                      const std::string& sort) {
    if (!first_sort_) {
      first_sort_ = sort;
      first_arguments_ = Arguments(profile, sort);
      return true;
    }
    const std::string whose = " for profile " + golang::Quote(profile.name());
    if (sort != *first_sort_) {
      Fault(Failed("different queue sort plugins" + whose + ": " + golang::Quote(sort) +
                       ", first: " + golang::Quote(*first_sort_),
                   path + ".plugins.queueSort"));
      return false;
    }
    if (Arguments(profile, sort) == first_arguments_) return true;
    Fault(Failed("different queue sort plugin args" + whose, path + ".pluginConfig"));
    return false;
  }

  const Registry& registry_;
  const config::Configuration& configuration_;
  FrameworkOptions options_;
  Profiles profiles_;
  std::optional<std::string> first_sort_;  // of the first profile that could be built
  std::optional<config::PluginArgs> first_arguments_;
  std::vector<Error> faults_;
  std::optional<Error> first_;
};

}  // namespace

Result<Profiles> BuildProfiles(const Registry& registry, const config::Configuration& configuration,
                               const FrameworkOptions& options) {
  Builder builder(registry, configuration, options);
  builder.Run();
  return builder.Take();
}

std::optional<ProfileFaults> FindProfileFaults(const Registry& registry,
                                               const config::Configuration& configuration,
                                               const FrameworkOptions& options) {
  Builder builder(registry, configuration, options);
  builder.Run();
  return builder.TakeFaults();
}

}  // namespace ks::framework
