// SPDX-License-Identifier: Apache-2.0
#include "ksdev/perf/object_template.h"

#include <utility>

#include "base/file_text.h"
#include "ksdev/perf/yaml_file.h"

namespace ks::ctl::dev::perf {
namespace {

using Json = nlohmann::json;

Result<Json> Object(const std::string& text, const std::string& path) {
  Result<Json> object = ParseYaml(text, path);
  if (object.ok() && !object->is_object()) return Error{path + ": is no object"};
  return object;
}

}  // namespace

Result<ObjectTemplate> ObjectTemplate::LoadPlain(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.error();
  Result<Json> object = Object(*text, path);
  if (!object.ok()) return object.error();
  ObjectTemplate made;
  made.path_ = path;
  made.constant_ = std::move(object).value();
  return made;
}

Result<ObjectTemplate> ObjectTemplate::Load(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  if (!text.ok()) return text.error();
  Result<TextTemplate> parsed = TextTemplate::Parse(*text);
  if (!parsed.ok()) return Error{path + ": " + parsed.error().message};
  if (parsed->constant()) return LoadPlain(path);
  ObjectTemplate made;
  made.path_ = path;
  made.text_ = std::move(parsed).value();
  return made;
}

Result<Json> ObjectTemplate::Make(size_t index, size_t count, const Json& params) const {
  if (!constant_.is_null()) return constant_;
  Json fields = params.is_object() ? params : Json::object();
  fields["Index"] = index;
  fields["Count"] = count;
  const Result<std::string> text = text_.Render(fields);
  if (!text.ok()) return Error{path_ + ": " + text.error().message};
  return Object(*text, path_);
}

}  // namespace ks::ctl::dev::perf
