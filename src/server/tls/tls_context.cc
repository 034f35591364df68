// SPDX-License-Identifier: Apache-2.0
#include "server/tls/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "server/tls/x509.h"

namespace ks::server {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using ErrorCode = boost::system::error_code;

constexpr const char* kTls12Ciphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA";

// ALPN: http/1.1 when the client offers it, else no answer.
int SelectAlpn(SSL*, const unsigned char** out, unsigned char* out_length, const unsigned char* in,
               unsigned int in_length, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_length, kHttp11, sizeof(kHttp11) - 1, in, in_length) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// TLS versions before 1.2 need OpenSSL's lowest security level.
Result<void> ConfigureProtocol(SSL_CTX* native, const TlsSettings& settings) {
  std::string ciphers = settings.ciphers.empty() ? kTls12Ciphers : settings.ciphers;
  if (settings.min_version < TLS1_2_VERSION) {
    ciphers += ":@SECLEVEL=0";
  }
  if (SSL_CTX_set_min_proto_version(native, settings.min_version) != 1 ||
      SSL_CTX_set_cipher_list(native, ciphers.c_str()) != 1 ||
      (!settings.groups.empty() &&
       SSL_CTX_set1_groups_list(native, settings.groups.c_str()) != 1)) {
    return Error{"OpenSSL does not take the TLS settings: ciphers " + ciphers + ", groups " +
                 settings.groups};
  }
  return {};
}

// One pair, ready to be used by a connection.
struct Pair {
  Certificate leaf;
  Key key;
  std::vector<Certificate> chain;

  bool Use(SSL* connection) const {
    STACK_OF(X509)* rest = sk_X509_new_null();
    for (const Certificate& certificate : chain) {
      sk_X509_push(rest, certificate.get());
    }
    const bool used = SSL_use_cert_and_key(connection, leaf.get(), key.get(), rest, 1) == 1;
    sk_X509_free(rest);
    return used;
  }
};

// All certificates of a text.
std::vector<Certificate> Certificates(const std::string& pem) {
  std::vector<Certificate> all;
  BIO* text = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  for (Certificate next(PEM_read_bio_X509(text, nullptr, nullptr, nullptr)); next;
       next.reset(PEM_read_bio_X509(text, nullptr, nullptr, nullptr))) {
    all.push_back(std::move(next));
  }
  BIO_free(text);
  ERR_clear_error();
  return all;
}

Result<Pair> ReadPair(const ServingCertificate& certificate) {
  std::vector<Certificate> all = Certificates(certificate.chain_pem);
  Pair pair{.leaf = nullptr, .key = ReadKey(certificate.key_pem), .chain = {}};
  if (all.empty()) {
    return Error{"serving certificate: tls: failed to find any PEM data in certificate input"};
  }
  if (!pair.key) {
    return Error{"serving key: tls: failed to find any PEM data in key input"};
  }
  pair.leaf = std::move(all.front());
  all.erase(all.begin());
  pair.chain = std::move(all);
  if (X509_check_private_key(pair.leaf.get(), pair.key.get()) != 1) {
    ERR_clear_error();
    return Error{"tls: private key does not match public key"};
  }
  return pair;
}

std::string AddressText(const ASN1_OCTET_STRING* address) {
  const unsigned char* bytes = ASN1_STRING_get0_data(address);
  const int size = ASN1_STRING_length(address);
  if (size == 4) {
    const boost::asio::ip::address_v4::bytes_type all = {bytes[0], bytes[1], bytes[2], bytes[3]};
    return boost::asio::ip::address_v4(all).to_string();
  }
  boost::asio::ip::address_v6::bytes_type all{};
  if (size != static_cast<int>(all.size())) {
    return "";
  }
  std::copy(bytes, bytes + size, all.begin());
  return boost::asio::ip::make_address_v6(all).to_string();
}

// The names in a certificate: DNS names and addresses, or its common name without them.
std::vector<std::string> NamesIn(X509* certificate) {
  std::vector<std::string> names;
  auto* entries = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(entries); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(entries, i);
    if (entry->type == GEN_DNS) {
      names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(entry->d.dNSName)),
                         static_cast<size_t>(ASN1_STRING_length(entry->d.dNSName)));
    } else if (entry->type == GEN_IPADD) {
      names.push_back(AddressText(entry->d.iPAddress));
    }
  }
  GENERAL_NAMES_free(entries);
  if (names.empty()) {
    std::array<char, 256> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                              name.size());
    names.emplace_back(name.data());
  }
  return names;
}

