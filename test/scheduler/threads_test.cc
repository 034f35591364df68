// SPDX-License-Identifier: Apache-2.0
// The parts of the scheduler that threads meet in: inbox, parallelizer, blocking pool.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "base/blocking_pool.h"
#include "scheduler/algorithm/parallelizer.h"
#include "scheduler/inbox.h"

namespace ks::scheduler {
namespace {

TEST(Inbox, KeepsTheOrderOfEachPoster) {
  Inbox inbox;
  constexpr int kPosters = 4;
  constexpr int kTasks = 500;
  std::vector<std::vector<int>> seen(kPosters);
  std::vector<std::thread> posters;
  for (int p = 0; p < kPosters; ++p) {
    posters.emplace_back([&inbox, &seen, p] {
      for (int i = 0; i < kTasks; ++i) {
        inbox.Post(Task([&seen, p, i] { seen[p].push_back(i); }));
      }
    });
  }
  int taken = 0;
  std::vector<Message> batch;
  while (taken < kPosters * kTasks) {
    inbox.Wait(std::nullopt);
    inbox.Drain(&batch);
    for (Message& message : batch) std::get<Task>(message)();
    taken += static_cast<int>(batch.size());
  }
  for (std::thread& poster : posters) poster.join();
  for (const std::vector<int>& order : seen) {
    ASSERT_EQ(order.size(), static_cast<size_t>(kTasks));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST(Inbox, WaitEndsWithTheTimeout) {
  Inbox inbox;
  inbox.Wait(Duration(0));
  inbox.Wait(Duration(1000));
  std::vector<Message> batch;
  inbox.Drain(&batch);
  EXPECT_TRUE(batch.empty());
}

TEST(Parallelizer, CoversEveryPieceOnce) {
  for (const int parallelism : {1, 2, 16}) {
    Parallelizer parallelizer(parallelism, /*min_pieces=*/1);
    EXPECT_LE(parallelizer.threads(), parallelism);
    for (const size_t pieces : {0U, 1U, 7U, 1000U}) {
      std::vector<std::atomic<int>> hits(pieces);
      parallelizer.Run(pieces, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) hits[i].fetch_add(1);
      });
      for (const auto& hit : hits) EXPECT_EQ(hit.load(), 1);
    }
  }
}

TEST(BlockingPool, RunsEverythingAlthoughTasksWaitForEachOther) {
  std::atomic<int> ran{0};
  std::promise<void> second_started;
  const std::shared_future<void> started = second_started.get_future().share();
  {
    BlockingPool pool(2);
    pool.Run([&] {
      started.wait();
      ++ran;
    });
    pool.Run([&] {
      second_started.set_value();
      ++ran;
    });
    for (int i = 0; i < 20; ++i) pool.Run([&ran] { ++ran; });
  }
  EXPECT_EQ(ran.load(), 22);
}

}  // namespace
}  // namespace ks::scheduler
