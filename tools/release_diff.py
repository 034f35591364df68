# SPDX-License-Identifier: Apache-2.0
"""Says where files differ, down into archives: python3 tools/release.py --compare A B.

A tar archive, what gzip or xz packed, a Debian package (ar) and an OCI image are looked into, each in the other; of programs the
sections that differ are named. Of each file the first difference is told: the rest mostly follows from it."""

import gzip
import io
import json
import lzma
import struct
import tarfile

_AR = b"!<arch>\n"
_ELF64 = b"\x7fELF\x02"
_DIGESTS = "blobs/sha256/"


def _tar_members(data):
    """[(name, what stands in the header beside it, bytes)] in the archive's order."""
    members = []
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            header = (f"type {entry.type.decode()}, mode {entry.mode:o}, owner {entry.uid}:{entry.gid} {entry.uname}:{entry.gname}, "
                      f"time {entry.mtime}, link {entry.linkname!r}")
            members.append((entry.name.removeprefix("./"), header, archive.extractfile(entry).read() if entry.isfile() else b""))
    return _by_role(members)


def _by_role(members):
    """The files of an OCI layout by what they are, not by their digests, those first from which the others follow; others as they are."""
    blobs = {name.removeprefix(_DIGESTS): data for name, _, data in members if name.startswith(_DIGESTS) and data}
    index = next((data for name, _, data in members if name == "index.json"), None)
    if index is None or not blobs:
        return members

    def digest(descriptor):
        return descriptor["digest"].removeprefix("sha256:")

    roles = {}
    for entry in json.loads(index)["manifests"]:
        manifest = json.loads(blobs[digest(entry)])
        for number, layer in enumerate(manifest["layers"]):
            roles[f"layer {number}"] = blobs[digest(layer)]
        roles["configuration"], roles["manifest"] = blobs[digest(manifest["config"])], blobs[digest(entry)]
    return [(role, "", data) for role, data in roles.items()] + [m for m in members if not m[0].startswith(_DIGESTS)]


def _ar_members(data):
    members, place = [], len(_AR)
    while place + 60 <= len(data):
        header = data[place:place + 60].decode("ascii")
        size = int(header[48:58])
        members.append((header[:16].strip().rstrip("/"), f"time {header[16:28].strip()}, mode {header[40:48].strip()}",
                        data[place + 60:place + 60 + size]))
        place += 60 + size + size % 2
    return members


def _members(data):
    """What is in an archive, or None of other files."""
    if data.startswith(b"\x1f\x8b"):
        return [("unpacked", f"made at {struct.unpack_from('<I', data, 4)[0]}", gzip.decompress(data))]
    if data.startswith(b"\xfd7zXZ"):
        return [("unpacked", "", lzma.decompress(data))]
    if data.startswith(_AR):
        return _ar_members(data)
    if data[257:262] == b"ustar":
        return _tar_members(data)
    return None


def sections(data):
    """{name: bytes} of a 64-bit little-endian program; sections without bytes in the file are empty."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * number) for number in range(count)]
    names = headers[names_at][4]
    found = {}
    for name_at, kind, _, _, offset, length in headers:
        name = data[names + name_at:data.index(b"\0", names + name_at)].decode("ascii", "replace")
        found[name] = b"" if kind == 8 else data[offset:offset + length]  # 8: SHT_NOBITS
    return found


def _first_offset(one, other):
    for offset, (left, right) in enumerate(zip(one, other)):
        if left != right:
            return offset
    return min(len(one), len(other))


def _in_bytes(one, other):
    offset = _first_offset(one, other)
    left, right = one[offset:offset + 16], other[offset:offset + 16]
    text = f"offset {offset} of {len(one)} and {len(other)} bytes: {left!r} and {right!r}"
    if one.startswith(_ELF64) and other.startswith(_ELF64):
        mine, theirs = sections(one), sections(other)
        differ = [name or "(none)" for name in {**mine, **theirs} if mine.get(name) != theirs.get(name)]
        text += f"; sections that differ: {', '.join(differ) or 'none, only headers'}"
    return text


def first_difference(one, other):
    """A text, or None if the bytes are the same."""
    if one == other:
        return None
    mine, theirs = _members(one), _members(other)
    if mine is None or theirs is None:
        return _in_bytes(one, other)
    for (name, header, data), (other_name, other_header, other_data) in zip(mine, theirs):
        if name != other_name:
            return f"{name} stands where the other has {other_name}"
        if (inner := first_difference(data, other_data)) is not None:
            return f"{name}: {inner}"
        if header != other_header:
            return f"{name}: {header} and {other_header}"
    if len(mine) != len(theirs):
        longer, side = (mine, "first") if len(mine) > len(theirs) else (theirs, "second")
        return f"{longer[min(len(mine), len(theirs))][0]}: only in the {side}"
    return f"the same content, packed otherwise: {_in_bytes(one, other)}"


def _files(folder):
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}


def compare(one, other):
    """Lines, one for each file that differs, of two files or two folders. Empty: all bytes are the same."""
    for path in (one, other):
        if not path.exists():
            raise FileNotFoundError(f"there is no {path}")
    mine, theirs = (_files(path) if path.is_dir() else {"": path} for path in (one, other))
    lines = []
    for name in sorted({*mine, *theirs}):
        if name not in theirs or name not in mine:
            lines.append(f"{name}: only in {one if name in mine else other}")
        elif (where := first_difference(mine[name].read_bytes(), theirs[name].read_bytes())) is not None:
            lines.append(f"{name or mine[name].name}: {where}")
    return lines
