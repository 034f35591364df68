// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON to objects in one pass (simdjson on-demand behind this header). Unknown fields are skipped;
// a wrong type or a bad quantity is an error that names the path, and the caller must then drop the
// whole answer and list again.
//
// Upstream: docs/spec/api.md sections 2, 3.5, 4, 6.8 (framing).

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/delta.h"
#include "api/devices.h"
#include "api/lease.h"
#include "api/node.h"
#include "api/pod.h"
#include "api/status.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "base/result.h"

namespace ks::api {

// Readable bytes that must follow the JSON text handed to a Decoder. std::string buffers: reserve
// size() + kJsonPadding.
inline constexpr size_t kJsonPadding = 64;

enum class WatchEventType : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

template <class T>
struct WatchEvent {
  WatchEventType type = WatchEventType::kAdded;
  // kAdded, kModified, kDeleted; null when the object is of another kind.
  std::shared_ptr<const T> object;
  ObjectText text;                  // of the object, if texts are kept
  std::string resource_version;     // of the object or bookmark
  bool initial_events_end = false;  // kBookmark with k8s.io/initial-events-end: "true"
  ApiError error;                   // kError
};

template <class T>
struct ListPage {
  std::vector<std::shared_ptr<const T>> items;
  std::vector<ObjectText> texts;  // of the items, if texts are kept
  std::string resource_version;
  std::string continue_token;  // empty: last page
};

// For which pods and nodes the whole JSON is kept beside what was read of them. It is upstream's
// form of an object inside another one: without kind and apiVersion, and without
// metadata.managedFields, which upstream's scheduler drops from pods (extenders see nodes whole).
enum class KeepRaw : uint8_t { kNone, kPendingPods, kAll };

// Whether events and lists bring the texts of their objects, of every kind, and in which form.
// Decoder::Object makes the same object of either.
enum class KeepTexts : uint8_t {
  kNo,
  kJson,    // as in KeepRaw; protobuf is refused
  kAsSent,  // the JSON or the body in protobuf that came, without metadata.managedFields (those of
            // nodes may be there in JSON)
};

// Holds a parser's buffers; reuse it. T is a kind of kinds.h.
// Threads: one at a time. Errors: texts like `spec.containers[0].resources.requests.cpu: <cause>`.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // From the next object on. kPendingPods: pods without a node, no nodes.
  void set_keep_raw(KeepRaw keep);
  // From the next object on.
  void set_keep_texts(KeepTexts keep);

  // Requires of `json`: kJsonPadding readable bytes behind its end.
  template <class T>
  Result<std::shared_ptr<const T>> Object(std::string_view json);
  template <class T>
  Result<WatchEvent<T>> Event(std::string_view json);
  template <class T>
  Result<ListPage<T>> List(std::string_view json);

  // A Status body of a failed request. Never fails: see docs/spec/api.md 7.5 for bodies that are no
  // Status.
  static ApiError DecodeStatus(int http_code, std::string_view body, std::string_view verb,
                               std::string_view resource, std::string_view name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ks::api
