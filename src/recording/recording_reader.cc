// SPDX-License-Identifier: Apache-2.0
#include "recording/recording_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <variant>

#include "api/decode/decoder.h"
#include "api/json/json_split.h"
#include "api/kinds.h"
#include "api/proto/proto_envelope.h"
#include "cache/optional_deltas.h"
#include "config/read/defaults.h"
#include "config/read/load.h"
#include "golang/base64.h"

namespace ks::recording {
namespace {

using nlohmann::json;

constexpr std::string_view kNoRecording = "this is no recording of kubesched --record";
constexpr std::string_view kDamaged =
    "the file was changed or damaged: take the original, or an earlier recording";

// One line, taken apart at its first level. Lifetime: views are parts of the line.
struct Line {
  std::string_view key;    // of the first member
  std::string_view value;  // of the first member
  std::string_view second_key;
  std::string_view second_value;
};

std::optional<Line> Split(std::string_view text) {
  const api::JsonSplitter splitter(text);
  const auto values = splitter.Values();
  if (!values.ok() || values->size() != 1 || values->front().front() != '{') return std::nullopt;
  const auto members = splitter.Members(values->front());
  if (!members.ok() || members->empty()) return std::nullopt;
  Line line{.key = members->front().key, .value = members->front().value};
  if (members->size() > 1) {
    line.second_key = (*members)[1].key;
    line.second_value = (*members)[1].value;
  }
  return line;
}

// A member of the type of `fallback`; another type, or nothing, leaves that.
template <class T>
T Member(const json& object, const char* key, T fallback) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  const bool fits = std::is_same_v<T, bool>          ? found->is_boolean()
                    : std::is_same_v<T, std::string> ? found->is_string()
                                                     : found->is_number_integer();
  return fits ? found->get<T>() : fallback;
}

std::vector<std::string> Texts(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& text : *found) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return texts;
}

json ParseObject(std::string_view text) {
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

RecordingHeader HeaderOf(const json& object) {
  RecordingHeader header{.version = Member(object, "version", std::string())};
  header.term = Member(object, "term", uint64_t{1});
  header.seed = Member(object, "seed", uint64_t{0});
  header.standby = Member(object, "standby", false);
  header.remember_verdicts = Member(object, "rememberVerdicts", true);
  header.unschedulable_max = Duration(Member(object, "unschedulableMax", int64_t{0}));
  header.max_outstanding_bindings = Member(object, "maxOutstandingBindings", uint64_t{0});
  header.gates = {.feature_gates = Texts(object, "featureGates"),
                  .emulated_version = Texts(object, "emulatedVersion"),
                  .min_compatibility_version = Texts(object, "minCompatibilityVersion")};
  const std::vector<std::string> kinds = Texts(object, "kinds");
  for (const framework::OptionalKind kind : framework::kAllOptionalKinds) {
    if (std::ranges::find(kinds, OptionalKindText(kind)) != kinds.end()) header.kinds.Add(kind);
  }
  header.configuration = Member(object, "configuration", std::string());
  return header;
}

std::optional<framework::EvictionOutcome> EvictionOutcomeOf(std::string_view text) {
  using framework::EvictionOutcome;
  for (const EvictionOutcome outcome :
       {EvictionOutcome::kEvicted, EvictionOutcome::kGone, EvictionOutcome::kFailed}) {
    if (EvictionOutcomeText(outcome) == text) return outcome;
  }
  return std::nullopt;
}

scheduler::CallResult CallResultOf(const json& object) {
  scheduler::CallResult result{.call = Member(object, "call", uint64_t{0})};
  result.eviction = EvictionOutcomeOf(Member(object, "eviction", std::string()));
  result.resource_version = Member(object, "resourceVersion", std::string());
  const auto error = object.find("error");
  if (error == object.end() || !error->is_object()) return result;
  result.error.emplace();
  result.error->code = Member(*error, "code", int32_t{0});
  result.error->reason = Member(*error, "reason", std::string());
  result.error->message = Member(*error, "message", std::string());
  result.error->retry_after_seconds = Member(*error, "retryAfterSeconds", int32_t{-1});
  result.error->connection_refused = Member(*error, "connectionRefused", false);
  result.error->timed_out = Member(*error, "timedOut", false);
  return result;
}

// False: the claim is none.
bool ReadClaim(const json& object, scheduler::CallResult& result) {
  std::string text = Member(object, "claim", std::string());
  if (text.empty()) return true;
  text.reserve(text.size() + api::kJsonPadding);
  api::Decoder decoder;
  const auto read = decoder.Object<api::ResourceClaim>(text);
  if (!read.ok() || *read == nullptr) return false;
  auto claim = std::make_shared<api::ResourceClaim>(**read);
  claim->status_fingerprint = Member(object, "claimStatus", uint64_t{0});
  result.claim = std::move(claim);
  return true;
}

scheduler::ExtenderAnswer ExtenderAnswerOf(const json& object) {
  return {.request = Member(object, "request", uint64_t{0}),
          .reply = {.error = Member(object, "error", std::string()),
                    .status = Member(object, "status", 0),
                    .body = Member(object, "body", std::string())}};
}

template <class T>
scheduler::StepInput InputOf(api::Delta<T> delta) {
  using Deltas = std::vector<api::Delta<T>>;
  Deltas deltas;
  deltas.push_back(std::move(delta));
  if constexpr (std::is_constructible_v<cache::OptionalDeltasOf<T>, Deltas>) {
    return cache::OptionalDeltasOf<T>(std::move(deltas));
  } else {
    return deltas;
  }
}

}  // namespace

