# SPDX-License-Identifier: Apache-2.0
"""Upstream's own end-to-end tests, run against kubesched and beside it against kube-scheduler. Behind ./dev upstream.

    ./dev upstream [SUITE...] [--scheduler kubesched|kube-scheduler|both] [--focus REGEX]

Each scheduler gets a control plane of its own (etcd, kube-apiserver, kube-controller-manager), three nodes that kwok keeps, and
upstream's test program; the two run side by side. A table says how each test ended, the last line is "N regressions", and the
status is 1 if there is one: a test that passed with kube-scheduler and did not with kubesched. Tests that fail with both want what
is not there, such as a kubelet. With one scheduler only, every test that fails counts.

Logs and reports are in build/upstream/SUITE/SCHEDULER. Ends with 77 where Go is missing, cannot be fetched, and nothing was built before.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import build  # noqa: E402
import cluster  # noqa: E402

SKIPPED = 77  # what a test without its servers ends with
SCHEDULERS = ("kube-scheduler", "kubesched")
_NODES = 3
_STAGES = {name: f"{path}/{name}.yaml" for name, path in (  # of kwok's own; the others are in test/upstream/stages.yaml
    ("node-initialize", "node/fast"), ("node-heartbeat-with-lease", "node/heartbeat-with-lease"), ("pod-ready", "pod/fast"),
    ("pod-complete", "pod/fast"))}
_NOT_RUN = ("not run", 0, "")
_PATIENCE_S = 60
_POLL_S = 0.5


@dataclasses.dataclass(frozen=True)
class Suite:
    about: str
    focus: str  # regular expressions of Go: tests with the one in their name, without the other
    skip: str = ""
    gates: str = ""  # of the API server, the controllers and the scheduler
    server_gates: str = ""  # of the first two only
    apis: str = ""  # what kube-apiserver serves beyond the default


SUITES = {
    "dra": Suite(
        "devices: what needs no kubelet", r"\[sig-node\] \[DRA\] control plane",
        server_gates="DRAResourcePoolStatus=true,DRAPartitionableDevicesType=true",
        apis="resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true,resource.k8s.io/v1alpha3=true"),
    "scheduling": Suite("conformance", r"\[sig-scheduling\].*\[Conformance\]"),
    "placement": Suite("filtering, scoring, spreading, preemption beyond conformance", r"\[sig-scheduling\] (Multi-AZ|Scheduler)",
                       r"\[Conformance\]"),
    "groups": Suite(
        "pod groups", r"\[sig-scheduling\] (GangScheduling|WorkloadAwarePreemption|Workload )", gates="GenericWorkload=true",
        apis="scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true"),
}


class _UpstreamModule(build.Module):
    def _fill(self, go, scratch):
        self._go(go, "build", f"{scratch}/", "sigs.k8s.io/kwok/cmd/kwok")
        self._go(go, "test -c -vet=off", f"{scratch}/e2e.test", "k8s.io/kubernetes/test/e2e")
        kwok = subprocess.run([go, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"], cwd=self.source, capture_output=True, text=True,
                              check=True).stdout.strip()
        for name, path in _STAGES.items():
            shutil.copyfile(pathlib.Path(kwok) / "kustomize" / "stage" / path, scratch / name)
            (scratch / name).chmod(0o755)  # complete is what can be executed


MODULE = _UpstreamModule("upstream", "upstream's test program", ("kwok", "e2e.test", *_STAGES), "KS_UPSTREAM_BIN",
                         "./dev upstream --build", 12)


def outcomes(report):
    """The tests of Ginkgo's JSON report that were chosen: {name: (state, seconds, why it failed)}."""
    found = {}
    for suite in report:
        for spec in suite["SpecReports"] or []:
            why = spec.get("Failure", {}).get("Message", "")
            if spec["LeafNodeType"] != "It" or (spec["State"] == "skipped" and not why):
                continue
            name = " ".join([*(spec["ContainerHierarchyTexts"] or []), spec["LeafNodeText"]])
            found[name] = (spec["State"], spec["RunTime"] / 1e9, why)
    return found


def regressions(results):
    """Names of the tests that count as failed: results is {scheduler: outcomes}."""
    if len(results) == 1:
        [found] = results.values()
        return sorted(name for name, (state, _, _) in found.items() if state not in ("passed", "skipped"))
    theirs, ours = (results[scheduler] for scheduler in SCHEDULERS)
    return sorted(name for name, (state, _, _) in theirs.items() if state == "passed" and ours.get(name, _NOT_RUN)[0] != "passed")


