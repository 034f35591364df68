# SPDX-License-Identifier: Apache-2.0
"""Self-tests of tools/controlplane/build.py: which folders of programs stay. Go is not asked."""

import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import build  # noqa: E402


class _Module(build.Module):
    """Fills its folder without Go."""

    def release(self):
        return "v1.37.1"

    def _fill(self, go, scratch):
        (scratch / "etcd").touch(mode=0o755)


class OldFolders(unittest.TestCase):
    def setUp(self):
        cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(cache)}))
        self.enterContext(mock.patch.object(build.go_toolchain, "get", lambda say: "go"))
        self.module = _Module("controlplane", "the control plane", ("etcd",), "KS_NO_SUCH_VARIABLE", "./dev controlplane build", 6)
        self.parent = cache / "kubesched" / "controlplane"
        self.said = []

    def _folder(self, name, used):
        """A complete folder that was last used at that second."""
        folder = self.parent / name
        folder.mkdir(parents=True)
        (folder / "etcd").touch(mode=0o755)
        os.utime(folder, (used, used))
        return folder

    def _left(self):
        return {path.name for path in self.parent.iterdir() if path.is_dir()}

    def test_a_build_keeps_the_last_used_three_and_what_is_no_folder_of_a_state(self):
        self._folder("a" * 16, used=3)
        self._folder("b" * 16, used=1)
        self._folder("c" * 16, used=2)
        self._folder("versions", used=0)
        self._folder(".build-interrupted", used=4)
        made = self.module.build(self.said.append)
        self.assertEqual(self._left(), {made.name, "a" * 16, "c" * 16, "versions"})
        self.assertEqual([line.split(",")[0] for line in self.said[1:]],
                         [f"removing {self.parent / name}" for name in ("b" * 16, ".build-interrupted")])

    def test_a_build_into_a_folder_of_somebodys_choice_removes_nothing_beside_it(self):
        others = [self._folder(digit * 16, used=1) for digit in "abcd"]
        with mock.patch.dict(os.environ, {self.module.variable: str(self.parent / "chosen")}):
            self.module.build(self.said.append)
        self.assertEqual(self._left(), {"chosen", *(folder.name for folder in others)})

    def test_what_is_there_counts_as_used_when_it_is_asked_for(self):
        mine = self._folder(self.module.folder().name, used=1)
        self.assertEqual(self.module.build(self.said.append), mine)
        self.assertGreater(mine.stat().st_mtime, 1)
        self.assertEqual(self.said, [])


if __name__ == "__main__":
    unittest.main()
