// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/logging.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/symbol.h"

namespace ks {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct DurationCase {
  std::string name;
  Duration duration;
  std::string want;
};

class FormatDurationTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(FormatDurationTest, PrintsAsGoDoes) {
  EXPECT_EQ(FormatDuration(GetParam().duration), GetParam().want);
}

// docs/spec/framework.md section 10.
INSTANTIATE_TEST_SUITE_P(
    Rows, FormatDurationTest,
    ::testing::Values(DurationCase{"zero", nanoseconds(0), "0s"},
                      DurationCase{"nanos", nanoseconds(7), "7ns"},
                      DurationCase{"micros", nanoseconds(1500), "1.5µs"},
                      DurationCase{"millis", milliseconds(250), "250ms"},
                      DurationCase{"fraction", milliseconds(1500), "1.5s"},
                      DurationCase{"seconds", seconds(10), "10s"},
                      DurationCase{"minute_and_half", seconds(90), "1m30s"},
                      DurationCase{"minutes", minutes(15), "15m0s"},
                      DurationCase{"hours", hours(1) + seconds(2), "1h0m2s"},
                      DurationCase{"tiny_fraction", seconds(1) + nanoseconds(1), "1.000000001s"},
                      DurationCase{"negative", seconds(-3), "-3s"},
                      DurationCase{"lowest", Duration::min(), "-2562047h47m16.854775808s"}),
    [](const auto& row) { return row.param.name; });

TEST(Time, IsCutNotRounded) {
  // 2026-01-02T03:04:05.123456789Z, docs/spec/api.md W23.
  const TimePoint time(nanoseconds(1767323045123456789LL));
  EXPECT_EQ(FormatTime(time), "2026-01-02T03:04:05Z");
  EXPECT_EQ(FormatMicroTime(time), "2026-01-02T03:04:05.123456Z");
}

TEST(ProcessClock, NeverStepsBack) {
  TimePoint last = RealClock().Now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = RealClock().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RandomSource, RepeatsItselfFromItsSeed) {
  Random a(7);
  Random b(7);
  Random c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.Next();
    EXPECT_EQ(value, b.Next());
    differs |= value != c.Next();
    EXPECT_LT(a.Below(10), 10U);
    b.Below(10);
    const double unit = a.Unit();
    EXPECT_GE(unit, 0.0);
    EXPECT_LT(unit, 1.0);
    b.Unit();
  }
  EXPECT_TRUE(differs);
}

TEST(ResultType, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> error = Error{"no"};
  EXPECT_FALSE(error.ok());
  EXPECT_EQ(error.error().message, "no");
  const Result<void> fine;
  EXPECT_TRUE(fine.ok());
  const Result<void> bad = Error{"bad"};
  EXPECT_EQ(bad.error().message, "bad");
}

TEST(ResultTypeDeathTest, StopsTheProcessOnTheWrongQuestion) {
  const Result<int> error = Error{"the cause"};
  EXPECT_DEATH((void)error.value(), "Check failed.*the cause");
}

TEST(Log, WritesKlogLines) {
  ::testing::internal::CaptureStderr();
  log::SetVerbosity(2);
  log::Info(2, "said", {{"pod", "ns/p"}, {"quoted", "a \"b\"\t"}, {"n", 7}, {"flag", true}});
  log::Info(3, "not said");
  log::Error("broken", "failed", {{"node", std::string("n1")}});
  log::SetVerbosity(0);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("] \"said\" pod=\"ns/p\" quoted=\"a \\\"b\\\"\\t\" n=7 flag=true\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("] \"failed\" err=\"broken\" node=\"n1\"\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("not said"), std::string::npos);
  EXPECT_EQ(text[0], 'I');
  EXPECT_NE(text.find("\nE"), std::string::npos);
}

TEST(Log, PutsLinesIntoABlock) {
  ::testing::internal::CaptureStderr();
  log::Error("a:\n  b", "failed", {{"n", 1}}, log::SourceLocation::At("run.go", 72));
  log::Plain('W', "bare");
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(" run.go:72] \"failed\" err=<\n\ta:\n\t  b\n > n=1\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nW"), std::string::npos) << text;
  EXPECT_NE(text.find("] bare\n"), std::string::npos) << text;
}

TEST(Log, WritesJson) {
  log::SetFormat(log::Format::kJson);
  ::testing::internal::CaptureStderr();
  log::Info(0, "said", {{"pod", "a \"b\"\n"}, {"n", 7}});
  log::Error("broken", "failed", {}, log::SourceLocation::At("cli/run.go", 72));
  const std::string text = ::testing::internal::GetCapturedStderr();
  log::SetFormat(log::Format::kText);
  EXPECT_EQ(text.rfind("{\"ts\":1", 0), 0U) << text;
  EXPECT_NE(text.find("\"caller\":\"base/base_test.cc:"), std::string::npos) << text;
  EXPECT_NE(text.find(",\"msg\":\"said\",\"v\":0,\"pod\":\"a \\\"b\\\"\\n\",\"n\":7}\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"caller\":\"cli/run.go:72\",\"msg\":\"failed\",\"err\":\"broken\"}\n"),
            std::string::npos)
      << text;
}

TEST(Log, NamesOfPodsAreObjectsInJson) {
  log::SetFormat(log::Format::kJson);
  ::testing::internal::CaptureStderr();
  log::Info(0, "said", {{"pod", "ns/p"}, {"node", "a/b"}, {"preemptor", "ns/q"}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  log::SetFormat(log::Format::kText);
  EXPECT_NE(text.find(R"("pod":{"name":"p","namespace":"ns"},"node":"a/b",)"
                      R"("preemptor":{"name":"q","namespace":"ns"}})"),
            std::string::npos)
      << text;
}

TEST(Log, QuotesAsGoDoes) {
  ::testing::internal::CaptureStderr();
  log::Info(0, "said", {{"zone", std::string_view(":\0:z1\r\a\b\f\v\x7f", 11)}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find(R"(zone=":\x00:z1\r\a\b\f\v\x7f")"), std::string::npos) << text;
}

TEST(Log, ModuleLevelsAddToTheVerbosity) {
  log::SetModuleLevels({{"base_*", 3}, {"base_test", 9}, {"other", 5}});
  EXPECT_TRUE(log::Enabled(3));
  EXPECT_FALSE(log::Enabled(4));
  EXPECT_TRUE(log::Enabled(5, log::SourceLocation::At("/x/other.cc", 1)));
  EXPECT_FALSE(log::Enabled(1, log::SourceLocation::At("/x/another.cc", 1)));
  log::SetModuleLevels({});
  EXPECT_FALSE(log::Enabled(1));
}

TEST(CondVarTest, WakesAndTimesOut) {
  Mutex mutex;
  CondVar changed;
  bool ready = false;
  std::thread other([&] {
    MutexLock lock(mutex);
    ready = true;
    changed.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    while (!ready) changed.Wait(mutex);
    EXPECT_FALSE(changed.WaitFor(mutex, nanoseconds(1000)) && !ready);
  }
  other.join();
}

}  // namespace
}  // namespace ks
