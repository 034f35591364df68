# SPDX-License-Identifier: Apache-2.0
"""What a user who may create pods can do to others' pods: the worst specs that the API server takes, for kubesched and kube-scheduler.

    worst_case.py [--kubesched FILE] [--kube-scheduler FILE] [--server kube-apiserver|embedded] [--only REGEX]
                  [--count 200] [--rate 50] [--seconds 10] [--nodes 200] [--specs 10000] [--kilobytes 0] [--runs 1] [--rounds 0]
                  [--floor] [--schedulers kubesched,kube-scheduler]

For each kind of spec: `--count` pods of it, each as large as the server takes (or of --kilobytes), come while victims' plain pods come at
--rate a second. Prints the scheduler's CPU and how much of it is for each attempt, its resident memory at most, and how long the victims
waited from their first sight to their node. The row "nobody" is without the attacker. `--specs` small pods stand for kinds that are about
many objects. With --floor the same pods come once more for a scheduler that is not there, and who sends them binds them at once, or says
that they do not fit: what their sending, storing, watching and reading cost the victims, whoever schedules. "x floor" is by how much the
victims' p99 is longer where they are scheduled. With --rounds nobody else is there: `--count` pods are created and deleted so many times,
each of texts of its own, and what the scheduler's resident memory is after each round (MB) shows whether anything is left of them.
Everything that comes is known in advance: nothing is random but names of collisions, which are computed.
"""

import argparse
import contextlib
import http.client
import json
import pathlib
import re
import shutil
import ssl
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test" / "security"), str(ROOT / "test" / "bench"), str(ROOT / "tools" / "controlplane"), str(ROOT / "tools")]

import build  # noqa: E402  (after the path above)
import cluster  # noqa: E402
import collisions  # noqa: E402
import first_list  # noqa: E402
import kube_client  # noqa: E402
import processes  # noqa: E402
import programs  # noqa: E402

ZONE_KEYS = 32  # labels of each node; what a user cannot change
DEVICES = 8  # of each node
MOST_PARTS = 300_000
MOST_SELECTORS = 32  # of one request
SENDERS = 4
_PATIENCE_S = 300
DEVICE_API = "/apis/resource.k8s.io/v1"
CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000}}
leaderElection: {{leaderElect: false}}
"""


# ---- what the attacker sends -----------------------------------------------------------------------------------------------------

def pod(name, **spec):
    container = {"name": "c", "image": "i", **spec.pop("container", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": spec.pop("labels", {})},
            "spec": {"containers": [container], **spec}}


def _term(number, part):
    """A term about all namespaces that no index by a label's value helps with."""
    return {"topologyKey": f"none/{part % 100}", "namespaceSelector": {},
            "labelSelector": {"matchExpressions": [{"key": f"k{part}", "operator": "NotIn", "values": [f"v{number}"]}]}}


def anti_affinity(number, parts):
    return pod(f"a{number}", affinity={"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [_term(number, part) for part in range(parts)]}})


def preferences(number, parts):
    return pod(f"a{number}", affinity={"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1 + part % 100, "podAffinityTerm": {**_term(number, part), "topologyKey": f"zone/{part % ZONE_KEYS}"}}
        for part in range(parts)]}})


def wants_others(number, parts):
    """Nobody has what it wants: it stays pending."""
    return pod(f"a{number}", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": f"zone/{part % ZONE_KEYS}", "labelSelector": {"matchLabels": {f"k{part}": f"v{number}"}}}
        for part in range(parts)]}})


def spread(number, _parts):
    """64 constraints, whose selectors match victims too where the namespace is theirs."""
    return pod(f"a{number}", labels={"n": str(number)}, topologySpreadConstraints=[
        {"maxSkew": 1 + part, "topologyKey": f"zone/{part % ZONE_KEYS}", "whenUnsatisfiable": when,
         "labelSelector": {"matchExpressions": [{"key": "n", "operator": "NotIn", "values": [f"{part}-{number}"]}]}}
        for part in range(ZONE_KEYS) for when in ("ScheduleAnyway", "DoNotSchedule")])


