// SPDX-License-Identifier: Apache-2.0
#include "config/gates/feature_gates.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "api/selector.h"
#include "base/check.h"
#include "base/text.h"
#include "config/gates/feature_gate_table.h"
#include "golang/quote.h"

namespace ks::config {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

// In the order of Gate.
constexpr std::array<std::string_view, static_cast<size_t>(Gate::kCount)> kGateNames = {
    "CompositePodGroup",
    "ComponentFlagz",
    "ComponentStatusz",
    "ContextualLogging",
    "CoordinatedLeaderElection",
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADerivedAttributes",
    "DRADeviceBindingConditions",
    "DRADeviceCompatibilityGroups",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAFractionalCapacityRange",
    "DRAListTypeAttributes",
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
    "DRASchedulerFilterTimeout",
    "DRAWorkloadResourceClaims",
    "DynamicResourceAllocation",
    "GenericWorkload",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScaling",
    "InPlacePodVerticalScalingSchedulerPreemption",
    "InterPodAffinityHostnameFastPath",
    "LoggingAlphaOptions",
    "LoggingBetaOptions",
    "MatchLabelKeysInPodTopologySpread",
    "NativeHistograms",
    "NodeDeclaredFeatures",
    "NodeInclusionPolicyInPodTopologySpread",
    "NominatedNodeNameForExpectation",
    "OpportunisticBatching",
    "PodGroupPreemptionPolicy",
    "PodLevelResources",
    "RemoteRequestHeaderUID",
    "SchedulerAsyncAPICalls",
    "SchedulerAsyncPreemption",
    "SchedulerPopFromBackoffQ",
    "SchedulerPreQueueingHints",
    "StorageCapacityScoring",
    "TaintTolerationComparisonOperators",
    "TopologyAwareWorkloadScheduling",
    "VolumeAttributesClass",
    "VolumeLimitScaling",
};

struct Version {
  int major = 1;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};

std::string Text(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

const GateRow* FindRow(std::string_view name) {
  const std::span<const GateRow> rows = GateRows();
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const GateRow& a, std::string_view b) { return a.name < b; });
  return row != rows.end() && row->name == name ? &*row : nullptr;
}

// Calls `use` for each of the gates that `row` needs.
template <class Use>
void ForEachNeed(const GateRow& row, Use use) {
  std::string_view rest = row.needs;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    use(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

std::string JoinErrors(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  std::string text = "[";
  for (const std::string& error : errors) text += (text.size() > 1 ? ", " : "") + error;
  return text + "]";
}

// Components of "1.36", "v1.36", "1.36-alpha": what follows the last number is ignored.
Result<std::vector<uint64_t>> VersionNumbers(std::string_view text) {
  std::string_view rest = Trimmed(text, kSpace);
  if (rest.starts_with('v')) rest.remove_prefix(1);
  const auto digits = [](std::string_view at) {
    return std::min(at.find_first_not_of("0123456789"), at.size());
  };
  if (digits(rest) == 0) {
    return Error{"could not parse " + golang::Quote(text) + " as version"};
  }
  std::vector<std::string_view> parts;
  while (const size_t size = digits(rest)) {
    parts.push_back(rest.substr(0, size));
    rest.remove_prefix(size);
    if (!rest.starts_with('.')) break;
    rest.remove_prefix(1);
  }
  if (parts.size() < 2) return Error{"illegal version string " + golang::Quote(text)};
  std::vector<uint64_t> numbers;
  for (const std::string_view part : parts) {
    if (part.size() > 1 && part[0] == '0') {
      return Error{"illegal zero-prefixed version component " + golang::Quote(part) + " in " +
                   golang::Quote(text)};
    }
    uint64_t number = 0;
    if (std::from_chars(part.data(), part.data() + part.size(), number).ec != std::errc()) {
      return Error{"illegal non-numeric version component " + golang::Quote(part) + " in " +
                   golang::Quote(text) + ": strconv.ParseUint: parsing " + golang::Quote(part) +
                   ": value out of range"};
    }
    numbers.push_back(number);
  }
  return numbers;
}

// The version that the values of --emulated-version or --min-compatibility-version give, if any.
Result<std::optional<Version>> ReadVersion(const std::vector<std::string>& values) {
  std::optional<Version> version;
  std::string shown;
  for (const std::string& value : values) {
    const size_t equals = value.find('=');
    const bool named = equals != std::string::npos;
    const std::string component =
        named ? std::string(Trimmed(std::string_view(value).substr(0, equals), kSpace)) : "kube";
    const std::string text(
        Trimmed(named ? std::string_view(value).substr(equals + 1) : value, kSpace));
    auto numbers = VersionNumbers(text);
    if (!numbers.ok()) return numbers.error();
    const std::string as_given = component + "=" + text;
    if (numbers->size() > 2 && std::any_of(numbers->begin() + 2, numbers->end(),
                                           [](uint64_t number) { return number != 0; })) {
      return Error{"patch version not allowed, got: " + as_given};
    }
    if (component != "kube") return Error{"component not registered: " + component};
    if (version) return Error{"duplicate version flag, " + shown + " and " + as_given};
    constexpr uint64_t kMost = 1U << 30;
    version = Version{.major = static_cast<int>(std::min((*numbers)[0], kMost)),
                      .minor = static_cast<int>(std::min((*numbers)[1], kMost))};
    shown = as_given;
  }
  return version;
}

struct Setting {
  std::string name;
  bool on = false;
};

std::optional<bool> ReadBool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

// The items of all --feature-gates without their component.
Result<std::vector<std::string>> ReadItems(const std::vector<std::string>& flags) {
  std::vector<std::string> items;
  std::set<std::string> components;
  bool bare = false;
  for (const std::string& flag : flags) {
    std::string_view rest = flag;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(','), rest.size());
      const std::string_view item = Trimmed(rest.substr(0, end), kSpace);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (item.empty()) continue;
      const size_t colon = item.find(':');
      const std::string component(
          colon == std::string_view::npos ? "" : Trimmed(item.substr(0, colon), kSpace));
      if (component.empty()) {
        bare = true;
      } else {
        components.insert(component);
      }
      items.emplace_back(colon == std::string_view::npos ? item
                                                         : Trimmed(item.substr(colon + 1), kSpace));
    }
  }
  const bool named = components.erase("kube") > 0;
  if (!components.empty()) return Error{"component not registered: " + *components.begin()};
  if (bare && named) {
    return Error{
        "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix "
        "use"};
  }
  return items;
}

