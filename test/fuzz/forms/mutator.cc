// SPDX-License-Identifier: Apache-2.0
#include "fuzz/forms/mutator.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

namespace ks::fuzz {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostSeen = 24;  // values of a place
constexpr size_t kMostCopied = 4000;

using std::string_view_literals::operator""sv;

constexpr std::string_view kTexts[] = {
    // Any text.
    ""sv, "a"sv, " "sv, "x/y"sv, "a.b/c"sv, "ü\"<&>"sv, "\\"sv, "a\0b"sv, "\x01\x7f"sv,
    "\xe2\x80\xa8"sv, "\xf0\x9f\x99\x82"sv, "\xef\xbf\xbd"sv, "null"sv, "true"sv, "false"sv, "{}"sv,
    "[]"sv,
    // Words of the API.
    "Always"sv, "Never"sv, "In"sv, "NotIn"sv, "Exists"sv, "DoesNotExist"sv, "Gt"sv, "Lt"sv,
    "Equal"sv, "True"sv, "False"sv, "All"sv, "ExactCount"sv, "NoSchedule"sv, "TCP"sv, "Local"sv,
    "Block"sv, "Managed"sv, "RestartAllContainers"sv, "cpu"sv, "memory"sv, "storage"sv,
    // Quantities.
    "0"sv, "1"sv, "-1"sv, "+1"sv, "-0"sv, "00"sv, ".5"sv, "5."sv, "0.1"sv, "100m"sv, "1500m"sv,
    "1n"sv, "1u"sv, "0.0000000001"sv, "1Ki"sv, "1.5Gi"sv, "-3Mi"sv, "1k"sv, "1e3"sv, "1E3"sv,
    "1E"sv, "1e-9"sv, "1e18"sv, "12e6"sv, "9223372036854775807"sv, "9223372036854775808"sv,
    "99999999999999999999999"sv, "8Ei"sv, "1e30"sv,
    // Times.
    "0001-01-01T00:00:00Z"sv, "1970-01-01T00:00:00Z"sv, "1969-12-31T23:59:59Z"sv,
    "1900-01-01T00:00:00Z"sv, "1677-09-21T00:12:43Z"sv, "1677-09-21T00:12:44Z"sv,
    "2026-01-02T03:04:05Z"sv, "2026-01-02T03:04:05.000001Z"sv, "2026-01-02T03:04:05.999999Z"sv,
    "2026-01-02T03:04:05+01:00"sv, "2255-03-14T16:00:00Z"sv, "2255-03-14T16:00:01Z"sv,
    "2262-04-11T23:47:16Z"sv, "2262-04-11T23:47:17Z"sv, "2500-01-01T00:00:00Z"sv,
    "9999-12-31T23:59:59Z"sv, "1969-12-31T23:59:59.999999Z"sv, "1970-01-01T00:00:00.000001Z"sv};

constexpr int64_t kNumbers[] = {0,
                                1,
                                -1,
                                2,
                                7,
                                127,
                                128,
                                255,
                                256,
                                -128,
                                65535,
                                std::numeric_limits<int32_t>::max(),
                                std::numeric_limits<int32_t>::min(),
                                int64_t{1} << 31,
                                int64_t{1} << 53,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};

std::string Below(const std::string& place, const std::string& field) {
  return place + '.' + field;
}
std::string Elements(const std::string& place) { return place + "[]"; }

// Each value of an object, with its place.
void Collect(Json& value, const std::string& place,
             std::vector<std::pair<Json*, std::string>>& out) {
  out.emplace_back(&value, place);
  if (value.is_object()) {
    for (auto& [field, member] : value.items()) Collect(member, Below(place, field), out);
  } else if (value.is_array()) {
    for (Json& element : value) Collect(element, Elements(place), out);
  }
}

}  // namespace

void Mutator::Learn(const Json& object) { Learn(object, ""); }

void Mutator::Learn(const Json& value, const Place& place) {
  std::vector<Json>& seen = values_[place];
  if (seen.size() < kMostSeen) {
    seen.push_back(value);
  } else if (OneIn(4)) {
    seen[random_.Below(seen.size())] = value;
  }
  if (value.is_object()) {
    for (const auto& [field, member] : value.items()) {
      if (known_[place].insert(field).second) fields_[place].push_back(field);
      Learn(member, Below(place, field));
    }
  } else if (value.is_array()) {
    for (const Json& element : value) Learn(element, Elements(place));
  }
}

