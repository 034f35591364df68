// SPDX-License-Identifier: Apache-2.0
// Texts of kube-scheduler for client certificates of extenders: docs/spec/config.md 6.
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

#include "config/read/defaults.h"
#include "config/read/extenders_tls.h"

namespace ks::config {
namespace {

struct Deleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

using Bio = std::unique_ptr<BIO, Deleter>;
using Key = std::unique_ptr<EVP_PKEY, Deleter>;

std::string Text(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string KeyPem(const Key& key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio);
}

// "BEGIN EC PRIVATE KEY", as older tools write it.
std::string TraditionalKeyPem(const Key& key) {
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey_traditional(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Text(bio);
}

std::string CertificatePem(const Key& key) {
  const std::unique_ptr<X509, Deleter> certificate(X509_new());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const Bio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate.get());
  return Text(bio);
}

std::string Pem(const std::string& type) {
  return "-----BEGIN " + type + "-----\nAAAA\n-----END " + type + "-----\n";
}

class KeyPairTest : public ::testing::Test {
 protected:
  static std::string ErrorOf(const std::string& certificate, const std::string& key) {
    const Result<void> checked = CheckKeyPair(certificate, key);
    return checked.ok() ? "" : checked.error().message;
  }

  const Key key_{EVP_EC_gen("P-256")};
  const std::string certificate_pem_ = CertificatePem(key_);
  const std::string key_pem_ = KeyPem(key_);
};

TEST_F(KeyPairTest, ThatBelongsTogether) {
  EXPECT_EQ(ErrorOf(certificate_pem_, key_pem_), "");
  EXPECT_EQ(ErrorOf(certificate_pem_, TraditionalKeyPem(key_)), "");
  const std::string both = key_pem_ + certificate_pem_;
  EXPECT_EQ(ErrorOf(both, both), "");
  EXPECT_EQ(ErrorOf("words\n" + certificate_pem_ + Pem("CERTIFICATE"), key_pem_), "");
}

TEST_F(KeyPairTest, ThatDoesNot) {
  EXPECT_EQ(ErrorOf(certificate_pem_, KeyPem(Key(EVP_EC_gen("P-256")))),
            "tls: private key does not match public key");
  EXPECT_EQ(ErrorOf(certificate_pem_, KeyPem(Key(EVP_RSA_gen(2048)))),
            "tls: private key type does not match public key type");
}

TEST_F(KeyPairTest, WithoutCertificate) {
  EXPECT_EQ(ErrorOf("", key_pem_), "tls: failed to find any PEM data in certificate input");
  EXPECT_EQ(ErrorOf(key_pem_, key_pem_),
            "tls: failed to find certificate PEM data in certificate input, but did find a "
            "private key; PEM inputs may have been switched");
  EXPECT_EQ(ErrorOf(Pem("FOO") + Pem("BAR"), key_pem_),
            "tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM "
            "blocks of the following types: [FOO BAR]");
  EXPECT_EQ(ErrorOf(Pem("CERTIFICATE"), key_pem_), "x509: malformed certificate");
}

TEST_F(KeyPairTest, WithoutKey) {
  EXPECT_EQ(ErrorOf(certificate_pem_, "junk"), "tls: failed to find any PEM data in key input");
  EXPECT_EQ(ErrorOf(certificate_pem_, certificate_pem_),
            "tls: found a certificate rather than a key in the PEM for the private key");
  EXPECT_EQ(ErrorOf(certificate_pem_, Pem("FOO")),
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after "
            "skipping PEM blocks of the following types: [FOO]");
  EXPECT_EQ(ErrorOf(certificate_pem_, Pem("PRIVATE KEY")), "tls: failed to parse private key");
  EXPECT_EQ(ErrorOf(certificate_pem_, Pem("ENCRYPTED PRIVATE KEY")),
            "tls: failed to parse private key");
}

// Only data are checked; the root certificates come first.
TEST_F(KeyPairTest, OfAnExtender) {
  Configuration configuration = DefaultConfiguration();
  ExtenderTls tls = {.cert_data = certificate_pem_, .key_data = "junk"};
  configuration.extenders = {{.tls_config = tls}};
  Result<void> applied = ApplyExtenders(&configuration);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message,
            "couldn't build extenders: tls: failed to find any PEM data in key input");
  tls.ca_data = "junk";
  configuration.extenders = {{.tls_config = tls}};
  applied = ApplyExtenders(&configuration);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(applied.error().message,
            "couldn't build extenders: unable to load root certificates: unable to parse bytes as "
            "PEM block");
  tls.ca_data = certificate_pem_;
  tls.key_data = key_pem_;
  configuration.extenders = {{.tls_config = tls}};
  EXPECT_TRUE(ApplyExtenders(&configuration).ok());
}

}  // namespace
}  // namespace ks::config
