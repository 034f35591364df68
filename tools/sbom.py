#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints an SPDX 2.3 document of what a built program consists of: `tools/sbom.py build/bin/kubesched`.

Shared libraries come from the program itself (ldd) and are named by the Debian packages that own them; header-only
libraries leave no trace there and are listed by hand. Licenses are NOASSERTION: Debian's copyright files have them.
"""

import datetime
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

# Compiled into the programs.
HEADER_ONLY = ["libboost-dev", "libcli11-dev", "libhighwayhash-dev", "libprotozero-dev", "nlohmann-json3-dev"]
EMBEDDED = {"kubeschedctl": ["libjs-chart.js"]}  # program: packages whose files are in it as they are
ROOT = pathlib.Path(__file__).resolve().parent.parent


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Real paths of the shared objects that the program loads."""
    for line in output("ldd", program).splitlines():
        match = re.search(r"(/\S+) \(0x", line)
        if match:
            yield os.path.realpath(match.group(1))
        elif "not found" in line:
            raise SystemExit(f"sbom: {program}: {line.strip()}: install it first")


def embedded(program):
    """The packages whose files are in the program as they are."""
    return EMBEDDED.get(os.path.basename(program), [])


@functools.cache
def owner(path):
    """The Debian package of a file; the database may know it without the leading /usr."""
    for candidate in (path, path.removeprefix("/usr")):
        found = subprocess.run(["dpkg", "-S", candidate], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    raise SystemExit(f"sbom: no Debian package owns {path}: build with the packages that ./dev installs")


def package(name):
    version, architecture, source = output("dpkg-query", "-W", "-f", "${Version}\t${Architecture}\t${source:Package}\n",
                                           name).splitlines()[0].split("\t")
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "sourceInfo": f"built from the source package {source}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{name}@{version}?arch={architecture}&distro=debian-12",
        }],
    }


def epoch():
    """The time that what is made bears: the commit's, or SOURCE_DATE_EPOCH."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(ROOT), "log", "-1", "--format=%ct"))


def project_version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(kubesched VERSION ([0-9.]+)", text).group(1)


def itself(program, version):
    name = os.path.basename(program)
    return {
        "SPDXID": f"SPDXRef-program-{name}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
    }


def document(programs, beside=()):
    """Of these programs together. beside: names of packages that are delivered with them, linked or not."""
    version = project_version()
    commit, seconds = output("git", "-C", str(ROOT), "log", "-1", "--format=%H %ct").split()
    created = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    own = [itself(program, version) for program in programs]
    linked = [{owner(path) for path in libraries(program)} for program in programs]
    packages = {name: package(name) for name in sorted({*HEADER_ONLY, *beside}.union(*linked, *map(embedded, programs)))}

    def relation(one, kind, other):
        return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}

    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", program["SPDXID"]) for program in own]
    for program, names in zip(own, linked):
        relations += [relation(program["SPDXID"], "DYNAMIC_LINK", packages[name]["SPDXID"]) for name in sorted(names)]
        relations += [relation(program["SPDXID"], "STATIC_LINK", packages[name]["SPDXID"]) for name in HEADER_ONLY]
        relations += [relation(program["SPDXID"], "CONTAINS", packages[name]["SPDXID"]) for name in embedded(program["name"])]
    relations += [relation("SPDXRef-DOCUMENT", "DESCRIBES", packages[name]["SPDXID"]) for name in beside]
    title = own[0]["name"]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{title}-{version}",
        "documentNamespace": f"urn:kubesched:{title}:{commit}",
        "creationInfo": {"created": created, "creators": ["Tool: kubesched-sbom"]},
        "packages": [*own, *packages.values()],
        "relationships": relations,
    }


def main():
    if len(sys.argv) != 2 or not os.path.isfile(sys.argv[1]):
        raise SystemExit("usage: tools/sbom.py PROGRAM (build it first: ./dev build)")
    json.dump(document([sys.argv[1]]), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
