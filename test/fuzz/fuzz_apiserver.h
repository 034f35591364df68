// SPDX-License-Identifier: Apache-2.0
#pragma once
// Targets for fuzz_targets.cc.

#include <string>
#include <string_view>

namespace ks::fuzz {

std::string RunProtobuf(std::string_view input);
std::string RunPatch(std::string_view input);
std::string RunAdmission(std::string_view input);

}  // namespace ks::fuzz
