// SPDX-License-Identifier: Apache-2.0
// Terms and their take-over, in virtual time: the test answers for the API server, and steps the
// scheduler.
#include "daemon/take_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "client/fake_transport.h"
#include "config/read/defaults.h"
#include "daemon/life_events.h"
#include "daemon/scheduler_term.h"
#include "plugins/registry.h"
#include "testing/builders.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Kind = LifeEvent::Kind;

struct RunnerCalls {
  int starts = 0;
  int stops = 0;
};

class CountingRunner final : public SchedulerRunner {
 public:
  explicit CountingRunner(RunnerCalls& calls) : calls_(calls) {}
  void Start(scheduler::Scheduler& /*scheduler*/) override { ++calls_.starts; }
  void Stop(Duration /*grace*/) override { ++calls_.stops; }

 private:
  RunnerCalls& calls_;
};

constexpr const char* kAsksPods = "/api/v1/pods?limit=1";
constexpr const char* kAsksClaims = "/apis/resource.k8s.io/v1/resourceclaims?limit=1";
constexpr const char* kAsksGroups = "/apis/scheduling.k8s.io/v1beta1/podgroups?limit=1";

std::string EmptyList(const std::string& kind, const std::string& version) {
  return R"({"kind":")" + kind + R"(List","metadata":{"resourceVersion":")" + version +
         R"("},"items":[]})";
}

class TakeOverTest : public ::testing::Test {
 protected:
  // `elects`: with leader election.
  void Make(bool elects, bool delay_cache = false) {
    const auto fence = elects ? std::make_shared<client::WriteFence>(net_.timers.clock()) : nullptr;
    auto made = SchedulerTerm::Make(
        {.scheduling = *scheduling_,
         .event_recording = *recording_,
         .make_runner = [this] { return std::make_unique<CountingRunner>(runner_); },
         .extender_transport =
             [](const std::shared_ptr<const client::WriteFence>&) {
               return framework::ExtenderTransportFactory();
             },
         .events = events_,
         .current = current_,
         .health = health_,
         .registry = registry_,
         .gates = gates_,
         .informer_metrics = informer_metrics_,
         .writer_metrics = writer_metrics_},
        {.number = 7, .configuration = configuration_, .fence = fence});
    ASSERT_TRUE(made.ok()) << made.error().message;
    term_ = std::move(made).value();
    TakeOverOptions options{.delay_cache = delay_cache};
    if (elects) options.acquire_lease = [this] { ++acquisitions_; };
    take_over_ = std::make_unique<TakeOver>(*term_, std::move(options));
    take_over_->Begin();
  }

  // Every list that is open, with nothing in it, as of this version.
  void AnswerLists(const std::string& version) {
    static const std::map<std::string, std::string> kinds = [] {
      std::map<std::string, std::string> all = {{"nodes", "Node"}, {"pods", "Pod"}};
      api::OptionalKindTypes::ForEach(
          [&all]<class T>(const T*) { all.emplace(api::kKindOf<T>.plural, api::kKindOf<T>.kind); });
      return all;
    }();
    for (size_t i = 0; i < net_.transport.size(); ++i) {
      const std::string target = net_.transport.request(i).target;
      const std::string path = target.substr(0, target.find('?'));
      if (!net_.transport.open(i) || target.find("watch=") != target.npos) continue;
      net_.transport.Answer(i, 200, EmptyList(kinds.at(path.substr(path.rfind('/') + 1)), version));
    }
  }
  void StepAll() {
    while (term_->scheduler().Step()) {
    }
  }
  // The caches are filled as of version 10.
  void Fill() {
    AnswerLists("10");
    StepAll();
    ASSERT_TRUE(term_->scheduler().Synced());
  }
  // Follows what has happened, and what that brings about at once; tells it in order.
  std::vector<Kind> Follow() {
    std::vector<Kind> kinds;
    net_.timers.Settle();
    while (const auto event = events_.TryNext()) {
      kinds.push_back(event->kind);
      take_over_->Follow(*event);
      net_.timers.Settle();
    }
    return kinds;
  }
  void Win() { take_over_->Follow({.kind = Kind::kWon, .term = 7}); }
  void StandFilledAndWin() {
    Make(/*elects=*/true);
    Fill();
    Follow();
    Win();
  }
  std::string LastTarget() { return net_.transport.request(net_.transport.size() - 1).target; }
  void AnswerLast(int status, const std::string& body) {
    net_.transport.Answer(net_.transport.size() - 1, status, body);
  }
  // The number of the open request with this target.
  size_t Asked(const std::string& target) {
    for (size_t i = net_.transport.size(); i-- > 0;) {
      if (net_.transport.open(i) && net_.transport.request(i).target == target) return i;
    }
    ADD_FAILURE() << target << " is not asked for";
    return 0;
  }
  void AnswerPods(const std::string& version) {
    net_.transport.Answer(Asked(kAsksPods), 200, EmptyList("Pod", version));
  }
  void AnswerClaims(const std::string& version) {
    net_.transport.Answer(Asked(kAsksClaims), 200, EmptyList("ResourceClaim", version));
  }
  bool Leading() {
    StepAll();
    return term_->scheduler().leading();
  }

