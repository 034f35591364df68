// SPDX-License-Identifier: Apache-2.0
#include "config/text/yaml_events.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "config/text/document.h"

namespace ks::config {
namespace {

Place PlaceOf(const yaml_mark_t& mark) {
  return {.line = static_cast<int>(mark.line) + 1, .column = static_cast<int>(mark.column) + 1};
}

std::string Text(const yaml_char_t* text) {
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

// Lifetime of libyaml's parser and of its current event.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (ready_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
    }
  }
  ~Parser() {
    if (has_event_) yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // Null at an error.
  const yaml_event_t* Next() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) != 0;
    return has_event_ ? &event_ : nullptr;
  }

  // Upstream's words for the error: the line is that of the problem, which the scanner counts from
  // 1 and the parser from 0.
  Finding Problem() const {
    Finding finding;
    if (!ready_ || parser_.error == YAML_MEMORY_ERROR) {
      finding.message = "yaml: out of memory";
      return finding;
    }
    finding.message = "yaml: ";
    const yaml_mark_t& mark = parser_.problem_mark;
    size_t line = parser_.context_mark.line;
    if (mark.line != 0) line = mark.line + (parser_.error == YAML_SCANNER_ERROR ? 1 : 0);
    if (line != 0) finding.message += "line " + std::to_string(line) + ": ";
    finding.message +=
        parser_.problem == nullptr ? "unknown problem parsing YAML content" : parser_.problem;
    finding.place =
        parser_.error == YAML_READER_ERROR ? PlaceOfByte(parser_.problem_offset) : PlaceOf(mark);
    return finding;
  }

 private:
  // Only of UTF-8 text, which it is without a byte order mark of UTF-16.
  Place PlaceOfByte(size_t offset) const {
    if (offset > text_.size() || parser_.encoding != YAML_UTF8_ENCODING) return {};
    const std::string_view before = text_.substr(0, offset);
    const size_t line_start = before.rfind('\n') + 1;
    return {.line = static_cast<int>(std::ranges::count(before, '\n')) + 1,
            .column = static_cast<int>(offset - line_start) + 1};
  }

  const std::string_view text_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
  bool has_event_ = false;
};

class TreeReader {
 public:
  explicit TreeReader(size_t most_nodes) : most_nodes_(most_nodes) {}

