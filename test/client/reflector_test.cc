// SPDX-License-Identifier: Apache-2.0
// List and watch (docs/spec/api.md 6.3 to 6.7), in virtual time.
#include "client/watch/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/node.h"
#include "client/fake_transport.h"
#include "testing/protobuf.h"

namespace ks::client {
namespace {

using Kind = TransportError::Kind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string NodeJson(const std::string& name, const std::string& version) {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"u-)" +
         name + R"(","resourceVersion":")" + version + R"("}})";
}

std::string ListJson(const std::vector<std::string>& items, const std::string& version,
                     const std::string& token = "") {
  std::string text =
      R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" + version + "\"";
  if (!token.empty()) text += R"(,"continue":")" + token + "\"";
  text += "},\"items\":[";
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text + "]}";
}

std::string EventJson(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

std::string BookmarkJson(const std::string& version) {
  return EventJson(
      "BOOKMARK",
      R"({"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")" + version + "\"}}");
}

const std::string kExpired = StatusBody(410, "Expired", "too old resource version: 5 (90)");
const std::string kTooLarge =
    StatusBody(504, "Timeout", "Timeout: Too large resource version: 100, current: 50");

class ReflectorTest : public ::testing::Test {
 protected:
  ReflectorTest()
      : client_(net_.Client()),
        reflector_(std::make_unique<Reflector<api::Node>>(
            *client_,
            ReflectorOptions{
                .path = "/api/v1/nodes", .type_name = "*v1.Node", .resource = "nodes", .seed = 3},
            [this](std::vector<api::Delta<api::Node>> batch) { Take(std::move(batch)); })) {}

  void Take(std::vector<api::Delta<api::Node>> batch) {
    std::string text;
    for (const auto& delta : batch) {
      if (!text.empty()) text += " ";
      switch (delta.type) {
        case api::Delta<api::Node>::Type::kReplace:
          text += "=";
          for (const auto& node : delta.items)
            text += node->meta.name + node->meta.resource_version + ";";
          break;
        case api::Delta<api::Node>::Type::kUpsert:
          text += "+" + delta.object->meta.name + delta.object->meta.resource_version;
          break;
        case api::Delta<api::Node>::Type::kDelete:
          text += "-" + delta.object->meta.name + delta.object->meta.resource_version;
          break;
      }
    }
    MutexLock lock(mutex_);
    batches_.push_back(text);
  }

  std::vector<std::string> TakeBatches() {
    MutexLock lock(mutex_);
    return std::exchange(batches_, {});
  }

  // Index and target of the newest request.
  size_t Last() { return net_.transport.size() - 1; }
  std::string Target() { return net_.transport.request(Last()).target; }
  // Runs the timer that is due next: a delay between rounds.
  Duration NextDelay() {
    const Duration delay = net_.timers.UntilNext();
    net_.timers.Advance(delay);
    return delay;
  }

  // Lists a (version 7) and opens the watch at 10.
  void Sync() {
    reflector_->Start();
    net_.transport.Answer(Last(), 200, ListJson({NodeJson("a", "7")}, "10"));
    net_.transport.Headers(Last(), 200);
    TakeBatches();
  }

  FakeNetwork net_;
  Mutex mutex_;
  std::vector<std::string> batches_ KS_GUARDED_BY(mutex_);
  std::unique_ptr<RestClient> client_;
  std::unique_ptr<Reflector<api::Node>> reflector_;
};

TEST_F(ReflectorTest, ListThenWatch) {
  EXPECT_FALSE(reflector_->Synced());
  reflector_->Start();
  EXPECT_EQ(Target(), "/api/v1/nodes?limit=500&resourceVersion=0");
  EXPECT_TRUE(net_.transport.request(0).accept_gzip);
  net_.transport.Answer(0, 200, ListJson({NodeJson("a", "7"), NodeJson("b", "3")}, "10"));
  EXPECT_THAT(TakeBatches(), ElementsAre("=a7;b3;"));
  EXPECT_TRUE(reflector_->Synced());
  ASSERT_EQ(net_.transport.size(), 2u);
  EXPECT_THAT(Target(),
              HasSubstr("/api/v1/nodes?allowWatchBookmarks=true&resourceVersion=10&timeout="));
  EXPECT_THAT(Target(), HasSubstr("&watch=true"));
  EXPECT_FALSE(reflector_->Status().watching);
  net_.transport.Headers(1, 200);
  EXPECT_TRUE(reflector_->Status().watching);
  // Several events of one piece come as one batch; a cut frame waits for its rest.
  const std::string added = EventJson("ADDED", NodeJson("c", "11"));
  const std::string deleted = EventJson("DELETED", NodeJson("a", "13"));
  net_.transport.Data(1,
                      added + EventJson("MODIFIED", NodeJson("b", "12")) + deleted.substr(0, 30));
  EXPECT_THAT(TakeBatches(), ElementsAre("+c11 +b12"));
  net_.transport.Data(1, deleted.substr(30));
  EXPECT_THAT(TakeBatches(), ElementsAre("-a13"));
  net_.transport.Data(1, BookmarkJson("20"));
  EXPECT_THAT(TakeBatches(), IsEmpty());
  EXPECT_EQ(reflector_->Status().resource_version, "20");
  EXPECT_EQ(reflector_->Status().events, 3u);
  // A clean end resumes at once where it was, without a list.
  net_.timers.Advance(minutes(6));
  net_.transport.End(1);
  ASSERT_EQ(net_.transport.size(), 3u);
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=20&"));
  EXPECT_EQ(net_.transport.at(2), minutes(6));
}

TEST_F(ReflectorTest, TheServerChoosesTheForm) {
  using namespace ks::testing;  // NOLINT(google-build-using-namespace)
  reflector_->Start();
  net_.transport.Answer(0, 200,
                        ProtoBody("NodeList", ProtoField(1, ProtoField(2, "10")) +
                                                  ProtoField(2, ProtoMeta("a", "7"))));
  EXPECT_THAT(TakeBatches(), ElementsAre("=a7;"));
  net_.transport.Headers(1, 200);
  const std::string frames =
      ProtoFrame(ProtoEvent("ADDED", ProtoBody("Node", ProtoMeta("b", "11")))) +
      ProtoFrame(ProtoEvent("DELETED", ProtoBody("Node", ProtoMeta("a", "12"))));
  net_.transport.Data(1, frames.substr(0, frames.size() - 9));
  net_.transport.Data(1, frames.substr(frames.size() - 9));
  EXPECT_THAT(TakeBatches(), ElementsAre("+b11", "-a12"));
  EXPECT_EQ(reflector_->Status().resource_version, "12");
  net_.transport.Data(1, ProtoFrame("x"));
  net_.transport.End(1);
  ASSERT_TRUE(reflector_->Status().error.has_value());
  EXPECT_THAT(reflector_->Status().error->message, HasSubstr("unable to decode an event"));
}

TEST_F(ReflectorTest, AListIsReadAsItComes) {
  using namespace ks::testing;  // NOLINT(google-build-using-namespace)
  const std::string list = ProtoBody("NodeList", ProtoField(1, ProtoField(2, "10")) +
                                                     ProtoField(2, ProtoMeta("a", "7")) +
                                                     ProtoField(2, ProtoMeta("b", "8")));
  reflector_->Start();
  net_.transport.AnswerInPieces(0, list, 5);
  EXPECT_THAT(TakeBatches(), ElementsAre("=a7;b8;"));
  EXPECT_EQ(reflector_->Status().resource_version, "10");
}

TEST_F(ReflectorTest, AListThatEndsTooSoonIsNone) {
  using namespace ks::testing;  // NOLINT(google-build-using-namespace)
  const std::string list = ProtoBody("NodeList", ProtoField(2, ProtoMeta("a", "7")));
  reflector_->Start();
  net_.transport.AnswerInPieces(0, list.substr(0, list.size() - 3), 5);
  EXPECT_THAT(TakeBatches(), IsEmpty());
  ASSERT_TRUE(reflector_->Status().error.has_value());
  EXPECT_THAT(reflector_->Status().error->message, HasSubstr("invalid protobuf: not a list"));
}

// The JSON of objects cannot be had from another form.
TEST_F(ReflectorTest, KeptJsonIsAskedFor) {
  const auto client = net_.Client({.qps = -1, .accept = "a/b"});
  const auto ask = [&](ReflectorOptions options) {
    options.path = "/api/v1/nodes";
    Reflector<api::Node> reflector(*client, std::move(options), [](auto) {});
    reflector.Start();
    return net_.transport.request(Last()).headers.at(0).second;
  };
  EXPECT_EQ(ask({}), "a/b");
  EXPECT_EQ(ask({.keep_raw = api::KeepRaw::kAll}), "application/json");
  EXPECT_EQ(ask({.keep_texts = api::KeepTexts::kJson}), "application/json");
  EXPECT_EQ(ask({.keep_texts = api::KeepTexts::kAsSent}), "a/b");
}

TEST_F(ReflectorTest, FieldSelectorAndSortedParameters) {
  Reflector<api::Pod> pods(*client_,
                           {.path = "/api/v1/pods",
                            .field_selector = "status.phase!=Succeeded,status.phase!=Failed",
                            .type_name = "*v1.Pod",
                            .resource = "pods"},
                           [](std::vector<api::Delta<api::Pod>>) {});
  pods.Start();
  EXPECT_EQ(Target(),
            "/api/v1/"
            "pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500&"
            "resourceVersion=0");
}

// W7: the seconds are whole, and also sent as a duration; 20 to 24 where kube-scheduler has 300 to
// 599 (src/client/watch/reflector.cc says why).
TEST_F(ReflectorTest, RandomTimeouts) {
  Sync();
  std::set<int> seen;
  for (int i = 0; i < 30; ++i) {
    const std::string target = Target();
    const int length = std::atoi(target.c_str() + target.find("timeoutSeconds=") + 15);
    EXPECT_GE(length, 20);
    EXPECT_LE(length, 24);
    EXPECT_THAT(target, HasSubstr("&timeout=" + FormatDuration(seconds(length)) + "&"));
    seen.insert(length);
    net_.timers.Advance(seconds(length));
    net_.transport.End(Last());
  }
  EXPECT_EQ(seen.size(), 5u);
}

TEST_F(ReflectorTest, Pages) {
  reflector_->Start();
  net_.transport.Answer(0, 200, ListJson({NodeJson("a", "1")}, "50", "T 1"));
  EXPECT_EQ(Target(), "/api/v1/nodes?continue=T%201&limit=500");
  net_.transport.Answer(1, 200, ListJson({NodeJson("b", "2")}, "50", "T2"));
  EXPECT_EQ(Target(), "/api/v1/nodes?continue=T2&limit=500");
  EXPECT_THAT(TakeBatches(), IsEmpty());
  net_.transport.Answer(2, 200, ListJson({NodeJson("c", "3")}, "50"));
  EXPECT_THAT(TakeBatches(), ElementsAre("=a1;b2;c3;"));
  // The server has no cache: later lists come in pages, too.
  net_.transport.Headers(3, 200);
  net_.transport.Data(3, EventJson("ERROR", kExpired));
  NextDelay();
  EXPECT_EQ(Target(), "/api/v1/nodes?limit=500&resourceVersion=50");
}

TEST_F(ReflectorTest, W12) {
  reflector_->Start();
  net_.transport.Answer(0, 200, ListJson({NodeJson("a", "1")}, "50", "T"));
  net_.transport.Answer(1, 410, kExpired);
  EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=0");
  net_.transport.Answer(2, 200, ListJson({NodeJson("b", "2")}, "60"));
  EXPECT_THAT(TakeBatches(), ElementsAre("=b2;"));
}

// W9 with the list form: the relist asks for what was seen, and the consumer gets the whole state.
TEST_F(ReflectorTest, W9) {
  Sync();
  net_.transport.Data(Last(), EventJson("ADDED", NodeJson("b", "11")) +
                                  EventJson("ERROR", kExpired) +
                                  EventJson("ADDED", NodeJson("x", "12")));
  EXPECT_THAT(TakeBatches(), ElementsAre("+b11"));
  EXPECT_TRUE(net_.transport.canceled(1));
  EXPECT_TRUE(reflector_->Status().error->IsGone());
  const Duration delay = NextDelay();
  EXPECT_GE(delay, milliseconds(800));
  EXPECT_LT(delay, milliseconds(1600));
  EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=11");
  net_.transport.Answer(Last(), 200, ListJson({NodeJson("b", "11"), NodeJson("c", "20")}, "21"));
  EXPECT_THAT(TakeBatches(), ElementsAre("=b11;c20;"));
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=21&"));
  EXPECT_FALSE(reflector_->Status().error.has_value());
}

// W10 with the list form: refused again, so the version is given up at once.
TEST_F(ReflectorTest, W10) {
  for (const std::string& refusal : {kExpired, kTooLarge}) {
    SCOPED_TRACE(refusal);
    FakeNetwork net;
    const auto client = net.Client();
    Reflector<api::Node> reflector(*client,
                                   {.path = "/n", .type_name = "*v1.Node", .resource = "nodes"},
                                   [](std::vector<api::Delta<api::Node>>) {});
    reflector.Start();
    net.transport.Answer(0, 200, ListJson({}, "10"));
    net.transport.Headers(1, 410);
    net.transport.Data(1, kExpired);
    net.transport.End(1);
    net.timers.Advance(net.timers.UntilNext());
    EXPECT_EQ(net.transport.request(2).target, "/n?resourceVersion=10");
    net.transport.Answer(2, refusal == kExpired ? 410 : 504, refusal);
    ASSERT_EQ(net.transport.size(), 4u) << "at once";
    EXPECT_EQ(net.transport.request(3).target, "/n?limit=500");
    net.transport.Answer(3, 200, ListJson({}, "100"));
    EXPECT_THAT(net.transport.request(4).target, HasSubstr("resourceVersion=100&"));
  }
}

TEST_F(ReflectorTest, FailedListsBackOff) {
  reflector_->Start();
  Duration low = milliseconds(800);
  for (int i = 0; i < 8; ++i) {
    net_.transport.Answer(Last(), 403, StatusBody(403, "Forbidden", "nodes is forbidden"));
    EXPECT_EQ(reflector_->Status().error->message, "failed to list *v1.Node: nodes is forbidden");
    const Duration delay = NextDelay();
    EXPECT_GE(delay, low);
    EXPECT_LT(delay, 2 * low);
    low = std::min<Duration>(2 * low, seconds(30));
    EXPECT_EQ(Target(), "/api/v1/nodes?limit=500&resourceVersion=0");
  }
  EXPECT_FALSE(reflector_->Synced());
}

TEST_F(ReflectorTest, AKindThatIsNotServedMayCountAsEmpty) {
  for (const bool empty : {false, true}) {
    SCOPED_TRACE(empty);
    reflector_ = std::make_unique<Reflector<api::Node>>(
        *client_,
        ReflectorOptions{.path = "/api/v1/nodes",
                         .type_name = "*v1.Node",
                         .resource = "nodes",
                         .seed = 3,
                         .absent_is_empty = empty},
        [this](std::vector<api::Delta<api::Node>> batch) { Take(std::move(batch)); });
    reflector_->Start();
    net_.transport.Answer(Last(), 404, "404 page not found");
    EXPECT_EQ(reflector_->Synced(), empty);
    EXPECT_EQ(TakeBatches(), empty ? std::vector<std::string>{"="} : std::vector<std::string>());
    NextDelay();
    net_.transport.Answer(Last(), 404, "404 page not found");
    EXPECT_THAT(TakeBatches(), IsEmpty()) << "once";
    NextDelay();
    net_.transport.Answer(Last(), 200, ListJson({NodeJson("a", "7")}, "10"));
    EXPECT_THAT(TakeBatches(), ElementsAre("=a7;"));
    reflector_->Stop();
  }
}

// As with a server that is older than a kind: the roles that it made do not name it either.
TEST_F(ReflectorTest, AKindThatIsRefusedIsEmptyIfItIsNotServed) {
  struct Case {
    const char* name;
    int code;
    std::string served;
    bool absent;
  };
  const auto list = [](const std::string& names) {
    return R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)" + names + "]}";
  };
  const Case cases[] = {
      {"no such group", 404, "404 page not found", true},
      {"others of the group", 200, list(R"({"name":"pods"},{"name":"nodes/status"})"), true},
      {"served", 200, list(R"({"name":"pods"},{"name":"nodes"})"), false},
      {"unreadable", 200, "nodes", false},
      {"not now", 503, "unavailable", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    reflector_ = std::make_unique<Reflector<api::Node>>(
        *client_,
        ReflectorOptions{.path = "/api/v1/nodes",
                         .type_name = "*v1.Node",
                         .resource = "nodes",
                         .seed = 3,
                         .absent_is_empty = true},
        [this](std::vector<api::Delta<api::Node>> batch) { Take(std::move(batch)); });
    reflector_->Start();
    net_.transport.Answer(Last(), 403, StatusBody(403, "Forbidden", "nodes is forbidden"));
    EXPECT_EQ(Target(), "/api/v1");
    net_.transport.Answer(Last(), c.code, c.served);
    EXPECT_EQ(reflector_->Synced(), c.absent);
    EXPECT_EQ(reflector_->Status().error->message, "failed to list *v1.Node: nodes is forbidden");
    EXPECT_EQ(TakeBatches(), c.absent ? std::vector<std::string>{"="} : std::vector<std::string>());
    NextDelay();
    EXPECT_EQ(Target(), "/api/v1/nodes?limit=500&resourceVersion=0");
    reflector_->Stop();
  }
}