struct RecordingReader::Impl {
  enum class Read : uint8_t { kLine, kEnd, kCut, kFault };

  // The next line into `text` and `line`, unless Back was called.
  Read ReadLine();
  void Back() { again = true; }

  Error At(std::string_view cause) const {
    return Error{options.name + ": line " + std::to_string(number) + ": " + std::string(cause)};
  }
  Error Garbage() const { return At("this is no line of a recording; " + std::string(kDamaged)); }
  Error Cut() const {
    return At(
        "the recording ends here without its last line: kubesched runs still, or was killed; "
        "--partial replays what is there");
  }

  Result<void> ReadHeader();
  Result<std::optional<RecordedRound>> Next();
  // Absent: the end, which is `ended`.
  Result<bool> ReadInputs(RecordedRound* round);
  Result<bool> ReadOutcomes(RecordedRound* round);
  Result<bool> ReadInput(RecordedRound* round);
  Result<bool> AtCut();
  Result<bool> ReadObjects(scheduler::StepRecord* in);
  template <class T>
  Result<bool> ReadKind(scheduler::StepRecord* in);
  template <class T>
  Result<std::shared_ptr<const T>> Decode(std::string_view object);
  Result<bool> ReadSmall(scheduler::StepRecord* in);
  Result<bool> ReadRound(RecordedRound* round);

  std::unique_ptr<std::istream> stream;
  Options options;
  RecordingHeader header;
  config::FeatureGates gates;
  api::Decoder decoder;
  api::Decoder proto_decoder;  // without JSON for extenders, which protobuf does not have
  std::string text;
  Line line;
  size_t number = 0;
  bool again = false;
  std::string ended;
};

RecordingReader::Impl::Read RecordingReader::Impl::ReadLine() {
  if (std::exchange(again, false)) return Read::kLine;
  if (!std::getline(*stream, text)) return stream->bad() ? Read::kFault : Read::kEnd;
  ++number;
  if (stream->eof()) return Read::kCut;
  text.reserve(text.size() + api::kJsonPadding);
  const std::optional<Line> split = Split(text);
  if (!split) return Read::kFault;
  line = *split;
  return Read::kLine;
}

Result<void> RecordingReader::Impl::ReadHeader() {
  const Read read = ReadLine();
  if (read == Read::kEnd) {
    number = 1;
    return At("the file is empty: " + std::string(kNoRecording));
  }
  if (read == Read::kCut) return Cut();
  if (read == Read::kFault || line.key != "kubeschedRecording") return At(kNoRecording);
  const json object = ParseObject(text);
  if (object.is_null()) return Garbage();
  const int format = Member(object, "kubeschedRecording", 0);
  if (format < kFirstRecordingFormat || format > kRecordingFormat) {
    return At("the recording has format " + std::to_string(format) + ", this program reads " +
              std::to_string(kFirstRecordingFormat) + " to " + std::to_string(kRecordingFormat) +
              ": take kubeschedctl of version " +
              Member(object, "version", std::string("that recorded it")));
  }
  header = HeaderOf(object);
  if (header.configuration.empty()) return Garbage();
  auto made = config::FeatureGates::Make(header.gates, nullptr);
  if (!made.ok()) return At(made.error().message);
  gates = std::move(made).value();
  // Extenders see objects as they came.
  decoder.set_keep_raw(api::KeepRaw::kAll);
  return {};
}

