# SPDX-License-Identifier: Apache-2.0
"""Runs failed test cases once more, each by itself: python3 tools/second_try.py BUILD_TREE prints a line for each of them.

Tests that wait for real servers share a machine with others; a case that fails beside them and passes alone does not fail the run.
It is named all the same, with what it said, so that it gets mended. Only cases of GoogleTest programs are tried, and only if few
failed; a program that crashed or ran out of time has failed. Not for trees with sanitizers, whose findings are no failed cases.

Reads and changes the results that count_results.py reads.
"""

import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

MOST_CASES = 3  # more are no accident
MOST_SECONDS = 600  # of one case


def _program(results):
    """The name of the program that wrote a file of results: shards write one each (ks_e2e_1_test.json)."""
    parts = results.stem.split("_")
    return "_".join(part for part in parts if not part.isdigit())


def failed_cases(folder):
    """(file, suite, case) for each failed case of the GoogleTest programs."""
    found = []
    for path in sorted(folder.glob("ks_*_test.json")):
        try:
            suites = json.loads(path.read_text(encoding="utf-8"))["testsuites"]
        except ValueError:
            continue  # died while it wrote
        found += [(path, suite["name"], case["name"]) for suite in suites for case in suite["testsuite"] if case.get("failures")]
    return found


def forgive(path, suite, case):
    """Takes the failures of the case out of its file; returns what it had said."""
    results = json.loads(path.read_text(encoding="utf-8"))
    said = []
    for group in results["testsuites"]:
        for entry in group["testsuite"]:
            if (group["name"], entry["name"]) == (suite, case):
                said += [failure["failure"] for failure in entry.pop("failures", [])]
    path.write_text(json.dumps(results), encoding="utf-8")
    return "\n".join(said)


def passes_alone(program, name):
    """Whether the case passes by itself, and leaves its program's exit code at 0."""
    environment = {key: value for key, value in os.environ.items() if key not in ("GTEST_OUTPUT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX")}
    try:
        return subprocess.run([program, f"--gtest_filter={name}", "--gtest_brief=1"], env=environment, timeout=MOST_SECONDS,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def forgive_programs(folder, passed):
    """The programs that wrote these files and have no failed case left did not fail."""
    left = {path for path, _, _ in failed_cases(folder)}
    names = {path.stem.removeprefix("ks_").removesuffix("_test") for path in passed - left}
    tests = xml.etree.ElementTree.parse(folder / "ctest.xml")
    for test in tests.getroot().iter("testcase"):
        if test.get("name") in names and test.get("status") == "fail":
            test.set("status", "run")
    tests.write(folder / "ctest.xml")


def main(tree, try_case=passes_alone):
    folder = tree / "test-results"
    failed = failed_cases(folder)
    if len(failed) > MOST_CASES:
        print(f"{len(failed)} cases failed: no second try for more than {MOST_CASES}")
        return
    passed = set()
    for path, suite, case in failed:
        name = f"{suite}.{case}"
        if try_case(tree / "bin" / _program(path), name):
            print(f"SECOND TRY {name} passed by itself; before it had said:\n{forgive(path, suite, case)}")
            passed.add(path)
        else:
            print(f"SECOND TRY {name} failed again")
    forgive_programs(folder, passed)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
