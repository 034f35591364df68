# SPDX-License-Identifier: Apache-2.0
"""Checks that sources include only what lies below their folder, and that rooms (folders in folders) do not include each other in
a circle: python3 tools/check_layers.py [ROOT].

The link lists alone do not show it: with one include root, a header of a folder that is not linked is still found.
"""

import pathlib
import re
import sys

_CORE = {"base", "golang", "api", "config", "metrics", "framework"}
_SIDE_BY_SIDE = {"plugins", "modules", "queue", "cache", "client", "server"}  # never include each other
_DECIDES = _CORE | {"tracing", "plugins", "queue", "cache", "scheduler"}
ALLOWED = {  # folder below src/: the folders it may include besides itself
    "base": set(),
    "golang": {"base"},
    "api": {"base", "golang"},
    "cel": {"base", "golang", "api"},
    "config": {"base", "golang", "api"},
    "metrics": {"base", "golang", "api"},
    "framework": {"base", "golang", "api", "config", "metrics"},
    "tracing": _CORE,
    **{folder: _CORE for folder in _SIDE_BY_SIDE},
    "client": _CORE | {"tracing"},
    "plugins": _CORE | {"cel"},
    "scheduler": _CORE | {"tracing", "plugins", "queue", "cache"},
    "inspect": _DECIDES | {"cel"},
    "recording": _DECIDES | {"inspect"},
    "daemon": _DECIDES | {"inspect", "recording", "modules", "client", "server"},
    "apiserver": {"base", "golang", "api", "cel", "server"},  # a cluster for demo and tests: no part of the scheduler
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


def _includes(root, path):
    """The project's own headers that a source names, as paths from the root."""
    for line in path.read_text(encoding="utf-8").splitlines():
        match = _INCLUDE.match(line)
        for base in ("src", "cmd") if match else ():
            if (root / base / match.group(1)).is_file():
                yield pathlib.PurePosixPath(base) / match.group(1)


def _rooms(root):
    """Room -> the other rooms that its sources include, each with one source and header that do."""
    rooms = {}
    for path in sorted([*root.glob("src/**/*"), *root.glob("cmd/**/*")]):
        if path.suffix not in (".h", ".cc"):
            continue
        shown = pathlib.PurePosixPath(path.relative_to(root))
        named = rooms.setdefault(str(shown.parent), {})
        for header in _includes(root, path):
            if header.parent != shown.parent:
                named.setdefault(str(header.parent), (str(shown), str(header)))
    return rooms


def _circles(rooms):
    """Sets of rooms of which each reaches each other one."""

    def reached(start):
        found, todo = set(), [start]
        while todo:
            new = [room for room in rooms.get(todo.pop(), {}) if room not in found]
            found.update(new)
            todo.extend(new)
        return found

    reach = {room: reached(room) for room in rooms}
    return {frozenset(other for other in reach[room] if room in reach.get(other, ())) for room in rooms if room in reach[room]}


def room_findings(root):
    """One line per include that closes a circle of rooms, or leads from one plugin's folder to another's."""
    rooms = _rooms(root)
    found = []
    for circle in sorted(_circles(rooms), key=sorted):
        for room in sorted(circle):
            for other in sorted(circle & rooms[room].keys()):
                source, header = rooms[room][other]
                found.append(f"{source}: includes {header}, and {other} reaches {room}: rooms must not form a circle")
    for room, named in sorted(rooms.items()):
        if not room.startswith("src/plugins/") or room.startswith("src/plugins/kit"):
            continue
        for other, (source, header) in sorted(named.items()):
            if other.startswith("src/plugins/") and not other.startswith("src/plugins/kit"):
                found.append(f"{source}: includes {header}, of another plugin: what several use is in src/plugins/kit")
    return found


if __name__ == "__main__":
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    violations = findings(tree) + room_findings(tree)
    print("\n".join(violations) or "layers: in order")
    sys.exit(1 if violations else 0)
