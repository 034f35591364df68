// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/subject.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cel/net.h"
#include "cel/program.h"
#include "cel/semver.h"

namespace ks::cel::compare {
namespace {

using Json = nlohmann::json;

std::string Escaped(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + '"';
}

std::string VersionText(const Semver& version) {
  std::string text = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  char separator = '-';
  for (const Semver::Identifier& part : version.prerelease) {
    text += separator;
    text += part.text.empty() ? std::to_string(part.number) : part.text;
    separator = '.';
  }
  return text;
}

std::string ListText(const List& list) {
  std::string text = "[";
  for (const Value& item : list) text += (text.size() > 1 ? ", " : "") + CanonicalText(item);
  return text + "]";
}

std::string MapText(const Map& map) {
  std::vector<std::string> entries;
  for (const Map::Entry& entry : map) {
    entries.push_back(CanonicalText(entry.key) + ": " + CanonicalText(entry.value));
  }
  std::sort(entries.begin(), entries.end());
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string DoubleText(double real) {
  if (std::isnan(real)) return "double(NaN)";
  return fmt::format("double({:016x})", std::bit_cast<uint64_t>(real));
}

template <class Item>
std::vector<Item> ReadList(const Json& values) {
  std::vector<Item> list;
  for (const Json& value : values) {
    if constexpr (std::is_same_v<Item, ks::cel::VersionText>) {
      list.push_back({value.get<std::string>()});
    } else {
      list.push_back(value.get<Item>());
    }
  }
  return list;
}

DeviceContent::AttributeValue ReadAttribute(const Json& attribute) {
  const auto entry = attribute.begin();
  const std::string& kind = entry.key();
  const Json& value = entry.value();
  if (kind == "int") return value.get<int64_t>();
  if (kind == "bool") return value.get<bool>();
  if (kind == "string") return value.get<std::string>();
  if (kind == "version") return ks::cel::VersionText{value.get<std::string>()};
  if (kind == "ints") return ReadList<int64_t>(value);
  if (kind == "bools") return ReadList<bool>(value);
  if (kind == "strings") return ReadList<std::string>(value);
  if (kind == "versions") return ReadList<ks::cel::VersionText>(value);
  return std::monostate{};
}

}  // namespace

std::string CanonicalText(const Value& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return value.boolean ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.integer);
    case Kind::kUint:
      return std::to_string(value.natural) + "u";
    case Kind::kDouble:
      return DoubleText(value.real);
    case Kind::kString:
      return Escaped(value.view());
    case Kind::kBytes:
      return "b" + Escaped(value.view());
    case Kind::kDuration:
      return fmt::format("duration({})", value.integer);
    case Kind::kTimestamp:
      return fmt::format("timestamp({}.{:09})", value.integer, value.nanos);
    case Kind::kType:
      return fmt::format("type({})", value.view());
    case Kind::kList:
      return ListText(*value.list);
    case Kind::kMap:
      return MapText(*value.map);
    case Kind::kOptional:
      return value.optional->present
                 ? fmt::format("optional({})", CanonicalText(value.optional->value))
                 : "optional.none";
    case Kind::kMessage:
      return fmt::format("object({})", value.message->type_name);
    case Kind::kQuantity:
      return fmt::format("quantity({})", value.quantity->ToString());
    case Kind::kSemver:
      return fmt::format("semver({})", VersionText(*value.semver));
    case Kind::kUrl:
      return fmt::format("url({})", value.url->Text());
    case Kind::kIp:
      return fmt::format("ip({})", value.ip->ToString());
    case Kind::kCidr:
      return fmt::format("cidr({})", value.cidr->ToString());
    case Kind::kFormat:
      return "format";
    case Kind::kDevice:
      return "device";
    case Kind::kError:
      break;
  }
  return fmt::format("error({})", value.view());
}

std::vector<DeviceContent> ReadDevices(std::string_view json) {
  const Json list = Json::parse(json);
  std::vector<DeviceContent> devices;
  for (const Json& device : list) {
    DeviceContent content{
        .driver = device.value("driver", ""),
        .allow_multiple_allocations = device.value("allowMultipleAllocations", false)};
    const Json attributes = device.value("attributes", Json::object());
    for (const auto& [name, attribute] : attributes.items()) {
      content.attributes.push_back({name, ReadAttribute(attribute)});
    }
    const Json capacities = device.value("capacity", Json::object());
    for (const auto& [name, capacity] : capacities.items()) {
      auto quantity = api::Quantity::Parse(capacity.at("value").get<std::string>());
      KS_CHECK(quantity.ok(), name);
      content.capacity.push_back({name, *quantity});
    }
    devices.push_back(std::move(content));
  }
  return devices;
}

Subject::Subject(std::string_view devices) {
  for (const DeviceContent& content : ReadDevices(devices)) {
    devices_.push_back(Device::Make(content));
  }
}

Outcome Subject::Answer(const Question& question) const {
  const bool selector = question.mode == Mode::kSelector;
  auto program = Program::Compile(question.expression,
                                  selector ? Program::Wanted::kSelector : Program::Wanted::kAny);
  if (!program.ok()) return {.compile_error = program.error().message};
  Outcome outcome{.type = (*program)->type_text()};
  if (question.mode == Mode::kCompile) return outcome;
  for (const auto& device : devices_) {
    Outcome::Evaluation& made = outcome.evaluations.emplace_back();
    if (selector) {
      const Verdict verdict = (*program)->EvaluateAnew(*device);
      made = {.error = verdict.error, .cost = verdict.cost};
      if (verdict.ok()) made.value = verdict.matches ? "true" : "false";
    } else {
      Context context(device.get(), {.cost = EvalOptions().cost_limit});
      const Value value = (*program)->Run(context);
      if (value.is_error()) {
        made.error = value.view();
      } else {
        made.value = CanonicalText(value);
      }
      made.cost = context.cost();
    }
  }
  return outcome;
}

}  // namespace ks::cel::compare
