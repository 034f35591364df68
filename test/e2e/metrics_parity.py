# SPDX-License-Identifier: Apache-2.0
"""Scrapes the real kube-scheduler and kubesched after the same small workload on the real kube-apiserver, and compares:
names, types, label names, label values where they are the same in every run, bucket bounds. What may differ is the table
of docs/operating-metrics.md, which must be the truth about both.

Ends with 77 where the real servers are not built (./dev controlplane build)."""

import argparse
import contextlib
import gzip
import http.client
import json
import pathlib
import re
import ssl
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "controlplane"))

import build  # noqa: E402  pylint: disable=wrong-import-position
import cluster as controlplane  # noqa: E402  pylint: disable=wrong-import-position
import processes  # noqa: E402  pylint: disable=wrong-import-position

SKIPPED = 77
PATIENCE_S = 60

PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
ACCEPTS = ["*/*", "text/html", "text/plain;version=0.0.4;escaping=allow-utf-8", PROTOBUF,
           "application/openmetrics-text;version=1.0.0",
           PROTOBUF + ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.3",
           "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"]

# Families whose series must have the same labels with both, and those of them whose values, too.
SAME_SERIES = ["scheduler_schedule_attempts_total", "scheduler_scheduling_attempt_duration_seconds",
               "scheduler_pod_scheduling_sli_duration_seconds", "scheduler_pending_pods", "scheduler_queued_entities",
               "scheduler_queue_incoming_entities_total", "scheduler_queue_incoming_pods_total",
               "scheduler_unschedulable_pods", "scheduler_cache_size", "scheduler_plugin_evaluation_total",
               "scheduler_batch_attempts_total", "scheduler_batch_cache_flushed_total",
               "scheduler_store_schedule_results_duration_seconds",
               "kubernetes_feature_enabled", "version_info"]
SAME_VALUES = ["scheduler_schedule_attempts_total", "scheduler_pending_pods", "scheduler_queued_entities",
               "scheduler_queue_incoming_pods_total", "scheduler_queue_incoming_entities_total",
               "scheduler_unschedulable_pods", "scheduler_cache_size", "scheduler_preemption_attempts_total",
               "scheduler_batch_attempts_total", "scheduler_batch_cache_flushed_total",
               "scheduler_store_schedule_results_duration_seconds", "scheduler_pod_scheduling_attempts",
               "kubernetes_feature_enabled", "version_info"]
# Of a Go process; see the end of the document.
LEFT_OUT = re.compile(r"^(go_|workqueue_|apiserver_|aggregator_|authentication_|authenticated_|authorization_|field_|"
                      r"leader_election_|hidden_|kubernetes_healthcheck)")


class Family:
    def __init__(self):
        self.type = None
        self.stability = ""
        self.labels = set()  # names, without le
        self.buckets = set()  # texts of le
        self.series = {}  # sorted labels as a tuple: value; of histograms the count


