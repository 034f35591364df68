#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `kubeschedctl ui` in a real browser, over a running demo: page_test.py KUBESCHEDCTL FOLDER

Each view is shown in two widths and two themes; pictures stay in FOLDER. Ends with 77, which ctest takes for skipped, where there
is no Chromium. --url URL: of a page that is served already, instead of a demo.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

import axe
import browser

SKIPPED = 77
FORMS = pathlib.Path(__file__).parents[1] / "api/data/forms.jsonl"  # random objects
ANSWERS = pathlib.Path(__file__).parents[1] / "fuzz/forms/answers.jsonl"  # a real server's
# What each view must show, as an expression that holds in the end.
VIEWS = {
    "now": "document.querySelectorAll('.tile').length == 6 && document.querySelectorAll('canvas').length == 4 && /\\/s/.test(document.querySelector('.tile b').textContent)",
    "nodes": "/nodes, CPU/.test(document.getElementById('main').textContent)",
    "queue": "document.querySelectorAll('tbody tr').length > 1",
    "decisions": "document.querySelectorAll('tbody tr').length > 50",
    "recording": "document.querySelector('input[type=file]') !== null",
    "why?pod=default/impossible-00000": "/Unschedulable/.test(document.getElementById('main').textContent) && document.querySelectorAll('tbody tr').length > 10",
    "what-if": "document.querySelector('textarea').value.includes('Deployment')",
}
SIZES = [(360, 800), (1920, 1080), (3840, 2160)]

# Names of controls, contrast of texts, width: what can be told without a library.
AUDIT = r"""
(() => {
  const faults = [];
  const rgb = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || seen.has(element) || !element.offsetParent || element.closest('noscript, script, .skip')) continue;
    seen.add(element);
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(back(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${element.tagName} "${element.textContent.trim().slice(0, 40)}"`);
  }
  for (const control of document.querySelectorAll('button, input, select, textarea, a, canvas')) {
    const name = control.getAttribute('aria-label') || control.textContent.trim() || [...(control.labels ?? [])].map((label) => label.textContent).join('');
    if (!name.trim()) faults.push(`no name: ${control.outerHTML.slice(0, 80)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  if (new Set(ids).size !== ids.length) faults.push('an id twice');
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`wider than the window: ${document.documentElement.scrollWidth} > ${innerWidth}`);
  if (!document.title || !document.documentElement.lang || document.querySelectorAll('main').length !== 1) faults.push('title, lang or main');
  return faults.slice(0, 10);
})()
"""


def demo(program, folder):
    """A demo that is served; its process and the page's address."""
    log = (folder / "demo.log").open("w+")
    recordings = folder / "recordings"
    shutil.rmtree(recordings, ignore_errors=True)
    recordings.mkdir()
    process = subprocess.Popen([program, "demo", "--ui", "--plain", "--nodes", "60", "--pods", "400", "--arrival", "4s",
                                "--scheduler-arg=--record=" + str(recordings)], stdout=log,
                               stderr=subprocess.STDOUT)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        text = pathlib.Path(log.name).read_text(encoding="utf-8")
        if "stay until" in text:
            return process, re.search(r"page: (\S+)", text).group(1)
        time.sleep(0.1)
    process.terminate()
    raise RuntimeError("the demo did not come up: " + pathlib.Path(log.name).read_text(encoding="utf-8"))


