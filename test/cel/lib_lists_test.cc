// SPDX-License-Identifier: Apache-2.0
// Functions of lists, sets and optional values.
#include <gtest/gtest.h>

#include "cel/evaluation.h"

namespace ks::cel {
namespace {

constexpr Row kRows[] = {
    {"[1, 2, 1].distinct() == [1, 2]"},
    {"[[1], [1]].distinct() == [[1]]"},
    {"[1, 2].first().value() == 1 && [1, 2].last().value() == 2"},
    {"![].first().hasValue()"},
    {"[[1, 2], [3]].flatten() == [1, 2, 3]"},
    {"[[[1]], [[2]]].flatten() == [[1], [2]]"},
    {"[[[1]], [[2]]].flatten(2) == [1, 2]"},
    {"[[[1]], [[2]]].flatten(0) == [[[1]], [[2]]]"},
    {"[[1]].flatten(-1) == []", "level must be non-negative"},
    {"[1, 2, 3].reverse() == [3, 2, 1]"},
    {"[1, 2, 3, 4].slice(1, 3) == [2, 3]"},
    {"[1, 2].slice(0, 3) == []", "cannot slice(0, 3), list is length 2"},
    {"[1, 2].slice(-1, 1) == []", "cannot slice(-1, 1), negative indexes not supported"},
    {"[1, 2].slice(2, 1) == []",
     "cannot slice(2, 1), start index must be less than or equal to end index"},
    {"[3, 1, 2].sort() == [1, 2, 3]"},
    {"['b', 'a'].sort() == ['a', 'b']"},
    {"[true, false].sort() == [false, true]"},
    {"dyn([dyn(1), dyn('a')]).sort() == [1]", "list elements must have the same type"},
    {"dyn([dyn(null), dyn(null)]).sort() == [1]", "list elements must be comparable"},
    {"dyn([[1], [2]]).sort() == [1]", "list elements must be comparable"},
    {"[3, 1, 2].sortBy(x, -x) == [3, 2, 1]"},
    {"['bb', 'a'].sortBy(x, size(x)) == ['a', 'bb']"},
    {"lists.range(3) == [0, 1, 2]"},
    {"lists.range(-1) == []", "lists.range: size must be non-negative, got -1"},
    {"[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0 && [1u].sum() == 1u"},
    {"[duration('1s'), duration('2s')].sum() == duration('3s')"},
    {"[].sum() == 0"},
    {"[9223372036854775807, 1].sum() == 0", "integer overflow"},
    {"[2, 1].min() == 1 && [2, 1].max() == 2"},
    {"['b', 'a'].min() == 'a'"},
    {"[].max() == 1", "max called on empty list"},
    {"[].min() == 1", "min called on empty list"},
    {"[1, 2, 2].isSorted() && ![2, 1].isSorted() && [].isSorted()"},
    {"[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(3) == -1"},
    {"device.attributes['d.io'].sl.includes('x')"},
    {"device.attributes['d.io'].s.includes('abc')"},
    {"!device.attributes['d.io'].s.includes(1)"},
    {"sets.contains([1, 2], [2, 1, 1]) && !sets.contains([1], [1, 2])"},
    {"sets.equivalent([1, 2], [2, 1, 1]) && !sets.equivalent([1], [1, 2])"},
    {"sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [])"},
    {"[1] + [2] == [1, 2]"},
    {"1 in [1, 2] && !(3 in [1, 2]) && 1 in {1: 2}"},
    {"dyn(1.0) in [1] && dyn(1u) in {1: 1}"},
    {"dyn(1) in dyn(2)", "no such overload"},
    {"[dyn(1), dyn('a')] == [dyn(1.0), dyn('a')]"},
    {"{'a': dyn(1)} == {'a': dyn(1.0)}"},
    {"optional.of(1) == optional.of(1) && optional.none() != optional.of(1)"},
    {"!optional.ofNonZeroValue('').hasValue() && optional.ofNonZeroValue(1).hasValue()"},
    {"!optional.ofNonZeroValue(duration('0s')).hasValue()"},
    {"!optional.ofNonZeroValue(timestamp(0)).hasValue()", "false"},
    {"optional.ofNonZeroValue(optional.none()).hasValue()"},
    {"optional.unwrap([optional.of(1), optional.none()]) == [1]"},
    {"[optional.of(1), optional.none()].unwrapOpt() == [1]"},
    {"optional.none().or(optional.of(2)).value() == 2"},
    {"optional.none().orValue(2) == 2"},
    {"[?optional.of(1), ?optional.none(), 2] == [1, 2]"},
    {"dyn(1).hasValue()", "no such overload: hasValue(int)"},
    {"dyn(1).orValue(true)", "no such overload"},
};

TEST(LibListsTest, ValuesAndErrors) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.expression);
    EXPECT_EQ(EvaluateOnSample(row.expression).text, row.wanted);
  }
}

}  // namespace
}  // namespace ks::cel
