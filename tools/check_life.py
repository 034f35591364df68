# SPDX-License-Identifier: Apache-2.0
"""Holds docs/life_of_a_pod.md against the code: python3 tools/check_life.py [ROOT].

Each row of its tables names a function and the file that defines it; rows are numbered without gaps. Prints how many functions in
how many files there are."""

import pathlib
import re
import sys

_PAGE = "docs/life_of_a_pod.md"
_ROW = re.compile(r"^\| (\d+) \| `([^`]+)` \| `([^`]+)` \|")


def _defines(text, function):
    """Whether a source defines `Class::Function` or `Function`."""
    owner, _, name = function.rpartition("::")
    owned = rf"{re.escape(owner)}(?:<\w+>)?(?:::Core|::Impl)?::" if owner else r"(?<![\w:.>])"
    return re.search(rf"(?m)^[\w<>:,&*\s\[\]]*{owned}{re.escape(name)}\(", text) is not None


def findings(root):
    """One line per row that is not true any more; and the rows' functions and files."""
    found, functions, files = [], set(), set()
    for line in (root / _PAGE).read_text(encoding="utf-8").splitlines():
        match = _ROW.match(line)
        if not match:
            continue
        number, function, file = match.groups()
        if int(number) != len(functions) + 1:
            found.append(f"{_PAGE}: row {number} follows row {len(functions)}, or names a function twice")
        functions.add((function, file))
        files.add(file)
        if not (root / file).is_file():
            found.append(f"{_PAGE}: row {number}: there is no {file}")
        elif not _defines((root / file).read_text(encoding="utf-8"), function):
            found.append(f"{_PAGE}: row {number}: {file} does not define {function}")
    if not functions:
        found.append(f"{_PAGE}: has no rows")
    return found, functions, files


if __name__ == "__main__":
    violations, steps, sources = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]))
    print("\n".join(violations) or f"life of a pod: {len(steps)} functions in {len(sources)} files")
    sys.exit(1 if violations else 0)
