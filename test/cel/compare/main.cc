// SPDX-License-Identifier: Apache-2.0
// Our engine beside upstream's (docs/testing.md):
//
//     ks_cel_compare conformance
//     ks_cel_compare file FILE...        (each line of it, but empty ones and those behind "//")
//     ks_cel_compare random [--seed N] [--count N]
//     ks_cel_compare outcomes FILE...    (prints what the reference says: data/outcomes.txt)
//
// with --oracle PATH for another celoracle than ./dev controlplane build made and --show N for how
// many differences are printed. Exit code 1 if more than --allow N (0) differ, 77 without the
// reference.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cel/compare/compare.h"
#include "cel/compare/literals.h"
#include "testing/control_plane.h"
#include "testing/run_program.h"
#include "testing/temp_dir.h"

namespace ks::cel::compare {
namespace {

constexpr int kSkipped = 77;

struct Options {
  std::string verb{};
  std::vector<std::string> files{};
  std::string oracle{};
  uint64_t seed = 1;
  uint64_t count = 20000;
  uint64_t show = 20;
  uint64_t allow = 0;
};

int Fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 2;
}

bool ParseOptions(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.verb = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      options.files.emplace_back(word);
    } else if (i + 1 == argc) {
      return false;
    } else if (word == "--oracle") {
      options.oracle = argv[++i];
    } else if (word == "--seed") {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--count") {
      options.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--allow") {
      options.allow = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--show") {
      options.show = std::strtoull(argv[++i], nullptr, 10);
    } else {
      return false;
    }
  }
  return options.verb == "conformance" || options.verb == "random" ||
         ((options.verb == "file" || options.verb == "outcomes") && !options.files.empty());
}

Result<void> Conformance(const Options& options, Comparison& comparison) {
  testing::TempDir folder;
  auto listed = testing::RunProgram({options.oracle, "-conformance"}, folder.path(), "conformance",
                                    std::chrono::minutes(5));
  if (!listed.ok()) return listed.error();
  if (listed->exit_status != 0) return Error{listed->output};
  std::istringstream lines(listed->printed);
  uint64_t agreed = 0;
  uint64_t left_out = 0;
  for (std::string line; std::getline(lines, line);) {
    auto test = ReadConformanceTest(line);
    if (!test.ok()) return test.error();
    if (!test->left_out.empty()) {
      ++left_out;
      continue;
    }
    agreed += test->agrees ? 1 : 0;
    auto checked = comparison.CheckKnown(test->name + ": " + test->question.expression,
                                         test->question, test->outcome);
    if (!checked.ok()) return checked;
  }
  fmt::print("{} tests, {} of them end as they officially should here, {} left out\n",
             comparison.compared(), agreed, left_out);
  return {};
}

Result<std::vector<std::string>> ReadExpressions(const std::vector<std::string>& files) {
  std::vector<std::string> expressions;
  for (const std::string& path : files) {
    std::ifstream file(path);
    if (!file) return Error{path + ": cannot be read"};
    for (std::string line; std::getline(file, line);) {
      if (!line.empty() && !line.starts_with("//")) expressions.push_back(line);
    }
  }
  return expressions;
}

Result<void> FromFiles(const Options& options, Comparison& comparison) {
  auto expressions = ReadExpressions(options.files);
  if (!expressions.ok()) return expressions.error();
  std::vector<Question> questions;
  for (const std::string& expression : *expressions) {
    questions.push_back({expression, Mode::kValue});
    questions.push_back({expression, Mode::kSelector});
  }
  return comparison.Check(questions);
}

// Lines of expression, tab, outcome.
Result<void> PrintOutcomes(const Options& options, Oracle& reference) {
  auto expressions = ReadExpressions(options.files);
  if (!expressions.ok()) return expressions.error();
  std::vector<Question> questions;
  for (const std::string& expression : *expressions) {
    questions.push_back({expression, Mode::kValue});
  }
  auto outcomes = reference.Ask(questions);
  if (!outcomes.ok()) return outcomes.error();
  for (size_t i = 0; i < questions.size(); ++i) {
    fmt::print("{}\t{}\n", questions[i].expression, OutcomeText((*outcomes)[i]));
  }
  return {};
}

// How many expressions differ.
Result<uint64_t> Compare(const Options& options, Oracle& reference, std::string_view devices) {
  const Subject subject(devices);
  Comparison comparison(reference, subject, options.show);
  Result<void> done;
  if (options.verb == "conformance") {
    done = Conformance(options, comparison);
  } else if (options.verb == "file") {
    done = FromFiles(options, comparison);
  } else {
    fmt::print("seed {}\n", options.seed);
    done = comparison.CheckRandom(options.seed, options.count);
  }
  if (!done.ok()) return done.error();
  fmt::print("{}\n", comparison.Summary());
  if (comparison.compared() == 0) return Error{"nothing was compared"};
  return comparison.differences();
}

int Run(Options& options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): the reference's end shows when it is read
  if (options.oracle.empty()) {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) {
      fmt::print("skipped: {}\n", why);
      return kSkipped;
    }
    options.oracle = testing::ControlPlane::BinaryPath("celoracle");
  }
  const std::string_view devices =
      options.verb == "conformance" ? "[{\"driver\": \"\"}]" : kDevices;
  auto oracle = Oracle::Start(options.oracle, devices);
  if (!oracle.ok()) return Fail(oracle.error());
  if (options.verb == "outcomes") {
    auto printed = PrintOutcomes(options, **oracle);
    return printed.ok() ? 0 : Fail(printed.error());
  }
  auto differences = Compare(options, **oracle, devices);
  if (!differences.ok()) return Fail(differences.error());
  return *differences <= options.allow ? 0 : 1;
}

}  // namespace
}  // namespace ks::cel::compare

int main(int argc, char** argv) {
  ks::cel::compare::Options options;
  if (!ks::cel::compare::ParseOptions(argc, argv, options)) {
    fmt::print(stderr,
               "usage: ks_cel_compare conformance | file FILE... | outcomes FILE... |\n"
               "       random [--seed N] [--count N]  [--oracle PATH] [--show N] [--allow N]\n");
    return 2;
  }
  return ks::cel::compare::Run(options);
}
