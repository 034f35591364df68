# SPDX-License-Identifier: Apache-2.0
"""Checks that sources include only what lies below their folder: python3 tools/check_layers.py [ROOT].

The link lists alone do not show it: with one include root, a header of a folder that is not linked is still found.
"""

import pathlib
import re
import sys

_CORE = {"base", "api", "config", "metrics", "framework"}
_SIDE_BY_SIDE = {"plugins", "queue", "cache", "client", "server"}  # never include each other
ALLOWED = {  # folder below src/: the folders it may include besides itself
    "base": set(),
    "api": {"base"},
    "config": {"base", "api"},
    "metrics": {"base", "api"},
    "framework": {"base", "api", "config", "metrics"},
    **{folder: _CORE for folder in _SIDE_BY_SIDE},
    "scheduler": _CORE | _SIDE_BY_SIDE,
    "apiserver": {"base", "api", "server"},  # a cluster for demo and tests: no part of the scheduler
}
_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def _findings_in(path, folder, allowed, shown):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = _INCLUDE.match(line)
        if not match or "/" not in match.group(1):
            continue
        target = match.group(1).split("/")[0]
        if target in ("testing", "cmd"):
            yield f"{shown}:{number}: {folder} includes {match.group(1)}, which is not part of the program's libraries"
        elif target in ALLOWED and target != folder and target not in allowed:
            yield f"{shown}:{number}: {folder} may not include {match.group(1)}; allowed: {', '.join(sorted(allowed)) or 'nothing'}"


def findings(root):
    """One line per violation."""
    found = []
    for path in sorted([*root.glob("src/**/*"), *root.glob("cmd/**/*")]):
        if path.suffix not in (".h", ".cc"):
            continue
        shown = path.relative_to(root)
        folder = shown.parts[1]
        if shown.parts[0] == "cmd":
            allowed = set(ALLOWED)
        elif folder in ALLOWED:
            allowed = ALLOWED[folder]
        else:
            found.append(f"{shown}: folder src/{folder} is not in the table of tools/check_layers.py")
            continue
        found.extend(_findings_in(path, folder, allowed, shown))
    return found


if __name__ == "__main__":
    violations = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]))
    print("\n".join(violations) or "layers: in order")
    sys.exit(1 if violations else 0)
