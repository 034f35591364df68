# SPDX-License-Identifier: Apache-2.0
"""Makes the OCI image of kubesched and kubeschedctl out of built programs and Debian's packages: behind ./dev image.

    python3 tools/image [--programs FOLDER] [--out FOLDER] [--check]

Writes OUT/kubesched-VERSION (OCI's image layout), the same as OUT/kubesched-VERSION.tar (podman load, docker load,
skopeo copy oci-archive:…), and OUT/kubesched-VERSION.spdx.json (what is in it). The same programs and packages make the same bytes;
the time stamp is that of the commit, or SOURCE_DATE_EPOCH. --check: also lets skopeo read it and runs it (trial.py)."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]

import content  # noqa: E402  (after the switch above)
import oci  # noqa: E402
import sbom  # noqa: E402  (content has its folder on the path)
import trial  # noqa: E402

_PROGRAMS = ("kubesched", "kubeschedctl")


def _built(folder):
    programs = [folder / name for name in _PROGRAMS]
    for program in programs:
        if not os.access(program, os.X_OK):
            raise content.ContentError(f"there is no {program}: ./dev build makes it")
    return programs


def _checked_by_skopeo(layout, tag):
    """A strict reader's word on it: it looks at every blob on the way into another layout."""
    copy = layout.parent / f"{layout.name}.copy"
    shutil.rmtree(copy, ignore_errors=True)
    try:
        subprocess.run(["skopeo", "--insecure-policy", "copy", "--quiet", f"oci:{layout}:{tag}", f"oci:{copy}:{tag}"], check=True)
        said = json.loads(sbom.output("skopeo", "inspect", f"oci:{layout}:{tag}"))
    finally:
        shutil.rmtree(copy, ignore_errors=True)
    return f"skopeo: {said['Os']}/{said['Architecture']}, {len(said['Layers'])} layers, created {said['Created']}"


def _make(options):
    programs = _built(options.programs)
    version = sbom.project_version()
    architecture = oci.ARCHITECTURES[os.uname().machine]
    debian, packages = content.debian_layer(programs)
    config = {
        "User": f"{content.USER}:{content.USER}", "Entrypoint": [f"/{content.PROGRAM_FOLDER}/kubesched"], "WorkingDir": "/",
        "Env": [f"PATH=/{content.PROGRAM_FOLDER}:/usr/bin"], "ExposedPorts": {"10259/tcp": {}},
    }
    annotations = {"org.opencontainers.image.title": "kubesched", "org.opencontainers.image.version": version,
                   "org.opencontainers.image.licenses": "Apache-2.0",
                   "org.opencontainers.image.revision": sbom.output("git", "-C", str(ROOT), "rev-parse", "HEAD").strip()}
    image = oci.build([debian, content.program_layer(programs)], config, annotations, architecture, sbom.epoch())
    layout = options.out / f"kubesched-{version}"
    options.out.mkdir(parents=True, exist_ok=True)
    archive = oci.write(image, version, architecture, layout)
    bill = options.out / f"{layout.name}.spdx.json"
    bill.write_text(json.dumps(sbom.document([str(program) for program in programs], packages), indent=2) + "\n", encoding="utf-8")
    print(f"{archive}: {image.compressed / 1e6:.1f} MB compressed, {image.uncompressed / 1e6:.1f} MB unpacked, sha256:{image.manifest.hex}")
    print(f"{bill}: {len(packages)} Debian packages")
    return layout, version


def main():
    parser = argparse.ArgumentParser(prog="./dev image", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build" / "bin", help="folder of the built programs")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "image", help="where the image goes")
    parser.add_argument("--check", action="store_true", help="have skopeo read it, and run it")
    options = parser.parse_args()
    try:
        layout, version = _make(options)
        if options.check:
            why = trial.why_impossible()
            if why:
                print(f"SKIPPED: the image was not run: {why}")
                sys.exit(77)
            print(_checked_by_skopeo(layout, version))
            print("\n".join(trial.try_out(layout)))
    except (content.ContentError, trial.TrialError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
