// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_targets.h"

#include <algorithm>
#include <set>
#include <variant>

#include "api/decode/decoder.h"
#include "api/json/encode.h"
#include "api/quantity.h"
#include "api/selector.h"
#include "base/logging.h"
#include "config/convert/convert.h"
#include "config/print/print.h"
#include "config/read/load.h"
#include "fuzz/fuzz_apiserver.h"
#include "fuzz/fuzz_cel.h"
#include "fuzz/fuzz_edges.h"
#include "fuzz/fuzz_module.h"
#include "fuzz/fuzz_writers.h"
#include "golang/json_text.h"
#include "golang/quote.h"
#include "golang/utf8.h"
#include "inspect/cluster_dump.h"

namespace ks::fuzz {

namespace {

using api::Decoder;
using api::Pod;
using api::Quantity;

// The input with the padding that a Decoder asks for.
class Padded {
 public:
  explicit Padded(std::string_view text) : size_(text.size()), text_(text) {
    text_.append(api::kJsonPadding, ' ');
  }
  std::string_view view() const { return {text_.data(), size_}; }

 private:
  size_t size_;
  std::string text_;
};

// The canonical text has the same value, sums can be undone.
std::string RunQuantity(std::string_view input) {
  const Result<Quantity> parsed = Quantity::Parse(input);
  if (!parsed.ok()) return parsed.error().message.empty() ? "error without text" : "";
  const Quantity& q = *parsed;
  q.Value();
  q.MilliValue();
  const std::string text = q.ToString();
  if ((q <=> q) != 0) return "not equal to itself";
  // Far exponents: sums are rounded, and the canonical exponent may not fit any more.
  const size_t letter = input.find_first_of("eE");
  if (letter != std::string_view::npos && input.size() - letter > 5) return "";
  const Result<Quantity> again = Quantity::Parse(text);
  if (!again.ok()) return "canonical text does not parse: " + text;
  if (*again != q) return "canonical text has another value: " + text;
  for (const char* const other : {"1", "100m", "-1Gi", "9223372036854775807", "1e30"}) {
    const Quantity b = *Quantity::Parse(other);
    Quantity sum = q;
    sum += b;
    if ((sum <=> q) != (b <=> Quantity()))
      return std::string("sum on the wrong side with ") + other;
    sum -= b;
    if (sum != q) return std::string("sum cannot be undone with ") + other;
  }
  return "";
}

std::string CheckLabelSelector(const std::optional<api::LabelSelectorSpec>& spec,
                               const api::LabelMap& labels) {
  const Result<api::LabelSelector> selector = api::LabelSelector::Compile(spec);
  if (!selector.ok()) return selector.error().message.empty() ? "error without text" : "";
  selector->ToString();
  if (!spec && selector->Matches(labels)) return "the null selector matches";
  if (selector->Empty() && !selector->Matches(labels)) return "the empty selector does not match";
  return "";
}

std::string CheckAffinity(const std::optional<api::PodAffinity>& affinity,
                          const api::LabelMap& labels) {
  if (!affinity) return "";
  for (const api::PodAffinityTerm& term : affinity->required) {
    if (std::string wrong = CheckLabelSelector(term.label_selector, labels); !wrong.empty())
      return wrong;
    if (std::string wrong = CheckLabelSelector(term.namespace_selector, labels); !wrong.empty())
      return wrong;
  }
  return "";
}

// The input is a Pod; its selectors are compiled and asked about its own labels.
std::string RunSelector(std::string_view input) {
  static Decoder decoder;
  const Padded padded(input);
  const Result<api::PodPtr> decoded = decoder.Object<Pod>(padded.view());
  if (!decoded.ok() || !*decoded) return "";
  const Pod& pod = **decoded;
  if (pod.spec->node_affinity && pod.spec->node_affinity->required) {
    const api::NodeSelectorSpec& required = *pod.spec->node_affinity->required;
    const api::NodeSelector selector = api::NodeSelector::Compile(required);
    if (selector.HasErrors() == selector.ErrorText().empty()) return "errors without text";
    if (selector.Matches(pod.meta.labels, pod.meta.name) && required.terms.empty())
      return "no terms, but a match";
  }
  if (pod.spec->node_affinity) {
    const auto preferred = api::PreferredTerms::Compile(pod.spec->node_affinity->preferred);
    if (preferred.ok()) preferred->Score(pod.meta.labels, "n");
  }
  for (const api::TopologySpreadConstraint& constraint : pod.spec->topology_spread_constraints) {
    if (std::string wrong = CheckLabelSelector(constraint.label_selector, pod.meta.labels);
        !wrong.empty())
      return wrong;
  }
  std::string wrong = CheckAffinity(pod.spec->pod_affinity, pod.meta.labels);
  return wrong.empty() ? CheckAffinity(pod.spec->pod_anti_affinity, pod.meta.labels) : wrong;
}

// As an object, a watch event, a list and a failure body. A text that decodes once decodes again to
// the same name.
template <class T>
std::string RunDecode(std::string_view input) {
  static Decoder decoder;
  const Padded padded(input);
  const auto object = decoder.Object<T>(padded.view());
  if (object.ok() && *object) {
    const auto again = decoder.Object<T>(padded.view());
    if (!again.ok() || !*again || (*again)->meta.Key() != (*object)->meta.Key())
      return "decoded differently";
    if constexpr (std::is_same_v<T, Pod>) {
      if (!(*object)->spec || *(*again)->spec != *(*object)->spec)
        return "pods with different specs";
    }
  }
  if (!object.ok() && object.error().message.empty()) return "error without text";
  const auto event = decoder.Event<T>(padded.view());
  if (!event.ok() && event.error().message.empty()) return "event error without text";
  const auto page = decoder.List<T>(padded.view());
  if (page.ok() &&
      std::any_of(page->items.begin(), page->items.end(), [](const auto& item) { return !item; })) {
    return "null item";
  }
  Decoder::DecodeStatus(500, input, "GET", "pods", "p");
  return "";
}

// What JsonString writes is read back; notes and quoted texts do not crash and stay valid.
std::string RunText(std::string_view input) {
  static Decoder decoder;
  const Padded padded(R"({"metadata":{"name":)" + golang::JsonString(input) + "}}");
  const Result<api::PodPtr> decoded = decoder.Object<Pod>(padded.view());
  if (!decoded.ok()) return "does not read back: " + decoded.error().message;
  const bool utf8 = golang::IsUtf8(input);
  if (utf8 && (*decoded)->meta.name != input) return "reads back as another text";
  const std::string note = api::EventNote(input, false);
  if (utf8 && !golang::IsUtf8(note)) return "the note is damaged";
  if (input.find('%') == std::string_view::npos && note != input) return "the note differs";
  if (api::EventName(input, TimePoint(), 1).empty()) return "event without name";
  api::EventNote(input, true);
  golang::Quote(input);
  api::CheckLabelKey(input);
  api::CheckLabelValue(input);
  return "";
}

// Whether a set names a plugin twice: such a set is refused when the profile is built, and it is
// not the same again when it is merged with the defaults once more.
bool NamesTwice(const config::PluginSet& set) {
  std::set<std::string_view> names;
  return std::any_of(set.enabled.begin(), set.enabled.end(),
                     [&](const auto& entry) { return !names.insert(entry.name).second; });
}

// Errors have a text and findings with places; what is accepted can be written, read again and is
// the same then.
std::string RunConfig(std::string_view input) {
  log::SetVerbosity(-1);
  const config::LoadResult result = config::ParseConfiguration(input);
  if (const auto* faults = std::get_if<config::Faults>(&result)) {
    if (faults->text.empty()) return "error without text";
    if (faults->findings.empty()) return "error without findings";
    for (const config::Finding& finding : faults->findings) {
      if (finding.message.empty()) return "finding without message";
      if ((finding.place.line == 0) != (finding.place.column == 0)) return "half a place";
      config::Render(finding, "f");
    }
    return "";
  }
  const auto& loaded = std::get<config::Loaded>(result);
  config::WriteConfigz(loaded.configuration);
  const std::string written = config::WriteYaml(loaded.configuration);
  const config::LoadResult again = config::ParseConfiguration(written);
  if (const auto* faults = std::get_if<config::Faults>(&again)) {
    return "what is written cannot be read again: " + faults->text + "\n" + written;
  }
  for (const config::Profile& profile : loaded.configuration.profiles) {
    if (NamesTwice(profile.plugins.multi_point)) return "";
  }
  const std::string twice = config::WriteYaml(std::get<config::Loaded>(again).configuration);
  return twice == written ? "" : "reads back as another configuration:\n" + written + twice;
}

// A conversion ends with a text or an error, and what is said to be valid is.
std::string RunConvert(std::string_view input) {
  log::SetVerbosity(-1);
  const auto converted =
      config::ConvertConfiguration(input, {.keep_legacy = input.size() % 2 == 1});
  if (!converted.ok()) return converted.error().message.empty() ? "error without text" : "";
  const bool loads =
      std::holds_alternative<config::Loaded>(config::ParseConfiguration(converted->yaml));
  if (loads == converted->refused.empty()) return "";
  return "the comments change what the result is: " + converted->refused + "\n" + converted->yaml;
}

// A dump is refused with its name, or all that was read has a name and a uid and is refused the
// second time, because it is there already.
std::string RunDump(std::string_view input) {
  inspect::ClusterDumpReader reader;
  const Result<void> read = reader.Read("dump", std::string(input));
  if (!read.ok()) return read.error().message.starts_with("dump:") ? "" : read.error().message;
  const bool twice = reader.Read("again", std::string(input)).ok();
  const inspect::ClusterDump dump = reader.Take();
  for (const api::NodePtr& node : dump.nodes) {
    if (node->meta.name.empty() || node->meta.uid.empty()) return "a node without identity";
  }
  for (const api::PodPtr& pod : dump.pods) {
    if (pod->meta.name.empty() || pod->meta.uid.empty() || pod->meta.ns.empty() ||
        pod->spec->scheduler_name.empty()) {
      return "a pod without identity";
    }
  }
  return twice && !(dump.nodes.empty() && dump.pods.empty()) ? "read twice" : "";
}

// Fails, to prove that failures are reported and inputs read as they are.
std::string RunCanary(std::string_view input) {
  using std::string_view_literals::operator""sv;
  const bool sings = input.find("canary") != std::string_view::npos || input == "\xe9\0"sv;
  return sings ? "the canary sings" : "";
}

// Every kind reads every text: the kinds that own pods differ by few fields.
std::string RunWorkload(std::string_view input) {
  for (const auto run :
       {RunDecode<api::Service>, RunDecode<api::ReplicationController>, RunDecode<api::ReplicaSet>,
        RunDecode<api::StatefulSet>, RunDecode<api::PodDisruptionBudget>}) {
    if (std::string wrong = run(input); !wrong.empty()) return wrong;
  }
  return "";
}

constexpr Target kTargets[] = {
    {"quantity", RunQuantity}, {"selector", RunSelector},
    {"pod", RunDecode<Pod>},   {"node", RunDecode<api::Node>},
    {"workload", RunWorkload}, {"text", RunText},
    {"config", RunConfig},     {"convert", RunConvert},
    {"dump", RunDump},         {"protobuf", RunProtobuf},
    {"patch", RunPatch},       {"admission", RunAdmission},
    {"cel", RunCel},           {"kubeconfig", RunKubeconfig},
    {"flags", RunFlags},       {"http", RunHttp},
    {"extender", RunExtender}, {"recording", RunRecording},
    {"module", RunModule},     {"otlp", RunOtlp},
    {"metrics", RunMetrics},   {"canary", RunCanary},
};

}  // namespace

std::span<const Target> Targets() { return kTargets; }

}  // namespace ks::fuzz
