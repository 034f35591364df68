# SPDX-License-Identifier: Apache-2.0
"""The checker finds each planted fault in a small audit log made by hand, and nothing in a clean one: checker_test.py.

Also: the same seed gives the same plan, and no plan delays a request for longer than a lease leaves room for.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import audit  # noqa: E402  (after the path above)
import checker  # noqa: E402
import fits  # noqa: E402
import plan  # noqa: E402

BEGIN = audit.parse_time("2026-01-01T00:00:00Z")
FAULTS_ENDED = BEGIN + 300
A, B = audit.REPLICA_USERS + "a", audit.REPLICA_USERS + "b"
ADMIN = "admin"


def _time(seconds):
    return f"2026-01-01T00:{int(seconds) // 60:02}:{seconds % 60:09.6f}Z"


class Log:
    """An audit log in the making. Times are seconds after BEGIN: a request is received then and answered 0.01 s later."""

    def __init__(self):
        self.lines = []
        self._version = 0

    def add(self, at, user, verb, resource, name, *, code=200, request=None, response=None, takes=0.01):
        kind, _, subresource = resource.partition("/")
        namespace = "" if kind == "nodes" else "default"
        self.lines.append({
            "kind": "Event", "auditID": f"id-{len(self.lines)}", "stage": "ResponseComplete", "verb": verb, "user": {"username": user},
            "objectRef": {"resource": kind, "subresource": subresource, "namespace": namespace, "name": name},
            "responseStatus": {"code": code}, "requestReceivedTimestamp": _time(at), "stageTimestamp": _time(at + takes),
            "requestObject": request, "responseObject": response})
        return self.lines[-1]["auditID"]

    def events(self):
        return sorted(filter(None, map(audit.to_event, self.lines)), key=lambda event: event.done)

    def found(self, faults_ended=None):
        """The rules that were broken."""
        return [violation.rule for violation in checker.check(self.events(), faults_ended)]

    # ---- what happens in a cluster ----

    def lease(self, at, user, acquired=None, code=200):
        spec = {"holderIdentity": f"host_{user}", "acquireTime": _time(at if acquired is None else acquired)}
        return self.add(at, user, "update", "leases", "kube-scheduler", code=code, request={"spec": spec})

    def node(self, at, name, cpu="2"):
        self.add(at, ADMIN, "create", "nodes", name, response=_node(name, cpu))

    def pod(self, at, name, cpu="1", **more):
        self.add(at, ADMIN, "create", "pods", name, code=201, response=_pod(name, cpu, **more))

    def bind(self, at, name, node, user=A, code=201, takes=0.01):
        return self.add(at, user, "create", "pods/binding", name, code=code, request={"target": {"name": node}}, takes=takes)

    def delete(self, at, name, user=ADMIN, grace=0):
        return self.add(at, user, "delete", "pods", name, response={"metadata": {"name": name, "deletionGracePeriodSeconds": grace}})

    def nominate(self, at, name, node, user=A):
        self.add(at, user, "patch", "pods/status", name, response={"status": {"nominatedNodeName": node}})

    def allocate(self, at, name, device, user=A):
        self._version += 1
        return self.add(at, user, "update", "resourceclaims/status", name, response=_claim(name, device, self._version))

    def gang(self, at, name, least):
        self.add(at, ADMIN, "create", "podgroups", name, response=_gang(name, least))

    def budget(self, at, name, labels, allowed):
        self.add(at, ADMIN, "create", "poddisruptionbudgets", name, response={
            "metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}}, "status": {"disruptionsAllowed": allowed}})

    def observe(self, at, **lists):
        for resource in ("pods", "nodes", "resourceclaims", "resourceslices", "podgroups"):
            self.add(at, "system:kube-scheduler", "list", resource, "", response={"items": lists.get(resource, [])})


def _pod(name, cpu, node=None, group=None, priority=0, labels=None):
    spec = {"containers": [{"resources": {"requests": {"cpu": cpu}}}], "priority": priority}
    if node:
        spec["nodeName"] = node
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    return {"metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}", "labels": labels or {}}, "spec": spec, "status": {}}


def _node(name, cpu):
    return {"metadata": {"name": name}, "spec": {}, "status": {"allocatable": {"cpu": cpu, "memory": "1Gi", "pods": "10"}}}


def _claim(name, device, version=1):
    results = [{"driver": "d", "pool": "p", "device": device}] if device else []
    return {"metadata": {"namespace": "default", "name": name, "resourceVersion": str(version)},
            "status": {"allocation": {"devices": {"results": results}}} if device else {}}


def _gang(name, least):
    return {"metadata": {"namespace": "default", "name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": least}}}}


def _clean(observed=True):
    """Two terms, a full node that is freed and filled again, a preemption, a device that changes hands, a gang. `observed`: with a list of
    what is there in the end."""
    log = Log()
    log.node(1, "n")
    log.node(1, "m")
    log.budget(1, "strict", {"guard": "strict"}, 0)
    log.lease(2, A)
    for name in ("p", "q"):
        log.pod(3, name)
        log.bind(4, name, "n")
    log.bind(4.5, "p", "m", code=409)
    log.allocate(5, "c", "dev")
    log.allocate(6, "c", None, user=ADMIN)
    log.allocate(7, "other", "dev")
    log.pod(8, "urgent", priority=5)
    log.nominate(9, "urgent", "n")
    log.delete(10, "p", user=A, grace=5)
    log.delete(15, "p")
    log.bind(16, "urgent", "n")
    log.lease(30, B)
    log.bind(29.9, "late", "m", takes=5)  # received in time
    log.add(31, A, "create", "selfsubjectaccessreviews", "", code=201)
    log.gang(40, "g", 2)
    for name in ("g-0", "g-1"):
        log.pod(41, name, group="g", cpu="500m")
        log.bind(42, name, "m", user=B)
    log.pod(50, "giant", cpu="50")
    if not observed:
        return log
    bound = [_pod("q", "1", "n"), _pod("urgent", "1", "n", priority=5), _pod("giant", "50"),
             *(_pod(name, "500m", "m", "g") for name in ("g-0", "g-1"))]
    log.observe(330, pods=bound, nodes=[_node("n", "2"), _node("m", "2")], podgroups=[_gang("g", 2)])
    return log


class Clean(unittest.TestCase):
    def test_nothing_is_found(self):
        self.assertEqual(_clean().found(FAULTS_ENDED), [])

    def test_the_clean_log_has_something_to_judge(self):
        self.assertEqual(checker.describe(_clean().events()), "31 requests, 2 terms, 6 bindings, 1 evictions, 2 allocations")


class Planted(unittest.TestCase):
    def setUp(self):
        self.log = _clean(observed=False)

    def test_double_binding(self):
        second = self.log.bind(60, "q", "m", user=B)
        found = checker.check(self.log.events())
        self.assertEqual([each.rule for each in found], ["bound-once"])
        self.assertIn(second, found[0].audit_ids)

    def test_write_without_the_lease(self):
        self.log.add(31, A, "create", "events", "e", code=201)
        self.assertEqual(self.log.found(), ["lease-held"])

    def test_write_before_anybody_had_the_lease(self):
        self.log.add(1.5, B, "patch", "pods/status", "q")
        self.assertEqual(self.log.found(), ["lease-held"])

    def test_lease_that_was_refused_gives_nothing(self):
        self.log.lease(50, A, code=409)
        self.log.bind(51, "giant", "m", user=A, code=409)
        self.assertEqual(self.log.found(), [])
        self.log.add(52, A, "create", "events", "e", code=201)
        self.assertEqual(self.log.found(), ["lease-held"])

    def test_taking_that_a_killed_server_did_not_log(self):
        self.log.add(45, A, "create", "events", "e", code=201)
        self.log.lease(47, A, acquired=44)
        self.assertEqual(self.log.found(), [])

    def test_a_pod_that_has_ended_takes_no_room(self):
        """As the collector of pods has it: Failed first, then deleted; here the server died between, and the observer's list shows the pod."""
        self.log.node(60, "x", cpu="1")
        self.log.pod(61, "first")
        self.log.bind(62, "first", "x", user=B)
        collector = "system:serviceaccount:kube-system:pod-garbage-collector"
        self.log.add(63, collector, "patch", "pods/status", "first", response={"status": {"phase": "Failed"}})
        self.log.add(64, "system:kube-scheduler", "list", "pods", "", response={"items": [
            {**_pod("first", "1", "x"), "status": {"phase": "Failed"}}]})
        self.log.pod(65, "second")
        self.log.bind(66, "second", "x", user=B)
        self.assertEqual(self.log.found(), [])

    def test_overfull_node(self):
        self.log.pod(60, "more")
        bind = self.log.bind(61, "more", "n", user=B)
        found = checker.check(self.log.events())
        self.assertEqual([each.rule for each in found], ["node-overfull"])
        self.assertEqual(found[0].audit_ids[0], bind)

    def test_node_is_not_free_before_its_pod_has_gone(self):
        self.log.delete(60, "q", grace=30)
        self.log.pod(60, "more")
        self.log.bind(61, "more", "n", user=B)
        self.assertEqual(self.log.found(), ["node-overfull"])

    def test_delete_that_a_killed_server_did_not_log(self):
        self.log.observe(60, pods=[_pod("urgent", "1", "n", priority=5)], nodes=[_node("n", "2")])
        self.log.pod(61, "more")
        self.log.bind(62, "more", "n", user=B)
        self.assertEqual(self.log.found(), [])

    def test_device_twice(self):
        self.log.allocate(60, "third", "dev", user=B)
        self.assertEqual(self.log.found(), ["device-twice"])

    def test_answers_in_the_wrong_order_are_no_second_holder(self):
        self.log.allocate(60, "other", None, user=ADMIN)
        self.log.allocate(61, "third", "dev", user=B)
        self.log.lines[-2]["stageTimestamp"] = _time(62)
        self.assertEqual(self.log.found(), [])

    def test_eviction_for_nobody(self):
        self.log.delete(290, "q", user=B)
        self.assertEqual(self.log.found(), ["eviction-reason"])

    def test_budget(self):
        self.log.delete(59, "q")
        for node, guard in (("n", None), ("m", "strict")):
            for index in range(2):
                self.log.pod(60, f"{node}{index}", cpu="1m", labels={"guard": guard} if guard else {})
                self.log.bind(61, f"{node}{index}", node, user=B)
        self.log.pod(250, "rush", "1200m", priority=3)
        self.log.nominate(251, "rush", "m", user=B)
        self.log.delete(252, "m0", user=B)
        self.assertEqual(self.log.found(), ["budget"])
        for node in ("n", "m"):
            self.log.pod(120, f"way-{node}", "900m", priority=4)
            self.log.bind(121, f"way-{node}", node, user=B)
        self.assertEqual(self.log.found(), [])

    def test_half_a_gang(self):
        self.log.gang(60, "h", 2)
        for name in ("h-0", "h-1"):
            self.log.pod(61, name, group="h", cpu="900m")
        self.log.bind(62, "h-0", "m", user=B)
        pods = [_pod("h-0", "900m", "m", "h"), _pod("h-1", "900m", None, "h")]
        self.log.observe(340, pods=pods, nodes=[_node("m", "1")], podgroups=[_gang("h", 2)])
        self.assertEqual(self.log.found(FAULTS_ENDED), ["gang-in-part"])
        self.assertEqual(self.log.found(), [])

    def test_pod_that_fits_and_has_no_node(self):
        self.log.observe(340, pods=[_pod("left", "1")], nodes=[_node("m", "1")])
        self.assertEqual(self.log.found(FAULTS_ENDED), ["left-out"])

    def test_log_without_an_end(self):
        self.assertEqual(self.log.found(FAULTS_ENDED), ["left-out"])


