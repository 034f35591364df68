// SPDX-License-Identifier: Apache-2.0
#pragma once
// Floating point numbers as upstream prints them: the shortest digits that read back the same.
//
// Upstream: docs/spec/config.md section 7.1.

#include <string>

namespace ks::golang {

// In YAML: an exponent of at least two digits below 1e-4 and from 1e6 on ("1.2345675e+06", "1e-05",
// "100000.5"). Infinities and NaN: ".inf", "-.inf", ".nan".
std::string YamlFloatText(double value);
std::string YamlFloatText(float value);

// In JSON: an exponent below 1e-6 and from 1e21 on only ("1234567.5", "123456790", "1e-7").
// Infinities and NaN, which JSON lacks: "null".
std::string JsonFloatText(double value);
std::string JsonFloatText(float value);

}  // namespace ks::golang
