// SPDX-License-Identifier: Apache-2.0
#include "apiserver/http/api_server.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "apiserver/controllers/claim_controller.h"
#include "apiserver/controllers/job_controller.h"
#include "apiserver/controllers/pod_group_controller.h"
#include "apiserver/controllers/volume_controller.h"
#include "apiserver/registry/snapshot.h"
#include "base/file_text.h"
#include "server/tls/x509.h"

namespace ks::apiserver {
namespace {

const UserInfo& Admin() {
  static const UserInfo user{.name = "kubernetes-admin", .groups = {"system:masters"}};
  return user;
}

const UserInfo& Scheduler() {
  static const UserInfo user{.name = "system:kube-scheduler", .groups = {}};
  return user;
}

int64_t UnixNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(RealClock().WallNow().time_since_epoch())
      .count();
}

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<void> MakeFolder(const std::string& dir) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) {
    return Error{"mkdir " + dir + ": " + error.message()};
  }
  return {};
}

// The folder's authority, or a new one that is written there.
Result<CertificateAuthority> LoadOrMakeAuthority(const std::string& dir) {
  const std::string cert_file = dir + "/ca.crt";
  const std::string key_file = dir + "/ca.key";
  if (!Exists(cert_file) && !Exists(key_file)) {
    Result<CertificateAuthority> made = MakeAuthority("kubesched-apiserver-ca", UnixNow());
    if (!made.ok()) {
      return made;
    }
    if (Result<void> written = WriteFileAtomically(key_file, made->key_pem, 0600); !written.ok()) {
      return written.error();
    }
    if (Result<void> written = WriteFileAtomically(cert_file, made->certificate_pem, 0600);
        !written.ok()) {
      return written.error();
    }
    return made;
  }
  const Result<std::string> cert = ReadFile(cert_file);
  const Result<std::string> key = ReadFile(key_file);
  if (!cert.ok() || !key.ok()) {
    return Error{(cert.ok() ? key : cert).error().message + "; remove both " + cert_file + " and " +
                 key_file + " to have new ones made"};
  }
  const server::Certificate certificate = server::ReadCertificate(*cert);
  const server::Key pair = server::ReadKey(*key);
  if (!certificate || !pair || X509_check_private_key(certificate.get(), pair.get()) != 1) {
    return Error{cert_file + " and " + key_file +
                 " are not a certificate and its key; remove both to have new ones made"};
  }
  return CertificateAuthority{.certificate_pem = *cert, .key_pem = *key};
}

Result<std::map<std::string, UserInfo>> LoadOrMakeTokens(const std::string& dir) {
  const std::string file = dir + "/tokens.csv";
  if (!Exists(file)) {
    const Result<std::string> admin = MakeToken();
    const Result<std::string> scheduler = MakeToken();
    if (!admin.ok() || !scheduler.ok()) {
      return (admin.ok() ? scheduler : admin).error();
    }
    const std::string text = *admin + "," + Admin().name + ",1,\"system:masters\"\n" + *scheduler +
                             "," + Scheduler().name + ",2\n";
    if (Result<void> written = WriteFileAtomically(file, text, 0600); !written.ok()) {
      return written.error();
    }
  }
  const Result<std::string> text = ReadFile(file);
  if (!text.ok()) {
    return text.error();
  }
  Result<std::map<std::string, UserInfo>> tokens = ParseTokens(*text);
  if (!tokens.ok()) {
    return Error{file + ": " + tokens.error().message};
  }
  return tokens;
}

Result<void> WriteKubeconfig(const std::string& path, const CertificateAuthority& authority,
                             const UserInfo& user, const std::string& url) {
  Result<server::ServingCertificate> pair = MakeClientCertificate(authority, user, UnixNow());
  if (!pair.ok()) {
    return pair.error();
  }
  return WriteFileAtomically(path,
                             KubeconfigText(user.name, {.server_url = url,
                                                        .ca_pem = authority.certificate_pem,
                                                        .certificate_pem = pair->chain_pem,
                                                        .key_pem = pair->key_pem}),
                             0600);
}

// Names of the server besides the usual ones.
std::vector<std::string> MoreNames(const std::string& bind_address) {
  if (bind_address.empty() || bind_address == "0.0.0.0" || bind_address == "::") {
    return {};
  }
  return {bind_address};
}

}  // namespace

Result<void> ApiServer::Prepare(const ApiServerOptions& options) {
  dir_ = options.dir;
  if (Result<void> made = MakeFolder(dir_); !made.ok()) {
    return made;
  }
  Result<CertificateAuthority> authority = LoadOrMakeAuthority(dir_);
  if (!authority.ok()) {
    return authority.error();
  }
  authority_ = std::move(authority).value();
  Result<std::map<std::string, UserInfo>> tokens = LoadOrMakeTokens(dir_);
  if (!tokens.ok()) {
    return tokens.error();
  }
  tokens_ = std::move(tokens).value();

  ServiceOptions service_options = options.service;
  service_options.seed = options.seed;
  service_ = std::make_unique<Service>(RealClock(), service_options);
  if (!options.policy_file.empty()) {
    Result<std::unique_ptr<Authorizer>> policy = LoadPolicy(options.policy_file);
    if (!policy.ok()) {
      return policy.error();
    }
    service_->SetAuthorizer(std::move(policy).value());
  }
  service_->SetTokenLookup([tokens = tokens_](std::string_view token) -> std::optional<UserInfo> {
    const auto found = tokens.find(std::string(token));
    return found == tokens.end() ? std::nullopt : std::optional(found->second);
  });
  return {};
}

