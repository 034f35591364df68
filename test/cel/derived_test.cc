// SPDX-License-Identifier: Apache-2.0
// Results of expressions as attributes of a device (docs/spec/cel.md section 7).

#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "cel/device.h"
#include "cel/engine.h"
#include "cel/program.h"

namespace ks::cel {
namespace {

// What an attribute of this value is in the texts below.
struct Shown {
  std::string operator()(std::monostate /*unknown*/) const { return "unknown"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(const VersionText& value) const { return "v" + value.text; }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::string text = "[";
    for (const T& value : values) text += (text.size() > 1 ? " " : "") + (*this)(value);
    return text + "]";
  }
};

std::string Derived(const std::string& expression) {
  static const auto device = Device::Make({.driver = "drv",
                                           .attributes = {{"n", int64_t{3}},
                                                          {"l", std::vector<int64_t>{1, 2}},
                                                          {"v", VersionText{"1.2.3-a.1+b"}}}});
  const auto program = Program::Compile(expression, Program::Wanted::kAttribute);
  if (!program.ok()) return program.error().message;
  const auto value = (*program)->Derive(*device);
  return value.ok() ? std::visit(Shown(), *value) : value.error().message;
}

TEST(DerivedTest, ValuesAndErrors) {
  constexpr const char* kNotAllowed =
      "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these "
      "scalars, not ";
  const std::string wrong = kNotAllowed;
  const struct {
    const char* expression;
    std::string wanted;
  } rows[] = {
      {"device.attributes[device.driver].n + 1", "4"},
      {"device.driver", "'drv'"},
      {"device.allowMultipleAllocations", "false"},
      {"device.attributes['drv'].v", "v1.2.3-a.1+b"},
      {"semver('v1.2', true)", "v1.2.0"},
      {"device.attributes['drv'].l", "[1 2]"},
      {"[]", "[]"},
      {"'a,b'.split(',')", "['a' 'b']"},
      {"[semver('1.0.0')]", "[v1.0.0]"},
      {"dyn(optional.of(1))", "1"},
      {"dyn([optional.of(1), optional.of(2)])", "[1 2]"},
      {"dyn(type(1))", "'int'"},
      {"1.5", wrong + "double"},
      {"[[1]]", wrong + "list(list(int))"},
      {"quantity('1')", wrong + "kubernetes.Quantity"},
      {"device", wrong + "kubernetes.DRADevice"},
      {"device.attributes['drv'].missing", "no such key: missing"},
      {"1 / 0", "division by zero"},
      {"dyn(1.5)", "unsupported CEL return type: float64"},
      {"dyn(optional.none())", "unsupported CEL return type: <nil>"},
      {"dyn({})", "unsupported CEL return type: map[ref.Val]ref.Val"},
      {"dyn(device.attributes)", "unsupported CEL return type: map[string]interface {}"},
      {"dyn([1u])", "unsupported list element type: uint64"},
      {"[dyn(1), dyn('x')]", "expected list element at index 1 to be int, got string"},
      {"[dyn(semver('1.0.0')), dyn(2)]",
       "expected list element at index 1 to be semver, got int64"},
  };
  for (const auto& row : rows) EXPECT_EQ(Derived(row.expression), row.wanted) << row.expression;
}

TEST(DerivedTest, ABadVersionOfTheDeviceFailsAll) {
  const auto device = Device::Make({.driver = "drv", .attributes = {{"v", VersionText{"x"}}}});
  const auto program = Program::Compile("1", Program::Wanted::kAttribute);
  ASSERT_TRUE(program.ok());
  const auto value = (*program)->Derive(*device);
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.error().message,
            "attribute v: parse semantic version: No Major.Minor.Patch elements found");
}

TEST(DerivedTest, OneTextServesSelectorsAndAttributes) {
  Engine engine;
  EXPECT_TRUE(engine.Compile("1", Program::Wanted::kAttribute).ok());
  EXPECT_FALSE(engine.Compile("1").ok());
}

}  // namespace
}  // namespace ks::cel
