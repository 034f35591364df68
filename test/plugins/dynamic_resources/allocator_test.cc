// SPDX-License-Identifier: Apache-2.0
// The worked examples of docs/spec/plugins-dra.md section 16 that are the allocator's.

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/allocator_example.h"
#include "plugins/dynamic_resources/compare/subject.h"

namespace ks::plugins {
namespace {

#define D(name) "{'name':'" name "'}"
constexpr std::string_view kEighteen = "[" D("d0") "," D("d1") "," D("d2") "," D("d3") "," D(
    "d4") "," D("d5") "," D("d6") "," D("d7") "," D("d8") "," D("d9") "," D("e0") "," D("e1") "," D("e2") "," D("e3") "," D("e4") "," D("e5") "," D("e6") "," D("e7") "]";
#undef D
// All devices for each of two requests, or none, which is not enough, for the first one.
constexpr std::string_view kAllTwice =
    "[{'name':'r','firstAvailable':["
    "{'name':'none','deviceClassName':'gpu','allocationMode':'All',"
    "'selectors':[{'cel':{'expression':'false'}}]},"
    "{'name':'all','deviceClassName':'gpu','allocationMode':'All'}]},"
    "{'name':'q','firstAvailable':["
    "{'name':'all','deviceClassName':'gpu','allocationMode':'All'}]}]";
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
    // The first alternative leaves 15 for the other request.
    Example{.name = "12: too many results of a later request",
            .devices = kEighteen,
            .requests = "[{'name':'r','firstAvailable':[" SUB("big", "17") "," SUB(
                "two", "2") "]},{'name':'q','exactly':{'deviceClassName':'gpu','allocationMode':'"
                            "ExactCount','count':16}}]",
            .wanted = "r/two=d0 r/two=d1 q=d2 q=d3 q=d4 q=d5 q=d6 q=d7 q=d8 q=d9 q=e0 q=e1 q=e2 "
                      "q=e3 q=e4 q=e5 q=e6 q=e7"},
    // 18 and 18 are too many, but what is fatal comes first.
    Example{.name = "12: fatal before too many",
            .devices = kEighteen,
            .requests = kAllTwice,
            .constraints = "[{'matchAttribute':'drv.example/numa'}]",
            .wanted = "claim ns/x, request all: cannot add device drv.example/p/d0 because a claim "
                      "constraint would not be satisfied"},
    Example{.name = "12: too many, nothing fatal",
            .devices = kEighteen,
            .requests = kAllTwice,
            .wanted = kNoSolution},
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
    Example{.name = "All after an equal device is taken",
            .devices = kTwo,
            .requests = "[{'name':'r','exactly':{'deviceClassName':'gpu','allocationMode':"
                        "'ExactCount','count':1}},{'name':'a','exactly':{'deviceClassName':'gpu',"
                        "'allocationMode':'All'}}]",
            .constraints = "[{'requests':['a'],'matchAttribute':'drv.example/numa'}]",
            .wanted = "claim ns/x, request a: cannot add device drv.example/p/d0 because a claim "
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
