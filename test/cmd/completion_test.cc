// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "kubeschedctl/text/called_as.h"

namespace ks::ctl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Completer {
 public:
  Completer() {
    CLI::App* queue = app_.add_subcommand("queue", "the queue\nand more");
    queue->add_option("pod", text_, "a pod")->type_name("POD");
    queue->add_option("-o,--output", text_, "format")->check(CLI::IsMember({"table", "json"}));
    queue->add_option("-n,--namespace", text_, "of pods");
    queue->add_flag("-A,--all", flag_, "all");
    CLI::App* check = app_.add_subcommand("check", "files");
    check->add_option("files", texts_, "files")->type_name("FILE");
    check->add_option("--dir", text_, "folder")->type_name("FOLDER");
    check->add_option("--secret", text_, "hidden")->group("");
    app_.add_subcommand("version", "the version");
    CLI::App* completion = app_.add_subcommand("completion", "shells");
    completion->add_option("shell", text_, "")->check(CLI::IsMember({"bash", "zsh"}));
  }

  // "table json :4".
  std::string Of(const std::vector<std::string>& words) const {
    std::string text;
    const Completion completion = Complete(app_, words);
    for (const Candidate& candidate : completion.candidates) text += candidate.text + " ";
    return text + ":" + std::to_string(static_cast<int>(completion.otherwise));
  }
  const CLI::App& app() const { return app_; }

 private:
  CLI::App app_{"description", "program"};
  std::string text_;
  std::vector<std::string> texts_;
  bool flag_ = false;
};

struct Case {
  const char* name;
  std::vector<std::string> words;
  const char* want;
};

class CompletionCases : public ::testing::TestWithParam<Case> {};

TEST_P(CompletionCases, Row) { EXPECT_EQ(Completer().Of(GetParam().words), GetParam().want); }

INSTANTIATE_TEST_SUITE_P(
    Completion, CompletionCases,
    ::testing::ValuesIn(std::vector<Case>{
        {"NoWords", {}, "queue check version completion :4"},
        {"EmptyWord", {""}, "queue check version completion :4"},
        {"BeginOfAVerb", {"ch"}, "check :4"},
        {"UnknownVerb", {"zz"}, ":4"},
        {"Flags", {"queue", "--"}, "--help --output --namespace --all :4"},
        {"FlagsBehindAValue", {"queue", "-n", "x", "--o"}, "--output :4"},
        {"ShortFlagOfALongOne", {"queue", "-o"}, "-o :4"},
        {"Values", {"queue", "--output", ""}, "table json :4"},
        {"ValuesBegun", {"queue", "-o", "j"}, "json :4"},
        {"ValuesAfterFlagsTogether", {"queue", "-Ao", "t"}, "table :4"},
        {"ValuesBehindEqualsSign", {"queue", "--output=j"}, "--output=json :4"},
        {"ValuesOfNoFlag", {"queue", "--nosuch="}, ":4"},
        {"FlagWithoutValue", {"queue", "--all="}, ":4"},
        {"FreeValue", {"queue", "-n", ""}, ":4"},
        {"ValueGivenWithTheFlag", {"queue", "--output=json", ""}, ":4"},
        {"Files", {"check", ""}, ":0"},
        {"FurtherFiles", {"check", "a", "b", ""}, ":0"},
        {"Folder", {"check", "--dir", ""}, ":16"},
        {"FolderBehindEqualsSign", {"check", "--dir=x"}, ":16"},
        {"Hidden", {"check", "--s"}, ":4"},
        {"ChoiceOfAPositional", {"completion", "b"}, "bash :4"},
        {"OneTooMany", {"completion", "bash", ""}, ":4"},
        {"AfterTwoDashes", {"check", "--", "--d"}, ":0"},
        {"VerbThatIsAValue", {"queue", "-n", "check", "-o", ""}, "table json :4"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Completion, TextIsCobras) {
  const Completer completer;
  EXPECT_EQ(CompletionText(Complete(completer.app(), {"q"})), "queue\tthe queue\n:4\n");
  EXPECT_EQ(CompletionText(Complete(completer.app(), {"queue", "-o", "j"})), "json\n:4\n");
  EXPECT_EQ(CompletionText(Complete(completer.app(), {"check", ""})), ":0\n");
}

TEST(Completion, Scripts) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = CompletionScript(shell, "mine");
    EXPECT_THAT(script, HasSubstr(" __complete ")) << shell;
    EXPECT_THAT(script, HasSubstr("completion for mine")) << shell;
    EXPECT_THAT(script, Not(HasSubstr("PROGRAM"))) << shell;
  }
  EXPECT_THAT(CompletionScript("kubectl", "mine"), HasSubstr("exec kubectl sched __complete"));
  EXPECT_EQ(CompletionScript("powershell", "mine"), "");
}

TEST(CalledAs, ByName) {
  EXPECT_EQ(CalledAsOf("kubeschedctl"), CalledAs::kItself);
  EXPECT_EQ(CalledAsOf("kubectl-sched"), CalledAs::kPlugin);
  EXPECT_EQ(CalledAsOf("kubectl_complete-sched"), CalledAs::kPluginCompletion);
  EXPECT_STREQ(ProgramName(), "kubeschedctl");
}

}  // namespace
}  // namespace ks::ctl
