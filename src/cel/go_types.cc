// SPDX-License-Identifier: Apache-2.0
// The names that upstream's implementation gives its values, where messages show them.
#include "cel/node.h"

namespace ks::cel {

std::string_view GoTypeName(const Value& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "types.Null";
    case Kind::kBool:
      return "types.Bool";
    case Kind::kInt:
      return "types.Int";
    case Kind::kUint:
      return "types.Uint";
    case Kind::kDouble:
      return "types.Double";
    case Kind::kString:
      return "types.String";
    case Kind::kBytes:
      return "types.Bytes";
    case Kind::kDuration:
      return "types.Duration";
    case Kind::kTimestamp:
      return "types.Timestamp";
    case Kind::kType:
      return "*types.Type";
    case Kind::kList:
      return value.list->grows_for != 0 ? "*types.mutableList"
             : value.list->joined       ? "*types.concatList"
                                        : "*types.baseList";
    case Kind::kMap:
      return value.map->grows_for != 0 ? "*types.mutableMap"
             : value.map->complete     ? "cel.mapper"
                                       : "*types.baseMap";
    case Kind::kOptional:
      return "*types.Optional";
    case Kind::kQuantity:
      return value.offset == 0 ? "cel.Quantity" : "*cel.Quantity";
    case Kind::kSemver:
      return "cel.Semver";
    case Kind::kUrl:
      return "cel.URL";
    case Kind::kIp:
      return "cel.IP";
    case Kind::kCidr:
      return "cel.CIDR";
    case Kind::kFormat:
      return "cel.Format";
    default:
      return "*types.protoObj";
  }
}

std::optional<std::string_view> UnhashableType(const Value& key) {
  if (key.is(Kind::kBytes) || key.is(Kind::kSemver) || key.is(Kind::kFormat)) {
    return GoTypeName(key);
  }
  return std::nullopt;
}

}  // namespace ks::cel
