// SPDX-License-Identifier: Apache-2.0
#include "recording/recording.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/json/encode_claim.h"
#include "api/kinds.h"
#include "api/proto/proto_envelope.h"
#include "config/print/print.h"
#include "config/print/print_json.h"
#include "golang/base64.h"
#include "inspect/decision_json.h"
#include "inspect/json_fields.h"

namespace ks::recording {
namespace {

using config::JsonBuilder;

void AddTexts(JsonBuilder& json, std::string_view key, const std::vector<std::string>& texts) {
  json.Key(key).BeginArray();
  for (const std::string& text : texts) json.Text(text);
  json.EndArray();
}

void AddError(JsonBuilder& json, const api::ApiError& error) {
  json.Key("error").BeginObject();
  json.Key("code").Number(error.code);
  inspect::AddText(json, "reason", error.reason);
  json.Key("message").Text(error.message);
  if (error.retry_after_seconds >= 0) {
    json.Key("retryAfterSeconds").Number(error.retry_after_seconds);
  }
  if (error.connection_refused) json.Key("connectionRefused").Bool(true);
  if (error.timed_out) json.Key("timedOut").Bool(true);
  json.EndObject();
}

// Puts the lines of one round behind each other.
class Lines {
 public:
  explicit Lines(std::string* out) : out_(*out) {}

  template <class T>
  void operator()(const std::vector<api::Delta<T>>& deltas) {
    using Type = typename api::Delta<T>::Type;
    for (const api::Delta<T>& delta : deltas) {
      if (delta.type == Type::kReplace) {
        JsonBuilder json;
        json.BeginObject().Key("list").Text(api::kKindOf<T>.kind);
        const size_t count = std::max(delta.items.size(), delta.texts.size());
        Add(json.Key("count").Number(count).EndObject());
        for (size_t i = 0; i < count; ++i) {
          AddObject("{\"item\":", i < delta.items.size() ? delta.items[i].get() : nullptr,
                    i < delta.texts.size() ? delta.texts[i].text : "");
        }
        continue;
      }
      const char* what = delta.type == Type::kUpsert ? "{\"upsert\":\"" : "{\"delete\":\"";
      AddObject(what + std::string(api::kKindOf<T>.kind) + "\",\"object\":", delta.object.get(),
                delta.text.text);
    }
  }
  void operator()(const scheduler::OwnerDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::StorageDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::DeviceDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::GroupDeltas& deltas) { std::visit(*this, deltas); }
  void operator()(const scheduler::CallResult& result) {
    JsonBuilder json;
    json.BeginObject().Key("result").BeginObject().Key("call").Number(result.call);
    if (result.eviction) json.Key("eviction").Text(EvictionOutcomeText(*result.eviction));
    if (result.error) AddError(json, *result.error);
    inspect::AddText(json, "resourceVersion", result.resource_version);
    if (result.claim) {
      json.Key("claim").Text(api::ClaimJson(*result.claim));
      json.Key("claimStatus").Number(result.claim->status_fingerprint);
    }
    Add(json.EndObject().EndObject());
  }
  void operator()(const scheduler::ExtenderAnswer& answer) {
    JsonBuilder json;
    json.BeginObject().Key("extender").BeginObject().Key("request").Number(answer.request);
    inspect::AddText(json, "error", answer.reply.error);
    json.Key("status").Number(answer.reply.status);
    Add(json.Key("body").Text(answer.reply.body).EndObject().EndObject());
  }
  void operator()(const scheduler::LeadOrder& /*order*/) {
    JsonBuilder json;
    Add(json.BeginObject().Key("lead").Bool(true).EndObject());
  }
  void operator()(const scheduler::Reconfigured& reconfigured) {
    JsonBuilder json;
    json.BeginObject().Key("reload").Text(RecordedConfiguration(*reconfigured.configuration));
    Add(json.EndObject());
  }

  void Round(const scheduler::StepRecord& record) {
    JsonBuilder json;
    json.BeginObject().Key("round").BeginObject();
    json.Key("now").Number(record.now.time_since_epoch().count());
    json.Key("wall").Number(record.wall.time_since_epoch().count());
    json.Key("idleBefore").Bool(record.idle_before);
    json.Key("mayAttempt").Bool(record.may_attempt);
    Add(json.EndObject().EndObject());
  }
  void Outcome(std::string_view key, std::string_view object) {
    JsonBuilder json;
    Add(json.BeginObject().Key(key).Json(object).EndObject());
  }

