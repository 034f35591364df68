// SPDX-License-Identifier: Apache-2.0
// Watches on the wire: chunks, ends, slow and leaving readers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "apiserver/front_fixture.h"

namespace ks::apiserver {
namespace {

using ks::testing::Answer;
using ks::testing::TlsClient;
using ::testing::HasSubstr;

// A watch as a client reads it: chunks taken apart, one event a line.
class Watcher {
 public:
  Watcher(int port, const std::string& query = "") : client_(port) {
    client_.Send(RequestText("GET", std::string(kConfigMaps) + "?watch=true" + query));
    head_ = client_.ReadUntil("\r\n\r\n");
  }

  const std::string& head() const { return head_; }
  TlsClient& client() { return client_; }

  // The next event; null at the end of the body or of the connection.
  Json Next() {
    size_t end = 0;
    while ((end = text_.find('\n')) == std::string::npos) {
      if (!ReadChunk()) {
        return nullptr;
      }
    }
    Json event = Json::parse(text_.substr(0, end), nullptr, false);
    text_.erase(0, end + 1);
    return event;
  }
  bool ended() const { return ended_; }  // by the last chunk

 private:
  bool ReadChunk() {
    const std::string size_line = client_.ReadUntil("\r\n");
    const size_t size = std::strtoul(size_line.c_str(), nullptr, 16);
    if (size == 0) {
      ended_ = size_line == "0\r\n" && client_.ReadUntil("\r\n") == "\r\n";
      return false;
    }
    std::string chunk;
    while (chunk.size() < size + 2) {
      const std::string line = client_.ReadUntil("\n");
      if (line.empty()) {
        return false;
      }
      chunk += line;
    }
    text_ += chunk.substr(0, size);
    return true;
  }

