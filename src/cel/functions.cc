// SPDX-License-Identifier: Apache-2.0
#include "cel/functions.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/text_hash.h"

namespace ks::cel {
namespace {

struct Row {
  OverloadId id;
  std::string_view function;
  std::string_view signatures;
};

constexpr auto kRows = std::to_array<Row>({
#define KS_CEL_OVERLOAD(id, function, signatures) {OverloadId::id, function, signatures},
#include "cel/overloads.inc"
#undef KS_CEL_OVERLOAD
});

struct NamedType {
  std::string_view word;
  TypePtr type;
};

// The words of the table's signatures.
const std::vector<NamedType>& NamedTypes() {
  static const std::vector<NamedType> types = {
      {"bool", SimpleType(TypeKind::kBool)},
      {"bytes", SimpleType(TypeKind::kBytes)},
      {"double", SimpleType(TypeKind::kDouble)},
      {"duration", SimpleType(TypeKind::kDuration)},
      {"dyn", SimpleType(TypeKind::kDyn)},
      {"int", SimpleType(TypeKind::kInt)},
      {"string", SimpleType(TypeKind::kString)},
      {"timestamp", SimpleType(TypeKind::kTimestamp)},
      {"uint", SimpleType(TypeKind::kUint)},
      {"net.CIDR", OpaqueType("net.CIDR")},
      {"net.IP", OpaqueType("net.IP")},
      {"NamedFormat", OpaqueType("kubernetes.NamedFormat")},
      {"Quantity", OpaqueType("kubernetes.Quantity")},
      {"Semver", OpaqueType("kubernetes.Semver")},
      {"URL", OpaqueType("kubernetes.URL")},
      {"Authorizer", OpaqueType("kubernetes.authorization.Authorizer")},
      {"Decision", OpaqueType("kubernetes.authorization.Decision")},
      {"GroupCheck", OpaqueType("kubernetes.authorization.GroupCheck")},
      {"PathCheck", OpaqueType("kubernetes.authorization.PathCheck")},
      {"ResourceCheck", OpaqueType("kubernetes.authorization.ResourceCheck")},
  };
  return types;
}

// Reads one signature of the table; `each` stands for "@". What it cannot read is a slip in the
// table, which the first look-up of any function brings to light.
class SignatureReader {
 public:
  SignatureReader(std::string_view text, TypePtr each) : rest_(text), each_(std::move(each)) {}

  Overload Read() {
    Overload overload;
    if (!Take("(")) {
      overload.member = true;
      overload.params.push_back(ReadType());
      KS_CHECK(Take(".("), std::string(rest_));
    }
    while (!Take(")")) {
      overload.params.push_back(ReadType());
      Take(", ");
    }
    KS_CHECK(Take(" "), std::string(rest_));
    overload.result = ReadType();
    KS_CHECK(rest_.empty(), std::string(rest_));
    return overload;
  }

 private:
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  TypePtr ReadType() {
    if (Take("@")) return each_;
    if (Take("list(")) return Close(ListType(ReadType()));
    if (Take("optional(")) return Close(OptionalType(ReadType()));
    if (Take("type(")) return Close(TypeType(ReadType()));
    if (Take("map(")) {
      TypePtr key = ReadType();
      KS_CHECK(Take(", "), std::string(rest_));
      return Close(MapType(std::move(key), ReadType()));
    }
    for (const NamedType& named : NamedTypes()) {
      if (Take(named.word)) return named.type;
    }
    KS_CHECK(!rest_.empty() && rest_[0] >= 'A' && rest_[0] <= 'Z', std::string(rest_));
    TypePtr param = ParamType(rest_.substr(0, 1));
    rest_.remove_prefix(1);
    return param;
  }

  TypePtr Close(TypePtr type) {
    KS_CHECK(Take(")"), std::string(rest_));
    return type;
  }

  std::string_view rest_;
  TypePtr each_;
};

// The next part of `rest` up to `separator`, which is dropped.
std::string_view TakePart(std::string_view& rest, std::string_view separator) {
  const size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + separator.size());
  return part;
}

void AddOverloads(const Row& row, std::vector<Overload>& overloads) {
  std::string_view each = row.signatures;
  std::string_view signatures = TakePart(each, " | ");
  const bool has_each = !each.empty();
  do {
    const std::string_view word = TakePart(each, " ");
    TypePtr type;
    if (has_each) {
      const auto found = std::find_if(NamedTypes().begin(), NamedTypes().end(),
                                      [&](const NamedType& named) { return named.word == word; });
      KS_CHECK(found != NamedTypes().end(), std::string(word));
      type = found->type;
    }
    for (std::string_view rest = signatures; !rest.empty();) {
      Overload overload = SignatureReader(TakePart(rest, "; "), type).Read();
      overload.id = row.id;
      overloads.push_back(std::move(overload));
    }
  } while (!each.empty());
}

std::unordered_map<std::string_view, Function, TextHash> ReadTable() {
  std::unordered_map<std::string_view, Function, TextHash> functions;
  for (const Row& row : kRows) {
    Function& function = functions[row.function];
    function.name = row.function;
    AddOverloads(row, function.overloads);
  }
  return functions;
}

}  // namespace

const Function* FindFunction(std::string_view name) {
  static const auto functions = ReadTable();
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : &found->second;
}

std::string_view FunctionName(OverloadId id) {
  KS_CHECK(id < OverloadId::kCount, "no overload");
  return kRows[static_cast<size_t>(id)].function;
}

}  // namespace ks::cel
