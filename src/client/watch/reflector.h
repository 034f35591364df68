// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps a consumer's copy of one kind of object current: list in pages, then watch, resume, list
// again when the server forgot where we were. One per kind and selector. Not a store: the consumer
// keeps the objects and derives old/new pairs (api/delta.h). Objects come in the form that the
// server chooses of those that the client accepts; in JSON where their JSON is kept. The initial
// state comes by list (6.3); the streaming list (6.2) is not used.
//
// Upstream: docs/spec/api.md sections 6.1, 6.3 to 6.7, 7.3.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/decode/decoder.h"
#include "api/delta.h"
#include "api/status.h"
#include "client/rest/rest_client.h"

namespace ks::client {

class InformerSeries;

struct ReflectorOptions {
  std::string path{};            // "/api/v1/pods"
  std::string field_selector{};  // "status.phase!=Succeeded,status.phase!=Failed"; unescaped
  std::string type_name{};       // as the reference prints it, for error texts: "*v1.Pod"
  std::string resource{};        // "pods"
  uint64_t seed = 0;             // jitter of delays and watch lengths
  bool gzip_lists = true;
  api::KeepRaw keep_raw = api::KeepRaw::kNone;
  api::KeepTexts keep_texts = api::KeepTexts::kNo;  // deltas bring the texts of their objects
  // An API server that does not know the kind (404, or 403 and the kind is not among what it
  // serves) has no objects of it: the state is empty until a list succeeds. Else nothing is known
  // until then.
  bool absent_is_empty = false;
  InformerSeries* metrics = nullptr;  // told of the newest state; outlives the reflector

  // Objects in another form are of no use.
  bool NeedsJson() const {
    return keep_texts == api::KeepTexts::kJson || keep_raw != api::KeepRaw::kNone;
  }
};

struct ReflectorStatus {
  bool synced = false;                   // the first list was handed to the sink
  bool watching = false;                 // a watch is open now
  std::string resource_version{};        // newest seen
  std::optional<api::ApiError> error{};  // of the last round; cleared by the next success
  uint64_t lists = 0;                    // answered completely
  uint64_t watches = 0;                  // opened
  uint64_t events = 0;                   // added, modified and deleted
};

// T is a kind of api/kinds.h.
// Threads: any. The sink runs on client threads, one call at a time, in order.
// Lifetime: the client and what the sink uses outlive it.
template <class T>
class Reflector {
 public:
  Reflector(RestClient& client, ReflectorOptions options, api::DeltaSink<T> sink);
  // Stops.
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Requires: called once, before Stop.
  void Start();
  // Ends the stream and waits until the sink is not called any more. Idempotent. Requires: not
  // called on a client thread.
  void Stop();

  bool Synced() const;
  ReflectorStatus Status() const;

  // Calls `reached` once, on a client thread, when the state handed to the sink is at least as new
  // as this version (a consistent read gave it): an event, a bookmark or a list says so. Versions
  // that are no numbers cannot be compared: only ListAgain gets there. Never after Stop.
  void WhenReached(std::string resource_version, std::function<void()> reached);
  // Ends the present watch and lists again, not older than this version: for when nothing happens
  // that a watch would tell. Asked for during a list, it takes its turn after it.
  void ListAgain(std::string resource_version);

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace ks::client
