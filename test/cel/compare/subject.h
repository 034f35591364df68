// SPDX-License-Identifier: Apache-2.0
#pragma once
// The engine under test, asked as the reference is asked.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/compare/outcome.h"
#include "cel/device.h"
#include "cel/value.h"

namespace ks::cel::compare {

// A text that two values share only if they are alike, as the reference writes it
// (test/controlplane/cmd/celoracle, canonical()).
std::string CanonicalText(const Value& value);

// Devices of a JSON list in the form of the API. Requires: it is well-formed.
std::vector<DeviceContent> ReadDevices(std::string_view json);

// Threads: any. Lifetime: independent.
class Subject {
 public:
  // `devices`: as ReadDevices() takes them.
  explicit Subject(std::string_view devices);
  Outcome Answer(const Question& question) const;

 private:
  std::vector<std::shared_ptr<const Device>> devices_;
};

}  // namespace ks::cel::compare
