# SPDX-License-Identifier: Apache-2.0
"""Counts test cases of one ctest run: python3 tools/count_results.py FOLDER prints "<passed> <failed> <skipped>".

FOLDER holds ctest's junit file ctest.xml and the JSON files that the GoogleTest programs wrote there. A test of ctest without
such a file counts as one case, and so does a program that failed without a failed case (it crashed or ran out of time).
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


def _gtest_cases(path):
    """passed, failed and skipped cases of one GoogleTest JSON file."""
    passed = failed = skipped = 0
    for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("failures"):
                failed += 1
            elif case["result"] == "SKIPPED":
                skipped += 1
            elif case["result"] == "COMPLETED":
                passed += 1
    return passed, failed, skipped


def count(folder):
    """passed, failed and skipped cases of the run."""
    total = [0, 0, 0]
    for test in xml.etree.ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        status = test.get("status")  # run, fail, disabled or notrun (its program is missing)
        report = folder / f"ks_{test.get('name')}_test.json"
        try:
            cases = _gtest_cases(report)
        except (FileNotFoundError, ValueError):  # no GoogleTest program, or one that died while it wrote
            cases = {"run": (1, 0, 0), "disabled": (0, 0, 1)}.get(status, (0, 1, 0))
        if status == "fail" and cases[1] == 0:
            cases = (cases[0], 1, cases[2])
        total = [sum(pair) for pair in zip(total, cases)]
    return total


if __name__ == "__main__":
    print(*count(pathlib.Path(sys.argv[1])))
