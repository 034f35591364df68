// SPDX-License-Identifier: Apache-2.0
// Bodies of failed requests. Upstream: docs/spec/api.md 7.5.

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "api/decode/decode_object.h"
#include "api/decode/decoder.h"
#include "api/proto/proto_envelope.h"
#include "api/selector.h"
#include "golang/quote.h"

namespace ks::api {

namespace {

// This much of a body that is no Status can end up in a message.
constexpr size_t kMaxBodyText = 2048;

bool ReadProtoStatus(std::string_view body, ApiError& error) {
  ProtoEnvelope envelope;
  ProtoReader reader;
  return ReadEnvelope(body, envelope) && envelope.kind == "Status" &&
         ReadStatus(reader, ProtoReader::Root(ProtoStatusMessage(), envelope.raw), error);
}

// False when the body is no Status.
bool ReadStatusBody(std::string_view body, ApiError& error) {
  if (IsProtobuf(body)) return ReadProtoStatus(body, error);
  using simdjson::ondemand::document;
  const simdjson::padded_string padded(body);
  simdjson::ondemand::parser parser;
  document doc;
  if (parser.iterate(padded).get(doc)) return false;
  JsonReader::Value root;
  if (doc.get_value().get(root)) return false;
  simdjson::ondemand::object object;
  if (root.get_object().get(object)) return false;
  JsonReader reader;
  bool is_status = false;
  const bool read = reader.Fields(object, [&](std::string_view key, JsonReader::Value value) {
    if (key != "kind") return true;
    std::string_view kind;
    if (!reader.Text(value, kind)) return false;
    is_status = kind == "Status";
    return true;
  });
  if (!read || !is_status) return false;
  doc.rewind();
  return !doc.get_value().get(root) && ReadStatus(reader, root, error);
}

std::string BodyText(std::string_view body) {
  body = body.substr(0, kMaxBodyText);
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const size_t first = body.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "unknown";
  return std::string(body.substr(first, body.find_last_not_of(kBlanks) - first + 1));
}

struct Answer {
  std::string_view reason;
  std::string message;
};

Answer AnswerOf(int http_code, std::string_view body, bool is_post) {
  switch (http_code) {
    case 409:
      return {is_post ? "AlreadyExists" : "Conflict", "the server reported a conflict"};
    case 404:
      return {"NotFound", "the server could not find the requested resource"};
    case 400:
      return {"BadRequest", "the server rejected our request for an unknown reason"};
    case 401:
      return {"Unauthorized", "the server has asked for the client to provide credentials"};
    case 403:
      return {"Forbidden", BodyText(body)};
    case 405:
      return {"MethodNotAllowed",
              "the server does not allow this method on the requested resource"};
    case 429:
      return {"TooManyRequests",
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {"ServiceUnavailable", "the server is currently unable to handle the request"};
    case 504:
      return {"Timeout",
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default:
      break;
  }
  if (http_code >= 500) {
    return {"InternalError",
            fmt::format("an error on the server ({}) has prevented the request from succeeding",
                        golang::Quote(BodyText(body)))};
  }
  return {"",
          fmt::format(
              "the server responded with the status code {} but did not return more information",
              http_code)};
}

}  // namespace

ApiError Decoder::DecodeStatus(int http_code, std::string_view body, std::string_view verb,
                               std::string_view resource, std::string_view name) {
  ApiError error;
  if (ReadStatusBody(body, error)) {
    if (error.code == 0) error.code = http_code;
    return error;
  }
  std::string lower_verb(verb);
  std::transform(lower_verb.begin(), lower_verb.end(), lower_verb.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  Answer answer = AnswerOf(http_code, body, lower_verb == "post");
  error = ApiError();
  error.code = http_code;
  error.reason = answer.reason;
  error.message = fmt::format("{} ({} {}{}{})", answer.message, lower_verb, resource,
                              name.empty() ? "" : " ", name);
  return error;
}

}  // namespace ks::api
