// SPDX-License-Identifier: Apache-2.0
#include "plugins/kit/cross_pod/refutation.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "plugins/inter_pod_affinity/terms.h"
#include "testing/builders.h"

namespace ks::plugins {
namespace {

std::string AnyOf(Random& random, const char* letters, uint64_t count) {
  return {letters[random.Below(count)]};
}

api::LabelSelectorSpec AnySelector(Random& random) {
  api::LabelSelectorSpec selector;
  for (uint64_t i = random.Below(3); i > 0; --i) {
    selector.match_labels.emplace_back(AnyOf(random, "ab", 2), AnyOf(random, "xy", 2));
  }
  if (random.Below(3) == 0) {
    const bool in = random.Below(2) == 0;
    selector.match_expressions.push_back({AnyOf(random, "ab", 2), in ? "In" : "DoesNotExist", {}});
    if (in) selector.match_expressions.back().values = {AnyOf(random, "xy", 2)};
  }
  return selector;
}

// What it refutes, the compiled term does not match either; and it refutes most of that.
TEST(RefutationTest, NeverContradictsTheCompiledTerm) {
  Random random(11);
  int refuted = 0;
  int unmatched = 0;
  for (int round = 0; round < 20000; ++round) {
    api::PodSpec spec;
    api::PodAffinityTerm& term = spec.pod_affinity.emplace().required.emplace_back();
    if (random.Below(10) != 0) term.label_selector = AnySelector(random);
    if (random.Below(3) == 0) term.namespaces.emplace_back(AnyOf(random, "nm", 2));
    if (random.Below(4) == 0) term.namespace_selector = AnySelector(random);
    const Symbol ns(AnyOf(random, "nm", 2));
    auto pod = std::make_shared<api::Pod>(*testing::MakePod().Name("p").Obj());
    pod->meta.ns = Symbol(AnyOf(random, "nm", 2));
    for (uint64_t i = random.Below(3); i > 0; --i) {
      pod->meta.labels.Set(Symbol(AnyOf(random, "ab", 2)), Symbol(AnyOf(random, "xy", 2)));
    }
    ASSERT_TRUE(LooksSound(term.label_selector) && LooksSound(term.namespace_selector));
    std::string error;
    const PodTerms parsed = ParseTerms(spec, ns, &error);
    ASSERT_EQ(error, "");
    const bool matches = parsed.required_affinity.front().Matches(*pod, {});
    const bool cannot = CannotMatch(term, ns, *pod);
    EXPECT_FALSE(matches && cannot) << "round " << round;
    refuted += cannot ? 1 : 0;
    unmatched += matches ? 0 : 1;
  }
  EXPECT_GT(refuted * 3, unmatched * 2);
}

TEST(RefutationTest, SelectorsWithAnErrorAreNotSound) {
  for (const auto& [op, values, sound] :
       {std::tuple("In", 1, true), std::tuple("In", 0, false), std::tuple("NotIn", 0, false),
        std::tuple("Exists", 0, true), std::tuple("Exists", 1, false),
        std::tuple("DoesNotExist", 0, true), std::tuple("Gt", 1, false),
        std::tuple("Huh", 0, false)}) {
    SCOPED_TRACE(op);
    api::LabelSelectorSpec selector;
    selector.match_expressions.push_back({"a", op, {}});
    if (values == 1) selector.match_expressions.back().values = {"x"};
    EXPECT_EQ(LooksSound(selector), sound);
    EXPECT_EQ(api::LabelSelector::Compile(selector).ok(), sound);
  }
}

}  // namespace
}  // namespace ks::plugins
