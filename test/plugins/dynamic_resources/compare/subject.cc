// SPDX-License-Identifier: Apache-2.0
#include "plugins/dynamic_resources/compare/subject.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/decode/decoder.h"
#include "api/json/encode_claim.h"
#include "base/check.h"
#include "plugins/dynamic_resources/allocated_state.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/results.h"
#include "plugins/dynamic_resources/slices.h"

namespace ks::plugins::dra_compare {
namespace {

using Json = nlohmann::json;

template <class T>
std::shared_ptr<const T> Decode(const Json& object) {
  api::Decoder decoder;
  std::string text = object.dump();
  text.reserve(text.size() + api::kJsonPadding);
  auto decoded = decoder.Object<T>(text);
  KS_CHECK(decoded.ok(), decoded.ok() ? "" : decoded.error().message);
  return *decoded;
}

api::Quantity ReadQuantity(const Json& text) {
  auto quantity = api::Quantity::Parse(text.get<std::string>());
  KS_CHECK(quantity.ok(), text.dump());
  return *quantity;
}

Symbol Name(const Json& id, size_t part) { return Symbol(id.at(part).get<std::string>()); }

// What would have been written into claims to make this state.
api::ClaimAllocation ReadState(const Json& request) {
  api::ClaimAllocation state;
  std::map<std::string, Json> consumed;
  for (const Json& one : request.value("consumed", Json::array())) {
    consumed[one.at("device").dump()] = one.at("capacity");
  }
  for (const Json& id : request.value("dedicated", Json::array())) {
    state.results.push_back(
        {.request = "", .driver = Name(id, 0), .pool = Name(id, 1), .device = Name(id, 2)});
  }
  for (const Json& id : request.value("shared", Json::array())) {
    api::DeviceResult& result = state.results.emplace_back();
    result.driver = Name(id, 0);
    result.pool = Name(id, 1);
    result.device = Name(id, 2);
    result.share_id = id.at(3).get<std::string>();
    const std::string key = Json::array({id[0], id[1], id[2]}).dump();
    for (const auto& [name, amount] : consumed[key].items()) {
      result.consumed_capacity.push_back({.name = Symbol(name), .value = ReadQuantity(amount)});
    }
    consumed.erase(key);
  }
  return state;
}

Json Write(const NodeAllocation& outcome, const AllocationPlan& plan, const NodePools& pools,
           const api::Node& node) {
  switch (outcome.verdict) {
    case NodeAllocation::Verdict::kFatal:
      return {{"error", outcome.text}};
    case NodeAllocation::Verdict::kNotOnNode:
      return {{"nodeError", outcome.text}};
    case NodeAllocation::Verdict::kNoSolution:
      return Json::object();
    case NodeAllocation::Verdict::kAllocated:
      break;
  }
  Json allocations = Json::array();
  for (const api::ClaimAllocation& claim : MakeAllocations(
           plan, pools, node.meta.name, outcome.picks, [] { return std::string("share"); })) {
    allocations.push_back(Json::parse(api::AllocationJson(&claim, std::nullopt)));
  }
  return {{"allocations", std::move(allocations)}};
}

// How many requests go by between two that are answered with tables of verdicts, too.
constexpr size_t kRequestsPerTable = 4;

// Of all devices, but for every third, which the attempt has to ask.
void MakeTables(const AllocationPlan& plan, const DeviceRow& row, VerdictTables& tables) {
  for (size_t i = 0; i < plan.alternatives(); ++i) {
    const std::shared_ptr<const SelectorSet>& set = plan.Alternative(i).selectors;
    if (set == nullptr || set->empty()) continue;
    auto table = std::make_shared<VerdictTable>(row);
    table->ForEachUnasked(
        row, [&set, place = size_t{0}](VerdictTable::Kept& kept, const auto& device) mutable {
          if (++place % 3 != 0) kept = static_cast<uint8_t>(set->Ask(device));
          return true;
        });
    tables.Keep(*set, std::move(table));
  }
}

}  // namespace

std::string Subject::Answer(std::string_view request) {
  const Json asked = Json::parse(request);
  DeviceNumbers numbers;
  SliceInventory inventory(engine_, numbers, features_);
  for (const Json& slice : asked.at("slices")) inventory.Set(Decode<api::ResourceSlice>(slice));
  std::map<Symbol, api::DeviceClassPtr> classes;
  for (const Json& one : asked.at("classes")) {
    const auto device_class = Decode<api::DeviceClass>(one);
    classes[Symbol(device_class->meta.name)] = device_class;
  }
  std::vector<api::ResourceClaimPtr> claims;
  for (const Json& claim : asked.at("claims")) claims.push_back(Decode<api::ResourceClaim>(claim));
  AllocatedState allocated(numbers, features_);
  allocated.Add(ReadState(asked));
  const api::NodePtr node = Decode<api::Node>(asked.at("node"));
  SelectorSets selectors(engine_);
  const auto find_class = [&classes](const Symbol& name) {
    const auto found = classes.find(name);
    return found == classes.end() ? api::DeviceClassPtr() : found->second;
  };
  const auto pools = inventory.PoolsOf(*node);
  const auto answer = [&](const AllocationPlan& plan) {
    const NodeAllocation outcome = AllocateDevices(
        plan, *pools, allocated,
        [this, steps = size_t{0}]() mutable {
          return std::string(++steps > max_steps_ ? "too many steps" : "");
        },
        patience_);
    return Write(outcome, plan, *pools, *node).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const AllocationPlan plan(claims, find_class, selectors, features_);
  const std::string answered = answer(plan);
  if (++asked_ % kRequestsPerTable == 0) {
    VerdictTables tables;
    MakeTables(plan, *inventory.Row(), tables);
    const AllocationPlan prepared(claims, find_class, selectors, features_, &tables);
    KS_CHECK(answer(prepared) == answered, "verdicts that were made beforehand differ");
  }
  return answered;
}

}  // namespace ks::plugins::dra_compare
