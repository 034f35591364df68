// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/literals.h"

#include <array>
#include <map>
#include <string>
#include <utility>

namespace ks::cel::compare {
namespace {

constexpr std::array kDevicePathTable = {
    Sample{"string", "device.driver"},
    Sample{"bool", "device.allowMultipleAllocations"},
    Sample{"map(string, map(string, dyn))", "device.attributes"},
    Sample{"map(string, dyn)", "device.attributes[\"d.io\"]"},
    Sample{"map(string, dyn)", "device.attributes[\"none.io\"]"},
    Sample{"map(string, dyn)", "device.attributes[device.driver]"},
    Sample{"map(string, map(string, kubernetes.Quantity))", "device.capacity"},
    Sample{"map(string, kubernetes.Quantity)", "device.capacity[\"d.io\"]"},
    Sample{"kubernetes.Quantity", "device.capacity[\"d.io\"].mem"},
    Sample{"kubernetes.Quantity", "device.capacity[\"d.io\"].milli"},
    Sample{"kubernetes.Quantity", "device.capacity[\"gpu.example.com\"].own"},
    Sample{"optional_type(kubernetes.Quantity)", "device.capacity[\"d.io\"].?mem"},
    Sample{"optional_type(dyn)", "device.attributes[\"d.io\"].?s"},
    Sample{"optional_type(dyn)", "device.attributes[\"d.io\"].?zz"},
    Sample{"optional_type(dyn)", "device.attributes[?\"d.io\"].?i"},
    Sample{"optional_type(dyn)", "device.attributes[?\"none.io\"].?i"},
    Sample{"optional_type(dyn)", "device.?attributes[\"d.io\"].b"},
    Sample{"optional_type(dyn)", "device.attributes[\"d.io\"].?sl[0]"},
    Sample{"optional_type(dyn)", "device.attributes[\"d.io\"].?sl[9]"},
    Sample{"list(string)", "[device.driver]"},
    Sample{"dyn", "device.attributes[\"d.io\"].i"},
    Sample{"dyn", "device.attributes[\"d.io\"].j"},
    Sample{"dyn", "device.attributes[\"d.io\"].b"},
    Sample{"dyn", "device.attributes[\"d.io\"].s"},
    Sample{"dyn", "device.attributes[\"d.io\"].u"},
    Sample{"dyn", "device.attributes[\"d.io\"].v"},
    Sample{"dyn", "device.attributes[\"d.io\"].il"},
    Sample{"dyn", "device.attributes[\"d.io\"].bl"},
    Sample{"dyn", "device.attributes[\"d.io\"].sl"},
    Sample{"dyn", "device.attributes[\"d.io\"].vl"},
    Sample{"dyn", "device.attributes[\"d.io\"].zz"},
    Sample{"dyn", "device.attributes.`d.io`.s"},
    Sample{"dyn", "device.attributes[\"gpu.example.com\"].own"},
    Sample{"dyn", "device.attributes[device.driver].own"},
    Sample{"dyn", "device.attributes[device.driver][\"own\"]"},
    Sample{"dyn", "device.attributes[\"d.io\"][\"i\"]"},
    Sample{"dyn", "dyn(device)"},
    Sample{"dyn", "dyn(device).driver"},
    Sample{"dyn", "dyn(device.attributes)"},
    Sample{"dyn", "dyn(device.attributes[\"d.io\"])"},
    Sample{"dyn", "device.attributes[\"d.io\"].sl[1]"},
    Sample{"dyn", "device.attributes[\"d.io\"].s.x"},
};

constexpr std::array<std::string_view, 12> kPresenceTable = {
    "has(device.driver)",
    "has(device.attributes)",
    "has(device.attributes.zz)",
    "has(device.attributes[\"d.io\"].s)",
    "has(device.attributes[\"d.io\"].zz)",
    "has(device.attributes.`d.io`.i)",
    "has(device.capacity[\"d.io\"].mem)",
    "has(device.capacity[\"zz\"].mem)",
    "has(device.allowMultipleAllocations)",
    "has(device.attributes[\"d.io\"].s.x)",
    "has({\"a\": 1}.a)",
    "has({\"a\": 1}.b)",
};

constexpr std::array kLiteralTable = {
    Sample{"bool", "true"},
    Sample{"bool", "false"},
    Sample{"int", "0"},
    Sample{"int", "1"},
    Sample{"int", "2"},
    Sample{"int", "3"},
    Sample{"int", "42"},
    Sample{"int", "-1"},
    Sample{"int", "-7"},
    Sample{"int", "0x1F"},
    Sample{"int", "100"},
    Sample{"int", "9007199254740993"},
    Sample{"int", "9223372036854775807"},
    Sample{"int", "-9223372036854775808"},
    Sample{"uint", "0u"},
    Sample{"uint", "1u"},
    Sample{"uint", "3u"},
    Sample{"uint", "42u"},
    Sample{"uint", "0xFFu"},
    Sample{"uint", "18446744073709551615u"},
    Sample{"double", "0.0"},
    Sample{"double", "-0.0"},
    Sample{"double", "1.0"},
    Sample{"double", "1.5"},
    Sample{"double", "42.0"},
    Sample{"double", "-2.75"},
    Sample{"double", ".5"},
    Sample{"double", "1e3"},
    Sample{"double", "1e30"},
    Sample{"double", "123456789.125"},
    Sample{"double", "1e-7"},
    Sample{"double", "9007199254740992.0"},
    Sample{"double", "double(\"NaN\")"},
    Sample{"double", "double(\"-Inf\")"},
    Sample{"string", "\"\""},
    Sample{"string", "\"a\""},
    Sample{"string", "\"abc\""},
    Sample{"string", "'b'"},
    Sample{"string", "\"Abc dEf\""},
    Sample{"string", "\"a,b,,c\""},
    Sample{"string", "\"äöü€😀\""},
    Sample{"string", "\"42\""},
    Sample{"string", "\"-1.5\""},
    Sample{"string", "\"true\""},
    Sample{"string", "\"x\\ty\\\"z\\u00e9\""},
    Sample{"string", "r\"\\d+\""},
    Sample{"string", "\"d.io\""},
    Sample{"string", "\"1.2.3\""},
    Sample{"string", "\"1.2.3-rc.1+b\""},
    Sample{"string", "\"v1.02\""},
    Sample{"string", "\"1Gi\""},
    Sample{"string", "\"500m\""},
    Sample{"string", "\"10.0.0.1\""},
    Sample{"string", "\"10.0.0.0/8\""},
    Sample{"string", "\"fe80::1\""},
    Sample{"string", "\"https://u@h.io:80/a%20b?x=1&y=2&x=3\""},
    Sample{"string", "\"2023-02-03T23:31:20.5Z\""},
    Sample{"string", "\"1h30m\""},
    Sample{"string", "\"  pad \""},
    Sample{"string", "\"a-b_c.d\""},
    Sample{"bytes", "b\"\""},
    Sample{"bytes", "b\"abc\""},
    Sample{"bytes", "b\"\\xff\\x00\""},
    Sample{"bytes", "b'ä'"},
    Sample{"null", "null"},
    Sample{"timestamp", "timestamp(\"2023-02-03T23:31:20Z\")"},
    Sample{"timestamp", "timestamp(\"2023-02-03T23:31:20.123456789+02:00\")"},
    Sample{"timestamp", "timestamp(\"1969-12-31T23:59:59.5Z\")"},
    Sample{"timestamp", "timestamp(\"0001-01-01T00:00:00Z\")"},
    Sample{"timestamp", "timestamp(\"9999-12-31T23:59:59.999999999Z\")"},
    Sample{"timestamp", "timestamp(1700000000)"},
    Sample{"duration", "duration(\"0s\")"},
    Sample{"duration", "duration(\"1h30m\")"},
    Sample{"duration", "duration(\"-1.5s\")"},
    Sample{"duration", "duration(\"123.321s\")"},
    Sample{"duration", "duration(\"1ns\")"},
    Sample{"duration", "duration(\"2562047h\")"},
    Sample{"kubernetes.Quantity", "quantity(\"1Gi\")"},
    Sample{"kubernetes.Quantity", "quantity(\"1536Mi\")"},
    Sample{"kubernetes.Quantity", "quantity(\"1.5Gi\")"},
    Sample{"kubernetes.Quantity", "quantity(\"500m\")"},
    Sample{"kubernetes.Quantity", "quantity(\"-3k\")"},
    Sample{"kubernetes.Quantity", "quantity(\"1e3\")"},
    Sample{"kubernetes.Quantity", "quantity(\"0\")"},
    Sample{"kubernetes.Quantity", "quantity(\"9223372036854775807\")"},
    Sample{"kubernetes.Semver", "semver(\"1.2.3\")"},
    Sample{"kubernetes.Semver", "semver(\"1.2.3-rc.1\")"},
    Sample{"kubernetes.Semver", "semver(\"1.2.3+build\")"},
    Sample{"kubernetes.Semver", "semver(\"v1.02\", true)"},
    Sample{"kubernetes.URL", "url(\"https://u:p@h.io:8443/a/b%20c?x=1&y=2&x=3#f\")"},
    Sample{"kubernetes.URL", "url(\"http://[::1]/\")"},
    Sample{"kubernetes.URL", "url(\"/path\")"},
    Sample{"net.IP", "ip(\"10.0.0.1\")"},
    Sample{"net.IP", "ip(\"127.0.0.1\")"},
    Sample{"net.IP", "ip(\"2001:db8::1\")"},
    Sample{"net.IP", "ip(\"fe80::1\")"},
    Sample{"net.CIDR", "cidr(\"10.0.0.0/8\")"},
    Sample{"net.CIDR", "cidr(\"10.1.2.3/16\")"},
    Sample{"net.CIDR", "cidr(\"2001:db8::/32\")"},
    Sample{"kubernetes.NamedFormat", "format.dns1123Label()"},
    Sample{"kubernetes.NamedFormat", "format.qualifiedName()"},
    Sample{"kubernetes.NamedFormat", "format.uuid()"},
    Sample{"kubernetes.NamedFormat", "format.date()"},
};

constexpr std::array<std::string_view, 44> kPieceTable = {
    "\"", "'",  "{",  "}",  "[",   "]",    "(",    ")",        ",",   ":",      "?",
    "!",  "-",  "+",  "*",  "/",   "%",    "<",    ">",        "=",   "&",      "|",
    ".",  "`",  "#",  "\n", "\\x", "\\u",  "\\0",  "1",        "0x",  "1e",     "u",
    "in", "as", "if", "//", " ",   "null", "true", "\xc3\xa9", "b\"", "\"\"\"", "$"};

}  // namespace

const std::string_view kDevices = R"json([
{"driver": "gpu.example.com", "attributes": {
   "d.io/i": {"int": 42}, "d.io/j": {"int": 9007199254740993}, "d.io/b": {"bool": true},
   "d.io/s": {"string": "abc"}, "d.io/u": {"string": "äöü€😀"}, "d.io/v": {"version": "1.2.3"},
   "d.io/il": {"ints": [3, 1, 2]}, "d.io/bl": {"bools": [true, false]},
   "d.io/sl": {"strings": ["a", "b"]}, "d.io/vl": {"versions": ["1.2.3", "1.10.0-rc.1+b"]},
   "own": {"string": "gpu"}},
 "capacity": {"d.io/mem": {"value": "1Gi"}, "d.io/milli": {"value": "1500m"}, "own": {"value": "8"}}},
{"driver": "gpu.example.com", "allowMultipleAllocations": true, "attributes": {
   "d.io/i": {"int": -7}, "d.io/b": {"bool": false}, "d.io/s": {"string": ""},
   "d.io/v": {"version": "2.0.0-alpha"}, "d.io/sl": {"strings": ["b"]}, "own": {"int": 3}},
 "capacity": {"d.io/mem": {"value": "1536Mi"}}},
{"driver": "d.io", "attributes": {
   "i": {"string": "42"}, "j": {"bool": true}, "b": {"int": 1}, "s": {"version": "1.2.3"},
   "v": {"string": "1.2.3"}, "sl": {"ints": [1]}, "il": {"strings": ["3"]}, "own": {"bool": true}}},
{"driver": ""}
])json";

