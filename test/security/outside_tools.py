# SPDX-License-Identifier: Apache-2.0
"""kubesched's HTTPS port as tools see it that are not ours: sslscan, curl, slowhttptest, and requests as nobody should write them.

    outside_tools.py [--kubesched FILE] [--kubeschedctl FILE] [--only REGEX]

Starts both programs on loopback and prints a table of verdicts. Status 0: all as wanted; 1: not so; 77: as wanted as far as it was asked,
for a tool is missing (named in the table).
"""

import argparse
import concurrent.futures
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

import programs
import kube_client  # in the path that programs adds

SKIPPED = 77
SLOW_S = 5  # how long each slow attack goes on
SLOW_CONNECTIONS = 400  # more than the server keeps
MOST_PROBE_S = 8.0  # a busy machine; a probe that is locked out waits until a time-out of 10 s or more
LAST = b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"  # behind every case: its answer ends the connection
HIDDEN = b"GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"  # 403 if it is taken for a request
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def get(target, *fields):
    return b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n" + b"".join(field + b"\r\n" for field in fields) + b"\r\n"


def post(*rest):
    return b"POST /healthz HTTP/1.1\r\nHost: a\r\n" + b"".join(rest)


# name, bytes, statuses of all answers on the connection: with LAST's 200 where it goes on, without where it must be closed
REQUESTS = (
    ("one request", get(b"/healthz"), (200, 200)),
    ("two in one write", get(b"/healthz") + get(b"/livez"), (200, 200, 200)),
    ("length and chunks", post(b"Content-Length: 4\r\n", CHUNKED, b"0\r\n\r\n", HIDDEN), (400,)),
    ("chunks and length", post(b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("two lengths that differ", post(b"Content-Length: 4\r\nContent-Length: 0\r\n\r\n", HIDDEN), (400,)),
    ("two lengths that agree", post(b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd"), (200, 200)),
    ("length +4", post(b"Content-Length: +4\r\n\r\nabcd", HIDDEN), (400,)),
    ("length -1", post(b"Content-Length: -1\r\n\r\n", HIDDEN), (400,)),
    ("length 0x4", post(b"Content-Length: 0x4\r\n\r\nabcd", HIDDEN), (400,)),
    ("length beyond 64 bits", post(b"Content-Length: 18446744073709551620\r\n\r\nabcd", HIDDEN), (400,)),
    ("blank before a length's colon", post(b"Content-Length : 4\r\n\r\nabcd", HIDDEN), (400,)),
    ("blank before a coding's colon", post(b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("a coding behind a control character", post(b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("two codings", post(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("an unknown coding", post(b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", HIDDEN), (501,)),
    ("chunks that are not the last coding", post(b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", HIDDEN), (501,)),
    ("an unknown coding and a length", post(b"Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\nabcd", HIDDEN), (501,)),
    ("no host", b"GET /healthz HTTP/1.1\r\n\r\n" + HIDDEN, (400,)),
    ("a coding on a folded line", post(b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"), (200, 200)),
    ("a folded line", get(b"/healthz", b"X: a\r\n b"), (200, 200)),
    ("lines that end in LF", b"GET /healthz HTTP/1.1\nHost: a\n\n", (400,)),
    ("a LF in a field", get(b"/healthz", b"X: a\nTransfer-Encoding: chunked"), (400,)),
    ("a CR in a field", get(b"/healthz", b"X: a\rTransfer-Encoding: chunked"), (400,)),
    ("an extension of a chunk", post(CHUNKED, b"3;a=b\r\nabc\r\n0\r\n\r\n"), (200, 200)),
    ("one that ends in LF", post(CHUNKED, b"3;a=b\nabc\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("a chunk's size that ends in LF", post(CHUNKED, b"3\nabc\n0\n\n", HIDDEN), (400,)),
    ("a chunk's size of -1", post(CHUNKED, b"-1\r\nabc\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("a chunk's size of 0x3", post(CHUNKED, b"0x3\r\nabc\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("a chunk's size beyond 64 bits", post(CHUNKED, b"10000000000000003\r\nabc\r\n0\r\n\r\n", HIDDEN), (400,)),
    ("a chunk's size of 64 bits", post(CHUNKED, b"ffffffffffffffff\r\nabc\r\n0\r\n\r\n", HIDDEN), (413,)),
    ("a chunk that does not end", post(CHUNKED, b"3\r\nabcXX0\r\n\r\n", HIDDEN), (400,)),
    ("a length as a trailer", post(CHUNKED, b"0\r\nContent-Length: 5\r\n\r\n", HIDDEN), (400,)),
    ("NUL in a value", get(b"/healthz", b"X: a\0b"), (400,)),
    ("NUL in a name", get(b"/healthz", b"X\0: a"), (400,)),
    ("NUL in the path", get(b"/healthz\0/../metrics"), (400,)),
    ("a blank in a name", get(b"/healthz", b"X y: a"), (400,)),
    ("no name", get(b"/healthz", b": a"), (400,)),
    ("no colon", get(b"/healthz", b"nonsense"), (400,)),
    ("a request behind a bad one", get(b"/healthz", b"nonsense") + HIDDEN, (400,)),
    ("a request behind one that is too large", post(b"Content-Length: 5000\r\n\r\n") + HIDDEN, (413,)),
    ("a header over 1 MiB", get(b"/healthz", b"X: " + b"x" * 1_100_000) + HIDDEN, (431,)),
    ("20,000 fields", get(b"/healthz", *[b"a: b"] * 20_000), (200, 200)),
    ("a whole URL", get(b"https://127.0.0.1/metrics"), (403, 200)),
    ("CONNECT", b"CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: a\r\n\r\n", (403, 200)),
    ("OPTIONS *", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", (403, 200)),
    ("up from an open path", get(b"/healthz/../metrics"), (404, 200)),
    ("the same in escapes", get(b"/healthz/%2e%2e/metrics"), (404, 200)),
    ("an escaped slash behind an open path", get(b"/healthz%2f..%2fmetrics"), (403, 200)),
    ("two slashes", get(b"//metrics"), (403, 200)),
    ("an escaped letter", get(b"/%6detrics"), (403, 200)),
    ("an open path as a query", get(b"/metrics?/healthz"), (403, 200)),
    ("an open path as a fragment", get(b"/metrics#/healthz"), (403, 200)),
    ("a caller that names itself", get(b"/metrics", b"X-Remote-User: kubernetes-admin", b"X-Remote-Group: system:masters"), (403, 200)),
    ("HTTP/2 without asking", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400,)),
    ("HTTP/0.9", b"GET /healthz\r\n\r\n", (400,)),
    ("HTTP/9.9", b"GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n", (400,)),
    ("a switch to h2c", get(b"/healthz", b"Connection: upgrade", b"Upgrade: h2c"), (200, 200)),
    ("a blank before the method", b" " + get(b"/healthz"), (400,)),
    ("a tab for a blank", b"GET\t/healthz\tHTTP/1.1\r\nHost: a\r\n\r\n", (400,)),
)


class Table:
    def __init__(self):
        self.failed, self.missing = 0, set()
        print(f"{'tool':13} {'what':42} {'verdict':8} seen")

    def add(self, tool, what, good, seen):
        self.failed += not good
        print(f"{tool:13} {what:42} {'as wanted' if good else 'WRONG':9} {seen}", flush=True)

    def has(self, tool):
        """Whether it is installed; if not, that is a row."""
        if shutil.which(tool):
            return True
        self.missing.add(tool)
        print(f"{tool:13} {'everything':42} {'left out':9} not installed: apt-get install {tool}", flush=True)
        return False

    def status(self):
        return 1 if self.failed else SKIPPED if self.missing else 0


# ---- requests ----------------------------------------------------------------------------------------------------------------------

def statuses(received):
    """Of the answers that follow each other, by their Content-Length; None for what is none."""
    found = []
    while received:
        head, blank, rest = received.partition(b"\r\n\r\n")
        begin = re.match(rb"HTTP/1\.[01] (\d{3}) ", head)
        if not begin or not blank:
            return [*found, None]
        length = re.search(rb"\r\nContent-Length: (\d+)", head)
        found.append(int(begin.group(1)))
        received = rest[int(length.group(1)) if length else 0:]
    return found


def exchange(port, data):
    """Statuses of all answers until the server closes the connection, which it must."""
    with kube_client.unverified().wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=programs.PATIENCE_S)) as connection:
        received = b""
        try:
            connection.sendall(data)
            while got := connection.recv(1 << 16):
                received += got
        except ConnectionError:
            pass  # it was closed while there was more to send
        return statuses(received)


def try_requests(table, daemon, only):
    for name, data, wanted in REQUESTS:
        if not re.search(only, name):
            continue
        got = exchange(daemon.port, data + LAST)
        table.add("raw", name, tuple(got) == wanted, " ".join(map(str, got)))


# ---- tools -------------------------------------------------------------------------------------------------------------------------

def try_sslscan(table, daemon, folder):
    if not table.has("sslscan"):
        return
    report = folder / "sslscan.xml"
    subprocess.run(["sslscan", f"--xml={report}", "--show-certificate", f"127.0.0.1:{daemon.port}"], capture_output=True, check=True,
                   timeout=120)
    test = xml.etree.ElementTree.parse(report).getroot().find("ssltest")
    on = [f"{one.get('type')} {one.get('version')}" for one in test.iter("protocol") if one.get("enabled") == "1"]
    table.add("sslscan", "protocols", on == ["tls 1.2", "tls 1.3"], ", ".join(on))
    ciphers = [(one.get("cipher"), int(one.get("bits"))) for one in test.iter("cipher")]
    weak = [name for name, bits in ciphers if bits < 128 or not re.match(r"ECDHE-|TLS_AES_|TLS_CHACHA20_", name)
            or re.search("RC4|DES|NULL|EXP|MD5|anon", name)]
    table.add("sslscan", "ciphers: forward secrecy, 128 bits", ciphers and not weak, f"{len(ciphers)} ciphers, weak: {weak or 'none'}")
    groups = [int(one.get("bits")) for one in test.iter("group")]
    table.add("sslscan", "key exchange of 112 bits or more", groups and min(groups) >= 112,
              f"{len(groups)} groups, least {min(groups, default=0)}")
    for what, tag, attribute in (("no renegotiation", "renegotiation", "supported"), ("no compression", "compression", "supported"),
                                 ("no Heartbleed", "heartbleed", "vulnerable")):
        seen = [one.get(attribute) for one in test.iter(tag)]
        table.add("sslscan", what, all(value == "0" for value in seen) and (seen or tag == "compression"), f"{attribute}: {seen}")
    signature, key = test.find(".//signature-algorithm"), test.find(".//pk")
    table.add("sslscan", "certificate: SHA-256, key of an elliptic curve", "sha256" in signature.text.lower() and key.get("type") == "EC",
              f"{signature.text.strip()}, {key.attrib}")


def curl(daemon, *words):
    """(exit status, output) of a request whose path is not made neat."""
    target, *flags = words
    done = subprocess.run(["curl", "--silent", "--insecure", "--path-as-is", "--max-time", "30", *flags,
                           f"https://127.0.0.1:{daemon.port}{target}"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def try_curl(table, server, daemon, folder):
    if not table.has("curl"):
        return
    def bearer(user):
        return "--header", f"Authorization: Bearer {server.tokens[user]}"
    code = ("--output", "/dev/null", "--write-out", "%{http_code}")
    large = folder / "large"
    large.write_bytes(b"x" * 5000)
    for what, words, wanted in (
            ("TLS 1.1 at most", ("/healthz", "--tls-max", "1.1"), (35, "")),
            ("TLS 1.2 at most", ("/healthz", "--tls-max", "1.2"), (0, "ok")),
            ("HTTP/2 if there is", ("/healthz", "--http2", *code[:2], "--write-out", "%{http_version}"), (0, "1.1")),
            ("scrape, anonymous", ("/metrics", *code), (0, "403")),
            ("scrape without rights", ("/metrics", *bearer("poor"), *code), (0, "403")),
            ("scrape with a wrong token", ("/metrics", "--header", "Authorization: Bearer nonsense", *code), (0, "401")),
            ("scrape with rights", ("/metrics", *bearer("monitor"), *code), (0, "200")),
            ("another path with those rights", ("/configz", *bearer("monitor"), *code), (0, "403")),
            ("acting for another", ("/metrics", *bearer("poor"), "--header", "Impersonate-User: kubernetes-admin", *code), (0, "403")),
            ("a body that is too large", ("/debug/flags/v", *bearer("kubernetes-admin"), "--upload-file", str(large), *code), (0, "413")),
            ("a path up", ("/healthz/../../etc/passwd", *bearer("kubernetes-admin"), *code), (0, "404"))):
        got = curl(daemon, *words)
        table.add("curl", what, got == wanted, f"status {got[0]}, {got[1]!r}")
    got = curl(daemon, "/metrics", "--request", "TRACE", *bearer("kubernetes-admin"))
    table.add("curl", "TRACE gives no token back", server.tokens["kubernetes-admin"] not in got[1], f"{len(got[1])} bytes")


class Probe:
    """Asks /healthz as a kubelet does and scrapes as Prometheus does, each on a connection of its own, until it is stopped."""

    def __init__(self, daemon, token):
        self._daemon, self._token, self._stop = daemon, token, threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor()
        self._asked = [self._pool.submit(self._run, path, user) for path, user in (("/healthz", None), ("/metrics", token))]

    def _run(self, path, token):
        taken, failed = [], 0
        while not self._stop.is_set():
            begin = time.monotonic()
            try:
                failed += self._daemon.get(path, token)[0] != 200
            except OSError:
                failed += 1
            taken.append(time.monotonic() - begin)
            self._stop.wait(0.02)
        return taken, failed

    def end(self):
        """[(seconds of each, how many failed)] of the two."""
        self._stop.set()
        return [one.result() for one in self._asked]


def try_slow(table, server, daemon):
    if not table.has("slowhttptest"):
        return
    for what, flags in (("slow headers", ["-H"]), ("slow bodies", ["-B", "-t", "PUT"]),
                        ("slow readers", ["-X", "-w", "10", "-y", "20", "-k", "10"])):
        probe = Probe(daemon, server.tokens["monitor"])
        url = f"https://127.0.0.1:{daemon.port}/healthz?verbose"
        done = subprocess.run(["slowhttptest", *flags, "-c", str(SLOW_CONNECTIONS), "-r", str(SLOW_CONNECTIONS), "-i", "1",
                               "-l", str(SLOW_S), "-p", f"{MOST_PROBE_S:.0f}", "-u", url], capture_output=True, text=True, check=False,
                              timeout=120)
        available = re.search(r"service available:\s+YES", re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)) is not None
        for path, (taken, failed) in zip(("/healthz", "/metrics"), probe.end()):
            good = available and failed == 0 and len(taken) > SLOW_S and max(taken) < MOST_PROBE_S
            table.add("slowhttptest", f"{what}: {path} meanwhile", good,
                      f"{len(taken)} asked, {failed} failed, {1e3 * max(taken):.0f} ms at most; its own probe: {available}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kubesched", type=pathlib.Path, default=programs.PROGRAMS / "kubesched")
    parser.add_argument("--kubeschedctl", type=pathlib.Path, default=programs.PROGRAMS / "kubeschedctl")
    parser.add_argument("--only", default="", help="regular expression of the raw requests")
    options = parser.parse_args()
    table = Table()
    with programs.folder() as folder:
        server = programs.ApiServer(folder / "server", "--nodes=3", program=options.kubeschedctl)
        daemon = programs.Daemon(folder, server.kubeconfig, program=options.kubesched)
        try_requests(table, daemon, options.only)
        try_sslscan(table, daemon, folder)
        try_curl(table, server, daemon, folder)
        try_slow(table, server, daemon)
        alive = daemon.process.poll() is None and json.loads(daemon.get("/configz", server.tokens["kubernetes-admin"])[2])
        table.add("", "still there, with its configuration", bool(alive), f"pid {daemon.process.pid}")
        daemon.end()
        server.end()
    return table.status()


if __name__ == "__main__":
    sys.exit(main())
