// SPDX-License-Identifier: Apache-2.0
// What --plugin-library refuses, with place and cure.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "modules/module.h"
#include "modules/module_rig.h"
#include "plugins/registry.h"

namespace ks::modules {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Refusal(const std::vector<std::string>& flags) {
  framework::Registry registry = plugins::InTreeRegistry();
  const auto loaded = PluginLibraries::Load(flags, nullptr, &registry);
  return loaded.ok() ? "" : loaded.error().message;
}

// ---- the file ----

struct FileCase {
  const char* name;
  // Makes the file and returns the flag.
  std::function<std::string(const testing::TempDir& folder)> make;
  std::string refusal;  // behind "--plugin-library FOLDER"
};

std::string ContentOf(const std::string& module) {
  return *ReadFile(std::string(KS_MODULES) + "/" + module + ".so");
}

TEST(RefusalsTest, OfFiles) {
  const std::vector<FileCase> cases = {
      {"missing", [](const auto& folder) { return folder.path() + "/no.so"; },
       "/no.so: no such file or directory"},
      {"a folder", [](const auto& folder) { return folder.path(); },
       ": is not a regular file: name the .so itself"},
      {"no shared object", [](const auto& folder) { return folder.Write("a.so", "#!/bin/sh\n"); },
       "/a.so: is not a shared object: build it with c++ -shared -fPIC"},
      {"cut short",
       [](const auto& folder) {
         return folder.Write("a.so", ContentOf("every_node").substr(0, 4000));
       },
       "/a.so: is cut short or damaged: copy it again"},
      {"only a header",
       [](const auto& folder) {
         return folder.Write("a.so", ContentOf("every_node").substr(0, 64));
       },
       "/a.so: is cut short or damaged: copy it again"},
      {"of another machine",
       [](const auto& folder) {
         std::string content = ContentOf("every_node");
         const uint16_t other = EM_S390;
         std::memcpy(content.data() + offsetof(Elf64_Ehdr, e_machine), &other, sizeof(other));
         return folder.Write("a.so", content);
       },
       "/a.so: is a shared object for another machine: build it for this one"},
      {"not ours",
       [](const auto& folder) {
         std::string content = ContentOf("every_node");
         size_t at = 0;
         while ((at = content.find("kubesched_module", at)) != std::string::npos) {
           content[at] = 'K';
         }
         return folder.Write("a.so", content);
       },
       "/a.so: is no kubesched plugin: it has no function kubesched_module "
       "(include/kubesched/plugin.h)"},
      {"written by others",
       [](const auto& folder) {
         const std::string path = CopyOf(folder, "every_node", "a.so");
         chmod(path.c_str(), 0646);
         return path;
       },
       "/a.so: can be written by its group or by others, whose code would run in the scheduler: "
       "chmod go-w it"},
      {"in a folder that others write",
       [](const auto& folder) {
         chmod(folder.path().c_str(), 0777);
         return CopyOf(folder, "every_node", "a.so");
       },
       "/a.so: its folder FOLDER can be written by its group or by others, whose code would run "
       "in the scheduler: chmod go-w it"},
      {"behind a link into such a folder",
       [](const auto& folder) {
         const std::string inner = folder.path() + "/open";
         mkdir(inner.c_str(), 0700);
         const std::string path = inner + "/a.so";
         std::ofstream(path, std::ios::binary) << ContentOf("every_node");
         chmod(path.c_str(), 0644);
         chmod(inner.c_str(), 0770);
         const std::string link = folder.path() + "/link.so";
         EXPECT_EQ(symlink(path.c_str(), link.c_str()), 0);
         return link;
       },
       "/link.so: its folder FOLDER/open can be written by its group or by others, whose code "
       "would run in the scheduler: chmod go-w it"},
      {"an empty name",
       [](const auto& folder) { return CopyOf(folder, "every_node", "a.so") + "="; },
       " \"FOLDER/a.so=\": is not FILE or FILE=NAME"},
      {"a name that is none",
       [](const auto& folder) { return CopyOf(folder, "every_node", "a.so") + "=a b"; },
       " \"FOLDER/a.so=a b\": \"a b\" is no name of a plugin: 1 to 63 letters, digits, '-', '.', "
       "'_' and '/'"},
      {"a name of the tree",
       [](const auto& folder) { return CopyOf(folder, "every_node", "a.so") + "=NodeName"; },
       "/a.so: a plugin named NodeName already exists, in kubesched or in a library before this "
       "one: give this one another name: FOLDER/a.so=NAME"},
  };
  for (const FileCase& test : cases) {
    SCOPED_TRACE(test.name);
    const testing::TempDir folder;
    const auto in_folder = [&folder](std::string text) {
      for (size_t at = 0; (at = text.find("FOLDER", at)) != std::string::npos;) {
        text.replace(at, 6, folder.path());
      }
      return text;
    };
    const bool quotes = test.refusal[0] == ' ';
    EXPECT_EQ(Refusal({test.make(folder)}), in_folder(std::string("--plugin-library") +
                                                      (quotes ? "" : " FOLDER") + test.refusal));
  }
}

TEST(RefusalsTest, TheSameNameTwice) {
  const testing::TempDir folder;
  const std::string path = CopyOf(folder, "every_node", "a.so");
  EXPECT_EQ(
      Refusal({path, path}),
      "--plugin-library " + path +
          ": a plugin named EveryNode already exists, in kubesched or in a library before this "
          "one: give this one another name: " +
          path + "=NAME");
  EXPECT_EQ(Refusal({path, path + "=Other"}), "");
}

// ---- the description ----

void* Create(const ks_host*, ks_str, ks_call*) { return nullptr; }
ks_status Filter(void*, ks_call*, const ks_pod*, const ks_node*) { return KS_SUCCESS; }
ks_status Normalize(void*, ks_call*, const ks_pod*, const ks_node* const*, int64_t*, size_t) {
  return KS_SUCCESS;
}
int32_t Hint(void*, ks_call*, size_t, const ks_pod*, const ks_event_objects*) { return 0; }

struct Description {
  ks_event event = {KS_EVENT_NODE, KS_ACTION_ADD};
  ks_plugin plugin = {};
  const ks_plugin* plugins[1] = {&plugin};
  ks_module module = {};
  const ks_module* given = &module;

