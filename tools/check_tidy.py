# SPDX-License-Identifier: Apache-2.0
"""Checks that .clang-tidy does what it says: python3 tools/check_tidy.py. A missing comma there turns two checks off and
clang-tidy says nothing. Without clang-tidy on the machine it says so and passes.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
_SENTINELS = {  # checks that must be active, whatever becomes of the list, and code in which each must find something
    "bugprone-use-after-move": "#include <string>\n#include <utility>\nvoid G(std::string);\n"
                               "void F(std::string a) { G(std::move(a)); G(std::move(a)); }\n",
    "google-explicit-constructor": "struct A { A(int); };\n",
    "performance-for-range-copy": "#include <string>\n#include <vector>\nint F(const std::vector<std::string>& all) {\n"
                                  "  int n = 0;\n  for (const std::string one : all) { n += one.size(); }\n  return n;\n}\n",
    "readability-braces-around-statements": "void F(bool a) {\n  if (a)\n    F(false);\n}\n",
    "readability-function-size": "void F(int a) {\n" + "  a = a + 1;\n" * 71 + "}\n",
    "readability-identifier-naming": "class Thing { int count = 0; };\nvoid lowerCamel();\n",
    "clang-diagnostic-thread-safety": "struct __attribute__((capability(\"mutex\"))) M {};\nM m;\n"
                                      "int n __attribute__((guarded_by(m)));\nint F() { return n; }\n",
}


def listed_checks():
    """The names in .clang-tidy's Checks, one a line there, without patterns."""
    text = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
    block = text[text.index("Checks:"):text.index("WarningsAsErrors:")]
    return {name for name in re.findall(r"^  ([a-z][\w.-]*?),?$", block, re.MULTILINE)}


def _output(*command):
    return subprocess.run(["clang-tidy", *command], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def findings():
    """One line per check that is listed or expected but not active."""
    active = set(_output("--list-checks").split())
    found = [f".clang-tidy lists {name}, but it is not active: a missing comma, or a wrong name"
             for name in sorted(listed_checks() - active)]
    with tempfile.TemporaryDirectory() as folder:
        sample = pathlib.Path(folder) / "sample.cc"
        for name, code in _SENTINELS.items():
            sample.write_text(code)
            output = _output(f"--config-file={ROOT}/.clang-tidy", str(sample), "--", "-std=c++20", "-Wthread-safety")
            if f"[{name}" not in output:
                found.append(f"{name} finds nothing in its sample: it is not active or its options are lost")
    return found


if __name__ == "__main__":
    if not shutil.which("clang-tidy"):
        print("no clang-tidy here (./dev lint installs it): not checked")
        sys.exit(0)
    violations = findings()
    print("\n".join(violations) or "clang-tidy: every listed check is active")
    sys.exit(1 if violations else 0)