def status(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def check_strangers(url):
    base = url.split("?")[0]
    for what, got, wanted in [
            ("without the token", status(base), 403), ("a wrong token", status(base + "?token=0"), 403),
            ("an API without cookie", status(base + "api/queue"), 403), ("another host's name", status(url, Host="evil.example"), 403),
            ("another page", status(url, Origin="http://evil.example"), 403)]:
        assert got == wanted, f"{what}: {got}, not {wanted}"


# What axe-core finds, a line each; it is there without the page's policy, as scripts that a debugger runs are.
AXE = """
axe.run(document, {resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}).then((result) =>
  result.violations.map((one) => `${one.id} (${one.impact}): ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(' | ')}`))
"""


def judge(page, what, rules):
    faults = page.value(AUDIT)
    assert not faults, f"{what}: {faults}"
    if rules:
        page.value(f"window.axe ? 0 : (0, eval)({json.dumps(rules + '; 0')})")
        faults = page.value(AXE)
        assert not faults, f"{what}, axe-core: {faults}"


def check_view(page, view, holds, folder, rules):
    page.value(f"location.hash = {view!r}")
    page.wait(holds, view)
    name = view.split("?")[0]
    for theme in ("light", "dark"):
        page.value(f"document.documentElement.dataset.theme === {theme!r} || document.getElementById('theme').click()")
        for width, height in SIZES:
            page.size(width, height)
            page.value("dispatchEvent(new Event('resize'))")
            page.wait(holds, f"{view}, {theme}, {width}")
            page.value("new Promise((done) => setTimeout(done, 150))")  # the drawing of the charts
            page.picture(folder / f"{name}-{width}-{theme}.png")
            judge(page, f"{view}, {theme}, {width}", rules)


def check_keys(page):
    page.value("location.hash = 'nodes'")
    page.wait(VIEWS["nodes"], "nodes")
    page.value("document.querySelector('canvas.heat').focus()")
    page.press("ArrowRight", 39)
    page.press("Enter", 13)
    page.wait("/Resources/.test(document.getElementById('main').textContent)", "a node by keyboard")


def check_what_if(page, folder):
    page.value("location.hash = 'what-if'")
    page.wait(VIEWS["what-if"], "what-if")
    page.value("document.querySelector('form button.main').click()")
    page.wait("/of 10 pods find a node/.test(document.getElementById('main').textContent)", "where ten pods would go")
    page.picture(folder / "what-if-placed.png")
    page.value("document.querySelector('[name=withoutNodes]').value = 'node-00000, node-00001'")
    page.value("document.querySelector('[name=moreNodes]').value = 'node-00002:3'")
    page.value("document.querySelector('[name=weights]').value = 'NodeResourcesFit:7'")
    page.value("document.querySelector('form button.main').click()")
    page.wait("/As if: more nodes node-00002:3; without nodes .*; other weights /.test(document.getElementById('main').textContent) && /node-00002-more-1/.test(document.getElementById('main').textContent)", "another cluster")
    page.value("[...document.querySelectorAll('form button')].at(-1).click()")
    page.wait("/more fit/.test(document.getElementById('main').textContent)", "how many fit")
    page.picture(folder / "what-if-fill.png")


def check_recording(page, folder):
    page.value("location.hash = 'recording'")
    page.wait(VIEWS["recording"], "recording")
    (folder / "nonsense.jsonl").write_text('{"list": "Node"}\n', encoding="utf-8")
    page.choose("input[type=file]", folder / "nonsense.jsonl")
    page.wait("/nonsense.jsonl: line 1: not a recording/.test(document.getElementById('main').textContent)", "no recording")
    page.choose("input[type=file]", next((folder / "recordings").glob("*.jsonl")))
    page.wait("/Step [0-9]+ of [0-9]+: 60 nodes, 0 decisions/.test(document.getElementById('main').textContent)", "a recording at its begin")
    begin = page.value("Number(document.querySelector('input[type=range]').value)")
    page.value("[...document.querySelectorAll('button')].find((button) => button.textContent === 'Next decision').click()")
    page.wait("/60 nodes, 1 decisions/.test(document.getElementById('main').textContent)", "the first decision")
    move = "(() => { const slider = document.querySelector('input[type=range]'); slider.value = %s; slider.dispatchEvent(new Event('input')); })()"
    page.value(move % "slider.max")
    page.wait("document.querySelectorAll('tbody tr').length === 50 && / decisions, [1-9]/.test(document.getElementById('main').textContent)", "its end")
    page.picture(folder / "recording-end.png")
    page.value(move % begin)
    page.wait("/60 nodes, 0 decisions/.test(document.getElementById('main').textContent)", "back at its begin")
    page.value("[...document.querySelectorAll('option')].find((option) => option.value === '1000').selected = true")
    page.value("[...document.querySelectorAll('button')].find((button) => button.textContent === 'Play').click()")
    page.wait("document.querySelector('input[type=range]').value === document.querySelector('input[type=range]').max", "played to its end")


def check_forms(page):
    """A recording of the same objects as JSON and in protobuf is read into the same steps."""
    texts = {"json": [], "protobuf": []}
    rows = [json.loads(line) for file in (FORMS, ANSWERS) for line in file.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        if row.get("is", "object") != "object":
            continue
        want = row.get("want") or json.loads(row["json"])
        kind = want["kind"]
        body = base64.b64encode(bytes.fromhex(row["hex"])).decode()
        for form, item in (("json", want), ("protobuf", body)):
            texts[form] += [{"list": kind, "count": 1}, {"item": item}, {"delete": kind, "object": item}]
    for form, lines in texts.items():
        whole = [{"kubeschedRecording": 2}, *lines, {"round": {"wall": 1000000}}, {"end": "stopped"}]
        texts[form] = "".join(json.dumps(line) + "\n" for line in whole)
    read = "import('/recording.mjs').then(({readRecording}) => readRecording(new File([%s], 'f'))).then(({steps}) => JSON.stringify(steps))"
    as_json, as_protobuf = (json.loads(page.value(read % json.dumps(text))) for text in texts.values())
    assert any(step.get("request", {}).get("cpuMilli") for step in as_json), as_json
    assert as_json == as_protobuf, f"{as_json} as JSON, {as_protobuf} in protobuf"


def check(page, url, folder, ours):
    rules = axe.source()
    if rules is None:
        print("judged without axe-core: python3 test/ui/axe.py fetches it")
    page.size(*SIZES[1])
    page.open(url)
    page.wait("location.search === '' && document.querySelector('#who')?.textContent.length > 0", "the page")
    for view, holds in VIEWS.items():
        check_view(page, view, holds, folder, rules)
    check_keys(page)
    if ours:
        check_what_if(page, folder)
        check_recording(page, folder)
        check_forms(page)
        page.value("location.hash = 'why?pod=default/impossible-00000'")
        page.wait("/What would have to change/.test(document.getElementById('main').textContent)", "suggestions")
        page.value("[...document.querySelectorAll('main button')].find((button) => /preemption/.test(button.textContent)).click()")
        page.wait("/Preemption is not helpful|No preemption victims|preemption: 0\\/60/.test(document.getElementById('main').textContent)", "preemption")
    assert not page.faults, f"the page's scripts: {page.faults[:5]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--url")
    options = parser.parse_args()
    program = browser.find()
    if program is None:
        print("skipped: no Chromium here (Debian's package chromium)")
        return SKIPPED
    options.folder.mkdir(parents=True, exist_ok=True)
    process, url = (None, options.url) if options.url else demo(options.program, options.folder)
    try:
        if not options.url:
            check_strangers(url)
        page = browser.Browser(program)
        try:
            check(page, url, options.folder, not options.url)
        finally:
            page.close()
    finally:
        if process:
            process.terminate()
            process.wait(30)
    print(f"pictures: {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
