// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/live/live_verbs.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file_text.h"
#include "kubeschedctl/live/live_tables.h"
#include "kubeschedctl/text/input.h"
#include "kubeschedctl/text/status.h"

namespace ks::ctl {
namespace {

using Table = std::function<Result<std::string>(const std::string& body)>;

int Print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  return Fail(std::string("standard output: ") + SystemErrorText(errno));
}

int PrintAnswer(const std::string& body, bool json, const Table& table) {
  if (json) return Print(body);
  const Result<std::string> text = table(body);
  return text.ok() ? Print(*text) : Fail(text.error().message);
}

// Opens the way, asks, prints.
int Show(const LiveOptions& live, const std::string& target, const Table& table) {
  const auto daemon = DaemonAccess::Open(live.daemon);
  if (!daemon.ok()) return Fail(daemon.error().message);
  const auto body = (*daemon)->Get(target);
  if (!body.ok()) return Fail(body.error().message);
  return PrintAnswer(*body, live.json, table);
}

bool HasDifferences(const std::string& body) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  return answer.is_object() && answer.contains("comparison") &&
         answer["comparison"].value("same", true) == false;
}

}  // namespace

int RunLiveQueue(const LiveQueueOptions& options) {
  return Show(options.live, QueueTarget(options), QueueTable);
}

int RunLiveDecisions(const LiveDecisionsOptions& options) {
  return Show(options.live, DecisionsTarget(options), DecisionsTable);
}

int RunLiveCache(const LiveCacheOptions& options) {
  const auto daemon = DaemonAccess::Open(options.live.daemon);
  if (!daemon.ok()) return Fail(daemon.error().message);
  const auto body = (*daemon)->Get(CacheTarget(options));
  if (!body.ok()) return Fail(body.error().message);
  const int status = PrintAnswer(*body, options.live.json, CacheTable);
  return status == 0 && HasDifferences(*body) ? 1 : status;
}

int RunLiveSimulate(const LiveSimulateOptions& options) {
  const auto manifest = ReadInput(options.file);
  if (!manifest.ok()) return Fail(manifest.error().message);
  const auto daemon = DaemonAccess::Open(options.live.daemon);
  if (!daemon.ok()) return Fail(daemon.error().message);
  const auto body = (*daemon)->Post(SimulateTarget(options), *manifest);
  if (!body.ok()) return Fail(body.error().message);
  return PrintAnswer(*body, options.live.json, options.fill ? FillTable : SimulationTable);
}

int RunLiveExplain(const LiveExplainOptions& options) {
  return Show(options.live, ExplainTarget(options),
              [&](const std::string& body) { return LiveExplanationTable(body, options.node); });
}

}  // namespace ks::ctl
