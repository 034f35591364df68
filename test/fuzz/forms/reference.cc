// SPDX-License-Identifier: Apache-2.0
#include "fuzz/forms/reference.h"

#include <nlohmann/json.hpp>

#include "golang/base64.h"

namespace ks::fuzz {
namespace {

using Json = nlohmann::json;

Result<Forms> ReadForms(const Json& reply, const char* name) {
  const Json& forms = reply.at(name);
  auto bytes = golang::DecodeBase64(forms.at("protobuf").get<std::string>());
  if (!bytes.ok()) return bytes.error();
  return Forms{.json = forms.at("json").get<std::string>(), .protobuf = *std::move(bytes)};
}

Result<Answer> ReadAnswer(const std::string& line) {
  const Json reply = Json::parse(line, nullptr, false);
  if (!reply.is_object()) return Error{"no answer of the reference: " + line};
  Answer answer{.refused = reply.value("error", "")};
  if (!answer.refused.empty()) return answer;
  for (const auto& [name, into] :
       {std::pair("object", &answer.object), std::pair("list", &answer.list),
        std::pair("event", &answer.event)}) {
    auto forms = ReadForms(reply, name);
    if (!forms.ok()) return forms.error();
    *into = *std::move(forms);
  }
  return answer;
}

}  // namespace

Result<std::unique_ptr<FormsReference>> FormsReference::Start(const std::string& program) {
  auto process = testing::LineProcess::Start(program);
  if (!process.ok()) return process.error();
  return std::unique_ptr<FormsReference>(new FormsReference(std::move(*process)));
}

Result<std::vector<Answer>> FormsReference::Ask(const std::vector<std::string>& objects) {
  std::vector<Answer> answers;
  size_t asked = 0;
  while (answers.size() < objects.size()) {
    std::string lines;
    while (asked < objects.size() && lines.size() < testing::LineProcess::kMaxUnanswered) {
      const std::string line = "{\"object\":" + objects[asked] + "}\n";
      if (!lines.empty() && lines.size() + line.size() > testing::LineProcess::kMaxUnanswered) {
        break;
      }
      lines += line;
      ++asked;
    }
    if (auto written = process_->Write(lines); !written.ok()) return written.error();
    while (answers.size() < asked) {
      auto line = process_->ReadLine();
      if (!line.ok()) {
        return Error{line.error().message + ": asked about " + objects[answers.size()]};
      }
      auto answer = ReadAnswer(*line);
      if (!answer.ok()) return answer.error();
      answers.push_back(*std::move(answer));
    }
  }
  return answers;
}

Result<Answer> FormsReference::AskStored(std::string_view protobuf) {
  const std::string line = "{\"protobuf\":\"" + golang::EncodeBase64(protobuf) + "\"}\n";
  if (auto written = process_->Write(line); !written.ok()) return written.error();
  auto reply = process_->ReadLine();
  if (!reply.ok()) return reply.error();
  return ReadAnswer(*reply);
}

}  // namespace ks::fuzz
