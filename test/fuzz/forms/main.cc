// SPDX-License-Identifier: Apache-2.0
// Differential fuzzing of the two forms in which an API server sends objects (docs/testing.md):
//
//     ks_fuzz_forms KIND|all [--count N] [--seed S] [--reference PROGRAM] [--answers FILE] FILE...
//
// The files have an object's JSON a line, under "want" or "json"; those of KIND are the first to be
// changed. Lines of --answers are what a real kube-apiserver sent, {"is": "object", "list" or
// "event", "kind", "json", "hex"}: they must read alike, and the reference must send the same.
//
// Exit code 1 if something reads differently, with the smallest such object, 77 without the
// reference.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fuzz/forms/forms.h"
#include "fuzz/forms/mutator.h"
#include "fuzz/forms/reference.h"
#include "testing/control_plane.h"
#include "testing/hex.h"

namespace ks::fuzz {
namespace {

using Json = nlohmann::json;

constexpr int kSkipped = 77;
constexpr size_t kBatch = 64;
constexpr size_t kMostKept = 256;
constexpr size_t kMostBytes = 30'000;  // of an object

struct Options {
  std::vector<const FormsTarget*> targets{};
  uint64_t count = 2000;
  uint64_t seed = 1;
  std::string reference{};
  std::string answers{};
  std::vector<std::string> files{};
};

bool ParseOptions(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  for (const FormsTarget& target : FormsTargets()) {
    if (target.kind == argv[1] || std::string_view(argv[1]) == "all") {
      options.targets.push_back(&target);
    }
  }
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("--")) {
      options.files.emplace_back(word);
    } else if (i + 1 == argc) {
      return false;
    } else if (word == "--count") {
      options.count = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--seed") {
      options.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (word == "--reference") {
      options.reference = argv[++i];
    } else if (word == "--answers") {
      options.answers = argv[++i];
    } else {
      return false;
    }
  }
  return !options.targets.empty();
}

std::string TextOf(const Json& object) {
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<std::vector<Json>> ReadLines(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{path + ": cannot be read"};
  std::vector<Json> rows;
  for (std::string line; std::getline(file, line);) {
    rows.push_back(Json::parse(line, nullptr, false));
    if (!rows.back().is_object()) return Error{path + ": no JSON: " + line};
  }
  return rows;
}

// Threads: one. Lifetime: borrows the reference.
class Fuzzing {
 public:
  Fuzzing(const FormsTarget& target, uint64_t seed, FormsReference& reference)
      : target_(target), reference_(reference), mutator_(seed) {}

  // Answers of a real server. Objects among them are changed later.
  Result<void> CheckAnswers(const std::vector<Json>& rows);
  void Add(const Json& object) {
    seeds_.push_back(object);
    mutator_.Learn(object);
  }
  Result<void> Run(uint64_t count);
  std::string_view kind() const { return target_.kind; }
  size_t seeds() const { return seeds_.size(); }
  std::string Summary() const {
    return fmt::format("{} objects, {} of them refused by the reference, {} differences", asked_,
                       refused_, differences_);
  }
  uint64_t differences() const { return differences_; }

 private:
  const Json& Pick();
  Result<void> CheckBatch(size_t size);
  Result<void> Report(Json object, std::string wrong);
  void Tell(const std::string& text) {
    ++differences_;
    fmt::print("{}: {}\n", target_.kind, text);
  }

  const FormsTarget& target_;
  FormsReference& reference_;
  Mutator mutator_;
  std::vector<Json> seeds_;
  std::vector<Json> kept_;  // some of those that were changed
  uint64_t asked_ = 0;
  uint64_t refused_ = 0;
  uint64_t differences_ = 0;
};

Result<void> Fuzzing::CheckAnswers(const std::vector<Json>& rows) {
  for (const Json& row : rows) {
    if (row.at("kind") != target_.kind) continue;
    const std::string form = row.at("is");
    const Forms sent{.json = row.at("json"),
                     .protobuf = testing::FromHex(row.at("hex").get<std::string>())};
    const auto check = form == "object" ? target_.object
                       : form == "list" ? target_.list
                                        : target_.event;
    if (const std::string wrong = check(sent); !wrong.empty()) {
      Tell(fmt::format("the server's {}: {}\n{}", form, wrong, sent.json));
    }
    if (form != "object") continue;
    auto answer = reference_.AskStored(sent.protobuf);
    if (!answer.ok()) return answer.error();
    if (answer->object.json != sent.json || answer->object.protobuf != sent.protobuf) {
      Tell(fmt::format("the reference sends something else than the server: {}{}\nserver: {}",
                       answer->refused, answer->object.json, sent.json));
    }
    Add(Json::parse(sent.json));
  }
  return {};
}

const Json& Fuzzing::Pick() {
  Random& random = mutator_.random();
  const std::vector<Json>& from = kept_.empty() || random.Below(2) == 0 ? seeds_ : kept_;
  return from[random.Below(from.size())];
}

Result<void> Fuzzing::Run(uint64_t count) {
  while (asked_ < count && differences_ == 0) {
    if (auto done = CheckBatch(std::min<size_t>(kBatch, count - asked_)); !done.ok()) return done;
  }
  return {};
}

Result<void> Fuzzing::CheckBatch(size_t size) {
  std::vector<Json> objects;
  std::vector<std::string> texts;
  while (objects.size() < size) {
    Json changed = mutator_.Mutate(Pick());
    std::string text = TextOf(changed);
    if (text.size() > kMostBytes) continue;
    objects.push_back(std::move(changed));
    texts.push_back(std::move(text));
  }
  auto answers = reference_.Ask(texts);
  if (!answers.ok()) return answers.error();
  asked_ += size;
  for (size_t i = 0; i < size; ++i) {
    const Answer& answer = (*answers)[i];
    if (!answer.refused.empty()) {
      ++refused_;
      continue;
    }
    if (std::string wrong = target_.Check(answer); !wrong.empty()) {
      return Report(std::move(objects[i]), std::move(wrong));
    }
    if (mutator_.random().Below(4) != 0) continue;
    const Json printed = Json::parse(answer.object.json);
    mutator_.Learn(printed);
    if (kept_.size() < kMostKept) {
      kept_.push_back(printed);
    } else {
      kept_[mutator_.random().Below(kMostKept)] = printed;
    }
  }
  return {};
}

// Prints the object after it has been made as small as it goes.
Result<void> Fuzzing::Report(Json object, std::string wrong) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const std::vector<Json> parts = Smaller(object);
    std::vector<std::string> texts;
    for (const Json& part : parts) texts.push_back(TextOf(part));
    auto answers = reference_.Ask(texts);
    if (!answers.ok()) return answers.error();
    for (size_t i = 0; i < parts.size() && !smaller; ++i) {
      if (!(*answers)[i].refused.empty()) continue;
      std::string still = target_.Check((*answers)[i]);
      smaller = !still.empty();
      if (!smaller) continue;
      object = parts[i];
      wrong = std::move(still);
    }
  }
  auto answers = reference_.Ask({TextOf(object)});
  if (!answers.ok()) return answers.error();
  std::string hex;
  for (const char c : answers->front().object.protobuf) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  Tell(fmt::format("{}\nobject: {}\nJSON: {}\nprotobuf: {}", wrong, TextOf(object),
                   answers->front().object.json, hex));
  return {};
}

