// SPDX-License-Identifier: Apache-2.0
// Sections 2.2 and 2.3 of docs/spec/config.md. The texts of all errors are those of the running
// kube-scheduler.
#include "config/text/document.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace ks::config {
namespace {

struct Row {
  const char* name;
  std::string text;
  std::string want;  // compact JSON, or the error
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.text; }

std::string Outcome(const std::string& text) {
  const std::variant<Document, Finding> parsed = ParseDocument(text);
  if (const Finding* error = std::get_if<Finding>(&parsed)) return error->message;
  const Document& document = std::get<Document>(parsed);
  std::string outcome = CompactJson(document.root, document.syntax);
  for (const DuplicateKey& duplicate : document.duplicates) outcome += "\n" + duplicate.text;
  return outcome;
}

class DocumentTest : public ::testing::TestWithParam<Row> {};

TEST_P(DocumentTest, ReadsOrRefuses) { EXPECT_EQ(Outcome(GetParam().text), GetParam().want); }

const Row kScalars[] = {
    {"Nulls", "[~, null, Null, NULL, ]", "[null,null,null,null]"},
    {"Nothing", "a:\nb: 1\n", R"({"a":null,"b":1})"},
    {"Trues", "[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]",
     "[true,true,true,true,true,true,true,true,true,true,true]"},
    {"Falses", "[n, N, no, No, NO, off, Off, OFF, false, False, FALSE]",
     "[false,false,false,false,false,false,false,false,false,false,false]"},
    {"NoBools", "[tRue, yEs, oN, nULL]", R"(["tRue","yEs","oN","nULL"])"},
    {"Quoted", R"(["5", 'no', "~", "\xff"])", "[\"5\",\"no\",\"~\",\"ÿ\"]"},
    {"Integers", "[12, +12, -12, 1_000, 0x10, 0b101, 020, 0o20, 0x_1F, 0B11, -0x10, 00]",
     "[12,12,-12,1000,16,5,16,16,31,3,-16,0]"},
    {"WideIntegers", "[18446744073709551615, 9223372036854775808, -9223372036854775808]",
     "[18446744073709551615,9223372036854775808,-9223372036854775808]"},
    {"TooWideIntegers", "[18446744073709551616, +9223372036854775808, 123456789012345678901]",
     "[18446744073709552000,9223372036854776000,123456789012345680000]"},
    {"Floats", "[1.0, .5, 1e3, 1.6e+1, 09, 5., 1_0.5, 1e21, 1e-7, -0.0, 1e-400]",
     "[1,0.5,1000,16,9,5,10.5,1e+21,1e-7,-0,0]"},
    {"NoNumbers", "[1e999, .5_0, .e3, ., 1e, 0x1p3, 0b, 0x, 0o8, 1.2.3]",
     R"(["1e999",".5_0",".e3",".","1e","0x1p3","0b","0x","0o8","1.2.3"])"},
    {"PlusInfinity", "a: .inf", "json: unsupported value: +Inf"},
    {"MinusInfinity", "a: -.INF", "json: unsupported value: -Inf"},
    {"NotANumber", "a: .NaN", "json: unsupported value: NaN"},
    {"Dates", "[2020-01-01, 2001-12-14t21:59:43.10-05:00, 1:30, 190:20:30]",
     R"(["2020-01-01","2001-12-14t21:59:43.10-05:00","1:30","190:20:30"])"},
    {"Signs", "[<<, =]", R"(["\u003c\u003c","="])"},
    {"Tags", R"([!!str 5, !!int "5", !!float 5, !!binary aGVsbG8=, !foo 5, !!foo 5])",
     R"(["5",5,5,"hello","5","5"])"},
    {"TagOfTimestamp", "!!timestamp 2020-01-01", R"("2020-01-01")"},
    {"TagThatDoesNotFit", "a: !!int x", "yaml: cannot decode !!str `x` as a !!int"},
    {"TagThatDoesNotFitANumber", "a: !!bool 5", "yaml: cannot decode !!int `5` as a !!bool"},
    {"TagOfTextThatIsNoTimestamp", "a: !!timestamp foo",
     "yaml: cannot decode !!str `foo` as a !!timestamp"},
    {"TagOfTextThatStartsLikeATimestamp", "a: !!timestamp 2020-0x",
     "yaml: cannot decode !!str `2020-0x` as a !!timestamp"},
    {"DamagedBinary", "a: !!binary xx", "yaml: !!binary value contains invalid base64 data"},
    {"BinaryThatIsNoText", "a: !!binary /w==", "{\"a\":\"\xEF\xBF\xBD\"}"},
};

const Row kKeys[] = {
    {"Sorted", "b: 1\na: 2\nB: 3\n", R"({"B":3,"a":2,"b":1})"},
    {"NotStrings", "# c\n{5: a, 1.5: b, 1e10: c, 1234567.0: d, 0.1: e, yes: f, no: g}",
     "{\"0.1\":\"e\",\"1.234567e+06\":\"d\",\"1.5\":\"b\",\"1e+10\":\"c\",\"5\":\"a\","
     "\"false\":\"g\",\"true\":\"f\"}"},
    {"BareY", "k:\ny: x\n", R"({"k":null,"true":"x"})"},
    {"Null", "~: 3", "unsupported map key of type: %!s(<nil>), key: <nil>, value: 3"},
    {"NullOverAMapping", "~: {a: [1, x, ~]}",
     "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface "
     "{}{\"a\":[]interface {}{1, \"x\", interface {}(nil)}}"},
    {"BeyondInt64", "18446744073709551615: a",
     R"(unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a")"},
    {"List", "? [a, b]\n: c\n", R"(yaml: invalid map key: []interface {}{"a", "b"})"},
    {"Mapping", "? {a: 1, b: [x]}\n: c\n",
     "yaml: invalid map key: map[interface {}]interface {}{\"a\":1, \"b\":[]interface {}{\"x\"}}"},
    {"Duplicate", "a: 1\nb: 2\na: 3\n", "{\"a\":3,\"b\":2}\nline 3: key \"a\" already set in map"},
    {"DuplicateByItsValuesLine", "a: 1\na:\n  3\n",
     "{\"a\":3}\nline 3: key \"a\" already set in map"},
    {"DuplicateNumber", "---\n{1: a, 0x1: b}", "{\"1\":\"b\"}\nline 2: key 1 already set in map"},
    {"DuplicateBool", "yes: a\non: b\n", "{\"true\":\"b\"}\nline 2: key true already set in map"},
    {"NumberAndStringAreTwo", "---\n{1: a, '1': b}", R"({"1":"b"})"},
    {"DuplicatesInside", "a: {x: 1,\n x: 2}\na: 5\n",
     "{\"a\":5}\nline 2: key \"x\" already set in map\nline 3: key \"a\" already set in map"},
    {"DuplicateInAnAnchor", "a: &z {x: 1, x: 2}\nb: *z\n",
     "{\"a\":{\"x\":2},\"b\":{\"x\":2}}\nline 1: key \"x\" already set in map\n"
     "line 1: key \"x\" already set in map"},
};

const Row kAnchors[] = {
    {"Alias", "a: &x {b: 1}\nc: *x\n", R"({"a":{"b":1},"c":{"b":1}})"},
    {"Merge", "a: &x {b: 1}\nc: {<<: *x, d: 2}\n", R"({"a":{"b":1},"c":{"b":1,"d":2}})"},
    {"MergeOfAList", "a: &x {b: 1}\nc: &y {d: 2}\ne: {<<: [*x, *y]}\n",
     R"({"a":{"b":1},"c":{"d":2},"e":{"b":1,"d":2}})"},
    {"MergedBeforeItsOwn", "a: &x {b: 1}\nc: {<<: *x, b: 2}\n",
     "{\"a\":{\"b\":1},\"c\":{\"b\":2}}\nline 2: key \"b\" already set in map"},
    {"MergedBehindItsOwn", "a: &x {b: 1}\nc: {b: 2, <<: *x}\n",
     "{\"a\":{\"b\":1},\"c\":{\"b\":1}}\nline 1: key \"b\" already set in map"},
    {"MergeOfEqualKeys", "a: &x {k: 1}\nb: &y {k: 2}\nc: {<<: [*x, *y]}\n",
     "{\"a\":{\"k\":1},\"b\":{\"k\":2},\"c\":{\"k\":1}}\nline 1: key \"k\" already set in map"},
    {"QuotedIsNoMerge", "'<<': 5", R"({"\u003c\u003c":5})"},
    {"UnknownAlias", "a: *x", "yaml: unknown anchor 'x' referenced"},
    {"MergeOfAScalar", "<<: 5", "yaml: map merge requires map or sequence of maps as the value"},
    {"MergeOfAListOfScalars", "<<: [5]",
     "yaml: map merge requires map or sequence of maps as the value"},
    {"ItselfInAList", "a: &x [*x]", "yaml: anchor 'x' value contains itself"},
    {"ItselfInAMapping", "a: &x {b: *x}", "yaml: anchor 'x' value contains itself"},
    {"ItselfMerged", "a: &x {<<: *x}", "yaml: anchor 'x' value contains itself"},
};

const Row kDocuments[] = {
    {"Empty", "", "null"},
    {"OnlyComments", "# c\n", "null"},
    {"OnlyTheFirst", "a: 1\n---\n@@@\n", R"({"a":1})"},
    {"NothingBehindTheEnd", "a: 1\n...\n@@@\n", R"({"a":1})"},
    {"EmptyFirst", "---\n# c\n---\na: 1\n", "null"},
    {"CommentsBeforeTheFirst", "# c\n---\na: 1\n", R"({"a":1})"},
    {"Version11", "%YAML 1.1\n---\na: 1\n", R"({"a":1})"},
    {"Version12", "%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"},
    {"Version13", "%YAML 1.3\n---\na: 1\n", "yaml: found incompatible YAML document"},
    {"FlowBehindAComment", "# c\n{a: 1}", R"({"a":1})"},
    {"JsonBehindAByteOrderMark", "\xEF\xBB\xBF{\"b\": 1, \"a\": 2}", R"({"a":2,"b":1})"},
    {"Tab", "a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token"},
    {"NoContent", "a: [\n", "yaml: line 1: did not find expected node content"},
    {"NoColon", "a: b\nc\nd: e\n", "yaml: line 3: could not find expected ':'"},
    {"NoKey", "a:\n  - b\n - c\n", "yaml: line 2: did not find expected key"},
    {"SecondColon", "a: b: c\n", "yaml: mapping values are not allowed in this context"},
    {"DamagedUtf8", "a: \xff\n", "yaml: invalid leading UTF-8 octet"},
    {"ControlCharacter", "a: \x01\n", "yaml: control characters are not allowed"},
    {"QuestionMarkInFlow", "b: 1\na: {u: http://x/y?z}\n",
     "yaml: line 1: did not find expected ',' or '}'"},
    {"QuestionMarkInAFlowList", "b: 1\na: [b?c]\n",
     "yaml: line 1: did not find expected ',' or ']'"},
    {"QuestionMarkInAnElementsPair", "b: 1\na: [b: c?d]\n",
     "yaml: line 1: did not find expected ',' or ']'"},
    {"QuestionMarkElsewhere", "a: b?c\nd: ['b?c', \"b?c\"]\n", R"({"a":"b?c","d":["b?c","b?c"]})"},
    {"LoneSurrogate", "b: 1\na: \"\\ud800\"\n",
     "yaml: line 2: found invalid Unicode character escape code"},
};

constexpr const char* kJsonError = "couldn't get version/kind; json parse error: ";

const Row kJson[] = {
    {"InFileOrder", R"( {"b": 1, "a": [1e5, -0.50, true, null], "b": {}} )",
     R"({"b":1,"a":[1e5,-0.50,true,null],"b":{}})"},
    {"Escapes", R"({"a": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"})",
     "{\"a\":\"\\\"\\\\/\\b\\f\\n\\r\\té😀\"}"},
    {"LoneSurrogate", R"({"a": "\ud800x\ud800\u0041"})",
     "{\"a\":\"\xEF\xBF\xBDx\xEF\xBF\xBD"
     "A\"}"},
    {"DamagedUtf8", "{\"a\": \"x\xff\"}", "{\"a\":\"x\xEF\xBF\xBD\"}"},
    {"Unquoted", "{a: 1}",
     std::string(kJsonError) + "invalid character 'a' looking for beginning of object key string"},
    {"TrailingComma", "{\"a\": 1,}",
     std::string(kJsonError) + "invalid character '}' looking for beginning of object key string"},
    {"TrailingText", "{} x",
     std::string(kJsonError) + "invalid character 'x' after top-level value"},
    {"End", "{\"a\": 1", std::string(kJsonError) + "unexpected end of JSON input"},
    {"NoColon", "{\"a\" 1}", std::string(kJsonError) + "invalid character '1' after object key"},
    {"NoComma", "{\"a\": 1 \"b\": 2}",
     std::string(kJsonError) + "invalid character '\"' after object key:value pair"},
    {"NoCommaInAList", "{\"a\": [1 2]}",
     std::string(kJsonError) + "invalid character '2' after array element"},
    {"LeadingZero", "{\"a\": 01}",
     std::string(kJsonError) + "invalid character '1' after object key:value pair"},
    {"NoFraction", "{\"a\": 1.}",
     std::string(kJsonError) + "invalid character '}' after decimal point in numeric literal"},
    {"NoExponent", "{\"a\": 1e}",
     std::string(kJsonError) + "invalid character '}' in exponent of numeric literal"},
    {"OnlyAMinus", "{\"a\": -}",
     std::string(kJsonError) + "invalid character '}' in numeric literal"},
    {"Literal", "{\"a\": trux}",
     std::string(kJsonError) + "invalid character 'x' in literal true (expecting 'e')"},
    {"Escape", R"({"a": "\q"})",
     std::string(kJsonError) + "invalid character 'q' in string escape code"},
    {"UnicodeEscape", R"({"a": "\u12g4"})",
     std::string(kJsonError) + "invalid character 'g' in \\u hexadecimal character escape"},
    {"ControlCharacter", "{\"a\": \"\x01\"}",
     std::string(kJsonError) + "invalid character '\\x01' in string literal"},
    {"EndInALiteral", "{\"a\": tr",
     std::string(kJsonError) + "invalid character ' ' in literal true (expecting 'u')"},
    {"EndInAString", "{\"a\": \"x", std::string(kJsonError) + "unexpected end of JSON input"},
    {"SingleQuote", "{\"a\": '1'}",
     std::string(kJsonError) + "invalid character '\\'' looking for beginning of value"},
    {"HighByte", "{\"a\": \xff}",
     std::string(kJsonError) + "invalid character 'ÿ' looking for beginning of value"},
    {"OtherWhiteSpace", "\f{\"a\": 1}",
     std::string(kJsonError) + "invalid character '\\f' looking for beginning of value"},
};

