// SPDX-License-Identifier: Apache-2.0
#include "cel/compare/oracle.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

namespace ks::cel::compare {
namespace {

using Json = nlohmann::json;

// A pipe holds 64 KiB: so much may be asked before an answer is read without both sides waiting.
constexpr size_t kMaxUnanswered = size_t{32} << 10;

Error SystemError(std::string_view what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

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
  std::unique_ptr<Oracle> oracle(new Oracle);
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0) return SystemError("pipe2");
  oracle->requests_ = in[1];
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]);
    return SystemError("pipe2");
  }
  oracle->answers_ = out[0];
  std::string path = program;
  std::array<char*, 2> argv = {path.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  const int failure =
      posix_spawn(&oracle->pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (failure != 0) {
    oracle->pid_ = 0;
    errno = failure;
    return SystemError("cannot start " + program);
  }
  std::string line = "{\"devices\": " + std::string(devices) + "}";
  for (char& c : line) c = c == '\n' ? ' ' : c;
  if (auto written = oracle->Write(line + "\n"); !written.ok()) return written.error();
  if (auto ready = oracle->ReadLine(); !ready.ok()) return ready.error();
  return oracle;
}

Oracle::~Oracle() {
  if (requests_ >= 0) close(requests_);
  if (answers_ >= 0) close(answers_);
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

Result<std::vector<Outcome>> Oracle::Ask(const std::vector<Question>& questions) {
  std::vector<Outcome> outcomes;
  size_t asked = 0;
  while (outcomes.size() < questions.size()) {
    std::string lines;
    while (asked < questions.size() && lines.size() < kMaxUnanswered) {
      lines += RequestLine(questions[asked++]);
    }
    if (auto written = Write(lines); !written.ok()) return written.error();
    while (outcomes.size() < asked) {
      auto line = ReadLine();
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

Result<void> Oracle::Write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = write(requests_, text.data(), text.size());
    if (wrote < 0 && errno != EINTR) return SystemError("write to the reference");
    if (wrote > 0) text.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

Result<std::string> Oracle::ReadLine() {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 65536> buffer{};
    const ssize_t got = read(answers_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{"the reference ended"};
    unread_.append(buffer.data(), static_cast<size_t>(got));
  }
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