int Fail(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  return 2;
}

Result<void> ReadSeeds(const Options& options, Fuzzing& fuzzing) {
  if (!options.answers.empty()) {
    auto rows = ReadLines(options.answers);
    if (!rows.ok()) return rows.error();
    if (auto done = fuzzing.CheckAnswers(*rows); !done.ok()) return done;
  }
  for (const std::string& path : options.files) {
    auto rows = ReadLines(path);
    if (!rows.ok()) return rows.error();
    for (const Json& row : *rows) {
      const Json object = row.contains("want") ? row["want"] : Json::parse(row.value("json", "{}"));
      if (object.value("kind", "") == fuzzing.kind()) fuzzing.Add(object);
    }
  }
  if (fuzzing.seeds() == 0) return Error{"no object of the kind to begin with"};
  return {};
}

int Run(Options& options) {
  std::signal(SIGPIPE, SIG_IGN);  // NOLINT(cert-err33-c): the reference's end shows when it is read
  if (options.reference.empty()) {
    std::string why;
    if (!testing::ControlPlane::Available(&why)) {
      fmt::print("skipped: {}\n", why);
      return kSkipped;
    }
    options.reference = testing::ControlPlane::BinaryPath("formoracle");
  }
  auto reference = FormsReference::Start(options.reference);
  if (!reference.ok()) return Fail(reference.error());
  uint64_t differences = 0;
  for (const FormsTarget* const target : options.targets) {
    Fuzzing fuzzing(*target, options.seed, **reference);
    if (auto read = ReadSeeds(options, fuzzing); !read.ok()) return Fail(read.error());
    fmt::print("{}: {} seeds, seed {}\n", target->kind, fuzzing.seeds(), options.seed);
    if (auto done = fuzzing.Run(options.count); !done.ok()) return Fail(done.error());
    fmt::print("{}: {}\n", target->kind, fuzzing.Summary());
    differences += fuzzing.differences();
  }
  return differences == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ks::fuzz

int main(int argc, char** argv) {
  ks::fuzz::Options options;
  if (!ks::fuzz::ParseOptions(argc, argv, options)) {
    fmt::print(stderr,
               "usage: ks_fuzz_forms KIND|all [--count N] [--seed S] [--reference PROGRAM] "
               "[--answers FILE] FILE...\nkinds:");
    for (const ks::fuzz::FormsTarget& target : ks::fuzz::FormsTargets())
      fmt::print(stderr, " {}", target.kind);
    fmt::print(stderr, "\n");
    return 2;
  }
  return ks::fuzz::Run(options);
}
