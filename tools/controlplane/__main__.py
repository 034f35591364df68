# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes control plane for tests and the demo: python3 tools/controlplane VERB.

./dev controlplane and the C++ fixture ControlPlane (test/testing/control_plane.h) are both fronts of this program. With the
environment variable KS_KUBERNETES_VERSION=v1.36 (or another of versions.py), up and serve take the API server of that version.
"""

import argparse
import json
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True

import build  # noqa: E402  (after the switch above)
import cluster  # noqa: E402
import delivery  # noqa: E402
import go_toolchain  # noqa: E402
import processes  # noqa: E402
import supervisor  # noqa: E402
import versions  # noqa: E402


def _state(folder):
    try:
        return json.loads((folder / "state.json").read_text())
    except FileNotFoundError:
        return None


def _running(state):
    return {name: entry["pid"] for name, entry in state["processes"].items()
            if processes.start_time(entry["pid"]) == entry["started"]}


def _up(options):
    folder = options.dir.resolve()
    state = _state(folder)
    if state and _running(state):
        sys.exit(f"{folder}: a control plane is up already ({state['url']}): take it down first")
    if state:
        shutil.rmtree(folder)  # left behind by a machine that went down
    why = versions.why_unavailable()
    if why:
        sys.exit(why)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} is not empty and is no control plane's folder: choose another with --dir")
    made = cluster.Cluster(folder, False, options.apiserver_arg, options.with_controller_manager, options.controller_manager_arg)
    try:
        made.up()
    except (cluster.StartError, RuntimeError) as error:
        sys.exit(str(error))
    print(f"control plane {versions.release()} is up: {made.url}, folder {folder}")


def _down(options):
    folder = options.dir.resolve()
    state = _state(folder)
    if not state:
        print(f"{folder}: no control plane")
        return
    for name, entry in reversed(state["processes"].items()):
        if processes.end(entry["pid"], entry["started"], 5):
            print(f"{name} had to be killed")
    shutil.rmtree(folder)
    print("control plane is down")


def _env(options):
    folder = options.dir.resolve()
    if not _state(folder):
        sys.exit(f"{folder}: no control plane; start one with ./dev controlplane up")
    print(f"export KUBECONFIG={folder}/admin.kubeconfig")
    print(f"export KS_SCHEDULER_KUBECONFIG={folder}/scheduler.kubeconfig")
    print(f"export KS_CONTROLPLANE_BIN={build.binary_dir()}")
    print(f'export PATH="{build.binary_dir()}:$PATH"')


def _status(options):
    state = _state(options.dir.resolve())
    if not state:
        print("no control plane")
        sys.exit(1)
    running = _running(state)
    for name, entry in state["processes"].items():
        print(f"{name:24} {'running' if name in running else 'dead'}  pid {entry['pid']}")
    print(f"url                      {state['url']}")
    sys.exit(0 if len(running) == len(state["processes"]) else 1)


def _module(options):
    return versions.module(options.version) if options.version else build.CONTROL_PLANE


def _build(options):
    try:
        print(_module(options).build(lambda text: print(text, flush=True)))
    except build.BuildError as error:
        sys.exit(str(error))


def _build_delivery(_options):
    try:
        for module in delivery.MODULES:
            print(module.build(lambda text: print(text, flush=True)))
    except build.BuildError as error:
        sys.exit(str(error))


def _bindir(options):
    try:
        module = _module(options)
    except build.BuildError as error:
        sys.exit(str(error))
    why = module.why_unavailable()
    print(why or module.folder())
    sys.exit(1 if why else 0)


def _servers(_options):
    why = versions.why_unavailable()
    print(why or f"{build.binary_dir()}\n{versions.release()}")
    sys.exit(1 if why else 0)


def _source(_options):
    try:
        print(build.CONTROL_PLANE.kubernetes_source())
    except build.BuildError as error:
        sys.exit(str(error))


def _go(_options):
    try:
        print(go_toolchain.get(lambda text: print(text, file=sys.stderr, flush=True)))
    except go_toolchain.MissingError as error:
        sys.exit(str(error))


def _serve(options):
    sys.exit(supervisor.serve(options.apiserver_arg, options.with_controller_manager))


def _parse():
    default_dir = pathlib.Path(__file__).resolve().parents[2] / "build" / "controlplane"
    parser = argparse.ArgumentParser(prog="./dev controlplane", description="A real control plane on loopback, for tests.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, run, text in (
            ("up", _up, "start etcd and kube-apiserver and wait until they are ready"),
            ("down", _down, "end exactly what up started and remove its folder"),
            ("env", _env, "print export lines: eval \"$(./dev controlplane env)\""),
            ("status", _status, "print what runs; status 1 if anything does not"),
            ("build", _build, "build the binaries into the cache, unless they are there"),
            ("build-delivery", _build_delivery, "build helm, Krew's check of manifests and toxiproxy into the cache, unless they are there"),
            ("bindir", _bindir, "print the folder of the binaries; status 1 and the reason instead if they are not there"),
            ("servers", _servers, "print the same folder and the release of kube-apiserver, as tests use them; status 1 and the reason instead"),
            ("source", _source, "print the folder of Kubernetes' sources in Go's module cache; fetches them unless they are there"),
            ("go", _go, "print the go command: the machine's, or the cache's, fetched unless it is there"),
            ("serve", _serve, "run one until standard input ends; for test programs")):
        sub = verbs.add_parser(verb, help=text, description=text)
        sub.set_defaults(run=run)
        if verb in ("up", "down", "env", "status"):
            sub.add_argument("--dir", type=pathlib.Path, default=default_dir, help="its folder (default build/controlplane)")
        if verb in ("build", "bindir"):
            sub.add_argument("--version", metavar="|".join(versions.names()), help="of kube-apiserver and kube-controller-manager of that version")
        if verb in ("up", "serve"):
            sub.add_argument("--with-controller-manager", action="store_true")
            sub.add_argument("--apiserver-arg", action="append", default=[], metavar="FLAG",
                             help="a further kube-apiserver flag, such as --apiserver-arg=--feature-gates=X=true")
        if verb == "up":
            sub.add_argument("--controller-manager-arg", action="append", default=[], metavar="FLAG",
                             help="a further kube-controller-manager flag")
    return parser.parse_args()


if __name__ == "__main__":
    os.umask(0o022)
    chosen = _parse()
    chosen.run(chosen)