// One setting a gate, the last one given, at the place of the first.
Result<std::vector<Setting>> ReadSettings(const std::vector<std::string>& flags) {
  const auto items = ReadItems(flags);
  if (!items.ok()) return items.error();
  std::vector<Setting> settings;
  for (const std::string& item : items.value()) {
    const size_t equals = item.find('=');
    const std::string name(Trimmed(std::string_view(item).substr(0, equals), kSpace));
    if (equals == std::string::npos) return Error{"missing bool value for " + name};
    const std::string value(Trimmed(std::string_view(item).substr(equals + 1), kSpace));
    const std::optional<bool> on = ReadBool(value);
    if (!on) {
      return Error{"invalid value of " + name + "=" + value + ", err: strconv.ParseBool: parsing " +
                   golang::Quote(value) + ": invalid syntax"};
    }
    const auto same = std::find_if(settings.begin(), settings.end(),
                                   [&name](const Setting& other) { return other.name == name; });
    if (same == settings.end()) {
      settings.push_back({.name = name, .on = *on});
    } else {
      same->on = *on;
    }
  }
  return settings;
}

// All gates at one version: defaults, then what the flags say.
class GateSet {
 public:
  GateSet(Version emulated, Version min_compatibility)
      : emulated_(emulated),
        min_compatibility_(min_compatibility),
        column_(static_cast<size_t>(std::clamp(emulated.minor, kOldestMinor, kNewestMinor) -
                                    kOldestMinor)) {
    const bool newest = column_ + 1 == kGateColumns;
    for (const GateRow& row : GateRows()) {
      const bool by_compatibility = newest && row.on_with_min_compatibility > 0 &&
                                    min_compatibility.minor >= row.on_with_min_compatibility;
      on_[row.name] = At(row).on || by_compatibility;
    }
  }

  bool On(std::string_view name) const {
    const auto found = on_.find(name);
    return found != on_.end() && found->second;
  }

  Stage StageOf(const GateRow& row) const { return At(row).stage; }

  // Errors as upstream words them; several are joined.
  Result<void> Apply(const std::vector<Setting>& settings, std::vector<std::string>* notes);
  Result<void> CheckNeeds() const;
  // The note on alpha gates that are on, if there are any.
  std::optional<std::string> AlphaNote() const;

 private:
  const GateVersion& At(const GateRow& row) const { return row.versions[column_]; }
  std::optional<std::string> Refused(const GateRow& row, bool on) const;
  void ApplyGroup(std::string_view group, Stage stage, const std::vector<Setting>& settings);

  Version emulated_;
  Version min_compatibility_;
  size_t column_;
  std::map<std::string_view, bool, std::less<>> on_;
};

std::optional<std::string> GateSet::Refused(const GateRow& row, bool on) const {
  const GateVersion& now = At(row);
  const std::string start =
      "cannot set feature gate " + std::string(row.name) + " to " + (on ? "true" : "false");
  if (now.stage == Stage::kPreAlpha) {
    return start + ", feature is PreAlpha at emulated version " + Text(emulated_) +
           ", min compatibility version " + Text(min_compatibility_);
  }
  if (now.locked && now.on != on) {
    return start + ", feature is locked to " + (now.on ? "true" : "false");
  }
  return std::nullopt;
}

