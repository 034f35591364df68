// SPDX-License-Identifier: Apache-2.0
// kubeschedctl top: asks again and again, and shows what changed.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "kubeschedctl/live/live_verbs.h"
#include "kubeschedctl/live/top_view.h"
#include "kubeschedctl/text/status.h"
#include "kubeschedctl/text/terminal.h"

namespace ks::ctl {
namespace {

Result<TopSample> Look(DaemonAccess& daemon) {
  const auto queue = daemon.Get("/debug/kubesched/queue?limit=1");
  if (!queue.ok()) return queue.error();
  const auto metrics = daemon.Get("/metrics");
  auto sample = ReadTopSample(*queue, metrics.ok() ? *metrics : "");
  if (!sample.ok()) return sample.error();
  sample->time = RealClock().Now();
  sample->daemon = daemon.name();
  if (!metrics.ok()) sample->note = metrics.error().message;
  return sample;
}

std::string Text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// What fits on the screen.
std::vector<std::string> Cut(std::vector<std::string> lines, const Screen& screen) {
  if (lines.size() > screen.rows) lines.resize(screen.rows);
  for (std::string& line : lines) {
    if (line.size() > screen.columns) line.resize(screen.columns);
  }
  return lines;
}

int Refresh(DaemonAccess& daemon, const TopOptions& options) {
  Signals signals;
  std::optional<LiveScreen> live;
  std::optional<TopSample> before;
  std::string failure;
  for (int64_t round = 0; options.rounds == 0 || round < options.rounds; ++round) {
    auto now = Look(daemon);
    if (!now.ok()) {
      // The leader may have changed: its place is not looked for again, so this is the end.
      failure = now.error().message;
      break;
    }
    if (!live) live.emplace();
    live->Draw(Cut(TopLines(*now, before ? &*before : nullptr), CurrentScreen()));
    before = std::move(now).value();
    signals.Wait(options.interval);
    if (signals.Stopped()) break;
  }
  live.reset();
  return failure.empty() ? 0 : Fail(failure);
}

}  // namespace

int RunTop(const TopOptions& options) {
  const auto daemon = DaemonAccess::Open(options.live.daemon);
  if (!daemon.ok()) return Fail(daemon.error().message);
  if (!options.live.json && HasLiveTerminal()) return Refresh(**daemon, options);
  const auto first = Look(**daemon);
  if (!first.ok()) return Fail(first.error().message);
  Signals signals;
  std::optional<TopSample> before;
  TopSample now = *first;
  for (int64_t round = 1;; ++round) {
    const TopSample* since = before ? &*before : nullptr;
    const std::string text =
        options.live.json ? TopJson(now, since) + "\n" : Text(TopLines(now, since));
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (round >= std::max<int64_t>(options.rounds, 1)) return 0;
    std::fflush(stdout);
    signals.Wait(options.interval);
    if (signals.Stopped()) return 0;
    auto next = Look(**daemon);
    if (!next.ok()) return Fail(next.error().message);
    before = std::exchange(now, std::move(next).value());
  }
}

}  // namespace ks::ctl
