// SPDX-License-Identifier: Apache-2.0
// The same configuration files through kube-scheduler and kubesched: the same verdict, the same
// text of the error, the same effective configuration, the same plugins at every extension point.
// The files are the worked examples of docs/spec/config.md and generated mutations.
//
//   KS_PARITY_SEED=7 KS_PARITY_FILES=2000 ks_e2e_test --gtest_filter='ConfigParity.*'
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "config/text/document.h"
#include "testing/config_examples.h"
#include "testing/config_mutations.h"
#include "testing/control_plane.h"
#include "testing/run_program.h"
#include "testing/temp_dir.h"

namespace ks::e2e {
namespace {

using testing::ConfigFile;

// Plugins that kubesched has and kube-scheduler has not: the only files that the two may judge
// differently. Marked legacy, in no default profile (docs/spec/plugins-crosspod.md section 7).
constexpr std::string_view kOnlyOurs[] = {"NodeLabel",
                                          "ServiceAffinity",
                                          "NodePreferAvoidPods",
                                          "SelectorSpread",
                                          "RequestedToCapacityRatio",
                                          "NodeResourcesLeastAllocated",
                                          "NodeResourcesMostAllocated"};

// One of them needs arguments.
constexpr std::string_view kRatioArgs =
    ", pluginConfig: [{name: RequestedToCapacityRatio, args: {shape: [{utilization: 0, score: 0}, "
    "{utilization: 100, score: 10}]}}]";

constexpr uint64_t kSeed = 1;
constexpr size_t kFiles = 600;
constexpr std::chrono::seconds kLimit(60);  // of one process
constexpr size_t kShown = 12;               // differences printed in full

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// What one scheduler made of a file.
struct Verdict {
  bool accepted = false;
  std::string error;       // as logged, its Go quotes taken off
  std::string effective;   // what --write-config-to wrote
  std::string expansions;  // the log's plugin lists, a line a profile
  std::string output;
};

// A Go string literal at the front of `text`, without quotes and backslashes.
std::string Unquoted(std::string_view text) {
  std::string plain;
  for (size_t i = 1; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size();
    if (escape && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    plain += text[i];
  }
  return plain;
}

// The text behind `"command failed" err=`: quoted, or a block of lines behind a tab each.
std::string CommandFailure(const std::string& output) {
  constexpr std::string_view kMark = "\"command failed\" err=";
  const size_t mark = output.find(kMark);
  if (mark == std::string::npos) return "";
  std::string_view rest = std::string_view(output).substr(mark + kMark.size());
  std::string text;
  if (rest.starts_with("<\n")) {
    rest.remove_prefix(2);
    while (rest.starts_with("\t")) {
      const size_t end = rest.find('\n');
      if (!text.empty()) text += '\n';
      text += rest.substr(1, end - 1);
      rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
    }
    return text;
  }
  return Unquoted(rest);
}

std::string Expansions(const std::string& output) {
  constexpr std::string_view kMark = "\"the scheduler starts to work with those plugins\" Plugins=";
  std::string found;
  for (size_t at = output.find(kMark); at != std::string::npos; at = output.find(kMark, at + 1)) {
    const size_t start = at + kMark.size();
    const std::string line = output.substr(start, output.find('\n', start) - start);
    // Quoted or bare: the plugins matter, not the log's form.
    found += (line.starts_with('"') ? Unquoted(line) : line) + "\n";
  }
  return found;
}

// Texts of the YAML and JSON parsers, levels of section 2: verdict only.
bool IsSyntaxError(const std::string& error) {
  constexpr std::string_view kJson = "couldn't get version/kind; json parse error: ";
  if (error.starts_with(kJson)) return !error.substr(kJson.size()).starts_with("json: cannot ");
  return error.starts_with("yaml: ") && !error.starts_with("yaml: unmarshal errors");
}

// The fields that an error names.
std::set<std::string> FieldPaths(const std::string& error) {
  static const std::regex kPatterns[] = {
      std::regex(R"re((?:unknown|duplicate) field "([^"]*)")re"),
      std::regex(R"re(Go struct field [A-Za-z]*\.([^ ]*) of type)re"),
      std::regex(R"re(line \d+: key "([^"]*)" already set)re"),
      std::regex(R"re(decoding (\.profiles\[\d+\]\.pluginConfig\[\d+\]))re"),
      std::regex(R"re((?:^|[ \[])([^ ]+): (?:Invalid|Required|Unsupported|Duplicate) value)re"),
      std::regex(R"re((?:^|[ \[])([^ ]+): Forbidden)re"),
  };
  std::set<std::string> paths;
  for (const std::regex& pattern : kPatterns) {
    for (std::sregex_iterator it(error.begin(), error.end(), pattern), end; it != end; ++it) {
      paths.insert((*it)[1]);
    }
  }
  return paths;
}

// Where kube-scheduler itself picks at random (sections 3.5 and 5.6): which of several plugins
// that cannot be built is reported; the order of removed plugins at several points.
bool SameButForChance(const std::string& theirs, const std::string& ours) {
  static const std::regex kBuilt(
      R"re(^initializing profiles: creating profile for scheduler name .*: initializing plugin )re");
  if (std::regex_search(theirs, kBuilt) && std::regex_search(ours, kBuilt)) {
    const auto plugin = [](const std::string& text) {
      const size_t start = text.find("initializing plugin \"");
      return text.substr(start, text.find("\": ", start) - start);
    };
    return plugin(theirs) != plugin(ours);
  }
  if (theirs.find(" was invalid in version ") == std::string::npos) return false;
  std::string left = theirs;
  std::string right = ours;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right && FieldPaths(theirs) == FieldPaths(ours);
}

// The data of an effective configuration, for comparison; "" for a text that cannot be read.
std::string AsData(const std::string& yaml) {
  const auto document = config::ParseDocument(yaml);
  const auto* parsed = std::get_if<config::Document>(&document);
  return parsed == nullptr ? "" : config::CompactJson(parsed->root, parsed->syntax);
}

struct Pair {
  Verdict theirs;
  Verdict ours;
};

struct Counts {
  size_t accepted = 0, rejected = 0, same_bytes = 0, same_text = 0, verdict_only = 0, chance = 0;
};

// "" or how the two differ.
std::string Difference(const Pair& pair, Counts& counts) {
  const auto& [theirs, ours] = pair;
  if (theirs.accepted != ours.accepted) return "verdicts";
  if (theirs.accepted) {
    ++counts.accepted;
    if (theirs.effective == ours.effective) ++counts.same_bytes;
    const std::string data = AsData(theirs.effective);
    if (data.empty() || data != AsData(ours.effective)) return "effective configurations";
    return theirs.expansions == ours.expansions ? "" : "plugins of the extension points";
  }
  ++counts.rejected;
  if (theirs.error == ours.error) {
    ++counts.same_text;
    return "";
  }
  if (IsSyntaxError(theirs.error)) {
    ++counts.verdict_only;
    return "";
  }
  if (SameButForChance(theirs.error, ours.error)) {
    ++counts.chance;
    return "";
  }
  return FieldPaths(theirs.error) == FieldPaths(ours.error) ? "texts" : "field paths";
}

std::string Shown(const Verdict& verdict) {
  if (verdict.accepted) {
    return "accepted\n" + verdict.expansions + verdict.effective;
  }
  return verdict.error.empty() ? "no error found in its log:\n" + verdict.output : verdict.error;
}

class ConfigParity : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) GTEST_SKIP() << why;
    kube_scheduler_ = testing::ControlPlane::BinaryPath("kube-scheduler");
  }

  Verdict Judge(const std::string& binary, const std::string& file, const std::string& name) const {
    const std::string written = dir_.path() + "/" + name + ".out";
    const auto ran =
        testing::RunProgram({binary, "--config=" + file, "--master=https://127.0.0.1",
                             "--write-config-to=" + written, "--secure-port=0", "-v=2"},
                            dir_.path(), name, kLimit);
    Verdict verdict;
    if (!ran.ok()) {
      verdict.output = ran.error().message;
      return verdict;
    }
    verdict.accepted = ran->exit_status == 0;
    verdict.output = ran->output;
    verdict.error = CommandFailure(ran->output);
    verdict.effective = ReadFile(written);
    verdict.expansions = Expansions(ran->output);
    return verdict;
  }

  // Every file through both, two processes at a time.
  std::vector<Pair> JudgeAll(const std::vector<ConfigFile>& files) const {
    std::vector<Pair> pairs(files.size());
    std::vector<std::string> paths;
    for (size_t i = 0; i < files.size(); ++i) {
      paths.push_back(dir_.Write(fmt::format("{}.yaml", i), files[i].text));
    }
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t job = next++; job < 2 * files.size(); job = next++) {
        const size_t i = job / 2;
        if (job % 2 == 0) {
          pairs[i].theirs = Judge(kube_scheduler_, paths[i], fmt::format("{}.theirs", i));
        } else {
          pairs[i].ours = Judge(KS_KUBESCHED_PATH, paths[i], fmt::format("{}.ours", i));
        }
      }
    };
    std::thread second(work);
    work();
    second.join();
    return pairs;
  }

  void Compare(const std::vector<ConfigFile>& files, const std::string& origin) const {
    const std::vector<Pair> pairs = JudgeAll(files);
    Counts counts;
    size_t differences = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      const std::string difference = Difference(pairs[i], counts);
      if (difference.empty()) continue;
      if (++differences > kShown) {
        ADD_FAILURE() << origin << ", " << files[i].name << ": different " << difference;
        continue;
      }
      ADD_FAILURE() << origin << ", " << files[i].name << ": different " << difference
                    << "\n--- file\n"
                    << files[i].text << "\n--- kube-scheduler: " << Shown(pairs[i].theirs)
                    << "\n--- kubesched: " << Shown(pairs[i].ours);
    }
    fmt::print(
        "{}: {} files, {} different; {} accepted ({} with the same bytes), {} rejected ({} with "
        "the same text, {} by syntax with another text, {} by chance)\n",
        origin, files.size(), differences, counts.accepted, counts.same_bytes, counts.rejected,
        counts.same_text, counts.verdict_only, counts.chance);
  }

