// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_edges.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/logging.h"
#include "client/auth/kubeconfig.h"
#include "kubesched/flags/flags.h"
#include "plugins/registry.h"
#include "recording/recording_reader.h"
#include "recording/replay.h"
#include "scheduler/extenders/extender_wire.h"
#include "server/http/request_reader.h"

namespace ks::fuzz {

namespace {

// A file in memory with other content each time; its path stays.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    KS_CHECK(descriptor_ >= 0, "files in memory can be made");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  const std::string& Write(std::string_view content) {
    const bool written =
        ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, content.data(), content.size(), 0) ==
                                              static_cast<ssize_t>(content.size());
    KS_CHECK(written, "files in memory can be written");
    return path_;
  }

 private:
  const int descriptor_;
  std::string path_;
};

}  // namespace

// An error is one line; the same content means the same each time.
std::string RunKubeconfig(std::string_view input) {
  static MemoryFile file;
  const std::string& path = file.Write(input);
  const auto access = client::LoadKubeconfig(path);
  const auto again = client::LoadKubeconfig(path);
  if (access.ok() != again.ok()) return "loads only once";
  if (access.ok()) return access->server == again->server ? "" : "another server";
  const std::string& message = access.error().message;
  if (message.empty()) return "an error without a text";
  if (message != again.error().message) return "another error: " + again.error().message;
  return message.find('\n') == std::string::npos ? "" : "an error of several lines: " + message;
}

// Who is to leave is told why, who is to run has no text; the flags that were given are flags.
std::string RunFlags(std::string_view input) {
  std::vector<std::string> arguments;
  for (size_t at = 0; at < input.size();) {
    const size_t end = std::min(input.find('\n', at), input.size());
    arguments.emplace_back(input.substr(at, end - at));
    at = end + 1;
  }
  const ParsedFlags parsed = ParseFlags(arguments);
  if (!parsed.run) {
    if (parsed.exit_code != 0 && parsed.standard_error.empty()) return "refused without a text";
    if (parsed.exit_code == 0 && parsed.standard_output.empty()) return "ends without a text";
    return "";
  }
  if (parsed.exit_code != 0) return "runs with an exit code";
  const auto& values = parsed.options.values;
  for (const std::string& name : parsed.options.given) {
    const bool known = std::any_of(values.begin(), values.end(),
                                   [&](const auto& value) { return value.first == name; });
    if (!known) return "given, but no flag: " + name;
  }
  return "";
}

namespace {

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// The requests that a reader finds in bytes which come in pieces of `piece` at most, up to its
// first fault, which it may find earlier or later.
std::string Understood(std::string_view bytes, size_t piece) {
  using Progress = server::RequestReader::Progress;
  constexpr size_t kHeaderLimit = 512;
  constexpr uint64_t kBodyLimit = 256;
  std::string understood;
  size_t buffered_bytes = 0;
  server::RequestReader reader(kHeaderLimit, buffered_bytes);
  while (true) {
    // Like a connection: parse, and read when more is needed.
    if (!reader.begun() && reader.buffered() > 0) reader.Begin();
    Progress progress = Progress::kMore;
    boost::system::error_code error;
    if (reader.begun()) progress = reader.Parse(error);
    if (progress == Progress::kBroken) break;
    if (progress == Progress::kHeader && !reader.LimitBody(kBodyLimit)) break;
    if (progress == Progress::kWhole) {
      const auto& message = reader.message();
      understood.append(View(message.method_string())).append(" ").append(View(message.target()));
      for (const auto& field : message) {
        understood.append("\n").append(View(field.name_string())).append(": ");
        understood.append(View(field.value()));
      }
      understood.append("\n\n").append(message.body()).append("\n");
      reader.Reset(true);
    }
    if (progress != Progress::kMore) continue;
    if (bytes.empty()) break;
    const boost::asio::mutable_buffer room = reader.Prepare();
    const size_t size = std::min({room.size(), bytes.size(), piece});
    std::memcpy(room.data(), bytes.data(), size);
    reader.Commit(size);
    bytes.remove_prefix(size);
  }
  return understood;
}

}  // namespace

