# SPDX-License-Identifier: Apache-2.0
"""How fast each view of the page (kubeschedctl ui) is answered on a large cluster, and what an open page costs the scheduler.

    page_cost.py [--program build/bin/kubeschedctl] [--nodes 5000] [--pods 50000] [--seconds 20]

Runs kubeschedctl demo --ui until all pods are placed, then asks what each view asks, through the page's own server: milliseconds
(median and worst of ten) until the answer is there, and in Chromium, where it is installed, until the view shows it. Then the CPU
share of the scheduler's threads, without the page and with one that shows Now, Nodes and Decisions by turns as often as it does.
"""

import argparse
import http.cookiejar
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "ui"))

import browser  # noqa: E402  (after the path above)

VIEWS = {  # what a view asks; a manifest: by POST
    "now": [("queue", None), ("metrics", None)],
    "nodes": [("cache", None)],
    "nodes by zone": [("cache?label=topology.kubernetes.io/zone", None)],
    "a node": [("cache?node=node-00003", None)],
    "queue": [("queue", None)],
    "decisions": [("decisions?limit=200", None)],
    "why, a pod that fits": [("explain?pod=default/{fits}", None), ("cache", None)],
    "why, one that does not": [("explain?pod=default/impossible-00000", None), ("cache", None)],
    "what would have to change, which follows": [("explain?pod=default/impossible-00000&suggest=true", None)],
    "its preemption (by a button)": [("explain?pod=default/impossible-00000&preemption=true", None)],
    "what if, 10 pods": [("simulate?replicas=10", True), ("cache?pods=true", None)],
    "what if, until it is full (a button)": [("simulate?fill=true", True)],
}
SHOWN = {"now": "document.querySelectorAll('.tile').length == 6", "nodes": "/nodes, CPU/.test(document.getElementById('main').textContent)",
         "queue": "document.querySelectorAll('tbody tr').length > 1", "decisions": "document.querySelectorAll('tbody tr').length > 50",
         "why?pod=default/impossible-00000": "document.querySelectorAll('tbody tr').length > 10"}
POLLED = ("queue", "metrics", "decisions?limit=200")  # each 2 seconds; the nodes each 5
MANIFEST = (b"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 10\n  selector: {matchLabels: {app: web}}\n"
            b"  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 500m, memory: 512Mi}}}]}\n")


class Demo:
    def __init__(self, program, nodes, pods, folder):
        self.log = folder / "demo.log"
        with self.log.open("w", encoding="utf-8") as output:
            self.process = subprocess.Popen([program, "demo", "--ui", "--plain", f"--nodes={nodes}", f"--pods={pods}", "--arrival=0s"],
                                            stdout=output, stderr=subprocess.STDOUT)

    def url(self, seconds=600):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            text = self.log.read_text(encoding="utf-8")
            if "stay until" in text:
                return re.search(r"page: (\S+)", text).group(1)
            time.sleep(0.2)
        raise RuntimeError("the demo did not come up: " + self.log.read_text(encoding="utf-8")[-2000:])

    def scheduler(self):
        """The pid of its scheduler."""
        for child in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="utf-8").split():
            if pathlib.Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip() == "kubesched":
                return int(child)
        raise RuntimeError("the demo has no scheduler")

    def end(self):
        self.process.terminate()
        self.process.wait(60)


class Page:
    """Asks as the page's scripts do."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.base = f"{parts.scheme}://{parts.netloc}/api/"
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.opener.open(url).read()

    def ask(self, target, manifest=None):
        with self.opener.open(urllib.request.Request(self.base + target, data=MANIFEST if manifest else None)) as answer:
            return answer.read()


def milliseconds(action, runs=10):
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        action()
        taken.append(1e3 * (time.perf_counter() - begin))
    return f"{statistics.median(taken):8.1f} {max(taken):8.1f}"


def cpu(pid):
    """{thread: seconds}."""
    seconds = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        seconds[task.name] = int((task / "schedstat").read_text(encoding="utf-8").split()[0]) / 1e9
    return seconds


def shares(pid, seconds, poll):
    """{thread: CPU per cent} while `poll(second)` is called each second."""
    before, begin = cpu(pid), time.monotonic()
    for second in range(seconds):
        poll(second)
        time.sleep(max(0.0, begin + second + 1 - time.monotonic()))
    passed = time.monotonic() - begin
    return {thread: 100 * (used - before.get(thread, 0)) / passed for thread, used in cpu(pid).items()}


def answers(page):
    fits = re.search(r"default/([a-z]+-[0-9]+)", page.ask("decisions?limit=1000&result=Bound").decode()).group(1)
    print(f"{'milliseconds until answered':44} {'median':>8} {'worst':>8}")
    for view, questions in VIEWS.items():
        def look(asked=tuple(questions)):
            for target, manifest in asked:
                page.ask(target.format(fits=fits), manifest)
        print(f"{view:44} {milliseconds(look, 3 if 'button' in view else 10)}")


def shown(url):
    program = browser.find()
    if program is None:
        print("no Chromium: what the views show is not measured")
        return
    window = browser.Browser(program)
    try:
        window.size(1920, 1080)
        window.open(url)
        window.wait("location.search === '' && document.querySelector('#who')?.textContent.length > 0", "the page")
        print(f"{'milliseconds until shown in Chromium':44} {'median':>8} {'worst':>8}")
        for view, holds in SHOWN.items():
            taken = []
            for _ in range(5):
                window.value("location.hash = 'what-if'")
                window.wait("document.querySelector('textarea') !== null", "what-if")
                taken.append(window.value(f"""new Promise((done) => {{ const begin = performance.now(); location.hash = {view!r};
                    const look = () => (({holds}) ? done(performance.now() - begin) : setTimeout(look, 1)); setTimeout(look, 1); }})"""))
            print(f"{view:44} {statistics.median(taken):8.1f} {max(taken):8.1f}")
    finally:
        window.close()


def costs(page, pid, seconds):
    def poll(second):
        if second % 2 == 0:
            for target in POLLED:
                page.ask(target)
        if second % 5 == 0:
            page.ask("cache")

    idle, polled = shares(pid, seconds, lambda second: None), shares(pid, seconds, poll)
    print(f"{'CPU per cent of the scheduler':44} {'alone':>8} {'page':>8}")
    for thread in sorted(polled, key=lambda name: idle.get(name, 0) - polled[name])[:4]:
        print(f"{'thread ' + thread + (', the first' if int(thread) == pid else ''):44} {idle.get(thread, 0):8.2f} {polled[thread]:8.2f}")
    print(f"{'all':44} {sum(idle.values()):8.2f} {sum(polled.values()):8.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=ROOT / "build" / "bin" / "kubeschedctl", type=pathlib.Path)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=50000)
    parser.add_argument("--seconds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(options.program, options.nodes, options.pods, pathlib.Path(folder))
        try:
            url = demo.url()
            page = Page(url)
            print(f"{options.nodes} nodes, {options.pods} pods, {os.cpu_count()} CPUs")
            answers(page)
            shown(url)
            costs(page, demo.scheduler(), options.seconds)
        finally:
            demo.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