  config::Configuration configuration_ = config::DefaultConfiguration();
  LifeEvents events_;
  client::FakeNetwork net_;
  std::unique_ptr<client::RestClient> scheduling_ = net_.Client();
  std::unique_ptr<client::RestClient> recording_ = net_.Client();
  CurrentScheduler current_;
  server::SchedulerHealth health_;
  const framework::Registry registry_ = plugins::InTreeRegistry();
  config::FeatureGates gates_;
  metrics::Registry metrics_;
  client::InformerMetrics informer_metrics_{metrics_};
  client::WriterMetrics writer_metrics_{metrics_};
  RunnerCalls runner_;
  int acquisitions_ = 0;
  std::unique_ptr<SchedulerTerm> term_;
  std::unique_ptr<TakeOver> take_over_;
};

TEST_F(TakeOverTest, WithoutElectionItLeadsFromTheBeginning) {
  Make(/*elects=*/false);
  EXPECT_TRUE(term_->opened());
  EXPECT_EQ(runner_.starts, 1);
  EXPECT_TRUE(Leading());
  Fill();
  const size_t asked = net_.transport.size();
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kSynced}));
  EXPECT_TRUE(health_.handlers_synced);
  EXPECT_EQ(net_.transport.size(), asked) << "nobody's bindings are to be known first";
}

TEST_F(TakeOverTest, StandsWhenFilledAndLeadsWhenCaughtUp) {
  Make(/*elects=*/true);
  EXPECT_EQ(acquisitions_, 0) << "who cannot lead yet is no candidate";
  Fill();
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kSynced}));
  EXPECT_EQ(acquisitions_, 1);
  EXPECT_FALSE(Leading());

  Win();
  AnswerPods("10");
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kVersionKnown, Kind::kCaughtUp}))
      << "the pods are as new as that";
  EXPECT_FALSE(take_over_->leads()) << "of the claims it is not known";
  EXPECT_FALSE(Leading());
  AnswerClaims("10");
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kVersionKnown, Kind::kCaughtUp}));
  EXPECT_TRUE(take_over_->leads());
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, AWatchThatIsSilentIsReplacedByAList) {
  StandFilledAndWin();
  AnswerPods("20");
  AnswerClaims("10");
  Follow();
  net_.timers.Advance(std::chrono::milliseconds(199));
  EXPECT_TRUE(Follow().empty());
  EXPECT_FALSE(Leading());
  net_.timers.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCatchUpSlow, Kind::kCatchUpSlow}));
  EXPECT_THAT(LastTarget(), StartsWith("/api/v1/pods?"));
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=20"));
  AnswerLast(200, EmptyList("Pod", "20"));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCaughtUp}));
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, ClaimsThatLagAreListedAgainToo) {
  StandFilledAndWin();
  AnswerPods("10");
  AnswerClaims("20");
  Follow();
  EXPECT_FALSE(Leading());
  net_.timers.Advance(std::chrono::milliseconds(200));
  Follow();
  EXPECT_THAT(LastTarget(), StartsWith("/apis/resource.k8s.io/v1/resourceclaims?"));
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=20"));
  EXPECT_FALSE(Leading());
  AnswerLast(200, EmptyList("ResourceClaim", "21"));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCaughtUp}));
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, GroupsAreCaughtUpWithWhereTheyAreRead) {
  gates_.Set(config::Gate::kGenericWorkload, true);
  StandFilledAndWin();
  AnswerPods("10");
  AnswerClaims("10");
  Follow();
  EXPECT_FALSE(Leading()) << "of the groups it is not known";
  net_.transport.Answer(Asked(kAsksGroups), 200, EmptyList("PodGroup", "20"));
  Follow();
  EXPECT_FALSE(Leading());
  net_.timers.Advance(std::chrono::milliseconds(200));
  Follow();
  EXPECT_THAT(LastTarget(), StartsWith("/apis/scheduling.k8s.io/v1beta1/podgroups?"));
  EXPECT_THAT(LastTarget(), HasSubstr("resourceVersion=20"));
  AnswerLast(200, EmptyList("PodGroup", "20"));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCaughtUp}));
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, AServerWithoutClaimsHasNoneToCatchUpWith) {
  StandFilledAndWin();
  AnswerPods("10");
  net_.transport.Answer(Asked(kAsksClaims), 404, client::StatusBody(404, "NotFound", "no claims"));
  Follow();
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, ClaimsThatNoPluginReadsAreNotAskedFor) {
  std::erase_if(configuration_.profiles[0].plugins.multi_point.enabled,
                [](const config::PluginRef& plugin) { return plugin.name == "DynamicResources"; });
  StandFilledAndWin();
  EXPECT_EQ(LastTarget(), kAsksPods);
  AnswerPods("10");
  Follow();
  EXPECT_TRUE(Leading());
}

