#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/flags.md from the daemon's own help text, or checks that it is up to date.

usage: tools/flag_reference.py [--check] build/bin/kubesched
"""

import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "flags.md"
HEAD = """# Flags of kubesched

kube-scheduler's flags, and kubesched's own in the last section. This page is made from `kubesched --help`
(`tools/flag_reference.py build/bin/kubesched`); what a flag means in detail is in [spec/config.md](spec/config.md), section 8. The feature gates
stand in the help text.
"""
FLAG = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?\s{2,}(.*)$")
DEFAULT = re.compile(r"\s*\(default (.*)\)$", re.DOTALL)


def sections(text):
    """Pairs of a section's title and its flags, each as (name, short name, type, default, description)."""
    title, flags = None, []
    for line in text.splitlines():
        if line.endswith(" flags:"):
            if title:
                yield title, flags
            title, flags = line[:-1], []
            continue
        match = FLAG.match(line)
        if title and match:
            short, name, kind, description = match.groups()
            default = DEFAULT.search(description)
            flags.append((name, short, kind or "", default.group(1) if default else "", DEFAULT.sub("", description)))
        elif title and flags and line.startswith(" " * 20) and flags[-1][0] not in ("feature-gates", "emulated-version"):
            name, short, kind, default, description = flags[-1]
            description += " " + line.strip()
            found = DEFAULT.search(description)
            flags[-1] = (name, short, kind, found.group(1) if found else default, DEFAULT.sub("", description))
    if title:
        yield title, flags


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def page(text):
    lines = [HEAD]
    for title, flags in sections(text):
        lines += [f"## {title}", "", "| flag | type | default | meaning |", "|---|---|---|---|"]
        for name, short, kind, default, description in flags:
            names = f"`--{name}`" + (f", `-{short}`" if short else "")
            lines.append(f"| {names} | {kind} | {f'`{cell(default)}`' if default else ''} | {cell(description)} |")
        lines.append("")
    return "\n".join(lines)


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    programs = arguments[1:] if check else arguments
    if len(programs) != 1:
        raise SystemExit(__doc__)
    text = subprocess.run([programs[0], "--help"], check=True, capture_output=True, text=True).stdout
    wanted = page(text)
    if not check:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    print(f"{PAGE}: not what {programs[0]} --help says; cure: tools/flag_reference.py {programs[0]}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
