// SPDX-License-Identifier: Apache-2.0
#include "api/decode/decoder.h"

#include <fmt/format.h>

#include "api/decode/decode_object.h"
#include "api/decode/kept_texts.h"
#include "api/decode/pod_sharing.h"
#include "api/kinds.h"
#include "api/proto/proto_envelope.h"

namespace ks::api {

namespace {

namespace od = simdjson::ondemand;

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

// A parser's buffers take three to four times the text. That of a large list, which comes once, is
// not kept.
constexpr size_t kMostKeptCapacity = size_t{1} << 16;

constexpr std::string_view kInitialEventsEnd = "k8s.io/initial-events-end";
constexpr std::string_view kNoEnvelope =
    "invalid protobuf: not an object in the envelope of Kubernetes";
constexpr std::string_view kNoWatchEvent = "invalid protobuf: not a watch event";

std::optional<WatchEventType> ParseEventType(std::string_view text) {
  if (text == "ADDED") return WatchEventType::kAdded;
  if (text == "MODIFIED") return WatchEventType::kModified;
  if (text == "DELETED") return WatchEventType::kDeleted;
  if (text == "BOOKMARK") return WatchEventType::kBookmark;
  if (text == "ERROR") return WatchEventType::kError;
  return std::nullopt;
}

std::string NoEventType(std::string_view text) {
  return fmt::format("\"{}\" is no type of watch event", text);
}

bool ReadEventType(FieldReader auto& reader, auto value, std::optional<WatchEventType>& type) {
  std::string_view text;
  if (!reader.Text(value, text)) return false;
  type = ParseEventType(text);
  return type || reader.Fail(NoEventType(text));
}

template <class T>
bool CheckListKind(FieldReader auto& reader, std::string_view kind) {
  const bool fits =
      kind.starts_with(kKindOf<T>.kind) && kind.substr(kKindOf<T>.kind.size()) == "List";
  return fits || reader.Fail(fmt::format("must be {}List, not {}", kKindOf<T>.kind, kind));
}

}  // namespace

struct Decoder::Impl {
  JsonReader reader;
  ProtoReader proto;
  od::parser parser;
  od::document document;
  PodSharing sharing;
  KeepRaw keep_raw = KeepRaw::kNone;
  KeepTexts keep_texts = KeepTexts::kNo;
  TextBlocks texts;

  // The root object of a text; failures leave their cause in the reader.
  bool Open(std::string_view json, od::object& root) {
    reader.Reset();
    const simdjson::padded_string_view padded(json.data(), json.size(), json.size() + kJsonPadding);
    simdjson::error_code error = parser.iterate(padded).get(document);
    if (!error) error = document.get_object().get(root);
    if (error == simdjson::INCORRECT_TYPE) return reader.Fail("must be an object");
    return !error || reader.Fail(error);
  }
  void DropLargeBuffers() {
    if (parser.capacity() <= kMostKeptCapacity) return;
    document = od::document();
    parser = od::parser();
  }
  // After the root object has been read to its end.
  bool AtEnd() {
    const char* rest = nullptr;
    const simdjson::error_code error = document.current_location().get(rest);
    return error == simdjson::OUT_OF_BOUNDS ||
           reader.Fail("invalid JSON: more text behind the object");
  }

  template <class T>
  std::shared_ptr<const T> Finish(Draft<T>&& draft, std::string_view /*raw*/) {
    return std::make_shared<const T>(std::move(draft.object));
  }
  std::shared_ptr<const Node> Finish(Draft<Node>&& draft, std::string_view raw) {
    if (keep_raw == KeepRaw::kAll) draft.object.raw = Raw(raw, false);
    return std::make_shared<const Node>(std::move(draft.object));
  }
  std::shared_ptr<const Pod> Finish(Draft<Pod>&& draft, std::string_view raw) {
    const bool pending = draft.object.node_name.empty();
    if (keep_raw == KeepRaw::kAll || (pending && keep_raw == KeepRaw::kPendingPods)) {
      draft.object.raw = Raw(raw, true);
    }
    sharing.Finish(draft.object, std::move(draft.spec), std::move(draft.resources),
                   std::move(draft.conditions));
    return std::make_shared<const Pod>(std::move(draft.object));
  }

