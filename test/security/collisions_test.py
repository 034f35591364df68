# SPDX-License-Identifier: Apache-2.0
"""That collisions.py knows libstdc++'s hash, and that what it makes is of one hash, of many texts, and what a user may write."""

import re
import unittest

import collisions

# As printed by std::hash<std::string_view> of GCC 12 on x86-64.
KNOWN = (
    ("", 6142509188972423790), ("a", 4993892634952068459),
    ("kubernetes.io/hostname", 4276530697943888242), ("0123456789abcdef", 10613591747391057286))


class Collisions(unittest.TestCase):
    def test_the_hash(self):
        for text, value in KNOWN:
            self.assertEqual(collisions.std_hash(text), value, text)

    def test_values_of_labels(self):
        self.expect(collisions.texts(1000), 1000, r"[A-Za-z0-9]{48}")

    def test_names_of_pods(self):
        self.expect(collisions.names(20_000), 20_000, r"[a-z0-9]{96}")

    def test_more_than_there_are(self):
        with self.assertRaisesRegex(ValueError, "only 1000000 texts"):
            collisions.names(1_000_001)

    def expect(self, made, count, pattern):
        self.assertEqual(len(set(made)), count)
        self.assertTrue(all(re.fullmatch(pattern, text) for text in made))
        self.assertEqual(len(set(map(collisions.std_hash, made))), 1)


if __name__ == "__main__":
    unittest.main()