void GateSet::ApplyGroup(std::string_view group, Stage stage,
                         const std::vector<Setting>& settings) {
  const auto find = [&settings](std::string_view name) {
    return std::find_if(settings.begin(), settings.end(),
                        [name](const Setting& setting) { return setting.name == name; });
  };
  const auto asked = find(group);
  if (asked == settings.end()) return;
  for (const GateRow& row : GateRows()) {
    const bool group_itself = row.name == kAllAlpha || row.name == kAllBeta;
    if (!group_itself && At(row).stage == stage && !At(row).locked &&
        find(row.name) == settings.end()) {
      on_[row.name] = asked->on;
    }
  }
}

Result<void> GateSet::Apply(const std::vector<Setting>& settings, std::vector<std::string>* notes) {
  std::vector<std::string> errors;
  std::optional<std::string> unknown;
  for (const Setting& setting : settings) {
    const GateRow* row = FindRow(setting.name);
    if (row == nullptr) {
      if (!unknown) unknown = "unrecognized feature gate: " + setting.name;
      continue;
    }
    if (auto refused = Refused(*row, setting.on)) {
      errors.push_back(*std::move(refused));
      continue;
    }
    on_[row->name] = setting.on;
    const Stage stage = At(*row).stage;
    if (stage == Stage::kGa || stage == Stage::kDeprecated) {
      notes->push_back(std::string("I\"Warning: setting ") +
                       (stage == Stage::kGa ? "GA" : "deprecated") +
                       " feature gate. It will be removed in a future release.\" featureGate=\"" +
                       setting.name + "\" value=" + (setting.on ? "true" : "false"));
    }
  }
  std::sort(errors.begin(), errors.end());
  if (unknown) errors.push_back(*std::move(unknown));
  if (!errors.empty()) return Error{JoinErrors(errors)};
  ApplyGroup(kAllAlpha, Stage::kAlpha, settings);
  ApplyGroup(kAllBeta, Stage::kBeta, settings);
  return {};
}

Result<void> GateSet::CheckNeeds() const {
  std::vector<std::string> errors;
  for (const GateRow& row : GateRows()) {
    if (!On(row.name)) continue;
    std::string missing;
    ForEachNeed(row, [&](std::string_view need) {
      if (!On(need)) missing += (missing.empty() ? "" : " ") + std::string(need);
    });
    if (!missing.empty()) {
      errors.push_back(std::string(row.name) +
                       " is enabled, but depends on features that are disabled: [" + missing + "]");
    }
  }
  if (!errors.empty()) return Error{JoinErrors(errors)};
  return {};
}

std::optional<std::string> GateSet::AlphaNote() const {
  std::string names;
  for (const GateRow& row : GateRows()) {
    if (On(row.name) && At(row).stage == Stage::kAlpha) {
      names += (names.empty() ? "" : " ") + std::string(row.name);
    }
  }
  if (names.empty()) return std::nullopt;
  return "component has alpha features enabled in emulated version, this is unsupported: "
         "features=[" +
         names + "]";
}

// The versions that the flags ask for.
struct Versions {
  Version emulated;
  Version min_compatibility;
};
Result<Versions> ReadVersions(const GateFlags& flags) {
  const auto given_emulated = ReadVersion(flags.emulated_version);
  if (!given_emulated.ok()) return given_emulated.error();
  const auto given_min = ReadVersion(flags.min_compatibility_version);
  if (!given_min.ok()) return given_min.error();
  const Version emulated = given_emulated.value().value_or(Version{1, kNewestMinor});
  return Versions{.emulated = emulated,
                  .min_compatibility = given_min.value().value_or(
                      Version{emulated.major, std::max(emulated.minor - 1, kOldestMinor)})};
}

std::string_view StageText(Stage stage) {
  switch (stage) {
    case Stage::kAlpha:
      return "ALPHA";
    case Stage::kBeta:
      return "BETA";
    case Stage::kDeprecated:
      return "DEPRECATED";
    default:
      return {};
  }
}

std::vector<std::string> RangeErrors(Version emulated, Version min_compatibility) {
  const Version oldest{.major = 1, .minor = kOldestMinor};
  const Version newest{.major = 1, .minor = kNewestMinor};
  std::vector<std::string> errors;
  if (emulated < oldest || emulated > newest) {
    errors.push_back("emulation version " + Text(emulated) + " is not between [" + Text(oldest) +
                     ", " + Text(newest) + ".0]");
  }
  if (min_compatibility < oldest || min_compatibility > emulated) {
    errors.push_back("minCompatibilityVersion version " + Text(min_compatibility) +
                     " is not between [" + Text(oldest) + ", " + Text(emulated) + "]");
  }
  return errors;
}