  // False at the end of the document or at an error.
  bool Take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_DOCUMENT_START_EVENT:
        return CheckVersion(event);
      case YAML_ALIAS_EVENT:
        return TakeAlias(event);
      case YAML_SCALAR_EVENT:
        return TakeScalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return Open(event, YamlNode::Kind::kSequence,
                    event.data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
                    event.data.sequence_start.anchor, event.data.sequence_start.tag);
      case YAML_MAPPING_START_EVENT:
        return Open(event, YamlNode::Kind::kMapping,
                    event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
                    event.data.mapping_start.anchor, event.data.mapping_start.tag);
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        return true;
      case YAML_DOCUMENT_END_EVENT:
      case YAML_STREAM_END_EVENT:
        return false;
      default:
        return true;
    }
  }

  std::optional<Finding>& error() { return error_; }
  YamlTree& tree() { return tree_; }

 private:
  struct OpenCollection {
    uint32_t index;
    bool flow;        // written with brackets, or the one pair of an element: [a: b]
    bool by_bracket;  // ends with ]; else with }
  };

  bool Fail(Place place, std::string message, std::string hint = "") {
    error_ =
        Finding{.message = "yaml: " + std::move(message), .place = place, .hint = std::move(hint)};
    return false;
  }

  bool CheckVersion(const yaml_event_t& event) {
    const yaml_version_directive_t* version = event.data.document_start.version_directive;
    if (version == nullptr || (version->major == 1 && version->minor == 1)) return true;
    return Fail(PlaceOf(event.start_mark), "found incompatible YAML document",
                "the file is read as YAML 1.1: remove the %YAML line");
  }

  // The new node's index; none at an error.
  std::optional<uint32_t> Add(const yaml_event_t& event, YamlNode node, const yaml_char_t* anchor) {
    if (tree_.nodes.size() >= most_nodes_) {
      Fail(PlaceOf(event.start_mark),
           "the document has more than " + std::to_string(most_nodes_) + " values");
      return std::nullopt;
    }
    const auto index = static_cast<uint32_t>(tree_.nodes.size());
    node.place = PlaceOf(event.start_mark);
    tree_.nodes.push_back(std::move(node));
    if (!open_.empty()) tree_.nodes[open_.back().index].children.push_back(index);
    if (anchor != nullptr) anchors_.insert_or_assign(Text(anchor), index);
    return index;
  }

  bool TakeAlias(const yaml_event_t& event) {
    const std::string name = Text(event.data.alias.anchor);
    const auto anchor = anchors_.find(name);
    if (anchor == anchors_.end()) {
      return Fail(PlaceOf(event.start_mark), "unknown anchor '" + name + "' referenced");
    }
    return Add(event, {.kind = YamlNode::Kind::kAlias, .text = name, .target = anchor->second},
               nullptr)
        .has_value();
  }

  bool TakeScalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    YamlNode node;
    node.implicit = scalar.plain_implicit != 0;
    node.plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node.tag = Text(scalar.tag);
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (node.plain && InFlow() && node.text.find('?') != std::string::npos) {
      return FailAtQuestionMark(event);
    }
    return Add(event, std::move(node), scalar.anchor).has_value();
  }

  bool InFlow() const { return !open_.empty() && open_.back().flow; }

  // Upstream's reader is older: in flow collections a ? starts a key even inside a word, where
  // none can be.
  bool FailAtQuestionMark(const yaml_event_t& event) {
    const size_t line = event.start_mark.line;  // counted from 0, as upstream's parser does
    return Fail(PlaceOf(event.start_mark),
                (line == 0 ? "" : "line " + std::to_string(line) + ": ") +
                    "did not find expected ',' or '" + (open_.back().by_bracket ? "]'" : "}'"),
                "put the text with the question mark into quotes");
  }

  bool Open(const yaml_event_t& event, YamlNode::Kind kind, bool flow, const yaml_char_t* anchor,
            const yaml_char_t* tag) {
    if (open_.size() >= kMaxDepth) {
      return Fail(PlaceOf(event.start_mark), "exceeded max depth of " + std::to_string(kMaxDepth));
    }
    const std::optional<uint32_t> index = Add(event, {.kind = kind, .tag = Text(tag)}, anchor);
    // A mapping without a bracket of its own has a mark without length.
    const bool by_bracket =
        kind == YamlNode::Kind::kSequence || event.start_mark.index == event.end_mark.index;
    if (index) open_.push_back({*index, flow, by_bracket});
    return index.has_value();
  }

  const size_t most_nodes_;
  YamlTree tree_;
  std::optional<Finding> error_;
  std::vector<OpenCollection> open_;  // around the current event
  std::map<std::string, uint32_t> anchors_;
};

// Up to the end of the document; whether there was one.
std::variant<bool, Finding> ReadDocument(Parser& parser, TreeReader& reader) {
  while (const yaml_event_t* event = parser.Next()) {
    if (reader.Take(*event)) continue;
    if (reader.error()) return *std::move(reader.error());
    return event->type == YAML_DOCUMENT_END_EVENT;
  }
  return parser.Problem();
}

}  // namespace

std::variant<YamlTree, Finding> ReadYamlTree(std::string_view text, size_t most_nodes) {
  Parser parser(text);
  TreeReader reader(most_nodes);
  std::variant<bool, Finding> read = ReadDocument(parser, reader);
  if (Finding* error = std::get_if<Finding>(&read)) return std::move(*error);
  return std::move(reader.tree());
}

std::variant<std::vector<YamlTree>, Finding> ReadYamlStream(std::string_view text,
                                                            size_t most_nodes) {
  Parser parser(text);
  std::vector<YamlTree> trees;
  while (true) {
    TreeReader reader(most_nodes);
    std::variant<bool, Finding> read = ReadDocument(parser, reader);
    if (Finding* error = std::get_if<Finding>(&read)) return std::move(*error);
    if (!std::get<bool>(read)) return trees;
    trees.push_back(std::move(reader.tree()));
  }
}

}  // namespace ks::config
