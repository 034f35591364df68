// SPDX-License-Identifier: Apache-2.0
#pragma once
// What handlers of the daemon's HTTPS server get and give: requests with their caller, answers.
//
// Upstream: docs/spec/operations.md sections 2.1 and 4.1.

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ks::server {

class ClientCertificate;  // client_certificate.h

// Who asks. Empty user: nobody has judged that (a server without a guard).
struct Identity {
  std::string user{};
  std::vector<std::string> groups{};
  std::string uid{};
  std::map<std::string, std::vector<std::string>> extra{};

  bool operator==(const Identity&) const = default;
};

// Header fields as sent, in order. Names are compared without regard to case.
class HeaderFields {
 public:
  HeaderFields() = default;
  HeaderFields(std::initializer_list<std::pair<std::string, std::string>> fields)
      : fields_(fields) {}

  void Add(std::string_view name, std::string_view value) { fields_.emplace_back(name, value); }
  // The first one; empty: there is none. Lifetime: this object's.
  std::string_view Get(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }
  void Remove(std::string_view name);

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

struct Request {
  std::string method{};
  std::string path{};   // as sent, without the query
  std::string query{};  // behind the '?', as sent; see Query
  HeaderFields headers{};
  std::string body{};            // empty for the guard, which is asked before it is read
  std::string remote_address{};  // "10.0.0.1:5", "[::1]:5"
  // What the peer presented, not yet verified. Null: nothing.
  std::shared_ptr<const ClientCertificate> certificate{};
  Identity caller{};
};

// A query string taken apart; escapes are undone, a broken escape stays as it is.
class Query {
 public:
  explicit Query(std::string_view query);

  bool Has(std::string_view key) const;
  // The first one; empty: there is none. Lifetime: this object's.
  std::string_view Get(std::string_view key) const;
  std::vector<std::string_view> All(std::string_view key) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";  // empty: no such header
  std::string body{};
  bool no_sniff = true;                                        // X-Content-Type-Options: nosniff
  std::vector<std::pair<std::string, std::string>> headers{};  // more of them
};

// Gives the answer. Threads: any; callable once, more calls do nothing. An answer to a connection
// that is gone, or after the server has stopped, is dropped. One that is destroyed uncalled answers
// 500.
using Reply = std::function<void(Response)>;

// 404 `404 page not found`.
Response NotFound();

}  // namespace ks::server