TEST_F(TakeOverTest, NothingIsListedAgainOnceItLeads) {
  StandFilledAndWin();
  AnswerPods("10");
  AnswerClaims("10");
  Follow();
  const size_t asked = net_.transport.size();
  net_.timers.Advance(std::chrono::milliseconds(200));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCatchUpSlow, Kind::kCatchUpSlow}));
  EXPECT_EQ(net_.transport.size(), asked);
}

struct AnswerCase {
  std::string name;
  int status = 0;
  std::string body;
};

class BadVersionTest : public TakeOverTest, public ::testing::WithParamInterface<AnswerCase> {};

TEST_P(BadVersionTest, IsAskedForAgain) {
  StandFilledAndWin();
  AnswerClaims("10");
  Follow();
  const size_t asked = net_.transport.size();
  net_.transport.Answer(Asked(kAsksPods), GetParam().status, GetParam().body);
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kVersionUnknown}));
  EXPECT_FALSE(Leading());
  net_.timers.Advance(std::chrono::milliseconds(999));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kCatchUpSlow})) << "of the claims, which are known";
  EXPECT_EQ(net_.transport.size(), asked);
  net_.timers.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kAskAgain}));
  EXPECT_EQ(net_.transport.size(), asked + 1) << "of the claims it is known";
  EXPECT_EQ(LastTarget(), kAsksPods);
}

TEST_F(TakeOverTest, OfClaimsItIsAskedAgainToo) {
  StandFilledAndWin();
  AnswerPods("10");
  net_.transport.Answer(Asked(kAsksClaims), 403, client::StatusBody(403, "Forbidden", "not you"));
  Follow();
  EXPECT_FALSE(Leading());
  net_.timers.Advance(std::chrono::seconds(1));
  Follow();
  AnswerClaims("10");
  Follow();
  EXPECT_TRUE(Leading());
}

INSTANTIATE_TEST_SUITE_P(
    Answers, BadVersionTest,
    ::testing::Values(AnswerCase{"Refused", 403,
                                 client::StatusBody(403, "Forbidden", "no pods for you")},
                      AnswerCase{"NoList", 200, R"({"kind":"PodList","items":7})"}),
    [](const auto& test) { return test.param.name; });

TEST_F(TakeOverTest, CachesThatAreDelayedAreFilledOnceItHasWon) {
  Make(/*elects=*/true, /*delay_cache=*/true);
  EXPECT_EQ(acquisitions_, 1);
  EXPECT_FALSE(term_->opened());
  EXPECT_EQ(net_.transport.size(), 0u);
  Win();
  EXPECT_TRUE(term_->opened());
  Fill();
  EXPECT_EQ(Follow(), (std::vector<Kind>{Kind::kSynced}));
  EXPECT_EQ(acquisitions_, 1);
  Asked(kAsksPods);
  EXPECT_EQ(LastTarget(), kAsksClaims) << "and then it asks how far the others were";
}

TEST_F(TakeOverTest, EventsOfFormerTermsArePassedOver) {
  Make(/*elects=*/true);
  Fill();
  Follow();
  const size_t asked = net_.transport.size();
  for (const Kind kind : {Kind::kSynced, Kind::kWon, Kind::kVersionKnown, Kind::kVersionUnknown,
                          Kind::kAskAgain, Kind::kCatchUpSlow, Kind::kCaughtUp}) {
    take_over_->Follow({.kind = kind, .term = 6, .text = "1"});
  }
  net_.timers.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(Follow().empty());
  EXPECT_EQ(acquisitions_, 1);
  EXPECT_EQ(net_.transport.size(), asked);
  EXPECT_FALSE(Leading());
}

TEST_F(TakeOverTest, ATermEndsOnce) {
  Make(/*elects=*/false);
  Fill();
  EXPECT_TRUE(current_.Post([](scheduler::Scheduler&) {}));
  term_->End(Duration::zero());
  term_->End(Duration::zero());
  EXPECT_EQ(runner_.stops, 1);
  EXPECT_FALSE(health_.handlers_synced);
  EXPECT_FALSE(current_.Post([](scheduler::Scheduler&) {})) << "nobody is asked any more";
}

TEST_F(TakeOverTest, ATermThatWasNeverOpenedEndsWithoutARunner) {
  Make(/*elects=*/true, /*delay_cache=*/true);
  term_->End(Duration::zero());
  EXPECT_EQ(runner_.starts, 0);
  EXPECT_EQ(runner_.stops, 0);
}

TEST(LifeEventsTest, InOrderAndToldToWhoeverDoesNotBlock) {
  int told = 0;
  LifeEvents events([&told] { ++told; });
  EXPECT_FALSE(events.TryNext().has_value());
  events.Post({.kind = Kind::kReload});
  events.Post({.kind = Kind::kLost, .term = 3, .text = "why"});
  EXPECT_EQ(told, 2);
  EXPECT_EQ(events.Next().kind, Kind::kReload);
  const std::optional<LifeEvent> lost = events.TryNext();
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->term, 3u);
  EXPECT_EQ(lost->text, "why");
  EXPECT_FALSE(events.TryNext().has_value());
}

}  // namespace
}  // namespace ks::daemon
