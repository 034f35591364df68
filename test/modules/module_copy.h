// SPDX-License-Identifier: Apache-2.0
#pragma once
// The test's modules as files that kubesched agrees to load. KS_MODULES: their folder.

#include <sys/stat.h>

#include <string>

#include "base/check.h"
#include "base/file_text.h"
#include "testing/temp_dir.h"

namespace ks::modules {

// A copy in a folder that nobody else can write, whatever the build's folders are.
inline std::string CopyOf(const testing::TempDir& folder, const std::string& module,
                          const std::string& name) {
  const auto content = ReadFile(std::string(KS_MODULES) + "/" + module + ".so");
  KS_CHECK(content.ok(), content.error().message);
  std::string path = folder.Write(name, *content);
  chmod(path.c_str(), 0644);
  return path;
}

}  // namespace ks::modules