  TlsClient client_;
  std::string head_;
  std::string text_;
  bool ended_ = false;
};

std::string NameOf(const Json& event) {
  return event.is_object() ? event["object"]["metadata"]["name"].get<std::string>() : "";
}

// Waits until the front has no more than `count` connections: each turn is a round trip through its
// thread.
bool SessionsFallTo(FrontFixture& server, size_t count) {
  for (int i = 0; i < 100'000; ++i) {
    if (server.Sessions() <= count) {
      return true;
    }
  }
  return false;
}

TEST(FrontWatch, TheHeadComesAtOnceAndEventsAsTheyHappen) {
  FrontFixture server;
  Watcher watch(server.port(), "&resourceVersion=0");
  EXPECT_THAT(watch.head(), HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(watch.head(), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_THAT(watch.head(), HasSubstr("Content-Type: application/json\r\n"));
  for (const char* name : {"one", "two", "three"}) {
    server.CreateConfigMap(name);
    const Json event = watch.Next();
    EXPECT_EQ(event["type"], "ADDED");
    EXPECT_EQ(NameOf(event), name);
  }
}

TEST(FrontWatch, TheConnectionServesOnAfterTheEnd) {
  FrontFixture server;
  Watcher watch(server.port(), "&timeoutSeconds=600");
  server.Run([](Service& service) { service.EndWatches(); });
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
  watch.client().Send(RequestText("GET", kConfigMaps));
  EXPECT_EQ(watch.client().Read().status, 200);
  EXPECT_EQ(server.Sessions(), 1U);
}

TEST(FrontWatch, EndsByItselfAfterItsTime) {
  FrontFixture server;
  Watcher watch(server.port(), "&timeoutSeconds=1");
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
}

TEST(FrontWatch, Http10ReadsUntilTheConnectionEnds) {
  FrontFixture server;
  TlsClient client(server.port());
  client.Send(std::string("GET ") + kConfigMaps +
              "?watch=true&resourceVersion=0 HTTP/1.0\r\nAuthorization: Bearer " + kAdminToken +
              "\r\n\r\n");
  client.ReadUntil("\r\n\r\n");
  server.CreateConfigMap("one");
  EXPECT_EQ(NameOf(Json::parse(client.ReadUntil("\n"))), "one");
  server.Run([](Service& service) { service.EndWatches(); });
  EXPECT_TRUE(client.ReadsEnd());
}

TEST(FrontWatch, AWatcherThatLeavesIsForgotten) {
  FrontFixture server;
  {
    std::vector<std::unique_ptr<Watcher>> watchers;
    for (int i = 0; i < 20; ++i) {
      watchers.push_back(std::make_unique<Watcher>(server.port()));
    }
    EXPECT_EQ(server.Sessions(), 20U);
  }
  EXPECT_TRUE(SessionsFallTo(server, 0));
  server.CreateConfigMap("nobody-sees-it");
}

TEST(FrontWatch, ManyWatchersSeeEveryEventOnceAndInOrder) {
  FrontFixture server;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (int i = 0; i < 50; ++i) {
    watchers.push_back(std::make_unique<Watcher>(server.port(), "&resourceVersion=0"));
  }
  for (int i = 0; i < 30; ++i) {
    server.CreateConfigMap("c" + std::to_string(i));
  }
  for (const std::unique_ptr<Watcher>& watch : watchers) {
    for (int i = 0; i < 30; ++i) {
      ASSERT_EQ(NameOf(watch->Next()), "c" + std::to_string(i));
    }
  }
}

// Nobody waits for a reader that does not read, and it gets everything once it does.
TEST(FrontWatch, ASlowReaderHoldsUpNobody) {
  FrontFixture server;
  Watcher slow(server.port(), "&resourceVersion=0");
  Watcher quick(server.port(), "&resourceVersion=0");
  const std::string data(200'000, 'x');  // together more than the sockets' buffers hold
  for (int i = 0; i < 60; ++i) {
    server.CreateConfigMap("c" + std::to_string(i), data);
    ASSERT_EQ(NameOf(quick.Next()), "c" + std::to_string(i));
  }
  for (int i = 0; i < 60; ++i) {
    ASSERT_EQ(NameOf(slow.Next()), "c" + std::to_string(i));
  }
}

// What became readable in one turn of the event loop goes out as one chunk.
TEST(FrontWatch, EventsOfOneTurnGoTogether) {
  FrontFixture server;
  TlsClient client(server.port());
  client.Send(RequestText("GET", std::string(kConfigMaps) + "?watch=true&resourceVersion=0"));
  client.ReadUntil("\r\n\r\n");
  server.Run([](Service& service) {
    for (int i = 0; i < 10; ++i) {
      const auto made =
          service.registry().Create(*FindResource("", "v1", "configmaps"), "default",
                                    Json{{"metadata", {{"name", "c" + std::to_string(i)}}}});
      ASSERT_TRUE(made.ok());
    }
  });
  const size_t size = std::strtoul(client.ReadUntil("\r\n").c_str(), nullptr, 16);
  const std::string chunk = client.ReadUntil("\r\n");
  EXPECT_EQ(chunk.size(), size + 2);
  EXPECT_EQ(std::count(chunk.begin(), chunk.end(), '\n'), 11);
}

TEST(FrontWatch, ForgottenHistoryIs410) {
  FrontFixture server;
  server.CreateConfigMap("one");
  TlsClient client(server.port());
  client.Send(RequestText("GET", kConfigMaps));
  const Json list = Json::parse(client.Read().body);
  const std::string version = list["metadata"]["resourceVersion"];
  server.CreateConfigMap("two");
  Watcher watch(server.port(), "&resourceVersion=" + version);
  EXPECT_EQ(NameOf(watch.Next()), "two");
  client.Send(RequestText("POST", "/kubesched/forget-history"));
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_TRUE(watch.Next().is_null());
  EXPECT_TRUE(watch.ended());
  Watcher again(server.port(), "&resourceVersion=" + version);
  const Json event = again.Next();
  EXPECT_EQ(event["type"], "ERROR");
  EXPECT_EQ(event["object"]["code"], 410);
}

}  // namespace
}  // namespace ks::apiserver
