// SPDX-License-Identifier: Apache-2.0
// A search that remembers dead ends chooses the devices that one without memory chooses, and ends
// where that one does not (docs/spec/plugins-dra.md section 15, trap 39).
#include "plugins/dynamic_resources/dead_ends.h"

#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/allocator_example.h"
#include "plugins/dynamic_resources/compare/subject.h"

namespace ks::plugins {
namespace {

constexpr AllocatorFeatures kAllGates{.compatibility_groups = true,
                                      .derived_attributes = true,
                                      .fractional_ranges = true,
                                      .list_attributes = true,
                                      .optional_node_operations = true};

// Small worlds in which many searches fail late. A world is its seed's.
class RandomWorld {
 public:
  explicit RandomWorld(uint32_t seed) : random_(seed) {}

  std::string Make() {
    Json devices = Json::array();
    for (int i = Draw(4, 9); i > 0; --i) devices.push_back(Device(i));
    const Json pool = {{"name", "p"}, {"generation", 1}, {"resourceSliceCount", 2}};
    const Json place = {{"driver", kDriver}, {"nodeName", "n1"}, {"pool", pool}};
    Json with_devices = place;
    with_devices["devices"] = devices;
    Json with_counters = place;
    with_counters["sharedCounters"] = Parsed(
        "[{'name':'A','counters':{'c':{'value':'7'}}},{'name':'B','counters':{'c':{'value':'4'}}}"
        "]");
    Json request = {
        {"slices", Json::array({{{"metadata", {{"name", "s"}}}, {"spec", with_devices}},
                                {{"metadata", {{"name", "t"}}}, {"spec", with_counters}}})},
        {"node", {{"metadata", {{"name", "n1"}}}}},
        {"classes", Parsed("[{'metadata':{'name':'gpu'},'spec':{}}]")},
        {"dedicated", dedicated_}};
    request["claims"] = Json::array();
    for (int i = Draw(1, 2); i > 0; --i) request["claims"].push_back(Claim(i));
    return request.dump();
  }

 private:
  int Draw(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<uint32_t>(most - least + 1));
  }
  bool One(int in) { return Draw(1, in) == 1; }

  Json Device(int number) {
    const std::string name = "d" + std::to_string(number);
    Json device = {{"name", name},
                   {"attributes",
                    {{"numa", {{"int", Draw(0, 2)}}},
                     {"rack", One(3) ? Json{{"ints", {0, Draw(0, 1)}}} : Json{{"int", Draw(0, 1)}}},
                     {"uuid", {{"string", name}}}}}};
    if (One(4)) device["attributes"].erase("numa");
    if (One(3)) {
      device["allowMultipleAllocations"] = true;
      device["capacity"] = Parsed("{'mem':{'value':'4','requestPolicy':{'default':'1'}}}");
    }
    if (One(2)) {
      Json use = {{"counterSet", One(2) ? "A" : "B"}};
      if (!One(4)) use["counters"] = {{"c", {{"value", std::to_string(Draw(1, 3))}}}};
      if (One(2))
        use["compatibilityGroups"] = One(2) ? Json::array({"g"}) : Json::array({"g", "h"});
      device["consumesCounters"] = Json::array({use});
    }
    if (One(6)) device["taints"] = Parsed("[{'key':'k','effect':'NoSchedule'}]");
    if (One(5)) dedicated_.push_back({kDriver, "p", name});
    return device;
  }

  Json Exactly() {
    Json exactly = {
        {"deviceClassName", "gpu"}, {"allocationMode", "ExactCount"}, {"count", Draw(1, 3)}};
    if (One(8)) {
      exactly = Parsed("{'deviceClassName':'gpu','allocationMode':'All'}");
    } else if (One(8)) {
      exactly["adminAccess"] = true;
    }
    const int numa = Draw(0, 2);
    if (One(2)) {
      exactly["selectors"] = Json::array(
          {{{"cel",
             {{"expression", "device.attributes['drv.example'].?numa.orValue(0) " +
                                 std::string(One(2) ? "==" : "!=") + std::to_string(numa)}}}}});
    }
    if (One(3)) exactly["tolerations"] = Parsed("[{'operator':'Exists'}]");
    return exactly;
  }

  Json Claim(int number) {
    Json requests = Json::array();
    for (int i = Draw(1, 3); i > 0; --i) {
      const std::string name = "r" + std::to_string(i);
      if (One(4)) {
        Json first = Exactly();
        Json second = Exactly();
        for (Json* one : {&first, &second}) {
          one->erase("adminAccess");
          (*one)["name"] = one == &first ? "a" : "b";
        }
        requests.push_back({{"name", name}, {"firstAvailable", {first, second}}});
      } else {
        requests.push_back({{"name", name}, {"exactly", Exactly()}});
      }
    }
    Json devices = {{"requests", requests}, {"constraints", Json::array()}};
    for (int i = Draw(0, 2); i > 0; --i) {
      const std::string attribute = std::string("drv.example/") + (One(2) ? "numa" : "rack");
      devices["constraints"].push_back(
          {{One(3) ? "distinctAttribute" : "matchAttribute", attribute},
           {"requests", One(3) ? Json::array({"r1"}) : Json::array()}});
    }
    return {{"metadata", {{"name", "x" + std::to_string(number)}, {"namespace", "ns"}}},
            {"spec", {{"devices", devices}}}};
  }

