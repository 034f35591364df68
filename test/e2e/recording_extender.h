// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extenders under one address that write down what they are asked.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "e2e/cluster.h"
#include "testing/scripted_server.h"

namespace ks::e2e {

class RecordingExtender {
 public:
  struct Question {
    std::string verb;  // the end of the address: "filter"
    std::string pod;   // the name
    const json& body;
  };
  // The text of the answer; absent: the extender fails. Runs on the threads of connections.
  using Answerer = std::function<std::optional<std::string>(const Question&)>;
  // What is written down of a body. Runs on the threads of connections.
  using Noter = std::function<json(const json& body)>;
  // The first question of each kind about each pod, by address and pod.
  using Requests = std::map<std::string, json>;

  RecordingExtender(Noter note, Answerer answer)
      : note_(std::move(note)), answer_(std::move(answer)) {}

  std::string url() const { return server_.url(); }
  Requests requests() {
    MutexLock lock(mutex_);
    return requests_;
  }

 private:
  void Serve(testing::ScriptedConnection& connection) {
    while (const auto request = connection.Read()) {
      const json body = json::parse(request->body, nullptr, false);
      if (!body.is_object()) return;
      const std::string pod = body.contains("Pod") ? body["Pod"]["metadata"].value("name", "")
                                                   : body.value("PodName", "");
      {
        json noted = note_(body);
        MutexLock lock(mutex_);
        requests_.emplace(request->target + " " + pod, std::move(noted));
      }
      const std::string verb = request->target.substr(request->target.rfind('/') + 1);
      const auto answer = answer_({.verb = verb, .pod = pod, .body = body});
      connection.Respond(answer ? 200 : 500, answer.value_or(""));
    }
  }

  const Noter note_;
  const Answerer answer_;
  Mutex mutex_;
  Requests requests_ KS_GUARDED_BY(mutex_);
  testing::ScriptedServer server_{
      {}, [this](testing::ScriptedConnection& connection) { Serve(connection); }};
};

}  // namespace ks::e2e
