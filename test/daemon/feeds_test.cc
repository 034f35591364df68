// SPDX-License-Identifier: Apache-2.0
// The streams of a scheduler, in virtual time: the test answers for the API server, and steps the
// scheduler.
#include "daemon/feeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/kinds.h"
#include "base/mutex.h"
#include "client/fake_transport.h"
#include "config/read/defaults.h"
#include "plugins/registry.h"
#include "testing/fake_api_writer.h"

namespace ks::daemon {
namespace {

using framework::OptionalKind;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// By path of a list: what its kind is called.
std::map<std::string, std::string> KindsByPath() {
  std::map<std::string, std::string> kinds;
  const auto add = [&kinds](const api::KindInfo& kind) { kinds[kind.Path()] = kind.kind; };
  add(api::kKindOf<api::Pod>);
  add(api::kKindOf<api::Node>);
  api::OptionalKindTypes::ForEach([&]<class T>(const T*) { add(api::kKindOf<T>); });
  return kinds;
}

std::string ObjectJson(const std::string& kind, const std::string& name,
                       const std::string& version) {
  return R"({"kind":")" + kind + R"(","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":")" + version + R"("}})";
}

std::string ListJson(const std::string& kind, const std::string& version,
                     const std::string& items = "") {
  return R"({"kind":")" + kind + R"(List","metadata":{"resourceVersion":")" + version +
         R"("},"items":[)" + items + "]}";
}

