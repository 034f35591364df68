# SPDX-License-Identifier: Apache-2.0
"""The load of run.py: pods of all kinds that come, are run by kubelets that are not there, and go again; nodes and devices for them.

fits.py knows what is made here: what pods of a new kind ask for must be understood there.
"""

import collections
import itertools
import random
import threading
import time

import api
import fits

NODES = 12
_NODE = {"cpu": "8", "memory": "32Gi", "pods": "60"}
_DEVICES = 4  # of a node
_DRIVER = "faults.example"
_MOST_PODS = 450  # no more are made while so many are there
_PAUSE_S = (0.1, 0.55)  # between what comes
_PODS = "/api/v1/namespaces/default/pods"
_CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
_GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
_MIX = {"plain": 55, "guarded": 12, "urgent": 9, "template": 10, "shared": 4, "gang": 8, "giant": 2}  # of 100
_RUNNING = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def node(number):
    return {"metadata": {"name": f"node-{number}"}, "status": {"allocatable": _NODE, "capacity": _NODE}}


def _slice(number):
    name = f"node-{number}"
    return {"metadata": {"name": f"{_DRIVER}-{name}"}, "spec": {
        "driver": _DRIVER, "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"device-{index}"} for index in range(_DEVICES)]}}


def _claim_spec(count):
    return {"devices": {"requests": [{"name": "some", "exactly": {"deviceClassName": _DRIVER, "count": count}}]}}


def _priority(name, value):
    return "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value}


def _budget(guard, least):
    return "/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
        "metadata": {"name": guard}, "spec": {"minAvailable": least, "selector": {"matchLabels": {"guard": guard}}}}


def _standing_objects():
    yield _priority("urgent", 1000)
    yield _priority("gangs", 100)
    yield _budget("strict", 1000)  # never allows anything
    yield _budget("some", 3)
    yield "/apis/resource.k8s.io/v1/deviceclasses", {
        "metadata": {"name": _DRIVER}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{_DRIVER}"'}}]}}
    for count in (1, 2):
        yield "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates", {
            "metadata": {"name": f"devices-{count}"}, "spec": {"spec": _claim_spec(count)}}
    for number in range(NODES):
        yield "/api/v1/nodes", node(number)
        yield "/apis/resource.k8s.io/v1/resourceslices", _slice(number)


class Load:
    """Makes and ends pods until it is told to stop. Owns two threads; what goes wrong in them is in `problems`."""

    def __init__(self, plane, seed):
        self.made = collections.Counter()  # by kind
        self.problems = []
        self._plane = plane
        self._draw = random.Random(f"load {seed}")
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self._no_more = threading.Event()
        self._lock = threading.Lock()
        self._lives = {}  # pod: seconds on a node; guarded by the lock
        self._rests = {}  # path of what goes when the last of its pods has gone: these pods; guarded by the lock
        self._there = 0  # pods at the last look; written by one thread
        self._threads = [threading.Thread(target=self._guard, args=(work,)) for work in (self._make_pods, self._run_pods)]

    def prepare(self):
        """Makes everything but pods."""
        for path, item in _standing_objects():
            self._plane.admin.ask("POST", path, item)

    def start(self):
        for thread in self._threads:
            thread.start()

    def end_arrivals(self):
        """Nothing comes any more, and nothing goes but what is evicted."""
        self._no_more.set()
        self._threads[0].join()
        with self._lock:
            self._lives.clear()

    def make_room(self):
        """Deletes two of five pods that run at the lowest priority and in no group. Returns how many."""
        running = [pod for pod in self._plane.admin.items(_PODS)
                   if pod["spec"].get("nodeName") and fits.priority_of(pod) == 0 and not fits.group_of(pod)]
        chosen = self._draw.sample(running, len(running) * 2 // 5)
        for pod in chosen:
            self._plane.admin.ask("DELETE", f"{_PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0")
        return len(chosen)

    def stop(self):
        self._no_more.set()
        self._stop.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _guard(self, work):
        client = api.Client.of_plane(self._plane.cluster)
        client.stop = self._stop
        try:
            work(client)
        except api.GaveUp as error:
            if not self._stop.is_set():
                self.problems.append(str(error))
        except (OSError, KeyError, ValueError) as error:
            self.problems.append(f"{work.__name__}: {type(error).__name__}: {error}")

    # ---- arrivals ----

    def _make_pods(self, client):
        makers = {"plain": self._plain, "guarded": self._guarded, "urgent": self._urgent, "template": self._template,
                  "shared": self._shared, "gang": self._gang, "giant": self._giant}
        while not self._no_more.wait(self._draw.uniform(*_PAUSE_S)):
            if self._there >= _MOST_PODS:
                continue
            kind = self._draw.choices(list(_MIX), list(_MIX.values()))[0]
            makers[kind](client, f"{kind}-{next(self._numbers)}")
            self.made[kind] += 1

    def _pod(self, client, name, cpu_milli, labels=None, **spec):
        with self._lock:
            self._lives[name] = self._draw.uniform(15, 80)
        requests = {"cpu": f"{cpu_milli}m", "memory": f"{self._draw.randrange(50, 1500)}Mi"}
        client.ask("POST", _PODS, {"metadata": {"name": name, "labels": labels or {}}, "spec": {
            "terminationGracePeriodSeconds": self._draw.choice((0, 0, 5)), **spec,
            "containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}]}})

    def _plain(self, client, name):
        self._pod(client, name, self._draw.randrange(100, 1200))

    def _guarded(self, client, name):
        self._pod(client, name, self._draw.randrange(100, 900), labels={"guard": self._draw.choice(("strict", "some"))})

    def _urgent(self, client, name):
        self._pod(client, name, self._draw.randrange(500, 4000), priorityClassName="urgent")

    def _template(self, client, name):
        claims = [{"name": "devices", "resourceClaimTemplateName": f"devices-{self._draw.choice((1, 1, 2))}"}]
        self._pod(client, name, self._draw.randrange(100, 600), resourceClaims=claims)

    def _shared(self, client, name):
        client.ask("POST", _CLAIMS, {"metadata": {"name": name}, "spec": _claim_spec(1)})
        pods = [f"{name}-{index}" for index in range(2)]
        for pod in pods:
            self._pod(client, pod, self._draw.randrange(100, 400), resourceClaims=[{"name": "devices", "resourceClaimName": name}])
        self._add_rest(f"{_CLAIMS}/{name}", pods)

    def _gang(self, client, name):
        size, cpu = self._draw.randrange(2, 6), self._draw.randrange(200, 1200)
        least = self._draw.choice((size, size, max(1, size - 1)))
        extra = self._draw.choice(({}, {"priorityClassName": "gangs"}))
        client.ask("POST", _GROUPS, {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": least}}, **extra}})
        pods = [f"{name}-{index}" for index in range(size)]
        for pod in pods:
            self._pod(client, pod, cpu, schedulingGroup={"podGroupName": name}, **extra)
        self._add_rest(f"{_GROUPS}/{name}", pods)

    def _giant(self, client, name):
        self._pod(client, name, 100000)

    def _add_rest(self, path, pods):
        with self._lock:
            self._rests[path] = pods

    # ---- kubelets, and what ends pods ----

    def _run_pods(self, client):
        seen = {}  # pod: since when it is on a node
        while not self._stop.wait(0.4):
            with self._lock:
                rests = dict(self._rests)
            pods = client.items(_PODS)
            self._there = len(pods)
            for pod in pods:
                if pod["spec"].get("nodeName"):
                    self._run(client, pod, seen.setdefault(pod["metadata"]["name"], time.monotonic()))
            self._end_rests(client, rests, {pod["metadata"]["name"] for pod in pods})

    def _run(self, client, pod, since):
        name = pod["metadata"]["name"]
        with self._lock:
            life = self._lives.get(name)
        if pod["metadata"].get("deletionTimestamp") or (life is not None and time.monotonic() - since > life):
            client.ask("DELETE", f"{_PODS}/{name}?gracePeriodSeconds=0")
        elif pod["status"].get("phase") == "Pending":
            client.ask("PATCH", f"{_PODS}/{name}/status", _RUNNING, "application/merge-patch+json")

    def _end_rests(self, client, rests, there):
        """Claims and groups that were complete before the list and have no pod in it."""
        for path, pods in rests.items():
            if not there.intersection(pods):
                client.ask("DELETE", path)
                with self._lock:
                    del self._rests[path]
