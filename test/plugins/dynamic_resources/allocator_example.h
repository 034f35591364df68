// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small worlds in which the allocator is asked once, in one row of a table each.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace ks::plugins {

using Json = nlohmann::json;

inline constexpr std::string_view kDriver = "drv.example";
inline constexpr std::string_view kNoSolution = "none";

// One pool `p` of one slice on node n1 unless `slices` says more, one claim `x`.
struct Example {
  std::string_view name;
  std::string_view devices;   // of the slice: JSON, single quotes for double ones
  std::string_view requests;  // of the claim
  std::string_view constraints = "[]";
  std::string_view state = "{}";  // dedicated, shared, consumed
  std::string_view slice = "{}";  // further fields of the slice's spec
  std::string_view node = "{}";   // further fields of the node
  std::string_view more = "[]";   // further slices
  std::string_view wanted;        // "r=d0 r=d1", "none", or an error's text
};

inline Json Parsed(std::string_view text) {
  std::string json(text);
  for (char& c : json) c = c == '\'' ? '"' : c;
  return Json::parse(json);
}

inline std::string Request(const Example& example) {
  Json spec = {{"driver", kDriver},
               {"nodeName", "n1"},
               {"pool", {{"name", "p"}, {"generation", 1}, {"resourceSliceCount", 1}}},
               {"devices", Parsed(example.devices)}};
  spec.update(Parsed(example.slice));
  Json request = {
      {"slices", Json::array({{{"metadata", {{"name", "s"}}}, {"spec", spec}}})},
      {"classes", Json::array({{{"metadata", {{"name", "gpu"}}}, {"spec", Json::object()}}})},
      {"node", {{"metadata", {{"name", "n1"}}}}}};
  request["node"].update(Parsed(example.node));
  for (const Json& slice : Parsed(example.more)) request["slices"].push_back(slice);
  const Json devices = {{"requests", Parsed(example.requests)},
                        {"constraints", Parsed(example.constraints)}};
  request["claims"] = Json::array(
      {{{"metadata", {{"name", "x"}, {"namespace", "ns"}}}, {"spec", {{"devices", devices}}}}});
  request.update(Parsed(example.state));
  return request.dump();
}

// What a row wants, of an answer.
inline std::string Shown(const std::string& answer) {
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
    for (const Json& one : result.value("skipNodeOperations", Json::array())) {
      shown += "(skips " + one.get<std::string>() + ")";
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

}  // namespace ks::plugins
