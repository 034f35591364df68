# SPDX-License-Identifier: Apache-2.0
"""Self-test of the base of ./dev lint: what must be looked at again after a change."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import lint_cpp  # noqa: E402

_USED = {"lib/queue/queue.cc", "lib/queue/queue.h", "lib/base/time.h"}


class AsAtBase(unittest.TestCase):
    def test_what_leaves_a_file_as_it_was(self):
        for changed in ((), ("text/queue.md",), ("lib/queue/heap.cc", "lib/base/symbol.h"), ("lib/cache/CMakeLists.txt",),
                        ("tests/queue/CMakeLists.txt",), ("lib/cmake.h",)):
            with self.subTest(changed=changed):
                self.assertTrue(lint_cpp.as_at_base(_USED, set(changed)))

    def test_what_does_not(self):
        for changed in ("lib/queue/queue.cc", "lib/base/time.h", "lib/queue/CMakeLists.txt", "lib/base/CMakeLists.txt", "lib/CMakeLists.txt",
                        "CMakeLists.txt", "CMakePresets.json", "cmake/flags", ".clang-tidy", "lib/queue/.clang-tidy"):
            with self.subTest(changed=changed):
                self.assertFalse(lint_cpp.as_at_base(_USED, {"text/queue.md", changed}))


if __name__ == "__main__":
    unittest.main()