TEST_F(ReflectorTest, AnUndecodableListIsAFailedRound) {
  reflector_->Start();
  net_.transport.Answer(0, 200, "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":7}]}");
  EXPECT_THAT(reflector_->Status().error->message, HasSubstr("failed to list *v1.Node: "));
  NextDelay();
  EXPECT_EQ(net_.transport.size(), 2u);
}

TEST_F(ReflectorTest, VeryShortWatch) {
  Sync();
  net_.timers.Advance(milliseconds(999));
  net_.transport.End(Last());
  EXPECT_EQ(reflector_->Status().error->message,
            "very short watch: nodes: Unexpected watch close - watch lasted less than a second and "
            "no items received");
  NextDelay();
  EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=10");
}

TEST_F(ReflectorTest, AShortWatchWithABookmarkIsResumed) {
  Sync();
  net_.transport.Data(Last(), BookmarkJson("12"));
  net_.transport.End(Last());
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=12&"));
}

TEST_F(ReflectorTest, ACutConnectionIsAnEnd) {
  Sync();
  for (const Kind kind : {Kind::kLost, Kind::kTimedOut, Kind::kMalformed}) {
    const size_t before = net_.transport.size();
    net_.transport.Data(Last(), "{\"type\":\"ADD");
    net_.timers.Advance(seconds(1));
    net_.transport.End(Last(), kind);
    EXPECT_EQ(net_.transport.size(), before + 1);
    EXPECT_THAT(Target(), HasSubstr("resourceVersion=10&"));
    net_.transport.Headers(Last(), 200);
  }
  // Half a frame of the old connection does not spoil the new one.
  net_.transport.Data(Last(), EventJson("ADDED", NodeJson("z", "30")));
  EXPECT_THAT(TakeBatches(), ElementsAre("+z30"));
}

