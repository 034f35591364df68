// SPDX-License-Identifier: Apache-2.0
// Gets and lists, and what lists and watches have in common.

#include <charconv>

#include "api/selector.h"
#include "apiserver/service/service_call.h"
#include "apiserver/store/event_forms.h"
#include "apiserver/store/json_write.h"
#include "apiserver/store/list_token.h"
#include "apiserver/store/selector_query.h"
#include "apiserver/table/table.h"
#include "golang/quote.h"

namespace ks::apiserver {

Form FormOf(const Call& call) {
  if (call.info.subresource.empty() && WantsTable(call.kind, call.request.accept)) {
    return Form::kTable;
  }
  return &call.kind == &StorageKind(call.kind) ? Form::kStored : Form::kOther;
}

std::string OtherText(const KindInfo& kind, std::string_view stored_text) {
  Json object = Json::parse(stored_text);
  if (kind.kind == "Event") {
    ToEventsV1(object);
  } else {
    object["apiVersion"] = kind.api_version();
  }
  std::string text;
  AppendJson(object, &text);
  return text;
}

std::string TextIn(Form form, const Call& call, const StoredObject& object) {
  if (form == Form::kStored) return object.text;
  if (form == Form::kOther) return OtherText(call.kind, object.text);
  Json table = TableHead(call.kind, true);
  table["metadata"]["resourceVersion"] = std::to_string(object.resource_version);
  table["rows"] = Json::array({TableRow(call.kind, object.Parse(), call.info.Query("includeObject"),
                                        call.registry.clock().WallNow())});
  std::string text;
  AppendJson(table, &text);
  return text;
}

ApiResponse JsonAnswer(int status, std::string body) {
  ApiResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

ApiResponse Refusal(const Failure& failure) {
  ApiResponse response = JsonAnswer(failure.code, StatusText(failure));
  if (failure.retry_after_seconds > 0) {
    response.headers.emplace_back("Retry-After", std::to_string(failure.retry_after_seconds));
  }
  return response;
}

Outcome<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    const char* why =
        error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax";
    return BadRequest("strconv.ParseInt: parsing " + golang::Quote(text) + ": " + why);
  }
  return number;
}