  testing::TempDir dir_;
  std::string kube_scheduler_;
};

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST_F(ConfigParity, WorkedExamples) {
  std::vector<ConfigFile> files;
  for (const auto& example : testing::ReadConfigExamples(ReadFile(KS_CONFIG_SPEC))) {
    files.push_back({example.name, example.text});
  }
  ASSERT_GE(files.size(), 84u) << "the tables of " KS_CONFIG_SPEC " are not found";
  Compare(files, "worked examples");
}

// What the document says is what kube-scheduler does.
TEST_F(ConfigParity, TheExamplesAreRight) {
  const auto examples = testing::ReadConfigExamples(ReadFile(KS_CONFIG_SPEC));
  ASSERT_GE(examples.size(), 84u);
  for (const testing::ConfigExample& example : examples) {
    const std::string file = dir_.Write("example.yaml", example.text);
    const Verdict verdict = Judge(kube_scheduler_, file, "example");
    EXPECT_EQ(verdict.accepted, example.accepted) << example.name << ": " << verdict.error;
    EXPECT_EQ(verdict.error, example.error.value_or(verdict.error)) << example.name;
  }
}

TEST_F(ConfigParity, Mutations) {
  const uint64_t seed = FromEnvironment("KS_PARITY_SEED", kSeed);
  const auto files =
      testing::MutatedConfigurations(seed, FromEnvironment("KS_PARITY_FILES", kFiles));
  Compare(files, fmt::format("seed {}", seed));
}

// The list of known differences is no longer than it must be.
TEST_F(ConfigParity, LegacyPluginsAreOnlyOurs) {
  for (const std::string_view plugin : kOnlyOurs) {
    const std::string file = dir_.Write(
        "legacy.yaml",
        fmt::format("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                    "profiles: [{{plugins: {{multiPoint: {{disabled: [{{name: '*'}}], enabled: "
                    "[{{name: PrioritySort}}, {{name: DefaultBinder}}, {{name: {}}}]}}}}{}}}]\n",
                    plugin, plugin == "RequestedToCapacityRatio" ? kRatioArgs : ""));
    EXPECT_FALSE(Judge(kube_scheduler_, file, "legacy").accepted) << plugin;
    const Verdict ours = Judge(KS_KUBESCHED_PATH, file, "legacy");
    EXPECT_TRUE(ours.accepted) << plugin << ": " << ours.output;
  }
}

}  // namespace
}  // namespace ks::e2e