struct BadFrameCase {
  std::string name;
  std::string frame;
  std::string want_error;
};

TEST_F(ReflectorTest, BadFramesEndTheRound) {
  const BadFrameCase cases[] = {
      {"type", EventJson("SURPRISE", NodeJson("a", "1")),
       "unable to decode an event from the watch stream: "},
      {"value", EventJson("ADDED", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":7}})"),
       "unable to decode an event from the watch stream: "},
      {"framing", "}{", "no sequence of objects"},
      {"error", EventJson("ERROR", StatusBody(500, "InternalError", "boom")),
       "failed to watch *v1.Node: boom"},
  };
  Sync();
  for (const BadFrameCase& row : cases) {
    SCOPED_TRACE(row.name);
    const size_t watch = Last();
    net_.transport.Data(watch, EventJson("ADDED", NodeJson("ok", "15")) + row.frame +
                                   EventJson("ADDED", NodeJson("no", "99")));
    EXPECT_THAT(TakeBatches(), ElementsAre("+ok15"));
    EXPECT_TRUE(net_.transport.canceled(watch));
    EXPECT_THAT(reflector_->Status().error->message, HasSubstr(row.want_error));
    NextDelay();
    EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=15");
    net_.transport.Answer(Last(), 200, ListJson({}, "15"));
    net_.transport.Headers(Last(), 200);
    TakeBatches();
  }
}