def labels_of(text):
    return {m.group(1): m.group(2) for m in re.finditer(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"', text)}


def parse(text):
    families = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, _, help_text = line[7:].partition(" ")
            match = re.match(r"\[(\w+)\]", help_text)
            families.setdefault(name, Family()).stability = match.group(1) if match else ""
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            families.setdefault(name, Family()).type = kind
        elif line:
            add_sample(families, line)
    return families


def add_sample(families, line):
    match = re.match(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$", line)
    name, labels, value = match.group(1), labels_of(match.group(2) or ""), float(match.group(3))
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    family = families.get(name) or families[base]
    bound = labels.pop("le", None)
    family.labels |= set(labels)
    if bound is not None:
        family.buckets.add(bound)
        return
    if family.type == "histogram" and name.endswith("_sum"):
        return
    family.series[tuple(sorted(labels.items()))] = value


def read_table(document):
    """The rows under "## Families": name -> (type, labels, stability, shown, difference)."""
    rows = {}
    for line in document.read_text(encoding="utf-8").splitlines():
        match = re.match(r"\| `([a-z_]+)` \|", line)
        if match is None:
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 7:
            continue
        labels = {label.strip() for label in cells[2].split(",") if label.strip()}
        rows[match.group(1)] = (cells[1], labels, cells[3], cells[4], cells[6])
    return rows


class Api:
    """The API server as its administrator."""

    def __init__(self, plane):
        pki = plane.folder / "pki"
        self.port = plane.server_port
        self.context = ssl.create_default_context(cafile=pki / "ca.crt")
        self.context.load_cert_chain(pki / "admin.crt", pki / "admin.key")

    def ask(self, method, path, body=None, content_type="application/json"):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=self.context)
        with contextlib.closing(connection):
            connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": content_type})
            response = connection.getresponse()
            text = response.read()
            if response.status >= 300:
                raise RuntimeError(f"{method} {path}: {response.status} {text[:300]}")
            return json.loads(text)


def node(name):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {
        "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, cpu, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": {
        "containers": [{"name": "c", "image": "pause", "resources": {"requests": {"cpu": cpu}}}], **spec}}


def pods_by_name(api):
    return {item["metadata"]["name"]: item for item in api.ask("GET", "/api/v1/namespaces/default/pods")["items"]}


def wait_for(what, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.1)


def refused(item):
    return any(c["type"] == "PodScheduled" and c["status"] == "False" and c.get("reason") == "Unschedulable"
               for c in item["status"].get("conditions", []))


def scrape(port, path="/metrics", method="GET", headers=None):
    context = ssl._create_unverified_context()  # pylint: disable=protected-access
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=10, context=context)
    with contextlib.closing(connection):
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        body = response.read()
        if response.getheader("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        text = body.decode("utf-8", errors="replace")
        return response.status, dict(response.getheaders()), text


def forms(port):
    """What both must answer alike to the same headers and methods: path and question -> answer."""
    answers = {}
    for path in ("/metrics", "/metrics/slis", "/metrics/resources"):
        for accept in ACCEPTS:
            status, headers, text = scrape(port, path, headers={"Accept": accept, "Accept-Encoding": "gzip"})
            kind = headers.get("Content-Type") if text else None
            answers[path, accept] = status, kind, headers.get("X-Content-Type-Options"), "Process-Start-Time-Unix" in headers
        packed = scrape(port, path, headers={"Accept-Encoding": "gzip"})[1].get("Content-Encoding")
        answers[path, "gzip"] = packed if path == "/metrics" else None
        status, headers, text = scrape(port, path, method="DELETE")
        answers[path, "DELETE"] = status, headers.get("Content-Type"), text
    return answers


def served(port):
    try:
        return scrape(port)[0] == 200
    except OSError:
        return False


def run_workload(api, port):
    """One pod placed, one too big, one gated (docs/spec/metrics.md 9.1)."""
    for body in (pod("fits", "1"), pod("big", "100"), pod("gated", "1", schedulingGates=[{"name": "example.com/g"}])):
        api.ask("POST", "/api/v1/namespaces/default/pods", body)
    wait_for("the pods' verdicts", lambda: pods_by_name(api)["fits"]["spec"].get("nodeName") and refused(pods_by_name(api)["big"]))
    wait_for("quiet metrics", lambda: settled(port))
    return scrape(port)


def settled(port):
    families = parse(scrape(port)[2])
    attempts = families.get("scheduler_schedule_attempts_total", Family()).series
    in_flight = families.get("scheduler_inflight_events", Family()).series
    assumed = families["scheduler_cache_size"].series.get((("type", "assumed_pods"),), 1)
    pods = families["scheduler_cache_size"].series.get((("type", "pods"),), 0)
    return sum(attempts.values()) == 2 and assumed == 0 and pods == 1 and not any(in_flight.values())


def clean_up(api):
    for name in pods_by_name(api):
        api.ask("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
    wait_for("the pods' end", lambda: not pods_by_name(api))


def scraped(plane, api, name, argv):
    """Runs one scheduler over the workload. Returns its families and the headers of the scrape."""
    port = processes.free_port()
    log = plane.folder / "logs" / f"{name}.log"
    child = processes.launch([*argv, f"--kubeconfig={plane.folder}/scheduler.kubeconfig", "--leader-elect=false",
                              "--bind-address=127.0.0.1", f"--secure-port={port}",
                              "--authorization-always-allow-paths=/metrics,/metrics/slis,/metrics/resources,/readyz"], log, True)
    try:
        wait_for(f"{name} to serve", lambda: child.poll() is not None or served(port))
        if child.poll() is not None:
            raise RuntimeError(f"{name} ended: {log.read_text(errors='replace')[-2000:]}")
        wait_for(f"{name} to be ready", lambda: scrape(port, "/readyz")[0] == 200)
        status, headers, text = run_workload(api, port)
        assert status == 200
        resources = scrape(port, "/metrics/resources")[2]
        asked = forms(port)
        clean_up(api)
        return {"families": parse(text), "headers": headers, "resources": resources, "text": text, "forms": asked}
    finally:
        processes.end(child.pid, processes.start_time(child.pid), 10)
        child.wait()


def compare_family(name, theirs, ours):
    faults = []
    for what in ("type", "stability", "buckets"):
        if getattr(theirs, what) != getattr(ours, what):
            faults.append(f"{name}: {what} {getattr(ours, what)!r}, kube-scheduler's is {getattr(theirs, what)!r}")
    if theirs.labels != ours.labels:
        faults.append(f"{name}: labels {sorted(ours.labels)}, kube-scheduler's are {sorted(theirs.labels)}")
    return faults


def compare_series(name, theirs, ours):
    faults = []
    for labels in sorted(set(theirs.series) | set(ours.series)):
        pair = theirs.series.get(labels), ours.series.get(labels)
        if None in pair:
            faults.append(f"{name}{dict(labels)}: {'missing' if pair[1] is None else 'not with kube-scheduler'}")
        elif name in SAME_VALUES and pair[0] != pair[1]:
            faults.append(f"{name}{dict(labels)}: {pair[1]}, with kube-scheduler {pair[0]}")
    return faults


def check_document(rows, theirs, ours):
    """Each row against both scrapes."""
    faults = []
    for name, (kind, labels, stability, shown, difference) in rows.items():
        family = ours.get(name)
        if difference.startswith("**omitted**"):
            if family is not None:
                faults.append(f"{name} is said to be omitted")
            continue
        own = difference.startswith("**own**")
        if own and name in theirs or not own and shown == "start" and name not in theirs:
            faults.append(f"{name}: the document is wrong about who has it")
        if shown == "start" and family is None:
            faults.append(f"{name} is said to be there from the start")
        if shown in ("gate", "never") and family is not None:
            faults.append(f"{name} is there and said to be shown: {shown}")
        if family is None:
            continue
        if (family.type, family.labels, family.stability) != (kind, labels, stability):
            faults.append(f"{name} is {family.type} {sorted(family.labels)} {family.stability}, the document says otherwise")
    for name in sorted(set(theirs) | set(ours)):
        if name not in rows and not LEFT_OUT.match(name):
            faults.append(f"{name} is missing in the document ({'both' if name in theirs and name in ours else 'one'} has it)")
    return faults


def check(document, theirs, ours):
    rows = read_table(document)
    faults = check_document(rows, theirs["families"], ours["families"])
    for name, family in sorted(theirs["families"].items()):
        own = ours["families"].get(name)
        if own is None:
            if name in rows and not rows[name][4].startswith("**omitted**") and rows[name][3] == "start":
                faults.append(f"{name} is missing")
            continue
        faults += compare_family(name, family, own)
        if name in SAME_SERIES:
            faults += compare_series(name, family, own)
    for question, answer in theirs["forms"].items():
        if ours["forms"][question] != answer:
            faults.append(f"{question}: {ours['forms'][question]}, kube-scheduler's answer is {answer}")
    for header in ("Content-Type", "Process-Start-Time-Unix"):
        values = theirs["headers"].get(header), ours["headers"].get(header)
        if None in values or (header == "Content-Type" and values[0] != values[1]):
            faults.append(f"header {header}: {values[1]!r}, kube-scheduler's is {values[0]!r}")
    return faults


def resources_of(result):
    """Without help texts; which node took the pod is the dice's choice."""
    return re.sub(r'node="n."', 'node="n"', re.sub(r"\[STABLE\].*", "", result["resources"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubesched", required=True)
    parser.add_argument("--document", type=pathlib.Path, default=ROOT / "docs" / "operating-metrics.md")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the two scrapes")
    options = parser.parse_args()
    missing = [name for name in build.BINARIES if not (build.binary_dir() / name).exists()]
    if missing:
        print(f"SKIPPED: the real servers are not built ({', '.join(missing)}): run ./dev controlplane build")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        plane = controlplane.Cluster(pathlib.Path(folder), bound=True)
        plane.up()
        try:
            api = Api(plane)
            for name in ("n1", "n2"):
                api.ask("POST", "/api/v1/nodes", node(name))
            theirs = scraped(plane, api, "kube-scheduler", [build.binary_dir() / "kube-scheduler"])
            ours = scraped(plane, api, "kubesched", options.kubesched.split())
        finally:
            plane.stop(grace_s=2)
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        for name, result in (("kube-scheduler", theirs), ("kubesched", ours)):
            (options.keep / f"{name}.txt").write_text(result["text"] + result["resources"], encoding="utf-8")
    faults = check(options.document, theirs, ours)
    if resources_of(theirs) != resources_of(ours):
        faults.append(f"/metrics/resources:\n{ours['resources']}\nkube-scheduler's:\n{theirs['resources']}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
