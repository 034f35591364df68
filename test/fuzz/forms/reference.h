// SPDX-License-Identifier: Apache-2.0
#pragma once
// A process of test/controlplane/cmd/formoracle: what a real API server would send of an object.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fuzz/forms/forms.h"
#include "testing/line_process.h"

namespace ks::fuzz {

// Threads: one. Lifetime: ends the process that it started.
class FormsReference {
 public:
  static Result<std::unique_ptr<FormsReference>> Start(const std::string& program);

  // One answer an object, which is JSON in one line. Blocks. Fails if the process ended.
  Result<std::vector<Answer>> Ask(const std::vector<std::string>& objects);
  // About an object in the form in which a server stores it.
  Result<Answer> AskStored(std::string_view protobuf);

 private:
  explicit FormsReference(std::unique_ptr<testing::LineProcess> process)
      : process_(std::move(process)) {}

  std::unique_ptr<testing::LineProcess> process_;
};

}  // namespace ks::fuzz
