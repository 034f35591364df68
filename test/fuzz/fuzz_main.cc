// SPDX-License-Identifier: Apache-2.0
// Replays corpus files through a fuzz target and, seeded, mutations of them:
//
//     ks_fuzz TARGET [--mutations N] [--seed S] FILE_OR_FOLDER... [--plain FILE_OR_FOLDER...]
//
// Files after --plain are replayed as they are; one called *.jsonl there holds many inputs, a JSON
// string a line, whose characters are bytes. Exit code 1 and the offending input in hexadecimal
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
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "fuzz/fuzz_targets.h"

namespace ks::fuzz {

namespace {

struct Input {
  std::string origin;
  std::string text;
};

struct Options {
  const Target* target = nullptr;
  uint64_t mutations = 0;
  uint64_t seed = 1;
  std::vector<Input> mutated;
  std::vector<Input> plain;
};

// The characters of UTF-8 below U+0100 as bytes.
std::string BytesOf(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) {
      bytes += text[i];
      continue;
    }
    const auto second = static_cast<unsigned char>(text[++i]);
    bytes += static_cast<char>((first << 6) | (second & 0x3f));
  }
  return bytes;
}

bool AddFile(const std::filesystem::path& path, bool lines, std::vector<Input>& inputs) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    fmt::print(stderr, "{}: cannot be read\n", path.string());
    return false;
  }
  const std::string name = path.filename().string();
  if (!lines || path.extension() != ".jsonl") {
    inputs.push_back({name, {std::istreambuf_iterator<char>(stream), {}}});
    return true;
  }
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    const auto read = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const std::string origin = fmt::format("{}:{}", name, ++number);
    if (!read.is_string()) {
      fmt::print(stderr, "{}: no JSON string\n", origin);
      return false;
    }
    inputs.push_back({origin, BytesOf(read.get<std::string>())});
  }
  return true;
}

bool AddFiles(const std::filesystem::path& path, bool lines, std::vector<Input>& inputs) {
  if (!std::filesystem::is_directory(path)) return AddFile(path, lines, inputs);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return std::all_of(files.begin(), files.end(),
                     [&](const auto& file) { return AddFile(file, /*lines=*/false, inputs); });
}

bool ParseOptions(int argc, char** argv, Options& options) {
  if (argc < 3) return false;
  for (const Target& target : Targets()) {
    if (target.name == argv[1]) options.target = &target;
  }
  bool plain = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--mutations" && i + 1 < argc) {
      options.mutations = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--seed" && i + 1 < argc) {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--plain") {
      plain = true;
    } else if (!AddFiles(argv[i], plain, plain ? options.plain : options.mutated)) {
      return false;
    }
  }
  return options.target != nullptr && !(options.mutated.empty() && options.plain.empty());
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
  fmt::print("{}: {} inputs, {} mutations each, {} as they are, seed {}\n", options.target->name,
             options.mutated.size(), options.mutations, options.plain.size(), options.seed);
  Random random(options.seed);
  for (const Input& input : options.mutated) {
    if (!Check(*options.target, input.text, input.origin)) return 1;
    for (uint64_t i = 0; i < options.mutations; ++i) {
      const std::string origin =
          fmt::format("{}, seed {}, mutation {}", input.origin, options.seed, i);
      if (!Check(*options.target, Mutate(input.text, random), origin)) return 1;
    }
  }
  const bool good = std::all_of(
      options.plain.begin(), options.plain.end(),
      [&](const Input& input) { return Check(*options.target, input.text, input.origin); });
  return good ? 0 : 1;
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
