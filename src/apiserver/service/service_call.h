// SPDX-License-Identifier: Apache-2.0
#pragma once
// One request on its way through the Service, and the functions that answer it. Internal to
// service*.cc and watch_stream.cc.

#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/registry/registry.h"
#include "apiserver/service/request_info.h"
#include "apiserver/service/service.h"
#include "apiserver/store/failure.h"
#include "apiserver/store/types.h"

namespace ks::apiserver {

// Lifetime: for one Handle.
struct Call {
  const ApiRequest& request;
  const RequestInfo& info;
  const KindInfo& kind;  // as asked for, which is not always the kind that is stored
  std::string_view ns;   // of the objects: "" for cluster-scoped kinds and for all namespaces
  Registry& registry;
  const ServiceOptions& options;
  std::list<StoreWatch*>& watches;

  Store& store() const { return registry.store(); }
};

// How objects go out: as they are stored, as rows of a table, or as the kind that was asked for
// where another one is stored.
enum class Form : uint8_t { kStored, kTable, kOther };
Form FormOf(const Call& call);
// The text of one object in a form; a Table with one row for kTable.
std::string TextIn(Form form, const Call& call, const StoredObject& object);
// A stored object's text as that of `kind`, which is stored as another one.
std::string OtherText(const KindInfo& kind, std::string_view stored_text);

ApiResponse JsonAnswer(int status, std::string body);
ApiResponse Refusal(const Failure& failure);

// What lists and watches may ask (docs/spec/api.md section 6).
struct ListQuery {
  bool watch = false;
  std::string version{};  // resourceVersion as sent
  uint64_t number = 0;    // the same; 0 when absent
  std::string match{};    // resourceVersionMatch
  bool send_initial = false;
  bool has_send_initial = false;
  bool bookmarks = false;
  int64_t limit = 0;
  std::string continue_token{};
  std::optional<int64_t> timeout_seconds{};
};
Outcome<ListQuery> ParseListQuery(const RequestInfo& info);
// A Go integer of a query. Error: 400.
Outcome<int64_t> ParseInteger(std::string_view text);

// Reads.
ApiResponse AnswerGet(const Call& call);
ApiResponse AnswerList(const Call& call);
ApiResponse AnswerWatch(const Call& call);

// Writes.
ApiResponse AnswerCreate(const Call& call);
ApiResponse AnswerUpdate(const Call& call);
ApiResponse AnswerPatch(const Call& call);
ApiResponse AnswerDelete(const Call& call);
ApiResponse AnswerDeleteCollection(const Call& call);

}  // namespace ks::apiserver