TEST_F(ReflectorTest, ObjectsOfAnotherKindAreSkipped) {
  Sync();
  net_.transport.Data(
      Last(),
      EventJson(
          "ADDED",
          R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"99"}})") +
          EventJson("ADDED", NodeJson("b", "11")));
  EXPECT_THAT(TakeBatches(), ElementsAre("+b11"));
  EXPECT_EQ(reflector_->Status().resource_version, "11");
}

TEST_F(ReflectorTest, RefusedAnd429OnOpeningWatchAgain) {
  Sync();
  net_.timers.Advance(seconds(2));
  net_.transport.End(Last());
  net_.transport.End(Last(), Kind::kRefused);
  EXPECT_THAT(reflector_->Status().error->message, HasSubstr("scripted end"));
  EXPECT_GE(NextDelay(), milliseconds(800));
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=10&"));
  net_.transport.Headers(Last(), 429);
  net_.transport.Data(Last(), StatusBody(429, "TooManyRequests", "slow down"));
  net_.transport.End(Last());
  EXPECT_GE(NextDelay(), milliseconds(1600));
  EXPECT_THAT(Target(), HasSubstr("watch=true"));
  net_.transport.Headers(Last(), 200);
  net_.transport.Data(Last(), EventJson("ERROR", StatusBody(429, "TooManyRequests", "slow down")));
  EXPECT_GE(NextDelay(), milliseconds(3200));
  EXPECT_THAT(Target(), HasSubstr("watch=true"));
}