// Which pair for which name.
class NameTable {
 public:
  Result<void> Add(const std::vector<NamedCertificate>& named) {
    for (const NamedCertificate& entry : named) {
      Result<Pair> pair = ReadPair(entry.certificate);
      if (!pair.ok()) {
        return pair.error();
      }
      pairs_.push_back(std::move(pair).value());
    }
    for (size_t i = 0; i < named.size(); ++i) {
      AddNames(named[i].names, i);
    }
    for (size_t i = 0; i < named.size(); ++i) {
      if (named[i].names.empty()) {
        AddNames(NamesIn(pairs_[i].leaf.get()), i);
      }
    }
    return {};
  }

  // Null: none of these.
  const Pair* Find(std::string_view asked) const {
    std::string name = LowerCase(asked);
    while (name.ends_with('.')) {
      name.pop_back();
    }
    if (const auto found = places_.find(name); found != places_.end()) {
      return &pairs_[found->second];
    }
    // One label after the other from the left gives way to a star.
    for (size_t label = 0; label < name.size();) {
      const size_t dot = std::min(name.find('.', label), name.size());
      name.replace(label, dot - label, "*");
      if (const auto found = places_.find(name); found != places_.end()) {
        return &pairs_[found->second];
      }
      label += 2;
    }
    return nullptr;
  }

 private:
  void AddNames(const std::vector<std::string>& names, size_t place) {
    for (const std::string& name : names) {
      places_.emplace(LowerCase(name), place);
    }
  }

  std::vector<Pair> pairs_;
  std::map<std::string, size_t> places_;
};

struct NamedContext {
  ssl::context tls{ssl::context::tls_server};
  NameTable names;
};

int LocalAddressIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

// Leaves the connection's own certificate where no name fits.
int SelectCertificate(SSL* connection, void* table) {
  const char* asked = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  const auto* local =
      static_cast<const std::string*>(SSL_get_ex_data(connection, LocalAddressIndex()));
  const std::string_view name = asked != nullptr   ? asked
                                : local != nullptr ? std::string_view(*local)
                                                   : std::string_view();
  const Pair* pair = static_cast<const NameTable*>(table)->Find(name);
  return pair == nullptr || pair->Use(connection) ? 1 : 0;
}

void AskForCertificates(SSL_CTX* native, const std::string& authorities_pem) {
  STACK_OF(X509_NAME)* names = sk_X509_NAME_new_null();
  for (const Certificate& authority : Certificates(authorities_pem)) {
    sk_X509_NAME_push(names, X509_NAME_dup(X509_get_subject_name(authority.get())));
  }
  SSL_CTX_set_client_CA_list(native, names);  // takes them
  SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
  // What a certificate is worth is judged with the request.
  SSL_CTX_set_cert_verify_callback(
      native, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
}

}  // namespace

Result<std::shared_ptr<ssl::context>> MakeTlsContext(const TlsSetup& setup) {
  auto made = std::make_shared<NamedContext>();
  if (Result<void> set = ConfigureTls(made->tls, setup.certificate, setup.settings); !set.ok()) {
    return set.error();
  }
  if (Result<void> added = made->names.Add(setup.named); !added.ok()) {
    return added.error();
  }
  SSL_CTX* native = made->tls.native_handle();
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(native, 0);
  if (!setup.named.empty()) {
    SSL_CTX_set_cert_cb(native, SelectCertificate, &made->names);
  }
  if (!setup.client_ca_pem.empty()) {
    AskForCertificates(native, setup.client_ca_pem);
  }
  return std::shared_ptr<ssl::context>(made, &made->tls);
}

void SetLocalAddress(ssl_st* connection, const std::string& address) {
  SSL_set_ex_data(connection, LocalAddressIndex(), const_cast<std::string*>(&address));
}

Result<void> ConfigureTls(ssl::context& tls, const ServingCertificate& certificate,
                          const TlsSettings& settings) {
  ErrorCode error;
  tls.use_certificate_chain(asio::buffer(certificate.chain_pem), error);
  if (error) {
    return Error{"serving certificate: " + error.message()};
  }
  tls.use_private_key(asio::buffer(certificate.key_pem), ssl::context::pem, error);
  if (error &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) != X509_R_KEY_VALUES_MISMATCH) {
    return Error{"serving key: " + error.message()};
  }
  SSL_CTX* native = tls.native_handle();
  if (error || SSL_CTX_check_private_key(native) != 1) {
    return Error{"tls: private key does not match public key"};
  }
  static constexpr unsigned char kSessionContext[] = "kubesched";
  if (Result<void> set = ConfigureProtocol(native, settings); !set.ok()) {
    return set.error();
  }
  SSL_CTX_set_session_id_context(native, kSessionContext, sizeof(kSessionContext) - 1);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(native, SelectAlpn, nullptr);
  return {};
}

}  // namespace ks::server
