# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its own protocol over a pipe: no driver, no packages."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One browser with one page. Every call has a deadline; errors of the page's scripts are collected in `faults`."""

    def __init__(self, program, deadline=30):
        self.deadline = deadline
        self.faults = []
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars",
                 "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
                 f"--user-data-dir={self._profile.name}", "about:blank"]
        # The browser reads from descriptor 3 and writes to 4.
        self._process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "browser", program, *flags],
                                         pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._buffer = b""
        self._number = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self._process.terminate()
        self._process.wait(10)
        self._profile.cleanup()

    def call(self, method, **parameters):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if hasattr(self, "_session"):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self.deadline
        while True:
            answer = self._next(end - time.monotonic(), method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _next(self, seconds, method):
        while b"\0" not in self._buffer:
            if seconds <= 0 or not select.select([self._read], [], [], seconds)[0]:
                raise TimeoutError(f"no answer to {method}")
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise RuntimeError(f"the browser ended at {method}")
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(line)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.faults.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.faults.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")

    def open(self, url):
        self.call("Page.navigate", url=url)

    def value(self, expression):
        """Of JavaScript, awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, expression, what):
        """Until the expression holds."""
        end = time.monotonic() + self.deadline
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: {expression} does not hold; the page says: {self.value('document.body.innerText')[:500]}")
            self.value("new Promise((done) => setTimeout(done, 50))")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def choose(self, selector, file):
        """In an input for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file)])

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text="\r" if key == "Enter" and kind == "keyDown" else "")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))
