// SPDX-License-Identifier: Apache-2.0
#include "kubeschedctl/cluster/daemon_access.h"

#include <cstdlib>
#include <utility>

#include "api/decode/decoder.h"
#include "client/auth/kubeconfig.h"

namespace ks::ctl {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// As kubectl finds it.
std::string KubeconfigList(const DaemonOptions& options) {
  if (!options.kubeconfig.empty()) return options.kubeconfig;
  if (std::string list = Variable("KUBECONFIG"); !list.empty()) return list;
  const std::string home = Variable("HOME");
  return home.empty() ? "" : home + "/.kube/config";
}

// The daemon has a certificate of its own: what the kubeconfig says of the API server's is of no
// use for it.
Result<client::ClusterAccess> StraightAccess(const DaemonOptions& options) {
  client::ClusterAccess access;
  const bool has_scheme = options.server.find("://") != std::string::npos;
  client::KubeconfigOptions api = options.api;
  api.master = has_scheme ? options.server : "https://" + options.server;
  auto loaded = client::LoadKubeconfigList(KubeconfigList(options), api);
  if (loaded.ok()) {
    access = std::move(loaded).value();
  } else if (!options.kubeconfig.empty() || !options.api.context.empty()) {
    return loaded.error();
  }
  access.server = api.master;
  access.proxy_url.clear();
  access.tls_server_name.clear();
  access.ca_data.clear();
  access.ca_file = options.certificate_authority;
  access.insecure_skip_tls_verify = options.insecure_skip_tls_verify;
  return access;
}

}  // namespace

std::string PodOfIdentity(std::string_view identity) {
  return std::string(identity.substr(0, identity.rfind('_')));
}

std::string ProxyPath(const DaemonOptions& options, std::string_view pod) {
  return "/api/v1/namespaces/" + client::EscapeUrl(options.ns) +
         "/pods/https:" + client::EscapeUrl(pod) + ":" + std::to_string(options.port) + "/proxy";
}

Result<std::unique_ptr<DaemonAccess>> DaemonAccess::Open(const DaemonOptions& options) {
  std::unique_ptr<DaemonAccess> opened(new DaemonAccess());
  const bool straight = !options.server.empty();
  auto access = straight ? StraightAccess(options)
                         : client::LoadKubeconfigList(KubeconfigList(options), options.api);
  if (!access.ok()) return access.error();
  opened->timeout_ = options.timeout;
  if (!access->context_namespace.empty()) opened->default_namespace_ = access->context_namespace;
  auto connection = client::Connection::Make(*access);
  if (!connection.ok()) return connection.error();
  opened->connection_ = std::move(connection).value();
  client::RestOptions rest;
  rest.qps = -1;
  rest.user_agent = client::UserAgent("kubeschedctl", "operator");
  opened->client_ = opened->connection_->NewRestClient(std::move(rest));
  opened->name_ = opened->connection_->server();
  if (straight) return opened;
  if (Result<void> found = opened->FindPod(options); !found.ok()) return found.error();
  return opened;
}

Result<void> DaemonAccess::FindPod(const DaemonOptions& options) {
  std::string pod = options.pod;
  if (pod.empty()) {
    const std::string target = "/apis/coordination.k8s.io/v1/namespaces/" +
                               client::EscapeUrl(options.ns) + "/leases/" +
                               client::EscapeUrl(options.lease);
    const client::RestReply reply = client_->Get(target, timeout_);
    const std::string lease = options.ns + "/" + options.lease;
    if (!reply.ok()) {
      return Error{"lease " + lease + ": " + reply.error->message +
                   " (it names the leader; --scheduler-pod or --scheduler-url do without)"};
    }
    api::Decoder decoder;
    const auto decoded = decoder.Object<api::Lease>(reply.body);
    if (!decoded.ok()) return Error{"lease " + lease + ": " + decoded.error().message};
    if (*decoded == nullptr || (*decoded)->holder_identity.empty()) {
      return Error{"lease " + lease +
                   ": nobody holds it; name a pod with --scheduler-pod to ask a standby"};
    }
    pod = PodOfIdentity((*decoded)->holder_identity);
  }
  name_ = "pod " + options.ns + "/" + pod;
  prefix_ = ProxyPath(options, pod);
  return {};
}

Result<std::string> DaemonAccess::Get(const std::string& target) {
  client::RestReply reply = client_->Get(prefix_ + target, timeout_);
  if (!reply.ok()) return Error{name_ + ": " + reply.error->message};
  return std::move(reply.body);
}

Result<std::string> DaemonAccess::Post(const std::string& target, std::string body) {
  client::RestRequest request;
  request.method = "POST";
  request.target = prefix_ + target;
  request.body = std::move(body);
  request.content_type = "application/octet-stream";  // JSON or YAML
  request.timeout = timeout_;
  client::RestReply reply = client_->SendAndWait(std::move(request));
  if (!reply.ok()) return Error{name_ + ": " + reply.error->message};
  return std::move(reply.body);
}

}  // namespace ks::ctl