TEST_F(ReflectorTest, OtherRefusalsListAgain) {
  Sync();
  net_.timers.Advance(seconds(2));
  net_.transport.End(Last());
  net_.transport.Headers(Last(), 403);
  net_.transport.Data(Last(), StatusBody(403, "Forbidden", "no watch for you"));
  net_.transport.End(Last());
  EXPECT_EQ(reflector_->Status().error->message, "failed to watch *v1.Node: no watch for you");
  NextDelay();
  EXPECT_THAT(Target(), Not(HasSubstr("watch=true")));
}

// docs/spec/api.md 7.3: ten repetitions a second apart, then it counts as an opened, empty, closed
// watch.
TEST_F(ReflectorTest, AWatchThatCannotBeOpened) {
  Sync();
  net_.timers.Advance(seconds(2));
  net_.transport.End(Last());
  for (int i = 0; i < 10; ++i) {
    net_.transport.End(Last(), Kind::kLost);
    EXPECT_EQ(NextDelay(), seconds(1));
  }
  const size_t before = net_.transport.size();
  net_.transport.End(Last(), Kind::kLost);
  EXPECT_EQ(net_.transport.size(), before + 1) << "a new watch at once";
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=10&"));
}

TEST_F(ReflectorTest, StopInEveryState) {
  // While listing.
  reflector_->Start();
  reflector_->Stop();
  EXPECT_TRUE(net_.transport.canceled(0));
  reflector_->Stop();
  EXPECT_THAT(TakeBatches(), IsEmpty());
}

