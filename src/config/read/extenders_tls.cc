// SPDX-License-Identifier: Apache-2.0
#include "config/read/extenders_tls.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

namespace ks::config {
namespace {

constexpr std::string_view kCertificate = "CERTIFICATE";

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

struct Block {
  std::string type;
  std::string der;
};

std::vector<Block> Blocks(const std::string& pem) {
  const std::unique_ptr<BIO, Deleter> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Block> blocks;
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;  // NOLINT(google-runtime-int): OpenSSL's type
  while (PEM_read_bio(bio.get(), &name, &header, &data, &size) == 1) {
    blocks.push_back(
        {name, std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(size))});
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
  }
  ERR_clear_error();
  return blocks;
}

std::unique_ptr<X509, Deleter> ParseCertificate(const Block& block) {
  const auto* at = reinterpret_cast<const unsigned char*>(block.der.data());
  std::unique_ptr<X509, Deleter> certificate(
      d2i_X509(nullptr, &at, static_cast<long>(block.der.size())));  // NOLINT(google-runtime-int)
  ERR_clear_error();
  return certificate;
}

std::unique_ptr<EVP_PKEY, Deleter> ParseKey(const Block& block) {
  if (block.type == "ENCRYPTED PRIVATE KEY") return nullptr;
  const auto* at = reinterpret_cast<const unsigned char*>(block.der.data());
  std::unique_ptr<EVP_PKEY, Deleter> key(d2i_AutoPrivateKey(
      nullptr, &at, static_cast<long>(block.der.size())));  // NOLINT(google-runtime-int)
  ERR_clear_error();
  return key;
}

bool IsPrivateKey(const Block& block) {
  return block.type == "PRIVATE KEY" || block.type.ends_with(" PRIVATE KEY");
}

std::string Types(const std::vector<Block>& blocks) {
  std::vector<std::string_view> types;
  for (const Block& block : blocks) types.push_back(block.type);
  return fmt::format("[{}]", fmt::join(types, " "));
}

Error NoCertificate(const std::vector<Block>& blocks) {
  if (blocks.empty()) return Error{"tls: failed to find any PEM data in certificate input"};
  if (blocks.size() == 1 && blocks[0].type.ends_with("PRIVATE KEY")) {
    return Error{
        "tls: failed to find certificate PEM data in certificate input, but did find a private "
        "key; PEM inputs may have been switched"};
  }
  return Error{
      "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM "
      "blocks of the following types: " +
      Types(blocks)};
}

Error NoKey(const std::vector<Block>& blocks) {
  if (blocks.empty()) return Error{"tls: failed to find any PEM data in key input"};
  if (blocks.size() == 1 && blocks[0].type == kCertificate) {
    return Error{"tls: found a certificate rather than a key in the PEM for the private key"};
  }
  return Error{
      "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after "
      "skipping PEM blocks of the following types: " +
      Types(blocks)};
}

}  // namespace

Result<void> CheckAuthorities(const std::string& pem) {
  const std::vector<Block> blocks = Blocks(pem);
  bool damaged = false;
  for (const Block& block : blocks) {
    if (block.type != kCertificate) continue;
    if (ParseCertificate(block) != nullptr) return {};
    damaged = true;
  }
  const std::string what = "unable to load root certificates: ";
  if (blocks.empty()) return Error{what + "unable to parse bytes as PEM block"};
  if (damaged) return Error{what + "failed to parse certificate: x509: malformed certificate"};
  return Error{what + "no valid certificate authority data seen"};
}

Result<void> CheckKeyPair(const std::string& certificate_pem, const std::string& key_pem) {
  const std::vector<Block> blocks = Blocks(certificate_pem);
  const auto leaf = std::find_if(blocks.begin(), blocks.end(),
                                 [](const Block& block) { return block.type == kCertificate; });
  if (leaf == blocks.end()) return NoCertificate(blocks);
  const std::vector<Block> key_blocks = Blocks(key_pem);
  const auto key_block = std::find_if(key_blocks.begin(), key_blocks.end(), IsPrivateKey);
  if (key_block == key_blocks.end()) return NoKey(key_blocks);
  const auto certificate = ParseCertificate(*leaf);
  if (certificate == nullptr) return Error{"x509: malformed certificate"};
  const auto key = ParseKey(*key_block);
  if (key == nullptr) return Error{"tls: failed to parse private key"};
  const EVP_PKEY* public_key = X509_get0_pubkey(certificate.get());
  if (public_key == nullptr ||
      EVP_PKEY_get_base_id(public_key) != EVP_PKEY_get_base_id(key.get())) {
    ERR_clear_error();
    return Error{"tls: private key type does not match public key type"};
  }
  const bool match = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return match ? Result<void>() : Error{"tls: private key does not match public key"};
}

}  // namespace ks::config