// However the bytes arrive, the same requests are in them: what one piece hides cannot be another
// request.
std::string RunHttp(std::string_view input) {
  if (input.empty()) return "";
  const size_t piece = static_cast<unsigned char>(input[0]) + 1U;
  const std::string_view bytes = input.substr(1);
  const std::string whole = Understood(bytes, bytes.size() + 1);
  for (const size_t cut : {piece, size_t{1}}) {
    const std::string cut_up = Understood(bytes, cut);
    if (cut_up != whole) {
      return "in one piece:\n" + whole + "\nin pieces of " + std::to_string(cut) + ":\n" + cut_up;
    }
  }
  return "";
}

// What is refused has a text, what is taken has no empty places.
std::string RunExtender(std::string_view input) {
  if (input.size() < 2) return "";
  // 200 for half of them: else little is read.
  const auto status = static_cast<unsigned char>(input[0]) % 2 == 0
                          ? 200
                          : 2 * static_cast<int>(static_cast<unsigned char>(input[1]));
  const framework::ExtenderReply reply = {
      .error = {}, .status = status, .body = std::string(input.substr(2))};
  constexpr std::string_view kUrl = "http://extender/verb";
  const auto filtered = scheduler::ReadFilterAnswer(reply, "filter", kUrl);
  if (!filtered.ok() && filtered.error().message.empty()) return "filter: refused without a text";
  if (filtered.ok() && filtered->nodes.has_value() &&
      std::find(filtered->nodes->begin(), filtered->nodes->end(), nullptr) !=
          filtered->nodes->end()) {
    return "filter: a node that is none";
  }
  const auto scores = scheduler::ReadPrioritizeAnswer(reply, "prioritize", kUrl);
  if (!scores.ok() && scores.error().message.empty()) return "prioritize: refused without a text";
  const auto bound = scheduler::ReadBindAnswer(reply, "bind", kUrl);
  if (!bound.ok() && bound.error().message.empty()) return "bind: refused without a text";
  const auto victims = scheduler::ReadPreemptAnswer(reply, "preempt", kUrl);
  if (!victims.ok() && victims.error().message.empty()) return "preempt: refused without a text";
  return "";
}

namespace {

using OpenedRecording = Result<std::unique_ptr<recording::RecordingReader>>;

OpenedRecording OpenRecording(std::string_view input, bool partial) {
  return recording::RecordingReader::Open(std::make_unique<std::istringstream>(std::string(input)),
                                          {.name = "file", .partial = partial});
}

// Of an error of one line that names the file.
std::string WhyNoFault(const std::string& message) {
  if (!message.starts_with("file: ")) return "the error does not name the file: " + message;
  return message.find('\n') == std::string::npos ? "" : "an error of several lines: " + message;
}

// Lines of rounds only go up.
std::string ReadRounds(recording::RecordingReader& reader) {
  size_t line = 1;
  while (true) {
    const auto round = reader.Next();
    if (!round.ok()) return WhyNoFault(round.error().message);
    if (!round->has_value()) return reader.ended().empty() ? "ended without a reason" : "";
    if ((*round)->line <= line) return "a round before the one before";
    line = (*round)->line;
  }
}

}  // namespace

std::string RunRecording(std::string_view input) {
  log::SetVerbosity(-1);
  static const framework::Registry kRegistry = plugins::InTreeRegistry();
  for (const bool partial : {false, true}) {
    const OpenedRecording read = OpenRecording(input, partial);
    std::string wrong = read.ok() ? ReadRounds(**read) : WhyNoFault(read.error().message);
    if (!wrong.empty()) return wrong;
    const OpenedRecording replayed = OpenRecording(input, partial);
    if (!replayed.ok()) continue;
    const auto report = recording::Replay(**replayed, {}, kRegistry);
    if (!report.ok() && report.error().message.empty()) return "not replayed, without a text";
  }
  return "";
}

}  // namespace ks::fuzz