Result<void> ApiServer::LoadDumps(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const Result<std::string> text = ReadFile(file);
    if (!text.ok()) {
      return text.error();
    }
    const Result<Loaded> loaded = LoadSnapshot(service_->registry(), *text);
    if (!loaded.ok()) {
      return Error{file + ": " + loaded.error().message};
    }
    if (!loaded->left_out.empty()) {
      left_out_ += file + ": " + loaded->left_out + "\n";
    }
  }
  return {};
}

// Where components learn whose client certificates to trust. One from a dump is of another cluster.
Result<void> ApiServer::PublishAuthority() {
  constexpr const char* kNamespace = "kube-system";
  constexpr const char* kName = "extension-apiserver-authentication";
  const KindInfo& kind = *FindKind("v1", "ConfigMap");
  const Json data{{"client-ca-file", authority_.certificate_pem}};
  Registry& registry = service_->registry();
  const Outcome<ObjectPtr> written =
      registry.Get(kind, kNamespace, kName).ok()
          ? registry.Modify(kind, kNamespace, kName, Part::kMain,
                            [&data](Json& object) -> std::optional<Failure> {
                              object["data"] = data;
                              return std::nullopt;
                            })
          : registry.Create(kind, kNamespace,
                            Json{{"metadata", {{"name", kName}}}, {"data", data}});
  if (written.ok()) {
    return {};
  }
  return Error{std::string("cannot publish the client CA in ConfigMap ") + kNamespace + "/" +
               kName + ": " + written.failure().message};
}

Result<void> ApiServer::Listen(const ApiServerOptions& options) {
  Result<server::ServingCertificate> certificate =
      MakeServerCertificate(authority_, MoreNames(options.bind_address), UnixNow());
  if (!certificate.ok()) {
    return certificate.error();
  }
  FrontOptions front = options.front;
  front.bind_address = options.bind_address;
  front.port = options.port;
  front.certificate = std::move(certificate).value();
  front.client_ca_pem = authority_.certificate_pem;
  front.tokens = tokens_;
  front.fault_seed = options.seed;
  Result<std::unique_ptr<HttpsFront>> listening = HttpsFront::Listen(std::move(front), *service_);
  if (!listening.ok()) {
    return listening.error();
  }
  front_ = std::move(listening).value();
  if (options.faults_file.empty()) {
    return {};
  }
  const Result<std::string> rules = ReadFile(options.faults_file);
  if (!rules.ok()) {
    return rules.error();
  }
  const Result<void> loaded = front_->faults().Load(*rules);
  return loaded.ok() ? loaded : Error{options.faults_file + ": " + loaded.error().message};
}

Result<std::unique_ptr<ApiServer>> ApiServer::Start(const ApiServerOptions& options) {
  std::unique_ptr<ApiServer> server(new ApiServer());
  if (Result<void> done = server->Prepare(options); !done.ok()) {
    return done.error();
  }
  if (Result<void> done = server->LoadDumps(options.load); !done.ok()) {
    return done.error();
  }
  if (Result<void> done = server->PublishAuthority(); !done.ok()) {
    return done.error();
  }
  if (options.agents) {
    server->service_->AddController(NewNodeAgents(*server->service_, options.agent_options));
  }
  if (options.volumes) {
    server->service_->AddController(NewVolumeController(*server->service_, {}));
  }
  server->service_->AddController(NewJobController(*server->service_));
  server->service_->AddController(NewPodGroupController(*server->service_));
  if (!options.devices.kinds.empty()) {
    server->service_->AddController(NewDeviceDrivers(*server->service_, options.devices));
  }
  if (options.claims || !options.devices.kinds.empty()) {
    server->service_->AddController(NewClaimController(*server->service_));
  }
  if (options.before_serving) {
    if (Result<void> done = options.before_serving(*server->service_); !done.ok()) {
      return done.error();
    }
  }
  if (Result<void> done = server->Listen(options); !done.ok()) {
    return done.error();
  }
  for (const auto& [path, user] : {std::pair{server->admin_kubeconfig(), &Admin()},
                                   std::pair{server->scheduler_kubeconfig(), &Scheduler()}}) {
    if (Result<void> done = WriteKubeconfig(path, server->authority_, *user, server->url());
        !done.ok()) {
      return done.error();
    }
  }
  server->front_->Serve();
  return server;
}

ApiServer::~ApiServer() { Stop(); }

std::string ApiServer::url() const { return front_->url(); }

std::string ApiServer::admin_kubeconfig() const { return dir_ + "/admin.kubeconfig"; }

std::string ApiServer::scheduler_kubeconfig() const { return dir_ + "/scheduler.kubeconfig"; }

void ApiServer::Stop() {
  if (front_) {
    front_->Stop();
  }
}

}  // namespace ks::apiserver