def node_affinity(number, parts):
    """Values that no node has; the last term is met by all."""
    values = [f"v{number}-{part}" for part in range(parts)]
    terms = [{"matchExpressions": [{"key": f"zone/{at % ZONE_KEYS}", "operator": "In", "values": values[at:at + 1000]}]}
             for at in range(0, parts, 1000)]
    return pod(f"a{number}", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [*terms, {"matchExpressions": [{"key": "zone/0", "operator": "Exists"}]}]}}})


def affinity_values(number, parts):
    """Values that no pod has, of one term about all namespaces."""
    return pod(f"a{number}", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "zone/0", "namespaceSelector": {}, "labelSelector": {"matchExpressions": [
            {"key": "k", "operator": "In", "values": [f"v{number}-{part}" for part in range(parts)]}]}}]}})


def spread_values(number, parts):
    """The same of a spread constraint."""
    return pod(f"a{number}", topologySpreadConstraints=[
        {"maxSkew": 1, "topologyKey": "zone/0", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchExpressions": [
            {"key": "k", "operator": "In", "values": [f"v{number}-{part}" for part in range(parts)]}]}}])


def labels(number, parts):
    return pod(f"a{number}", labels={f"k{number}-{part}": f"{number}-{part}".rjust(63, "x") for part in range(parts)})


def colliding_labels(number, parts):
    values = collisions.texts(30_000)
    return pod(f"a{number}", labels={f"k{part}": values[(number * parts + part) % len(values)] for part in range(parts)})


def tolerations(number, parts):
    return pod(f"a{number}", tolerations=[{"key": f"k{number}-{part}", "operator": "Exists"} for part in range(parts)])


def ports(number, parts):
    """Host ports of one address each, so that each is another one."""
    return pod(f"a{number}", container={"ports": [
        {"containerPort": 1, "hostPort": 1 + part % 65535, "hostIP": f"10.{part // 65535}.{number // 250}.{number % 250}"}
        for part in range(parts)]})


def ports_of_one_number(number, parts):
    """The same, where a table by port numbers helps nobody."""
    return pod(f"a{number}", container={"ports": [
        {"containerPort": 1, "hostPort": 1, "hostIP": f"10.{number}.{part // 250}.{part % 250}"} for part in range(parts)]})


def disks(number, parts):
    """Which may be used by one pod only, so that each is compared with those of the node."""
    return pod(f"a{number}", volumes=[
        {"name": f"v{part}", "gcePersistentDisk": {"pdName": f"{number}-{part}"}} for part in range(parts)])


def containers(number, parts):
    made = pod(f"a{number}")
    made["spec"]["containers"] = [{"name": f"c{part}", "image": f"i{number}-{part}", "resources": {"requests": {"memory": "1"}}}
                                  for part in range(parts)]
    return made


def resources(number, parts):
    """Nobody has them: it stays pending, and each is a reason."""
    asked = {f"a.b/{number}-{part}": "1" for part in range(parts)}
    return pod(f"a{number}", container={"resources": {"requests": asked, "limits": asked}})


def gates(number, parts):
    return pod(f"a{number}", schedulingGates=[{"name": f"g{number}-{part}"} for part in range(parts)])


def _with_claim(number, requests):
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": f"a{number}"},
             "spec": {"devices": {"requests": requests}}}
    return claim, pod(f"a{number}", resourceClaims=[{"name": "r", "resourceClaimName": f"a{number}"}])


def devices(number, parts):
    """A selector as expensive as the server takes, of a text of its own, which no device meets."""
    values = ",".join(map(str, range(parts)))
    expression = f"[{values}].all(a, [{values}].all(b, [{values}].all(c, a + b + c >= 0))) && device.driver == 'x{number}'"
    return _with_claim(number, [{"name": "r", "exactly": {"deviceClassName": "any", "selectors": [{"cel": {"expression": expression}}]}}])


def selectors(number, parts):
    """As many selectors as long as the server takes them: cheap to ask, dear to read."""
    texts = ["[" + ",".join(map(str, range(2000))) + f"].size() > 0 && device.driver != 'x{number}-{part}'" for part in range(parts)]
    requests = [{"name": f"r{at}", "exactly": {"deviceClassName": "any", "selectors": [
        {"cel": {"expression": text}} for text in texts[at:at + MOST_SELECTORS]]}} for at in range(0, parts, MOST_SELECTORS)]
    return _with_claim(number, requests)


