// SPDX-License-Identifier: Apache-2.0
#include "kubesched/flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ks {
namespace {

struct RefusedCase {
  std::string name;
  std::vector<std::string> arguments;
  std::vector<std::string> want_in_error;
};

class RefusedFlags : public ::testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedFlags, NameTheFlagAndLeaveWithOne) {
  const RefusedCase& c = GetParam();
  const ParsedFlags parsed = ParseFlags(c.arguments);
  EXPECT_FALSE(parsed.run);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_TRUE(parsed.standard_output.empty());
  for (const std::string& text : c.want_in_error) {
    EXPECT_NE(parsed.standard_error.find(text), std::string::npos) << parsed.standard_error;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedFlags,
    ::testing::Values(
        RefusedCase{"unknown", {"--kubekonfig=x"}, {"unknown flag: --kubekonfig", "kubeconfig"}},
        RefusedCase{"not_yet", {"--feature-gates=X=true"}, {"--feature-gates"}},
        RefusedCase{"leader_election", {"--leader-elect=true"}, {"leader-elect"}},
        RefusedCase{"port_text", {"--secure-port=https"}, {"--secure-port", "https"}},
        RefusedCase{"port_range", {"--secure-port=70000"}, {"secure-port", "70000"}},
        RefusedCase{"bind_address", {"--bind-address=somewhere"}, {"bind-address", "somewhere"}},
        RefusedCase{"verbosity", {"--v=loud"}, {"loud"}},
        RefusedCase{"all_at_once",
                    {"--secure-port=70000", "--leader-elect=true"},
                    {"secure-port", "leader-elect"}}),
    [](const auto& row) { return row.param.name; });

TEST(Flags, Defaults) {
  const ParsedFlags parsed = ParseFlags({});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  EXPECT_EQ(parsed.options.secure_port, 10259);
  EXPECT_EQ(parsed.options.bind_address, "0.0.0.0");
  EXPECT_EQ(parsed.options.verbosity, 0);
}

TEST(Flags, AreRead) {
  const ParsedFlags parsed =
      ParseFlags({"--kubeconfig", "/etc/k", "--master=https://h:6443", "--config=/etc/c", "-v=4",
                  "--secure-port=0", "--leader-elect=false"});
  ASSERT_TRUE(parsed.run) << parsed.standard_error;
  EXPECT_EQ(parsed.options.kubeconfig, "/etc/k");
  EXPECT_EQ(parsed.options.master, "https://h:6443");
  EXPECT_EQ(parsed.options.config_file, "/etc/c");
  EXPECT_EQ(parsed.options.verbosity, 4);
  EXPECT_EQ(parsed.options.secure_port, 0);
  EXPECT_TRUE(parsed.options.leader_elect_given);
}

TEST(Flags, HelpAndVersionPrintAndLeaveWithZero) {
  for (const char* flag : {"--help", "-h", "--version"}) {
    const ParsedFlags parsed = ParseFlags({flag});
    EXPECT_FALSE(parsed.run);
    EXPECT_EQ(parsed.exit_code, 0);
    EXPECT_FALSE(parsed.standard_output.empty()) << flag;
  }
  EXPECT_EQ(ParseFlags({"--version"}).standard_output, "kubesched " KS_VERSION "\n");
}

TEST(Flags, AMissingConfigurationFileIsNamed) {
  Options options;
  options.config_file = "/no/such/file.yaml";
  const auto loaded = LoadEffectiveConfiguration(options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("/no/such/file.yaml"), std::string::npos);
}

}  // namespace
}  // namespace ks
