// SPDX-License-Identifier: Apache-2.0
// A module that breaks the contract: nothing that it does ends the process, and its answers become
// what upstream makes of such answers.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "framework/plugin.h"
#include "framework/sign_plugin.h"
#include "modules/module_rig.h"
#include "testing/builders.h"

namespace ks::modules {
namespace {

using framework::Code;
using framework::Status;
using testing::MakeNode;
using testing::MakePod;

constexpr const char* kInvalid = "-2";
constexpr const char* kDenied = "-3";

// One plugin that does one deed, with all that its points are asked about.
class Deed {
 public:
  explicit Deed(const std::string& deed) : rig_("misbehaving") {
    rig_.handle().fake_snapshot().Add(MakeNode().Name("n").Obj());
    auto made = rig_.Make("\"" + deed + "\"");
    if (made.ok()) {
      plugin_ = std::move(made).value();
    } else {
      refusal_ = made.error().message;
    }
  }

  const std::string& refusal() const { return refusal_; }
  framework::Plugin& plugin() { return *plugin_; }
  void Drop() { plugin_.reset(); }
  void Forget() { state_.Reset(); }

  Status PreFilter() {
    return At<framework::PreFilterPlugin>(*plugin_)
        .PreFilter(state_, *pod_, rig_.handle().snapshot())
        .status;
  }
  Status Filter() { return At<framework::FilterPlugin>(*plugin_).Filter(state_, *pod_, Node()); }
  Status Score() {
    return At<framework::ScorePlugin>(*plugin_).Score(state_, *pod_, Node(), &score_);
  }
  framework::PermitResult Permit() {
    return At<framework::PermitPlugin>(*plugin_).Permit(state_, pod_, "n");
  }
  Status PreBind() {
    const auto sequence = At<framework::PreBindPlugin>(*plugin_).PreBind(state_, pod_, "n");
    const framework::PreBindStep first = sequence->Next({});
    Status blocked;
    std::thread([&] { blocked = first.blocking(); }).join();
    const framework::PreBindStep last = sequence->Next(blocked);
    EXPECT_TRUE(last.finished);
    return last.status;
  }
  Status Sign() {
    std::vector<framework::SignFragment> fragments;
    return At<framework::SignPlugin>(*plugin_).Sign(*pod_, &fragments);
  }
  Result<framework::QueueingHint> Hint() {
    const auto events = At<framework::EnqueueExtensions>(*plugin_).EventsToRegister();
    return events.at(0).hint(*pod_, {}, rig_.handle().snapshot().nodes()[0]->node_ptr());
  }
  int64_t score() const { return score_; }

 private:
  const framework::NodeInfo& Node() { return *rig_.handle().snapshot().nodes()[0]; }

