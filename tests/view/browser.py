# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A headless Chromium, driven by the WebDriver protocol (W3C): just what the tests of pages need."""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import LIMIT_S  # noqa: E402


def missing():
    """What is not installed, or None."""
    return next((p for p in ("chromium", "chromedriver") if not shutil.which(p)), None)


class Browser:
    def __init__(self, width=1400, height=900, dark=False):
        self.home = tempfile.mkdtemp()
        env = {**os.environ, "HOME": self.home, "TMPDIR": self.home}
        # it takes a free port itself: one that we find to be free may be another's when it begins
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, text=True)
        self.session = None
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", f"--window-size={width},{height}",
                f"--user-data-dir={self.home}/profile"] + (["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else [])
        self.base = f"http://127.0.0.1:{self.port()}"
        options = {"goog:chromeOptions": {"args": args, "binary": shutil.which("chromium")}, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]
        self.call("POST", f"/session/{self.session}/timeouts", {"script": 1000 * LIMIT_S, "pageLoad": 1000 * LIMIT_S})

    def port(self):
        """Where chromedriver listens; it says so when it does."""
        limit = threading.Timer(LIMIT_S, self.driver.kill)
        limit.start()
        try:
            said = ""
            for line in self.driver.stdout:
                said += line
                if found := re.search(r"started successfully on port (\d+)", line):
                    return int(found[1])
            raise RuntimeError(f"chromedriver does not say on which port it is: {said}")
        finally:
            limit.cancel()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT_S + 100) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].splitlines()[0]) from e

    def post(self, path, body):
        return self.call("POST", f"/session/{self.session}{path}", body)

    def open(self, file, part=False):
        """And wait until the page has read its data, or the part of it that it is shown with, or says why not."""
        self.post("/url", {"url": "about:blank"})  # or another place in the same page would only be gone to
        self.post("/url", {"url": "file://" + os.path.abspath(file)})
        return self.until("window.flightrec" + ("" if part else " && flightrec.data.whole"))

    def whole(self):
        """Until the page has read all of its data, or says why not."""
        return self.until("flightrec.data.whole")

    def until(self, what):
        return self.run("""const done = arguments[arguments.length - 1];
            (function look() {
                const said = document.getElementById("loading-text");
                const why = said.className === "bad" ? said.textContent : window.flightrec && flightrec.data.failed;
                if (why || (%s)) done(why || "");
                else setTimeout(look, 50);
            })();""" % what, wait=True)

    def run(self, script, *args, wait=False):
        return self.post("/execute/" + ("async" if wait else "sync"), {"script": script, "args": list(args)})

    def frame(self):
        """Until what is due is drawn."""
        self.run("const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done()));", wait=True)

    def pointer(self, *steps):
        """Steps (type, x, y) in the window: move, down, up."""
        names = {"move": "pointerMove", "down": "pointerDown", "up": "pointerUp"}
        actions = [{"type": names[t], "button": 0} | ({"x": int(x), "y": int(y), "duration": 0} if t == "move" else {}) for t, x, y in steps]
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})
        self.frame()

    def click(self, x, y):
        self.pointer(("move", x, y), ("down", x, y), ("up", x, y))

    def wheel(self, x, y, by):
        self.post("/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by, "duration": 0}]}]})
        self.frame()

    def keys(self, text):
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": t, "value": c} for c in text for t in ("keyDown", "keyUp")]}]})
        self.frame()

    def errors(self):
        return [e["message"] for e in self.post("/se/log", {"type": "browser"}) if e["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, file):
        with open(file, "wb") as f:
            f.write(base64.b64decode(self.call("GET", f"/session/{self.session}/screenshot")))

    def close(self):
        try:
            if self.session:
                self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.home, ignore_errors=True)