  const std::string& without_text() const { return without_text_; }

 private:
  void Add(JsonBuilder& json) { out_ += json.Take() + "\n"; }
  // `object`: for the complaint; null if it has a text.
  template <class T>
  void AddObject(std::string_view head, const T* object, std::string_view text) {
    if (text.empty()) {
      if (without_text_.empty()) {
        without_text_ = std::string(api::kKindOf<T>.kind);
        if (object != nullptr) without_text_ += " " + object->meta.Key();
      }
      return;
    }
    out_ += head;
    if (api::IsProtobuf(text)) {
      out_.append("\"").append(golang::EncodeBase64(text)).append("\"}\n");
      return;
    }
    const size_t begin = out_.size();
    out_ += text;
    // Between the tokens of JSON they are as good as blanks, and within texts they cannot be.
    for (size_t at = out_.find('\n', begin); at != std::string::npos; at = out_.find('\n', at)) {
      out_[at] = ' ';
    }
    out_ += "}\n";
  }

  std::string& out_;
  std::string without_text_;
};

}  // namespace

std::string RecordedConfiguration(config::Configuration configuration) {
  for (config::Extender& extender : configuration.extenders) extender.tls_config.reset();
  return config::WriteYaml(configuration);
}

std::string HeaderLine(const RecordingHeader& header) {
  JsonBuilder json;
  json.BeginObject().Key("kubeschedRecording").Number(kRecordingFormat);
  json.Key("version").Text(header.version);
  json.Key("term").Number(header.term);
  json.Key("began").Text(FormatMicroTime(header.began));
  json.Key("seed").Number(header.seed);
  json.Key("standby").Bool(header.standby);
  json.Key("rememberVerdicts").Bool(header.remember_verdicts);
  json.Key("unschedulableMax").Number(header.unschedulable_max.count());
  json.Key("maxOutstandingBindings").Number(header.max_outstanding_bindings);
  AddTexts(json, "featureGates", header.gates.feature_gates);
  AddTexts(json, "emulatedVersion", header.gates.emulated_version);
  AddTexts(json, "minCompatibilityVersion", header.gates.min_compatibility_version);
  json.Key("kinds").BeginArray();
  for (const framework::OptionalKind kind : framework::kAllOptionalKinds) {
    if (header.kinds.Contains(kind)) json.Text(OptionalKindText(kind));
  }
  json.EndArray();
  json.Key("configuration").Text(header.configuration);
  json.EndObject();
  return json.Take() + "\n";
}

Result<void> AppendLines(const scheduler::StepRecord& record, std::string* lines) {
  Lines builder(lines);
  for (const scheduler::StepInput& input : record.inputs) std::visit(builder, input);
  builder.Round(record);
  for (const scheduler::Decision& decision : record.decisions) {
    builder.Outcome("decision", inspect::DecisionJson(decision));
  }
  for (const scheduler::EvictionOrder& order : record.evictions) {
    builder.Outcome("evict", EvictionJson(order));
  }
  if (builder.without_text().empty()) return {};
  return Error{"there is no text of " + builder.without_text()};
}

std::string EndLine(std::string_view why) {
  JsonBuilder json;
  return json.BeginObject().Key("end").Text(why).EndObject().Take() + "\n";
}

std::string EvictionJson(const scheduler::EvictionOrder& order) {
  JsonBuilder json;
  json.BeginObject().Key("victim").Text(order.victim->meta.Key());
  json.Key("uid").Text(order.victim->meta.uid);
  json.Key("node").Text(order.victim->node_name.str());
  return json.EndObject().Take();
}

std::string_view OptionalKindText(framework::OptionalKind kind) {
  std::string_view text;
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) {
    if (framework::kOptionalKindOf<T> == kind) text = api::kKindOf<T>.kind;
  });
  return text;
}

std::string_view EvictionOutcomeText(framework::EvictionOutcome outcome) {
  switch (outcome) {
    case framework::EvictionOutcome::kEvicted:
      return "Evicted";
    case framework::EvictionOutcome::kGone:
      return "Gone";
    case framework::EvictionOutcome::kFailed:
      break;
  }
  return "Failed";
}

}  // namespace ks::recording
