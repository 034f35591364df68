// SPDX-License-Identifier: Apache-2.0
#include "modules/plugin_libraries.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "api/decode/pod_annotations.h"
#include "base/join.h"
#include "base/logging.h"
#include "base/text_hash.h"
#include "modules/loaded_plugin.h"
#include "modules/module.h"
#include "modules/module_metrics.h"

namespace ks::modules {
namespace {

constexpr const char* kFlag = "--plugin-library ";

// What is loaded, and what it was loaded from.
struct LibraryVersion {
  size_t fingerprint = 0;  // of the file
  const Module* module = nullptr;

  static Result<LibraryVersion> Load(const std::string& path, const std::string& content) {
    const auto module = LoadModule(path, content);
    if (!module.ok()) return Error{kFlag + module.error().message};
    return LibraryVersion{HashText(content), *module};
  }
};

std::vector<std::string> NamesOf(const Module& module) {
  std::vector<std::string> names;
  for (const ModulePlugin& plugin : module.plugins) names.push_back(plugin.name);
  return names;
}

}  // namespace

struct PluginLibraries::Counts {
  explicit Counts(metrics::Registry& registry) : metrics(registry) {}
  ModuleMetrics metrics;
};

// A file of the flag. Makes plugins of its newest version.
class PluginLibraries::Library {
 public:
  Library(std::string path, const std::string& name, LibraryVersion version, ModuleMetrics* metrics)
      : path_(std::move(path)), metrics_(metrics), current_(version), newest_(version.module) {
    const std::vector<ModulePlugin>& plugins = version.module->plugins;
    for (size_t i = 0; i < plugins.size(); ++i) {
      sources_.push_back(std::make_unique<Source>(*this, i, name.empty() ? plugins[i].name : name));
    }
  }

  const std::string& path() const { return path_; }
  const Module& module() const { return *current_.module; }

  Result<void> AddTo(framework::Registry* registry) {
    for (const auto& source : sources_) {
      const Result<void> added = registry->Register(source->name(), *source);
      if (added.ok()) continue;
      const std::string cure = sources_.size() == 1
                                   ? "give this one another name: " + path_ + "=NAME"
                                   : "rename one of the two in its source";
      return Error{kFlag + path_ + ": " + added.error().message +
                   ", in kubesched or in a library before this one: " + cure};
    }
    return {};
  }

  // Whether there is another version now.
  Result<bool> Refresh() {
    const auto content = ReadModuleFile(path_);
    if (!content.ok()) return Error{kFlag + content.error().message};
    if (HashText(*content) == current_.fingerprint) return false;
    auto version = LibraryVersion::Load(path_, *content);
    if (!version.ok()) return version.error();
    const Module& wanted = *version->module;
    if (NamesOf(wanted) != NamesOf(module())) {
      return Error{kFlag + path_ + ": has the plugins " + Join(NamesOf(wanted), ", ") +
                   " now and had " + Join(NamesOf(module()), ", ") + ": restart kubesched"};
    }
    if ((wanted.needs & ~module().needs & KS_NEEDS_POD_ANNOTATIONS) != 0) {
      return Error{kFlag + path_ +
                   ": needs annotations of pods now, which are not kept: restart kubesched"};
    }
    refreshed_ = *version;
    newest_ = refreshed_->module;
    return true;
  }

  void EndRefresh(bool keep) {
    if (!refreshed_.has_value()) return;
    if (keep) {
      current_ = *refreshed_;
      Log("A plugin library was exchanged");
    }
    refreshed_.reset();
    newest_ = current_.module;
  }

  void Log(std::string_view message) const {
    std::vector<std::string> names;
    for (const auto& source : sources_) names.push_back(source->name());
    log::Info(0, message,
              {{"file", path_},
               {"module", module().name},
               {"version", module().version},
               {"plugins", Join(names, ", ")}});
  }

