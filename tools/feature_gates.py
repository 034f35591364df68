# SPDX-License-Identifier: Apache-2.0
"""Feature gates as the real kube-scheduler knows them: writes src/config/gates/feature_gate_table.cc.

    python3 tools/feature_gates.py [--kube-scheduler FILE] [--check]

Everything is asked of the running binary: names, stages and states from its metric kubernetes_feature_enabled at every version it
emulates, locks and dependencies from what it says when a gate is set. --check compares and writes nothing. Takes some two minutes.
"""

import argparse
import contextlib
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLE = ROOT / "src" / "config" / "feature_gate_table.cc"
VERSIONS = ("1.34", "1.35", "1.36", "1.37")
STAGES = {"ALPHA": "kAlpha", "BETA": "kBeta", "": "kGa", "DEPRECATED": "kDeprecated"}
GROUPS = ("AllAlpha", "AllBeta")

KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
current-context: none
"""


class Binary:
    """The real kube-scheduler."""

    def __init__(self, path):
        self.path = str(path)

    def set_gates(self, version, gates):
        """What it says about these settings; gates are all that is judged before --version ends it."""
        flag = ",".join(f"{name}={'true' if on else 'false'}" for name, on in gates.items())
        done = subprocess.run([self.path, f"--emulated-version={version}", f"--feature-gates={flag}", "--version"],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode == 0, done.stderr

    def states(self, version, min_compatibility=None):
        """{name: (stage, enabled)} from its metrics."""
        with socket.socket() as probe, tempfile.NamedTemporaryFile("w", suffix=".kubeconfig") as kubeconfig:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            kubeconfig.write(KUBECONFIG)
            kubeconfig.flush()
            probe.close()
            arguments = [self.path, f"--kubeconfig={kubeconfig.name}", "--bind-address=127.0.0.1", f"--secure-port={port}",
                         "--authorization-always-allow-paths=/metrics", "--leader-elect=false", f"--emulated-version={version}"]
            if min_compatibility:
                arguments.append(f"--min-compatibility-version={min_compatibility}")
            with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                try:
                    text = _fetch(f"https://127.0.0.1:{port}/metrics")
                finally:
                    process.kill()
        found = re.findall(r'^kubernetes_feature_enabled\{name="(\w+)",stage="(\w*)"\} ([01])$', text, re.MULTILINE)
        return {name: (stage, on == "1") for name, stage, on in found}


def _fetch(url):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    deadline = time.monotonic() + 30
    while True:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            with urllib.request.urlopen(url, context=context, timeout=10) as answer:
                text = answer.read().decode()
            if "kubernetes_feature_enabled" in text:
                return text
        if time.monotonic() > deadline:
            raise SystemExit(f"{url} does not answer")
        time.sleep(0.1)


def learn(binary):
    """{name: {"versions": [(stage, enabled, locked) or None, ...], "needs": [name, ...], "compatibility": minor or 0}}"""
    gates = {}
    for column, version in enumerate(VERSIONS):
        states = binary.states(version)
        locked = {}
        for name, (stage, on) in states.items():
            _, said = binary.set_gates(version, {name: not on})
            locked[name] = f"cannot set feature gate {name} to {'false' if on else 'true'}, feature is locked" in said
            row = gates.setdefault(name, {"versions": [None] * len(VERSIONS), "needs": [], "compatibility": 0})
            if "is PreAlpha at emulated version" not in said:
                row["versions"][column] = (stage, on, locked[name])
        _learn_needs(binary, version, states, locked, gates)
    _learn_compatibility(binary, gates)
    return gates


def _learn_compatibility(binary, gates):
    """Defaults that depend on --min-compatibility-version. Today that is so at the newest version only."""
    for version in VERSIONS:
        usual = binary.states(version)
        for minimum in VERSIONS[:VERSIONS.index(version) + 1]:
            for name, state in binary.states(version, minimum).items():
                if state == usual[name]:
                    continue
                if (version, minimum) != (VERSIONS[-1], VERSIONS[-1]) or not state[1]:
                    raise SystemExit(f"{name} at {version} with minimum {minimum}: the table has no column for this")
                gates[name]["compatibility"] = int(minimum.split(".")[1])


def _learn_needs(binary, version, states, locked, gates):
    known = [name for name in states if gates[name]["versions"][VERSIONS.index(version)] and name not in GROUPS]
    for name in known:
        if locked[name] and not states[name][1]:
            continue
        settings = {other: False for other in known if not locked[other]}
        if not locked[name]:
            settings[name] = True
        _, said = binary.set_gates(version, settings)
        for gate, needs in re.findall(r"(\w+) is enabled, but depends on features that are disabled: \[([\w ]*)\]", said):
            for need in needs.split():
                if need not in gates[gate]["needs"]:
                    gates[gate]["needs"].append(need)


def render(gates):
    """The table file."""
    lines = ["// SPDX-License-Identifier: Apache-2.0",
             "// Written by tools/feature_gates.py from a running kube-scheduler v1.37.1. Do not edit.",
             '#include "config/gates/feature_gate_table.h"', "", "namespace ks::config {", "namespace {", "",
             "// clang-format off", "constexpr GateVersion kNone{Stage::kPreAlpha, false, false};"]
    values = sorted({value for row in gates.values() for value in row["versions"] if value}, key=str)
    names = {None: "kNone"}
    for stage, on, locked in values:
        names[(stage, on, locked)] = f"{STAGES[stage]}{'On' if on else 'Off'}{'Locked' if locked else ''}"
        lines.append(f"constexpr GateVersion {names[(stage, on, locked)]}{{Stage::{STAGES[stage]}, "
                     f"{str(on).lower()}, {str(locked).lower()}}};")
    lines += ["", "// Sorted by name; columns: " + ", ".join(VERSIONS) + ".", "constexpr GateRow kRows[] = {"]
    for name in sorted(gates):
        columns = ", ".join(names[value] for value in gates[name]["versions"])
        lines.append(f'    {{"{name}", {{{{{columns}}}}}, "{" ".join(gates[name]["needs"])}", '
                     f'{gates[name]["compatibility"]}}},')
    lines += ["};", "// clang-format on", "", "}  // namespace", "",
              "std::span<const GateRow> GateRows() { return kRows; }", "", "}  // namespace ks::config", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kube-scheduler", help="the binary; default: that of tools/controlplane")
    parser.add_argument("--check", action="store_true", help="compare with the table in the tree")
    options = parser.parse_args()
    path = options.kube_scheduler
    if not path:
        found = subprocess.run([sys.executable, str(ROOT / "tools" / "controlplane"), "bindir"], capture_output=True, text=True,
                               check=False)
        if found.returncode != 0:
            raise SystemExit(found.stderr.strip() or "there is no kube-scheduler: ./dev controlplane build")
        path = pathlib.Path(found.stdout.strip()) / "kube-scheduler"
    text = render(learn(Binary(path)))
    if not options.check:
        TABLE.write_text(text, encoding="utf-8")
    elif TABLE.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{TABLE} is not what {path} knows: run {sys.argv[0]} without --check")


if __name__ == "__main__":
    main()
