# SPDX-License-Identifier: Apache-2.0
"""Which tests of a build tree are to be run again after a change.

    python3 tools/changed_tests.py list BUILD      a regular expression for ctest that matches them; nothing if there are none
    python3 tools/changed_tests.py record BUILD    remembers those that passed in the last run (BUILD/test-results/ctest.xml)

A test is what its command reads: the program and the files and folders among its arguments. Since the programs are linked
reproducibly, one that no change reached is the same, byte for byte.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree

_RECORD = "passed-tests.json"


def _files(word):
    path = pathlib.Path(word)
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else []


def fingerprint(command):
    """A hash of the command's words and of the files and folders that they name."""
    digest = hashlib.sha256()
    for word in command:
        digest.update(f"{word}\0".encode())
        for file in _files(word):
            digest.update(f"{file}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _fingerprints(build):
    """{name of a test: its fingerprint} for all tests of the tree."""
    shown = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, text=True, check=True)
    return {test["name"]: fingerprint(test["command"]) for test in json.loads(shown.stdout)["tests"] if "command" in test}


def changed(now, passed):
    """The names in `now` whose fingerprint is not the one in `passed`, sorted."""
    return sorted(name for name, mark in now.items() if passed.get(name) != mark)


def after_run(now, passed, statuses):
    """What has passed, after a run with these statuses ({name: "run" if it passed})."""
    kept = {name: mark for name, mark in passed.items() if name in now and name not in statuses}
    return kept | {name: now[name] for name, status in statuses.items() if status == "run" and name in now}


def _read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def main(verb, build):
    now, passed = _fingerprints(build), _read(build / _RECORD)
    if verb == "list":
        names = changed(now, passed)
        if names:
            print("^(" + "|".join(re.escape(name) for name in names) + ")$")
        return 0
    run = xml.etree.ElementTree.parse(build / "test-results" / "ctest.xml").getroot()
    statuses = {test.get("name"): test.get("status") for test in run.iter("testcase")}
    (build / _RECORD).write_text(json.dumps(after_run(now, passed, statuses), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("list", "record"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
