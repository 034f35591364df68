// SPDX-License-Identifier: Apache-2.0
#include "testing/config_mutations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

namespace ks::testing {
namespace {

constexpr std::string_view kNumbers[] = {"0",
                                         "-1",
                                         "1",
                                         "100",
                                         "101",
                                         "2147483647",
                                         "2147483648",
                                         "-2147483649",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "18446744073709551616",
                                         "5.5",
                                         "1e3",
                                         "1e39",
                                         "-0",
                                         "11",
                                         "3.0",
                                         "0.0001"};

// Every kind of YAML 1.1 scalar (2.3) and a few wrong types.
constexpr std::string_view kScalars[] = {"~",
                                         "null",
                                         "NULL",
                                         "yes",
                                         "No",
                                         "y",
                                         "N",
                                         "on",
                                         "OFF",
                                         "tRue",
                                         "true",
                                         "12",
                                         "+12",
                                         "1_000",
                                         "0x1F",
                                         "0b101",
                                         "020",
                                         "0o20",
                                         "09",
                                         ".5",
                                         "5.",
                                         "1.6e+1",
                                         ".inf",
                                         "-.INF",
                                         ".nan",
                                         "1:30",
                                         "1.2.3",
                                         "2020-01-01",
                                         "=",
                                         "<<",
                                         "!!str 5",
                                         "!!int \"5\"",
                                         "!!float 5",
                                         "!foo 5",
                                         "!!binary aGVsbG8=",
                                         "'single'",
                                         "\"5\"",
                                         "\"\"",
                                         "\"a\\tb\"",
                                         "-x",
                                         "?x",
                                         "a b",
                                         "[]",
                                         "{}",
                                         "[1, a]",
                                         "{a: 1}",
                                         "[null]",
                                         "{1: 2}",
                                         "{yes: 2}",
                                         "1e3",
                                         "0x",
                                         "0.0",
                                         "-0",
                                         "1__0",
                                         "'a''b'",
                                         "!!bool yes",
                                         "!!null x",
                                         "{~: 1}",
                                         "{a: 1, a: 2}",
                                         "\"\\u00e9\"",
                                         "é",
                                         "{[a]: b}",
                                         "2001-12-14t21:59:43.10-05:00"};

constexpr std::string_view kDurations[] = {
    "1h",       "90m",   "1m30.5s", "1500ms",
    "1.5us",    "1.5µs", "25h",     "-90s",
    "0",        "-0s",   "0.9ns",   "90",
    "00",       "1d",    "5 s",     "1S",
    "1e3s",     "abc",   "\"\"",    "\" 5s\"",
    "2562048h", ".5s",   "5.s",     "+5s",
    "999ms",    "1h1h",  "s",       ".s",
    "1",        "10s",   "-1ns",    "2562047h47m16.854775807s",
    "\"5s \"",  "1µ"};

constexpr std::string_view kPlugins[] = {"SchedulingGates",
                                         "PrioritySort",
                                         "NodeName",
                                         "NodeUnschedulable",
                                         "TaintToleration",
                                         "NodeAffinity",
                                         "NodePorts",
                                         "NodeResourcesFit",
                                         "VolumeRestrictions",
                                         "NodeVolumeLimits",
                                         "VolumeBinding",
                                         "VolumeZone",
                                         "PodTopologySpread",
                                         "InterPodAffinity",
                                         "DynamicResources",
                                         "DefaultPreemption",
                                         "NodeResourcesBalancedAllocation",
                                         "ImageLocality",
                                         "DefaultBinder",
                                         "NodeDeclaredFeatures",
                                         "GangScheduling",
                                         "TopologyPlacementGenerator",
                                         "PodGroupPodsCount",
                                         "DeferredPodScheduling",
                                         "Foo",
                                         "*",
                                         "EBSLimits",
                                         "imagelocality",
                                         "GCEPDLimits",
                                         "NodeResourcesFitArgs"};

constexpr std::string_view kPoints[] = {
    "preEnqueue",    "queueSort", "preFilter", "filter",
    "postFilter",    "preScore",  "score",     "reserve",
    "permit",        "preBind",   "bind",      "postBind",
    "multiPoint",    "unreserve", "prefilter", "placementGenerate",
    "placementScore"};

constexpr std::string_view kLabels[] = {
    "a b",
    "a/b/c",
    "/x",
    "example.com/",
    "Example.com/x",
    "-a",
    "a-",
    "cpu",
    "kubernetes.io/x",
    "requests.example.com/x",
    "",
    "example.com/a",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

constexpr std::string_view kKeys[] = {"y",
                                      "5",
                                      "1.5",
                                      "foo",
                                      "",
                                      "a.b",
                                      "spec",
                                      "kind",
                                      "args",
                                      "name",
                                      "apiversion",
                                      "weight",
                                      "true",
                                      "shape",
                                      "0x10",
                                      "~",
                                      "metadata",
                                      "healthzBindAddress",
                                      "disablePreemption",
                                      "algorithmSource"};

// What parsers are sensitive to.
constexpr std::string_view kBytes[] = {
    "\t",   ": ",   "- ",   "\"",       "'",  "{",   "}",       "[",       "]",  ",",
    "#",    " #",   "&a ",  "*a",       "!",  "|\n", ">\n",     "%",       "@",  "`",
    "\xff", "\x01", "\r\n", "\n",       " ",  "  ",  "\n---\n", "\n...\n", "? ", "\xef\xbb\xbf",
    "null", "~",    "<<: ", "\xc3\xa9", "\\", ":",   "-",       "0",       "x",  "\xc2\x85"};

struct Mutator {
  Random& random;
  Tree& root;
  int anchors = 0;

  template <size_t n>
  std::string_view Pick(const std::string_view (&table)[n]) {
    return table[random.Below(n)];
  }
  // All nodes in the order of the file; the root is left out.
  static void Collect(Tree& tree, std::vector<Tree*>& nodes) {
    for (TreeMember& member : tree.members) {
      nodes.push_back(&member.value);
      Collect(member.value, nodes);
    }
    for (Tree& item : tree.items) {
      nodes.push_back(&item);
      Collect(item, nodes);
    }
  }
  std::vector<Tree*> Nodes() {
    std::vector<Tree*> nodes;
    Collect(root, nodes);
    return nodes;
  }
  template <class Wanted>
  Tree* Any(Wanted wanted) {
    std::vector<Tree*> found;
    for (Tree* node : Nodes()) {
      if (wanted(*node)) found.push_back(node);
    }
    if (wanted(root)) found.push_back(&root);
    return found.empty() ? nullptr : found[random.Below(found.size())];
  }
  // A member, all equally likely.
  std::pair<Tree*, size_t> AnyMember() {
    std::vector<std::pair<Tree*, size_t>> found;
    for (size_t i = 0; i < root.members.size(); ++i) found.emplace_back(&root, i);
    for (Tree* node : Nodes()) {
      for (size_t i = 0; i < node->members.size(); ++i) found.emplace_back(node, i);
    }
    return found[random.Below(found.size())];
  }
  template <class Wanted>
  TreeMember* AnyMemberOf(Wanted wanted) {
    std::vector<TreeMember*> found;
    std::vector<Tree*> nodes = Nodes();
    nodes.push_back(&root);
    for (Tree* node : nodes) {
      for (TreeMember& member : node->members) {
        if (wanted(member)) found.push_back(&member);
      }
    }
    return found.empty() ? nullptr : found[random.Below(found.size())];
  }
};

// Each returns what it did, "" when nothing fitted.

std::string DeleteKey(Mutator& m) {
  const auto [tree, at] = m.AnyMember();
  const std::string key = tree->members[at].key;
  tree->members.erase(tree->members.begin() + static_cast<ptrdiff_t>(at));
  return "delete " + key;
}

std::string DuplicateKey(Mutator& m) {
  const auto [tree, at] = m.AnyMember();
  TreeMember copy = tree->members[at];
  copy.value.anchor.clear();
  if (m.random.Below(2) == 0) copy.value = Plain(m.Pick(kScalars));
  const auto where = static_cast<ptrdiff_t>(m.random.Below(tree->members.size() + 1));
  const std::string key = copy.key;
  tree->members.insert(tree->members.begin() + where, std::move(copy));
  return "duplicate " + key;
}

std::string RenameKey(Mutator& m) {
  const auto [tree, at] = m.AnyMember();
  std::string& key = tree->members[at].key;
  const std::string old = key;
  if (m.random.Below(2) == 0 || key.size() < 2) {
    key = m.Pick(kKeys);
  } else {
    const size_t i = m.random.Below(key.size() - 1);
    m.random.Below(2) == 0 ? key.erase(i, 1) : key.insert(i, 1, key[i]);
  }
  return "rename " + old;
}

std::string WrongCase(Mutator& m) {
  const auto [tree, at] = m.AnyMember();
  std::string& key = tree->members[at].key;
  const std::string old = key;
  if (key.empty()) return "";
  const size_t i = m.random.Below(2) == 0 ? 0 : m.random.Below(key.size());
  const auto c = static_cast<unsigned char>(key[i]);
  key[i] = static_cast<char>(std::isupper(c) != 0 ? std::tolower(c) : std::toupper(c));
  return "wrong case of " + old;
}

std::string AddKey(Mutator& m) {
  Tree* tree = m.Any([](const Tree& node) { return node.kind == Tree::Kind::kMapping; });
  if (tree == nullptr) return "";
  const auto where = static_cast<ptrdiff_t>(m.random.Below(tree->members.size() + 1));
  tree->members.insert(tree->members.begin() + where,
                       {std::string(m.Pick(kKeys)), Plain(m.Pick(kScalars))});
  return "add a key";
}

std::string WrongType(Mutator& m) {
  const auto [tree, at] = m.AnyMember();
  tree->members[at].value = Plain(m.Pick(kScalars));
  return "wrong type of " + tree->members[at].key;
}

std::string WrongElement(Mutator& m) {
  Tree* list = m.Any([](const Tree& node) { return !node.items.empty(); });
  if (list == nullptr) return "";
  Tree& item = list->items[m.random.Below(list->items.size())];
  item = m.random.Below(2) == 0 ? Plain("null") : Plain(m.Pick(kScalars));
  return "wrong element";
}

bool IsNumber(const Tree& tree) {
  return tree.kind == Tree::Kind::kPlain && !tree.text.empty() &&
         tree.text.find_first_not_of("0123456789.-") == std::string::npos;
}

std::string OtherNumber(Mutator& m) {
  TreeMember* member =
      m.AnyMemberOf([](const TreeMember& candidate) { return IsNumber(candidate.value); });
  if (member == nullptr) return "";
  member->value = Plain(m.Pick(kNumbers));
  return "number of " + member->key;
}

std::string OtherDuration(Mutator& m) {
  TreeMember* member = m.AnyMemberOf([](const TreeMember& candidate) {
    return candidate.key == "leaseDuration" || candidate.key == "renewDeadline" ||
           candidate.key == "retryPeriod" || candidate.key.ends_with("imeout");
  });
  if (member == nullptr) return "";
  member->value = Plain(m.Pick(kDurations));
  return "duration of " + member->key;
}

std::string OtherPlugin(Mutator& m) {
  TreeMember* member =
      m.AnyMemberOf([](const TreeMember& candidate) { return candidate.key == "name"; });
  if (member == nullptr) return "";
  member->value = m.random.Below(3) == 0 ? Quoted(m.Pick(kLabels)) : Quoted(m.Pick(kPlugins));
  return "another name";
}

std::string OtherPoint(Mutator& m) {
  TreeMember* member = m.AnyMemberOf([](const TreeMember& candidate) {
    return std::find(std::begin(kPoints), std::end(kPoints), candidate.key) != std::end(kPoints);
  });
  if (member == nullptr) return "";
  member->key = m.Pick(kPoints);
  return "another point";
}

std::string OtherText(Mutator& m) {
  Tree* text = m.Any([](const Tree& node) {
    return node.kind == Tree::Kind::kQuoted || (node.kind == Tree::Kind::kPlain && !IsNumber(node));
  });
  if (text == nullptr) return "";
  *text = Quoted(m.Pick(kLabels));
  return "another text";
}

std::string RepeatItem(Mutator& m) {
  Tree* list = m.Any([](const Tree& node) { return !node.items.empty(); });
  if (list == nullptr) return "";
  Tree copy = list->items[m.random.Below(list->items.size())];
  copy.anchor.clear();
  list->items.push_back(std::move(copy));
  return "repeat an element";
}

std::string SwapItems(Mutator& m) {
  Tree* list = m.Any([](const Tree& node) { return node.items.size() > 1; });
  if (list == nullptr) return "";
  std::swap(list->items.front(), list->items.back());
  return "swap elements";
}

// The later value becomes an alias of the earlier one.
std::string UseAlias(Mutator& m) {
  std::vector<Tree*> nodes = m.Nodes();
  if (nodes.size() < 4) return "";
  const size_t first = m.random.Below(nodes.size() - 1);
  // An anchor that contains its own alias is one error; a few of them are enough.
  if (nodes[first]->IsContainer() && m.random.Below(8) != 0) return "";
  const size_t second = first + 1 + m.random.Below(nodes.size() - first - 1);
  if (nodes[first]->kind == Tree::Kind::kAlias || !nodes[second]->anchor.empty()) return "";
  const std::string name = fmt::format("a{}", m.anchors++);
  *nodes[second] = Alias(m.random.Below(12) == 0 ? "unknown" : name);
  nodes[first]->anchor = name;
  return "alias";
}

std::string UseMerge(Mutator& m) {
  std::vector<Tree*> mappings;
  for (Tree* node : m.Nodes()) {
    if (node->kind == Tree::Kind::kMapping && !node->members.empty()) mappings.push_back(node);
  }
  if (mappings.size() < 2) return "";
  const size_t first = m.random.Below(mappings.size() - 1);
  Tree& target = *mappings[first + 1 + m.random.Below(mappings.size() - first - 1)];
  std::vector<Tree*> below;
  Mutator::Collect(*mappings[first], below);
  if (std::find(below.begin(), below.end(), &target) != below.end() && m.random.Below(8) != 0) {
    return "";
  }
  if (!mappings[first]->anchor.empty() || !target.anchor.empty()) return "";
  mappings[first]->anchor = fmt::format("a{}", m.anchors++);
  Tree value = Alias(mappings[first]->anchor);
  if (m.random.Below(3) == 0) {
    value = List({value, Mapping({{"name", Plain("TaintToleration")}})});
    value.flow = true;
  }
  const auto where = static_cast<ptrdiff_t>(m.random.Below(target.members.size() + 1));
  target.members.insert(target.members.begin() + where, {"<<", std::move(value)});
  return "merge";
}

using Mutation = std::string (*)(Mutator&);
constexpr Mutation kMutations[] = {
    OtherNumber,  OtherNumber, OtherDuration, OtherText,   OtherPlugin, OtherPoint, DeleteKey,
    DuplicateKey, RenameKey,   WrongCase,     AddKey,      WrongType,   WrongType,  WrongElement,
    OtherNumber,  OtherNumber, OtherDuration, OtherPlugin, OtherPlugin, OtherPoint, OtherText,
    RepeatItem,   SwapItems,   UseAlias,      UseMerge};

std::string Damage(std::string text, Random& random) {
  const size_t at = random.Below(text.size() + 1);
  const size_t length = random.Below(std::min<size_t>(text.size() - at, 8) + 1);
  const std::string_view token = kBytes[random.Below(std::size(kBytes))];
  switch (random.Below(3)) {
    case 0:
      return text.erase(at, length);
    case 1:
      return text.insert(at, token);
    default:
      return text.replace(at, length, token);
  }
}

std::string AddDocuments(const std::string& text, Random& random) {
  switch (random.Below(8)) {
    case 0:
      return text + "---\nkind: Other\n";
    case 1:
      return "---\n" + text + "...\nnot: [yaml\n";
    case 2:
      return "# a comment\n---\n" + text;
    case 3:
      return "---\n---\n" + text;
    case 4:
      return "\xef\xbb\xbf" + text;
    case 5:
      return text + "...\n# end\n";
    case 6:
      return text + "--- \n" + text;
    default:
      return "%YAML 1." + std::string(random.Below(2) == 0 ? "1" : "2") + "\n---\n" + text;
  }
}

std::string Rendered(const Tree& tree, Random& random, std::string& what) {
  const uint64_t form = random.Below(10);
  if (form == 0) {
    what += ", JSON";
    return ToJson(tree);
  }
  std::string text = ToYaml(tree);
  if (form == 1) {
    what += ", documents";
    text = AddDocuments(text, random);
  }
  return text;
}

}  // namespace

std::vector<ConfigFile> MutatedConfigurations(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<ConfigFile> files;
  for (size_t i = 0; i < count; ++i) {
    Tree tree = ValidConfiguration(random);
    std::string what;
    const uint64_t changes = i % 8 == 0 ? 0 : 1 + random.Below(8) / 5;
    Mutator mutator{random, tree};
    for (uint64_t change = 0; change < changes;) {
      const std::string done = kMutations[random.Below(std::size(kMutations))](mutator);
      if (done.empty()) continue;
      what += ", " + done;
      ++change;
    }
    std::string text = Rendered(tree, random, what);
    if (i % 8 == 1) {
      what += ", damage";
      text = Damage(std::move(text), random);
    }
    files.push_back({fmt::format("mutation {}{}", i, what), std::move(text)});
  }
  return files;
}

}  // namespace ks::testing
