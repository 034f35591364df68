// SPDX-License-Identifier: Apache-2.0
// Watches: what may be asked, and in which form they answer.

#include "apiserver/service/service_call.h"
#include "apiserver/store/json_write.h"
#include "apiserver/store/watch_stream.h"
#include "apiserver/table/table.h"

namespace ks::apiserver {
namespace {

// A stream of one ERROR frame: upstream answers 200 all the same.
class ErrorStream final : public WatchStream {
 public:
  explicit ErrorStream(const Failure& failure)
      : frame_("{\"type\":\"ERROR\",\"object\":" + StatusText(failure) + "}\n") {}
  State Read(size_t, std::string* out) override {
    *out += frame_;
    frame_.clear();
    return State::kEnded;
  }
  std::optional<TimePoint> NextDue() const override { return {}; }
  void OnReady(std::function<void()>) override {}

 private:
  std::string frame_;
};

// Each event of a table watch is a Table with one row; only the first one names the columns.
void UseTables(const Call& call, WatchOptions* options) {
  const KindInfo* kind = &call.kind;
  const std::string include(call.info.Query("includeObject"));
  const Clock* clock = &call.registry.clock();
  const auto first = std::make_shared<bool>(true);
  options->convert = [=](const std::string& text, uint64_t version) {
    Json table = TableHead(*kind, std::exchange(*first, false));
    table["metadata"]["resourceVersion"] = std::to_string(version);
    table["rows"] = Json::array({TableRow(*kind, Json::parse(text), include, clock->WallNow())});
    std::string out;
    AppendJson(table, &out);
    return out;
  };
  // A bookmark is a table too, of one empty object.
  options->bookmark = [=](uint64_t version, bool initial_end) {
    Json table = TableHead(*kind, std::exchange(*first, false));
    Json object{{"kind", kind->kind},
                {"apiVersion", kind->api_version()},
                {"metadata", {{"resourceVersion", std::to_string(version)}}}};
    if (initial_end) {
      object["metadata"]["annotations"]["k8s.io/initial-events-end"] = "true";
    }
    table["metadata"]["resourceVersion"] = std::to_string(version);
    table["rows"] = Json::array({TableRow(*kind, object, include, clock->WallNow())});
    std::string out;
    AppendJson(table, &out);
    return out;
  };
}

Duration Longest(const Call& call, const ListQuery& query) {
  const Duration most = call.options.max_watch;
  if (!query.timeout_seconds.has_value() || *query.timeout_seconds <= 0) return most;
  const int64_t most_seconds = std::chrono::duration_cast<std::chrono::seconds>(most).count();
  if (*query.timeout_seconds >= most_seconds) return most;
  return std::chrono::seconds(*query.timeout_seconds);
}

ApiResponse OpenWatch(const Call& call, const ListQuery& query) {
  Outcome<SelectorQuery> selector = SelectorQuery::Parse(
      call.kind, call.info.Query("labelSelector"), call.info.Query("fieldSelector"));
  if (!selector.ok()) return Refusal(selector.failure());
  if (!call.info.name.empty()) selector->RequireName(call.info.name);
  WatchOptions options;
  options.kind = &call.kind;
  options.ns = call.ns;
  options.selector = std::move(*selector);
  options.bookmarks = query.bookmarks;
  options.bookmark_interval = call.options.bookmark_interval;
  options.longest = Longest(call, query);
  options.open = &call.watches;
  const bool any_version = query.version.empty() || query.version == "0";
  options.initial = query.has_send_initial ? query.send_initial : any_version;
  options.mark_initial_end = options.initial && query.bookmarks;
  const uint64_t current = call.store().version();
  if (query.send_initial && query.number > current) {
    return Refusal(TooLargeResourceVersion(query.number, current));
  }
  options.since = any_version ? current : query.number;
  ApiResponse response;
  if (!options.initial && options.since < call.store().ForgottenVersion(call.kind)) {
    response.watch = std::make_unique<ErrorStream>(
        Expired("too old resource version: " + std::to_string(options.since) + " (" +
                std::to_string(call.store().ForgottenVersion(call.kind)) + ")"));
    return response;
  }
  if (options.initial) options.since = 0;
  const Form form = FormOf(call);
  if (form == Form::kTable) UseTables(call, &options);
  if (form == Form::kOther) {
    options.convert = [kind = &call.kind](const std::string& text, uint64_t) {
      return OtherText(*kind, text);
    };
  }
  response.watch =
      std::make_unique<StoreWatch>(call.store(), call.registry.clock(), std::move(options));
  return response;
}

}  // namespace

ApiResponse AnswerWatch(const Call& call) {
  const Outcome<ListQuery> query = ParseListQuery(call.info);
  if (!query.ok()) return Refusal(query.failure());
  return OpenWatch(call, *query);
}

}  // namespace ks::apiserver