  Description() {
    plugin.size = sizeof(plugin);
    plugin.name = "P";
    plugin.create = Create;
    plugin.filter = Filter;
    module = {KS_PLUGIN_MAGIC, KS_PLUGIN_ABI_VERSION, 0, sizeof(module), "module", "1", plugins, 1};
  }
};

TEST(RefusalsTest, OfDescriptions) {
  struct Case {
    const char* name;
    void (*spoil)(Description& described);
    const char* refusal;  // a part
  };
  static const std::string long_name(64, 'x');
  for (const Case& test : {
           Case{"null", [](Description& d) { d.given = nullptr; }, "returned null"},
           Case{"magic", [](Description& d) { d.module.magic = 1; }, "begins otherwise"},
           Case{"version", [](Description& d) { d.module.abi_version = 2; },
                "is of plugin ABI version 2, and this kubesched has version 1: build it with "
                "include/kubesched/plugin.h of this kubesched, or run the kubesched that it was "
                "built for"},
           Case{"size", [](Description& d) { d.module.size = 8; }, "too few bytes"},
           Case{"needs", [](Description& d) { d.module.needs = 1U << 31; }, "does not know"},
           Case{"no plugins", [](Description& d) { d.module.plugin_count = 0; }, "has no plugins"},
           Case{"null plugins", [](Description& d) { d.module.plugins = nullptr; },
                "has no plugins"},
           Case{"many plugins", [](Description& d) { d.module.plugin_count = SIZE_MAX; },
                "more than 64 plugins"},
           Case{"null plugin", [](Description& d) { d.plugins[0] = nullptr; }, "plugin 0 is null"},
           Case{"plugin size", [](Description& d) { d.plugin.size = 16; }, "is too small"},
           Case{"no name", [](Description& d) { d.plugin.name = nullptr; }, "has no name"},
           Case{"long name", [](Description& d) { d.plugin.name = long_name.c_str(); },
                "has no name"},
           Case{"odd name", [](Description& d) { d.plugin.name = "a b"; }, "has no name"},
           Case{"flags", [](Description& d) { d.plugin.flags = 8; },
                "plugin P has flags that this version does not know"},
           Case{"no create", [](Description& d) { d.plugin.create = nullptr; }, "has no create"},
           Case{"no point", [](Description& d) { d.plugin.filter = nullptr; },
                "has no extension point"},
           Case{"normalize alone", [](Description& d) { d.plugin.normalize_score = Normalize; },
                "normalize_score without score"},
           Case{"hint alone", [](Description& d) { d.plugin.hint = Hint; }, "hint without events"},
           Case{"null events", [](Description& d) { d.plugin.event_count = 1; },
                "counts events that are null"},
           Case{"resource",
                [](Description& d) {
                  d.event.resource = 99;
                  d.plugin.events = &d.event;
                  d.plugin.event_count = 1;
                },
                "event 0 has the resource 99, which does not exist"},
           Case{"actions",
                [](Description& d) {
                  d.event.actions = 1U << 20;
                  d.plugin.events = &d.event;
                  d.plugin.event_count = 1;
                },
                "event 0 has the actions 1048576, which do not exist"},
       }) {
    SCOPED_TRACE(test.name);
    Description described;
    ASSERT_TRUE(CheckModule("f.so", described.given).ok());
    test.spoil(described);
    const auto checked = CheckModule("f.so", described.given);
    ASSERT_FALSE(checked.ok());
    EXPECT_THAT(checked.error().message, AllOf(StartsWith("f.so: "), HasSubstr(test.refusal)));
  }
}

// ---- another version of the file ----

class RefreshTest : public ::testing::Test {
 protected:
  RefreshTest() : path_(CopyOf(folder_, "zone_only", "a.so")) {
    libraries_ = std::move(PluginLibraries::Load({path_}, nullptr, &registry_)).value();
  }
  std::string Make() {
    const auto made = registry_.Find("ZoneOnly")->source->Make(config::RawArgs{"\"bad\""}, handle_);
    return made.ok() ? "" : made.error().message;
  }

