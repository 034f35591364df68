# SPDX-License-Identifier: Apache-2.0
"""Self-tests of audit.py, the judge of mixed.py: each fault of a scheduler that it is there for is noticed."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import audit  # noqa: E402  (after the path above)


def _event(kind, name, node="", cpu="400m"):
    spec = {"containers": [{"resources": {"requests": {"cpu": cpu}}}], **({"nodeName": node} if node else {})}
    return {"type": kind, "object": {"metadata": {"name": name}, "spec": spec}}


class Judge(unittest.TestCase):
    def setUp(self):
        self.judge = audit.Audit(1000)

    def tell(self, *events):
        for event in events:
            self.judge.take(_event(*event))
        return self.judge.faults()

    def test_a_good_life(self):
        self.assertEqual(self.tell(("ADDED", "a"), ("MODIFIED", "a", "n"), ("MODIFIED", "a", "n"), ("ADDED", "b"), ("MODIFIED", "b", "n"),
                                   ("DELETED", "a", "n"), ("ADDED", "c"), ("MODIFIED", "c", "n")), [])
        self.assertEqual(self.judge.bound(), 3)
        self.assertEqual(self.judge.lost(["a", "b", "c"]), [])

    def test_bound_twice(self):
        self.assertEqual(self.tell(("ADDED", "a"), ("MODIFIED", "a", "n"), ("MODIFIED", "a", "m")), ["a was bound more than once: to n, m"])

    def test_unbound(self):
        self.assertEqual(self.tell(("ADDED", "a"), ("MODIFIED", "a", "n"), ("MODIFIED", "a")), ["a lost its node n"])

    def test_more_than_the_node_has(self):
        """Two leaders at a time, each of which knows of its own pods only."""
        [fault] = self.tell(*((kind, name, "n") for name in "abc" for kind in ("ADDED", "MODIFIED")))
        self.assertEqual(fault, "c was bound to n, which then had 1200 of 1000 thousandths of CPU")

    def test_whole_processors(self):
        self.assertEqual(self.tell(("ADDED", "a", "n", "1")), [])
        [fault] = self.tell(("ADDED", "b", "n", "1m"))
        self.assertIn("1001 of 1000", fault)

    def test_lost(self):
        self.tell(("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "b", "n"))
        self.assertEqual(self.judge.lost(["a", "b", "c"]), ["a", "c"])

    def test_what_the_watch_must_not_say(self):
        self.judge.take({"type": "ERROR", "object": {"code": 410}})
        self.assertEqual(self.judge.faults(), ["the watch said ERROR: {'code': 410}"])
        self.judge.fault("more")
        self.assertEqual(len(self.judge.faults()), 2)

    def test_the_oldest_leave(self):
        self.tell(("ADDED", "a"), ("ADDED", "b", "n"), ("ADDED", "c", "n"), ("ADDED", "d", "m"))
        self.assertEqual(self.judge.leave(1600, most=9), [])
        self.assertEqual(self.judge.leave(900, most=1), ["b"])
        self.assertEqual(self.judge.leave(900, most=9), ["c"])
        self.tell(("DELETED", "b", "n"), ("DELETED", "d", "m"))
        self.assertEqual(self.judge.leave(0, most=9), [])


if __name__ == "__main__":
    unittest.main()