Result<std::optional<RecordedRound>> RecordingReader::Impl::Next() {
  RecordedRound round;
  auto more = ReadInputs(&round);
  if (!more.ok()) return more.error();
  if (!*more) return std::optional<RecordedRound>();
  more = ReadOutcomes(&round);
  if (!more.ok()) return more.error();
  if (!*more) return std::optional<RecordedRound>();
  return std::optional<RecordedRound>(std::move(round));
}

// The file is over where it must not be.
Result<bool> RecordingReader::Impl::AtCut() {
  if (!options.partial) return Cut();
  ended = "cut off";
  return false;
}

// Up to the round's own line, and with it.
Result<bool> RecordingReader::Impl::ReadInputs(RecordedRound* round) {
  while (round->line == 0) {
    switch (ReadLine()) {
      case Read::kFault:
        return Garbage();
      case Read::kEnd:
      case Read::kCut:
        return AtCut();
      case Read::kLine:
        break;
    }
    auto read = ReadInput(round);
    if (!read.ok() || !*read) return read;
  }
  return true;
}

Result<bool> RecordingReader::Impl::ReadInput(RecordedRound* round) {
  if (line.key == "round") return ReadRound(round);
  if (line.key == "list" || line.key == "upsert" || line.key == "delete") {
    return ReadObjects(&round->in);
  }
  if (line.key != "end") return ReadSmall(&round->in);
  if (!round->in.inputs.empty()) return Garbage();
  const json object = ParseObject(text);
  ended = Member(object, "end", std::string());
  if (ended.empty()) return Garbage();
  std::string rest;
  if (std::getline(*stream, rest)) {
    ++number;
    return At("there is something behind the end of the recording; " + std::string(kDamaged));
  }
  return false;
}

// Behind the round's own line, before anything else.
Result<bool> RecordingReader::Impl::ReadOutcomes(RecordedRound* round) {
  for (;;) {
    switch (ReadLine()) {
      case Read::kFault:
        return Garbage();
      case Read::kEnd:
      case Read::kCut:
        return AtCut();  // outcomes may be missing
      case Read::kLine:
        break;
    }
    if (line.key != "decision" && line.key != "evict") break;
    if (!line.value.starts_with('{') || !json::accept(line.value)) return Garbage();
    round->out.push_back({line.key == "evict" ? Outcome::Kind::kEviction : Outcome::Kind::kDecision,
                          std::string(line.value)});
  }
  Back();
  return true;
}

Result<bool> RecordingReader::Impl::ReadRound(RecordedRound* round) {
  const json object = ParseObject(line.value);
  round->in.now = TimePoint(Duration(Member(object, "now", int64_t{0})));
  round->in.wall = TimePoint(Duration(Member(object, "wall", int64_t{0})));
  if (round->in.now == TimePoint() || round->in.wall == TimePoint()) return Garbage();
  round->in.idle_before = Member(object, "idleBefore", false);
  round->in.may_attempt = Member(object, "mayAttempt", true);
  round->line = number;
  return true;
}

// What has no objects.
Result<bool> RecordingReader::Impl::ReadSmall(scheduler::StepRecord* in) {
  if (line.key == "lead") {
    in->inputs.emplace_back(scheduler::LeadOrder());
    return true;
  }
  const json object = ParseObject(text);
  if (line.key == "reload" && object.is_object()) {
    auto read = ReadRecordedConfiguration(Member(object, "reload", std::string()), gates);
    if (!read.ok()) return At(read.error().message);
    in->inputs.emplace_back(scheduler::Reconfigured{
        std::make_shared<const config::Configuration>(std::move(read).value())});
    return true;
  }
  const json body = ParseObject(line.value);
  if (body.is_null()) return Garbage();
  if (line.key == "result") {
    scheduler::CallResult result = CallResultOf(body);
    if (!ReadClaim(body, result)) return Garbage();
    in->inputs.emplace_back(std::move(result));
  } else if (line.key == "extender") {
    in->inputs.emplace_back(ExtenderAnswerOf(body));
  } else {
    return Garbage();
  }
  return true;
}