  testing::TempDir folder_;
  testing::FakeHandle handle_;
  framework::Registry registry_;
  std::string path_;
  std::unique_ptr<PluginLibraries> libraries_;
};

TEST_F(RefreshTest, TheSameFileIsNoChange) {
  EXPECT_FALSE(libraries_->Refresh().value());
  CopyOf(folder_, "zone_only", "a.so");  // written anew with the same content
  EXPECT_FALSE(libraries_->Refresh().value());
}

TEST_F(RefreshTest, AnotherVersionIsLoadedBesideTheOldOne) {
  auto old = registry_.Find("ZoneOnly")->source->Make({}, handle_);
  ASSERT_TRUE(old.ok());
  CopyOf(folder_, "zone_only_2", "a.so");
  EXPECT_TRUE(libraries_->Refresh().value());
  EXPECT_EQ(Make(), "these arguments are bad");
  libraries_->KeepRefreshed();
  EXPECT_FALSE(libraries_->Refresh().value());
  EXPECT_TRUE(At<framework::Closer>(**old).Close().ok());
}

TEST_F(RefreshTest, WhatIsTakenBackIsLoadedAgain) {
  CopyOf(folder_, "zone_only_2", "a.so");
  EXPECT_TRUE(libraries_->Refresh().value());
  libraries_->TakeBackRefreshed();
  EXPECT_TRUE(libraries_->Refresh().value());
}

TEST_F(RefreshTest, OtherPluginsNeedARestart) {
  CopyOf(folder_, "every_node", "a.so");
  const auto changed = libraries_->Refresh();
  ASSERT_FALSE(changed.ok());
  EXPECT_THAT(changed.error().message,
              EndsWith("/a.so: has the plugins EveryNode now and had ZoneOnly: restart kubesched"));
  EXPECT_EQ(Make(), "these arguments are bad");
}

}  // namespace
}  // namespace ks::modules