// A gate whose other value would need code that is not here.
struct Missing {
  Gate gate;
  bool value;  // the value that is not implemented
  std::string_view why;
};

constexpr std::string_view kNodeResources = "devices do not count as resources of their node yet";

constexpr Missing kMissing[] = {
    {Gate::kDRANodeAllocatableResources, true, kNodeResources},
    {Gate::kSchedulerPreQueueingHints, true, "no plugin has a pre-queueing hint yet"},
};

}  // namespace

FeatureGates::FeatureGates() {
  static const FeatureGates defaults = Make({}, nullptr).value();
  *this = defaults;
}

Result<FeatureGates> FeatureGates::Make(const GateFlags& flags, std::vector<std::string>* notes,
                                        LateGateFindings* late) {
  const auto versions = ReadVersions(flags);
  if (!versions.ok()) return versions.error();
  const auto [emulated, min_compatibility] = versions.value();
  const auto settings = ReadSettings(flags.feature_gates);
  if (!settings.ok()) return settings.error();

  std::vector<std::string> remarks;
  GateSet set(emulated, min_compatibility);
  if (Result<void> applied = set.Apply(settings.value(), &remarks); !applied.ok()) {
    return applied.error();
  }
  if (!settings.value().empty()) {
    if (Result<void> checked = set.CheckNeeds(); !checked.ok()) return checked.error();
  }
  const std::vector<std::string> range = RangeErrors(emulated, min_compatibility);
  const std::optional<std::string> alpha = set.AlphaNote();
  if (late != nullptr) {
    late->errors = range;
    if (alpha) late->warnings.push_back(*alpha);
  } else if (!range.empty()) {
    return Error{JoinErrors(range)};
  } else if (alpha) {
    remarks.push_back("W" + *alpha);
  }
  if (notes != nullptr) notes->insert(notes->end(), remarks.begin(), remarks.end());

  Bits enabled;
  for (size_t i = 0; i < kGateNames.size(); ++i) enabled[i] = set.On(kGateNames[i]);
  return FeatureGates(enabled);
}

std::vector<std::string> FeatureGates::NotImplemented() const {
  std::vector<std::string> sentences;
  for (const Missing& missing : kMissing) {
    if (Enabled(missing.gate) != missing.value) continue;
    const std::string name(kGateNames[static_cast<size_t>(missing.gate)]);
    sentences.push_back(
        "feature gate " + name + "=" + (missing.value ? "true" : "false") +
        " is not supported by this version of kubesched: " + std::string(missing.why) +
        "; leave it " + (missing.value ? "off" : "on") + ", as it is by default in v1.37");
  }
  const bool experimental =
      Enabled(Gate::kDRADerivedAttributes) || Enabled(Gate::kDRADeviceCompatibilityGroups) ||
      Enabled(Gate::kDRAListTypeAttributes) || Enabled(Gate::kDRAOptionalNodeOperations);
  if (!experimental && !Enabled(Gate::kDRAConsumableCapacity) &&
      !Enabled(Gate::kDRADeviceBindingConditions)) {
    sentences.emplace_back(
        "feature gates DRAConsumableCapacity=false and DRADeviceBindingConditions=false are not "
        "supported together by this version of kubesched: the allocator that kube-scheduler uses "
        "then tries devices in random order; leave one of them on");
  }
  return sentences;
}

GateReport ReportGates(const GateFlags& flags) {
  const auto [emulated, min_compatibility] = ReadVersions(flags).value();
  GateSet set(emulated, min_compatibility);
  std::vector<std::string> notes;
  KS_CHECK(set.Apply(ReadSettings(flags.feature_gates).value(), &notes).ok(),
           "the flags were accepted before");
  GateReport report{
      .emulated = Text(emulated), .min_compatibility = Text(min_compatibility), .gates = {}};
  for (const GateRow& row : GateRows()) {
    const Stage stage = set.StageOf(row);
    if (stage == Stage::kPreAlpha) continue;
    report.gates.push_back({.name = row.name, .stage = StageText(stage), .on = set.On(row.name)});
  }
  return report;
}

std::vector<std::string> FeatureGateHelp() {
  std::vector<std::string> lines;
  for (const GateRow& row : GateRows()) {
    const GateVersion& now = row.versions.back();
    if (now.stage != Stage::kAlpha && now.stage != Stage::kBeta) continue;
    const auto state = [&](bool on) {
      return std::string(row.name) + "=true|false (" +
             (now.stage == Stage::kAlpha ? "ALPHA" : "BETA") +
             " - default=" + (on ? "true" : "false") + ")";
    };
    std::string line = "kube:" + state(now.on);
    if (row.on_with_min_compatibility > 0) {
      line += ", or " + state(true) + " if --min-compatibility-version>=1." +
              std::to_string(row.on_with_min_compatibility);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ks::config
