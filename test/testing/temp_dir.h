// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder for the files of one test, removed at the end.

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"

namespace ks::testing {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kstest-XXXXXX").string();
    KS_CHECK(mkdtemp(pattern.data()) != nullptr, "mkdtemp failed");
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }

  // Writes a file (replacing it) and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }
  std::string WriteScript(const std::string& name, const std::string& text) const {
    const std::string path = Write(name, "#!/bin/sh\n" + text);
    chmod(path.c_str(), 0755);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace ks::testing
