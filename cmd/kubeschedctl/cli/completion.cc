// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cli/completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <utility>

namespace ks::ctl {
namespace {

// What a command line means up to the word at the cursor.
struct Position {
  const CLI::App* verb = nullptr;
  const CLI::Option* value_of = nullptr;  // the word is its value
  size_t positionals = 0;                 // before the word
  bool only_positionals = false;          // after "--"
};

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "--name" of "--name=value".
std::string_view FlagName(std::string_view word) { return word.substr(0, word.find('=')); }

// The option whose value is the word after `word`, or null.
const CLI::Option* AwaitsValue(const CLI::App& verb, const std::string& word) {
  std::string name = word;
  if (!word.starts_with("--")) {
    // -abc: each is a flag, but for the last one. -ovalue has its value.
    for (size_t i = 1; i + 1 < word.size(); ++i) {
      const auto* option = verb.get_option_no_throw(std::string("-") + word[i]);
      if (option == nullptr || TakesValue(*option)) return nullptr;
    }
    name = std::string("-") + word.back();
  }
  const CLI::Option* option = verb.get_option_no_throw(name);
  return option != nullptr && TakesValue(*option) ? option : nullptr;
}

std::vector<const CLI::App*> VerbsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* FindVerb(const CLI::App& app, const std::string& name) {
  for (const CLI::App* verb : VerbsOf(app)) {
    if (verb->get_name() == name) return verb;
  }
  return nullptr;
}

void Advance(const std::string& word, Position& at) {
  if (at.value_of != nullptr) {
    at.value_of = nullptr;
  } else if (word == "--") {
    at.only_positionals = true;
  } else if (!at.only_positionals && word.size() > 1 && word.starts_with('-')) {
    at.value_of = AwaitsValue(*at.verb, word);
  } else if (const CLI::App* verb = FindVerb(*at.verb, word);
             verb != nullptr && !at.only_positionals) {
    at.verb = verb;
    at.positionals = 0;
  } else {
    ++at.positionals;
  }
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// The values between the braces of a type name: "TEXT:{table,json}".
std::vector<std::string> Choices(const std::string& type) {
  std::vector<std::string> choices;
  const size_t open = type.find('{');
  const size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return choices;
  std::string_view rest = std::string_view(type).substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    choices.emplace_back(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return choices;
}

ShellCompletes ByShell(const std::string& type) {
  constexpr std::array<std::string_view, 5> kFiles = {"FILE", "OUT", "RECORDING", "A", "B"};
  const std::string name = type.substr(0, type.find(':'));
  if (std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end()) return ShellCompletes::kFiles;
  return name == "FOLDER" || name == "DIR" ? ShellCompletes::kFolders : ShellCompletes::kNothing;
}

// `before`: stands before the value in the word ("--output="), and before the candidates.
Completion Values(const CLI::Option& option, const std::string& before, std::string_view typed) {
  const std::string type = option.get_type_name();
  Completion completion{.otherwise = ByShell(type)};
  for (const std::string& choice : Choices(type)) {
    if (choice.starts_with(typed)) completion.candidates.push_back({before + choice});
  }
  return completion;
}

bool IsShown(const CLI::App& verb) { return !verb.get_group().empty(); }
bool IsShown(const CLI::Option& option) { return !option.get_group().empty(); }

void AddFlags(const CLI::App& verb, const std::string& typed, Completion& completion) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!IsShown(*option)) continue;
    const std::string meaning = FirstLine(option->get_description());
    for (const std::string& name : option->get_lnames()) {
      if (("--" + name).starts_with(typed)) completion.candidates.push_back({"--" + name, meaning});
    }
    for (const std::string& name : option->get_snames()) {
      // Those that have a long name, too, only when asked for.
      if (!option->get_lnames().empty() && typed != "-" + name) continue;
      if (("-" + name).starts_with(typed)) completion.candidates.push_back({"-" + name, meaning});
    }
  }
}

void AddVerbs(const CLI::App& verb, const std::string& typed, Completion& completion) {
  for (const CLI::App* sub : VerbsOf(verb)) {
    if (!IsShown(*sub) || !sub->get_name().starts_with(typed)) continue;
    completion.candidates.push_back({sub->get_name(), FirstLine(sub->get_description())});
  }
}

// The positional that takes the value after `number` of them; the last one may take several.
const CLI::Option* Positional(const CLI::App& verb, size_t number) {
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    const auto most = static_cast<size_t>(option->get_items_expected_max());
    if (number < most) return option;
    number -= most;
  }
  return nullptr;
}

Completion Verbs(const Position& at, const std::string& typed) {
  Completion completion;
  if (!at.only_positionals) AddVerbs(*at.verb, typed, completion);
  if (!completion.candidates.empty()) return completion;
  const CLI::Option* positional = Positional(*at.verb, at.positionals);
  return positional == nullptr ? completion : Values(*positional, "", typed);
}

}  // namespace

Completion Complete(const CLI::App& app, const std::vector<std::string>& words) {
  Position at{.verb = &app};
  for (size_t i = 0; i + 1 < words.size(); ++i) Advance(words[i], at);
  const std::string typed = words.empty() ? std::string() : words.back();
  if (at.value_of != nullptr) return Values(*at.value_of, "", typed);
  if (at.only_positionals || !typed.starts_with('-')) return Verbs(at, typed);
  const std::string name(FlagName(typed));
  if (name.size() < typed.size()) {
    const CLI::Option* option = at.verb->get_option_no_throw(name);
    if (option == nullptr || !TakesValue(*option)) return {};
    return Values(*option, name + "=", std::string_view(typed).substr(name.size() + 1));
  }
  Completion completion;
  AddFlags(*at.verb, typed, completion);
  return completion;
}

std::string CompletionText(const Completion& completion) {
  std::string text;
  for (const Candidate& candidate : completion.candidates) {
    text += candidate.text;
    if (!candidate.meaning.empty()) text += "\t" + candidate.meaning;
    text += "\n";
  }
  const auto otherwise =
      completion.candidates.empty() ? completion.otherwise : ShellCompletes::kNothing;
  return text + ":" + std::to_string(static_cast<int>(otherwise)) + "\n";
}

}  // namespace ks::ctl
