// SPDX-License-Identifier: Apache-2.0
// LoadModule: the loader, and what the module says of itself.

#include "modules/module.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file_text.h"
#include "base/mutex.h"

namespace ks::modules {
namespace {

constexpr size_t kMostNameBytes = 63;
constexpr size_t kMostPlugins = 64;
constexpr size_t kMostEvents = 64;
constexpr unsigned kAllowExecution = 0x10U;  // MFD_EXEC, which older systems do not know
constexpr const char* kRebuild =
    ": build it with include/kubesched/plugin.h of this kubesched, or run the kubesched that it "
    "was built for";

// The file in memory, ready to be loaded: nobody can change it. It is kept open, so that no other
// one gets its name.
Result<int> PrivateCopy(const std::string& path, const std::string& content) {
  const std::string name = path.substr(path.rfind('/') + 1).substr(0, 200);
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create(name.c_str(), kFlags | kAllowExecution);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name.c_str(), kFlags);
  if (fd < 0) {
    return Error{path + ": no memory file to load it from: " + SystemErrorText(errno) +
                 " (the system must allow memfd_create and code in it: vm.memfd_noexec)"};
  }
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t wrote = write(fd, content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      close(fd);
      return Error{path + ": " + SystemErrorText(errno)};
    }
    done += static_cast<size_t>(wrote);
  }
  (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  return fd;
}

// A short static text of the module; absent: null, or it does not end.
std::optional<std::string> ShortText(const char* text) {
  if (text == nullptr) return std::nullopt;
  const size_t size = strnlen(text, kMostNameBytes + 1);
  if (size > kMostNameBytes) return std::nullopt;
  return std::string(text, size);
}

bool HasPoint(const ks_plugin& table) {
  return table.pre_enqueue != nullptr || table.pre_filter != nullptr || table.filter != nullptr ||
         table.post_filter != nullptr || table.pre_score != nullptr || table.score != nullptr ||
         table.reserve != nullptr || table.unreserve != nullptr || table.permit != nullptr ||
         table.pre_bind != nullptr || table.post_bind != nullptr;
}

// Why the events cannot be registered; empty: they can.
std::string WhyNotEvents(const ks_plugin& table) {
  if (table.events == nullptr) return table.event_count == 0 ? "" : "counts events that are null";
  if (table.event_count > kMostEvents) return "has more than 64 events";
  for (size_t i = 0; i < table.event_count; ++i) {
    const ks_event& event = table.events[i];
    const std::string which = "event " + std::to_string(i) + " has ";
    if (event.resource < KS_EVENT_POD || event.resource > KS_EVENT_ANY) {
      return which + "the resource " + std::to_string(event.resource) + ", which does not exist";
    }
    if (event.actions == 0 || (event.actions & ~uint32_t{KS_ACTION_ALL}) != 0) {
      return which + "the actions " + std::to_string(event.actions) + ", which do not exist";
    }
  }
  return {};
}

// Why this version cannot run such a plugin; empty: it can.
std::string WhyNotPlugin(const ks_plugin& table) {
  if ((table.flags & ~KS_PLUGIN_NODE_LOCAL) != 0) {
    return "has flags that this version does not know";
  }
  if (table.create == nullptr) return "has no create";
  if (!HasPoint(table)) return "has no extension point";
  if (table.normalize_score != nullptr && table.score == nullptr) {
    return "has normalize_score without score";
  }
  if (table.hint != nullptr && table.events == nullptr) return "has a hint without events";
  return WhyNotEvents(table);
}

// Why the module as a whole is refused; empty: it is not.
std::string WhyNotModule(const ks_module* described) {
  if (described == nullptr) return "its kubesched_module returned null";
  if (described->magic != KS_PLUGIN_MAGIC) {
    return "is no kubesched plugin: what kubesched_module returned begins otherwise";
  }
  if (described->abi_version != KS_PLUGIN_ABI_VERSION) {
    return "is of plugin ABI version " + std::to_string(described->abi_version) +
           ", and this kubesched has version " + std::to_string(KS_PLUGIN_ABI_VERSION) + kRebuild;
  }
  if (described->size < sizeof(ks_module)) {
    return std::string("describes itself in too few bytes") + kRebuild;
  }
  constexpr uint32_t kKnown = KS_NEEDS_POD_ANNOTATIONS | KS_NEEDS_POD_JSON | KS_NEEDS_NODE_JSON;
  if ((described->needs & ~kKnown) != 0) {
    return std::string("needs what this version does not know") + kRebuild;
  }
  if (described->plugins == nullptr || described->plugin_count == 0) return "has no plugins";
  if (described->plugin_count > kMostPlugins) return "has more than 64 plugins";
  return {};
}

Result<Module> Checked(const std::string& path, const ks_module& described) {
  Module module{.name = ShortText(described.name).value_or(""),
                .version = ShortText(described.version).value_or(""),
                .needs = described.needs,
                .plugins = {}};
  for (size_t i = 0; i < described.plugin_count; ++i) {
    const std::string which = path + ": plugin " + std::to_string(i) + " ";
    const ks_plugin* table = described.plugins[i];
    if (table == nullptr) return Error{which + "is null"};
    if (table->size < sizeof(ks_plugin)) return Error{which + "is too small" + kRebuild};
    const auto name = ShortText(table->name);
    if (!name || !IsPluginName(*name)) {
      return Error{which + "has no name of 1 to 63 letters, digits, '-', '.', '_' and '/'"};
    }
    if (const std::string why = WhyNotPlugin(*table); !why.empty()) {
      return Error{path + ": plugin " + *name + " " + why};
    }
    module.plugins.push_back({.name = *name, .table = *table});
  }
  return module;
}

// Reachable for as long as the process lives.
const Module* Keep(Module module) {
  static Mutex mutex;
  static auto& all = *new std::vector<const Module*>();
  MutexLock lock(mutex);
  return all.emplace_back(new Module(std::move(module)));
}

using Describe = const ks_module* (*)();

const ks_module* Ask(Describe describe) noexcept {
  try {
    return describe();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

bool IsPluginName(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '/';
  };
  return !name.empty() && name.size() <= kMostNameBytes &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

Result<Module> CheckModule(const std::string& path, const ks_module* described) {
  if (const std::string why = WhyNotModule(described); !why.empty()) {
    return Error{path + ": " + why};
  }
  return Checked(path, *described);
}

Result<const Module*> LoadModule(const std::string& path, const std::string& content) {
  const auto copy = PrivateCopy(path, content);
  if (!copy.ok()) return copy.error();
  const std::string name = "/proc/self/fd/" + std::to_string(*copy);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::string why = dlerror();
    if (const size_t at = why.find(name + ": "); at == 0) why.erase(0, name.size() + 2);
    return Error{path + ": the loader refuses it: " + why};
  }
  const auto describe = reinterpret_cast<Describe>(dlsym(library, "kubesched_module"));
  if (describe == nullptr) {
    return Error{path +
                 ": is no kubesched plugin: it does not export kubesched_module "
                 "(include/kubesched/plugin.h)"};
  }
  auto module = CheckModule(path, Ask(describe));
  if (!module.ok()) return module.error();
  return Keep(std::move(module).value());
}

}  // namespace ks::modules