std::string NameOf(const ::testing::TestParamInfo<Row>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(Scalars, DocumentTest, ::testing::ValuesIn(kScalars), NameOf);
INSTANTIATE_TEST_SUITE_P(Keys, DocumentTest, ::testing::ValuesIn(kKeys), NameOf);
INSTANTIATE_TEST_SUITE_P(Anchors, DocumentTest, ::testing::ValuesIn(kAnchors), NameOf);
INSTANTIATE_TEST_SUITE_P(Documents, DocumentTest, ::testing::ValuesIn(kDocuments), NameOf);
INSTANTIATE_TEST_SUITE_P(Json, DocumentTest, ::testing::ValuesIn(kJson), NameOf);

TEST(DocumentPlacesTest, OfKeysAndValues) {
  for (const char* text : {"é: x\nb:\n  - {c: [1, zz]}\n",
                           "{\"é\": \"x\",\n\"b\":\n  "
                           "[{\"c\": [1, 2]}]}"}) {
    const std::variant<Document, Finding> parsed = ParseDocument(text);
    ASSERT_TRUE(std::holds_alternative<Document>(parsed));
    const Value& root = std::get<Document>(parsed).root;
    const Member& list = root.members.at(1);
    EXPECT_EQ(list.key, "b");
    EXPECT_EQ(list.place.line, 2);
    EXPECT_EQ(list.place.column, 1);
    const Member& inner = list.value.items.at(0).members.at(0);
    EXPECT_EQ(inner.place.line, 3);
    const Value& last = inner.value.items.at(1);
    EXPECT_EQ(last.place.line, 3);
    EXPECT_EQ(last.place.column, inner.value.place.column + 4);
  }
}

TEST(DocumentPlacesTest, OfErrors) {
  struct PlaceRow {
    std::string text;
    int line;
    int column;
  };
  for (const PlaceRow& row : std::vector<PlaceRow>{{"a: 1\nb: *x\n", 2, 4},
                                                   {"a: 1\nb: @\n", 2, 4},
                                                   {"a: 1\nb: \xff\n", 2, 4},
                                                   {"{\"a\": 1,\n é}", 2, 2}}) {
    const std::variant<Document, Finding> parsed = ParseDocument(row.text);
    ASSERT_TRUE(std::holds_alternative<Finding>(parsed)) << row.text;
    EXPECT_EQ(std::get<Finding>(parsed).place.line, row.line) << row.text;
    EXPECT_EQ(std::get<Finding>(parsed).place.column, row.column) << row.text;
  }
}

TEST(DocumentLimitsTest, HostileTextsGetAnError) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int j = 0; j < 7; ++j) bomb += ", " + last;
    bomb += "]\n";
  }
  EXPECT_EQ(Outcome(bomb), "yaml: document contains excessive aliasing");
  EXPECT_EQ(Outcome("a: " + std::string(kMaxDepth, '[')), "yaml: exceeded max depth of 500");
  EXPECT_EQ(Outcome("{\"a\": " + std::string(100'000, '[')),
            std::string(kJsonError) + "exceeded max depth of 500");
  std::string list = "a: [1";
  for (int i = 0; i < 250'000; ++i) list += ",1";
  EXPECT_EQ(Outcome(list + "]"), "yaml: the document has more than 200000 values");
  EXPECT_EQ(Outcome(std::string((size_t{16} << 20) + 1, ' ')), "the file is longer than 16 MiB");
}

}  // namespace
}  // namespace ks::config
