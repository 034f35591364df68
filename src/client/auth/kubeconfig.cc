// SPDX-License-Identifier: Apache-2.0
#include "client/auth/kubeconfig.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/file_text.h"
#include "base/logging.h"
#include "client/auth/kubeconfig_checks.h"
#include "client/auth/kubeconfig_instead.h"
#include "client/http/server_url.h"
#include "config/text/yaml_resolve.h"
#include "golang/quote.h"

namespace ks::client {
namespace {

// Where a text of the document stands, for error texts.
struct Place {
  std::string file;
  std::string path;  // "clusters[0].cluster"

  Error Bad(const YAML::Node& node, const std::string& cause) const {
    std::string text = "error loading config file \"" + file + "\": ";
    if (const YAML::Mark mark = node.Mark(); !mark.is_null()) {
      text += "line " + std::to_string(mark.line + 1) + ": ";
    }
    if (!path.empty()) text += path + ": ";
    return Error{text + cause};
  }
  Place At(const std::string& key) const { return {file, path.empty() ? key : path + "." + key}; }
  Place At(size_t index) const { return {file, path + "[" + std::to_string(index) + "]"}; }
};

// One named entry as it stands in its file.
struct Entry {
  YAML::Node node;
  Place place;
};
using Entries = std::map<std::string, Entry>;

// What several files add up to.
struct Merged {
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

// A scalar as upstream's reader takes it; anything else: a null.
config::YamlScalar Resolved(const YAML::Node& node) {
  if (!node.IsScalar()) return {.kind = config::YamlScalar::Kind::kNull, .text = ""};
  const std::string& tag = node.Tag();
  if (tag == "!") return {.kind = config::YamlScalar::Kind::kString, .text = node.Scalar()};
  const auto scalar = config::ResolveScalar(tag == "?" ? "" : tag, node.Scalar());
  if (scalar.ok()) return *scalar;
  return {.kind = config::YamlScalar::Kind::kString, .text = node.Scalar()};
}

// Null for a text (or nothing), else what it is instead.
const char* OtherThanText(const YAML::Node& node) {
  if (!node.IsDefined() || node.IsNull()) return nullptr;
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  switch (Resolved(node).kind) {
    case config::YamlScalar::Kind::kBool:
      return "true or false: put it in quotes";
    case config::YamlScalar::Kind::kInteger:
    case config::YamlScalar::Kind::kFloat:
      return "a number: put it in quotes";
    default:
      return nullptr;
  }
}

// Reads the fields of one mapping; the first error sticks.
class Fields {
 public:
  Fields(const YAML::Node& node, Place place) : node_(node), place_(std::move(place)) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) {
      Fail(place_.Bad(node_, "expected a mapping"));
    }
  }

  std::string Text(const char* key) {
    const YAML::Node value = Child(key);
    if (!value.IsDefined() || value.IsNull()) return {};
    if (const char* other = OtherThanText(value)) {
      Fail(place_.At(key).Bad(value, std::string("expected a string, not ") + other));
      return {};
    }
    return value.IsNull() ? std::string() : value.Scalar();
  }

  bool Flag(const char* key) {
    const YAML::Node value = Child(key);
    if (!value.IsDefined() || value.IsNull()) return false;
    const auto scalar = Resolved(value);
    if (scalar.kind == config::YamlScalar::Kind::kBool) return scalar.boolean;
    Fail(place_.At(key).Bad(value, "expected true or false"));
    return false;
  }

