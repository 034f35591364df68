// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace ks::server {
namespace {

namespace http = boost::beast::http;
using Progress = RequestReader::Progress;

constexpr size_t kHeaderLimit = 1000;

class RequestReaderTest : public ::testing::Test {
 protected:
  // As it comes off a socket: in pieces of at most what the reader has room for.
  void Receive(std::string_view bytes) {
    while (!bytes.empty()) {
      const boost::asio::mutable_buffer room = reader_.Prepare();
      const size_t size = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), size);
      reader_.Commit(size);
      bytes.remove_prefix(size);
    }
  }
  Progress Parse() {
    if (!reader_.begun()) reader_.Begin();
    error_ = {};
    return reader_.Parse(error_);
  }

  size_t buffered_bytes_ = 0;
  RequestReader reader_{kHeaderLimit, buffered_bytes_};
  RequestReader::ErrorCode error_;
};

TEST_F(RequestReaderTest, HeaderThenBodyThenTheNextOne) {
  Receive("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
  EXPECT_EQ(Parse(), Progress::kHeader);
  EXPECT_EQ(reader_.message().target(), "/a");
  EXPECT_FALSE(reader_.BodyIsHere());
  EXPECT_TRUE(reader_.LimitBody(3));
  EXPECT_EQ(Parse(), Progress::kMore);
  Receive("cGET /b HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(Parse(), Progress::kWhole);
  EXPECT_EQ(reader_.message().body(), "abc");
  reader_.Reset(true);
  EXPECT_GT(reader_.buffered(), 0U);
  EXPECT_EQ(Parse(), Progress::kHeader);
  EXPECT_EQ(reader_.message().target(), "/b");
  EXPECT_TRUE(reader_.whole()) << "it has no body";
  EXPECT_TRUE(reader_.LimitBody(0));
  EXPECT_EQ(Parse(), Progress::kWhole);
  EXPECT_EQ(reader_.buffered(), 0U);
}

TEST_F(RequestReaderTest, ByteForByte) {
  const std::string text =
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  int headers = 0;
  for (const char& byte : text) {
    Receive({&byte, 1});
    const Progress progress = Parse();
    if (progress == Progress::kHeader) {
      ++headers;
      EXPECT_TRUE(reader_.LimitBody(3));
    } else {
      EXPECT_EQ(progress, &byte == &text.back() ? Progress::kWhole : Progress::kMore);
    }
  }
  EXPECT_EQ(headers, 1);
  EXPECT_EQ(reader_.message().body(), "abc");
}

TEST_F(RequestReaderTest, NoChunkByteForByte) {
  const std::string text =
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (const char& byte : text) {
    Receive({&byte, 1});
    const Progress progress = Parse();
    ASSERT_NE(progress, Progress::kBroken) << error_.message();
    if (progress == Progress::kHeader) {
      EXPECT_TRUE(reader_.LimitBody(3));
    }
  }
  EXPECT_TRUE(reader_.whole());
}

TEST_F(RequestReaderTest, Limits) {
  Receive("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(kHeaderLimit, 'x'));
  EXPECT_TRUE(reader_.full());
  EXPECT_EQ(Parse(), Progress::kBroken);
  EXPECT_EQ(error_, http::error::header_limit);

  RequestReader announced(kHeaderLimit, buffered_bytes_);
  const std::string_view text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789";
  std::memcpy(announced.Prepare().data(), text.data(), text.size());
  announced.Commit(text.size());
  announced.Begin();
  error_ = {};
  EXPECT_EQ(announced.Parse(error_), Progress::kHeader);
  EXPECT_TRUE(announced.BodyIsHere());
  EXPECT_FALSE(announced.LimitBody(8));
}

TEST_F(RequestReaderTest, ChunksBeyondTheLimit) {
  Receive(
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(Parse(), Progress::kHeader);
  EXPECT_TRUE(reader_.LimitBody(4));
  EXPECT_EQ(Parse(), Progress::kBroken);
  EXPECT_EQ(error_, http::error::body_limit);
}

TEST(RequestReader, CountsWhatItHoldsWhileARequestIsRead) {
  size_t buffered_bytes = 0;
  {
    RequestReader reader(1 << 20, buffered_bytes);
    RequestReader other(1 << 20, buffered_bytes);
    reader.Prepare();
    EXPECT_EQ(buffered_bytes, 0U) << "nothing was asked yet";
    reader.Commit(0);
    reader.Begin();
    for (int i = 0; i < 8; ++i) {
      const boost::asio::mutable_buffer room = reader.Prepare();
      std::memset(room.data(), 'x', room.size());
      reader.Commit(room.size());
    }
    EXPECT_TRUE(reader.large());
    EXPECT_GE(buffered_bytes, size_t{128} << 10);
    other.Begin();
    other.Prepare();
    EXPECT_FALSE(other.large());
    EXPECT_GE(buffered_bytes, size_t{144} << 10);
  }
  EXPECT_EQ(buffered_bytes, 0U);
}

TEST(RequestReader, GivesBackALargeBufferBetweenRequests) {
  size_t buffered_bytes = 0;
  RequestReader reader(1 << 20, buffered_bytes);
  const std::string text = "GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  reader.Begin();
  for (size_t sent = 0; sent < text.size();) {
    const boost::asio::mutable_buffer room = reader.Prepare();
    const size_t size = std::min(room.size(), text.size() - sent);
    std::memcpy(room.data(), text.data() + sent, size);
    reader.Commit(size);
    sent += size;
  }
  RequestReader::ErrorCode error;
  EXPECT_EQ(reader.Parse(error), Progress::kHeader);
  EXPECT_TRUE(reader.LimitBody(0));
  EXPECT_EQ(reader.Parse(error), Progress::kWhole);
  reader.Reset(false);
  EXPECT_TRUE(reader.large()) << "a read is outstanding";
  reader.Reset(true);
  EXPECT_FALSE(reader.large());
  EXPECT_EQ(buffered_bytes, 0U);
}

}  // namespace
}  // namespace ks::server