def spec_of_its_own(number, _parts):
    """Bound at once; nothing of it is shared with another pod."""
    return pod(f"a{number}", labels={"n": str(number)},
               container={"image": f"i{number}", "resources": {"requests": {"memory": str(1000 + number)}}},
               topologySpreadConstraints=[{"maxSkew": 1 + number, "topologyKey": "zone/0", "whenUnsatisfiable": "ScheduleAnyway",
                                           "labelSelector": {"matchLabels": {"n": str(number)}}}],
               tolerations=[{"key": f"k{number}", "operator": "Exists"}])


def pending_specs(number, _parts):
    """The same, waiting for a label that no node has."""
    return pod(f"a{number}", nodeSelector={f"none/{number}": "x"}, container={"image": f"i{number}"})


def colliding_names(number, _parts):
    return pod(collisions.names(200_000 if number >= 20_000 else 20_000)[number], nodeSelector={"none": "x"})


LARGE = (anti_affinity, preferences, wants_others, spread, spread_values, affinity_values, node_affinity, labels, colliding_labels, tolerations, ports,
         ports_of_one_number, disks, containers, resources, gates, devices, selectors)
WAITING = (wants_others, resources, devices, selectors, pending_specs, colliding_names)
MANY = (spec_of_its_own, pending_specs, colliding_names)


def victim(number):
    made = pod(f"v{number}", container={"resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}})
    made["metadata"]["labels"] = {"app": "victim"}
    return made


def node(number):
    room = {"cpu": "64", "memory": "256Gi", "pods": "1000"}
    keys = {f"zone/{key}": f"z{number % (2 + key)}" for key in range(ZONE_KEYS)}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": f"n{number}", "labels": {"kubernetes.io/hostname": f"n{number}", **keys}},
            "status": {"capacity": room, "allocatable": room}}


def device_objects(nodes):
    yield "deviceclasses", {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
    for number in range(nodes):
        name = f"n{number}"
        yield "resourceslices", {
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": "d.example", "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": [
                {"name": f"d{index}", "attributes": {"uuid": {"string": f"{name}-{index}"}}} for index in range(DEVICES)]}}


# ---- servers -----------------------------------------------------------------------------------------------------------------------