namespace {

Outcome<uint64_t> ParseVersion(std::string_view text) {
  if (text.empty()) return uint64_t{0};
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return PlainError("resourceVersion: Invalid value: " + golang::Quote(text) +
                    ": strconv.ParseUint: parsing " + golang::Quote(text) + ": invalid syntax");
}

Cause ForbiddenMatch(std::string_view why) {
  return {"FieldValueForbidden", "Forbidden: " + std::string(why), "resourceVersionMatch"};
}

Cause UnsupportedMatch(std::string_view value, std::string_view supported) {
  return {"FieldValueNotSupported",
          "Unsupported value: " + golang::Quote(value) +
              ": supported values: " + std::string(supported),
          "resourceVersionMatch"};
}

std::vector<Cause> CheckInitialEvents(const ListQuery& query) {
  std::vector<Cause> causes;
  if (query.match != "NotOlderThan") {
    causes.push_back(
        ForbiddenMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    if (!query.match.empty()) causes.push_back(UnsupportedMatch(query.match, "\"NotOlderThan\""));
  }
  return causes;
}

std::vector<Cause> CheckMatch(const ListQuery& query) {
  if (query.has_send_initial && !query.watch) {
    return {{"FieldValueForbidden", "Forbidden: sendInitialEvents is forbidden for list",
             "sendInitialEvents"}};
  }
  if (query.has_send_initial) return CheckInitialEvents(query);
  std::vector<Cause> causes;
  if (query.match.empty()) return causes;
  if (query.watch) {
    causes.push_back(ForbiddenMatch(
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    return causes;
  }
  if (query.version.empty()) {
    causes.push_back(
        ForbiddenMatch("resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (!query.continue_token.empty()) {
    causes.push_back(ForbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
  }
  if (query.match != "Exact" && query.match != "NotOlderThan") {
    causes.push_back(UnsupportedMatch(query.match, "\"Exact\", \"NotOlderThan\", \"\""));
  }
  if (query.match == "Exact" && query.version == "0") {
    causes.push_back(
        ForbiddenMatch("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  return causes;
}

bool QueryBool(const RequestInfo& info, std::string_view key) {
  const std::string_view value = info.Query(key);
  return info.HasQuery(key) && value != "false" && value != "0";
}

}  // namespace

Outcome<ListQuery> ParseListQuery(const RequestInfo& info) {
  ListQuery query;
  query.watch = info.verb == "watch";
  query.version = info.Query("resourceVersion");
  query.match = info.Query("resourceVersionMatch");
  query.has_send_initial = !info.Query("sendInitialEvents").empty();
  query.send_initial = QueryBool(info, "sendInitialEvents");
  query.bookmarks = QueryBool(info, "allowWatchBookmarks");
  query.continue_token = info.Query("continue");
  if (!info.Query("limit").empty()) {
    const Outcome<int64_t> limit = ParseInteger(info.Query("limit"));
    if (!limit.ok()) return limit.failure();
    query.limit = *limit;
  }
  if (!info.Query("timeoutSeconds").empty()) {
    const Outcome<int64_t> timeout = ParseInteger(info.Query("timeoutSeconds"));
    if (!timeout.ok()) return timeout.failure();
    query.timeout_seconds = *timeout;
  }
  std::vector<Cause> causes = CheckMatch(query);
  if (!causes.empty()) return InvalidOptions("ListOptions", std::move(causes));
  const Outcome<uint64_t> number = ParseVersion(query.version);
  if (!number.ok() && query.watch) return number.failure();
  if (!number.ok()) return BadRequest("invalid resource version: " + number.failure().message);
  query.number = *number;
  return query;
}

ApiResponse AnswerGet(const Call& call) {
  const Outcome<uint64_t> version = ParseVersion(call.info.Query("resourceVersion"));
  if (!version.ok()) return Refusal(version.failure());
  if (*version > call.store().version()) {
    return Refusal(TooLargeResourceVersion(*version, call.store().version()));
  }
  const Outcome<ObjectPtr> object = call.registry.Get(call.kind, call.ns, call.info.name);
  if (!object.ok()) return Refusal(object.failure());
  return JsonAnswer(200, TextIn(FormOf(call), call, **object));
}

namespace {

struct Page {
  std::vector<ObjectPtr> objects;
  uint64_t version = 0;
  std::string continue_token;
  int64_t remaining = 0;  // behind the page; only counted without selectors
};

// The rest of a list whose snapshot is forgotten can be had from the current state, by a token that
// says so.
Failure ExpiredContinue(const ListToken& token) {
  Failure failure = Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
  failure.continue_token = EncodeListToken({.version = -1, .start = token.start});
  return failure;
}

// From the first key on that the list still has to give.
Outcome<Page> Collect(const Call& call, const SelectorQuery& selector, const ListQuery& query,
                      uint64_t version, const ListToken* token) {
  Page page;
  page.version = version;
  const std::string_view ns = call.ns;
  Store::Key from(ns, "");
  if (token != nullptr) from = KeyOfStart(call.kind, token->start);
  const bool paged = query.limit > 0 && query.version != "0";
  bool full = false;
  const bool counting = paged && selector.MatchesEverything();
  const bool known = call.store().VisitAt(call.kind, version, from, [&](const ObjectPtr& object) {
    if (!ns.empty() && object->ns != ns) return false;
    if (!selector.Matches(*object)) return true;
    if (full) {
      ++page.remaining;
      return counting;
    }
    page.objects.push_back(object);
    full = paged && page.objects.size() >= static_cast<size_t>(query.limit);
    return true;
  });
  if (!known && token != nullptr) return ExpiredContinue(*token);
  if (!known) return Expired("The resourceVersion for the provided list is too old.");
  if (page.remaining > 0) {
    const StoredObject& last = *page.objects.back();
    page.continue_token = EncodeListToken(
        {.version = static_cast<int64_t>(version), .start = StartAfter(call.kind, last)});
  }
  if (!counting) page.remaining = 0;
  return page;
}

Outcome<Page> CollectPage(const Call& call, const ListQuery& query) {
  Outcome<SelectorQuery> selector = SelectorQuery::Parse(
      call.kind, call.info.Query("labelSelector"), call.info.Query("fieldSelector"));
  if (!selector.ok()) return selector.failure();
  const uint64_t current = call.store().version();
  if (!query.continue_token.empty()) {
    const Outcome<ListToken> token = DecodeListToken(query.continue_token);
    if (!token.ok()) return token.failure();
    if (!query.version.empty() && query.version != "0") {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
    const uint64_t version = token->version < 0 ? current : static_cast<uint64_t>(token->version);
    if (version > current) return TooLargeResourceVersion(version, current);
    return Collect(call, *selector, query, version, &*token);
  }
  if (query.number > current) return TooLargeResourceVersion(query.number, current);
  const bool exact =
      query.match == "Exact" || (query.match.empty() && query.limit > 0 && query.number > 0);
  return Collect(call, *selector, query, exact ? query.number : current, nullptr);
}

std::string ListMeta(const Page& page) {
  std::string meta = "{\"resourceVersion\":\"" + std::to_string(page.version) + '"';
  if (!page.continue_token.empty()) meta += ",\"continue\":\"" + page.continue_token + '"';
  if (page.remaining > 0) meta += ",\"remainingItemCount\":" + std::to_string(page.remaining);
  return meta + '}';
}

std::string TableText(const Call& call, const Page& page) {
  Json table = TableHead(call.kind, true);
  const TimePoint now = call.registry.clock().WallNow();
  Json rows = Json::array();
  for (const ObjectPtr& object : page.objects) {
    rows.push_back(TableRow(call.kind, object->Parse(), call.info.Query("includeObject"), now));
  }
  table["rows"] = std::move(rows);
  table["metadata"] = Json::parse(ListMeta(page));
  std::string text;
  AppendJson(table, &text);
  return text;
}

// Stored texts put together. Upstream leaves kind and apiVersion out of items; here they stay,
// since taking them out would cost a copy each, and clients (kubectl, client-go) read both.
std::string ListText(const Call& call, Form form, const Page& page) {
  std::string text = "{\"kind\":\"" + call.kind.kind + "List\",\"apiVersion\":\"" +
                     call.kind.api_version() + "\",\"metadata\":" + ListMeta(page) + ",\"items\":[";
  size_t size = text.size() + 2;
  for (const ObjectPtr& object : page.objects) size += object->text.size() + 1;
  text.reserve(size);
  for (const ObjectPtr& object : page.objects) {
    if (text.back() != '[') text += ',';
    text += form == Form::kStored ? object->text : OtherText(call.kind, object->text);
  }
  text += "]}";
  return text;
}

}  // namespace

ApiResponse AnswerList(const Call& call) {
  const Outcome<ListQuery> query = ParseListQuery(call.info);
  if (!query.ok()) return Refusal(query.failure());
  const Outcome<Page> page = CollectPage(call, *query);
  if (!page.ok()) return Refusal(page.failure());
  const Form form = FormOf(call);
  return JsonAnswer(200,
                    form == Form::kTable ? TableText(call, *page) : ListText(call, form, *page));
}

}  // namespace ks::apiserver