const std::span<const Sample> kDevicePaths = kDevicePathTable;
const std::span<const std::string_view> kPresence = kPresenceTable;
const std::span<const Sample> kLiterals = kLiteralTable;
const std::span<const std::string_view> kPieces = kPieceTable;

std::span<const std::string_view> ArgumentSamples(std::string_view function, size_t position) {
  static const std::vector<std::string_view> kPatterns = {
      "\"a+\"", "\"^a\"",  "\"[a-c]{1,2}\"", "\"(?i)ABC\"",   "\"\"",       "r\"\\d+\\.\"",
      "\"(\"",  "\"b|c\"", "\".\"",          "device.driver", "\"\\\\pL\"", "\"(?P<n>a)b*\""};
  static const std::vector<std::string_view> kZones = {
      "\"UTC\"", "\"+01:00\"",    "\"-08:30\"", "\"Europe/Berlin\"", "\"America/New_York\"",
      "\"\"",    "\"Nope/Zone\"", "\"01:00\"",  "device.driver"};
  static const std::vector<std::string_view> kFormats = {
      "\"%d\"", "\"%s\"",    "\"%f and %s\"", "\"%x%%\"", "\"%.2f\"",
      "\"%e\"", "\"%b|%o\"", "\"%X\"",        "\"none\"", "\"%q\""};
  static const std::vector<std::string_view> kSmallCounts = {"0", "1", "3", "5", "-1", "20"};
  static const std::map<std::pair<std::string_view, size_t>, std::span<const std::string_view>>
      kSamples = {{{"matches", 1}, kPatterns},       {{"find", 1}, kPatterns},
                  {{"findAll", 1}, kPatterns},       {{"getFullYear", 1}, kZones},
                  {{"getMonth", 1}, kZones},         {{"getDayOfYear", 1}, kZones},
                  {{"getDayOfMonth", 1}, kZones},    {{"getDate", 1}, kZones},
                  {{"getDayOfWeek", 1}, kZones},     {{"getHours", 1}, kZones},
                  {{"getMinutes", 1}, kZones},       {{"getSeconds", 1}, kZones},
                  {{"getMilliseconds", 1}, kZones},  {{"format", 0}, kFormats},
                  {{"lists.range", 0}, kSmallCounts}};
  const auto at = kSamples.find({function, position});
  return at == kSamples.end() ? std::span<const std::string_view>() : at->second;
}

}  // namespace ks::cel::compare