std::string EventJson(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

// Writes down what it is told: "nodes =n1", a list; "nodes +n1", "nodes -n1", changes.
class RecordingObserver final : public DeltaObserver {
 public:
  void OnDeltas(const scheduler::PodDeltas& deltas) override { Record(deltas); }
  void OnDeltas(const scheduler::NodeDeltas& deltas) override { Record(deltas); }
  void OnDeltas(const scheduler::OwnerDeltas& deltas) override {
    std::visit([this](const auto& of_kind) { Record(of_kind); }, deltas);
  }
  void OnDeltas(const scheduler::StorageDeltas& deltas) override {
    std::visit([this](const auto& of_kind) { Record(of_kind); }, deltas);
  }
  void OnDeltas(const scheduler::DeviceDeltas& deltas) override {
    std::visit([this](const auto& of_kind) { Record(of_kind); }, deltas);
  }
  void OnDeltas(const scheduler::GroupDeltas& deltas) override {
    std::visit([this](const auto& of_kind) { Record(of_kind); }, deltas);
  }

  std::vector<std::string> TakeLines() {
    MutexLock lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  template <class T>
  void Record(const std::vector<api::Delta<T>>& deltas) {
    using Type = typename api::Delta<T>::Type;
    MutexLock lock(mutex_);
    for (const api::Delta<T>& delta : deltas) {
      std::string line(api::kKindOf<T>.plural);
      if (delta.type == Type::kReplace) {
        line += " =";
        for (const auto& object : delta.items) line += object->meta.name;
      } else {
        line += (delta.type == Type::kUpsert ? " +" : " -") + delta.object->meta.name;
      }
      lines_.push_back(std::move(line));
    }
  }

  Mutex mutex_;
  std::vector<std::string> lines_ KS_GUARDED_BY(mutex_);
};

class FeedsTest : public ::testing::Test {
 protected:
  // A scheduler and its streams. `plugins`: all that there are; empty: the default ones.
  void Open(const std::vector<std::string>& plugins = {}) {
    config::Configuration configuration = config::DefaultConfiguration();
    if (!plugins.empty()) {
      auto& enabled = configuration.profiles.front().plugins.multi_point.enabled;
      enabled.clear();
      for (const std::string& plugin : plugins) enabled.push_back({.name = plugin});
    }
    auto made = scheduler::Scheduler::Create({.configuration = std::move(configuration),
                                              .registry = &registry_,
                                              .api = &writer_,
                                              .clock = &net_.timers.clock(),
                                              .standby = true});
    ASSERT_TRUE(made.ok()) << made.error().message;
    scheduler_ = std::move(made).value();
    feeds_ = std::make_unique<Feeds>(*client_, *scheduler_, metrics_, /*seed=*/1, &observer_);
  }
  void OpenWithPodsAndNodesOnly() { Open({"PrioritySort", "NodeName", "DefaultBinder"}); }

  std::string Path(size_t request) {
    const std::string target = net_.transport.request(request).target;
    return target.substr(0, target.find('?'));
  }
  std::string Target(size_t request) { return net_.transport.request(request).target; }
  bool IsWatch(size_t request) { return Target(request).find("watch=true") != std::string::npos; }
  // The newest open request of a path.
  size_t Newest(const std::string& path) {
    for (size_t i = net_.transport.size(); i-- > 0;) {
      if (Path(i) == path && net_.transport.open(i)) return i;
    }
    ADD_FAILURE() << "nothing is asked of " << path;
    return 0;
  }
  std::set<std::string> OpenPaths() {
    std::set<std::string> paths;
    for (size_t i = 0; i < net_.transport.size(); ++i) {
      if (net_.transport.open(i)) paths.insert(Path(i));
    }
    return paths;
  }
  // Answers every open list: nothing is there, as of this version.
  void AnswerLists(const std::string& version) {
    const std::map<std::string, std::string> kinds = KindsByPath();
    for (size_t i = 0; i < net_.transport.size(); ++i) {
      if (!net_.transport.open(i) || IsWatch(i)) continue;
      net_.transport.Answer(i, 200, ListJson(kinds.at(Path(i)), version));
    }
  }
  void StepAll() {
    while (scheduler_->Step()) {
    }
  }

  client::FakeNetwork net_;
  std::unique_ptr<client::RestClient> client_ = net_.Client();
  metrics::Registry series_;
  client::InformerMetrics metrics_{series_};
  const framework::Registry registry_ = plugins::InTreeRegistry();
  ks::testing::FakeApiWriter writer_;
  RecordingObserver observer_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  std::unique_ptr<Feeds> feeds_;
};

TEST_F(FeedsTest, TheFirstListOfEachKindArrives) {
  Open();
  std::set<std::string> paths;
  for (const auto& [path, kind] : KindsByPath()) {
    if (!path.starts_with("/apis/scheduling.k8s.io/"))
      paths.insert(path);  // nobody asks for groups
  }
  EXPECT_EQ(OpenPaths(), paths);
  EXPECT_THAT(Target(Newest("/api/v1/pods")),
              HasSubstr("fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"));
  AnswerLists("10");
  const std::vector<std::string> told = observer_.TakeLines();
  EXPECT_THAT(told, SizeIs(paths.size()));
  EXPECT_THAT(told, Each(HasSubstr(" =")));
  EXPECT_THAT(told, IsSupersetOf({"pods =", "nodes =", "services =", "persistentvolumes ="}));
  EXPECT_FALSE(scheduler_->Synced());
  StepAll();
  EXPECT_TRUE(scheduler_->Synced());
}

TEST_F(FeedsTest, ChangesArriveInTheirOrder) {
  OpenWithPodsAndNodesOnly();
  net_.transport.Answer(Newest("/api/v1/nodes"), 200,
                        ListJson("Node", "10", ObjectJson("Node", "a", "7")));
  net_.transport.Answer(Newest("/api/v1/pods"), 200, ListJson("Pod", "10"));
  const size_t nodes = Newest("/api/v1/nodes");
  ASSERT_TRUE(IsWatch(nodes));
  net_.transport.Headers(nodes, 200);
  net_.transport.Data(nodes, EventJson("ADDED", ObjectJson("Node", "b", "11")) +
                                 EventJson("MODIFIED", ObjectJson("Node", "a", "12")));
  net_.transport.Data(nodes, EventJson("DELETED", ObjectJson("Node", "a", "13")));
  EXPECT_THAT(observer_.TakeLines(),
              ElementsAre("nodes =a", "pods =", "nodes +b", "nodes +a", "nodes -a"));
  // The observer hears of it first; what waits for the scheduler is counted.
  const std::string waiting =
      R"(informer_queued_items{group="",name="kube-scheduler",resource="nodes",version="v1"} )";
  EXPECT_THAT(series_.Text(), HasSubstr(waiting + "4\n"));
  StepAll();
  EXPECT_THAT(series_.Text(), HasSubstr(waiting + "0\n"));
  EXPECT_TRUE(scheduler_->Synced());
}

TEST_F(FeedsTest, AKindThatIsNeededLaterIsFed) {
  OpenWithPodsAndNodesOnly();
  EXPECT_THAT(OpenPaths(), UnorderedElementsAre("/api/v1/nodes", "/api/v1/pods"));
  AnswerLists("10");
  observer_.TakeLines();
  const size_t asked = net_.transport.size();
  feeds_->Ensure({.kinds = {OptionalKind::kService, OptionalKind::kStorageClass}, .objects = {}});
  EXPECT_EQ(net_.transport.size(), asked + 2) << "pods and nodes go on as they are";
  net_.transport.Answer(Newest("/api/v1/services"), 200,
                        ListJson("Service", "10", ObjectJson("Service", "web", "9")));
  net_.transport.Answer(Newest("/apis/storage.k8s.io/v1/storageclasses"), 200,
                        ListJson("StorageClass", "10"));
  const size_t services = Newest("/api/v1/services");
  net_.transport.Headers(services, 200);
  net_.transport.Data(services, EventJson("DELETED", ObjectJson("Service", "web", "11")));
  EXPECT_THAT(observer_.TakeLines(),
              ElementsAre("services =web", "storageclasses =", "services -web"));
  feeds_->Ensure({.kinds = {OptionalKind::kService}, .objects = {}});
  EXPECT_THAT(OpenPaths(), IsSupersetOf({"/apis/storage.k8s.io/v1/storageclasses"}))
      << "a kind that is needed no more stays watched";
}

TEST_F(FeedsTest, ObjectsThatAreNeededWholeAreListedAgainAndTheWishGoesAlong) {
  OpenWithPodsAndNodesOnly();
  AnswerLists("10");
  std::atomic<int> reached{0};
  feeds_->WhenReached(Inherited::kPods, "20", [&reached] { ++reached; });
  net_.timers.Settle();
  const size_t asked = net_.transport.size();
  feeds_->Ensure({.kinds = {}, .objects = {.pods = api::KeepRaw::kPendingPods}});
  ASSERT_EQ(net_.transport.size(), asked + 2);
  EXPECT_FALSE(IsWatch(asked));
  EXPECT_FALSE(IsWatch(asked + 1));
  EXPECT_EQ(reached, 0);
  AnswerLists("20");
  net_.timers.Settle();
  EXPECT_EQ(reached, 1);
  feeds_->Ensure({.kinds = {}, .objects = {.pods = api::KeepRaw::kPendingPods}});
  EXPECT_EQ(net_.transport.size(), asked + 4) << "two watches, and nothing anew";
  feeds_->Stop();
}

TEST_F(FeedsTest, NothingArrivesAfterStop) {
  OpenWithPodsAndNodesOnly();
  AnswerLists("10");
  const size_t nodes = Newest("/api/v1/nodes");
  net_.transport.Headers(nodes, 200);
  observer_.TakeLines();
  feeds_->Stop();
  EXPECT_THAT(OpenPaths(), IsEmpty());
  EXPECT_TRUE(net_.transport.canceled(nodes));
  net_.timers.Advance(std::chrono::minutes(10));
  EXPECT_THAT(observer_.TakeLines(), IsEmpty());
  EXPECT_THAT(OpenPaths(), IsEmpty());
}

}  // namespace
}  // namespace ks::daemon
