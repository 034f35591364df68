// SPDX-License-Identifier: Apache-2.0
// Replays corpus files through a fuzz target and, seeded, mutations of them:
//
//     ks_fuzz TARGET [--mutations N] [--seed S] FILE_OR_FOLDER... [--plain FILE_OR_FOLDER...]
//
// Files after --plain are replayed as they are. Exit code 1 and the offending input in hexadecimal
// when a property is violated.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "fuzz/fuzz_targets.h"

namespace ks::fuzz {

namespace {

struct Options {
  const Target* target = nullptr;
  uint64_t mutations = 0;
  uint64_t seed = 1;
  std::vector<std::filesystem::path> files;
  size_t mutated = SIZE_MAX;  // how many of the files
};

void AddFiles(const std::filesystem::path& path, std::vector<std::filesystem::path>& files) {
  if (!std::filesystem::is_directory(path)) {
    files.push_back(path);
    return;
  }
  const size_t first = files.size();
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
}

bool ParseOptions(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  for (const Target& target : Targets()) {
    if (target.name == argv[1]) options.target = &target;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      options.mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--plain") {
      options.mutated = options.files.size();
    } else {
      AddFiles(argv[i], options.files);
    }
  }
  return options.target != nullptr && !options.files.empty();
}

// A few local changes: what a format's parser is usually sensitive to, or any byte.
std::string Mutate(std::string text, Random& random) {
  static constexpr std::string_view kTokens[] = {
      "\"",  "{",       "}",        "[",  "]",   ",",
      ":",   "null",    "true",     "-1", "1e9", "9223372036854775808",
      "\\u", "\\ud800", "\\",       "%",  "e",   "Ki",
      "E",   ".",       "+",        "-",  "0",   "\n",
      " ",   "\xff",    "\xc3\xa9", "$",  "/",   "!",
      "In",  "Exists",
  };
  const uint64_t changes = 1 + random.Below(4);
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = random.Below(text.size() + 1);
    const size_t length = random.Below(std::min<size_t>(text.size() - at, 16) + 1);
    switch (random.Below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kTokens[random.Below(std::size(kTokens))]);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
        break;
      default:
        text.replace(at, length, kTokens[random.Below(std::size(kTokens))]);
    }
  }
  return text;
}

bool Check(const Target& target, const std::string& input, const std::string& origin) {
  const std::string wrong = target.run(input);
  if (wrong.empty()) return true;
  std::string hex;
  for (const char c : input) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  fmt::print(stderr, "{}: {}: {}\ninput: {}\nhex: {}\n", target.name, origin, wrong, input, hex);
  return false;
}

int Run(const Options& options) {
  fmt::print("{}: {} files, {} mutations each, seed {}\n", options.target->name,
             options.files.size(), options.mutations, options.seed);
  Random random(options.seed);
  for (size_t f = 0; f < options.files.size(); ++f) {
    const std::filesystem::path& file = options.files[f];
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
      fmt::print(stderr, "{}: cannot be read\n", file.string());
      return 2;
    }
    const std::string input((std::istreambuf_iterator<char>(stream)),
                            std::istreambuf_iterator<char>());
    if (!Check(*options.target, input, file.filename().string())) return 1;
    for (uint64_t i = 0; f < options.mutated && i < options.mutations; ++i) {
      const std::string origin =
          fmt::format("{}, seed {}, mutation {}", file.filename().string(), options.seed, i);
      if (!Check(*options.target, Mutate(input, random), origin)) return 1;
    }
  }
  return 0;
}

}  // namespace

}  // namespace ks::fuzz

int main(int argc, char** argv) {
  ks::fuzz::Options options;
  if (!ks::fuzz::ParseOptions(argc, argv, options)) {
    fmt::print(stderr,
               "usage: ks_fuzz TARGET [--mutations N] [--seed S] FILE_OR_FOLDER... "
               "[--plain FILE_OR_FOLDER...]\ntargets:");
    for (const ks::fuzz::Target& target : ks::fuzz::Targets())
      fmt::print(stderr, " {}", target.name);
    fmt::print(stderr, "\n");
    return 2;
  }
  return ks::fuzz::Run(options);
}