 private:
  class Source final : public framework::PluginSource {
   public:
    Source(Library& library, size_t index, std::string name)
        : library_(library), index_(index), name_(std::move(name)) {}

    const std::string& name() const { return name_; }
    Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                    framework::Handle& handle) override {
      const Module& module = *library_.newest_;
      return MakeLoadedPlugin({.name = name_,
                               .plugin = module.plugins[index_],
                               .needs = module.needs,
                               .metrics = library_.metrics_},
                              args, handle);
    }

   private:
    Library& library_;
    const size_t index_;
    const std::string name_;
  };

  const std::string path_;
  ModuleMetrics* const metrics_;
  std::vector<std::unique_ptr<Source>> sources_;
  // Of whoever refreshes.
  LibraryVersion current_;
  std::optional<LibraryVersion> refreshed_;
  // Plugins are made on other threads, too.
  std::atomic<const Module*> newest_;
};

PluginLibraries::PluginLibraries() = default;
PluginLibraries::~PluginLibraries() = default;

Result<std::unique_ptr<PluginLibraries>> PluginLibraries::Load(
    const std::vector<std::string>& flags, metrics::Registry* metrics,
    framework::Registry* registry) {
  std::unique_ptr<PluginLibraries> libraries(new PluginLibraries());
  if (!flags.empty() && metrics != nullptr) {
    libraries->counts_ = std::make_unique<Counts>(*metrics);
  }
  for (const std::string& flag : flags) {
    const Result<void> added = libraries->Add(flag, registry);
    if (!added.ok()) return added.error();
  }
  return libraries;
}

Result<void> PluginLibraries::Add(const std::string& flag, framework::Registry* registry) {
  const size_t equals = flag.rfind('=');
  const std::string path = flag.substr(0, equals);
  const std::string name = equals == std::string::npos ? "" : flag.substr(equals + 1);
  if (path.empty() || (equals != std::string::npos && name.empty())) {
    return Error{std::string(kFlag) + "\"" + flag + "\": is not FILE or FILE=NAME"};
  }
  if (!name.empty() && !IsPluginName(name)) {
    return Error{std::string(kFlag) + "\"" + flag + "\": \"" + name +
                 "\" is no name of a plugin: 1 to 63 letters, digits, '-', '.', '_' and '/'"};
  }
  const auto content = ReadModuleFile(path);
  if (!content.ok()) return Error{kFlag + content.error().message};
  const auto version = LibraryVersion::Load(path, *content);
  if (!version.ok()) return version.error();
  const Module& module = *version->module;
  if (!name.empty() && module.plugins.size() != 1) {
    return Error{kFlag + flag + ": has the plugins " + Join(NamesOf(module), ", ") +
                 ", and a name can be given to an only one: leave =" + name + " away"};
  }
  if ((module.needs & KS_NEEDS_POD_ANNOTATIONS) != 0) api::KeepPodAnnotations();
  libraries_.push_back(std::make_unique<Library>(path, name, *version,
                                                 counts_ == nullptr ? nullptr : &counts_->metrics));
  return libraries_.back()->AddTo(registry);
}

void PluginLibraries::Log() const {
  for (const auto& library : libraries_) library->Log("Loaded a plugin library");
}

std::vector<std::string> PluginLibraries::files() const {
  std::vector<std::string> files;
  for (const auto& library : libraries_) files.push_back(library->path());
  return files;
}

Result<bool> PluginLibraries::Refresh() {
  bool any = false;
  for (const auto& library : libraries_) {
    const auto changed = library->Refresh();
    if (!changed.ok()) {
      TakeBackRefreshed();
      return changed.error();
    }
    any |= *changed;
  }
  return any;
}

void PluginLibraries::KeepRefreshed() {
  for (const auto& library : libraries_) library->EndRefresh(true);
}

void PluginLibraries::TakeBackRefreshed() {
  for (const auto& library : libraries_) library->EndRefresh(false);
}

}  // namespace ks::modules