  // base64; "" when absent.
  std::string Data(const char* key) {
    std::string text = Text(key);
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' '; });
    if (text.empty()) return {};
    std::string out(text.size() / 4 * 3 + 3, '\0');
    const int size = text.size() % 4 != 0
                         ? -1
                         : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                           reinterpret_cast<const unsigned char*>(text.data()),
                                           static_cast<int>(text.size()));
    if (size < 0) {
      Fail(place_.At(key).Bad(Child(key), "illegal base64 data"));
      return {};
    }
    out.resize(static_cast<size_t>(size));
    for (size_t i = text.size(); i > 0 && text[i - 1] == '='; --i) out.pop_back();
    return out;
  }

  // A file, relative to the folder of the kubeconfig.
  std::string Path(const char* key) {
    std::string path = Text(key);
    if (path.empty() || path.starts_with('/')) return path;
    const size_t slash = place_.file.rfind('/');
    return slash == std::string::npos ? path : place_.file.substr(0, slash + 1) + path;
  }

  std::vector<std::string> List(const char* key) {
    std::vector<std::string> values;
    const YAML::Node list = Sequence(key);
    for (const YAML::Node& value : list) {
      if (const char* other = OtherThanText(value)) {
        Fail(place_.At(key).Bad(value, std::string("expected a list of strings, not of ") + other));
        return {};
      }
      values.push_back(value.IsNull() ? std::string() : value.Scalar());
    }
    return values;
  }

  YAML::Node Sequence(const char* key) {
    const YAML::Node list = Child(key);
    if (!list.IsDefined() || list.IsNull()) return YAML::Node(YAML::NodeType::Sequence);
    if (list.IsSequence()) return list;
    Fail(place_.At(key).Bad(list, "expected a list"));
    return YAML::Node(YAML::NodeType::Sequence);
  }

  bool Has(const char* key) const {
    const YAML::Node value = Child(key);
    return value.IsDefined() && !value.IsNull();
  }
  // The value of a key; the last one counts if the key is there twice, as upstream.
  YAML::Node Child(const char* key) const {
    YAML::Node found(YAML::NodeType::Undefined);
    if (!node_.IsDefined() || !node_.IsMap()) return found;
    YAML::Node merged(YAML::NodeType::Null);
    for (const auto& pair : node_) {
      if (!pair.first.IsScalar()) continue;
      if (pair.first.Scalar() == key) found.reset(pair.second);
      if (pair.first.Scalar() == "<<") merged.reset(pair.second);
    }
    if (!found.IsDefined() && merged.IsMap()) return Fields(merged, place_).Child(key);
    return found;
  }
  Place At(const char* key) const { return place_.At(key); }
  Error Bad(const std::string& cause) const { return place_.Bad(node_, cause); }

  void Fail(Error error) {
    if (!error_.has_value()) error_ = std::move(error);
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const YAML::Node node_;
  const Place place_;
  std::optional<Error> error_;
};

Result<std::string> ReadText(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return Error{"stat " + path + ": " + SystemErrorText(errno)};
  }
  return ReadFile(path);
}

// The types of the fields only: what they mean together is looked at in those that are used.
Result<void> ReadCluster(const Entry& entry, ClusterAccess* access) {
  Fields cluster(entry.node, entry.place);
  access->server = cluster.Text("server");
  access->tls_server_name = cluster.Text("tls-server-name");
  access->insecure_skip_tls_verify = cluster.Flag("insecure-skip-tls-verify");
  access->ca_file = cluster.Path("certificate-authority");
  access->ca_data = cluster.Data("certificate-authority-data");
  access->proxy_url = cluster.Text("proxy-url");
  (void)cluster.Flag("disable-compression");
  if (cluster.error().has_value()) return *cluster.error();
  return {};
}

Result<ExecPlugin> ReadExec(const YAML::Node& node, const Place& place) {
  Fields exec(node, place);
  ExecPlugin plugin;
  plugin.api_version = exec.Text("apiVersion");
  plugin.command = exec.Text("command");
  plugin.args = exec.List("args");
  plugin.install_hint = exec.Text("installHint");
  plugin.interactive_mode = exec.Text("interactiveMode");
  plugin.provide_cluster_info = exec.Flag("provideClusterInfo");
  size_t index = 0;
  for (const YAML::Node& item : exec.Sequence("env")) {
    Fields variable(item, place.At("env").At(index++));
    plugin.env.emplace_back(variable.Text("name"), variable.Text("value"));
    if (variable.error().has_value()) exec.Fail(*variable.error());
  }
  // A path, not a name to be looked up: relative to the kubeconfig's folder.
  if (plugin.command.find('/') != std::string::npos) plugin.command = exec.Path("command");
  if (exec.error().has_value()) return *exec.error();
  return plugin;
}

