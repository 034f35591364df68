# SPDX-License-Identifier: Apache-2.0
"""Manual pages out of the programs' own help, by help2man: man_pages.py PROGRAMS OUT. One for each program and each verb."""

import pathlib
import re
import subprocess
import sys
import tempfile


def page(command, section, name, out, version):
    text = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("Usage:"))
    about = " ".join(lines[:begin]).strip()
    title = " ".join([pathlib.Path(command[0]).name, *command[1:]])
    with tempfile.TemporaryDirectory() as scratch:
        script = pathlib.Path(scratch) / title.replace(" ", "-")
        # help2man runs a program of this name; what the program says comes before its flags, as help2man wants it.
        usage = re.sub(r"^Usage:\s*", f"Usage: {title} " if len(lines[begin]) < 8 else "Usage: ", lines[begin])
        (pathlib.Path(scratch) / "text").write_text("\n".join([usage, "", about, "", *lines[begin + 1:]]) + "\n", encoding="utf-8")
        script.write_text(f"#!/bin/sh\ncat {scratch}/text\n", encoding="utf-8")
        script.chmod(0o755)
        subprocess.run(["help2man", "--no-info", "--no-discard-stderr", f"--section={section}", f"--name={name}",
                        f"--version-string={version}", f"--source=kubesched {version}", f"--output={out}", str(script)], check=True)


def main():
    programs, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(exist_ok=True)
    said = subprocess.run([programs / "kubeschedctl", "version"], check=True, capture_output=True, text=True).stdout
    version = said.split()[-1]
    tool = str(programs / "kubeschedctl")
    page([str(programs / "kubesched")], 8, "a Kubernetes pod scheduler", out / "kubesched.8", version)
    page([tool], 1, "the tool for operators of kubesched", out / "kubeschedctl.1", version)
    # As the shells learn of them.
    verbs = subprocess.run([tool, "__complete", ""], check=True, capture_output=True, text=True).stdout
    for line in verbs.splitlines():
        if "\t" in line:
            verb, about = line.split("\t")
            page([tool, verb], 1, about, out / f"kubeschedctl-{verb}.1", version)


if __name__ == "__main__":
    main()
