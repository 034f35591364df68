// SPDX-License-Identifier: Apache-2.0
#include "config/read/routing.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/selector.h"
#include "config/args_type.h"
#include "config/types.h"
#include "golang/quote.h"

namespace ks::config {
namespace {

constexpr std::string_view kScheme = " in scheme \"pkg/runtime/scheme.go:111\"";

bool EqualFold(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x + ('a' - 'A')) : x) == y;
  });
}

// One of the two fields.
struct TypeField {
  std::string_view name;   // "apiVersion"
  std::string_view lower;  // "apiversion"
  std::string text;
  Place place;
};

struct GroupVersion {
  std::string group;
  std::string version;

  std::string Text() const { return group.empty() ? version : group + "/" + version; }
  std::string Described() const {
    if (version == "__internal") return "the internal version of group " + golang::Quote(group);
    return "version " + golang::Quote(Text());
  }
};

std::optional<GroupVersion> ParseGroupVersion(const std::string& text) {
  if (text.empty() || text == "/") return GroupVersion{};
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return GroupVersion{.group = "", .version = text};
  if (text.find('/', slash + 1) != std::string::npos) return std::nullopt;
  return GroupVersion{.group = text.substr(0, slash), .version = text.substr(slash + 1)};
}

constexpr std::string_view kParseError = "couldn't get version/kind; json parse error: json: ";

// Fills the fields; the error if the object has no such fields.
std::optional<Finding> ReadTypeFields(const Value& object, Syntax syntax,
                                      std::array<TypeField, 2>& fields) {
  if (object.IsNull()) return std::nullopt;
  if (!object.IsMapping()) {
    return Finding{.message = std::string(kParseError) + "cannot unmarshal " +
                              std::string(KindName(object.kind)) +
                              " into Go value of type struct { APIVersion string "
                              "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                              "\"json:\\\"kind,omitempty\\\"\" }",
                   .place = object.place,
                   .hint = "a mapping of fields is needed here"};
  }
  for (const Member* member : VisibleMembers(object, syntax)) {
    const auto field = std::ranges::find_if(
        fields, [&](const TypeField& each) { return EqualFold(member->key, each.lower); });
    if (field == fields.end()) continue;
    if (!member->value.IsNull() && !member->value.IsString()) {
      return Finding{.path = member->key,
                     .message = std::string(kParseError) + "cannot unmarshal " +
                                std::string(KindName(member->value.kind)) +
                                " into Go struct field ." + std::string(field->name) +
                                " of type string",
                     .place = member->value.place,
                     .hint = "put the value into quotes"};
    }
    field->place = member->place;
    if (member->value.IsString()) field->text = member->value.text;
  }
  return std::nullopt;
}

std::string WrongKindHint(const GroupVersion& version, const std::string& kind) {
  constexpr std::string_view kOld[] = {"v1alpha1", "v1alpha2", "v1beta1", "v1beta2", "v1beta3"};
  const bool old =
      version.group == kGroup && std::ranges::find(kOld, version.version) != std::end(kOld);
  if (old || kind == "Policy") {
    return (kind == "Policy" ? "scheduler policies are" : "this version is") +
           std::string(" no longer read; \"kubeschedctl convert FILE\" writes the file anew for ") +
           std::string(kApiVersion);
  }
  return "kubesched reads apiVersion: " + std::string(kApiVersion) +
         ", kind: " + std::string(kKind);
}

}  // namespace

bool IsKnownKind(std::string_view kind) { return kind == kKind || FindArgsKind(kind) != nullptr; }

std::variant<std::string, Finding> KindOf(const Value& object, Syntax syntax, std::string_view text,
                                          std::string_view default_kind) {
  std::array<TypeField, 2> fields = {
      {{"apiVersion", "apiversion", {}, {}}, {"kind", "kind", {}, {}}}};
  if (std::optional<Finding> error = ReadTypeFields(object, syntax, fields)) {
    return *std::move(error);
  }
  const TypeField& api_version = fields[0];
  TypeField& kind = fields[1];
  std::optional<GroupVersion> version = ParseGroupVersion(api_version.text);
  if (!version) {
    return Finding{.path = "apiVersion",
                   .message = "unexpected GroupVersion string: " + api_version.text,
                   .place = api_version.place,
                   .hint = "write apiVersion: " + std::string(kApiVersion)};
  }
  if (!default_kind.empty()) {
    if (kind.text.empty()) kind.text = default_kind;
    if (version->version.empty() && (version->group.empty() || version->group == kGroup)) {
      version = GroupVersion{.group = std::string(kGroup), .version = "v1"};
    }
  }
  if (kind.text.empty() || version->version.empty()) {
    const bool no_kind = kind.text.empty();
    return Finding{.message = std::string("Object '") + (no_kind ? "Kind" : "apiVersion") +
                              "' is missing in '" + std::string(text) + "'",
                   .hint = no_kind ? "add a line: kind: " + std::string(kKind)
                                   : "add a line: apiVersion: " + std::string(kApiVersion)};
  }
  if (version->Text() == kApiVersion && IsKnownKind(kind.text)) return kind.text;
  const bool right_version = version->Text() == kApiVersion;
  return Finding{.path = right_version ? "kind" : "apiVersion",
                 .message = "no kind " + golang::Quote(kind.text) + " is registered for " +
                            version->Described() + std::string(kScheme),
                 .place = right_version ? kind.place : api_version.place,
                 .hint = WrongKindHint(*version, kind.text)};
}

}  // namespace ks::config