void ReadImpersonation(Fields& user, const Place& place, ClusterAccess* access) {
  auto add = [access](const std::string& header, const std::string& value) {
    if (!value.empty()) access->impersonation.emplace_back(header, value);
  };
  add("Impersonate-User", user.Text("as"));
  add("Impersonate-Uid", user.Text("as-uid"));
  for (const std::string& group : user.List("as-groups")) add("Impersonate-Group", group);
  const YAML::Node extra = user.Child("as-user-extra");
  if (!extra.IsDefined() || extra.IsNull()) return;
  Fields values(extra, place.At("as-user-extra"));
  if (extra.IsMap()) {
    for (const auto& pair : extra) {
      const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : std::string();
      for (const std::string& value : values.List(key.c_str())) {
        add("Impersonate-Extra-" + key, value);
      }
    }
  }
  if (values.error().has_value()) user.Fail(*values.error());
}

// The types of the fields only, as ReadCluster. The plugin is there even if it is not to be used.
Result<void> ReadUser(const Entry& entry, ClusterAccess* access) {
  Fields user(entry.node, entry.place);
  access->client_cert_file = user.Path("client-certificate");
  access->client_cert_data = user.Data("client-certificate-data");
  access->client_key_file = user.Path("client-key");
  access->client_key_data = user.Data("client-key-data");
  access->token = user.Text("token");
  access->token_file = user.Path("tokenFile");
  access->username = user.Text("username");
  access->password = user.Text("password");
  ReadImpersonation(user, entry.place, access);
  if (user.Has("exec")) {
    Result<ExecPlugin> exec = ReadExec(user.Child("exec"), entry.place.At("exec"));
    if (!exec.ok()) return exec.error();
    access->exec = std::move(*exec);
  }
  if (user.error().has_value()) return *user.error();
  return {};
}

// What the names of the chosen context stand for.
struct Context {
  std::string cluster;
  std::string user;
  std::string ns;
};

Result<Context> ReadContext(const Entry& entry) {
  Fields context(entry.node, entry.place);
  Context read{.cluster = context.Text("cluster"),
               .user = context.Text("user"),
               .ns = context.Text("namespace")};
  if (context.error().has_value()) return *context.error();
  return read;
}

// Adds the list `key` of a file: entries with a new name. Each is read, so that a wrong type is
// found in those as well that are not used. `read`: reads the body of one.
template <class Read>
Result<void> MergeEntries(Fields& file, const char* key, const char* body, Entries* into,
                          Read read) {
  Entries own;
  size_t index = 0;
  for (const YAML::Node& item : file.Sequence(key)) {
    const Place place = file.At(key).At(index++);
    Fields entry(item, place);
    const std::string name = entry.Text("name");
    if (entry.error().has_value()) return *entry.error();
    if (!own.emplace(name, Entry{entry.Child(body), place.At(body)}).second) {
      return place.Bad(item, "duplicate name " + golang::Quote(name) + " in list " + key);
    }
    Result<void> done = read(own.at(name));
    if (!done.ok()) return done;
  }
  into->merge(own);
  return {};
}

Result<void> MergeFile(const std::string& path, Merged* merged) {
  const Result<std::string> text = ReadText(path);
  if (!text.ok()) return text.error();
  const Place place{path, ""};
  YAML::Node document;  // the first of the file; upstream reads no further
  try {
    document = YAML::Load(*text);
  } catch (const YAML::Exception& e) {
    // It may end with the character that it did not expect.
    const bool one_line = e.msg.find('\n') == std::string::npos;
    return Error{"error loading config file \"" + path + "\": line " +
                 std::to_string(e.mark.line + 1) + ": " +
                 (one_line ? e.msg : golang::Quote(e.msg))};
  }
  Fields file(document, place);
  const std::string version = file.Text("apiVersion");
  const std::string kind = file.Text("kind");
  if (!version.empty() && version != "v1") {
    return file.Bad("apiVersion must be v1, not " + golang::Quote(version));
  }
  if (!kind.empty() && kind != "Config") {
    return file.Bad("kind must be Config, not " + golang::Quote(kind));
  }
  if (merged->current_context.empty()) merged->current_context = file.Text("current-context");
  Result<void> done =
      MergeEntries(file, "clusters", "cluster", &merged->clusters, [](const Entry& entry) {
        ClusterAccess unused;
        return ReadCluster(entry, &unused);
      });
  if (!done.ok()) return done;
  done = MergeEntries(file, "users", "user", &merged->users, [](const Entry& entry) {
    ClusterAccess unused;
    return ReadUser(entry, &unused);
  });
  if (!done.ok()) return done;
  done = MergeEntries(file, "contexts", "context", &merged->contexts, [](const Entry& entry) {
    const Result<Context> context = ReadContext(entry);
    return context.ok() ? Result<void>() : context.error();
  });
  if (!done.ok()) return done;
  if (file.error().has_value()) return *file.error();
  return {};
}

