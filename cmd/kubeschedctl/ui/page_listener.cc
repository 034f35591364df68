// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/ui/page_listener.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace ks::ctl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr size_t kMostHeaderBytes = 16 << 10;
constexpr size_t kMostBodyBytes = 1 << 20;
constexpr int kMostConnections = 64;
constexpr std::chrono::seconds kRequestTimeout{30};
constexpr std::chrono::seconds kWriteTimeout{30};
constexpr std::chrono::seconds kIdleTimeout{300};

// One connection from its first request to its close. Threads: the listener's.
class PageConnection : public std::enable_shared_from_this<PageConnection> {
 public:
  PageConnection(Tcp::socket socket, const PageHandler& handler, std::atomic<int>& open)
      : stream_(std::move(socket)), handler_(handler), open_(open) {
    ++open_;
  }
  ~PageConnection() { --open_; }
  PageConnection(const PageConnection&) = delete;
  PageConnection& operator=(const PageConnection&) = delete;

  void Read() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(kMostBodyBytes);
    stream_.expires_after(answered_ ? std::chrono::seconds(kIdleTimeout) : kRequestTimeout);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const ErrorCode& error, size_t) { self->OnRead(error); });
  }

 private:
  void OnRead(const ErrorCode& error) {
    if (error == http::error::body_limit) return Answer({.status = 413, .body = "too large\n"});
    if (error == http::error::header_limit) return Answer({.status = 431, .body = "too large\n"});
    if (error) return Close();
    http::request<http::string_body> message = parser_->release();
    keep_alive_ = message.keep_alive();
    head_ = message.method() == http::verb::head;
    const std::string target(message.target());
    const size_t question = std::min(target.find('?'), target.size());
    server::Request request{.method = std::string(message.method_string()),
                            .path = target.substr(0, question),
                            .query = target.substr(std::min(question + 1, target.size())),
                            .body = std::move(message.body())};
    for (const auto& field : message) {
      const auto name = field.name_string();
      const auto value = field.value();
      request.headers.Add({name.data(), name.size()}, {value.data(), value.size()});
    }
    stream_.expires_never();  // the answer takes what it takes
    // Copies of the reply share what keeps the connection; the first call takes it.
    auto kept = std::make_shared<std::shared_ptr<PageConnection>>(shared_from_this());
    handler_(request, [kept, executor = stream_.get_executor()](server::Response response) {
      auto self = std::exchange(*kept, nullptr);
      if (self == nullptr) return;
      asio::post(executor, [self = std::move(self), response = std::move(response)]() mutable {
        self->Answer(std::move(response));
      });
    });
  }

  void Answer(server::Response response) {
    answer_.emplace();
    answer_->result(static_cast<unsigned>(response.status));
    answer_->version(11);
    answer_->keep_alive(keep_alive_);
    if (!response.content_type.empty()) {
      answer_->set(http::field::content_type, response.content_type);
    }
    if (response.no_sniff) answer_->set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) answer_->insert(name, value);
    answer_->content_length(response.body.size());
    if (!head_) answer_->body() = std::move(response.body);
    stream_.expires_after(kWriteTimeout);
    serializer_.emplace(*answer_);
    http::async_write(
        stream_, *serializer_,
        [self = shared_from_this()](const ErrorCode& error, size_t) { self->OnWritten(error); });
  }

  void OnWritten(const ErrorCode& error) {
    if (error || !keep_alive_) return Close();
    answered_ = true;
    Read();
  }

  void Close() {
    ErrorCode ignored;
    stream_.socket().shutdown(Tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  beast::tcp_stream stream_;
  const PageHandler& handler_;
  std::atomic<int>& open_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  bool keep_alive_ = false;
  bool head_ = false;
  bool answered_ = false;
};

}  // namespace

struct PageListener::State {
  void Accept() {
    acceptor.async_accept([this](const ErrorCode& error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error && open < kMostConnections) {
        std::make_shared<PageConnection>(std::move(socket), handler, open)->Read();
      }
      Accept();
    });
  }

  PageHandler handler;
  std::atomic<int> open = 0;  // connections; outlives what counts in it, which ends with `io`
  asio::io_context io{1};
  Tcp::acceptor acceptor{io};
  std::thread thread;
};

PageListener::PageListener(std::unique_ptr<State> state) : state_(std::move(state)) {}

PageListener::~PageListener() { Stop(); }

Result<std::unique_ptr<PageListener>> PageListener::Bind(uint16_t port) {
  auto state = std::make_unique<State>();
  const Tcp::endpoint where(asio::ip::address_v4::loopback(), port);
  ErrorCode error;
  state->acceptor.open(where.protocol(), error);
  if (!error) state->acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
  if (!error) state->acceptor.bind(where, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{"cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + error.message()};
  }
  return std::unique_ptr<PageListener>(new PageListener(std::move(state)));
}

uint16_t PageListener::port() const { return state_->acceptor.local_endpoint().port(); }

void PageListener::Serve(PageHandler handler) {
  state_->handler = std::move(handler);
  state_->Accept();
  state_->thread = std::thread([this] { state_->io.run(); });
}

void PageListener::Stop() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace ks::ctl
