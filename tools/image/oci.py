# SPDX-License-Identifier: Apache-2.0
"""An image in OCI's form: layers, configuration, manifest and index in a folder and, the same, in one archive. The same content
makes the same bytes: sorted, owned by root, with one time stamp."""

import dataclasses
import gzip
import hashlib
import io
import json
import shutil
import tarfile
import time

import content

_KIND = "application/vnd.oci.image."
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True)
class Blob:
    kind: str
    data: bytes

    @property
    def hex(self):
        return hashlib.sha256(self.data).hexdigest()

    def descriptor(self, **more):
        return {"mediaType": self.kind, "digest": f"sha256:{self.hex}", "size": len(self.data), **more}


def _json(kind, value):
    return Blob(kind, json.dumps(value, sort_keys=True, separators=(",", ":")).encode())


def _with_folders(files):
    """The files and the folders above them."""
    complete = dict(files)
    for path in files:
        parts = path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            complete.setdefault("/".join(parts[:depth]), content.Folder())
    return complete


def _entry(path, item, epoch):
    entry = tarfile.TarInfo(path)
    entry.mtime = epoch
    if isinstance(item, content.File):
        entry.mode, entry.size = item.mode, len(item.data)
    elif isinstance(item, content.Link):
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, item.target, 0o777
    else:
        entry.type, entry.mode = tarfile.DIRTYPE, item.mode
    return entry


def tar_of(files, epoch):
    """An uncompressed archive of content's items by path."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, item in sorted(_with_folders(files).items()):
            archive.addfile(_entry(path, item, epoch), io.BytesIO(item.data) if isinstance(item, content.File) else None)
    return out.getvalue()


@dataclasses.dataclass(frozen=True)
class Image:
    blobs: list  # the manifest is the last one
    uncompressed: int  # bytes of the layers
    compressed: int
    epoch: int

    @property
    def manifest(self):
        return self.blobs[-1]


def build(layers, config, annotations, architecture, epoch):
    """layers: of content's items, the lowest first. config: OCI's, what a container runs."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    tars = [tar_of(files, epoch) for files in layers]
    packed = [Blob(_KIND + "layer.v1.tar+gzip", gzip.compress(tar, 9, mtime=0)) for tar in tars]
    configuration = _json(_KIND + "config.v1+json", {
        "architecture": architecture, "os": "linux", "created": created, "config": config,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(tar).hexdigest()}" for tar in tars]},
        "history": [{"created": created, "created_by": "./dev image", "comment": files} for files in ("Debian packages", "programs")],
    })
    manifest = _json(_KIND + "manifest.v1+json", {
        "schemaVersion": 2, "mediaType": _KIND + "manifest.v1+json", "config": configuration.descriptor(),
        "layers": [layer.descriptor() for layer in packed],
        "annotations": {**annotations, "org.opencontainers.image.created": created},
    })
    return Image([*packed, configuration, manifest], sum(map(len, tars)), sum(len(layer.data) for layer in packed), epoch)


def _files(image, tag, architecture):
    """The layout's files by path."""
    index = _json(_KIND + "index.v1+json", {
        "schemaVersion": 2, "mediaType": _KIND + "index.v1+json",
        "manifests": [image.manifest.descriptor(platform={"architecture": architecture, "os": "linux"},
                                                annotations={"org.opencontainers.image.ref.name": tag})]})
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.json": index.data}
    files.update({f"blobs/sha256/{blob.hex}": blob.data for blob in image.blobs})
    return files


def write(image, tag, architecture, folder):
    """The layout as a folder, and as FOLDER.tar beside it. What was there is replaced."""
    files = _files(image, tag, architecture)
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    archive = folder.parent / f"{folder.name}.tar"
    archive.write_bytes(tar_of({path: content.File(data) for path, data in files.items()}, image.epoch))
    return archive
