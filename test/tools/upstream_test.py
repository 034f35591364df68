# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/upstream.py: what it makes of reports. The tests themselves take minutes: ./dev upstream."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import upstream  # noqa: E402


def _spec(name, state, why=None, kind="It"):
    spec = {"ContainerHierarchyTexts": ["[sig] Pods"], "LeafNodeText": name, "LeafNodeType": kind, "State": state, "RunTime": 2e9}
    return spec if why is None else {**spec, "Failure": {"Message": why}}


class Reports(unittest.TestCase):
    def test_what_was_not_chosen_is_left_out(self):
        report = [{"SpecReports": [_spec("run", "passed"), _spec("fall", "failed", "timed out"), _spec("fly", "skipped"),
                                   _spec("swim", "skipped", "no water"), _spec("", "passed", kind="BeforeSuite")]}]
        self.assertEqual(upstream.outcomes(report), {
            "[sig] Pods run": ("passed", 2, ""), "[sig] Pods fall": ("failed", 2, "timed out"),
            "[sig] Pods swim": ("skipped", 2, "no water")})

    def test_an_empty_report(self):
        self.assertEqual(upstream.outcomes([{"SpecReports": None}]), {})

    def test_regressions_are_what_passes_with_the_other_only(self):
        def found(**states):
            return {name: (state, 1, "") for name, state in states.items()}

        results = {"kube-scheduler": found(a="passed", b="passed", c="failed", d="failed", e="passed", f="passed"),
                   "kubesched": found(a="passed", b="failed", c="failed", d="passed", e="skipped")}
        self.assertEqual(upstream.regressions(results), ["b", "e", "f"])
        self.assertEqual(upstream.regressions({"kubesched": results["kubesched"]}), ["b", "c"])
        lines = upstream.table(results)
        self.assertEqual([line.split() for line in lines[1:3]], [["passed", "1", "s", "passed", "1", "s", "a"],
                                                                 ["passed", "1", "s", "failed", "1", "s", "b"]])
        self.assertIn("not run", lines[6])

    def test_the_same_release_as_the_servers(self):
        self.assertEqual(upstream.MODULE.release(), upstream.build.pinned_release())


if __name__ == "__main__":
    unittest.main()