TEST_F(ReflectorTest, StopWhileWatching) {
  Sync();
  reflector_->Stop();
  EXPECT_TRUE(net_.transport.canceled(1));
  EXPECT_FALSE(reflector_->Status().watching);
  net_.timers.Advance(minutes(10));
  EXPECT_EQ(net_.transport.size(), 2u);
}

TEST_F(ReflectorTest, StopWhileWaiting) {
  reflector_->Start();
  net_.transport.Answer(0, 500, "{}");
  reflector_->Stop();
  net_.timers.Advance(minutes(10));
  EXPECT_EQ(net_.transport.size(), 1u);
}

TEST_F(ReflectorTest, StopWithoutStart) { reflector_.reset(); }

// ---- a version that somebody waits for ----

TEST_F(ReflectorTest, AVersionIsReachedByEventsAndBookmarks) {
  Sync();
  std::vector<std::string> reached;
  for (const char* version : {"9", "12", "100"}) {
    reflector_->WhenReached(version, [&reached, version] { reached.emplace_back(version); });
  }
  net_.timers.Settle();
  EXPECT_THAT(reached, ElementsAre("9"));
  net_.transport.Data(Last(), EventJson("ADDED", NodeJson("b", "12")));
  EXPECT_THAT(reached, ElementsAre("9", "12"));
  // As numbers: as text it would be smaller.
  net_.transport.Data(Last(), BookmarkJson("100"));
  EXPECT_THAT(reached, ElementsAre("9", "12", "100"));
}

