# SPDX-License-Identifier: Apache-2.0
"""What traces cost: CPU a pod of kubesched in the demo without them, with one pod in a hundred, and with all, by turns.

    traces_cost.py [--programs build/bin] [--runs 9] [--pods 4000]

The collector is a server of this program that takes everything. Prints medians, the ratio of each to the runs without, paired by
round, and the spans that came.
"""

import argparse
import http.server
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAYS = {"off": None, "1 % of the pods": 10_000, "all": 1_000_000}


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bytes_taken = 0

    def do_POST(self):  # noqa: N802  (the name is http.server's)
        Collector.bytes_taken += len(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments):
        pass


def microseconds(programs, pods, config):
    command = [programs / "kubeschedctl", "demo", "--plain", "--nodes=500", f"--pods={pods}", f"--arrival={pods // 250}s",
               "--scheduler", programs / "kubesched"]
    if config:
        command.append(f"--scheduler-arg=--tracing-config-file={config}")
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    return 1e3 * float(re.search(r"^ *scheduler .*\(([\d.]+) ms a pod\)", said, re.MULTILINE).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=ROOT / "build" / "bin", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--pods", type=int, default=4000)
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    taken = {way: [] for way in WAYS}
    came = dict.fromkeys(WAYS, 0)
    with tempfile.TemporaryDirectory() as folder:
        configs = {}
        for number, (way, per_million) in enumerate(WAYS.items()):
            if per_million is None:
                continue
            configs[way] = pathlib.Path(folder) / f"tracing-{number}.yaml"
            configs[way].write_text(f"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\nendpoint: http://127.0.0.1:{server.server_port}/v1/traces\n"
                                    f"samplingRatePerMillion: {per_million}\n", encoding="utf-8")
        for run in range(options.runs):
            order = list(WAYS) if run % 2 == 0 else list(reversed(WAYS))
            for way in order:
                before = Collector.bytes_taken
                taken[way].append(microseconds(options.programs, options.pods, configs.get(way)))
                came[way] += Collector.bytes_taken - before
    for way, values in taken.items():
        ratios = [value / off for value, off in zip(values, taken["off"])]
        print(f"{way:18} {statistics.median(values):7.0f} µs of CPU a pod, {statistics.median(ratios):.3f} of off ({min(ratios):.3f} to {max(ratios):.3f}), "
              f"{came[way] / options.runs / options.pods:.0f} bytes of spans a pod")
    return 0


if __name__ == "__main__":
    sys.exit(main())