// What upstream refuses only once it makes a client.
Result<void> CheckLogin(const Entry& entry, const ClusterAccess& access) {
  const Fields user(entry.node, entry.place);
  if (user.Has("auth-provider")) {
    return user.Bad("auth-provider is not supported: use exec, a token or a client certificate");
  }
  const bool has_basic = !access.username.empty() || !access.password.empty();
  if (has_basic && !(access.token.empty() && access.token_file.empty())) {
    return Error{"username/password or bearer token may be set, but not both"};
  }
  if (!access.exec.has_value()) return {};
  const Fields exec(user.Child("exec"), entry.place.At("exec"));
  constexpr std::string_view kGroup = "client.authentication.k8s.io/";
  const std::string& version = access.exec->api_version;
  if (version != std::string(kGroup) + "v1" && version != std::string(kGroup) + "v1beta1") {
    return exec.Bad(
        "exec plugin: invalid apiVersion " + golang::Quote(version) +
        ": must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  }
  return {};
}

// The plugin counts last among the logins that a user has; a key without certificate is none.
void DropUnusedLogins(ClusterAccess* access) {
  const bool has_cert = !access->client_cert_file.empty() || !access->client_cert_data.empty();
  const bool has_token = !access->token.empty() || !access->token_file.empty();
  if (!has_cert) {
    access->client_key_file.clear();
    access->client_key_data.clear();
  }
  if (has_cert || has_token || !access->username.empty()) access->exec.reset();
}

void DropCredentials(ClusterAccess* access) {
  ClusterAccess bare;
  bare.server = access->server;
  bare.tls_server_name = access->tls_server_name;
  bare.insecure_skip_tls_verify = access->insecure_skip_tls_verify;
  bare.ca_file = access->ca_file;
  bare.ca_data = access->ca_data;
  bare.proxy_url = access->proxy_url;
  bare.context_namespace = access->context_namespace;
  *access = std::move(bare);
}

constexpr const char* kNoConfiguration =
    "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

// Cluster and user of the chosen context; `faults`: all that upstream finds wrong with them.
Result<ClusterAccess> ReadChosen(const Merged& merged, const Context& context,
                                 const KubeconfigOptions& options,
                                 std::vector<std::string>* faults) {
  ClusterAccess access;
  const auto cluster = merged.clusters.find(context.cluster);
  const auto user = merged.users.find(context.user);
  if (cluster != merged.clusters.end()) {
    const Result<void> read = ReadCluster(cluster->second, &access);
    if (!read.ok()) return read.error();
  }
  if (!options.master.empty()) access.server = options.master;
  ReplaceCluster(options.instead, &access);
  if (user == merged.users.end()) {
    ReplaceUser(options.instead, &access);
  } else {
    const Result<void> read = ReadUser(user->second, &access);
    if (!read.ok()) return read.error();
    ReplaceUser(options.instead, &access);
    const bool provider = Fields(user->second.node, user->second.place).Has("auth-provider");
    *faults = UserFaults(context.user, access, provider);
  }
  if (cluster != merged.clusters.end()) {
    const std::vector<std::string> more = ClusterFaults(context.cluster, access);
    faults->insert(faults->end(), more.begin(), more.end());
  }
  if (faults->empty() && user != merged.users.end()) {
    const Result<void> checked = CheckLogin(user->second, access);
    if (!checked.ok()) return checked.error();
  }
  return access;
}

// The entries that the options name, in place of the context's.
Result<void> ReplaceNames(const Merged& merged, const KubeconfigOptions& options,
                          Context* context) {
  if (!options.cluster.empty() && !merged.clusters.contains(options.cluster)) {
    return Error{"cluster " + golang::Quote(options.cluster) + " does not exist"};
  }
  if (!options.user.empty() && !merged.users.contains(options.user)) {
    return Error{"auth info " + golang::Quote(options.user) + " does not exist"};
  }
  if (!options.cluster.empty()) context->cluster = options.cluster;
  if (!options.user.empty()) context->user = options.user;
  return {};
}

Result<ClusterAccess> Choose(const Merged& merged, const KubeconfigOptions& options) {
  Context context;
  std::vector<std::string> faults;
  const std::string& name = options.context.empty() ? merged.current_context : options.context;
  if (!name.empty()) {
    const auto found = merged.contexts.find(name);
    if (found == merged.contexts.end()) {
      faults.push_back("context was not found for specified context: " + name);
      if (options.master.empty()) faults.emplace_back("cluster has no server defined");
      return InvalidConfiguration(faults);
    }
    Result<Context> read = ReadContext(found->second);
    if (!read.ok()) return read.error();
    context = std::move(*read);
  }
  if (Result<void> named = ReplaceNames(merged, options, &context); !named.ok()) {
    return named.error();
  }
  Result<ClusterAccess> access = ReadChosen(merged, context, options, &faults);
  if (!access.ok()) return access;
  access->context_namespace = context.ns;
  if (!faults.empty()) return InvalidConfiguration(faults);
  if (access->server.empty()) return InvalidConfiguration({kNoConfiguration});
  const Result<ServerUrl> url = ParseServerUrl(access->server);
  if (!url.ok()) return url.error();
  DropUnusedLogins(&access.value());
  if (!url->tls) DropCredentials(&access.value());
  if (url->tls && access->insecure_skip_tls_verify &&
      !(access->ca_file.empty() && access->ca_data.empty())) {
    return Error{"specifying a root certificates file with the insecure flag is not allowed"};
  }
  return access;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

Result<ClusterAccess> LoadKubeconfig(const std::string& path, const KubeconfigOptions& options) {
  Merged merged;
  const Result<void> read = MergeFile(path, &merged);
  if (!read.ok()) return read.error();
  return Choose(merged, options);
}

Result<ClusterAccess> LoadKubeconfigList(std::string_view paths, const KubeconfigOptions& options) {
  Merged merged;
  while (!paths.empty()) {
    const size_t colon = paths.find(':');
    const std::string path(paths.substr(0, colon));
    paths = colon == paths.npos ? std::string_view() : paths.substr(colon + 1);
    struct stat info {};
    if (path.empty() || (stat(path.c_str(), &info) != 0 && errno == ENOENT)) continue;
    const Result<void> read = MergeFile(path, &merged);
    if (!read.ok()) return read.error();
  }
  return Choose(merged, options);
}

InClusterSource InClusterFromEnvironment() {
  InClusterSource source;
  source.host = Variable("KUBERNETES_SERVICE_HOST");
  source.port = Variable("KUBERNETES_SERVICE_PORT");
  return source;
}

Result<ClusterAccess> LoadInCluster(const InClusterSource& source) {
  if (source.host.empty() || source.port.empty()) {
    return Error{
        "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
        "KUBERNETES_SERVICE_PORT must be "
        "defined"};
  }
  const Result<std::string> token = ReadText(source.token_file);
  if (!token.ok()) return token.error();
  ClusterAccess access;
  const bool bare_ipv6 =
      source.host.find(':') != std::string::npos && !source.host.starts_with('[');
  access.server =
      "https://" + (bare_ipv6 ? "[" + source.host + "]" : source.host) + ":" + source.port;
  access.token_file = source.token_file;
  const Result<std::string> ca = ReadText(source.ca_file);
  if (ca.ok()) {
    access.ca_file = source.ca_file;
  } else {
    log::Error(ca.error().message, "Expected to load root CA config, using the system's roots",
               {{"path", source.ca_file}});
  }
  const Result<ServerUrl> url = ParseServerUrl(access.server);
  if (!url.ok()) return url.error();
  return access;
}

Result<ClusterAccess> LoadClientConfig(const std::string& kubeconfig, const std::string& master,
                                       const InClusterSource& in_cluster) {
  if (!kubeconfig.empty()) return LoadKubeconfig(kubeconfig, {.master = master});
  if (!master.empty()) return Choose(Merged(), {.master = master});
  Result<ClusterAccess> access = LoadInCluster(in_cluster);
  if (access.ok()) return access;
  log::Info(1, "No in-cluster configuration", {{"cause", access.error().message}});
  return InvalidConfiguration({kNoConfiguration});
}

}  // namespace ks::client
