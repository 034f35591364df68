// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/ui/page_site.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "kubeschedctl/ui/page_files.h"

namespace ks::ctl {
namespace {

using server::Reply;
using server::Request;
using server::Response;

constexpr std::string_view kApi = "/api/";

struct Question {
  std::string_view name;
  std::string_view method;
  std::string_view target;
  std::string_view content_type = "application/json";
};
constexpr std::array<Question, 6> kQuestions = {{
    {"queue", "GET", "/debug/kubesched/queue"},
    {"decisions", "GET", "/debug/kubesched/decisions"},
    {"cache", "GET", "/debug/kubesched/cache"},
    {"explain", "GET", "/debug/kubesched/explain"},
    {"simulate", "POST", "/debug/kubesched/simulate"},
    {"metrics", "GET", "/metrics", "text/plain; charset=utf-8"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

// The page may load and ask what this server has, and nothing else; no other page may show it or
// use what it answers.
Response Guarded(Response response) {
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
      "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  response.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cache-Control", "no-store");
  return response;
}

Response WrongMethod(std::string_view allowed) {
  Response response{.status = 405, .body = "asked with " + std::string(allowed) + "\n"};
  response.headers.emplace_back("Allow", allowed);
  return response;
}

bool IsRead(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

Response Failed(const std::string& message) {
  using Json = nlohmann::json;
  const Json object = {{"message", message}};
  return {.status = 502,
          .content_type = "application/json",
          .body = object.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace

void PageSite::Answer(const Request& request, const Reply& reply) {
  if (auto refusal = guard_.Refuse(request)) return reply(Guarded(*std::move(refusal)));
  if (request.path.starts_with(kApi)) return AnswerQuestion(request, reply);
  reply(Guarded(AnswerFile(request)));
}

Response PageSite::AnswerFile(const Request& request) const {
  if (!IsRead(request)) return WrongMethod("GET, HEAD");
  const bool is_page = request.path == "/";
  const std::string_view name = is_page ? "index.html" : std::string_view(request.path).substr(1);
  const auto files = PageFiles();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [name](const PageFile& one) { return one.name == name; });
  if (file == files.end()) return server::NotFound();
  Response response{.body = std::string(file->content)};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) response.content_type = type;
  }
  if (std::string cookie = guard_.CookieFor(request); is_page && !cookie.empty()) {
    response.headers.emplace_back("Set-Cookie", std::move(cookie));
  }
  return response;
}

void PageSite::AnswerQuestion(const Request& request, const Reply& reply) {
  const std::string_view name = std::string_view(request.path).substr(kApi.size());
  const auto* question = std::find_if(kQuestions.begin(), kQuestions.end(),
                                      [name](const Question& one) { return one.name == name; });
  if (question == kQuestions.end()) return reply(Guarded(server::NotFound()));
  const bool reads = question->method == "GET";
  if (reads ? !IsRead(request) : request.method != question->method) {
    return reply(Guarded(WrongMethod(reads ? "GET, HEAD" : question->method)));
  }
  std::string target(question->target);
  if (!request.query.empty()) target += "?" + request.query;
  pool_.Run([this, question, reads, reply, target = std::move(target), body = request.body] {
    const auto answer = reads ? scheduler_.Get(target) : scheduler_.Post(target, body);
    reply(Guarded(
        answer.ok() ? Response{.content_type = std::string(question->content_type), .body = *answer}
                    : Failed(answer.error().message)));
  });
}

}  // namespace ks::ctl
