// SPDX-License-Identifier: Apache-2.0
#include "apiserver/service/service.h"

#include <algorithm>

#include "apiserver/body/body.h"
#include "apiserver/service/discovery.h"
#include "apiserver/service/own_kinds.h"
#include "apiserver/service/service_call.h"
#include "apiserver/store/json_write.h"
#include "apiserver/store/watch_stream.h"

namespace ks::apiserver {
namespace {

// Budgets are brought up to date at most this often (and before anybody asks for them), since each
// time looks at all pods of a namespace.
constexpr Duration kBudgetPause = std::chrono::milliseconds(100);
// Controllers that answer each other's writes get so many turns in one Step.
constexpr int kTurns = 8;

const KindInfo& Events() {
  static const KindInfo* kind = FindKind("v1", "Event");
  return *kind;
}

Failure Denied(const RequestInfo& info, const UserInfo& user, const std::string& reason) {
  Failure failure;
  failure.code = 403;
  failure.reason = "Forbidden";
  const std::string who = "User \"" + user.name + "\" cannot " + info.verb;
  const std::string because = reason.empty() ? "" : ": " + reason;
  if (!info.resource_request) {
    failure.empty_details = true;
    failure.message = "forbidden: " + who + " path \"" + info.path + '"' + because;
    return failure;
  }
  failure.name = info.name;
  failure.group = info.group;
  failure.kind = info.resource;
  failure.message = info.resource + (info.group.empty() ? "" : "." + info.group);
  if (!info.name.empty()) failure.message += " \"" + info.name + '"';
  const std::string resource =
      info.subresource.empty() ? info.resource : info.resource + '/' + info.subresource;
  failure.message +=
      " is forbidden: " + who + " resource \"" + resource + "\" in API group \"" + info.group + '"';
  failure.message +=
      info.ns.empty() ? " at the cluster scope" : " in the namespace \"" + info.ns + '"';
  failure.message += because;
  return failure;
}

ApiResponse PageNotFound() {
  ApiResponse response;
  response.status = 404;
  response.content_type = "text/plain; charset=utf-8";
  response.body = "404 page not found\n";
  return response;
}

// Groups whose resources are only posted.
bool IsReviewGroup(std::string_view group) {
  return group == "authentication.k8s.io" || group == "authorization.k8s.io";
}

bool GroupExists(const RequestInfo& info) {
  return info.group.empty() || IsReviewGroup(info.group) ||
         std::any_of(AllKinds().begin(), AllKinds().end(),
                     [&info](const KindInfo& kind) { return kind.group == info.group; });
}

// What can be posted but not read.
bool IsUnstored(const RequestInfo& info) {
  return (info.group.empty() && info.resource == "bindings") ||
         (IsReviewGroup(info.group) && info.version == "v1" && info.resource.ends_with("reviews"));
}

// Whether a client that sends this Accept header takes JSON.
bool TakesJson(std::string_view accept) {
  return accept.empty() || accept.find("application/json") != std::string_view::npos ||
         accept.find("*/*") != std::string_view::npos ||
         accept.find("application/*") != std::string_view::npos;
}

Failure NotAcceptable() {
  Failure failure;
  failure.code = 406;
  failure.reason = "NotAcceptable";
  failure.message = "406: Not Acceptable\n\nAvailable representations: application/json";
  failure.empty_details = true;
  return failure;
}

// Whether the path names something that exists; which methods it takes is another question.
bool PathExists(const KindInfo& kind, const RequestInfo& info) {
  const std::string& sub = info.subresource;
  const bool own_namespace = kind.kind == "Namespace";
  if (!kind.namespaced && !own_namespace && !info.ns.empty()) return false;
  if (kind.namespaced && info.ns.empty() && !info.name.empty() && info.verb != "list" &&
      info.verb != "watch") {
    return false;
  }
  if (sub.empty() || (sub == "status" && kind.has_status)) return true;
  return kind.kind == "Pod" && (sub == "binding" || sub == "eviction" || sub == "resize");
}

ApiResponse Dispatch(const Call& call) {
  const RequestInfo& info = call.info;
  const bool only_create = info.subresource == "binding" || info.subresource == "eviction";
  const bool named = !info.name.empty();
  if (info.verb == "create") return AnswerCreate(call);
  if (only_create || call.request.method == "HEAD") {
    return Refusal(MethodNotAllowed(call.request.method));
  }
  if (info.verb == "get") return AnswerGet(call);
  if (info.verb == "list") return AnswerList(call);
  if (info.verb == "watch") return AnswerWatch(call);
  if (info.verb == "update" && named) return AnswerUpdate(call);
  if (info.verb == "patch" && named) return AnswerPatch(call);
  if (info.verb == "delete" && info.subresource.empty()) return AnswerDelete(call);
  const bool in_scope =
      call.kind.kind != "Namespace" && (!call.kind.namespaced || !call.ns.empty());
  if (info.verb == "deletecollection" && in_scope) return AnswerDeleteCollection(call);
  return Refusal(MethodNotAllowed(call.request.method));
}

}  // namespace

Service::Service(const Clock& clock, ServiceOptions options)
    : clock_(clock),
      options_(options),
      store_(options.store),
      registry_(store_, clock, options.seed),
      authorizer_(NewAllowAll()),
      tokens_([](std::string_view) -> std::optional<UserInfo> { return {}; }) {}

Service::~Service() = default;

void Service::SetAuthorizer(std::unique_ptr<Authorizer> authorizer) {
  authorizer_ = std::move(authorizer);
}

void Service::SetTokenLookup(TokenLookup lookup) { tokens_ = std::move(lookup); }

void Service::AddController(std::unique_ptr<Controller> controller) {
  controllers_.push_back(std::move(controller));
}

void Service::EndWatches() {
  // A reader that is told may drop its stream, which leaves the list.
  const std::vector<StoreWatch*> open(watches_.begin(), watches_.end());
  for (StoreWatch* watch : open) {
    if (std::find(watches_.begin(), watches_.end(), watch) != watches_.end()) watch->Cancel();
  }
}

ApiResponse Service::Handle(const ApiRequest& request) {
  ApiResponse response = Answer(request);
  Follow();
  return response;
}

ApiResponse Service::Answer(const ApiRequest& request) {
  const Outcome<RequestInfo> info = ParseRequest(request);
  if (!info.ok()) return Refusal(info.failure());
  const Decision decision = authorizer_->Authorize(request.user, *info);
  if (!decision.allowed) return Refusal(Denied(*info, request.user, decision.reason));
  if (auto answer = AnswerDiscovery(request, *info)) return *std::move(answer);
  if (!info->resource_request) return PageNotFound();
  return AnswerResource(request, *info);
}

ApiResponse Service::AnswerResource(const ApiRequest& request, const RequestInfo& info) {
  const KindInfo* kind = FindResource(info.group, info.version, info.resource);
  if (kind == nullptr) return AnswerUnstored(request, info);
  if (!PathExists(*kind, info)) return Refusal(PathNotFound());
  if (!TakesJson(request.accept)) return Refusal(NotAcceptable());
  const bool asks_budgets = kind == &Budgets() || info.subresource == "eviction";
  if (asks_budgets && !stale_budgets_.empty()) UpdateBudgets();
  const Call call{.request = request,
                  .info = info,
                  .kind = *kind,
                  .ns = kind->namespaced ? std::string_view(info.ns) : std::string_view(""),
                  .registry = registry_,
                  .options = options_,
                  .watches = watches_};
  return Dispatch(call);
}

ApiResponse Service::AnswerUnstored(const ApiRequest& request, const RequestInfo& info) {
  if (!GroupExists(info)) return PageNotFound();
  if (!IsUnstored(info)) return Refusal(PathNotFound());
  if (info.verb != "create") return Refusal(MethodNotAllowed(request.method));
  Outcome<Json> body = DecodeBody(request.content_type, request.body);
  if (!body.ok()) return Refusal(body.failure());
  std::optional<Outcome<Json>> answer;
  if (info.group.empty() && info.resource == "bindings" && !info.ns.empty()) {
    answer = BindPod(registry_, info.ns, "", *body, info.HasQuery("dryRun"));
  } else {
    answer = Review(info, request.user, std::move(*body), *authorizer_, tokens_);
  }
  if (!answer.has_value()) return Refusal(PathNotFound());
  if (!answer->ok()) return Refusal(answer->failure());
  std::string text;
  AppendJson(**answer, &text);
  return JsonAnswer(201, std::move(text));
}

void Service::Follow() {
  if (followed_version_ == store_.version()) return;
  followed_version_ = store_.version();
  FollowPods();
  FollowEvents();
}

void Service::FollowPods() {
  const auto has_budgets = [this](const std::string& ns) {
    const Store::Objects& budgets = store_.objects(Budgets());
    const auto it = budgets.lower_bound(Store::KeyView(ns, ""));
    return it != budgets.end() && it->first.first == ns;
  };
  const auto follow = [&](const KindInfo& kind, uint64_t* next) {
    *next = std::max(*next, store_.FirstSequence(kind));
    while (const Change* change = store_.At(kind, *next)) {
      ++*next;
      if (has_budgets(change->object->ns)) stale_budgets_.insert(change->object->ns);
    }
  };
  if (store_.objects(Budgets()).empty()) {
    next_pod_ = store_.NextSequence(Pods());
    next_budget_ = store_.NextSequence(Budgets());
    return;
  }
  follow(Pods(), &next_pod_);
  follow(Budgets(), &next_budget_);
  if (!stale_budgets_.empty() && !budgets_due_.has_value()) {
    budgets_due_ = clock_.Now() + kBudgetPause;
  }
}

void Service::FollowEvents() {
  next_event_ = std::max(next_event_, store_.FirstSequence(Events()));
  while (const Change* change = store_.At(Events(), next_event_)) {
    ++next_event_;
    if (change->type == Change::Type::kDeleted) continue;
    const StoredObject& event = *change->object;
    expiries_.push_back(
        {clock_.Now() + options_.event_ttl, event.ns, event.name, event.resource_version});
  }
}

void Service::UpdateBudgets() {
  const std::set<std::string> stale = std::exchange(stale_budgets_, {});
  budgets_due_.reset();
  for (const std::string& ns : stale) UpdateDisruptionBudgets(registry_, ns);
  // What this wrote makes nothing stale again.
  next_budget_ = store_.NextSequence(Budgets());
}

void Service::ExpireEvents(TimePoint now) {
  while (!expiries_.empty() && expiries_.front().due <= now) {
    const EventExpiry expiry = std::move(expiries_.front());
    expiries_.pop_front();
    const ObjectPtr event = store_.Find(Events(), expiry.ns, expiry.name);
    if (event == nullptr || event->resource_version != expiry.version) continue;
    store_.Remove(Events(), expiry.ns, expiry.name);
  }
}

bool Service::ControllersDue(TimePoint now) const {
  if (store_.version() != stepped_version_) return true;
  return std::any_of(controllers_.begin(), controllers_.end(), [now](const auto& controller) {
    const std::optional<TimePoint> due = controller->NextDue();
    return due.has_value() && *due <= now;
  });
}

void Service::Step() {
  const TimePoint now = clock_.Now();
  Follow();
  ExpireEvents(now);
  for (int turn = 0; turn < kTurns && ControllersDue(now); ++turn) {
    stepped_version_ = store_.version();
    for (const std::unique_ptr<Controller>& controller : controllers_) controller->Step();
    Follow();
  }
  if (budgets_due_.has_value() && *budgets_due_ <= now) UpdateBudgets();
}

std::optional<TimePoint> Service::NextDue() const {
  if (!controllers_.empty() && store_.version() != stepped_version_) return clock_.Now();
  std::optional<TimePoint> due = budgets_due_;
  const auto take = [&due](std::optional<TimePoint> other) {
    if (other.has_value() && (!due.has_value() || *other < *due)) due = other;
  };
  if (!expiries_.empty()) take(expiries_.front().due);
  for (const std::unique_ptr<Controller>& controller : controllers_) take(controller->NextDue());
  return due;
}

}  // namespace ks::apiserver
