// SPDX-License-Identifier: Apache-2.0
// Types, overloads and the checker's complaints. docs/spec/cel.md sections 2, 4, 5.
#include "cel/checker.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ks::cel {
namespace {

const Environment& TestEnvironment() {
  static const Environment environment_of_tests = [] {
    const TypePtr text = SimpleType(TypeKind::kString);
    const TypePtr attributes = MapType(text, SimpleType(TypeKind::kDyn));
    const TypePtr capacities = MapType(text, OpaqueType("kubernetes.Quantity"));
    Environment environment;
    environment.variables = {{"device", ObjectType("kubernetes.DRADevice")}};
    environment.objects = {{"kubernetes.DRADevice",
                            {{"driver", text},
                             {"attributes", MapType(text, attributes)},
                             {"capacity", MapType(text, capacities)}}}};
    return environment;
  }();
  return environment_of_tests;
}

// The type, or the first lines of the problems without "ERROR: <input>:", parted by " / ".
std::string Checking(std::string_view text) {
  const Result<Checked> checked = Check(text, TestEnvironment());
  if (checked.ok()) return RuntimeTypeName(checked->type_of(*checked->root));
  std::string problems;
  constexpr std::string_view kBegin = "ERROR: <input>:";
  const std::string& message = checked.error().message;
  for (size_t at = message.find(kBegin); at != std::string::npos;) {
    at += kBegin.size();
    if (!problems.empty()) problems += " / ";
    problems += message.substr(at, message.find('\n', at) - at);
    at = message.find(kBegin, at);
  }
  return problems;
}

struct Case {
  std::string_view text;
  std::string_view wanted;
};

void Compare(const Case& row) {
  SCOPED_TRACE(row.text);
  EXPECT_EQ(Checking(row.text), row.wanted);
}

TEST(CheckerTest, Types) {
  constexpr Case kCases[] = {
      {"1", "int"},
      {"null", "null_type"},
      {"device", "kubernetes.DRADevice"},
      {"device.attributes", "map(string, map(string, dyn))"},
      {"device.attributes.a.b", "dyn"},
      {"device.attributes['a'].b.c", "dyn"},
      {"device.capacity.a.b", "kubernetes.Quantity"},
      {"device.?driver", "optional_type(string)"},
      {"device.attributes[?'a'].?b", "optional_type(dyn)"},
      {"device.attributes[?'a'].b[0]", "dyn"},
      {"{'a': optional.of(1)}.?a", "optional_type(optional_type(int))"},
      {"has(device.driver)", "bool"},
      {"int", "type(int)"},
      {"type", "type(type)"},
      {"list", "type(list(dyn))"},
      {"duration", "type(google.protobuf.Duration)"},
      {"net.IP", "type(net.IP)"},
      {"type(1) == string", "bool"},
      {"google.protobuf.NullValue.NULL_VALUE", "int"},
      {"google.protobuf.Int32Value{value: 1}", "wrapper(int)"},
      {"google.protobuf.Int32Value{value: 1} + 1", "int"},
      {"google.protobuf.Struct{fields: {'a': 1}}", "map(string, dyn)"},
      {"[]", "list(dyn)"},
      {"[[], [1]]", "list(list(int))"},
      {"[] + [1]", "list(int)"},
      {"[dyn(1)] + [1]", "list(dyn)"},
      {"[1] + [dyn('a')]", "list(dyn)"},
      {"[optional.none(), optional.of(1)]", "list(optional_type(int))"},
      {"[?optional.of(1), 2]", "list(int)"},
      {"{?'a': optional.of(1)}", "map(string, int)"},
      {"{}[0] == 1", "bool"},
      {"true ? 1 : dyn('a')", "dyn"},
      {"true ? [1] : []", "list(int)"},
      {"true ? timestamp(1) : null", "google.protobuf.Timestamp"},
      {"true ? null : timestamp(1)", "null_type"},
      {"device == null", "bool"},
      {"quantity('1') == null", "bool"},
      {"1 < 1.0", "bool"},
      {"1u >= 1", "bool"},
      {"dyn(1) + 1", "int"},
      {"dyn(1) + dyn(1)", "dyn"},
      {"timestamp(1) - dyn(1)", "dyn"},
      {"timestamp(1) - timestamp(2)", "google.protobuf.Duration"},
      {"dyn([1])[0]", "dyn"},
      {"[1][dyn(0)]", "int"},
      {"[].min()", "int"},
      {"[dyn(1)].min()", "dyn"},
      {"[1, 2].sortBy(x, -x)", "list(int)"},
      {"optional.none().value() + 1", "int"},
      {"optional.of(1).optMap(x, x + 1)", "optional_type(int)"},
      {"optional.of(1).optFlatMap(x, optional.of('a'))", "optional_type(string)"},
      {"{1: 'a'}.transformMap(k, v, v + 'b')", "map(int, string)"},
      {"['a'].transformMapEntry(i, v, {v: i})", "map(string, int)"},
      {"cel.bind(x, [], x + [1])", "list(int)"},
      {"dyn(1).all(x, y, x == y)", "bool"},
      {"[].all(x, x == 1)", "bool"},
      {"[1].all(device, device == 1)", "bool"},
      {"[1].all(device, .device.driver == 'a')", "bool"},
      {"[1].all(optional, optional.none().hasValue())", "bool"},
      {".strings.quote('a')", "string"},
      {"'%d %s'.format([1, 'a'])", "string"},
      {"null < null", "bool"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(CheckerTest, ProblemsOfNamesAndFields) {
  constexpr Case kCases[] = {
      {"x", "1:1: undeclared reference to 'x' (in container '')"},
      {".x", "1:2: undeclared reference to '.x' (in container '')"},
      {"f(x)",
       "1:2: undeclared reference to 'f' (in container '') / 1:3: undeclared reference to 'x' (in "
       "container '')"},
      {"strings.foo('a')",
       "1:1: undeclared reference to 'strings' (in container '') / 1:12: undeclared reference to "
       "'foo' (in container '')"},
      {"x.optMap(y, y)",
       "1:1: undeclared reference to 'x' (in container '') / 1:1: undeclared reference to 'x' (in "
       "container '')"},
      {"[1].existsOne(x, true)",
       "1:14: undeclared reference to 'existsOne' (in container '') / 1:15: undeclared reference "
       "to 'x' (in container '')"},
      {"has(net.IP)", "1:5: undeclared reference to 'net' (in container '')"},
      {"foo.Bar{a: x}", "1:8: undeclared reference to 'foo.Bar' (in container '')"},
      {"int{}", "1:4: 'int' is not a message type"},
      {"kubernetes.DRADevice{foo: 1}", "1:25: undefined field 'foo'"},
      {"google.protobuf.Timestamp{seconds: 'a'}",
       "1:34: expected type of field 'seconds' is 'int' but provided type is 'string'"},
      {"device.foo", "1:7: undefined field 'foo'"},
      {"has(device.foo)", "1:4: undefined field 'foo'"},
      {"device.?foo", "1:7: undefined field 'foo'"},
      {"1.foo", "1:2: type 'int' does not support field selection"},
      {"optional.of([1]).a", "1:17: type 'list(int)' does not support field selection"},
      {"ip('::').a", "1:9: type 'net.IP' does not support field selection"},
      {"semver('1').a", "1:12: unexpected failed resolution of 'kubernetes.Semver'"},
      {"device['driver']",
       "1:7: found no matching overload for '_[_]' applied to '(kubernetes.DRADevice, string)'"},
      {"[1].all(x, .x == 1)", "1:13: undeclared reference to '.x' (in container '')"},
      {"[1].all(google, google.protobuf.Any == int)",
       "1:23: type 'int' does not support field selection"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(CheckerTest, ProblemsOfTypes) {
  constexpr Case kCases[] = {
      {"1 == 'a'", "1:3: found no matching overload for '_==_' applied to '(int, string)'"},
      {"1 == 1.0", "1:3: found no matching overload for '_==_' applied to '(int, double)'"},
      {"1 == null", "1:3: found no matching overload for '_==_' applied to '(int, null)'"},
      {"{'a': 1} == {'a': 1.0}",
       "1:10: found no matching overload for '_==_' applied to '(map(string, int), map(string, "
       "double))'"},
      {"dyn(1) < quantity('1')",
       "1:8: found no matching overload for '_<_' applied to '(dyn, kubernetes.Quantity)'"},
      {"1 in 2 in 3",
       "1:3: found no matching overload for '@in' applied to '(int, int)' / 1:8: found no matching "
       "overload for '@in' applied to '(!error!, int)'"},
      {"'a'.size(1)", "1:9: found no matching overload for 'size' applied to 'string.(int)'"},
      {"quantity('1').sign()",
       "1:19: found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"},
      {"[] + 1", "1:4: found no matching overload for '_+_' applied to '(list(dyn), int)'"},
      {"true ? 1 : 'a'",
       "1:6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
      {"1 && 'a'",
       "1:1: expected type 'bool' but found 'int' / 1:6: expected type 'bool' but found 'string'"},
      {"[1].all(x, x)", "1:12: expected type 'bool' but found 'int'"},
      {"[1].filter(x, x)",
       "1:11: found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"},
      {"1.all(x, true)",
       "1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
       "dynamic)"},
      {"[?1]", "1:3: expected type 'optional_type(int)' but found 'int'"},
      {"1.optMap(x, x)",
       "1:9: found no matching overload for 'hasValue' applied to 'int.()' / 1:9: found no "
       "matching "
       "overload for 'value' applied to 'int.()'"},
      {"[].map(x, x + [x])",
       "1:13: found no matching overload for '_+_' applied to '(dyn, list(dyn))'"},
      {"[1].transformMapEntry(i, v, v)",
       "1:22: found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), int)'"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(CheckerTest, ProblemsOfLiterals) {
  constexpr Case kCases[] = {
      {"[1, 'a', 1.0]", "1:5: expected type 'int' but found 'string'"},
      {"[1, dyn('a')]", "1:8: expected type 'int' but found 'dyn'"},
      {"[1, null]", "1:5: expected type 'int' but found 'null'"},
      {"[[1, 'a'], ['b']]",
       "1:6: expected type 'int' but found 'string' / 1:12: expected type 'list(dyn)' but found "
       "'list(string)'"},
      {"{1: 'a', 'b': 2}",
       "1:10: expected type 'int' but found 'string' / 1:15: expected type 'string' but found "
       "'int'"},
      {"[1, ?optional.of('a')]", "1:17: expected type 'int' but found 'string'"},
      {"[1, 'a'].map(x, x) + foo", "1:22: undeclared reference to 'foo' (in container '')"},
      {"duration('x')", "1:10: invalid duration argument"},
      {"duration('1d')", "1:10: invalid duration argument"},
      {"timestamp('2020-01-01')", "1:11: invalid timestamp argument"},
      {"timestamp(253402300800)", "1:11: invalid timestamp argument"},
      {"timestamp(null)", "1:11: invalid timestamp argument"},
      {"'a'.matches('(')", "1:13: invalid matches argument"},
      {"matches('(', 'a')", "1:9: invalid matches argument"},  // upstream looks at the first
      {"optional.of(duration('x')).optMap(y, y)",
       "1:22: invalid duration argument / 1:22: invalid duration argument"},
      {"'%d'.format(['a'])",
       "1:14: error during formatting: decimal clause can only be used on integers, was given "
       "string"},
      {"'%s'.format([[1, [device]]])",
       "1:19: error during formatting: string clause can only be used on strings, bools, bytes, "
       "ints, doubles, maps, lists, types, durations, and timestamps, was given "
       "kubernetes.DRADevice"},
      {"'%s %s'.format([1])", "1:15: index 1 out of range"},
      {"'%%'.format([1])",
       "1:12: too many arguments supplied to string.format (expected 0, got 1)"},
      {"'%z'.format([1])",
       "1:12: could not parse formatting clause: unrecognized formatting clause \"z\""},
      {"'%.f'.format([1])",
       "1:13: could not parse formatting clause: error while parsing precision: error while "
       "converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax"},
      {"'%.1'.format([1])",
       "1:13: could not parse formatting clause: error while parsing precision: could not find end "
       "of precision specifier"},
      {"'%'.format([1])", "1:11: unexpected end of string"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(CheckerTest, OverloadsThatMayBeMeant) {
  struct Candidates {
    std::string_view text;
    std::vector<OverloadId> wanted;
  };
  const Candidates cases[] = {
      {"1 + 2", {OverloadId::kAddInt}},
      {"dyn(1) + 2", {OverloadId::kAddInt}},
      {"dyn(1) * dyn(2)",
       {OverloadId::kMultiplyDouble, OverloadId::kMultiplyInt, OverloadId::kMultiplyUint}},
      {"timestamp(1) - dyn(1)",
       {OverloadId::kSubtractTimestampDuration, OverloadId::kSubtractTimestampTimestamp}},
      {"1 in dyn([1])", {OverloadId::kInList, OverloadId::kInMap}},
      {"dyn([1])['a']", {OverloadId::kIndexMap, OverloadId::kIndexOptional}},
      {"dyn(1).indexOf('a')", {OverloadId::kStringIndexOf, OverloadId::kListIndexOf}},
      {"dyn(1).indexOf(1)", {OverloadId::kListIndexOf}},
      {"dyn(1).isGreaterThan(semver('1.0.0'))", {OverloadId::kSemverIsGreaterThan}},
      {"dyn(1).isGreaterThan(dyn(1))",
       {OverloadId::kQuantityIsGreaterThan, OverloadId::kSemverIsGreaterThan}},
      {"device.?driver", {OverloadId::kOptionalSelect}},
      {"true && false", {OverloadId::kAnd}},
  };
  for (const Candidates& row : cases) {
    SCOPED_TRACE(row.text);
    const Result<Checked> checked = Check(row.text, TestEnvironment());
    ASSERT_TRUE(checked.ok());
    EXPECT_EQ(checked->reference_of(*checked->root).overloads, row.wanted);
  }
}

TEST(CheckerTest, NamesAreResolvedInTheTree) {
  const Result<Checked> named = Check("net.IP", TestEnvironment());
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->root->kind, ExprKind::kIdent);
  EXPECT_EQ(named->root->name, "net.IP");
  EXPECT_TRUE(named->reference_of(*named->root).is_type);

  const Result<Checked> called = Check(".optional.of(.device)", TestEnvironment());
  ASSERT_TRUE(called.ok());
  EXPECT_EQ(called->root->target, nullptr);
  EXPECT_EQ(called->root->name, "optional.of");
  EXPECT_EQ(called->root->args[0]->name, "device");
  EXPECT_FALSE(called->reference_of(*called->root->args[0]).is_type);
}

// Types that double at each step, and receivers that are used twice at each step.
TEST(CheckerTest, WhatDoublesEndsSoon) {
  constexpr int kSteps = 120;
  std::string doubled;
  std::string open;
  std::string chain = "optional.of(x)";
  std::string fine = "optional.of(1)";
  for (int i = 0; i < kSteps; ++i) {
    const std::string name = "x" + std::to_string(i);
    const std::string last = i == 0 ? "1" : "x" + std::to_string(i - 1);
    doubled += "cel.bind(" + name + ", {" + last + ": " + last + "}, ";
    open +=
        "cel.bind(" + name + ", " + (i == 0 ? "{}" : "[{" + last + ": " + last + "}] + []") + ", ";
    chain += ".optMap(y, y)";
    fine += ".optMap(y, y)";
  }
  const std::string end(kSteps, ')');
  EXPECT_EQ(Checking(doubled + "true" + end), "bool");
  EXPECT_EQ(Checking(open + "true" + end), "bool");
  EXPECT_EQ(Checking(fine + ".hasValue()"), "bool");
  EXPECT_TRUE(Checking(chain).starts_with("1:13: undeclared reference to 'x'"));
}

}  // namespace
}  // namespace ks::cel