Json Mutator::Mutate(const Json& object) {
  Json changed = object;
  const uint64_t changes = 1 + random_.Below(6);
  for (uint64_t i = 0; i < changes; ++i) ChangeOnce(changed);
  for (const char* const field : {"apiVersion", "kind"}) changed[field] = object.at(field);
  return changed;
}

void Mutator::ChangeOnce(Json& object) {
  std::vector<std::pair<Json*, std::string>> values;
  Collect(object, "", values);
  if (values.size() == 1) return ChangeObject(object, "");
  const auto& [value, place] = values[1 + random_.Below(values.size() - 1)];
  Change(*value, place);
}

void Mutator::Change(Json& value, const Place& place) {
  if (OneIn(24)) {
    value = Json();
  } else if (OneIn(6)) {
    value = Seen(place);
  } else if (OneIn(60)) {  // most likely of another type
    value = Seen(
        std::next(values_.begin(), static_cast<int64_t>(random_.Below(values_.size())))->first);
  } else if (value.is_object()) {
    ChangeObject(value, place);
  } else if (value.is_array()) {
    ChangeList(value, place);
  } else if (value.is_string()) {
    ChangeText(value);
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else if (value.is_number()) {
    ChangeNumber(value);
  } else {
    value = Seen(place);
  }
}

void Mutator::ChangeObject(Json& object, const Place& place) {
  const std::vector<std::string>& fields = fields_[place];
  const uint64_t way = random_.Below(8);
  if (way == 0) {
    object = Json::object();
  } else if (way <= 2 && !object.empty()) {
    object.erase(std::next(object.begin(), static_cast<int64_t>(random_.Below(object.size()))));
  } else if (way == 3 && !object.empty()) {  // another name: of a map, or one that nobody knows
    const Json value =
        *std::next(object.begin(), static_cast<int64_t>(random_.Below(object.size())));
    object[std::string(Any(kTexts))] = value;
  } else if (!fields.empty()) {
    const std::string& field = Any(fields);
    object[field] = Seen(Below(place, field));
  }
}

void Mutator::ChangeList(Json& list, const Place& place) {
  const auto any = [&] {
    return std::next(list.begin(), static_cast<int64_t>(random_.Below(list.size())));
  };
  switch (random_.Below(list.empty() ? 2 : 7)) {
    case 0:
      list.push_back(Seen(Elements(place)));
      break;
    case 1:
      list.insert(list.begin(), Seen(Elements(place)));
      break;
    case 2:
      list.erase(any());
      break;
    case 3:
      list.push_back(Json(*any()));
      break;
    case 4:
      std::swap(*any(), *any());
      break;
    case 5:
      list.clear();
      break;
    default:
      *any() = Json::object();
  }
}

void Mutator::ChangeText(Json& text) {
  std::string changed = text.get<std::string>();
  switch (random_.Below(6)) {
    case 0:
      changed += Any(kTexts);
      break;
    case 1:
      changed.assign(1 + random_.Below(300), 'a');  // more than a byte of length
      break;
    default:
      changed = Any(kTexts);
  }
  text = changed;
}

void Mutator::ChangeNumber(Json& number) {
  if (OneIn(30)) {
    number = 1.5;
  } else if (OneIn(4)) {
    number = static_cast<int64_t>(random_.Next() >> random_.Below(64));
  } else {
    number = Any(kNumbers);
  }
}

Json Mutator::Seen(const Place& place) {
  const auto found = values_.find(place);
  if (found == values_.end()) return {};
  const Json& value = Any(found->second);
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).size() > kMostCopied ? Json()
                                                                                         : value;
}

std::vector<Json> Smaller(const Json& object) {
  std::vector<Json> smaller;
  const Json flat = object.flatten();
  std::set<std::string> paths;  // of all parts, the large ones first
  for (const auto& [path, value] : flat.items()) {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      paths.insert(path.substr(0, end));
      if (end == std::string::npos) break;
    }
  }
  for (const std::string& path : paths) {
    if (path.empty() || path == "/apiVersion" || path == "/kind") continue;
    const Json::json_pointer pointer(path);
    Json less = object;
    Json& parent = less.at(pointer.parent_pointer());
    if (parent.is_array()) {
      parent.erase(std::stoul(pointer.back()));
    } else {
      parent.erase(pointer.back());
    }
    smaller.push_back(std::move(less));
  }
  return smaller;
}

}  // namespace ks::fuzz
