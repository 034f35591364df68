# SPDX-License-Identifier: Apache-2.0
"""Makes the archive and the manifest of the kubectl plugin for Krew out of the built kubeschedctl: behind ./dev package.

    python3 tools/krew.py [--programs FOLDER] [--out FOLDER] [--url FOLDER_OF_THE_ARCHIVE] [--check]

The archive runs on any Linux: the program brings its libraries and their loader, from the Debian packages that it was built with.
--check: runs it out of the unpacked archive, and has Krew's own validate-krew-manifest judge the manifest where it is built
(./dev controlplane build-delivery)."""

import argparse
import gzip
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "image"))
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import content  # noqa: E402  (after the paths above)
import delivery  # noqa: E402
import oci  # noqa: E402
import sbom  # noqa: E402

_LAUNCHER = """#!/bin/sh
# Runs kubeschedctl with its own libraries, whatever this system has.
here=$(dirname "$(readlink -f "$0")")
exec "$here/lib/LOADER" --argv0 kubectl-sched --library-path "$here/lib" "$here/kubeschedctl" "$@"
"""


def _files(program):
    """The archive's, by path. The notices of the libraries' packages go with them."""
    debian, packages = content.debian_layer([program], data=())
    files = {"kubeschedctl": content.File(content.stripped(program), 0o755),
             "LICENSE": content.File((ROOT / "LICENSE").read_bytes())}
    for path in content.libraries(program):
        name = os.path.basename(path)
        real = debian[os.path.realpath(path).lstrip("/")]
        files[f"lib/{name}"] = content.File(real.data, 0o755)
        if path.startswith("/lib64/") or name.startswith("ld-linux"):
            files["kubectl-sched"] = content.File(_LAUNCHER.replace("LOADER", name).encode(), 0o755)
    for name in packages:
        files[f"licenses/{name}"] = debian[f"usr/share/doc/{name}/copyright"]
    return files


def _make(options):
    version, architecture = sbom.project_version(), oci.ARCHITECTURES[os.uname().machine]
    options.out.mkdir(parents=True, exist_ok=True)
    archive = options.out / f"kubectl-sched_v{version}_linux_{architecture}.tar.gz"
    archive.write_bytes(gzip.compress(oci.tar_of(_files(options.programs / "kubeschedctl"), sbom.epoch()), 9, mtime=0))
    text = (ROOT / "deploy" / "krew" / "sched.yaml").read_text(encoding="utf-8").split("\n", 1)[1]
    for word, value in (("VERSION", version), ("ARCHITECTURE", architecture), ("URI", f"{options.url}/{archive.name}"),
                        ("SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())):
        text = text.replace(word, value)
    manifest = options.out / "sched.yaml"
    manifest.write_text(text, encoding="utf-8")
    print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB; {manifest}")
    return archive, manifest


def _check(archive, manifest):
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(archive) as packed:
            packed.extractall(scratch)
        plugin = pathlib.Path(scratch) / "kubectl-sched"
        said = subprocess.run([plugin, "version"], check=True, capture_output=True, text=True, env={}).stdout.strip()
        loaded = sbom.output(*next(iter(pathlib.Path(scratch, "lib").glob("ld-linux*"))).as_posix().split(), "--library-path",
                             f"{scratch}/lib", "--list", f"{scratch}/kubeschedctl")
    if any("=>" in line and scratch not in line for line in loaded.splitlines()):
        sys.exit(f"a library of this system is used:\n{loaded}")
    print(f"out of the archive: {said}")
    why = delivery.KREW.why_unavailable()
    if why:
        print(f"the manifest was not checked: {why}")
        return
    command = [delivery.KREW.folder() / "validate-krew-manifest", "-skip-install", "-manifest", manifest]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"validate-krew-manifest: {done.stdout}{done.stderr}")
    print("validate-krew-manifest: the manifest is good")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build" / "bin", help="folder of the built program")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "krew", help="where archive and manifest go")
    parser.add_argument("--url", default="https://kubesched.dev/releases", help="where the archive will be fetched from")
    parser.add_argument("--check", action="store_true", help="run it, and have Krew's tool judge the manifest")
    options = parser.parse_args()
    made = _make(options)
    if options.check:
        _check(*made)


if __name__ == "__main__":
    main()
