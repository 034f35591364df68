# SPDX-License-Identifier: Apache-2.0
"""Which sources of a target can be compiled several at a time, one behind the other: nearly all the time goes into headers, which are
read, and whose templates are made, once then. Sources that define the same name outside of classes do not go together. One with
preprocessor directives of its own stays alone, and so does one with planted bugs, which ks_sim_canary replaces in its archive.

    python3 tools/source_groups.py SOURCE...        one line a group of two or more: its sources, separated by ";"
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
_INCLUDE_ROOTS = (ROOT / "src", ROOT / "test", ROOT / "cmd")
# What a source defines outside of classes, as clang-format leaves it: at the beginning of a line.
_TYPE = re.compile(r"^(?:class|struct|union|enum(?: class)?) (\w+)", re.MULTILINE)
_ALIAS = re.compile(r"^(using (?:[\w:]+::)?(\w+)(?: =.*)?;)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^\s*#\s*(define|undef|pragma|if|ifdef|ifndef)\b", re.MULTILINE)
_VALUE = re.compile(r"^(?=\w)(?!class|struct|union|enum|using|namespace|template)(?:[\w:<>,&*() \[\]]*?[ &*>])??(\w+)(?:\(| =|\{|;|\[)",
                    re.MULTILINE)
_CANARY = re.compile(r'^#include "base/canary.h"', re.MULTILINE)
_MACRO = re.compile(r"^[A-Z][A-Z0-9_]+$")  # TEST, INSTANTIATE_TEST_SUITE_P


@functools.cache
def includes(path):
    """Project files that path includes directly, in their order."""
    found = []
    for name in _INCLUDE.findall(path.read_text(encoding="utf-8", errors="replace")):
        for folder in (path.parent, *_INCLUDE_ROOTS):
            if (folder / name).is_file():
                found.append((folder / name).resolve())
                break
    return tuple(found)


def closure(path):
    """path and every project file it includes directly or indirectly, sorted."""
    seen, todo = {path}, [path]
    while todo:
        for included in includes(todo.pop()):
            if included not in seen:
                seen.add(included)
                todo.append(included)
    return sorted(seen)


def names(text, path):
    """{name: what defines it}; the same alias may stand in two sources."""
    values = [name for name in _VALUE.findall(text) if not _MACRO.match(name)]
    found = {name: str(path) for name in [*_TYPE.findall(text), *values]}
    found.update({name: alias for alias, name in _ALIAS.findall(text)})
    return found


@functools.cache
def _declared(header):
    return names(header.read_text(encoding="utf-8", errors="replace"), header).keys()


def _header_names(path):
    """What the project's headers that path includes declare."""
    return set().union(*(_declared(used) for used in closure(path) if used.suffix == ".h"))


class _Group:
    def __init__(self):
        self.sources, self.lines, self.names, self.header_names = [], 0, {}, set()

    def takes(self, own, header_names):
        """Nothing is defined twice, and no source sees a declaration of another's headers under the name of its own."""
        return not (any(own[name] != self.names[name] for name in own.keys() & self.names.keys())
                    or (own.keys() - header_names) & self.header_names
                    or (self.names.keys() - self.header_names) & header_names)

    def add(self, path, lines, own, header_names):
        self.sources.append(path)
        self.lines += lines
        self.names.update(own)
        self.header_names |= header_names


def groups(sources, most, lines, canaries_alone=True):
    """Lists of sources, each of at most `most` that have at most `lines` lines together."""
    alone, made = [], []
    for path in sources:
        text = path.read_text(encoding="utf-8", errors="replace")
        if _DIRECTIVE.search(text) or (canaries_alone and _CANARY.search(text)):
            alone.append([path])
            continue
        own, header_names, length = names(text, path), _header_names(path.resolve()), text.count("\n")
        fit = next((group for group in made if len(group.sources) < most and group.lines + length <= lines
                    and group.takes(own, header_names)), None)
        if fit is None:
            fit = _Group()
            made.append(fit)
        fit.add(path, length, own, header_names)
    return [group.sources for group in made] + alone


def main():
    # More do not save more, and need more memory than a compile job should have.
    for group in groups([pathlib.Path(name) for name in sys.argv[1:]], most=6, lines=1800):
        if len(group) > 1:
            print(";".join(str(path) for path in group))
    return 0


if __name__ == "__main__":
    sys.exit(main())
