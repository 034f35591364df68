// SPDX-License-Identifier: Apache-2.0
// Paths, logic, loops, calls: values, errors and costs of docs/spec/cel.md.
#include <atomic>

#include <gtest/gtest.h>

#include "cel/evaluation.h"

namespace ks::cel {
namespace {

constexpr std::string_view kAdvice =
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with "
    "has() for optional fields";

constexpr Row kRows[] = {
    {"device.attributes['zz'].x", "no such key: x"},
    {"has(device.attributes.zz)"},
    {"!has(device.attributes['zz'].x)"},
    {"!('zz' in device.attributes)"},
    {"'d.io' in device.attributes"},
    {"size(device.attributes['zz']) == 0"},
    {"size(device.attributes) == 2"},
    {"device == device"},
    {"device.attributes['d.io'].i == 42"},
    {"device.capacity['d.io'].memory == quantity('40Gi')"},
    {"[1].all(device, .device.driver == 'gpu.example.com' && device == 1)"},
    {"!(false && 1 / 0 == 1)"},
    {"(1 / 0 == 1) || true"},
    {"(1 / 0 == 1) || (1 % 0 == 1)", "division by zero"},
    {"dyn(1) && true", "no such overload"},
    {"[1, 2].exists(x, x == 2 || x / 0 == 1)"},
    {"[1, 2, 3].map(x, x + 1) == [2, 3, 4]"},
    {"[1, 2, 3].filter(x, x > 1) == [2, 3]"},
    {"{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}"},
    {"{'a': 1, 'b': 2}.transformMapEntry(k, v, {1: k}) == {}",
     "insert failed: key 1 already exists"},
    {"cel.bind(x, 1 / 0, true)"},
    {"dyn(1).all(x, true)", "got 'types.Int', expected iterable type"},
    {"dyn([1])[5] == 1", "index out of bounds: 5"},
    {"dyn([1])['a'] == 1", "unsupported index type 'string' in list"},
    {"dyn([1])[0.5] == 1", "unsupported index value 0.5 in list"},
    {"device.attributes['d.io'].?sl[9].orValue('z') == 'z'"},
    {"!device.attributes['d.io'].?s.?x.hasValue()"},
    {"optional.none().value() == 1", "optional.none() dereference"},
    {"device.attributes['d.io'].v == '1.2.3'", "no such overload"},
    {"!('1.2.3' == device.attributes['d.io'].v)"},
    {"device.attributes['d.io'].v in ['1.2.3'] || true",
     "internal error: runtime error: hash of unhashable type cel.Semver"},
    {"device.attributes['d.io'].s.isGreaterThan(semver('1.0.0'))",
     "no such overload: isGreaterThan(string, kubernetes.Semver)"},
    {"dyn(null) < dyn(null)", "no such overload: _<_"},
    {"int('x') == 1", "program instantiation failed: type conversion error from 'string' to 'int'"},
    {"google.protobuf.Timestamp{seconds: 1} == timestamp(1)"},
    {"kubernetes.DRADevice{} == device", "unknown type 'kubernetes.DRADevice'"},
    {"{?'a': optional.none()} == {}"},
    {"dyn(1) < 0.0 / 0.0", "NaN values cannot be ordered"},
};

TEST(EvalTest, ValuesAndErrors) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    std::string wanted(row.wanted);
    if (wanted.starts_with("no such key")) wanted += kAdvice;
    EXPECT_EQ(EvaluateOnSample(row.expression).text, wanted);
  }
}

struct CostRow {
  std::string_view expression{};
  uint64_t wanted = 0;
};

constexpr CostRow kCosts[] = {
    {"device.driver == 'gpu.example.com'", 4},
    {"device.attributes['d.io'].s == 'abc'", 5},
    {"has(device.attributes['d.io'].s)", 3},
    {"device.attributes['d.io'].sl.exists(e, e == 'x')", 14},
    {"device.attributes['d.io'].?i.optMap(x, x + 1).orValue(0) == 43", 14},
    {"[1, 2].exists(x, x == 2)", 13},
    {"[3, 1, 2].sort() == [1, 2, 3]", 30},
    {"sets.contains([1, 2], [1])", 3},
    {"lists.range(100000).all(i, true)", 400012},
    {"device.attributes['d.io'].zz == 'abc'", 5},
    {"device.attributes['d.io'].?zz.orValue('q') == 'abc'", 4},
    {"device.attributes['d.io'].il[device.attributes['d.io'].i]", 8},
    {"device.attributes['d.io'].b ? device.attributes['d.io'].s : 'x'", 7},
    {"[1, 2, 3].map(x, x + 1)", 43},
    {"[1, 2, 3].exists_one(x, x > 2)", 10},
    {"device.attributes['d.io'].i in [1, 2, 3]", 4},
};

