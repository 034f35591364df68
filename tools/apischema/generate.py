# SPDX-License-Identifier: Apache-2.0
"""Writes src/apiserver/schema/schema_data_*.cc and test/api/data/forms.jsonl, and the protobuf of the bodies in bodies.jsonl beside it:
python3 tools/apischema/generate.py. Needs Go and the modules of test/controlplane."""

import pathlib
import shutil
import subprocess
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = ROOT / "test" / "controlplane"
FORMS = ROOT / "test" / "api" / "data" / "forms.jsonl"
BODIES = FORMS.with_name("bodies.jsonl")
HALVES = (("a_to_o", "SchemaTextAToO", "Types A to O."), ("p_to_z", "SchemaTextPToZ", "Types P to Z, and those of groups."))


def lines_of(program, *arguments):
    """What a Go program of tools/apischema prints, run with the modules of the control plane."""
    with tempfile.TemporaryDirectory() as folder:
        for path in (MODULE / "go.mod", MODULE / "go.sum", ROOT / "tools" / "apischema" / program):
            shutil.copy(path, folder)
        done = subprocess.run(["go", "run", "-mod=mod", ".", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def source(function, lines, title):
    wrapped = [part for line in lines for part in textwrap.wrap(
        line, width=99, subsequent_indent=" ", break_long_words=False, break_on_hyphens=False)]
    return "\n".join([
        "// SPDX-License-Identifier: Apache-2.0",
        "// Written by tools/apischema from the Go types of Kubernetes v1.37.1 (k8s.io/api, by reflection).",
        f"// The form of the lines: schema.cc. {title}",
        '#include "apiserver/schema/schema_data.h"',
        "",
        "namespace ks::apiserver {",
        "namespace {",
        "",
        "// clang-format off",
        f'constexpr std::string_view kText = R"({wrapped[0]}',
        *wrapped[1:],
        ')";',
        "// clang-format on",
        "",
        "}  // namespace",
        "",
        f"std::string_view {function}() {{ return kText; }}",
        "",
        "}  // namespace ks::apiserver",
        ""])


def main():
    lines = lines_of("main.go")
    middle = next(index for index, line in enumerate(lines) if line >= "P")
    for (suffix, function, title), part in zip(HALVES, (lines[:middle], lines[middle:])):
        path = ROOT / "src" / "apiserver" / "schema" / f"schema_data_{suffix}.cc"
        path.write_text(source(function, part, title), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(part)} types")
    forms = lines_of("forms/main.go", "4", "1")
    FORMS.write_text("\n".join(forms) + "\n", encoding="utf-8")
    print(f"{FORMS.relative_to(ROOT)}: {len(forms)} objects")
    bodies = lines_of("bodies/main.go", str(BODIES))
    BODIES.write_text("\n".join(bodies) + "\n", encoding="utf-8")
    print(f"{BODIES.relative_to(ROOT)}: {len(bodies)} bodies")


if __name__ == "__main__":
    main()