class Server:
    """An API server with nodes and two namespaces. `kubeconfig` is for the scheduler."""

    def __init__(self, kind, folder, nodes):
        if kind == "embedded":
            self._server = programs.ApiServer(folder / "server", policy=False)
            self.kubeconfig, port, context = self._server.kubeconfig, self._server.port, kube_client.unverified()
            token = self._server.tokens["kubernetes-admin"]
            self.client = lambda: kube_client.Client(f"127.0.0.1:{port}", context, token, _PATIENCE_S)
            self.end = self._server.end
        else:
            folder.mkdir(parents=True)
            plane = cluster.Cluster(folder, True)
            plane.up()
            self.kubeconfig = folder / "admin.kubeconfig"
            self.client = lambda: kube_client.Client.of_plane(plane, patience_s=_PATIENCE_S)
            self.end = lambda: plane.stop(grace_s=0)
        client = self.client()
        for name in ("attacker", "victims"):
            client.ask("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            with contextlib.suppress(kube_client.Refused):  # the server may have made it
                client.ask("POST", f"/api/v1/namespaces/{name}/serviceaccounts",
                           {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})
        for number in range(nodes):
            client.ask("POST", "/api/v1/nodes", node(number))
        for plural, made in device_objects(nodes):
            client.ask("POST", f"{DEVICE_API}/{plural}", made)


def _of_attacker(made):
    """(path of its kind, object) of a pod of the attacker's, and of its claim before it."""
    for one in made if isinstance(made, tuple) else (made,):
        yield "/api/v1/namespaces/attacker/pods" if one["kind"] == "Pod" else f"{DEVICE_API}/namespaces/attacker/resourceclaims", one


def send(client, made):
    for where, one in _of_attacker(made):
        client.ask("POST", where, one)


def drop(client, made):
    for where, one in _of_attacker(made):
        with contextlib.suppress(kube_client.Refused):
            client.ask("DELETE", f"{where}/{one['metadata']['name']}?gracePeriodSeconds=0")


def most_parts(server, make):
    """How many parts an object may have: within a twentieth of the least number that the server refuses."""
    def taken(parts):
        client, made = server.client(), make(0, parts)
        try:
            send(client, made)
            return True
        except OSError:
            return False
        finally:
            client.close()
            drop(client, made)
            client.close()

    low, high = 1, 2
    while high < MOST_PARTS and taken(high):
        low, high = high, high * 4
    while high - low > max(1, low // 20):
        middle = (low + high) // 2
        low, high = (middle, high) if taken(middle) else (low, middle)
    return low


def parts_of_size(make, kilobytes):
    """So many parts that an object's JSON has about this size."""
    size = {parts: len(json.dumps(make(0, parts))) for parts in (10, 20)}
    return max(1, round((kilobytes * 1000 - size[10]) / max(1, (size[20] - size[10]) / 10)) + 10)


# ---- one run -----------------------------------------------------------------------------------------------------------------------

class Watch:
    """When each of the victims' pods was first seen, and when it had its node. A stream that the server ends is opened again."""

    def __init__(self, server):
        self.seen, self.bound, self._ended = {}, {}, False
        self._server = server
        self._streams = [self._open()]  # from here on: nothing that comes is missed
        threading.Thread(target=self._read, daemon=True).start()

    def _open(self):
        return self._server.client().watch("/api/v1/namespaces/victims/pods?watch=true&resourceVersion=0")

    def _read(self):
        while not self._ended:
            try:
                for event in self._streams.pop() if self._streams else self._open():
                    self._note(event["object"])
            except (OSError, ValueError, AttributeError, http.client.HTTPException):
                time.sleep(0.1)  # a server that is busy, or ends

    def _note(self, changed):
        name, now = changed["metadata"].get("name"), time.monotonic()
        if name:  # else the server's word of an end
            self.seen.setdefault(name, now)
            if changed["spec"].get("nodeName"):
                self.bound.setdefault(name, now)

    def end(self):
        self._ended = True

    def waits_ms(self):
        """Of all that were seen; of one that has no node until now."""
        now = time.monotonic()
        return sorted(1e3 * (self.bound.get(name, now) - when) for name, when in dict(self.seen).items())


class Sender:
    """Sends make(0), make(1) … at their times, `rate` a second, on connections of its own."""

    def __init__(self, server, count, rate, send):
        self._server, self._count, self._rate, self._send = server, count, rate, send
        self._begin = time.monotonic()
        self.failed = []
        self._threads = [threading.Thread(target=self._run, args=(first,), daemon=True) for first in range(SENDERS)]
        for thread in self._threads:
            thread.start()

    def _run(self, first):
        client = self._server.client()
        for number in range(first, self._count, SENDERS):
            time.sleep(max(0.0, self._begin + number / self._rate - time.monotonic()))
            try:
                self._send(client, number)
            except OSError as error:
                self.failed.append(str(error))

    def join(self):
        for thread in self._threads:
            thread.join()


class Scheduler:
    """kubesched or kube-scheduler, ready."""

    def __init__(self, program, server, folder):
        config = folder / "scheduler.yaml"
        config.write_text(CONFIG.format(kubeconfig=server.kubeconfig), encoding="utf-8")
        self.port, self.log = processes.free_port(), folder / "scheduler.log"
        self._process = processes.launch([program, f"--config={config}", f"--secure-port={self.port}", "--bind-address=127.0.0.1",
                                          "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"], self.log, True)
        self.pid = self._process.pid
        programs.await_true(lambda: self._get("/readyz") is not None, f"{program} is ready: {self.log}")

    def _get(self, path):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=120, context=kube_client.unverified())
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.read().decode() if answer.status == 200 else None
        except (OSError, http.client.HTTPException, ssl.SSLError):
            return None
        finally:
            connection.close()

    def attempts(self):
        page = self._get("/metrics") or ""
        return sum(float(value) for value in re.findall(r"^scheduler_schedule_attempts_total\{.*\} ([\d.e+]+)$", page, re.MULTILINE))

    def end(self):
        self._process.kill()
        self._process.wait()


def send_and_settle(client, make, number, parts, nodes):
    """Sends what is for a scheduler that is not there, and does what would come of it."""
    made = make(number, parts)
    one = made[-1] if isinstance(made, tuple) else made
    one["spec"]["schedulerName"] = "nobody"
    send(client, made)
    name = one["metadata"]["name"]
    if make in WAITING:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
        client.ask("PATCH", f"/api/v1/namespaces/attacker/pods/{name}/status", {"status": {"conditions": [condition]}}, kube_client.MERGE_PATCH)
    elif make is not gates:
        client.bind("attacker", name, f"n{number % nodes}")


def measure(options, program, make, parts, folder, floor=False):
    """One run: a dictionary of figures. `floor`: the attacker's pods are nobody's."""
    server = Server(options.server, folder / "plane", options.nodes)
    scheduler = watch = None
    try:
        scheduler = Scheduler(program, server, folder)
        watch, used = Watch(server), first_list.cpu(scheduler.pid)
        first_list.forget_peak(scheduler.pid)
        victims = options.rate * options.seconds
        attack = count = None
        if make is not None:
            count = options.specs if make in MANY else options.count
            attack = Sender(server, count, count / options.seconds,
                            lambda client, number: send_and_settle(client, make, number, parts, options.nodes) if floor
                            else send(client, make(number, parts)))
        plain = Sender(server, victims, options.rate,
                       lambda client, number: client.ask("POST", "/api/v1/namespaces/victims/pods", victim(number)))
        for sender in filter(None, (plain, attack)):
            sender.join()
        deadline = time.monotonic() + options.timeout
        while len(watch.bound) < victims and time.monotonic() < deadline:
            time.sleep(0.05)
        waits = watch.waits_ms()
        attempts = scheduler.attempts()
        cpu = first_list.cpu(scheduler.pid) - used
        return {"attempts": attempts, "cpu": cpu, "ms": 1e3 * cpu / max(1, attempts), "mb": first_list.megabytes(scheduler.pid, "VmHWM"),
                "bound": len(watch.bound), "victims": victims, "p50": percentile(waits, 0.5), "p99": percentile(waits, 0.99),
                "failed": (plain.failed + (attack.failed if attack else []))[:1]}
    finally:
        for one in filter(None, (watch, scheduler, server)):
            one.end()


def churn(options, program, make, parts, folder):
    """The scheduler's resident memory, MB, before and after each round."""
    server = Server(options.server, folder / "plane", options.nodes)
    scheduler = watch = None
    try:
        scheduler, client = Scheduler(program, server, folder), server.client()
        watch = Watch(server)
        sizes = [first_list.megabytes(scheduler.pid, "VmRSS")]
        for turn in range(options.rounds):
            for act in (send, drop):
                for number in range(turn * options.count, (turn + 1) * options.count):
                    act(client, make(number, parts))
                mark = victim(2 * turn + (act is drop))  # what came before it has been seen once it is bound
                client.ask("POST", "/api/v1/namespaces/victims/pods", mark)
                programs.await_true(lambda name=mark["metadata"]["name"]: name in watch.bound, "the pod behind them is bound")
            sizes.append(first_list.megabytes(scheduler.pid, "VmRSS"))
        return sizes
    finally:
        for one in filter(None, (watch, scheduler, server)):
            one.end()


def percentile(values, part):
    return values[min(len(values) - 1, int(part * len(values)))] if values else float("nan")


def find_parts(options, make, folder):
    if make is None or make in MANY or make is spread:
        return 0
    if options.kilobytes and make is not devices:
        return parts_of_size(make, options.kilobytes)
    server = Server(options.server, folder, 1)
    try:
        return most_parts(server, make)
    finally:
        server.end()


def row(title, parts, size, name, got, alone, floor):
    worse, above = (f"{got['p99'] / to['p99']:6.2f}" if to else "     -" for to in (alone, floor))
    print(f"{title:18} {parts:7} {size:6.0f} {name:14} {got['attempts']:8.0f} {got['ms']:9.2f} {got['cpu']:8.1f} {got['mb']:7.0f} "
          f"{got['bound']:5}/{got['victims']:<5} {got['p50']:9.1f} {got['p99']:9.1f} {worse}  {above} {' '.join(got['failed'])[:200]}", flush=True)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubesched", type=pathlib.Path, default=programs.PROGRAMS / "kubesched")
    parser.add_argument("--kube-scheduler", type=pathlib.Path, default=build.binary_dir() / "kube-scheduler")
    parser.add_argument("--server", choices=("kube-apiserver", "embedded"), default="kube-apiserver")
    parser.add_argument("--only", default="", help="regular expression of the kinds; nobody is always there")
    parser.add_argument("--count", type=int, default=200, help="pods of the attacker")
    parser.add_argument("--specs", type=int, default=10000, help="of those kinds that are about many")
    parser.add_argument("--kilobytes", type=int, default=0, help="size of each pod; 0: as the server takes it")
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--rate", type=int, default=50, help="victims' pods a second")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--timeout", type=int, default=60, help="seconds that the last victims may take")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--schedulers", default="kubesched,kube-scheduler", help="which of the two")
    parser.add_argument("--floor", action="store_true", help="the same pods for a scheduler that is not there, too")
    parser.add_argument("--rounds", type=int, default=0, help="times that the attacker's pods are created and deleted; 0: they stay")
    return parser.parse_args()


def kinds(options):
    return [kind for kind in (*LARGE, *MANY) if re.search(options.only, kind.__name__)]


def run_rounds(options, schedulers):
    with tempfile.TemporaryDirectory(prefix="kubesched-worst-") as name:
        for make in kinds(options):
            parts = find_parts(options, make, pathlib.Path(name) / f"find-{make.__name__}")
            for scheduler, program in schedulers.items():
                folder = pathlib.Path(name) / f"{make.__name__}-{scheduler}"
                folder.mkdir()
                sizes = churn(options, program, make, parts, folder)
                print(f"{make.__name__:18} {parts:7} {scheduler:14} {' '.join(f'{size:.0f}' for size in sizes)}", flush=True)


def main():
    options = arguments()
    if why := build.why_unavailable():
        sys.exit(f"{why} (--server embedded needs kube-scheduler, too)")
    programs_of = {"kubesched": options.kubesched, "kube-scheduler": options.kube_scheduler}
    if unknown := [name for name in options.schedulers.split(",") if name not in programs_of]:
        sys.exit(f"--schedulers: {unknown[0]!r} is none of {', '.join(programs_of)}")
    schedulers = {name: programs_of[name] for name in options.schedulers.split(",")}
    if options.rounds:
        run_rounds(options, schedulers)
        return
    print(f"{'kind':18} {'parts':>7} {'KB':>6} {'scheduler':14} {'attempts':>8} {'CPU ms/a':>9} {'CPU s':>8} {'peak MB':>7} {'bound':>11} "
          f"{'p50 ms':>9} {'p99 ms':>9} {'p99 x':>6} {'x floor':>7}")
    alone = {}
    with tempfile.TemporaryDirectory(prefix="kubesched-worst-") as name:
        for number, make in enumerate([None, *kinds(options)]):
            parts = find_parts(options, make, pathlib.Path(name) / f"find-{number}")
            size = len(json.dumps(make(1, parts))) / 1000 if make else 0
            for run in range(options.runs):
                for scheduler in (list(schedulers) if run % 2 == 0 else list(reversed(schedulers))):
                    folder, floor = pathlib.Path(name) / f"{number}-{run}-{scheduler}", None
                    if make and options.floor:
                        floor = measure(options, schedulers[scheduler], make, parts, fresh(folder), floor=True)
                        row(f"({make.__name__})", parts, size, scheduler, floor, alone[scheduler], None)
                    got = measure(options, schedulers[scheduler], make, parts, fresh(folder))
                    row(make.__name__ if make else "nobody", parts, size, scheduler, got, alone.get(scheduler) if make else None, floor)
                    if make is None:
                        alone[scheduler] = got
                    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