TEST(EvalTest, Costs) {
  for (const CostRow& row : kCosts) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(EvaluateOnSample(row.expression).cost, row.wanted);
  }
}

TEST(EvalTest, TheLimitOfCosts) {
  const auto device = Device::Make(SampleDevice());
  const auto program = Program::Compile("lists.range(1000).all(i, true)");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ((*program)->EvaluateAnew(*device, {.cost_limit = 100}).error,
            "operation cancelled: actual cost limit exceeded");
  EXPECT_TRUE((*program)->EvaluateAnew(*device).matches);
}

TEST(EvalTest, AbsurdSizesEndAtTheLimit) {
  EXPECT_EQ(EvaluateOnSample("lists.range(9223372036854775807).size() == 0").text,
            "operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(EvaluateOnSample("cel.bind(v, [], size(v + [1]) > 0 && "
                             "lists.range(100).all(i, size(v + v) > 0))")
                .text,
            "operation cancelled: actual cost limit exceeded");
}

// Upstream's would, and comparing it then ends the process there.
TEST(EvalTest, NoListComesToHoldItself) {
  for (const std::string_view item : {"v", "{1: v}", "[v]", "optional.of(v)"}) {
    SCOPED_TRACE(item);
    const std::string sum = "v + [" + std::string(item) + "]";
    EXPECT_EQ(EvaluateOnSample("cel.bind(v, dyn([]), " + sum + " != v && v == [])").text, "true");
  }
}

TEST(EvalTest, Interruption) {
  const auto device = Device::Make(SampleDevice());
  const std::atomic<bool> cancelled{true};
  const auto long_loop = Program::Compile("lists.range(1000).all(i, true)");
  ASSERT_TRUE(long_loop.ok());
  EXPECT_EQ((*long_loop)->EvaluateAnew(*device, {.cancelled = &cancelled}).error,
            "operation interrupted");
  const auto short_loop = Program::Compile("lists.range(99).all(i, true)");
  ASSERT_TRUE(short_loop.ok());
  EXPECT_TRUE((*short_loop)->EvaluateAnew(*device, {.cancelled = &cancelled}).matches);
}

constexpr Row kResults[] = {
    {"device.attributes['d.io'].b"},
    {"device.attributes['d.io'].s",
     "CEL result of type string could not be converted to bool: unsupported native conversion from "
     "string to 'bool'"},
    {"device.attributes['d.io'].i",
     "CEL result of type int could not be converted to bool: unsupported type conversion from "
     "'int' to bool"},
    {"device.attributes['d.io'].sl",
     "CEL result of type list could not be converted to bool: type conversion error from list to "
     "'bool'"},
    {"device.attributes['d.io'].v",
     "CEL result of type kubernetes.Semver could not be converted to bool: type conversion error "
     "from 'Semver' to 'bool'"},
};

TEST(EvalTest, ResultsThatAreNoBool) {
  const auto device = Device::Make(SampleDevice());
  for (const Row& row : kResults) {
    SCOPED_TRACE(row.expression);
    const auto program = Program::Compile(row.expression);
    ASSERT_TRUE(program.ok());
    const Verdict verdict = (*program)->EvaluateAnew(*device);
    EXPECT_EQ(verdict.ok() ? "true" : verdict.error, row.wanted);
  }
}

TEST(EvalTest, ResultTypesThatAreRefused) {
  const auto program = Program::Compile("1 + 1");
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().message, "must evaluate to bool or the unknown type, not int");
}

TEST(EvalTest, ABadVersionFailsEverySelector) {
  const auto device =
      Device::Make({.driver = "d", .attributes = {{.name = "a", .value = VersionText{"01.2.3"}}}});
  const auto program = Program::Compile("true");
  ASSERT_TRUE(program.ok());
  EXPECT_EQ((*program)->Evaluate(*device).error,
            "attribute a: parse semantic version: Major number must not contain leading zeroes "
            "\"01\"");
}

TEST(EvalTest, LongRunsOfOperatorsAreNoNesting) {
  std::string text = "false";
  for (int i = 0; i < 5000; ++i) text += " || false";
  EXPECT_EQ(EvaluateOnSample(text + " || true").text, "true");
}

}  // namespace
}  // namespace ks::cel
