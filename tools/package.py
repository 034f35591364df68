# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian package out of built programs: behind ./dev package.

    python3 tools/package.py [--programs FOLDER] [--out FOLDER] [--check]

debhelper does the work, by deploy/debian/rules. The same programs make the same bytes; the time stamp is that of the commit, or
SOURCE_DATE_EPOCH. --check: lintian finds no errors or warnings, systemd-analyze none in the unit, and the package is installed,
used and purged on a throw-away copy of this machine's root (as root only)."""

import argparse
import email.utils
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]

import sbom  # noqa: E402  (after the switch above)

_SHIPPED = ("CHANGELOG.md", "README.md", "docs/operating.md", "docs/debugging.md", "docs/flags.md", "deploy/monitoring")
# Runs where all that is written is forgotten. $1: the package.
_TRIAL = r"""
set -e
dpkg --install "$1" >/dev/null
kubesched --version
kubeschedctl version
kubectl-sched version
kubectl_complete-sched que
kubeschedctl check-config --elsewhere /etc/kubesched/config.yaml
bash -n /usr/share/bash-completion/completions/kubeschedctl
dpkg --verify kubesched
[ "$(dpkg-query --show --showformat='${Conffiles}' kubesched | wc -w)" = 2 ] || { echo "not one conffile" >&2; exit 1; }
for page in kubesched.8 kubeschedctl.1 kubeschedctl-explain.1 kubectl-sched.1; do
  [ -e "/usr/share/man/man${page##*.}/$page.gz" ] || grep -qs path-exclude=/usr/share/man /etc/dpkg/dpkg.cfg.d/* || { echo "no page $page" >&2; exit 1; }
done
systemd-analyze verify /lib/systemd/system/kubesched.service
systemd-analyze security --offline=true --threshold=15 /lib/systemd/system/kubesched.service | tail -n 1
dpkg --purge kubesched >/dev/null
left=$(find / -xdev -path /proc -prune -o \( -name '*kubesched*' -o -name 'kubectl*sched*' \) -newer "$1" -print | grep -v '^/tmp/\|/lib/dpkg/\|/log/' || true)
[ -z "$left" ] || { echo "left behind: $left" >&2; exit 1; }
echo "installed, used and purged"
"""


class PackageError(Exception):
    """A text for people."""


def _run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise PackageError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def _changelog(version, epoch):
    when = email.utils.formatdate(epoch)
    maintainer = re.search(r"^Maintainer: (.*)$", (ROOT / "deploy/debian/control").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    return (f"kubesched ({version}-1) unstable; urgency=medium\n\n  * Release {version}: what is new is in changelog.gz.\n\n"
            f" -- {maintainer}  {when.replace('-0000', '+0000')}\n")


def _tree(folder, version, epoch):
    """What debhelper works on."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in _SHIPPED:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, target)
    shutil.copytree(ROOT / "deploy" / "debian", folder / "debian")
    (folder / "debian" / "changelog").write_text(_changelog(version, epoch), encoding="utf-8")
    for path in folder.rglob("*"):  # dpkg-deb only changes times that are later
        os.utime(path, (epoch, epoch))


def make(options):
    version, epoch = sbom.project_version(), sbom.epoch()
    tree = options.out / f"kubesched-{version}"
    _tree(tree, version, epoch)
    programs = tree / "programs"
    programs.mkdir()
    for name in ("kubesched", "kubeschedctl"):  # without symbols before debhelper reads them several times
        _run("strip", "-o", programs / name, options.programs / name)
    _run("dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps", cwd=tree,
         env={**os.environ, "KS_PROGRAMS": str(programs.resolve()), "SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C.UTF-8"})
    shutil.rmtree(tree)
    [package] = options.out.glob(f"kubesched_{version}-1_*.deb")
    return package


def _throw_away(script, *arguments):
    """Runs the script on a copy of the root that is gone afterwards."""
    mounted = ("mount -t tmpfs scratch /mnt && cd /mnt && mkdir upper work root && "
               "mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root && "
               "mount --rbind /proc root/proc && mount --rbind /dev root/dev && cp \"$2\" root/package.deb && "
               "touch -d '1 second ago' root/package.deb && exec chroot root /bin/bash -c \"$1\" script /package.deb")
    return _run("unshare", "--mount", "/bin/bash", "-c", mounted, "script", script, *arguments)


def check(package):
    print(_run("lintian", "--fail-on=error,warning", "--tag-display-limit=0", "--allow-root", package) or "lintian: nothing to say")
    if os.geteuid() != 0:
        print("not root: not installed on a throw-away root")
        return
    print(_throw_away(_TRIAL, str(package.resolve())))


def main():
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build" / "bin", help="folder of the built programs")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "package", help="where the package goes")
    parser.add_argument("--check", action="store_true", help="lintian, and an installation that leaves nothing")
    options = parser.parse_args()
    if not all(map(shutil.which, ("dh", "help2man", "lintian"))):
        print("SKIPPED: debhelper, help2man or lintian are not installed: ./dev package installs them")
        sys.exit(77)
    try:
        package = make(options)
        print(f"{package}: {package.stat().st_size / 1e6:.1f} MB")
        if options.check:
            check(package)
    except PackageError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