def table(results):
    """One line a test: how it ended with each scheduler, after how many seconds, its name."""
    names = sorted({name for found in results.values() for name in found})
    lines = ["  ".join(f"{scheduler:>20}" for scheduler in results) + "  test"]
    for name in names:
        cells = []
        for found in results.values():
            state, seconds, _ = found.get(name, _NOT_RUN)
            cells.append(f"{state + f' {seconds:5.0f} s':>20}")
        lines.append("  ".join(cells) + "  " + name)
    return lines


class _Run:
    """One suite with one scheduler. Everything it starts ends with it."""

    def __init__(self, name, suite, scheduler, program, seed):
        self.title = f"{name}, {scheduler}"
        self.suite = suite
        self.scheduler = scheduler
        self.program = program
        self.seed = seed
        self.kept = ROOT / "build" / "upstream" / name / scheduler
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kubesched-upstream-"))
        both = [f"--feature-gates={gates}" for gates in (suite.gates, suite.server_gates) if gates]
        apis = [f"--runtime-config={suite.apis}"] if suite.apis else []
        self.plane = cluster.Cluster(self.folder, True, [*both, *apis], True, both)
        self.test = None

    def start(self):
        """Raises StartError."""
        shutil.rmtree(self.kept, ignore_errors=True)
        self.kept.mkdir(parents=True)
        self.plane.up()
        self._create_nodes()
        admin = self.folder / "admin.kubeconfig"
        stages = [f"--config={path}" for path in (*(MODULE.folder() / name for name in _STAGES), MODULE.source / "stages.yaml")]
        self.plane.add("kwok", ["env", f"KWOK_WORKDIR={self.folder}", MODULE.folder() / "kwok", f"--kubeconfig={admin}", *stages,
                                "--manage-all-nodes", "--node-lease-duration-seconds=40"])
        config = self.folder / "scheduler.json"
        config.write_text(json.dumps(self._configuration()))
        gates = [f"--feature-gates={self.suite.gates}"] if self.suite.gates else []
        self.plane.add(self.scheduler, [self.program, f"--config={config}", "--secure-port=0", *gates])
        self._wait_for_nodes()
        self.test = self.plane.add("e2e.test", [
            MODULE.folder() / "e2e.test", f"--kubeconfig={admin}", "--provider=skeleton", f"--num-nodes={_NODES}",
            "--allowed-not-ready-nodes=0", "--dump-logs-on-failure=false", f"--kubectl-path={build.binary_dir() / 'kubectl'}",
            f"--repo-root={self.folder}", f"--e2e-output-dir={self.folder}", f"--ginkgo.focus={self.suite.focus}",
            f"--ginkgo.skip={self.suite.skip}", f"--ginkgo.seed={self.seed}",
            f"--ginkgo.json-report={self.kept / 'report.json'}", "--ginkgo.timeout=2h", "--ginkgo.no-color", "--ginkgo.v"],
            cwd=self.folder)

    def poll(self):
        """Whether the tests are through. Raises StartError if what they need is not there any more."""
        if self.test.poll() is not None:
            return True
        for name, child in self.plane.children.items():
            if child.poll() is not None:
                raise cluster.StartError(f"{self.scheduler}: {name} ended with status {child.returncode}: see {self.kept / 'logs'}")
        return False

    def results(self):
        """Raises StartError."""
        try:
            return outcomes(json.loads((self.kept / "report.json").read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError) as error:
            raise cluster.StartError(f"{self.scheduler}: no report ({error}): see {self.kept / 'logs'}") from error

    def stop(self):
        self.plane.stop(grace_s=5)
        logs = self.folder / "logs"
        if logs.exists():
            shutil.move(logs, self.kept / "logs")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _configuration(self):
        return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                "leaderElection": {"leaderElect": False},
                "clientConnection": {"kubeconfig": str(self.folder / "scheduler.kubeconfig")},
                "profiles": [{"schedulerName": "default-scheduler"}]}

    def _kubectl(self, *arguments):
        done = subprocess.run([build.binary_dir() / "kubectl", f"--kubeconfig={self.folder / 'admin.kubeconfig'}", *arguments],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise cluster.StartError(f"{self.scheduler}: kubectl {arguments[0]}: {done.stderr.strip()}")
        return done.stdout

    def _create_nodes(self):
        room = {"cpu": "4", "memory": "16Gi", "ephemeral-storage": "100Gi", "pods": "110"}
        nodes = [{"apiVersion": "v1", "kind": "Node",
                  "metadata": {"name": name, "labels": {
                      "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
                      "topology.kubernetes.io/region": "region", "topology.kubernetes.io/zone": f"zone-{number}"}},
                  "status": {"capacity": room, "allocatable": room,
                             "addresses": [{"type": "InternalIP", "address": f"127.0.1.{number}"}, {"type": "Hostname", "address": name}]}}
                 for number in range(1, _NODES + 1) for name in [f"node-{number}"]]
        manifest = self.folder / "nodes.json"
        manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
        self._kubectl("create", f"--filename={manifest}")

    def _wait_for_nodes(self):
        self._kubectl("wait", "nodes", "--all", "--for=condition=Ready", f"--timeout={_PATIENCE_S}s")


def _run_suite(name, suite, programs, seed):
    """{scheduler: outcomes}. Raises StartError."""
    runs = []
    begin = time.monotonic()
    try:
        for scheduler, program in programs.items():
            runs.append(_Run(name, suite, scheduler, program, seed))
            runs[-1].start()
            print(f"{runs[-1].title}: running", flush=True)
        waiting = list(runs)
        while waiting:
            time.sleep(_POLL_S)
            for run in [run for run in waiting if run.poll()]:
                waiting.remove(run)
                print(f"{run.title}: through after {time.monotonic() - begin:.0f} s", flush=True)
        return {run.scheduler: run.results() for run in runs}
    finally:
        for run in runs:
            run.stop()


def _report(name, results):
    """Prints what came out; returns how many regressions."""
    failed = regressions(results)
    print("\n".join(table(results)))
    for test in failed:
        _, _, why = list(results.values())[-1].get(test, _NOT_RUN)
        print(f"FAILED: {test}\n    " + "\n    ".join(why.strip().splitlines()[:12]))
    passed = ", ".join(f"{sum(state == 'passed' for state, _, _ in found.values())} of {len(found)} pass with {scheduler}"
                       for scheduler, found in results.items())
    print(f"{name}: {passed}", flush=True)
    if not any(state == "passed" for found in results.values() for state, _, _ in found.values()):
        print(f"{name}: no test passed at all", flush=True)
        return len(failed) + 1
    return len(failed)


def _parse():
    parser = argparse.ArgumentParser(prog="./dev upstream", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="suites: " + "; ".join(f"{name} ({suite.about})" for name, suite in SUITES.items()))
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="default: " + ", ".join(SUITES))
    parser.add_argument("--scheduler", choices=(*SCHEDULERS, "both"), default="both")
    parser.add_argument("--focus", help="tests of the suites' clusters by a regular expression of Go, instead of the suites' own")
    parser.add_argument("--seed", type=int, default=1, help="of the tests' order")
    parser.add_argument("--kubesched", type=pathlib.Path, default=ROOT / "build" / "bin" / "kubesched", help="the program")
    parser.add_argument("--build", action="store_true", help="only build upstream's programs into the cache, unless they are there")
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite {', '.join(unknown)}: {', '.join(SUITES)}")
    options.suites = options.suites or list(SUITES)
    return options


def _build():
    """Whether everything is there now."""
    try:
        for module in (build.CONTROL_PLANE, MODULE):
            module.build(lambda text: print(text, flush=True))
    except build.BuildError as error:
        print(f"SKIPPED: {error}" if build.find_go() is None else error, file=sys.stderr)
        sys.exit(SKIPPED if build.find_go() is None else 1)


def _on_terminate(_number, _frame):
    raise SystemExit(1)


def main():
    options = _parse()
    signal.signal(signal.SIGTERM, _on_terminate)
    _build()
    if options.build:
        return 0
    programs = {"kube-scheduler": build.binary_dir() / "kube-scheduler", "kubesched": options.kubesched.resolve()}
    if options.scheduler != "both":
        programs = {options.scheduler: programs[options.scheduler]}
    failed = 0
    for name in options.suites:
        suite = dataclasses.replace(SUITES[name], focus=options.focus, skip="") if options.focus else SUITES[name]
        try:
            failed += _report(name, _run_suite(name, suite, programs, options.seed))
        except (cluster.StartError, OSError, RuntimeError) as error:
            print(f"{name}: {error}", flush=True)
            failed += 1
    print(f"{failed} regressions")
    return 1 if failed else 0


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
