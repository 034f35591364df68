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

// Opens the way, asks, prints. `target`: gets the namespace of pods that are named without one.
int Show(const LiveOptions& live, const std::function<std::string(const std::string& ns)>& target,
         const Table& table) {
  const auto daemon = DaemonAccess::Open(live.daemon);
  if (!daemon.ok()) return Fail(daemon.error().message);
  const auto body = (*daemon)->Get(target((*daemon)->default_namespace()));
  if (!body.ok()) return Fail(body.error().message);
  return PrintAnswer(*body, live.json, table);
}

// The options with their pod in its namespace.
template <class Options>
Options Located(Options options, const std::string& default_namespace) {
  options.pod = InNamespace(options.pod, options.ns.empty() ? default_namespace : options.ns);
  return options;
}

bool HasDifferences(const std::string& body) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  return answer.is_object() && answer.contains("comparison") &&
         answer["comparison"].value("same", true) == false;
}

}  // namespace

int RunLiveQueue(const LiveQueueOptions& options) {
  const auto target = [&](const std::string& ns) { return QueueTarget(Located(options, ns)); };
  return Show(options.live, target, QueueTable);
}

int RunLiveDecisions(const LiveDecisionsOptions& options) {
  const auto target = [&](const std::string& ns) { return DecisionsTarget(Located(options, ns)); };
  return Show(options.live, target, DecisionsTable);
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
  const auto target = [&](const std::string& ns) { return ExplainTarget(Located(options, ns)); };
  return Show(options.live, target,
              [&](const std::string& body) { return LiveExplanationTable(body, options.node); });
}

}  // namespace ks::ctl