  std::mt19937 random_;
  Json dedicated_ = Json::array();
};

TEST(DeadEndsProperty, MemoryChoosesAsBlindSearchDoes) {
  int without_solution = 0;
  for (const AllocatorFeatures& features : {AllocatorFeatures{}, kAllGates}) {
    dra_compare::Subject blind(features);
    blind.SetPatience(SIZE_MAX);
    blind.SetMaxSteps(100'000);
    dra_compare::Subject remembers(features);
    remembers.SetPatience(0);
    for (uint32_t seed = 1; seed <= 250; ++seed) {
      const std::string world = RandomWorld(seed).Make();
      const std::string wanted = blind.Answer(world);
      if (wanted.find("too many steps") != std::string::npos) continue;
      ASSERT_EQ(remembers.Answer(world), wanted) << "seed " << seed << ": " << world;
      without_solution += wanted == "{}" ? 1 : 0;
    }
  }
  EXPECT_GT(without_solution, 60);
}

// `count` devices; `attributes` of the i-th with I for its number, M for a fifteenth of it.
std::string Many(int count, const std::string& fields) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string device = "{'name':'dI','attributes':{'uuid':{'string':'I'}," + fields + "}";
    for (size_t at = device.find('I'); at != std::string::npos; at = device.find('I')) {
      device.replace(at, 1, std::to_string(i));
    }
    for (size_t at = device.find('M'); at != std::string::npos; at = device.find('M')) {
      device.replace(at, 1, std::to_string(i / 15));
    }
    text += (text.empty() ? "" : ",") + device;
  }
  return "[" + text + "]";
}

struct HardCase {
  Example example;
  size_t steps = 0;  // that suffice
};

TEST(DeadEnds, SearchesThatWouldNotEnd) {
  const std::string request = "{'deviceClassName':'gpu','allocationMode':'ExactCount','count':";
  const std::string gpus = "[{'name':'r','exactly':" + request + "16}}]";
  const std::string two = "[{'name':'r','exactly':" + request +
                          "4}},{'name':'n','exactly':" + request +
                          "1,'selectors':[{'cel':{'expression':"
                          "'device.attributes[\\\"drv.example\\\"].?nic.orValue(false)'}}]}}]";
  const std::string numa = Many(60, "'numa':{'int':M}}");
  const std::string late = numa.substr(0, numa.size() - 1) +
                           ",{'name':'n0','attributes':{'nic':{'bool':true},'numa':{'int':3}}}]";
  const std::string parts =
      Many(40,
           "'n':{'int':M}},'consumesCounters':[{'counterSet':'A','counters':{'c':{'value':"
           "'1M'}}}]");
  const HardCase cases[] = {
      {{.name = "the second request has no device",
        .devices = numa,
        .requests = two,
        .wanted = kNoSolution},
       3000},
      {{.name = "too few devices of each value",
        .devices = numa,
        .requests = gpus,
        .constraints = "[{'matchAttribute':'drv.example/numa'}]",
        .wanted = kNoSolution},
       3000},
      {{.name = "the last value has what the second request needs",
        .devices = late,
        .requests = two,
        .constraints = "[{'matchAttribute':'drv.example/numa'}]",
        .wanted = "r=d45 r=d46 r=d47 r=d48 n=n0"},
       3000},
      {{.name = "counters",
        .devices = parts,
        .requests = gpus,
        .slice = "{'pool':{'name':'p','generation':1,'resourceSliceCount':2}}",
        .more = "[{'metadata':{'name':'t'},'spec':{'driver':'drv.example','nodeName':'n1','pool':{"
                "'name':'p','generation':1,'resourceSliceCount':2},'sharedCounters':[{'name':'A',"
                "'counters':{'c':{'value':'69'}}}]}}]",
        .wanted = kNoSolution},
       20000},
  };
  for (const HardCase& c : cases) {
    SCOPED_TRACE(c.example.name);
    dra_compare::Subject subject;
    subject.SetMaxSteps(c.steps);
    EXPECT_EQ(Shown(subject.Answer(Request(c.example))), c.example.wanted);
    subject.SetPatience(SIZE_MAX);
    EXPECT_NE(Shown(subject.Answer(Request(c.example))).find("too many steps"), std::string::npos);
  }
}

}  // namespace
}  // namespace ks::plugins
