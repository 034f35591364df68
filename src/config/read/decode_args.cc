// SPDX-License-Identifier: Apache-2.0
#include "config/read/decode_args.h"

#include <utility>
#include <variant>

#include "config/args_type.h"
#include "config/read/decode_fields.h"
#include "config/read/routing.h"
#include "config/types.h"

namespace ks::config {
namespace {

void WrongKind(const std::string& plugin, const std::string& kind, const Value& value,
               const std::string& path, DecodedArgs& result) {
  const std::string group = "." + std::string(kGroup);
  const std::string text = "args for plugin " + plugin + " were not of type " + plugin + "Args" +
                           group + ", got " + kind + group;
  result.findings.push_back({.path = path,
                             .message = text,
                             .place = value.place,
                             .hint = "kind may be left out of args"});
  if (!result.fatal) result.fatal = text;
}

}  // namespace

DecodedArgs DecodePluginArgs(const std::string& plugin, const Value* value, Syntax syntax,
                             const std::string& path, SourceMap& source) {
  DecodedArgs result;
  const bool absent = value == nullptr || value->IsNull();
  const ArgsType* wanted = FindArgsType(plugin);
  if (wanted == nullptr) {
    if (!absent) result.args = RawArgs{.json = CompactJson(*value, syntax)};
    return result;
  }
  const Value none;
  const Value& args = absent ? none : *value;
  const std::string prefix = "decoding args for plugin " + plugin + ": ";
  const std::string text = CompactJson(args, syntax);
  std::variant<std::string, Finding> routed = KindOf(args, syntax, text, wanted->kind);
  if (Finding* error = std::get_if<Finding>(&routed)) {
    result.fatal = prefix + error->message;
    error->path = path + (error->path.empty() ? "" : "." + error->path);
    if (error->message.starts_with("no kind")) {
      error->hint = "apiVersion and kind may be left out of args";
    }
    result.findings.push_back(std::move(*error));
    return result;
  }
  const std::string& kind = std::get<std::string>(routed);
  Decoder decoder(syntax, path, source);
  if (const ArgsType* type = FindArgsKind(kind)) type->decode(decoder, args, result.args);
  if (!decoder.type_errors().empty()) result.fatal = prefix + decoder.type_errors().front().message;
  result.findings = decoder.type_errors();
  if (kind != wanted->kind) {
    WrongKind(plugin, kind, args, path, result);
    return result;
  }
  for (const Finding& error : decoder.strict_errors()) {
    result.strict.push_back(error.message);
    result.findings.push_back(error);
  }
  return result;
}

}  // namespace ks::config