class Arithmetic(unittest.TestCase):
    def left_out(self, *pods, groups=()):
        return list(fits.Fitting(pods, [_node("n", "2")], groups=groups).left_out())

    def test_who_fits(self):
        self.assertEqual(self.left_out(_pod("p", "2")), ["default/p"])
        self.assertEqual(self.left_out(_pod("there", "1", "n"), _pod("p", "1500m")), [])
        self.assertEqual(self.left_out(_pod("there", "1", "n"), _pod("p", "1500m", priority=1)), ["default/p"])

    def test_place_of_a_nominated_pod_is_taken(self):
        nominated = _pod("nominated", "2", priority=1)
        nominated["status"]["nominatedNodeName"] = "n"
        self.assertEqual(self.left_out(nominated, _pod("p", "1")), ["default/nominated"])

    def test_gangs_fit_as_a_whole(self):
        pods = [_pod(name, "900m", None, "g") for name in ("a", "b", "c")]
        self.assertEqual(self.left_out(*pods, groups=[_gang("g", 3)]), [])
        self.assertEqual(self.left_out(*pods, groups=[_gang("g", 2)]), ["default/a", "default/b"])

    def test_unknown_quantities_are_refused(self):
        with self.assertRaisesRegex(ValueError, "extend"):
            self.left_out(_pod("p", "1e3"))