Result<bool> RecordingReader::Impl::ReadObjects(scheduler::StepRecord* in) {
  const std::string kind(api::PlainJsonText(line.value));
  if (kind == api::kKindOf<api::Pod>.kind) return ReadKind<api::Pod>(in);
  if (kind == api::kKindOf<api::Node>.kind) return ReadKind<api::Node>(in);
  std::optional<Result<bool>> read;
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (kind == api::kKindOf<T>.kind) read.emplace(ReadKind<T>(in));
  });
  if (read) return *std::move(read);
  return Garbage();
}

// `object`: JSON, or a text of JSON that is protobuf in base64.
template <class T>
Result<std::shared_ptr<const T>> RecordingReader::Impl::Decode(std::string_view object) {
  std::string bytes;
  if (object.starts_with('"')) {
    auto read = golang::DecodeBase64(api::PlainJsonText(object));
    if (!read.ok() || !api::IsProtobuf(*read)) return Garbage();
    bytes = std::move(read).value();
  }
  auto decoded = bytes.empty() ? decoder.Object<T>(object) : proto_decoder.Object<T>(bytes);
  if (!decoded.ok()) {
    return At(std::string(api::kKindOf<T>.kind) + ": " + decoded.error().message + "; " +
              std::string(kDamaged));
  }
  if (*decoded == nullptr || (*decoded)->meta.name.empty()) return Garbage();
  return decoded;
}

template <class T>
Result<bool> RecordingReader::Impl::ReadKind(scheduler::StepRecord* in) {
  using Type = typename api::Delta<T>::Type;
  api::Delta<T> delta;
  if (line.key != "list") {
    if (line.second_key != "object") return Garbage();
    delta.type = line.key == "upsert" ? Type::kUpsert : Type::kDelete;
    auto object = Decode<T>(line.second_value);
    if (!object.ok()) return object.error();
    delta.object = std::move(object).value();
    in->inputs.push_back(InputOf(std::move(delta)));
    return true;
  }
  const json list = ParseObject(text);
  const auto count = Member(list, "count", int64_t{-1});
  if (count < 0) return Garbage();
  for (int64_t i = 0; i < count; ++i) {
    const Read read = ReadLine();
    if (read == Read::kEnd || read == Read::kCut) return AtCut();
    if (read == Read::kFault || line.key != "item") return Garbage();
    auto object = Decode<T>(line.value);
    if (!object.ok()) return object.error();
    delta.items.push_back(std::move(object).value());
  }
  in->inputs.push_back(InputOf(std::move(delta)));
  return true;
}

RecordingReader::RecordingReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingReader::~RecordingReader() = default;

Result<std::unique_ptr<RecordingReader>> RecordingReader::Open(std::unique_ptr<std::istream> stream,
                                                               Options options) {
  auto impl = std::make_unique<Impl>();
  impl->stream = std::move(stream);
  impl->options = std::move(options);
  if (Result<void> read = impl->ReadHeader(); !read.ok()) return read.error();
  return std::unique_ptr<RecordingReader>(new RecordingReader(std::move(impl)));
}

const RecordingHeader& RecordingReader::header() const { return impl_->header; }

const std::string& RecordingReader::ended() const { return impl_->ended; }

Result<std::optional<RecordedRound>> RecordingReader::Next() { return impl_->Next(); }

Result<config::Configuration> ReadRecordedConfiguration(const std::string& yaml,
                                                        const config::FeatureGates& gates) {
  config::LoadResult read = config::ParseConfiguration(yaml, {.gates = &gates, .overlay = {}});
  if (const auto* faults = std::get_if<config::Faults>(&read)) {
    return Error{"this version refuses the recorded configuration: " + faults->text};
  }
  config::Configuration configuration = std::move(std::get<config::Loaded>(read).configuration);
  if (Result<void> applied = config::ApplyExtenders(&configuration); !applied.ok()) {
    return Error{"this version refuses the recorded configuration: " + applied.error().message};
  }
  return configuration;
}

}  // namespace ks::recording