  static std::shared_ptr<const std::string> Raw(std::string_view json, bool drop_managed_fields) {
    const size_t start = json.find('{');
    if (start == json.npos) return nullptr;
    json = json.substr(start, json.rfind('}') + 1 - start);
    return std::make_shared<const std::string>(EmbeddedJson(json, drop_managed_fields));
  }
  template <class T>
  bool NeedsJson() const {
    return keep_texts == KeepTexts::kJson ||
           ((std::is_same_v<T, Pod> || std::is_same_v<T, Node>)&&keep_raw != KeepRaw::kNone);
  }
  // Empty unless it is asked for. `raw`: of the object, as the reader has it.
  template <class T>
  ObjectText TextOf(const JsonReader& /*reader*/, const T& object, std::string_view raw) {
    if (keep_texts == KeepTexts::kNo) return {};
    if constexpr (std::is_same_v<T, Pod> || std::is_same_v<T, Node>) {
      if (object.raw != nullptr) return ObjectText::Of(object.raw);
    }
    // Its end begins with a character that is rare in JSON, so that most texts are looked through
    // at the speed of memory.
    if (keep_texts == KeepTexts::kAsSent && raw.find("Fields\"") == raw.npos) {
      return texts.Keep(raw);
    }
    return texts.Keep(EmbeddedJson(raw, !std::is_same_v<T, Node>));
  }
  template <class T>
  ObjectText TextOf(const ProtoReader& /*reader*/, const T& /*object*/, std::string_view raw) {
    if (keep_texts == KeepTexts::kNo) return {};
    static const std::string api_version = kKindOf<T>.ApiVersion();
    return texts.Keep(WriteEnvelope(api_version, kKindOf<T>.kind, WithoutManagedFields(raw)));
  }

  // A field of the root object. Once the kind is known to be another one, only the metadata is
  // read.
  template <class T>
  bool ReadRootField(std::string_view key, JsonReader::Value value, Draft<T>& draft,
                     bool& other_kind) {
    if (key == "kind") {
      std::string_view kind;
      if (!reader.Text(value, kind)) return false;
      other_kind = !kind.empty() && kind != kKindOf<T>.kind;
      return true;
    }
    if (other_kind && key != "metadata") return true;
    return ReadField(reader, key, value, draft);
  }

  // An object inside of a list or an event.
  template <class T>
  bool ReadObject(JsonReader& /*reader*/, JsonReader::Value value, Draft<T>& draft,
                  bool& other_kind, std::string_view& raw) {
    other_kind = false;
    const auto read = [&](std::string_view key, JsonReader::Value field) {
      return ReadRootField(key, field, draft, other_kind);
    };
    const bool keeps = NeedsJson<T>() || keep_texts == KeepTexts::kAsSent;
    if (!keeps || !reader.IsObject(value)) return reader.Object(value, read);
    od::object object;
    return reader.ObjectText(value, object, raw) && reader.Fields(object, read);
  }
  template <class T>
  bool ReadObject(ProtoReader& /*reader*/, const ProtoReader::Value& value, Draft<T>& draft,
                  bool& other_kind, std::string_view& raw) {
    other_kind = false;
    if (NeedsJson<T>()) return proto.Fail("protobuf was sent where the JSON of objects is kept");
    raw = value.bytes;
    return proto.Object(value, [&](std::string_view key, const ProtoReader::Value& field) {
      return ReadField(proto, key, field, draft);
    });
  }

  template <class T>
  bool ReadEventObject(FieldReader auto& form, auto value, WatchEvent<T>& event) {
    if (event.type == WatchEventType::kError) return ReadStatus(form, value, event.error);
    if (event.type == WatchEventType::kBookmark) return ReadBookmark(form, value, event);
    bool is_null = false;
    if (!form.IsNull(value, is_null)) return false;
    event.object = nullptr;
    if (is_null) return true;
    Draft<T> draft;
    bool other_kind = false;
    std::string_view raw;
    if (!ReadObject(form, value, draft, other_kind, raw)) return false;
    event.resource_version = draft.object.meta.resource_version;
    if (other_kind) return true;
    event.object = Finish(std::move(draft), raw);
    event.text = TextOf(form, *event.object, raw);
    return true;
  }