class Program(unittest.TestCase):
    def run_checker(self, *words):
        return subprocess.run([sys.executable, HERE / "checker.py", *map(str, words)], capture_output=True, text=True, check=False)

    def test_status_and_broken_lines(self):
        lines = [json.dumps(line, separators=(",", ":")) for line in _clean().lines]
        lines[3] = lines[2][:50] + lines[3]  # the server was killed while it wrote
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "audit.log"
            log.write_text("\n".join(lines) + "\n" + lines[0][:40], encoding="utf-8")
            done = self.run_checker("--faults-ended", "2026-01-01T00:05:00Z", log)
            self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "no violations"), done.stdout + done.stderr)
            self.assertIn("; 2 broken lines", done.stdout)
            done = self.run_checker("--faults-ended", "2026-01-01T00:55:00Z", log)
            self.assertEqual(done.returncode, 1, done.stdout)
            log.write_text("", encoding="utf-8")
            self.assertEqual(self.run_checker(log).returncode, 2)
            self.assertEqual(self.run_checker(log.parent / "missing").returncode, 2)


class Plans(unittest.TestCase):
    def test_same_seed_same_plan(self):
        first = plan.make_plan(5, 600, 20, 3)
        self.assertEqual(first, plan.make_plan(5, 600, 20, 3))
        self.assertNotEqual(first, plan.make_plan(6, 600, 20, 3))

    def test_every_kind_comes_and_all_end(self):
        for seed in range(20):
            faults = plan.make_plan(seed, 600, 20, 3)
            self.assertEqual({fault.kind for fault in faults}, {*plan.NETWORK, *plan.LEADERSHIP, *plan.SERVER, "node-away"}, f"seed {seed}")
            self.assertLessEqual(max(fault.at + fault.lasts for fault in faults), 600, f"seed {seed}")
            self.assertEqual(sum(fault.kind in plan.LEADERSHIP for fault in faults), 20, f"seed {seed}")

    def test_requests_are_delayed_by_less_than_a_lease_leaves_room_for(self):
        for seed in range(200):
            for fault in plan.make_plan(seed, 600, 20, 3):
                if fault.toxic and fault.toxic["stream"] == "upstream" and fault.toxic["type"] in ("latency", "bandwidth", "slicer"):
                    self.assertEqual(fault.toxic["type"], "latency")
                    most = fault.toxic["attributes"]["latency"] + fault.toxic["attributes"]["jitter"]
                    self.assertLess(most, 1000, f"seed {seed}")


if __name__ == "__main__":
    unittest.main()
