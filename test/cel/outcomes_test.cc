// SPDX-License-Identifier: Apache-2.0
// Corner cases with the outcomes that the reference gave (docs/testing.md), so that they are known
// without it and under sanitizers, too.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "cel/compare/literals.h"
#include "cel/compare/outcome.h"
#include "cel/compare/subject.h"

namespace ks::cel::compare {
namespace {

TEST(Outcomes, AreTheReferences) {
  std::ifstream file(KS_CEL_DATA "/outcomes.txt");
  ASSERT_TRUE(file);
  const Subject subject(kDevices);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const size_t tab = line.rfind('\t');
    ASSERT_NE(tab, std::string::npos) << line;
    const std::string expression = line.substr(0, tab);
    EXPECT_EQ(OutcomeText(subject.Answer({expression, Mode::kValue})), line.substr(tab + 1))
        << expression;
  }
  EXPECT_GT(lines, 600);
}

}  // namespace
}  // namespace ks::cel::compare
