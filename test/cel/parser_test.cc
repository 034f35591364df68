// SPDX-License-Identifier: Apache-2.0
// Lexis, precedence, macros and the parser's complaints. docs/spec/cel.md sections 1, 3, 5.
#include "cel/parser.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

namespace ks::cel {
namespace {

std::string Shape(const Expr& expr);

std::string ShapeOf(const Constant& constant) {
  if (const auto* text = std::get_if<std::string>(&constant)) return '"' + *text + '"';
  if (const auto* bytes = std::get_if<BytesConstant>(&constant)) return "b\"" + bytes->bytes + '"';
  if (const auto* number = std::get_if<int64_t>(&constant)) return std::to_string(*number);
  if (const auto* number = std::get_if<uint64_t>(&constant)) return std::to_string(*number) + 'u';
  if (const auto* number = std::get_if<double>(&constant)) return std::to_string(*number);
  if (const auto* truth = std::get_if<bool>(&constant)) return *truth ? "true" : "false";
  return "null";
}

std::string ShapeOf(const Entry& entry) {
  std::string shape = entry.optional ? " ?" : " ";
  if (entry.key != nullptr) shape += Shape(*entry.key) + ':';
  if (!entry.field.empty()) shape += entry.field + ':';
  return shape + Shape(*entry.value);
}

// Everything in brackets, operators by their names: "(_+_ 1 2)".
std::string Shape(const Expr& expr) {
  std::string shape;
  switch (expr.kind) {
    case ExprKind::kConstant:
      return ShapeOf(expr.constant);
    case ExprKind::kIdent:
      return expr.name;
    case ExprKind::kSelect:
      return Shape(*expr.target) + (expr.test_only ? "~" : ".") + expr.name;
    case ExprKind::kCall:
      shape =
          expr.target == nullptr ? "(" + expr.name : "(" + Shape(*expr.target) + "." + expr.name;
      for (const ExprPtr& arg : expr.args) shape += ' ' + Shape(*arg);
      return shape + ')';
    case ExprKind::kList:
    case ExprKind::kMap:
    case ExprKind::kStruct:
      shape = expr.kind == ExprKind::kList  ? "["
              : expr.kind == ExprKind::kMap ? "{"
                                            : expr.name + '{';
      for (const Entry& entry : expr.entries) shape += ShapeOf(entry);
      return shape + (expr.kind == ExprKind::kList ? " ]" : " }");
    case ExprKind::kComprehension: {
      const Comprehension& loop = *expr.comprehension;
      const std::string second = loop.iter_var2.empty() ? "" : "," + loop.iter_var2;
      return "<" + loop.iter_var + second + " in " + Shape(*loop.range) + "; " + loop.accu_var +
             " = " + Shape(*loop.init) + "; " + Shape(*loop.condition) + "; " + Shape(*loop.step) +
             "; " + Shape(*loop.result) + ">";
    }
  }
  return shape;
}

// The shape, or the problems.
std::string Parsing(std::string_view text) {
  const Source source(text);
  Issues issues;
  const Parsed parsed = Parse(source, issues);
  return issues.empty() ? Shape(*parsed.root) : issues.Describe(source);
}

struct Case {
  std::string_view text;
  std::string_view wanted;
};

void Compare(const Case& row) {
  SCOPED_TRACE(row.text);
  EXPECT_EQ(Parsing(row.text), row.wanted);
}

TEST(ParserTest, Literals) {
  constexpr Case kCases[] = {
      {"12", "12"},
      {"0x1F", "31"},
      {"12u", "12u"},
      {"0x1FU", "31u"},
      {"007", "7"},
      {"1.5", "1.500000"},
      {".5", "0.500000"},
      {"1e3", "1000.000000"},
      {"1.5E-1", "0.150000"},
      {"1e-400", "0.000000"},
      {"-1", "-1"},
      {"- 1", "-1"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"-0x8000000000000000", "-9223372036854775808"},
      {"18446744073709551615u", "18446744073709551615u"},
      {"true", "true"},
      {"null", "null"},
      {"'a\"b'", "\"a\"b\""},
      {R"("\x41\u0042\U00000043\103")", "\"ABCC\""},
      {R"("\"\'\`\?\\")", "\"\"'`?\\\""},
      {R"(r"\z\")", R"("\z\")"},
      {"'''a\n'b'''", "\"a\n'b\""},
      {"\"\"\"\"\"\"", "\"\""},
      {"\"\"\"a\r\nb\rc\"\"\"", "\"a\nb\nc\""},
      {R"(b"\xff\x00\101")", std::string_view("b\"\xff\0A\"", 6)},
      {R"(br"\x")", R"(b"\x")"},
      {"\"\xff\"", "\"\uFFFD\""},
      {"1 // comment", "1"},
      {"// comment\n\f\t1", "1"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(ParserTest, PrecedenceAndAssociation) {
  constexpr Case kCases[] = {
      {"1 + 2 * 3", "(_+_ 1 (_*_ 2 3))"},
      {"1 - 2 - 3", "(_-_ (_-_ 1 2) 3)"},
      {"1 * 2 % 3 / 4", "(_/_ (_%_ (_*_ 1 2) 3) 4)"},
      {"(1 + 2) * 3", "(_*_ (_+_ 1 2) 3)"},
      {"1 < 2 == true", "(_==_ (_<_ 1 2) true)"},
      {"1 + 2 in x", "(@in (_+_ 1 2) x)"},
      {"a || b && c", "(_||_ a (_&&_ b c))"},
      {"a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))"},
      {"-a.b", "(-_ a.b)"},
      {"!a", "(!_ a)"},
      {"!!a", "a"},
      {"---1", "(-_ 1)"},
      {"--1", "1"},
      {"!-1", "(!_ -1)"},
      {"1--1", "(_-_ 1 -1)"},
      {"1 -1", "(_-_ 1 1)"},
      {"-1.f()", "(-1.f)"},
      {"a.b(c)[d].e", "(_[_] (a.b c) d).e"},
      {"a.?b[?c]", "(_[?_] (_?._ a \"b\") c)"},
      {".a.b", ".a.b"},
      {".f(1)", "(.f 1)"},
      {"a.`b-c/d e`", "a.b-c/d e"},
      {"a.if", "a.if"},
      {"[1, ?a,]", "[ 1 ?a ]"},
      {"[,]", "[ ]"},
      {"{1: 2, ?a: b,}", "{ 1:2 ?a:b }"},
      {"a.B{c: 1, ?`d e`: 2}", "a.B{ c:1 ?d e:2 }"},
      {".A{}.b", ".A{ }.b"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(ParserTest, LongRunsOfLogicalOperatorsAreBalanced) {
  constexpr Case kCases[] = {
      {"a && b && c", "(_&&_ (_&&_ a b) c)"},
      {"a && b && c && d", "(_&&_ (_&&_ a b) (_&&_ c d))"},
      {"a||b||c||d||e||f", "(_||_ (_||_ (_||_ a b) c) (_||_ (_||_ d e) f))"},
      {"(a||b)||c||d", "(_||_ (_||_ (_||_ a b) c) d)"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(ParserTest, Macros) {
  constexpr Case kCases[] = {
      {"has(a.b.c)", "a.b~c"},
      {"a.all(x, p)",
       "<x in a; @result = true; (@not_strictly_false @result); (_&&_ @result p); @result>"},
      {"a.exists(x, p)",
       "<x in a; @result = false; (@not_strictly_false (!_ @result)); (_||_ @result p); @result>"},
      {"a.exists_one(x, p)",
       "<x in a; @result = 0; true; (_?_:_ p (_+_ @result 1) @result); (_==_ @result 1)>"},
      {"a.map(x, t)", "<x in a; @result = [ ]; true; (_+_ @result [ t ]); @result>"},
      {"a.map(x, p, t)",
       "<x in a; @result = [ ]; true; (_?_:_ p (_+_ @result [ t ]) @result); @result>"},
      {"a.filter(x, p)",
       "<x in a; @result = [ ]; true; (_?_:_ p (_+_ @result [ x ]) @result); @result>"},
      {"a.all(k, v, p)",
       "<k,v in a; @result = true; (@not_strictly_false @result); (_&&_ @result p); @result>"},
      {"a.exists(k, v, p)",
       "<k,v in a; @result = false; (@not_strictly_false (!_ @result)); (_||_ @result p); "
       "@result>"},
      {"a.exists_one(k, v, p)",
       "<k,v in a; @result = 0; true; (_?_:_ p (_+_ @result 1) @result); (_==_ @result 1)>"},
      {"a.existsOne(k, v, p)",
       "<k,v in a; @result = 0; true; (_?_:_ p (_+_ @result 1) @result); (_==_ @result 1)>"},
      {"a.transformList(i, v, t)", "<i,v in a; @result = [ ]; true; (_+_ @result [ t ]); @result>"},
      {"a.transformList(i, v, p, t)",
       "<i,v in a; @result = [ ]; true; (_?_:_ p (_+_ @result [ t ]) @result); @result>"},
      {"a.transformMap(k, v, t)",
       "<k,v in a; @result = { }; true; (cel.@mapInsert @result k t); @result>"},
      {"a.transformMap(k, v, p, t)",
       "<k,v in a; @result = { }; true; (_?_:_ p (cel.@mapInsert @result k t) @result); @result>"},
      {"a.transformMapEntry(k, v, {v: k})",
       "<k,v in a; @result = { }; true; (cel.@mapInsert @result { v:k }); @result>"},
      {"a.transformMapEntry(k, v, p, e)",
       "<k,v in a; @result = { }; true; (_?_:_ p (cel.@mapInsert @result e) @result); @result>"},
      {"cel.bind(x, a, b)", "<#unused in [ ]; x = a; false; x; b>"},
      {"a.optMap(x, b)",
       "(_?_:_ (a.hasValue) (optional.of <#unused in [ ]; x = (a.value); false; x; b>) "
       "(optional.none))"},
      {"a.optFlatMap(x, b)",
       "(_?_:_ (a.hasValue) <#unused in [ ]; x = (a.value); false; x; b> (optional.none))"},
      {"a.sortBy(x, k)",
       "<#unused in [ ]; @__sortBy_input__ = a; false; @__sortBy_input__; "
       "(@__sortBy_input__.@sortByAssociatedKeys <x in @__sortBy_input__; @result = [ ]; true; "
       "(_+_ @result [ k ]); @result>)>"},
      // No macros: another number of arguments, another receiver.
      {"has(a.b, c)", "(has a.b c)"},
      {"a.has(b.c)", "(a.has b.c)"},
      {"a.existsOne(x, p)", "(a.existsOne x p)"},
      {"a.bind(x, y, z)", "(a.bind x y z)"},
      {"all(x, p)", "(all x p)"},
  };
  for (const Case& row : kCases) Compare(row);
}

TEST(ParserTest, ProblemsOfWordsAndLiterals) {
  struct Problem {
    std::string_view text;
    std::string_view wanted;  // of the first line, behind "ERROR: <input>:"
  };
  constexpr Problem kCases[] = {
      {"if", "1:1: reserved identifier: if"},
      {"1 + while(1)", "1:5: reserved identifier: while"},
      {".if", "1:1: reserved identifier: if"},
      {"9223372036854775808", "1:1: invalid int literal"},
      {"--9223372036854775808", "1:3: invalid int literal"},
      {"18446744073709551616u", "1:1: invalid uint literal"},
      {"1e400", "1:1: invalid double literal"},
      {R"("\ud800")", "1:1: invalid unicode code point"},
      {R"("\U00110000")", "1:1: invalid unicode code point"},
      {R"(b"\u0041")", "1:1: unable to unescape string"},
      {"has(a)", "1:5: invalid argument to has() macro"},
      {"has(a[1])", "1:6: invalid argument to has() macro"},
      {"a.all(1, p)", "1:7: argument must be a simple name"},
      {"a.all(x.y, p)", "1:8: argument must be a simple name"},
      {"a.map(1, p)", "1:7: argument is not an identifier"},
      {"a.filter(1, p)", "1:10: argument is not an identifier"},
      {"a.sortBy(1, p)", "1:10: argument is not an identifier"},
      {"'a'.sortBy(x, x)",
       "1:1: sortBy can only be applied to a list, identifier, comprehension, call or select "
       "expression"},
      {"a.all(x, 1, p)", "1:10: argument must be a simple name"},
      {"a.all(x, x, p)", "1:10: duplicate variable name: x"},
      {"a.map(__result__, 1)", "1:7: iteration variable overwrites accumulator variable"},
      {"cel.bind(1, 2, 3)", "1:10: cel.bind() variable names must be simple identifiers"},
      {"a.optMap(1, 2)", "1:10: optMap() variable name must be a simple identifier"},
      {"a.optFlatMap(1, 2)", "1:14: optFlatMap() variable name must be a simple identifier"},
  };
  for (const Problem& row : kCases) {
    SCOPED_TRACE(row.text);
    const std::string text = Parsing(row.text);
    EXPECT_EQ(text.substr(0, text.find('\n')), "ERROR: <input>:" + std::string(row.wanted));
  }
}

TEST(ParserTest, SyntaxErrors) {
  constexpr std::string_view kCases[] = {"",
                                         " ",
                                         "1 +",
                                         "1 1",
                                         "a.in",
                                         "a.true",
                                         "1.",
                                         "1..2",
                                         "`a`",
                                         "a.``",
                                         "a.`b",
                                         "f(1,)",
                                         "(,)",
                                         "()",
                                         "[1",
                                         "{a}",
                                         "{a:}",
                                         "a[]",
                                         "a b",
                                         "a(b)(c)",
                                         "a ? b",
                                         "-!a",
                                         "!-a",
                                         "a = b",
                                         "a & b",
                                         "$a",
                                         "#",
                                         "'",
                                         "\"\\z\"",
                                         "\"\\400\"",
                                         "\"\\u12\"",
                                         "\"a\nb\"",
                                         "rb'a'",
                                         "0X1F",
                                         "1.5u",
                                         "a.?b(1)",
                                         "a.`b`(1)",
                                         "\v1",
                                         "\xc2\xa0"
                                         "1",
                                         "'''",
                                         "/* a */ 1",
                                         "true ? false ? 1 : 2 : 3"};
  for (const std::string_view text : kCases) {
    SCOPED_TRACE(text);
    EXPECT_NE(Parsing(text).find(": Syntax error: "), std::string::npos);
  }
}

TEST(ParserTest, PlacesOfProblems) {
  EXPECT_EQ(Parsing(""), "ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>'");
  EXPECT_EQ(Parsing("1 +\n"),
            "ERROR: <input>:2:1: Syntax error: mismatched input '<EOF>'\n | \n | ^");
  EXPECT_EQ(Parsing("\n 'é\t' + if +\n1"),
            "ERROR: <input>:2:9: reserved identifier: if\n |  'é ' + if +\n | ..．.....^");
  EXPECT_EQ(Parsing("\u00e9"),
            "ERROR: <input>:1:1: Syntax error: token recognition error at: 'é'\n | é\n | ＾");
  EXPECT_EQ(Parsing("if + has(1)"),
            "ERROR: <input>:1:1: reserved identifier: if\n | if + has(1)\n | ^\n"
            "ERROR: <input>:1:10: invalid argument to has() macro\n | if + has(1)\n | .........^");
}

TEST(ParserTest, AfterAHundredProblemsTheRestIsCounted) {
  std::string text = "[if";
  for (int i = 1; i < 150; ++i) text += ",if";
  const std::string problems = Parsing(text + "]");
  EXPECT_TRUE(problems.ends_with("\n50 more errors were truncated"));
}

std::string Repeated(std::string_view part, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST(ParserTest, LimitsOfDepth) {
  struct Limit {
    std::string_view name;
    std::string_view before;
    std::string_view middle;
    std::string_view after;
    int most;
    std::string_view wanted;
  };
  constexpr std::string_view kNesting = "expression recursion limit exceeded: 250";
  constexpr std::string_view kHeight = "max recursion depth exceeded";
  constexpr Limit kLimits[] = {
      {"parentheses", "(", "1", ")", 249, kNesting},
      {"lists", "[", "1", "]", 249, kNesting},
      {"maps", "{1:", "1", "}", 249, kNesting},
      {"calls", "f(", "1", ")", 249, kNesting},
      {"conditions", "a?b:", "c", "", 249, kNesting},
      {"sums in parentheses", "1+(", "1", ")", 124, kNesting},
      {"relations in parentheses", "1<(", "1", ")", 124, kNesting},
      {"conjunctions in parentheses", "a&&(", "b", ")", 249, kNesting},
      {"sum", "", "1", "+1", 250, kHeight},
      {"product", "", "1", "*1", 250, kHeight},
      {"relation", "", "1", "<1", 250, kHeight},
      {"sum of products", "", "1", "+1*1", 249, kHeight},
      {"selections", "", "a", ".b", 250, kHeight},
      {"optional selections", "", "a", ".?b", 250, kHeight},
      {"indices", "", "a", "[0]", 250, kHeight},
      {"methods", "", "a", ".b()", 250, kHeight},
      {"macros", "", "a", ".map(x, x)", 250, kHeight},
      {"disjunctions", "", "a", "||b", 100'000, ""},
      {"conjunctions", "", "a", "&&b", 100'000, ""},
      {"negations", "!", "a", "", 100'000, ""},
      {"minus signs", "-", "a", "", 100'000, ""},
      {"elements", "", "[1", ",1", 100'000, ""},
  };
  for (const Limit& limit : kLimits) {
    SCOPED_TRACE(limit.name);
    const auto problems = [&](int count) {
      const std::string end = limit.name == "elements" ? "]" : "";
      const Source source(Repeated(limit.before, count) + std::string(limit.middle) +
                          Repeated(limit.after, count) + end);
      Issues issues;
      Parse(source, issues);
      return issues.empty() ? std::string() : issues.Describe(source);
    };
    EXPECT_EQ(problems(limit.most), "");
    if (!limit.wanted.empty()) {
      EXPECT_EQ(problems(limit.most + 1), "ERROR: <input>:-1:0: " + std::string(limit.wanted));
    }
  }
}

TEST(ParserTest, HostileTextsTakeLinearTime) {
  constexpr int kCount = 200'000;
  constexpr std::string_view kParts[] = {"(",  "[",  "{",  "-",       "!",  "\"",   "'''",
                                         "a.", "a{", ".",  "?",       "`",  "\xff", "\\",
                                         "0x", "1e", "b'", "r\"\"\"", "//", ","};
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view part : kParts) {
    SCOPED_TRACE(part);
    EXPECT_NE(Parsing(Repeated(part, kCount)).find("ERROR"), std::string::npos);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::minutes(1));
}

}  // namespace
}  // namespace ks::cel
