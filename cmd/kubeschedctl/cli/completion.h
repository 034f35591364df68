// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a command line of this program can go on. The answer has the form that kubectl expects of its
// plugins' completion (Cobra's): a candidate a line, a tab before what it means, and last a line
// ":NUMBER" that says what the shell may add of its own.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}  // namespace CLI

namespace ks::ctl {

// What the shell completes where there is no candidate. The values are Cobra's.
enum class ShellCompletes { kFiles = 0, kNothing = 4, kFolders = 16 };

struct Candidate {
  std::string text;
  std::string meaning{};  // one line
};

struct Completion {
  std::vector<Candidate> candidates{};
  ShellCompletes otherwise = ShellCompletes::kNothing;
};

// `words`: what follows the program's name, up to the cursor; the last one, which may be empty, is
// to be completed. Verbs, flags and the values of flags are known; names of pods and nodes are not.
Completion Complete(const CLI::App& app, const std::vector<std::string>& words);

// In the form above.
std::string CompletionText(const Completion& completion);

// The script for "bash", "zsh" or "fish" that completes `program`, or for "kubectl" the file
// kubectl_complete-sched; empty for any other shell. The script asks `program __complete WORDS`.
std::string CompletionScript(std::string_view shell, const std::string& program);

}  // namespace ks::ctl
