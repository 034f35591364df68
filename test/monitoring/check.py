# SPDX-License-Identifier: Apache-2.0
"""deploy/monitoring against docs/operating-metrics.md: every metric that rules, their tests and the dashboard name is one
that kubesched exposes, with those labels. promtool, of Debian's package prometheus, checks the rules, runs their unit tests, and reads
every expression of the dashboard.

With --scrape FILE: a saved scrape that promtool looks at, too."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import debian_tool  # noqa: E402

FOLDER = ROOT / "deploy" / "monitoring"
# What every Prometheus adds, and what leader election and the health page show.
TARGET_LABELS = {"job", "instance", "pod", "namespace", "le"}
GIVEN = {"up": set()}
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
METRIC = re.compile(r"\b((?:scheduler|kubesched|rest_client|process|informer|leader_election|kube_pod|kubernetes|up)"
                    r"(?:_[a-z_]+)?)(?:\{([^}]*)\})?")
# promtool's opinion on names that are upstream's.
TOLERATED = re.compile(r'(counter|gauge) metrics should (not )?have "_total" suffix|no help text|'
                       r"(metric names should not contain abbreviated units)|use base unit")


def exposed():
    """Metric -> labels, from the document's table; histograms with their suffixes."""
    metrics = dict(GIVEN)
    for line in (ROOT / "docs" / "operating-metrics.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        match = re.fullmatch(r"`([a-z_]+)`", cells[0])
        if match is None or len(cells) != 7 or cells[6].startswith("**omitted**"):
            continue
        labels = {label.strip() for label in cells[2].split(",") if label.strip()}
        names = [match.group(1)]
        if cells[1] == "histogram":
            names = [match.group(1) + suffix for suffix in ("_bucket", "_sum", "_count")]
        metrics.update({name: labels for name in names})
    return metrics


def faults_of(expression, metrics, recorded):
    faults = []
    for match in METRIC.finditer(re.sub(r'"[^"]*"', '""', expression)):
        name, selector = match.group(1), match.group(2) or ""
        if name in recorded:
            continue
        if name not in metrics:
            faults.append(f"{name} is no metric of kubesched: {expression}")
            continue
        for label in re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", selector):
            if label not in metrics[name] | TARGET_LABELS:
                faults.append(f"{name} has no label {label}: {expression}")
    return faults


def rule_expressions(text):
    return [line.split("expr:", 1)[1].strip() for line in text.splitlines() if line.strip().startswith("expr:")]


def series_of_tests(text):
    return re.findall(r"series: '([^']*)'", text)


def dashboard_expressions(panels):
    for panel in panels:
        yield from dashboard_expressions(panel.get("panels", []))
        for target in panel.get("targets", []):
            yield target["expr"]


def check_dashboard(metrics):
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    expressions = list(dashboard_expressions(dashboard["panels"]))
    faults = [] if len(expressions) > 20 else ["the dashboard is all but empty"]
    identifiers = [panel["id"] for panel in dashboard["panels"]]
    if len(set(identifiers)) != len(identifiers):
        faults.append("two panels have one id")
    for expression in expressions:
        if 'job="$job"' not in expression:
            faults.append(f"not of the chosen job: {expression}")
        faults += faults_of(expression, metrics, set())
    return faults


def check_names(metrics):
    rules = (FOLDER / "rules.yaml").read_text(encoding="utf-8")
    recorded = set(re.findall(r"record: (\S+)", rules))
    expressions = rule_expressions(rules)
    faults = [] if len(expressions) > 15 else ["the rules are all but empty"]
    for expression in expressions + series_of_tests((FOLDER / "rules_test.yaml").read_text(encoding="utf-8")):
        faults += faults_of(expression, metrics, recorded)
    alerts = set(re.findall(r"alert: (\S+)", rules))
    tested = set(re.findall(r"alertname: (\w+)", (FOLDER / "rules_test.yaml").read_text(encoding="utf-8")))
    faults += [f"no unit test of the alert {name}" for name in sorted(alerts - tested)]
    return faults


def run_promtool(promtool, arguments, text=None):
    done = subprocess.run([promtool, *arguments], cwd=FOLDER, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def as_rules(expressions):
    """Recording rules of the dashboard's expressions, with values for Grafana's variables: promtool reads rules only."""
    rules = []
    for number, expression in enumerate(expressions):
        plain = re.sub(r"\$__(rate_interval|interval|range)", "5m", expression)
        rules.append({"record": f"dashboard:{number}", "expr": re.sub(r"\$\{?\w+\}?", "x", plain)})
    return json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})  # which is YAML, too


def check_expressions(promtool, expressions):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as rules:
        rules.write(as_rules(expressions))
        rules.flush()
        code, output = run_promtool(promtool, ["check", "rules", rules.name])
    return [f"promtool on the dashboard: {output}"] if code != 0 else []


def check_by_promtool(promtool, scrape):
    faults = []
    for arguments in (["check", "rules", "rules.yaml"], ["test", "rules", "rules_test.yaml"]):
        code, output = run_promtool(promtool, arguments)
        if code != 0:
            faults.append(f"promtool {' '.join(arguments)}:\n{output}")
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    faults += check_expressions(promtool, dashboard_expressions(dashboard["panels"]))
    if not check_expressions(promtool, ["sum(rate(x[$__rate_interval])"]):
        faults.append("promtool finds nothing wrong in an expression without its end")
    if scrape is not None:
        _, output = run_promtool(promtool, ["check", "metrics"], scrape.read_text(encoding="utf-8"))
        faults += [f"promtool check metrics: {line}" for line in output.splitlines() if line and not TOLERATED.search(line)]
    return faults


def find_promtool():
    try:
        return debian_tool.get("prometheus", "usr/bin/promtool")
    except debian_tool.MissingError as error:
        print(f"SKIPPED: no promtool, the rules' own unit tests did not run: {error}")
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--promtool", help="default: the installed one, or that of Debian's package")
    parser.add_argument("--scrape", type=pathlib.Path)
    options = parser.parse_args()
    metrics = exposed()
    faults = check_names(metrics) + check_dashboard(metrics)
    if faults_of("nonsense(scheduler_nosuch{a=\"b\"})", metrics, set()) == []:
        faults.append("this test finds nothing")
    promtool = options.promtool or find_promtool()
    if promtool:
        faults += check_by_promtool(promtool, options.scrape)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