  ModuleRig rig_;
  api::PodPtr pod_ = MakePod().Name("p").Obj();
  framework::CycleState state_;
  int64_t score_ = 0;
  std::unique_ptr<framework::Plugin> plugin_;
  std::string refusal_;
};

struct DeedCase {
  const char* deed;
  Status (Deed::*point)();
  Code code;
  std::string message;
};

class DeedTest : public ::testing::TestWithParam<DeedCase> {};

TEST_P(DeedTest, IsAnsweredWith) {
  const DeedCase& test = GetParam();
  Deed deed(test.deed);
  ASSERT_EQ(deed.refusal(), "");
  const Status status = (deed.*test.point)();
  EXPECT_EQ(status.code(), test.code);
  EXPECT_EQ(status.Message().substr(0, 200), test.message);
}

INSTANTIATE_TEST_SUITE_P(
    All, DeedTest,
    ::testing::Values(
        DeedCase{"nothing", &Deed::Filter, Code::kSuccess, ""},
        DeedCase{"null node names", &Deed::PreFilter, Code::kUnschedulable, kInvalid},
        DeedCase{"untrue node name", &Deed::PreFilter, Code::kUnschedulable, kInvalid},
        DeedCase{"endless node name", &Deed::PreFilter, Code::kUnschedulable, kInvalid},
        DeedCase{"nominates early", &Deed::PreFilter, Code::kUnschedulable, kDenied},
        DeedCase{"signs early", &Deed::PreFilter, Code::kUnschedulable, kDenied},
        DeedCase{"statuses early", &Deed::PreFilter, Code::kUnschedulable, kDenied},
        DeedCase{"node beyond the end", &Deed::PreFilter, Code::kUnschedulable, "0"},
        // Denied, and the datum was destroyed once.
        DeedCase{"state of nobody", &Deed::PreFilter, Code::kUnschedulable, "-31"},
        DeedCase{"null everywhere", &Deed::PreFilter, Code::kUnschedulable, "-15"},
        DeedCase{"other thread", &Deed::PreFilter, Code::kUnschedulable, "0"},
        DeedCase{"invented call", &Deed::PreFilter, Code::kUnschedulable, kDenied},
        DeedCase{"code 99", &Deed::Filter, Code::kError,
                 "the plugin answered with the code 99, which does not exist"},
        DeedCase{"code -1", &Deed::Filter, Code::kError,
                 "the plugin answered with the code -1, which does not exist"},
        DeedCase{"constant of nobody", &Deed::Filter, Code::kError,
                 "the plugin answered with the code 5000, which does not exist"},
        DeedCase{"wait in filter", &Deed::Filter, Code::kWait, ""},
        DeedCase{"skip in filter", &Deed::Filter, Code::kSkip, ""},
        DeedCase{"throws", &Deed::Filter, Code::kError, "an exception left the plugin"},
        DeedCase{"error without reason", &Deed::Filter, Code::kError,
                 "the plugin failed and gave no reason"},
        DeedCase{"error with an empty reason", &Deed::Filter, Code::kError,
                 "the plugin failed and gave no reason"},
        DeedCase{"constant error with an empty reason", &Deed::Filter, Code::kError,
                 "the plugin failed and gave no reason"},
        DeedCase{"untrue reason", &Deed::Filter, Code::kUnschedulable, ""},
        DeedCase{"damaged reason", &Deed::Filter, Code::kUnschedulable, "a\uFFFD\uFFFD"},
        DeedCase{"long reason", &Deed::Filter, Code::kUnschedulable, std::string(200, 'x')},
        DeedCase{"success with reason", &Deed::Filter, Code::kSuccess, ""},
        DeedCase{"writes state", &Deed::Filter, Code::kUnschedulable, kDenied},
        DeedCase{"narrows late", &Deed::Filter, Code::kUnschedulable, kDenied},
        DeedCase{"looks pods up", &Deed::Filter, Code::kUnschedulable, "0"},
        DeedCase{"constant of success", &Deed::Filter, Code::kUnschedulable, "1"},
        DeedCase{"score of a code", &Deed::Score, Code::kError,
                 "the plugin answered with the code 12, which does not exist"},
        DeedCase{"throws in pre_bind", &Deed::PreBind, Code::kError,
                 "an exception left the plugin"},
        DeedCase{"nodes in pre_bind", &Deed::PreBind, Code::kUnschedulable, "0"},
        DeedCase{"empty signature", &Deed::Sign, Code::kUnschedulable, kInvalid}),
    [](const auto& tested) {
      std::string name = tested.param.deed;
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

TEST(MisbehavingTest, RefusesToBeMade) {
  struct Case {
    const char* deed;
    const char* error;
  };
  for (const Case& test :
       {Case{"create throws", "an exception left the plugin's create"},
        Case{"create says nothing", "the plugin refused to be made and gave no reason"},
        Case{"create refuses", "not like this"}}) {
    SCOPED_TRACE(test.deed);
    EXPECT_EQ(Deed(test.deed).refusal(), test.error);
  }
}

TEST(MisbehavingTest, ScoresAreHandedOnForTheRuntimeToJudge) {
  Deed high("score 101");
  EXPECT_TRUE(high.Score().ok());
  EXPECT_EQ(high.score(), 101);
  Deed low("score -1");
  EXPECT_TRUE(low.Score().ok());
  EXPECT_EQ(low.score(), -1);
}

TEST(MisbehavingTest, TimeoutsOfPermitAreCut) {
  Deed forever("waits for ever");
  EXPECT_EQ(forever.Permit().timeout, std::chrono::minutes(15));
  Deed backwards("waits backwards");
  const framework::PermitResult result = backwards.Permit();
  EXPECT_TRUE(result.status.IsWait());
  EXPECT_EQ(result.timeout, Duration::zero());
}

TEST(MisbehavingTest, HintsThatDoNotExistAreErrors) {
  Deed deed("hint 77");
  const auto hint = deed.Hint();
  ASSERT_FALSE(hint.ok());
  EXPECT_EQ(hint.error().message, "the plugin answered with the hint 77, which does not exist");
  Deed thrower("hint throws");
  EXPECT_FALSE(thrower.Hint().ok());
  Deed sound("nothing");
  const auto skip = sound.Hint();
  ASSERT_TRUE(skip.ok());
  EXPECT_EQ(*skip, framework::QueueingHint::kSkip);
}

TEST(MisbehavingTest, AnExceptionFromCloseIsAnError) {
  Deed deed("close throws");
  const Result<void> closed = At<framework::Closer>(deed.plugin()).Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().message, "an exception left the plugin");
}

TEST(MisbehavingTest, ACallThatIsOverIsDenied) {
  unsetenv("MISBEHAVING_ANSWER");
  Deed deed("keeps its call");
  (void)deed.PreFilter();
  deed.Drop();
  EXPECT_STREQ(getenv("MISBEHAVING_ANSWER"), kDenied);
}

TEST(MisbehavingTest, TheHostOutlivesThePlugin) {
  unsetenv("MISBEHAVING_ANSWER");
  Deed deed("outlives itself");
  EXPECT_TRUE(deed.PreFilter().ok());
  deed.Drop();
  deed.Forget();  // destroys the datum, which uses the host
  EXPECT_STREQ(getenv("MISBEHAVING_ANSWER"), "-44");
}

}  // namespace
}  // namespace ks::modules
