# SPDX-License-Identifier: Apache-2.0
"""Counts test cases of one ctest run: python3 tools/count_results.py FOLDER prints "<passed> <failed> <skipped>", and behind
it a block of lines for each case that failed: its name and what its program said.

FOLDER holds ctest's junit file ctest.xml and the JSON files that the GoogleTest programs wrote there. A test of ctest without
such a file counts as one case, and so does a program that failed without a failed case (it crashed or ran out of time).
"""

import json
import pathlib
import sys
import xml.etree.ElementTree


MOST_LINES = 30  # of what a failed case said


def _gtest_cases(path):
    """passed, failed and skipped cases of one GoogleTest JSON file, the failed ones as (name, what was said)."""
    passed, failed, skipped = 0, [], 0
    for suite in json.loads(path.read_text(encoding="utf-8"))["testsuites"]:
        for case in suite["testsuite"]:
            if case.get("failures"):
                said = "\n".join(failure["failure"] for failure in case["failures"])
                failed.append((f"{suite['name']}.{case['name']}", said))
            elif case["result"] == "SKIPPED":
                skipped += 1
            elif case["result"] == "COMPLETED":
                passed += 1
    return passed, failed, skipped


def count(folder):
    """passed, failed and skipped cases of the run, the failed ones as (name, what was said)."""
    passed, failed, skipped = 0, [], 0
    for test in xml.etree.ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        status = test.get("status")  # run, fail, disabled or notrun (its program is missing)
        name = test.get("name")
        whole = (name, test.findtext("system-out") or f"ctest says {status}")
        try:
            cases = _gtest_cases(folder / f"ks_{name}_test.json")
        except (FileNotFoundError, ValueError):  # no GoogleTest program, or one that died while it wrote
            cases = {"run": (1, [], 0), "disabled": (0, [], 1)}.get(status, (0, [whole], 0))
        if status == "fail" and not cases[1]:
            cases = (cases[0], [whole], cases[2])
        passed, failed, skipped = passed + cases[0], failed + cases[1], skipped + cases[2]
    return passed, failed, skipped


def _last_lines(text):
    lines = text.strip().splitlines()
    return ["..."] * (len(lines) > MOST_LINES) + lines[-MOST_LINES:]


def main(folder):
    passed, failed, skipped = count(folder)
    print(passed, len(failed), skipped)
    for name, said in failed:
        print(f"FAILED {name}")
        for line in _last_lines(said):
            print(f"  {line}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
