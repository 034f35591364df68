// SPDX-License-Identifier: Apache-2.0
#include "config/print/print_args.h"

#include <variant>

#include "config/args_type.h"

namespace ks::config {
namespace {

// Arguments without a type.
void AppendUntyped(const PluginArgs& args, JsonBuilder& out) {
  if (const auto* raw = std::get_if<RawArgs>(&args)) {
    out.Json(JsonForHtml(raw->json));
  } else {
    out.Null();
  }
}

}  // namespace

void AppendArgs(const PluginArgs& args, JsonBuilder& out) {
  if (const ArgsType* type = ArgsTypeOf(args)) {
    type->append(args, out);
  } else {
    AppendUntyped(args, out);
  }
}

std::string GoArgsJson(const PluginArgs& args) {
  JsonBuilder out;
  if (const ArgsType* type = ArgsTypeOf(args)) {
    type->append_go(args, out);
  } else {
    AppendUntyped(args, out);
  }
  return out.Take();
}

}  // namespace ks::config
