# SPDX-License-Identifier: Apache-2.0
"""Checks docs/security.md: each statement names a test that exists, or says that it is not shown. claims_test.py [--document FILE].

A statement is an item of a list. A test is named as `path: case`: Suite.Case of a C++ test, a function or Class.method of a Python one, or,
where cases are rows of a table, what stands in quotes in the file.
"""

import argparse
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "security.md"
NAMED = re.compile(r"`((?:test|tools)/[\w./-]+\.(?:cc|py)): ([^`]+)`")
NOT_SHOWN = "*not shown*"


def statements(text):
    """(line, text) of each item of a list, continued lines included."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("- "):
            found.append((number, line))
        elif found and line.startswith("  ") and not line.startswith("    "):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def has_case(path, text, case):
    """Whether the file's text has this test."""
    suite, _, name = case.partition(".")
    if path.endswith(".cc"):
        return re.search(rf"\bTEST(_F|_P)?\(\s*{re.escape(suite)},\s*{re.escape(name)}\)", text) is not None or f'"{case}' in text
    if re.fullmatch(r"\w+\.\w+", case):
        return re.search(rf"^class {suite}\b.*?^    def {name}\(", text, re.MULTILINE | re.DOTALL) is not None
    return re.search(rf"^def {re.escape(case)}\(", text, re.MULTILINE) is not None or f'"{case}' in text


def faults(text, read):
    """What is wrong with the document, by line. `read` gives the text of a file of the tree, None if there is none."""
    for number, statement in statements(text):
        named = NAMED.findall(statement)
        if not named and NOT_SHOWN not in statement:
            yield f"{number}: names no test and does not say {NOT_SHOWN}: {statement[:80]}"
        for path, case in named:
            content = read(path)
            if content is None:
                yield f"{number}: there is no {path}"
            elif not has_case(path, content, case):
                yield f"{number}: {path} has no {case}"


def of_the_tree(path):
    file = ROOT / path
    return file.read_text(encoding="utf-8") if file.is_file() else None


# Of a tree that is made up.
CC, PY = "test/" + "a.cc", "test/" + "a.py"
FILES = {CC: "TEST_F(Suite, Case) {}\n", PY: 'class One(object):\n    def test_it(self):\n\n\ndef row():\n    "two words"\n'}


class Claims(unittest.TestCase):
    def of(self, text):
        return list(faults(text, FILES.get))

    def test_what_is_there(self):
        self.assertEqual(self.of(f"- A. `{CC}: Suite.Case`\n- B, which\n  goes on. `{PY}: One.test_it`, `{PY}: row`\n"
                                 f"- C. `{PY}: two words`\n- D. *not shown*\n\nNo statement.\n"), [])

    def test_what_is_not(self):
        for named, fault in (("", "names no test"), (f"`{CC.replace('a.', 'b.')}: Suite.Case`", "there is no"),
                             (f"`{CC}: Suite.Cas`", "has no Suite.Cas"), (f"`{CC}: Suit.Case`", "has no Suit.Case"),
                             (f"`{PY}: One.test_other`", "has no One.test_other"), (f"`{PY}: rows`", "has no rows"),
                             (f"`{PY}: three words`", "has no three words")):
            with self.subTest(named=named):
                found = self.of(f"- A. {named}")
                self.assertEqual(len(found), 1)
                self.assertIn(fault, found[0])

    def test_the_document(self):
        text = self.document.read_text(encoding="utf-8")
        self.assertGreater(len(statements(text)), 50)
        self.assertEqual(list(faults(text, of_the_tree)), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--document", type=pathlib.Path, default=DOCUMENT)
    options, rest = parser.parse_known_args()
    Claims.document = options.document
    unittest.main(argv=[sys.argv[0], *rest])
