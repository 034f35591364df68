// SPDX-License-Identifier: Apache-2.0
#include "scheduler/extenders/extender_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "api/decode/decoder.h"
#include "config/text/json_document.h"

namespace ks::scheduler {
namespace {

using framework::ExtenderReply;
using nlohmann::json;

std::string Quote(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

Error NoRaw(std::string_view kind, const std::string& name) {
  return Error{fmt::format(
      "the whole object of {} {} is not at hand yet, so no extender can be asked; trying again",
      kind, name)};
}

// A pod that the scheduler has put on a node, and whose API object does not say so yet, is shown
// with its node.
std::string PodText(const api::Pod& pod) {
  if (pod.node_name.empty()) return *pod.raw;
  json object = json::parse(*pod.raw, nullptr, false);
  if (!object.is_object() || !object["spec"].is_object()) return *pod.raw;
  if (object["spec"].contains("nodeName")) return *pod.raw;
  object["spec"]["nodeName"] = pod.node_name.str();
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

const char* KindOf(const json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_array()) return "array";
  if (value.is_object()) return "object";
  return "number";
}

// Reads the fields of one JSON object into variables. The first fault stays.
class Fields {
 public:
  Fields(const json& object, std::string_view type) : object_(object), type_(type) {}

  // Null when missing or null.
  const json* Find(std::string_view key) const {
    const json* found = nullptr;
    for (auto it = object_.begin(); it != object_.end(); ++it) {
      if (it.key() == key) return it->is_null() ? nullptr : &*it;
      if (EqualsIgnoringCase(it.key(), key)) found = &*it;
    }
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  bool Text(std::string_view key, std::string& out) {
    const json* value = Find(key);
    if (value == nullptr) return true;
    if (!value->is_string()) return Wrong(key, *value, "string");
    out = value->get<std::string>();
    return true;
  }
  bool Integer(std::string_view key, int64_t& out) {
    const json* value = Find(key);
    if (value == nullptr) return true;
    const bool fits = value->is_number_integer() &&
                      (!value->is_number_unsigned() || value->get<uint64_t>() <= INT64_MAX);
    if (!fits) return Wrong(key, *value, "int64");
    out = value->get<int64_t>();
    return true;
  }
  bool Names(std::string_view key, std::optional<std::vector<std::string>>& out) {
    const json* value = Find(key);
    if (value == nullptr) return true;
    if (!value->is_array()) return Wrong(key, *value, "[]string");
    out.emplace();
    for (const json& element : *value) {
      if (!element.is_string() && !element.is_null()) return Wrong(key, element, "string");
      out->push_back(element.is_null() ? std::string() : element.get<std::string>());
    }
    return true;
  }
  bool Texts(std::string_view key, std::string_view go_type,
             std::map<std::string, std::string>& out) {
    const json* value = Find(key);
    if (value == nullptr) return true;
    if (!value->is_object()) return Wrong(key, *value, go_type);
    for (auto it = value->begin(); it != value->end(); ++it) {
      if (!it->is_string() && !it->is_null()) return Wrong(key, *it, "string");
      out[it.key()] = it->is_null() ? std::string() : it->get<std::string>();
    }
    return true;
  }
  bool Wrong(std::string_view key, const json& value, std::string_view wanted) {
    std::string kind = KindOf(value);
    if (value.is_number() && wanted == "int64") kind += " " + value.dump();
    return Fail(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", kind,
                            type_, key, wanted));
  }
  bool Fail(std::string message) {
    error_.message = std::move(message);
    return false;
  }
  const Error& error() const { return error_; }

 private:
  const json& object_;
  const std::string_view type_;
  Error error_;
};

// Why the text has no JSON value at its start.
Error SyntaxError(const std::string& body) {
  const bool blank = body.find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank) return Error{"EOF"};
  const auto parsed = config::ParseJsonDocument(body);
  const auto* fault = std::get_if<config::Finding>(&parsed);
  std::string text = fault == nullptr ? "invalid JSON" : fault->message;
  // What a configuration file's reader puts in front.
  constexpr std::string_view kPrefix = "json parse error: ";
  const size_t prefix = text.find(kPrefix);
  if (prefix != text.npos) text.erase(0, prefix + kPrefix.size());
  if (text.find("unexpected end of JSON input") != text.npos) return Error{"unexpected EOF"};
  return Error{text};
}

// The first JSON value of a successful reply; what follows it is not looked at.
Result<json> ReadValue(const ExtenderReply& reply, std::string_view verb, std::string_view url) {
  if (!reply.error.empty()) return Error{reply.error};
  if (reply.status != 200) {
    return Error{
        fmt::format("failed {} with extender at URL {}, code {}", verb, url, reply.status)};
  }
  // The parser would pass over it.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (reply.body.starts_with(kByteOrderMark)) return SyntaxError(reply.body);
  std::istringstream stream(reply.body);
  json value;
  try {
    stream >> value;
  } catch (const json::exception&) {
    return SyntaxError(reply.body);
  }
  return value;
}

// The same for an object; null is an empty one.
Result<json> ReadObject(const ExtenderReply& reply, std::string_view verb, std::string_view url,
                        std::string_view go_type) {
  Result<json> value = ReadValue(reply, verb, url);
  if (!value.ok()) return value;
  if (value->is_null()) return json::object();
  if (!value->is_object()) {
    return Error{
        fmt::format("json: cannot unmarshal {} into Go value of type {}", KindOf(*value), go_type)};
  }
  return value;
}

bool ReadNodes(Fields& fields, std::optional<std::vector<api::NodePtr>>& out) {
  const json* list = fields.Find("Nodes");
  if (list == nullptr) return true;
  if (!list->is_object()) return fields.Wrong("Nodes", *list, "v1.NodeList");
  out.emplace();
  const Fields list_fields(*list, "NodeList");
  const json* items = list_fields.Find("items");
  if (items == nullptr) return true;
  if (!items->is_array()) return fields.Wrong("Nodes.items", *items, "[]v1.Node");
  api::Decoder decoder;
  decoder.set_keep_raw(api::KeepRaw::kAll);
  for (const json& item : *items) {
    std::string text = item.dump(-1, ' ', false, json::error_handler_t::replace);
    const size_t size = text.size();
    text.append(api::kJsonPadding, ' ');
    const auto node = decoder.Object<api::Node>(std::string_view(text).substr(0, size));
    if (!node.ok()) return fields.Fail("Nodes.items: " + node.error().message);
    if (*node != nullptr) out->push_back(*node);
  }
  return true;
}

}  // namespace

Result<std::string> FilterRequestBody(const api::Pod& pod, std::span<const api::NodePtr> nodes,
                                      bool node_cache_capable) {
  if (pod.raw == nullptr) return NoRaw("pod", pod.meta.Key());
  std::string body = R"({"Pod":)" + PodText(pod);
  if (node_cache_capable) {
    body += R"(,"Nodes":null,"NodeNames":[)";
    std::string_view separator;
    for (const api::NodePtr& node : nodes) {
      body.append(std::exchange(separator, ",")).append(Quote(node->meta.name));
    }
    return body + "]}";
  }
  size_t size = body.size() + 64;
  for (const api::NodePtr& node : nodes) {
    if (node->raw == nullptr) return NoRaw("node", node->meta.name);
    size += node->raw->size() + 1;
  }
  body.reserve(size);
  body += R"(,"Nodes":{"metadata":{},"items":[)";
  std::string_view separator;
  for (const api::NodePtr& node : nodes) {
    body.append(std::exchange(separator, ",")).append(*node->raw);
  }
  return body + R"(]},"NodeNames":null})";
}

std::string BindRequestBody(const api::Pod& pod, std::string_view node) {
  return fmt::format(R"({{"PodName":{},"PodNamespace":{},"PodUID":{},"Node":{}}})",
                     Quote(pod.meta.name), Quote(pod.meta.ns.view()), Quote(pod.meta.uid),
                     Quote(node));
}

Result<std::string> PreemptRequestBody(const api::Pod& pod, const framework::VictimsByNode& victims,
                                       bool node_cache_capable) {
  if (pod.raw == nullptr) return NoRaw("pod", pod.meta.Key());
  std::string map = "{";
  for (const auto& [node, on_node] : victims) {
    if (map.size() > 1) map += ',';
    map += Quote(node) + R"(:{"Pods":[)";
    std::string_view separator;
    for (const api::PodPtr& victim : on_node.pods) {
      map += std::exchange(separator, ",");
      if (node_cache_capable) {
        map += R"({"UID":)" + Quote(victim->meta.uid) + "}";
      } else {
        if (victim->raw == nullptr) return NoRaw("pod", victim->meta.Key());
        map += PodText(*victim);
      }
    }
    map += fmt::format(R"(],"NumPDBViolations":{}}})", on_node.pdb_violations);
  }
  map += '}';
  const std::string none = "null";
  return R"({"Pod":)" + PodText(pod) + R"(,"NodeNameToVictims":)" +
         (node_cache_capable ? none : map) + R"(,"NodeNameToMetaVictims":)" +
         (node_cache_capable ? map : none) + "}";
}

Result<FilterAnswer> ReadFilterAnswer(const ExtenderReply& reply, std::string_view verb,
                                      std::string_view url) {
  Result<json> value = ReadObject(reply, verb, url, "v1.ExtenderFilterResult");
  if (!value.ok()) return value.error();
  Fields fields(*value, "ExtenderFilterResult");
  FilterAnswer answer;
  std::string error;
  const bool ok =
      ReadNodes(fields, answer.nodes) && fields.Names("NodeNames", answer.node_names) &&
      fields.Texts("FailedNodes", "v1.FailedNodesMap", answer.failed) &&
      fields.Texts("FailedAndUnresolvableNodes", "v1.FailedNodesMap", answer.unresolvable) &&
      fields.Text("Error", error);
  if (!ok) return fields.error();
  if (!error.empty()) return Error{error};
  return answer;
}

Result<std::vector<HostPriority>> ReadPrioritizeAnswer(const ExtenderReply& reply,
                                                       std::string_view verb,
                                                       std::string_view url) {
  Result<json> value = ReadValue(reply, verb, url);
  if (!value.ok()) return value.error();
  std::vector<HostPriority> priorities;
  if (value->is_null()) return priorities;
  if (!value->is_array()) {
    return Error{fmt::format("json: cannot unmarshal {} into Go value of type v1.HostPriorityList",
                             KindOf(*value))};
  }
  for (const json& element : *value) {
    HostPriority& priority = priorities.emplace_back();
    if (element.is_null()) continue;
    if (!element.is_object()) {
      return Error{fmt::format("json: cannot unmarshal {} into Go value of type v1.HostPriority",
                               KindOf(element))};
    }
    Fields fields(element, "HostPriority");
    if (!fields.Text("Host", priority.host) || !fields.Integer("Score", priority.score)) {
      return fields.error();
    }
  }
  return priorities;
}

Result<void> ReadBindAnswer(const ExtenderReply& reply, std::string_view verb,
                            std::string_view url) {
  Result<json> value = ReadObject(reply, verb, url, "v1.ExtenderBindingResult");
  if (!value.ok()) return value.error();
  Fields fields(*value, "ExtenderBindingResult");
  std::string error;
  if (!fields.Text("Error", error)) return fields.error();
  if (!error.empty()) return Error{error};
  return {};
}

Result<framework::MetaVictimsByNode> ReadPreemptAnswer(const ExtenderReply& reply,
                                                       std::string_view verb,
                                                       std::string_view url) {
  Result<json> value = ReadObject(reply, verb, url, "v1.ExtenderPreemptionResult");
  if (!value.ok()) return value.error();
  Fields fields(*value, "ExtenderPreemptionResult");
  constexpr std::string_view kMap = "NodeNameToMetaVictims";
  framework::MetaVictimsByNode victims;
  const json* map = fields.Find(kMap);
  if (map == nullptr) return victims;
  if (!map->is_object()) {
    fields.Wrong(kMap, *map, "map[string]*v1.MetaVictims");
    return fields.error();
  }
  for (auto it = map->begin(); it != map->end(); ++it) {
    framework::MetaVictims& on_node = victims[it.key()];
    if (it->is_null()) continue;
    if (!it->is_object()) {
      fields.Wrong(kMap, *it, "v1.MetaVictims");
      return fields.error();
    }
    Fields entry(*it, "MetaVictims");
    if (!entry.Integer("NumPDBViolations", on_node.pdb_violations)) return entry.error();
    const json* pods = entry.Find("Pods");
    if (pods == nullptr) continue;
    if (!pods->is_array()) {
      entry.Wrong("Pods", *pods, "[]*v1.MetaPod");
      return entry.error();
    }
    for (const json& pod : *pods) {
      if (!pod.is_object()) {
        entry.Wrong("Pods", pod, "v1.MetaPod");
        return entry.error();
      }
      Fields meta(pod, "MetaPod");
      if (!meta.Text("UID", on_node.uids.emplace_back())) return meta.error();
    }
  }
  return victims;
}

}  // namespace ks::scheduler
