// SPDX-License-Identifier: Apache-2.0
#include "daemon/recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "testing/builders.h"
#include "testing/temp_dir.h"

namespace ks::daemon {
namespace {

using ::testing::HasSubstr;

recording::RecordingHeader Header() {
  return {.version = "0.1.0", .began = TimePoint(Duration(1)), .configuration = "c"};
}

// A pod that came, with a text of about `bytes`.
scheduler::StepRecord Arrival(const std::string& pod, size_t bytes = 10) {
  scheduler::StepRecord record;
  api::Delta<api::Pod> delta;
  delta.type = api::Delta<api::Pod>::Type::kUpsert;
  delta.object = testing::MakePod().Name(pod).Obj();
  delta.text = api::ObjectText::Of(std::make_shared<const std::string>(
      "{\"metadata\":{\"name\":\"" + pod + "\"},\"x\":\"" + std::string(bytes, 'x') + "\"}"));
  record.inputs.emplace_back(scheduler::PodDeltas{delta});
  record.now = record.wall = TimePoint(Duration(7));
  return record;
}

std::vector<std::string> Lines(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Recorder, WritesHeaderRoundsAndEnd) {
  const testing::TempDir dir;
  std::string file;
  {
    auto recorder = Recorder::Open({.folder = dir.path()}, Header());
    ASSERT_TRUE(recorder.ok()) << recorder.error().message;
    file = (*recorder)->file();
    for (int i = 0; i < 3; ++i) (*recorder)->Add(Arrival("p" + std::to_string(i)));
  }
  EXPECT_THAT(file, HasSubstr(dir.path() + "/kubesched-19700101T000000Z-"));
  const std::vector<std::string> lines = Lines(file);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_THAT(lines[0], HasSubstr("{\"kubeschedRecording\":2,\"version\":\"0.1.0\""));
  EXPECT_THAT(lines[1],
              HasSubstr("{\"upsert\":\"Pod\",\"object\":{\"metadata\":{\"name\":\"p0\"}"));
  EXPECT_EQ(lines[2], R"({"round":{"now":7,"wall":7,"idleBefore":false,"mayAttempt":true}})");
  EXPECT_EQ(lines[7], R"({"end":"stopped"})");
}

TEST(Recorder, AFullDiskEndsTheRecordingWithWholeRounds) {
  const testing::TempDir dir;
  // Room for so many bytes, as a disk has.
  const auto left = std::make_shared<std::atomic<int64_t>>(3'500'000);
  const auto write = [left](int fd, const void* data, size_t size) -> ssize_t {
    const int64_t room = *left - ::lseek(fd, 0, SEEK_CUR);
    if (room <= 0) {
      errno = ENOSPC;
      return -1;
    }
    return ::write(fd, data, std::min(size, static_cast<size_t>(room)));
  };
  std::string file;
  {
    auto recorder = Recorder::Open({.folder = dir.path(), .write = write}, Header());
    ASSERT_TRUE(recorder.ok());
    file = (*recorder)->file();
    for (int i = 0; i < 100; ++i) (*recorder)->Add(Arrival("p" + std::to_string(i), 100'000));
  }
  const std::vector<std::string> lines = Lines(file);
  ASSERT_GT(lines.size(), 10U);
  EXPECT_LT(lines.size(), 100U);
  EXPECT_EQ(lines.back(), R"({"end":"no space left on device"})");
  EXPECT_THAT(lines[lines.size() - 2], HasSubstr("{\"round\":"));
}

TEST(Recorder, ADiskThatIsTooSlowEndsTheRecordingAndHoldsNobodyUp) {
  const testing::TempDir dir;
  struct Disk {
    Mutex mutex;
    CondVar changed;
    bool goes KS_GUARDED_BY(mutex) = true;
  };
  const auto disk = std::make_shared<Disk>();
  const auto write = [disk](int fd, const void* data, size_t size) -> ssize_t {
    MutexLock lock(disk->mutex);
    while (!disk->goes) disk->changed.Wait(disk->mutex);
    return ::write(fd, data, size);
  };
  std::string file;
  {
    auto recorder = Recorder::Open(
        {.folder = dir.path(), .most_waiting_bytes = 1'000'000, .write = write}, Header());
    ASSERT_TRUE(recorder.ok());
    file = (*recorder)->file();
    {
      MutexLock lock(disk->mutex);
      disk->goes = false;
    }
    for (int i = 0; i < 1000; ++i) (*recorder)->Add(Arrival("p" + std::to_string(i), 100'000));
    MutexLock lock(disk->mutex);
    disk->goes = true;
    disk->changed.NotifyAll();
  }
  const std::vector<std::string> lines = Lines(file);
  EXPECT_LT(lines.size(), 100U);
  EXPECT_EQ(lines.back(), R"({"end":"more was to be recorded than the disk takes"})");
}

TEST(Recorder, AnObjectWithoutTextEndsIt) {
  const testing::TempDir dir;
  std::string file;
  {
    auto recorder = Recorder::Open({.folder = dir.path()}, Header());
    ASSERT_TRUE(recorder.ok());
    file = (*recorder)->file();
    (*recorder)->Add(Arrival("p"));
    scheduler::StepRecord bare = Arrival("q");
    std::get<scheduler::PodDeltas>(bare.inputs[0])[0].text = {};
    (*recorder)->Add(std::move(bare));
    (*recorder)->Add(Arrival("r"));
  }
  const std::vector<std::string> lines = Lines(file);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines.back(), R"({"end":"there is no text of Pod ns/q"})");
}

TEST(Recorder, NeedsAFolder) {
  const testing::TempDir dir;
  const auto recorder = Recorder::Open({.folder = dir.path() + "/none"}, Header());
  ASSERT_FALSE(recorder.ok());
  EXPECT_THAT(recorder.error().message,
              HasSubstr(": no such file or directory; it must be in a folder that exists"));
}

}  // namespace
}  // namespace ks::daemon
