// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/oracle.h"

#include <nlohmann/json.hpp>

namespace ks::cel::compare {
namespace {

using Json = nlohmann::json;

std::string RequestLine(const Question& question) {
  Json request = {{"expression", question.expression}};
  if (question.mode == Mode::kValue) request["mode"] = "value";
  if (question.mode == Mode::kCompile) request["mode"] = "compile";
  return request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Outcome ReadOutcome(const Json& answer) {
  Outcome outcome{.compile_error = answer.value("compileError", ""),
                  .type = answer.value("type", ""),
                  .panic = answer.value("panic", "")};
  for (const Json& result : answer.value("results", Json::array())) {
    outcome.evaluations.push_back({.value = result.value("value", ""),
                                   .error = result.value("error", ""),
                                   .cost = result.value("cost", uint64_t{0})});
  }
  return outcome;
}

}  // namespace

Result<std::unique_ptr<Oracle>> Oracle::Start(const std::string& program,
                                              std::string_view devices) {
  auto process = testing::LineProcess::Start(program);
  if (!process.ok()) return process.error();
  std::string line = "{\"devices\": " + std::string(devices) + "}";
  for (char& c : line) c = c == '\n' ? ' ' : c;
  if (auto written = (*process)->Write(line + "\n"); !written.ok()) return written.error();
  if (auto ready = (*process)->ReadLine(); !ready.ok()) return ready.error();
  return std::unique_ptr<Oracle>(new Oracle(std::move(*process)));
}

Result<std::vector<Outcome>> Oracle::Ask(const std::vector<Question>& questions) {
  std::vector<Outcome> outcomes;
  size_t asked = 0;
  while (outcomes.size() < questions.size()) {
    std::string lines;
    while (asked < questions.size() && lines.size() < testing::LineProcess::kMaxUnanswered) {
      lines += RequestLine(questions[asked++]);
    }
    if (auto written = process_->Write(lines); !written.ok()) return written.error();
    while (outcomes.size() < asked) {
      auto line = process_->ReadLine();
      if (!line.ok()) {
        return Error{line.error().message + ": asked about " +
                     questions[outcomes.size()].expression};
      }
      const Json answer = Json::parse(*line, nullptr, false);
      if (!answer.is_object()) return Error{"no answer of the reference: " + *line};
      outcomes.push_back(ReadOutcome(answer));
    }
  }
  return outcomes;
}

Result<ConformanceTest> ReadConformanceTest(const std::string& line) {
  const Json test = Json::parse(line, nullptr, false);
  if (!test.is_object()) return Error{"no conformance test: " + line};
  ConformanceTest made{.name = test.at("name").get<std::string>(),
                       .left_out = test.value("leftOut", "")};
  if (!made.left_out.empty()) return made;
  made.question.expression = test.at("expression").get<std::string>();
  made.outcome = ReadOutcome(test.at("outcome"));
  made.question.mode = made.outcome.type.empty() || !made.outcome.evaluations.empty()
                           ? Mode::kValue
                           : Mode::kCompile;
  made.agrees = test.value("agrees", false);
  return made;
}

}  // namespace ks::cel::compare