  template <class T>
  bool ReadBookmark(FieldReader auto& form, auto value, WatchEvent<T>& event) {
    ObjectMeta meta;
    const bool ok = form.Object(value, [&](std::string_view key, auto field) {
      return key != "metadata" || ReadMeta(form, field, meta, KeepAnnotations::kYes);
    });
    const std::string* const end_mark = meta.annotations.Find(Symbol(kInitialEventsEnd));
    event.initial_events_end = end_mark != nullptr && *end_mark == "true";
    event.resource_version = std::move(meta.resource_version);
    return ok;
  }

  // Only the type; it may stand behind the object, whose meaning depends on it.
  bool FindEventType(std::string_view json, std::optional<WatchEventType>& type) {
    od::object root;
    return Open(json, root) && reader.Fields(root, [&](std::string_view key, auto value) {
      return key != "type" || ReadEventType(reader, value, type);
    });
  }

  template <class T>
  bool ReadEvent(std::string_view json, std::optional<WatchEventType> type, WatchEvent<T>& event);
  template <class T>
  bool ReadList(std::string_view json, ListPage<T>& page);
  template <class T>
  bool ReadListField(FieldReader auto& form, std::string_view key, auto value, ListPage<T>& page);

  template <class T>
  bool ReadProtoObject(std::string_view bytes, Draft<T>& draft, bool& other_kind);
  template <class T>
  bool ReadProtoEvent(std::string_view bytes, WatchEvent<T>& event);
  template <class T>
  bool ReadProtoList(std::string_view bytes, ListPage<T>& page);
};

// Reads in one pass when the type stands before the object, as servers write it; otherwise it is
// looked up first.
template <class T>
bool Decoder::Impl::ReadEvent(std::string_view json, std::optional<WatchEventType> type,
                              WatchEvent<T>& event) {
  od::object root;
  if (!Open(json, root)) return false;
  const bool type_given = type.has_value();
  bool early_object = false;
  event = WatchEvent<T>();
  const bool ok = reader.Fields(root, [&](std::string_view key, auto value) {
    if (key == "type" && !type_given) {
      return !early_object && !type ? ReadEventType(reader, value, type) : true;
    }
    if (key != "object") return true;
    early_object = !type;
    if (early_object) return true;
    event.type = *type;
    return ReadEventObject(reader, value, event);
  });
  if (!ok || !AtEnd()) return false;
  if (early_object) {
    return FindEventType(json, type) &&
           (type ? ReadEvent(json, type, event) : reader.Fail("type: is missing"));
  }
  if (!type) return reader.Fail("type: is missing");
  event.type = *type;
  return true;
}

template <class T>
bool Decoder::Impl::ReadListField(FieldReader auto& form, std::string_view key, auto value,
                                  ListPage<T>& page) {
  if (key == "kind") {
    std::string_view kind;
    return form.Text(value, kind) && (kind.empty() || CheckListKind<T>(form, kind));
  }
  if (key == "metadata") {
    page.resource_version.clear();
    page.continue_token.clear();
    return form.Object(value, [&](std::string_view name, auto field) {
      if (name == "resourceVersion") return form.String(field, page.resource_version);
      if (name == "continue") return form.String(field, page.continue_token);
      return true;
    });
  }
  if (key != "items") return true;
  page.items.clear();
  page.texts.clear();
  return form.Array(value, [&](auto item) {
    Draft<T> draft;
    bool other_kind = false;
    std::string_view raw;
    if (!ReadObject(form, item, draft, other_kind, raw)) return false;
    if (other_kind) return true;
    page.items.push_back(Finish(std::move(draft), raw));
    if (keep_texts != KeepTexts::kNo) {
      page.texts.push_back(TextOf(form, *page.items.back(), raw));
    }
    return true;
  });
}

template <class T>
bool Decoder::Impl::ReadList(std::string_view json, ListPage<T>& page) {
  od::object root;
  return Open(json, root) && reader.Fields(root, [&](std::string_view key, auto value) {
    return ReadListField(reader, key, value, page);
  }) && AtEnd();
}

template <class T>
bool Decoder::Impl::ReadProtoObject(std::string_view bytes, Draft<T>& draft, bool& other_kind) {
  proto.Reset();
  ProtoEnvelope envelope;
  if (!ReadEnvelope(bytes, envelope)) return proto.Fail(kNoEnvelope);
  other_kind = envelope.kind != kKindOf<T>.kind;
  std::string_view raw;
  return other_kind || ReadObject(proto, ProtoReader::Root(ProtoMessageOf<T>(), envelope.raw),
                                  draft, other_kind, raw);
}

template <class T>
bool Decoder::Impl::ReadProtoEvent(std::string_view bytes, WatchEvent<T>& event) {
  proto.Reset();
  event = WatchEvent<T>();
  ProtoWatchEvent frame;
  ProtoEnvelope envelope;
  if (!ReadWatchEvent(bytes, frame)) return proto.Fail(kNoWatchEvent);
  const std::optional<WatchEventType> type = ParseEventType(frame.type);
  if (!type) return proto.Fail(NoEventType(frame.type));
  event.type = *type;
  if (frame.object.empty()) return true;
  if (!ReadEnvelope(frame.object, envelope)) return proto.Fail(kNoEnvelope);
  const bool is_status = event.type == WatchEventType::kError;
  if (!is_status && envelope.kind != kKindOf<T>.kind) return true;
  return ReadEventObject(
      proto,
      ProtoReader::Root(is_status ? ProtoStatusMessage() : ProtoMessageOf<T>(), envelope.raw),
      event);
}

template <class T>
bool Decoder::Impl::ReadProtoList(std::string_view bytes, ListPage<T>& page) {
  static const ProtoField fields[] = {
      {1, ProtoType::kMessage, ProtoShape::kOne, false, false, "metadata", &ProtoListMeta()},
      {2, ProtoType::kMessage, ProtoShape::kMany, false, false, "items", &ProtoMessageOf<T>()}};
  static const ProtoMessage list = {fields};
  proto.Reset();
  ProtoEnvelope envelope;
  if (!ReadEnvelope(bytes, envelope)) return proto.Fail(kNoEnvelope);
  return CheckListKind<T>(proto, envelope.kind) &&
         proto.Fields(ProtoReader::Root(list, envelope.raw), [&](std::string_view key, auto value) {
           return ReadListField(proto, key, value, page);
         });
}

Decoder::Decoder() : impl_(std::make_unique<Impl>()) {}
Decoder::~Decoder() = default;

void Decoder::set_keep_raw(KeepRaw keep) { impl_->keep_raw = keep; }

void Decoder::set_keep_texts(KeepTexts keep) { impl_->keep_texts = keep; }

template <class T>
Result<std::shared_ptr<const T>> Decoder::Object(std::string_view json) {
  if (IsProtobuf(json)) {
    Draft<T> draft;
    bool other_kind = false;
    if (!impl_->ReadProtoObject(json, draft, other_kind)) return impl_->proto.TakeError();
    if (other_kind) return std::shared_ptr<const T>();
    return impl_->Finish(std::move(draft), json);
  }
  od::object root;
  Draft<T> draft;
  bool other_kind = false;
  const bool ok = impl_->Open(json, root) &&
                  impl_->reader.Fields(root,
                                       [&](std::string_view key, auto value) {
                                         return impl_->ReadRootField(key, value, draft, other_kind);
                                       }) &&
                  impl_->AtEnd();
  if (!ok) return impl_->reader.TakeError();
  if (other_kind) return std::shared_ptr<const T>();
  return impl_->Finish(std::move(draft), json);
}

template <class T>
Result<WatchEvent<T>> Decoder::Event(std::string_view json) {
  WatchEvent<T> event;
  if (json.starts_with('\n')) {  // the tag of a message's first field
    if (!impl_->ReadProtoEvent(json, event)) return impl_->proto.TakeError();
    return event;
  }
  if (!impl_->ReadEvent(json, std::nullopt, event)) return impl_->reader.TakeError();
  return event;
}

template <class T>
Result<ListPage<T>> Decoder::List(std::string_view json) {
  ListPage<T> page;
  if (IsProtobuf(json)) {
    if (!impl_->ReadProtoList(json, page)) return impl_->proto.TakeError();
    return page;
  }
  const bool ok = impl_->ReadList(json, page);
  impl_->DropLargeBuffers();
  if (!ok) return impl_->reader.TakeError();
  return page;
}

// NOLINTBEGIN(bugprone-macro-parentheses): types
#define KS_DECODE(type, kind, group, version, plural, scope)                            \
  template Result<std::shared_ptr<const type>> Decoder::Object<type>(std::string_view); \
  template Result<WatchEvent<type>> Decoder::Event<type>(std::string_view);             \
  template Result<ListPage<type>> Decoder::List<type>(std::string_view);
KS_ALL_KINDS(KS_DECODE)
#undef KS_DECODE
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace ks::api
