// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/spec/plugins-dra.md section 16 that are the allocator's.

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "plugins/dynamic_resources/compare/subject.h"

namespace ks::plugins {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kDriver = "drv.example";
constexpr std::string_view kNoSolution = "none";

// One pool `p` of one slice on node n1 unless `slices` says more, one claim `x`.
struct Example {
  std::string_view name;
  std::string_view devices;   // of the slice: JSON, single quotes for double ones
  std::string_view requests;  // of the claim
  std::string_view constraints = "[]";
  std::string_view state = "{}";  // dedicated, shared, consumed
  std::string_view slice = "{}";  // further fields of the slice's spec
  std::string_view wanted;        // "r=d0 r=d1", "none", or an error's text
};

Json Parsed(std::string_view text) {
  std::string json(text);
  for (char& c : json) c = c == '\'' ? '"' : c;
  return Json::parse(json);
}

std::string Request(const Example& example) {
  Json spec = {{"driver", kDriver},
               {"nodeName", "n1"},
               {"pool", {{"name", "p"}, {"generation", 1}, {"resourceSliceCount", 1}}},
               {"devices", Parsed(example.devices)}};
  spec.update(Parsed(example.slice));
  Json request = {
      {"slices", Json::array({{{"metadata", {{"name", "s"}}}, {"spec", spec}}})},
      {"classes", Json::array({{{"metadata", {{"name", "gpu"}}}, {"spec", Json::object()}}})},
      {"node", {{"metadata", {{"name", "n1"}}}}}};
  const Json devices = {{"requests", Parsed(example.requests)},
                        {"constraints", Parsed(example.constraints)}};
  request["claims"] = Json::array(
      {{{"metadata", {{"name", "x"}, {"namespace", "ns"}}}, {"spec", {{"devices", devices}}}}});
  request.update(Parsed(example.state));
  return request.dump();
}

// What a row wants, of an answer.
std::string Shown(const std::string& answer) {
  const Json parsed = Json::parse(answer);
  if (parsed.contains("error")) return parsed["error"];
  if (parsed.contains("nodeError")) return parsed["nodeError"];
  if (!parsed.contains("allocations")) return std::string(kNoSolution);
  std::string shown;
  for (const Json& result : parsed["allocations"][0]["devices"]["results"]) {
    if (!shown.empty()) shown += " ";
    shown += result["request"].get<std::string>() + "=" + result["device"].get<std::string>();
    if (result.value("adminAccess", false)) shown += "(admin)";
    const Json consumed = result.value("consumedCapacity", Json::object());
    for (const auto& [name, amount] : consumed.items()) {
      shown += "(" + name + " " + amount.get<std::string>() + ")";
    }
  }
  return shown;
}

#define ONE(fields) \
  "[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'ExactCount'," fields "}}]"
#define ALL(fields) \
  "[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':'All'" fields "}}]"
#define SUB(name, count) \
  "{'name':'" name "','deviceClassName':'gpu','allocationMode':'ExactCount','count':" count "}"
#define NUMA(name, value) "{'name':'" name "','attributes':{'numa':{'int':" value "}}}"
#define SHARED(policy) \
  "[{'name':'d0','allowMultipleAllocations':true,'capacity':{'mem':{'value':'40Gi'" policy "}}}]"

constexpr std::string_view kTwo = "[{'name':'d0'},{'name':'d1'}]";
constexpr std::string_view kD1Taken = "{'dedicated':[['drv.example','p','d1']]}";

const std::array kExamples = {
    Example{
        .name = "1: first device", .devices = kTwo, .requests = ONE("'count':1"), .wanted = "r=d0"},
    Example{.name = "4: order of the list",
            .devices = "[{'name':'z'},{'name':'a'}]",
            .requests = ONE("'count':1"),
            .wanted = "r=z"},
    Example{.name = "5: matchAttribute",
            .devices = "[" NUMA("d0", "0") "," NUMA("d1", "1") "," NUMA("d2", "1") "]",
            .requests = ONE("'count':2"),
            .constraints = "[{'matchAttribute':'drv.example/numa'}]",
            .wanted = "r=d1 r=d2"},
    Example{.name = "6: distinctAttribute",
            .devices = "[" NUMA("d0", "0") "," NUMA("d1", "0") "," NUMA("d2", "1") "]",
            .requests = ONE("'count':2"),
            .constraints = "[{'distinctAttribute':'drv.example/numa'}]",
            .wanted = "r=d0 r=d2"},
    Example{.name = "6: without d2",
            .devices = "[" NUMA("d0", "0") "," NUMA("d1", "0") "]",
            .requests = ONE("'count':2"),
            .constraints = "[{'distinctAttribute':'drv.example/numa'}]",
            .wanted = kNoSolution},
    Example{.name = "7: attribute missing",
            .devices = "[{'name':'d0'}," NUMA("d1", "1") "]",
            .requests = ONE("'count':1"),
            .constraints = "[{'matchAttribute':'drv.example/numa'}]",
            .wanted = "r=d1"},
    Example{.name = "10: firstAvailable",
            .devices = kTwo,
            .requests = "[{'name':'r','firstAvailable':[" SUB("big", "4") "," SUB(
                "two", "2") "," SUB("one", "1") "]}]",
            .wanted = "r/two=d0 r/two=d1"},
    Example{.name = "12: too many results",
            .devices = kTwo,
            .requests = ONE("'count':33"),
            .wanted =
                "claim ns/x, request r: adding 33 devices exceeds the claim limit of 32, with "
                "0 already accounted for"},
    Example{.name = "13: All", .devices = kTwo, .requests = ALL(), .wanted = "r=d0 r=d1"},
    Example{.name = "13: All, one in use",
            .devices = kTwo,
            .requests = ALL(),
            .state = kD1Taken,
            .wanted = kNoSolution},
    Example{.name = "14: All, incomplete pool",
            .devices = kTwo,
            .requests = ALL(),
            .slice = "{'pool':{'name':'p','generation':1,'resourceSliceCount':2}}",
            .wanted = "claim ns/x, request r: asks for all devices, but resource pool "
                      "drv.example/p is currently being updated"},
    Example{.name = "16: All against a constraint",
            .devices = "[" NUMA("d0", "0") "," NUMA("d1", "1") "]",
            .requests = ALL(),
            .constraints = "[{'matchAttribute':'drv.example/numa'}]",
            .wanted = "claim ns/x, request r: cannot add device drv.example/p/d1 because a claim "
                      "constraint would not be satisfied"},
    Example{.name = "17: admin access",
            .devices = kTwo,
            .requests = ALL(",'adminAccess':true"),
            .state = kD1Taken,
            .wanted = "r=d0(admin) r=d1(admin)"},
    Example{.name = "24: shared device, amount",
            .devices = SHARED(""),
            .requests = ONE("'count':1,'capacity':{'requests':{'mem':'10Gi'}}"),
            .wanted = "r=d0(mem 10Gi)"},
    Example{.name = "24: shared device, all of it",
            .devices = SHARED(""),
            .requests = ONE("'count':1"),
            .wanted = "r=d0(mem 40Gi)"},
    Example{.name = "25: range with step",
            .devices = SHARED(",'requestPolicy':{'default':'1Gi','validRange':{'min':'1Gi',"
                              "'step':'4Gi'}}"),
            .requests = ONE("'count':1,'capacity':{'requests':{'mem':'6Gi'}}"),
            .wanted = "r=d0(mem 9Gi)"},
    Example{.name = "32: taint",
            .devices = "[{'name':'d0','taints':[{'key':'k','effect':"
                       "'NoSchedule'}]},{'name':'d1'}]",
            .requests = ONE("'count':1"),
            .wanted = "r=d1"},
    Example{.name = "35: device twice",
            .devices = "[{'name':'a'},{'name':'a'}]",
            .requests = ONE("'count':1"),
            .wanted = "invalid resource pools were encountered"},
};

TEST(AllocatorTest, WorkedExamples) {
  dra_compare::Subject subject;
  for (const Example& example : kExamples) {
    SCOPED_TRACE(example.name);
    EXPECT_EQ(Shown(subject.Answer(Request(example))), example.wanted);
  }
}

// Equal devices under a constraint that no choice satisfies: upstream runs into its time limit.
TEST(AllocatorTest, EqualDevicesAreTriedOnce) {
  std::string devices;
  for (int i = 0; i < 60; ++i) {
    devices += devices.empty() ? "[" : ",";
    devices += "{'name':'d" + std::to_string(i) +
               "','attributes':{'numa':{'int':" + std::to_string(i / 10) + "}}}";
  }
  devices += "]";
  dra_compare::Subject subject;
  const Example example{.name = "",
                        .devices = devices,
                        .requests = ONE("'count':12"),
                        .constraints = "[{'matchAttribute':'drv.example/numa'}]",
                        .wanted = kNoSolution};
  EXPECT_EQ(Shown(subject.Answer(Request(example))), example.wanted);
}

}  // namespace
}  // namespace ks::plugins