TEST_F(ReflectorTest, AVersionIsReachedByListingAgain) {
  Sync();
  int reached = 0;
  reflector_->WhenReached("12", [&reached] { ++reached; });
  reflector_->ListAgain("12");
  net_.timers.Settle();
  EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=12");
  EXPECT_EQ(reached, 0);
  net_.transport.Answer(Last(), 200, ListJson({NodeJson("a", "7")}, "15"));
  EXPECT_EQ(reached, 1);
  EXPECT_THAT(TakeBatches(), ElementsAre("=a7;"));
  EXPECT_THAT(Target(), HasSubstr("watch=true"));
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=15"));
}

TEST_F(ReflectorTest, VersionsThatAreNoNumbersAreReachedByListingOnly) {
  Sync();
  int reached = 0;
  reflector_->WhenReached("x", [&reached] { ++reached; });
  net_.transport.Data(Last(), BookmarkJson("100"));
  EXPECT_EQ(reached, 0);
  reflector_->ListAgain("x");
  net_.timers.Settle();
  net_.transport.Answer(Last(), 200, ListJson({}, "y"));
  EXPECT_EQ(reached, 1);
}

TEST_F(ReflectorTest, ListingAgainDoesNotWaitForABackoff) {
  reflector_->Start();
  net_.transport.Answer(Last(), 500, "broken");
  const size_t before = net_.transport.size();
  reflector_->ListAgain("12");
  net_.timers.Settle();
  EXPECT_EQ(net_.transport.size(), before + 1);
  EXPECT_THAT(Target(), HasSubstr("resourceVersion=12"));
}

TEST_F(ReflectorTest, ListingAgainDuringAListTakesItsTurn) {
  reflector_->Start();
  reflector_->ListAgain("12");
  net_.transport.Answer(Last(), 200, ListJson({NodeJson("a", "7")}, "10"));
  EXPECT_EQ(Target(), "/api/v1/nodes?resourceVersion=12");
  net_.transport.Answer(Last(), 200, ListJson({NodeJson("a", "7")}, "12"));
  EXPECT_THAT(Target(), HasSubstr("watch=true"));
}

}  // namespace
}  // namespace ks::client
