# SPDX-License-Identifier: Apache-2.0
"""What tools/libfuzzer.py keeps comes back byte for byte."""

import pathlib
import random
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

import libfuzzer  # noqa: E402

SEED = 7


class KeptInputs(unittest.TestCase):
    def test_round_trip(self):
        source = random.Random(SEED)
        inputs = {b"", b"\n\r\x85\x00\xff", "é ".encode()} | {source.randbytes(source.randrange(200)) for _ in range(200)}
        with tempfile.TemporaryDirectory() as folder:
            file, back = pathlib.Path(folder) / "x.jsonl", pathlib.Path(folder) / "back"
            libfuzzer.pack(inputs, file)
            libfuzzer.unpack(file, back)
            self.assertEqual(sorted(inputs), sorted(path.read_bytes() for path in back.iterdir()), f"seed {SEED}")
            self.assertEqual(len(inputs), len(file.read_bytes().splitlines()), "a line each")

    def test_nothing_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            libfuzzer.unpack(pathlib.Path(folder) / "missing", pathlib.Path(folder) / "back")
            self.assertEqual([], list((pathlib.Path(folder) / "back").iterdir()))


if __name__ == "__main__":
    unittest.main()
