// SPDX-License-Identifier: Apache-2.0
#include "kubesched/endpoints/profiling_endpoints.h"

#include <charconv>
#include <string>
#include <utility>

#include "base/logging.h"
#include "kubesched/endpoints/cpu_profiler.h"
#include "kubesched/endpoints/profile_writer.h"
#include "kubesched/flags/go_values.h"

namespace ks::daemon {
namespace {

constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr int64_t kDefaultSeconds = 30;
constexpr int64_t kMostSeconds = 600;

constexpr const char* kFlagsIndex =
    "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
    "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
    "</html>\n";

constexpr const char* kProfilesIndex =
    "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
    "<p>The profile that kubesched takes: read it with go tool pprof.</p>\n"
    "<table>\n<thead><td>Count</td><td>Profile</td></thead>\n"
    "<tr><td>0</td><td><a href='profile'>profile</a></td></tr>\n</table>\n"
    "<p>profile: where CPU time goes; ?seconds=N says for how long it is watched (30).</p>\n"
    "</body>\n</html>\n";

// The whole text is one number; what follows is nothing upstream's parser would take.
bool ParseNumber(const std::string& text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

server::Response UnknownProfile() {
  return {.status = 404, .body = "Unknown profile\n", .headers = {{"X-Go-Pprof", "1"}}};
}

void TakeProfile(const server::Request& request, client::TimerService& timers,
                 const server::Reply& reply) {
  int64_t seconds = 0;
  const std::string asked(server::Query(request.query).Get("seconds"));
  if (!ParseNumber(asked, &seconds) || seconds <= 0) seconds = kDefaultSeconds;
  if (seconds > kMostSeconds) {
    reply({.status = 400,
           .body = "profile duration exceeds the limit of " + std::to_string(kMostSeconds) +
                   " seconds\n",
           .headers = {{"X-Go-Pprof", "1"}}});
    return;
  }
  if (Result<void> started = StartCpuProfile(timers.clock().WallNow()); !started.ok()) {
    reply({.status = 500,
           .body = "Could not enable CPU profiling: " + started.error().message + "\n",
           .headers = {{"X-Go-Pprof", "1"}}});
    return;
  }
  timers.Schedule(std::chrono::seconds(seconds), [&timers, reply] {
    const CpuProfile profile = FinishCpuProfile(timers.clock().WallNow());
    reply({.content_type = "application/octet-stream",
           .body = WriteProfile(profile),
           .headers = {{"Content-Disposition", "attachment; filename=\"profile\""}}});
  });
}

}  // namespace

server::Response AnswerVerbosity(const server::Request& request) {
  const std::string& text = request.body;
  if (request.method != "PUT") {
    return {.status = 406, .content_type = "text/plain", .body = "unsupported http method\n"};
  }
  int64_t level = 0;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) {
    return {.status = 400,
            .content_type = "text/plain",
            .body = "strconv.ParseUint: parsing " + flags::Quote(text) + ": invalid syntax\n"};
  }
  if (!ParseNumber(text, &level) || level > INT32_MAX) {
    return {.status = 400,
            .content_type = "text/plain",
            .body = "strconv.ParseUint: parsing " + flags::Quote(text) + ": value out of range\n"};
  }
  log::SetVerbosity(static_cast<int>(level));
  return {.content_type = "text/plain",
          .body = "successfully set klog.logging.verbosity to " + text + "\n"};
}

void InstallProfiling(server::HttpsServer& https, client::TimerService& timers) {
  https.Handle("/debug/flags/v", AnswerVerbosity);
  const auto index = [](const server::Request&, const server::Reply& reply) {
    reply({.content_type = kHtml, .body = kFlagsIndex, .no_sniff = false});
  };
  https.HandleAsync("/debug/flags", index);
  https.HandlePrefix("/debug/flags/", index);
  https.Handle("/debug/pprof", [](const server::Request& request) {
    const bool shows = request.method == "GET" || request.method == "HEAD";
    return server::Response{.status = 302,
                            .content_type = shows ? kHtml : "",
                            .body = shows ? "<a href=\"/debug/pprof/\">Found</a>.\n\n" : "",
                            .no_sniff = false,
                            .headers = {{"Location", "/debug/pprof/"}}};
  });
  https.Handle("/debug/pprof/", [](const server::Request&) {
    return server::Response{.content_type = kHtml, .body = kProfilesIndex};
  });
  https.HandlePrefix("/debug/pprof/", [](const server::Request&, const server::Reply& reply) {
    reply(UnknownProfile());
  });
  https.HandleAsync("/debug/pprof/profile",
                    [&timers](const server::Request& request, const server::Reply& reply) {
                      TakeProfile(request, timers, reply);
                    });
}

}  // namespace ks::daemon
