# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages: that they show what `replay --json` says, and do what keys, mouse and search ask for."""
import atexit
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import browser as browsers  # noqa: E402
from browser import missing  # noqa: E402
from cases import Skip, check, equal, main, test  # noqa: E402

TILED = "build/tests/view/flightrec"  # its pages have many tiles
FLIGHTREC = os.environ.get("FLIGHTREC", "build/flightrec")
WORK = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; cat /etc/passwd > /dev/null; done; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.1" \
       "; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done" # what the rings still have, also where others fill them in 0.1 s
M64 = (1 << 64) - 1
RUNNING, RUNNABLE = 1, 2


POOL = {}


class Browser:
    """One for all pages of a kind: a page begins anew when it is opened."""
    def __init__(self, **kw):
        key = tuple(sorted(kw.items()))
        if key not in POOL:
            POOL[key] = browsers.Browser(**kw)
            atexit.register(POOL[key].close)
        self.it = POOL[key]

    def __getattr__(self, name):
        return getattr(self.it, name)

    def close(self):
        self.it.errors()  # which are this page's


def needs_node():
    if not shutil.which("node"):
        raise Skip("node is not installed")


def flightrec(*args):
    r = subprocess.run([FLIGHTREC, *args], capture_output=True, stdin=subprocess.DEVNULL)
    equal(r.returncode, 0, f"flightrec {' '.join(args)}: {r.stderr.decode()}")
    return r.stdout.decode()


class Page:
    """A snapshot, its page in a browser, its events."""

    def __init__(self, flight, **kw):
        self.html = flight + ".html"
        if not os.path.exists(self.html):
            flightrec("view", flight)
        self.events = [json.loads(line) for line in flightrec("replay", "--json", flight).splitlines()]
        self.browser = Browser(**kw)
        try:
            equal(self.browser.open(self.html), "", "what the page says")
        except BaseException:
            self.browser.close()
            raise
        self.js = self.browser.run

    def __enter__(self):
        return self

    def __exit__(self, *_):
        errors = self.browser.errors()
        self.browser.close()
        equal(errors, [], "what the browser's console says")

    def view(self):
        return self.js("const t = flightrec.timeline; return [t.from, t.to]")

    def at(self, what):
        """Middle of an element, in the window."""
        return self.js(f"const r = document.querySelector('{what}').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]")

    def text(self, what):
        return self.js(f"return document.querySelector('{what}').textContent")

    def point(self, ns, track):
        """Where a moment is in the window, in the middle of a track's first lane; track: an expression."""
        return self.js(f"""const t = flightrec.timeline, r = t.canvas.getBoundingClientRect(), track = {track};
            t.reveal({ns}, track); t.draw();
            return [r.x + t.x({ns}), r.y + track.y - t.scroll + RULER_H + 8]""")

    def find(self, text):
        x, y = self.at("#search")
        self.browser.click(x, y)
        self.js("document.getElementById('search').select()")
        self.browser.keys(text + "\ue007")  # Enter: looked for, and back to the timeline
        self.js("const done = arguments[0]; setTimeout(() => done(), 0)", wait=True)


ALL = """
const d = flightrec.data, out = [], from = arguments[0], to = Math.min(d.n, arguments[1]);
const plain = v => typeof v === "bigint" ? v.toString() : typeof v === "object" ? Array.from(v, x => x.toString()) : v.toString();
for (let i = from; i < to; i++) {
	const ev = d.schemaOf[d.ev[i]], fields = {};
	ev.fields.forEach((f, nr) => {
		if (f.rule === "STACK" || f.hidden)
			return;
		const v = d.value(i, nr);
		fields[f.name] = ["comm", "str", "text8"].includes(f.type) ? { text: d.texts[v] } : plain(v);
	});
	out.push([(BigInt(d.origin) + BigInt(d.ts[i])).toString(), d.cpu[i], ev.name, d.tid[i], d.texts[d.comm[i]], fields]);
}
return out;
"""


def same(got, want):
    if isinstance(got, dict):
        return got["text"] == (want or "")
    if isinstance(got, list):
        return [int(v) & M64 for v in got] == [v & M64 for v in want]
    return int(got) & M64 == want & M64


def compare_all(page):
    compare_rows(page.js, page.events)


def compare_rows(js, events):
    equal(js("return flightrec.data.n"), len(events), "events")
    for base in range(0, len(events), 20000):
        for got, want in zip(js(ALL, base, base + 20000), events[base:]):
            head = [str(want["ts"]), want["cpu"], want["event"], want["tid"], want["comm"] or ""]
            equal(got[:5], head, "event")
            for name, value in got[5].items():
                check(same(value, want[name]), f"{want}: {name} is {value}")


@test("every event and every field is that of replay")
def small_events(small, _):
    with Page(small) as page:
        compare_all(page)
        frames = page.js("return flightrec.data.stack(119)")
        equal(len(frames), 2, f"frames of the sample's stack: {frames}")


@test("names of the snapshot are text, whatever they hold; nothing is fetched")
def hostile(small, _):
    with Page(small) as page:
        for tab in "123456":
            page.browser.keys(tab)
        page.js("flightrec.selectRow(2)")
        page.browser.keys("1")
        check("/bin/a \"b\"" in page.text("#detail"), "the program's path is told")
        check("\x1b" in page.js("return flightrec.data.texts.join('')"), "the name with an escape is there")
        equal(page.js("return performance.getEntriesByType('resource').length"), 0, "things fetched")
        html = open(page.html, encoding="utf-8", errors="surrogateescape").read()
        check("/bin/a" not in html and "shell" not in html, "no text of the snapshot stands in the page as it is")


@test("wheel, drag, shift and drag, keys and the overview move the window")
def moves(small, _):
    with Page(small) as page:
        page.browser.keys("f")
        span = page.js("return flightrec.data.span")
        equal(page.view(), [0, span], "f: all of it")
        x, y = page.at("#timeline")
        t = page.js("return flightrec.timeline.time(arguments[0] - flightrec.timeline.canvas.getBoundingClientRect().x)", x)
        page.browser.wheel(x, y, -500)
        a, b = page.view()
        check(0 < a < t < b < span and b - a < span / 2, f"wheel zooms in at the pointer: {a} {t} {b}")
        page.browser.pointer(("move", x, y), ("down", x, y), ("move", x + 100, y), ("up", x + 100, y))
        c, d = page.view()
        check(c < a and abs((d - c) - (b - a)) < 2, "drag moves, and zooms not")
        page.browser.keys("d")
        check(page.view()[0] > c, "d: on")
        page.browser.keys("w")
        check(page.view()[1] - page.view()[0] < (d - c) * 0.8, "w: in")
        page.browser.keys("f")
        page.browser.post("/actions", {"actions": [
            {"type": "key", "id": "k", "actions": [{"type": "keyDown", "value": "\ue008"}] + [{"type": "pause"}] * 4 + [{"type": "keyUp", "value": "\ue008"}]},
            {"type": "pointer", "id": "mouse", "actions": [{"type": "pause"}, {"type": "pointerMove", "x": int(x), "y": int(y)}, {"type": "pointerDown", "button": 0},
                                                           {"type": "pointerMove", "x": int(x) + 80, "y": int(y)}, {"type": "pointerUp", "button": 0}]}]})
        page.browser.frame()
        check(abs(page.view()[0] - t) < span / 100 and page.view()[1] < span, f"shift and drag: from {t} on, {page.view()}")
        x, y = page.at("#overview")
        page.browser.click(x, y)
        check(abs(sum(page.view()) / 2 - span / 2) < span / 50, "a click into the overview")


@test("keys zoom at the selected event, or else at the trigger: neither is lost, however far; a bar says which track is selected")
def keeps_in_sight(small, _):
    with Page(small) as page:
        trigger, ts = page.js("return [flightrec.model.trigger, Array.from(flightrec.data.ts)]")
        far = max(range(len(ts)), key=lambda i: abs(ts[i] - trigger))
        check(trigger >= 0 and ts[far] != trigger, f"an event away from the trigger: {trigger} {ts}")
        for row, at in (None, trigger), (far, ts[far]):
            page.browser.keys("f")
            page.js("arguments[0] === null ? flightrec.select(null) : flightrec.selectRow(arguments[0])", row)
            page.browser.keys("f" + "w" * 60)
            a, b = page.view()
            check(a <= at <= b and b - a <= 51, f"row {row}: {at} in {a} to {b}")
            page.browser.keys("s" * 80)
            check(page.view()[0] <= at <= page.view()[1], f"row {row}, out again")
        page.browser.keys("\ue00cf")
        marked = """const t = flightrec.timeline, of = document.createElement("canvas"), g = of.getContext("2d", { willReadFrequently: true }), scale = devicePixelRatio || 1;
            t.draw();
            [of.width, of.height] = [t.canvas.width, t.canvas.height];
            g.drawImage(t.canvas, 0, 0);
            const ground = g.getImageData(6 * scale, (RULER_H + 2) * scale, 1, 1).data.join();
            return t.tracks.filter(k => k.shown && k.y - t.scroll >= 0 && k.y - t.scroll + k.h < t.h - RULER_H)
                .map(k => g.getImageData(1 * scale, (k.y - t.scroll + RULER_H + 2) * scale, 1, 1).data.join() !== ground)"""
        check(not any(page.js(marked)), "nothing is selected")
        page.browser.keys("jj")
        equal([i for i, is_marked in enumerate(page.js(marked)) if is_marked], [1], "the second track from the top")


@test("a click tells what is there; [ and ] step through the task's events")
def click(small, _):
    with Page(small) as page:
        base = page.events[0]["ts"]
        page.browser.keys("f")
        x, y = page.point(page.events[3]["ts"] + 2000000 - base, "flightrec.timeline.trackOfCpu(0)")
        page.browser.click(x, y)
        check(page.text("#sel-name").endswith(" 101"), f"who ran: {page.text('#sel-name')}")
        check("4.000 ms" in page.text("#detail"), "for how long")
        equal(page.text("#ev-name"), "sched_switch", "the event that began it")
        page.js("flightrec.selectRow(4)")
        equal(page.text("#ev-name"), "sys_enter", "selected")
        check("openat" in page.text("#detail"), "the call's name")
        page.browser.keys("]")
        equal(page.text("#ev-name"), "sys_exit", "]: the task's next")
        check("-ENOENT" in page.text("#detail"), "its result in words")
        page.browser.keys("[,")
        equal(page.js("return flightrec.timeline.selected.row"), 3, ", after [: the one before of all")
        page.browser.keys("\ue00c")
        equal(page.js("return flightrec.timeline.selected"), None, "Escape")


@test("calls of one number: of both ABIs, and of a dead task and the next of its tid, are not mixed")
def calls_of_one_number(_, folder):
    snap = os.path.join(folder, "calls.flight")
    subprocess.run(["build/tests/view/make_calls", snap], check=True)
    with Page(snap) as page:
        page.browser.keys("f4")
        rows = page.js("return [...document.querySelectorAll('#hist tr')].map(r => [...r.children].map(c => c.textContent))")
        names = sorted(r[:2] for r in rows if len(r) == 5 and r[0] != "call")
        equal(names, [["getpid", "1"], ["getpid", "1"], ["writev", "1"]], "the table of calls")
        ends = page.js("return Array.from(flightrec.model.tasks.get(102).calls.until.a.slice(0, flightrec.model.tasks.get(102).calls.n))")
        equal(ends, [4500], "the call that its task died in ends before the next has the number")


@test("the page opens 50 ms around the trigger, with what report says beside it; its tasks come first")
def opens(_, folder):
    load = "tests/gate/load.flight"
    told = json.loads(flightrec("report", "--json", load))
    html = os.path.join(folder, "opens.html")
    flightrec("view", "-o", html, load)
    browser = Browser()
    try:
        equal(browser.open(html), "", "what the page says")
        origin, span, at, view = browser.run("const t = flightrec.timeline; return [Number(flightrec.data.origin), flightrec.data.span, flightrec.model.trigger, [t.from, t.to]]")
        equal(view, [max(0, at - 5e7), min(span, at + 5e7)], "the window")
        verdict = told["verdict"]
        equal(browser.run("return flightrec.data.verdict"), verdict, "the verdict")
        text = browser.run("return document.getElementById('verdict').textContent")
        lines = [verdict["headline"], *([verdict["cause"]] if verdict["cause"] else []), *verdict["chain"], *verdict["ruled_out"]]
        for line in lines:
            check(line["text"] in text and (not line["from"] or f"[{line['from']}]" in text), f"{line} is not in {text}")
        check(bool(verdict["cause"]) or "none that is sure" in text, "that there is no cause is said")
        order = browser.run("return flightrec.timeline.tracks.filter(t => t.task).map(t => t.task.tid)")
        equal(order[0], told["focus"]["tid"], "the trigger's task")
        there = set(order)
        want = {int(tid) for line in (*verdict["chain"], verdict["cause"] or {"text": ""}, verdict["headline"]) for tid in re.findall(r"/(\d+)\b", line["text"])} & there
        equal(set(order[:len(want | {order[0]})]), want | {order[0]}, "those that the verdict names")
    finally:
        browser.close()


@test("a page of a file that is standard input, by either name, is that of the file")
def standard_input(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "stdin.html")
    of_file = subprocess.run([FLIGHTREC, "view", "-o", "-", load], capture_output=True, check=True).stdout
    for name in "-", "/dev/stdin":
        with open(load, "rb") as f:
            r = subprocess.run([FLIGHTREC, "view", "-o", "-", name], stdin=f, capture_output=True)
        equal([r.returncode, r.stdout == of_file], [0, True], f"{name}: {r.stderr.decode()[-300:]}")
        r = subprocess.run([FLIGHTREC, "view", name], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        equal([r.returncode, "name the page with -o" in r.stderr], [2, True], f"{name} without -o: {r.stderr}")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as there:  # a file of /dev/shm has its name
        shutil.copy(load, f"{there}/load.flight")
        subprocess.run([FLIGHTREC, "view", f"{there}/load.flight"], capture_output=True, check=True)
        equal(sorted(os.listdir(there)), ["load.flight", "load.flight.html"], "the page beside a file of /dev/shm")
    with open(html, "wb") as f:
        f.write(of_file)
    browser = Browser()
    try:
        equal(browser.open(html), "", "what the page says")
        check(browser.run("return !!flightrec.data.verdict"), "it has a verdict")
    finally:
        browser.close()


@test("the address says what is looked at: whoever opens it sees the same window, task or event, and panel; a wrong one harms nothing")
def address(small, _):
    with Page(small) as page:
        page.browser.keys("f")
        page.js("flightrec.selectRow(4); flightrec.timeline.view(1000, 5000); flightrec.panel.open('tasks')")
        place = page.js("return flightrec.place()")
        page.js("flightrec.timeline.selected = null; flightrec.fit(); flightrec.panel.open('detail'); flightrec.goTo(arguments[0])", place)
        equal(page.js("return [flightrec.timeline.from, flightrec.timeline.to, flightrec.timeline.selected.row, flightrec.panel.tab]"), [1000, 5000, 4, "tasks"], place)
        tid = page.js("return flightrec.data.tid[4]")
        page.js("flightrec.selectTask(arguments[0]); flightrec.goTo(flightrec.place())", tid)
        equal(page.js("return [flightrec.timeline.selected.tid, flightrec.timeline.selected.row ?? null]"), [tid, None], "a task")
        for wrong in "#t=9-1&event=99999999&task=0&panel=__proto__", "#t=1-2-3", "#%", "#t=18446744073709551616-99999999999999999999", "#=&&=":
            page.js("flightrec.goTo(arguments[0])", wrong)
            a, b = page.view()
            check(0 <= a < b <= page.js("return flightrec.data.span"), f"{wrong}: {a} {b}")
        page.js("flightrec.goTo(arguments[0])", place)
        page.js("const done = arguments[0]; setTimeout(done, 400)", wait=True)
        equal(page.js("return location.hash"), place, "in the address")
        equal(page.browser.open(page.html + place), "", "what the page says when opened there")
        equal(page.js("return [flightrec.timeline.from, flightrec.timeline.to, flightrec.timeline.selected.row, flightrec.panel.tab]"), [1000, 5000, 4, "tasks"], "opened there")


@test("tasks fold away where they have nothing; filter and pin say which are shown; arrows are the selected task's")
def tracks(small, _):
    with Page(small) as page:
        page.browser.keys("f")
        page.js("flightrec.select(null)")
        shown = "return flightrec.timeline.tracks.filter(t => t.task && t.shown).map(t => t.task.tid)"
        everyone, span = set(page.js(shown)), page.js("return flightrec.data.span")
        keeps = {page.js("return flightrec.data.focus"), *page.js("return [...flightrec.model.involved]")}
        page.js("flightrec.timeline.view(0, 60)")
        there = set(page.js("""const t = flightrec.timeline; return [...flightrec.model.tasks.values()].filter(x => x.tid &&
            ([...x.states.at.a.slice(0, x.states.n)].some((at, i) => at < t.to && x.states.until.a[i] > t.from) ||
             [...x.rows.a.slice(0, x.rows.n)].some(i => flightrec.data.ts[i] >= t.from && flightrec.data.ts[i] <= t.to))).map(x => x.tid)"""))
        equal(set(page.js(shown)), there | keeps & everyone, "in a window at the begin")
        check(there < everyone, f"some fold away: {there} of {everyone}")
        equal(page.js("return flightrec.timeline.folded"), len(everyone - there - keeps), "how many is said")
        page.browser.keys("f")
        tid = sorted(everyone)[-1]
        x, y = page.at("#tracks")
        page.browser.click(x, y)
        page.browser.keys(str(tid) + "\ue00c")
        check(tid in page.js(shown) and all(str(tid) in page.js("return flightrec.model.name(arguments[0]) + ' ' + flightrec.model.tasks.get(arguments[0]).pid", t) for t in page.js(shown)),
              f"filter {tid}: {page.js(shown)}")
        page.js("document.getElementById('tracks').value = ''; flightrec.timeline.filter('')")
        page.js("flightrec.selectTask(arguments[0])", tid)
        page.browser.keys("p")
        equal(page.js(shown)[0], tid, "p: pinned")
        page.browser.keys("p")
        equal(set(page.js(shown)), everyone, "p again")


@test("measuring: a range's events and who ran in it; Escape ends it, and closes the keys first; keys are text where text is typed")
def measures(small, _):
    with Page(small) as page:
        page.browser.keys("f")
        base = page.events[0]["ts"]
        a, b = page.events[2]["ts"] - base, page.events[7]["ts"] - base
        page.js("flightrec.measure([arguments[1], arguments[0]])", a, b)
        rows = page.js("return [...document.querySelectorAll('#detail tr')].map(r => [...r.children].map(c => c.textContent))")
        inside = [e for e in page.events if a <= e["ts"] - base <= b]
        check(["events", str(len(inside))] in rows, f"{len(inside)} events: {rows}")
        for name, cnt in collections.Counter(e["event"] for e in inside).items():
            check([name, str(cnt)] in rows, f"{name} {cnt}: {rows}")
        page.browser.keys("?")
        check(page.js("return document.getElementById('help').open"), "?: keys")
        page.browser.keys("\ue00c")
        equal(page.js("return [document.getElementById('help').open, flightrec.timeline.range !== null]"), [False, True], "Escape closes the keys alone")
        page.browser.keys("\ue00c")
        equal(page.js("return flightrec.timeline.range"), None, "Escape ends measuring")
        x, y = page.at("#search")
        page.browser.click(x, y)
        page.browser.keys("nlpx")
        equal(page.js("return [document.getElementById('search').value, document.querySelector('main').className]"), ["nlpx", ""], "typed")


@test("marks of the axis differ, however small their step")
def axis(small, _):
    with Page(small) as page:
        for far, step in (5e9, 1e9), (5e9, 5e8), (3e6, 200), (2e9, 10), (900, 100), (1.5e6, 5e5):
            marks = page.js("return [0, 1, 2, 3, 4].map(i => axisTime(arguments[0] - i * arguments[1], arguments[1], arguments[0]))", far, step)
            equal(len(set(marks)), 5, f"{far} {step}: {marks}")
            equal(len({m.split(" ")[1] for m in marks}), 1, f"one unit: {marks}")
        page.browser.keys("f")
        beyond = page.js("""const t = flightrec.timeline, out = [], put = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y) { out.push([text, x, x + this.measureText(text).width]); put.call(this, text, x, y); };
            for (let k = 0; k < 50; k++) {
                t.view(0, t.data.span * (1 - k / 200));
                t.draw();
            }
            CanvasRenderingContext2D.prototype.fillText = put;
            return [out.length, out.filter(([, , end]) => end > LABEL_W + t.w)];""")
        check(beyond[0] > 100, f"texts: {beyond[0]}")
        equal(beyond[1], [], "texts that go on beyond the timeline")


@test("search finds names, numbers, texts, calls, errors; n and N go on")
def search(small, _):
    with Page(small) as page:
        for word, want in {"sys_": {4, 7}, "101": {i for i, e in enumerate(page.events) if 101 in (e["tid"], e["pid"])}, "openat": {4, 7}, "enoent": {7},
                           "cpu:1": {i for i, e in enumerate(page.events) if e["cpu"] == 1}, "cpu:1 softirq": {5, 6}, "/bin/a": {2}, "tid:555": {12}, "sigsegv": {8},
                           "nothing-of-it": set()}.items():
            page.find(word)
            equal(set(page.js("return flightrec.timeline.matches.rows")), want, f"rows of '{word}'")
        page.find("sys_")
        equal(page.text("#found"), "1 of 2", "said")
        equal(page.js("return flightrec.timeline.selected.row"), 4, "the first")
        page.browser.keys("n")
        equal(page.js("return flightrec.timeline.selected.row"), 7, "n")
        page.browser.keys("nN")
        equal(page.js("return flightrec.timeline.selected.row"), 7, "n, N around the end")


# What the page's search takes of the language of -f, and in which of these it is wrong there, too.
EXPRESSIONS = """
event == sched_switch
event != sched_switch && cpu == 1
event in (sys_enter, sys_exit) && tid < 105
event not in (sys_enter, sys_exit, sched_switch)
event ~ "sched_*"
event !~ "s*"
event == "sys_enter"
event == sys_exit && id == openat && latency > 1ms
latency > 100us
latency > 0 && event == sched_switch
event == block_rq_complete && latency > 0.1ms
queued > 10us
ret == -ENOENT
ret == ENOENT
ret != -ENOENT
ret != ENOENT
ret in (-ENOENT, 0)
ret not in (-ENOENT, 0)
ret > -100 && ret < 0
ret ~ "-E*"
ret >= -EAGAIN
ret > -EXDEV && ret < -EPERM
ret in (-EXDEV, -ENOENT)
ret == -EXDEV
ret != -EXDEV
ret != EXDEV
sig in (SIGSEGV, SIGBUS)
sig != SIGBUS
sig == SIGXFSZ
sig > SIGHUP
sig has SIGHUP
sig not in (SIGXFSZ, SIGRTMIN+3)
prev_state == D
prev_state != S
event == sched_switch && !(prev_state == S || prev_state == D)
prev_state ~ "*"
next_pid != 5
!(next_pid == 5)
comm ~ "s*"
comm !~ "[a-s]*"
comm != "x"
comm has "er"
comm in ("child", "swapper/1")
next_comm == "child"
pid == 103
pid != 103
tid not in (101, 102)
!tid && cpu != 3
args[0] == 3
args[0] == -1
args[0] != -1
args[0] in (-1, 3)
args[1] > 0x1000
args[2] has 0x40
args[2] && 1
id ~ "open*"
id !~ "open*"
id == openat
id in (openat, read)
id not in (openat, read)
id == SYS_read
filename ~ "*"
vec == NET_RX
vec != TIMER
bytes >= 4k
bytes > 1.5k && rwbs has "W"
prev_prio == next_prio
prev_pid == tid
ts > 1 && tid == 0x65
tid == 0145 || ip > 0xffffffff00000000
(cpu == 0 || cpu == 1) && event ~ "*_e?it"
"""
WRONG = ["event == foo", "comm == foo", "args == 1", "cpu[0] == 1", "comm > \"a\"", "latncy > 1", "tid == 1 == 2", "(tid == 1", "comm == \"a", "id == openatt", "tid = 1",
         "sys_enter == 1", "tid == ", "ts > 1.5", "comm == \"\\q\"", "tid == 1 tid == 2", "event < sys_enter", "cpu ~ \"1\"", "comm ~ \"[a\"", "tid in 5", "ret == -ENOENTT", "ret == ENOENTT", "sig == SIGSEVG", "sig != SIGSEVG",
         "tid == 5constructor", "event == constructor", "toString == 1", "ret == toString"]
# Right, and more than the page knows: the word that its message begins with.
BEYOND = {"offcpu > 1ms": "offcpu", "cgroup ~ \"*\"": "cgroup", "waker == 7": "waker", "blocked > 1": "blocked", "oncpu > 1": "oncpu", "tier == life": "tier",
          "comm =~ \"a\"": "=~", "comm ~ /a/": "/", "args[0] & 1": "&", "tid + 1 == 2": "+", "tid - 1 == 2": "-", "tid | 1 == 2": "|", "tid << 1 == 2": "<<", "~tid == 2": "~",
          "exit_code ~ \"SIG*\"": "exit_code", "container == \"web\"": "container", "container_id ~ \"0*\"": "container_id", "pod ~ \"api-*\"": "pod",
          "namespace == \"prod\"": "namespace", "image has \"nginx\"": "image", "comm == \"a\" && unit != \"nginx.service\"": "unit"}


@test("docs/view.md: which pages are shown in part; its table has the names that the page decides, and those that it leaves to replay")
def documented(*_):
    rows, tile, tiles = (int(re.search(what, open(f"user/show/{file}").read(), re.M)[1]) for file, what in (
        ("export/page_columns.h", r"^#define FR_PAGE_ROWS (\d+)u"), ("export/page_index.h", r"^#define FR_PAGE_TILE (\d+)u"), ("view/load.js", r"^const NEAR_TILES = (\d+);")))
    check(f"A page of more than {rows * tile * tiles:,} events" in open("docs/view.md").read(), "which pages are shown before all is read")
    lists = {what: re.findall(r'"(\w+)"', names) for what, names in re.findall(r"^const (OF_\w+) = (.*);$", open("user/show/view/query.js").read(), re.M)}
    decides, leaves = re.search(r"^\| (`event`.*?) \| (.*?) \|$", open("docs/view.md").read(), re.M).groups()
    equal(re.findall(r"`(\w+)`", decides), ["event", *lists["OF_ROWS"]], "decided")
    equal(re.findall(r"`(\w+)`", leaves), lists["OF_REPLAY"] + lists["OF_REPLAY_OR_FIELD"], "left to replay")


@test("search takes the language of -f: it finds what replay -f finds, and refuses by name what it cannot decide")
def expressions(_, folder):
    needs_node()
    flight, html = "tests/gate/load.flight", os.path.join(folder, "load.html")
    flightrec("view", "-o", html, flight)
    right = [line for line in EXPRESSIONS.splitlines() if line]
    said = subprocess.run(["node", "tests/view/query.mjs", html], input=json.dumps(right + WRONG + list(BEYOND)), capture_output=True, text=True, check=True).stdout
    said = [json.loads(line) for line in said.splitlines()]
    events, some = flightrec("replay", "--json", flight).splitlines(), 0
    for text, page in zip(right, said):
        check("rows" in page, f"{text}: {page}")
        equal([events[i] for i in page["rows"]], flightrec("replay", "--json", "-f", text, flight).splitlines(), text)
        some += 0 < len(page["rows"]) < len(events)
    check(some > len(right) * 3 / 4, f"{some} of {len(right)} find some events, and not all")
    for text, page in zip(WRONG, said[len(right):]):
        equal(subprocess.run([FLIGHTREC, "replay", "-f", text, flight], capture_output=True).returncode, 2, f"replay -f '{text}'")
        check(page.get("refused") and 0 <= page["at"] <= len(text), f"{text} is a mistake here, too: {page}")
    for (text, word), page in zip(BEYOND.items(), said[len(right + WRONG):]):
        equal(subprocess.run([FLIGHTREC, "replay", "-f", text, flight], capture_output=True).returncode, 0, f"replay -f '{text}'")
        check(page.get("refused", "").startswith(word) and "replay -f" in page["refused"], f"{text}: {page}")


@test("an expression that is refused is shown with its reason, until another is searched for; one that is not steps as words do")
def refused(small, _):
    with Page(small) as page:
        page.find("latency > 1ms && offcpu > 1")
        check("offcpu" in page.text("#refused mark") and "replay -f" in page.text("#refused"), page.text("#refused"))
        equal(page.js("return flightrec.timeline.matches"), None, "nothing is found")
        page.find("event == sys_exit || event == sys_enter")
        check(page.js("return document.getElementById('refused').hidden"), "the message is gone")
        equal(page.js("return Array.from(flightrec.timeline.matches.rows)"), [i for i, e in enumerate(page.events) if e["event"] in ("sys_enter", "sys_exit")], "rows")
        page.browser.keys("n")
        equal(page.js("return flightrec.timeline.selected.row"), 7, "n goes on")


@test("processes fold their threads; the order of tasks is as asked for; all of it by keys")
def processes(_, folder):
    flight = os.path.join(folder, "processes.flight")
    shutil.copy("tests/gate/load.flight", flight)
    with Page(flight) as page:
        page.browser.keys("f")
        page.js("flightrec.select(null)")
        threads = collections.defaultdict(set)
        last = {e["tid"]: e["tid"] for e in page.events} | {e["tid"]: e["pid"] for e in page.events if e["pid"] is not None}  # a number's last owner
        for tid, pid in last.items():
            threads[pid].add(tid)
        del threads[0]
        tracks = "return flightrec.timeline.tracks.filter(t => t.shown%s)"
        procs = page.js(tracks % " && t.proc" + ".map(t => [t.proc.pid, t.proc.threads.map(x => x.tid)])")
        for pid, tids in procs:
            check(threads[pid] <= set(tids) and len(tids) > 1, f"process {pid} has {tids}, in events {threads[pid]}")
        equal({pid for pid, _ in procs}, {pid for pid, tids in threads.items() if len(tids) > 1}, "processes that have several threads")
        wanted = set(page.js("return [flightrec.data.focus, ...flightrec.model.involved]"))
        pid, tids = next((pid, tids) for pid, tids in procs if not wanted & set(tids))
        of = f"return flightrec.timeline.tracks.filter(t => t.shown && t.task && {tids}.includes(t.task.tid)).map(t => t.task.tid)"
        equal(page.js(of), [], "its threads are folded")
        page.js(f"flightrec.selectTrack(flightrec.timeline.tracks.find(t => t.proc && t.proc.pid === {pid}))")
        check(str(pid) in page.text("#sel-name"), "the process's details")
        page.browser.keys("o")
        equal(set(page.js(of)), set(tids), "o: they are shown")
        page.browser.keys("j")
        equal(page.js("return flightrec.timeline.selected.tid"), page.js(of)[0], "j: the track below")
        page.browser.keys("ok")
        equal(page.js("return [flightrec.timeline.selected.pid, flightrec.timeline.open.size]"), [pid, 0], "o folds them, k: the process")
        x, y = page.js(f"""const t = flightrec.timeline, r = t.canvas.getBoundingClientRect(), track = t.tracks.find(t => t.proc && t.proc.pid === {pid});
            t.reveal(t.from, track); return [r.x + 20, r.y + track.y - t.scroll + RULER_H + 8]""")
        page.browser.click(x, y)
        equal(set(page.js(of)), set(tids), "a click on its name shows them")
        page.browser.keys("OO")
        equal(page.js("return flightrec.timeline.open.size"), 0, "O: all, and none")
        page.browser.keys("O")
        everyone = sorted(page.js(tracks % " && t.task" + ".map(t => t.task.tid)"))
        ran = dict(page.js("return [...flightrec.model.tasks.values()].map(t => [t.tid, t.ran])"))
        for sort, key in {"ran": lambda tids: -sum(ran[t] for t in tids), "number": min, "name": None}.items():
            page.js("const s = document.getElementById('sort'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", sort)
            got = page.js(tracks % " && t.task" + ".map(t => t.task.tid)")
            equal(sorted(got), everyone, f"by {sort}: the same tasks")
            groups = page.js("return [...flightrec.model.sorted(arguments[0])].map(p => [p.pid, p.name, p.threads.map(t => t.tid)])", sort)
            equal([t for _, _, g in groups for t in g if t in set(got)], got, f"by {sort}: threads stay with their process")
            keys = [name for _, name, _ in groups] if sort == "name" else [key(tids) for _, _, tids in groups] if sort == "ran" else [pid for pid, _, _ in groups]
            equal(keys, sorted(keys), f"by {sort}")


@test("light and dark, as the system says and as asked for")
def themes(small, _):
    with Page(small) as page:
        color = "return getComputedStyle(document.body).backgroundColor"
        light = page.js(color)
        page.browser.keys("l")
        check(page.js(color) != light, "l")
    with Page(small, dark=True) as page:
        check(page.js(color) != light, "the system's")


# Contrast of WCAG 2, of two colours that CSS knows.
CONTRAST = """const g = document.createElement("canvas").getContext("2d");
    const light = color => {
        g.fillStyle = color;
        const [r, v, b] = [1, 3, 5].map(at => parseInt(g.fillStyle.slice(at, at + 2), 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * v + 0.0722 * b;
    };
    const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);"""
# Each text of the page with what is behind it; labels on each task's colour and on calls; what the timeline writes on its ground.
LEAST_CONTRAST = CONTRAST + """
    const tl = flightrec.timeline, bad = [], need = (what, a, b) => contrast(a, b) < 4.5 && bad.push([what, a, b, contrast(a, b)]);
    const behind = e => { const c = getComputedStyle(e).backgroundColor; return c === "rgba(0, 0, 0, 0)" ? behind(e.parentElement) : c; };
    for (const e of document.querySelectorAll("body *"))
        if ([...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && e.checkVisibility() && !(e instanceof SVGElement))
            need(`${e.tagName} ${e.id} ${e.className} ${e.textContent.slice(0, 20)}`, getComputedStyle(e).color, behind(e));
    const ctx = tl.canvas.getContext("2d");
    for (let tid = 1; tid <= 360; tid++)
        need(`label of ${tid}`, tl.inkOn(ctx, tl.colorOf(tid)), tl.colorOf(tid));
    need("a call's label", tl.inkOn(ctx, tl.c.call), tl.c.call);
    for (const name of ["fg", "dim", "accent"])
        need(name, tl.c[name], tl.c.bg);
    return bad;"""


@test("without a mouse: Tab comes to each line of a table and each function of the flame graph, and Enter does what a click does")
def keyboard(_, folder):
    def tab_to(page, what):
        """Tabs until the focus is on what is said; it must come there."""
        seen = set()
        for _ in range(400):
            page.browser.keys("\ue004")
            if page.js(f"return document.activeElement.matches('{what}')"):
                return
            seen.add(page.js("return document.activeElement.outerHTML.slice(0, 80)"))
        check(False, f"Tab never comes to {what}, but to {seen}")

    flight = shutil.copy("tests/gate/load.flight", os.path.join(folder, "keyboard.flight"))
    with Page(flight) as page:
        page.browser.keys("f3")
        page.js("flightrec.panel.fill(); flightrec.timeline.canvas.focus()")
        tab_to(page, "#tasks tr.link")
        name = page.js("return document.activeElement.firstChild.textContent")
        page.browser.keys("\ue007")
        equal(page.js("return flightrec.model.name(flightrec.timeline.selected.tid)"), name, "the task of the line")
        page.browser.keys("\ue00cf5")
        page.js("flightrec.panel.fill(); flightrec.timeline.canvas.focus()")
        tab_to(page, "#flame rect:nth-of-type(2)")
        name = page.js("return document.activeElement.dataset.name")
        page.browser.keys("\ue007")
        equal(page.js("return [flightrec.panel.flameOf.path, document.activeElement.dataset.name]"), [[name], name], "the function is the root, and has the focus")


@test("texts of the page, labels in the timeline and what stands on its axis have a contrast of 4.5 at least, light and dark")
def contrasts(small, _):
    for dark in False, True:
        with Page(small, dark=dark) as page:
            page.js("flightrec.selectRow(2)")
            for tab in "123456":
                page.browser.keys(tab)
                equal(page.js(LEAST_CONTRAST), [], f"panel {tab}, {'dark' if dark else 'light'}")
            page.browser.keys("1?")
            equal(page.js(LEAST_CONTRAST), [], "keys")
            page.browser.keys("\ue00c")


TELL = """const d = flightrec.data, m = flightrec.model, list = o => Object.values(o).map(v => [...v.a.slice(0, v.n)]);
    const spans = s => Array.from({ length: s.n }, (_, i) => [s.at.a[i], s.until.a[i], s.kind.a[i], s.row.a[i] === NOT_READ ? null : s.row.a[i] < 0 ? -1 : s.row.a[i] + d.base]);
    return {
        have: d.have, base: d.base, n: d.n,
        cpus: m.cpus.map(c => [c.nr, spans(c.runs)]), irqs: m.cpus.map(c => [c.nr, spans(c.irqs)]),
        tasks: [...m.tasks.values()].map(t => [t.tid, spans(t.states), spans(t.calls)]).sort((a, b) => a[0] - b[0]),
        heads: [...m.tasks.values()].map(t => [t.tid, t.pid, t.name, t.events, t.sums, t.first]).sort((a, b) => a[0] - b[0]), order: m.order.map(t => t.tid),
        rows: [...m.tasks.values()].map(t => [t.tid, [...t.rows.a.slice(0, t.rows.n)]]).sort((a, b) => a[0] - b[0]),
        calls: list(m.calls), waits: list(m.waits), wakes: list(m.wakes), samples: list(m.samples), longWaits: [...m.longWaits],
    }"""
SAYS = """if (!window.said) {
        window.said = [];
        const put = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { said.push(text); put.call(this, text, ...at); };
    }
    said.length = 0;
    flightrec.timeline.draw();
    return said;"""


def changed(html, to, what, by):
    """A page whose script is another one in one place."""
    with open(html, encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    equal(text.count(what), 1, f"{what} in the page's script")
    with open(to, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text.replace(what, by))
    return to


def with_pieces(html, to, kind, change):
    """A page whose pieces of a kind are others: a list of their texts, changed."""
    with open(html, encoding="utf-8", errors="surrogateescape") as f:
        text = f.read()
    begin, end = f'<script type="text/x-{kind}">', "</script>\n"
    first, last = text.index(begin), text.index(end, text.rindex(begin)) + len(end)
    pieces = [piece.removeprefix(begin) for piece in text[first:last].split(end)[:-1]]
    change(pieces)
    with open(to, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(text[:first] + "".join(begin + piece + end for piece in pieces) + text[last:])
    return to


def held_back(html, to):
    """A page that is shown in part until goOn()."""
    return changed(html, to, "await readAll(", "await new Promise(r => { window.goOn = r; });\n\t\tawait readAll(")


def near(spans, begin, end):
    return [s for s in spans if s[1] > begin and s[0] < end]


def equal_spans(part, whole, begin, end, what):
    """In what is read, spans are those of the whole; of a row that is not read, only that is told."""
    part, whole = near(part, begin, end), near(whole, begin, end)
    equal([s[:3] for s in part], [s[:3] for s in whole], what)
    for p, w in zip(part, whole):
        check(p[3] in (None, w[3]), f"{what}: row {p}, not {w}")


def equal_calls_of_part(part, whole, begin, end, what):
    """Of a call whose beginning is not read, the number is not known either."""
    known = {tuple(s[:2]): s[2] for s in near(whole, begin, end)}
    equal_spans([[*s[:2], known.get(tuple(s[:2])) if s[2:] == [-1, None] else s[2], s[3]] for s in part], whole, begin, end, what)


def unread(js, word, searched):
    """What needs all of the page says that it is not read; what a search says then."""
    for tab in "events", "tasks", "hist", "flame":
        js("flightrec.panel.open(arguments[0])", tab)
        check(js("return document.getElementById(arguments[0]).textContent", tab).startswith(word), f"{tab}, of a part")
    js("flightrec.panel.open('detail')")
    check(word in js("return document.getElementById('detail').textContent"), "details, of a part")
    js("flightrec.selectTask(flightrec.data.tid.find(tid => tid)); flightrec.fit(); flightrec.timeline.scroll = 0")
    said = js(SAYS)
    check(sum(len(s) > 3 and word.startswith(s.removesuffix("…")) for s in said) == 2, f"what is not read is said to be so at both ends: {said}")
    check({f"interrupts: {word}", f"wakeups without arrows: {word}"} <= set(said), f"so are interrupts and arrows: {said}")
    js("flightrec.select(null)")
    found = "return document.getElementById('found').textContent"
    for text, says in ("cpu:1", True), ("", False), (" ", False), ("cpu:1", True):
        js("flightrec.find(arguments[0])", text)
        equal([js(found).startswith(word), js(found).endswith(searched)], [True, says], f"search for '{text}', of a part: {js(found)}")
    equal(js("return flightrec.timeline.matches"), None, "a search, of a part")


LAST_OF_MORE = "flightrec.data.tid.findLastIndex(tid => tid && flightrec.model.tasks.get(tid).events > flightrec.model.tasks.get(tid).rows.n)"


def steps(js, browser):
    """What lies beyond the part is not said to be nothing."""
    for row, keys, word in ("flightrec.data.n - 1", ".", "after"), ("0", ",", "before"), (LAST_OF_MORE, "]", "after"):
        js(f"flightrec.selectRow({row})")
        was, found = js("return flightrec.timeline.selected.row"), "return document.getElementById('found').textContent"
        check("what comes" not in js(found), js(found))
        browser.keys(keys)
        equal(js("return flightrec.timeline.selected.row"), was, f"{keys} at the part's end")
        check(f"what comes {word} is not read" in js(found), f"{keys}: {js(found)}")
    js("flightrec.select(null)")


def equal_heads(whole, events, origin):
    """What the index has of each task is what its rows and states make."""
    states, rows = {tid: s for tid, s, _ in whole["tasks"]}, dict(whole["rows"])
    names = {e["tid"]: e["comm"] for e in events if e["comm"]}
    pids = {e["tid"]: e["pid"] for e in events if e["pid"] is not None}
    for tid, pid, name, cnt, sums, first in whole["heads"]:
        if not tid:
            continue
        equal(cnt, len(rows[tid]), f"events of {tid}")
        equal(sums, [sum(until - at for at, until, kind, _ in states[tid] if kind == k) for k in range(len(sums))], f"states of {tid}")
        equal(first, min([events[i]["ts"] - origin for i in rows[tid][:1]] + [s[0] for s in states[tid][:1]], default=None), f"begin of {tid}")
        equal([pid, name], [pids.get(tid, pid), names.get(tid, name)], f"process and name of {tid}")
    check(len(whole["heads"]) > 10 and len(pids) > 10, "tasks")


CALL = """const tl = flightrec.timeline, m = flightrec.model;
    for (const t of m.tasks.values())
        for (let i = 0; i < t.calls.n; i++) {
            const track = tl.trackOfTask(t.tid), until = Math.min(t.calls.until.a[i], flightrec.data.have[1]);
            if (t.calls.row.a[i] !== NOT_READ || !track)
                continue;
            flightrec.selectTask(t.tid);
            tl.view(flightrec.data.have[0], until);
            tl.reveal(tl.from, track);
            flightrec.select(tl.hit(tl.x((tl.from + tl.to) / 2), track.y - tl.scroll + RULER_H + 20));
            return [t.tid, t.calls.at.a[i]];
        }"""
NAME_OF = """const c = flightrec.model.tasks.get(arguments[0]).calls, i = lower(c.at.a, arguments[1], c.n);
    return flightrec.timeline.callName(c.kind.a[i], c.row.a[i])"""


@test("a page of many tiles is shown when those around the trigger are read, and says what is not; in a worker or without one, it becomes what it is at once")
def tiles(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "tiles.html")
    events = [json.loads(line) for line in flightrec("replay", "--json", load).splitlines()]
    subprocess.run([TILED, "view", "-o", html, load], check=True, stderr=subprocess.DEVNULL)
    held = held_back(html, os.path.join(folder, "held.html"))
    slices = changed(html, os.path.join(folder, "slices.html"), "new Worker(url)", "new NoWorker(url)")
    mute = changed(html, os.path.join(folder, "mute.html"), "new Worker(url)", "(window.mute = { postMessage() {}, terminate() {} })")
    once = changed(html, os.path.join(folder, "once.html"), "const NEAR_TILES = 4;", "const NEAR_TILES = 1e9;")
    browser = Browser()
    js = browser.run
    try:
        equal(browser.open(once), "", "what the page says")
        whole = js(TELL)
        equal_heads(whole, events, js("return Number(flightrec.data.origin)"))
        equal(browser.open(f"{held}#event={len(events) - 1}", part=True), "", "what the page says of a part")
        part = js(TELL)
        begin, end = part["have"]
        check(0 < part["base"] and 0 < part["n"] < len(events) / 2 and begin > 0 and end, f"a part: {part['base']} {part['n']} {part['have']}")
        check(f"{len(events):,} events" in js("return document.getElementById('what').textContent"), "how many there are")
        compare_rows(js, events[part["base"]:part["base"] + part["n"]])
        for key in "heads", "order":
            equal(part[key], whole[key], f"{key}, of a part")
        for (nr, p), (_, w) in zip(part["cpus"], whole["cpus"]):
            equal_spans(p, w, begin, end, f"CPU {nr}")
        for (tid, states, its_calls), (_, all_states, all_calls) in zip(part["tasks"], whole["tasks"]):
            equal_spans(states, all_states, begin, end, f"states of {tid}")
            equal_calls_of_part(its_calls, all_calls, begin, end, f"calls of {tid}")
        check(not any(spans for _, spans in part["irqs"]) and any(spans for _, spans in whole["irqs"]), "handlers of a part are not known")
        js("flightrec.timeline.view(arguments[0], arguments[1])", begin + 1, end - 1)
        check(all(s == "interrupts: loading" for s in js(SAYS) if "loading" in s), "what is read is not said to be loading")
        js("flightrec.timeline.view(arguments[0], arguments[1])", begin - 1000, end - 1)
        check(not js("return flightrec.timeline.isRead()"), "a window that is not read to its end")
        js("flightrec.fit()")
        said = js(SAYS)
        check(said.count("loading") == 2, f"what is not read is said to be loading: {said}")
        check(any("what is read of this window" in s for s in said) or not js("return flightrec.timeline.folded"), f"what folds away, folds away of that: {said}")
        unread(js, "loading", ", then it is searched")
        steps(js, browser)
        row = part["n"] // 2
        js("flightrec.selectRow(arguments[0])", row)
        check(f"event={part['base'] + row}&" in js("return flightrec.place()"), "its place is that in the page")
        js("flightrec.reading(1); goOn()")
        equal(browser.whole(), "", "what the page says of all")
        equal([js("return flightrec.data.by"), js(TELL)], ["worker", whole], "by the worker")
        equal(js("return Array.from(flightrec.timeline.matches.rows)"), [i for i, e in enumerate(events) if e["cpu"] == 1], "what was searched for")
        check(not any("loading" in s for s in js(SAYS)), "nothing is said to be loading")
        compare_rows(js, events)
        equal(browser.open(f"{held}#event={len(events) - 1}", part=True), "", "what the page says of a part")
        js("goOn()")
        browser.whole()
        equal(js("return flightrec.timeline.selected.row"), len(events) - 1, "the event of the address")
        equal(browser.open(f"{held}", part=True), "", "what the page says of a part")
        js("flightrec.selectRow(arguments[0]); goOn()", row)
        browser.whole()
        equal(js("return flightrec.timeline.selected.row"), part["base"] + row, "what was selected")
        equal(browser.open(f"{held}", part=True), "", "what the page says of a part")
        js("flightrec.selectRow(arguments[0]); flightrec.goTo(arguments[1])", row, f"#event={len(events) - 1}")
        check(f"event={len(events) - 1}&" in js("return flightrec.place()"), "the place is the event that is gone to")
        js("goOn()")
        browser.whole()
        equal(js("return flightrec.timeline.selected.row"), len(events) - 1, "an event that is gone to while another is selected")
        equal(browser.open(f"{held}", part=True), "", "what the page says of a part")
        tid, at = js(CALL)
        equal(js("return document.getElementById('sel-name').textContent"), "a call that is not read", f"a call of {tid} that begins before the part")
        js("goOn()")
        browser.whole()
        equal(js("return document.getElementById('sel-name').textContent"), js(NAME_OF, tid, at), "its name, once it is read")
        origin = js("return Number(flightrec.data.origin)")
        equal(browser.open(f"{held}#t={origin + int(end) - 1}-{origin + int(begin) + 1}", part=True), "", "what the page says of a window from its end to its begin")
        equal(js("return [flightrec.timeline.from, flightrec.timeline.to]"), [begin + 1, end - 1], "that window")
        equal(browser.errors(), [], "what the browser's console says")
        equal(browser.open(slices), "", "what the page says without a worker")
        equal([js("return flightrec.data.by"), js(TELL)], ["slices", whole], "without a worker")
        check(len(errors := browser.errors()) == 1 and "no worker: NoWorker" in errors[0], f"why is said: {errors}")
        equal(browser.open(mute, part=True), "", "what the page says of a part")
        js("mute.onmessageerror()")
        equal([browser.whole(), js("return flightrec.data.by"), js(TELL)], ["", "slices", whole], "by a worker whose message cannot be taken over")
        check(len(errors := browser.errors()) == 1 and "no worker: what the worker read" in errors[0], f"why is said: {errors}")
    finally:
        browser.close()


# What is drawn in windows all over the page, and told of an event in each; how much is kept, by the cache and by the pieces.
PANNED = """const tl = flightrec.timeline, d = flightrec.data, m = flightrec.model, out = [], lists = a => typeof a[0] === "object";
    const kept = () => d.pieces.reduce((n, p) => n + [...p.of.values()].reduce((n, of) => n + of.decoded.reduce((n, a) =>
        n + (!a ? 0 : lists(a) ? a.length * VIEW_SZ + a.reduce((n, v) => n + v.byteLength, 0) : a.byteLength), 0), 0), 0);
    const sumOf = text => {
        let sum = 7;
        for (let i = 0; i < text.length; i++)
            sum = (Math.imul(sum, 31) + text.charCodeAt(i)) >>> 0;
        return sum;
    };
    flightrec.select(null);
    tl.scroll = 0;
    for (let k = 0; k < 24; k++) {
        const i = Math.floor((k + 0.5) / 24 * d.n), len = [d.span / 3, 1e6, 2e4][k % 3];
        flightrec.selectRow(i);
        tl.view(d.ts[i] - len / 2, d.ts[i] + len / 2);
        tl.draw();
        const drawn = sumOf(tl.canvas.toDataURL()), said = document.getElementById("detail").textContent;
        tl.hit(LABEL_W + tl.w / 2, RULER_H + 22);
        out.push([drawn, said, d.kept.sz, kept(), Math.max(...d.kept.of.values())]);
    }
    return [out, d.kept.forgotten];"""


@test("fields of tiles are kept in so many bytes: panning over all of a page keeps no more, and what was forgotten is drawn and told as before")
def kept(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "kept.html")
    subprocess.run([TILED, "view", "-o", html, load], check=True, stderr=subprocess.DEVNULL)
    browser = Browser()
    js = browser.run
    try:
        equal(browser.open(html), "", "what the page says")
        check(re.search(r"fields are kept decoded in (\d+) MiB", open("docs/view.md").read())[1] == str(js("return KEEP_SZ / 2 ** 20")), "docs/view.md says how many bytes")
        before, forgotten = js(PANNED)
        equal(forgotten, 0, "tiles forgotten where there is room")
        most = max(one[4] for one in before) * 2
        check(most < before[-1][3], f"the page has more than {most} bytes to keep")
        js("flightrec.data.kept.most = arguments[0]", most)
        for _ in range(2):
            after, forgotten = js(PANNED)
            check(forgotten > 10, f"tiles forgotten: {forgotten}")
            for one in after:
                equal(one[2], one[3], "bytes that the cache says it keeps, and those that pieces have")
            check(all(one[2] <= most for one in after[1:]), f"{max(one[2] for one in after[1:])} bytes kept of {most}")
            equal([one[:2] for one in after], [one[:2] for one in before], "what is drawn and told")
        js("flightrec.data.kept.most = 1") # the piece that is asked for stays
        compare_rows(js, [json.loads(line) for line in flightrec("replay", "--json", load).splitlines()])
        equal(js("return flightrec.data.kept.of.size"), 1, "pieces kept where there is no room")
        equal(browser.errors(), [], "what the browser's console says")
    finally:
        browser.close()


@test("a page of many tiles that can be read only in part is shown so, and says why: at its top, where something is not read, and to a search")
def in_part(_, folder):
    html, page = os.path.join(folder, "parted.html"), os.path.join(folder, "in-part.html")
    subprocess.run([TILED, "view", "-o", html, "tests/gate/load.flight"], check=True, stderr=subprocess.DEVNULL)
    held = held_back(html, os.path.join(folder, "parted.held.html"))

    def damage(pieces):
        half = len(pieces[-1]) // 2
        pieces[-1] = pieces[-1][:half] + ("B" if pieces[-1][half] == "A" else "A") + pieces[-1][half + 1:]

    def swap(pieces):
        pieces[:2] = pieces[1::-1]

    for kind, change, why in (("events", damage, "this file is damaged, or memory is short: events "), ("events", lambda pieces: pieces.pop(), "this file is not whole: it lacks events "),
                              ("events", swap, "this file is not whole: events 0 are others"), ("spans", swap, "this file is not whole: spans 0 are others")):
        browser = Browser()
        js = browser.run
        try:
            equal(browser.open(with_pieces(held, page, kind, change), part=True), "", "what the page says of a part")
            js("flightrec.find('cpu:1'); flightrec.panel.open('events'); goOn()")
            said = browser.whole()
            check(why in said, f"{why} is not in {said}")
            equal(js("return document.getElementById('found').textContent"), "not read; a search needs all of it", "what was searched for")
            equal(js("return document.getElementById('events').textContent"), "not read", "events")
            equal(js("const e = document.getElementById('failed'); return [e.hidden, e.textContent]"), [False, f"only a part of this file can be read: {said}"], "above it all")
            equal(js("return document.getElementById('loading').hidden"), True, "what is shown while nothing is")
            unread(js, "not read", "; a search needs all of it")
            equal(js("return flightrec.data.n > 0 && !flightrec.data.whole"), True, "a part is there")
            errors = browser.errors()
            check(len(errors) == 2 and "no worker: " in errors[0] and all(said in e for e in errors), f"the console: {errors}")
        finally:
            browser.close()


@test("a call that took two weeks, in a window of two weeks")
def weeks(_, folder):
    needs_node()
    file, long = os.path.join(folder, "weeks.flight"), 15 * 86400 * 10 ** 9
    events = [f"event {NS + 1000} 0 sys_enter 7 id=0", *(f"event {NS + 2000 + 10 * i} 1 sched_switch {8 * (i % 2)} next_pid={8 * (1 - i % 2)} prev_state=1" for i in range(1200)),
              f"event {NS + 1000 + long} 0 sys_exit 7 id=0 ret=1", f"event {NS + 2000 + long} 1 sched_switch 0 next_pid=8 prev_state=0"]
    subprocess.run(["build/tests/rehearse/make", file], input="\n".join(HEAD + events) + "\n", text=True, check=True)
    pairs = [json.loads(line) for line in flightrec("replay", "--pairs", "--json", "-f", "event == sys_exit", file).splitlines()]
    equal([e["latency_ns"] for e in pairs], [long], "the call")
    flightrec("view", "-o", file + ".html", file)
    subprocess.run([TILED, "view", "-o", file + ".tiled.html", file], check=True, stderr=subprocess.DEVNULL)
    few, many = map(json.loads, subprocess.run(["node", "tests/view/model.mjs", file + ".html", file + ".tiled.html"], capture_output=True, text=True, check=True).stdout.splitlines())
    for page in few, many:
        equal(page["calls"], [[pairs[0]["ts"] - int(page["origin"]), 7, long]], "calls of the page")
    equal(many, few, "a page of many tiles, of a few")


@test("a page that was cut off says so")
def cut(small, folder):
    page = open(small + ".html", encoding="utf-8", errors="surrogateescape").read()
    begin = page.index('<script type="text/x-events">')
    broken = os.path.join(folder, "broken.html")
    with open(broken, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(page[:begin] + page[page.index("</script>", begin) + len("</script>"):])
    browser = Browser()
    try:
        check("not whole" in browser.open(broken), "what it says")
    finally:
        browser.close()


@test("from when on it is complete, and what is damaged, is what info tells")
def complete(_, folder):
    with open("tests/gate/load.flight", "rb") as f:
        whole = f.read()
    for name, data in ("whole", whole), ("half", whole[:len(whole) // 2]):
        file = os.path.join(folder, name)
        with open(file, "wb") as f:
            f.write(data)
        info = json.loads(subprocess.run([FLIGHTREC, "info", "--json", file], capture_output=True).stdout)
        status = subprocess.run([FLIGHTREC, "view", "-o", file + ".html", file], capture_output=True).returncode
        equal((status, info["damage"] > 0), (3, True) if name == "half" else (0, False), f"{name}: exit status, damage")
        browser = Browser()
        try:
            equal(browser.open(file + ".html"), "", "what the page says")
            origin = int(browser.run("return flightrec.data.origin"))
            want = [[c["cpu"], nr, max(t["horizon_ns"] - origin, 0)] for c in info["cpus"] for t in c["tiers"]
                    for nr in [["main", "life", "stack", "wait", "rare"].index(t["name"])]]
            equal(sorted(browser.run("return flightrec.data.rings.map(r => [r.cpu, r.tier, r.horizon])")), sorted(want), f"{name}: horizons")
            browser.keys("6")
            text = browser.run("return document.getElementById('health').textContent")
            equal("damaged" in text, name == "half", f"{name}: {text}")
        finally:
            browser.close()


@test("the window's last event belongs to it: a sample there is in the flame graph")
def last(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "last.html")
    samples = [json.loads(line)["ts"] for line in flightrec("replay", "--json", "-f", "event == cpu_sample", load).splitlines()]
    flightrec("view", "-o", html, "--until", str(samples[-1]), load)
    browser = Browser()
    try:
        equal(browser.open(html), "", "what the page says")
        browser.keys("f5")
        browser.run("flightrec.timeline.selected = null; flightrec.panel.fill()")
        equal(browser.run("return document.querySelector('#flame title').textContent.split('  ')[1]"), str(len(samples)), "samples")
    finally:
        browser.close()


@test("one event is not called 1 events, nor one sample 1 samples")
def one(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "one.html")
    sample = flightrec("replay", "--json", "-f", "event == cpu_sample", load).splitlines()[0]
    at = str(json.loads(sample)["ts"])
    flightrec("view", "-o", html, "--since", at, "--until", at, "-f", "event == cpu_sample", load)
    browser = Browser()
    try:
        equal(browser.open(html), "", "what the page says")
        said = browser.run("""flightrec.timeline.selected = null;
            flightrec.panel.open("flame");
            flightrec.panel.open("detail");
            const about = document.getElementById("detail").textContent;
            flightrec.selectTask(flightrec.data.tid[0]);
            return [document.getElementById("what").textContent, about, document.getElementById("detail").textContent, document.getElementById("flame").textContent]""")
        for words, text in zip(("1 event, ", "1 event in ", "its 1 event", "1 sample in "), said):
            check(words in text and not re.search(r"\b1 (event|sample)s", text), f"{words} is not in {text[:300]}")
    finally:
        browser.close()


@test("the trigger is as far away as it is, in the window or not, and has a line only in it")
def trigger(_, folder):
    load = "tests/gate/load.flight"
    at = json.loads(flightrec("report", "--json", load))["trigger"]["at_ns"]
    for nr, (window, inside) in enumerate([([], True), (["--until", "20%"], False), (["--since", "trigger+1ms"], False)]):
        html = os.path.join(folder, f"trigger-{nr}.html")
        flightrec("view", "-o", html, *window, load)
        browser = Browser()
        try:
            equal(browser.open(html), "", "what the page says")
            origin, span = browser.run("return [Number(flightrec.data.origin), flightrec.data.span]")
            far = origin + span / 2 - at
            words = browser.run("return duration(arguments[0])", abs(far)) + (" before" if far < 0 else " after") + " the trigger"
            told = browser.run("return flightrec.panel.when(flightrec.data.span / 2)")
            check(words in told, f"{window}: {told}, not {words}")
            equal(browser.run("return [flightrec.model.trigger >= 0, !document.getElementById('trigger').hidden]"), [inside, inside], f"{window}: a line, a button")
        finally:
            browser.close()


def innermost(events):
    """Of each CPU: [from, until, entry's event] of who handled what, where the one that began last counts."""
    handlers, begun = collections.defaultdict(list), {}
    for e in events:
        key = (e["cpu"], e.get("event", "").split("_")[0], e.get("irq", e.get("vec")))
        if e.get("event") in ("irq_handler_entry", "softirq_entry"):
            begun[key] = e
        if "gap" in e:
            begun = {k: v for k, v in begun.items() if k[0] != e["cpu"]}
        elif e["event"] in ("irq_handler_exit", "softirq_exit") and key in begun:
            handlers[e["cpu"]].append((begun[key]["ts"], e["ts"], begun.pop(key)["event"]))
    pieces = {}
    for cpu, all_of in handlers.items():
        moments, pieces[cpu] = sorted({t for h in all_of for t in h[:2]}), []
        for since, until in zip(moments, moments[1:]):
            h = max((h for h in all_of if h[0] <= since and h[1] >= until), default=None)
            if h and pieces[cpu] and pieces[cpu][-1][1] == since and pieces[cpu][-1][3] == h:
                pieces[cpu][-1][1] = until
            elif h:
                pieces[cpu].append([since, until, h[2], h])
    return {cpu: [p[:3] for p in of] for cpu, of in pieces.items()}


@test("an interrupt in a softirq: each is where it ran, and so is the softirq behind it")
def nested(_, folder):
    load, html = "tests/gate/load.flight", os.path.join(folder, "nested.html")
    events = [json.loads(line) for line in flightrec("replay", "--json", "--gaps", load).splitlines()]
    flightrec("view", "-o", html, load)
    browser = Browser()
    try:
        equal(browser.open(html), "", "what the page says")
        origin = int(browser.run("return flightrec.data.origin"))
        got = browser.run("""const d = flightrec.data;
            return flightrec.model.cpus.map(c => c ? [...c.irqs.at.a.slice(0, c.irqs.n)].map((at, i) =>
                [at, c.irqs.until.a[i], d.schemaOf[d.ev[c.irqs.row.a[i]]].name]) : [])""")
        for cpu, want in innermost(events).items():
            equal(got[cpu], [[a - origin, b - origin, name] for a, b, name in want], f"CPU {cpu}")
        rows = browser.run("return flightrec.model.cpus.flatMap(c => c ? [...c.irqs.row.a.slice(0, c.irqs.n)] : [])")
        check(len(rows) > len(set(rows)) + 9, f"{len(rows)} pieces of {len(set(rows))} handlers: none is cut")
    finally:
        browser.close()


def equal_calls(js, file, *window):
    """The page's latencies of calls, and how long tasks were runnable, are those of replay --pairs."""
    pairs = [json.loads(line) for line in flightrec("replay", "--pairs", "--json", "-f", "event == sys_exit", *window, file).splitlines()]
    want = [[e["ts"], e["tid"], e["latency_ns"]] for e in pairs if "latency_ns" in e]
    got = js("""const c = flightrec.model.calls;
        return [...c.at.a.slice(0, c.at.n)].map((at, i) => [(BigInt(flightrec.data.origin) + BigInt(at)).toString(), c.tid.a[i], c.ns.a[i]])""")
    equal([[int(ts), tid, ns] for ts, tid, ns in got], want, f"{file}: calls")
    check(bool(want), f"{file}: no calls")
    pairs = [json.loads(line) for line in flightrec("replay", "--pairs", "--json", "-f", "event == sched_switch", *window, file).splitlines()]
    waits = js("""const w = flightrec.model.waits;
        return [...w.at.a.slice(0, w.at.n)].map((at, i) => [(BigInt(flightrec.data.origin) + BigInt(at)).toString(), w.tid.a[i], w.ns.a[i]])""")
    equal([[int(ts), tid, ns] for ts, tid, ns in waits], [[e["ts"], e["next_pid"], e["queued_ns"]] for e in pairs if "queued_ns" in e], f"{file}: waits")


@test("calls are those that replay pairs: none goes on over a hole, or is another task's of that number")
def calls(_, folder):
    for name, *make in ("load.flight", "build/tests/report/make_load"), ("tasks.flight", "build/tests/cut/make_tasks"):
        file = os.path.join(folder, name)
        subprocess.run([*make, file], check=True)
        flightrec("view", "-o", file + ".html", file)
        pairs = [json.loads(line) for line in flightrec("replay", "--pairs", "--json", "-f", "event == sys_exit", file).splitlines()]
        browser = Browser()
        try:
            equal(browser.open(file + ".html"), "", "what the page says")
            equal_calls(browser.run, file)
            execs = {(e["ts"], e["tid"], e["latency_ns"]) for e in pairs if e.get("id") in (59, 11) and not e["ret"]}
            equal(len(execs), 5 if name == "load.flight" else 0, f"{name}: calls that executed a program")
            spans = browser.run("""return [...flightrec.model.tasks.values()].map(t => [t.tid, [...t.calls.at.a.slice(0, t.calls.n)],
                [...t.calls.until.a.slice(0, t.calls.n)]])""")
            for tid, at, until in spans:
                check(all(a < u for a, u in zip(at, until)) and all(u <= a for u, a in zip(until, at[1:])), f"{name}: {tid}: {at} {until}")
        finally:
            browser.close()


STATES = """return [flightrec.data.holes, flightrec.model.begin, Number(flightrec.data.origin),
    [...flightrec.model.tasks.values()].map(t => [t.tid, [0, 1, 2].map(k => [...[t.states.at, t.states.until, t.states.kind][k].a.slice(0, t.states.n)])]),
    flightrec.model.cpus.map(c => c ? [c.nr, [...c.runs.at.a.slice(0, c.runs.n)], [...c.runs.until.a.slice(0, c.runs.n)]] : null)]"""


@test("a task without a CPU does nothing that is known while events of any CPU are missing, and what pairs know is shown")
def states(_, folder):
    for name, *make in ("load.states.flight", "build/tests/report/make_load"), ("tasks.states.flight", "build/tests/cut/make_tasks"):
        file = os.path.join(folder, name)
        subprocess.run([*make, file], check=True)
        flightrec("view", "-o", file + ".html", file)
        pairs = [json.loads(line) for line in flightrec("replay", "--pairs", "--json", "-f", "event == sched_switch", file).splitlines()]
        browser = Browser()
        try:
            equal(browser.open(file + ".html"), "", "what the page says")
            holes, begin, origin, tasks, cpus = browser.run(STATES)
        finally:
            browser.close()
        blind = [(0, begin)] + [(h["since"], h["until"]) for h in holes]
        off = {(tid, at, until) for tid, spans in tasks for at, until, kind in zip(*spans) if kind != RUNNING}
        bad = [s for s in off for since, until in blind if s[1] < until and s[2] > since]
        check(not bad, f"{name}: {len(bad)} of {len(off)} are shown where events are missing: {bad[:3]} {blind}")
        for nr, begins, ends in filter(None, cpus):
            bad = [(a, u) for a, u in zip(begins, ends) for h in holes if h["cpu"] == nr and a < h["until"] and u > h["since"]]
            check(not bad, f"{name}: CPU {nr} runs in its hole: {bad[:3]}")
        known = [(e["next_pid"], e["ts"] - origin, e["offcpu_ns"]) for e in pairs if e.get("offcpu_ns")]
        shown = collections.Counter()
        for tid, at, until in off:
            shown[tid, until] = until - at
        lack = [k for k in known if not shown[k[0], k[1]]]
        check(len(known) > 100 and len(lack) * 100 < len(known), f"{name}: {len(lack)} of {len(known)} are not shown: {lack[:5]}")


@test("what precedes a hole is shown, also where the horizon lies behind it")
def before_hole(_, folder):
    seen = []
    for kind in "early", "late":
        file = os.path.join(folder, kind + ".flight")
        subprocess.run(["build/tests/report/make_load", file] + ["late"] * (kind == "late"), check=True)
        flightrec("view", "-o", file + ".html", file)
        browser = Browser()
        try:
            equal(browser.open(file + ".html"), "", "what the page says")
            seen.append(browser.run(STATES))
            check((browser.run("return flightrec.model.horizon") > seen[-1][0][0]["since"]) == (kind == "late"), kind)
        finally:
            browser.close()
    equal(*seen, "the same history")


NS = 100_000_000_000_000
HEAD = ["fact arch x86_64", "fact boot_id b", "fact begin_ns 1", f"horizon 0 {NS + 1000}", f"horizon 1 {NS + 1000}",
        "thread 7 7 1 task-7", "thread 8 8 1 task-8", "thread 9 9 1 task-9"]
# CPU 1 runs task 8 from 1000 to 9000
OTHER = [f"event {NS + 1000} 1 sched_switch 0 next_pid=8 prev_state=0", f"event {NS + 9000} 1 sched_switch 8 next_pid=0 prev_state=1"]
SPIN = [f"event {NS + 1000} 0 sched_switch 0 next_pid=7 prev_state=0"]
SAMPLES = [f"event {NS + ns} 0 cpu_sample 7 ip=1 user=1" for ns in (2000, 6000)]
LATE = [f"event {NS + 20000} 1 sched_process_exit 9 exit_code=0"]  # the life tier goes on when main has been copied
# name, lines, window: ns behind NS that task 7 has CPU 0, to be shown alike by all
ALIKE = [
    ("spins", [], SAMPLES, [], None, [(1000, 9000)]),
    ("spins, a window between its samples", [], SAMPLES, [], (3000, 4000), [(3000, 4000)]),
    ("one long run, a window in it", [], SPIN, [f"event {NS + 9500} 0 sched_switch 7 next_pid=0 prev_state=1"], (1500, 9000), [(1500, 9000)]),
    ("only a switch before the window tells", [], SPIN, [], (3000, 5000), [(3000, 5000)]),
    ("the dump saw it; its ring was copied first", [f"copied 0 {NS + 7000} 7", f"copied 1 {NS + 9500}"], [], LATE, None, [(1000, 7000)]),
    ("rings copied at different moments", [f"copied 0 {NS + 7000}", f"copied 1 {NS + 9500}"], SPIN, LATE, None, [(1000, 7000)]),
    ("nothing tells", [f"copied 0 {NS + 7000}", f"copied 1 {NS + 9500}"], [], [], None, []),
    ("a hole in its run", [f"hole 0 {NS + 4000} {NS + 5000}"], SPIN + SAMPLES[:1], [f"event {NS + 8000} 0 sched_switch 8 next_pid=0 prev_state=1"], None, [(1000, 4000)]),
    ("a switch is missing", [], SPIN, [f"event {NS + 8000} 0 sched_switch 8 next_pid=0 prev_state=1"], None, []),
    ("two dumps in a row: nothing in between", [f"hole 0 {NS + 4000} {NS + 6000}", f"hole 1 {NS + 4000} {NS + 6000}"],
     SPIN + [f"event {NS + 6500} 0 cpu_sample 7 ip=1 user=1"], [], None, [(1000, 4000), (6000, 9000)]),
]


def time_of(line):
    return int(line.split()[1])


@test("who has a CPU, and until when that is known: page, report, top and a merge say the same of runs without a switch")
def alike(_, folder):
    needs_node()
    for name, head, first, last, window, want in ALIKE:
        file = os.path.join(folder, "alike.flight")
        for old in glob.glob(file + "*") + glob.glob(os.path.join(folder, "again*")):
            os.unlink(old)
        events = sorted(first + OTHER + last, key=time_of)
        subprocess.run(["build/tests/rehearse/make", file], input="\n".join(HEAD + head + events) + "\n", text=True, check=True)
        args = ["--window", f"{NS + window[0]}..{NS + window[1]}"] if window else []
        merged = os.path.join(folder, "again.flight")
        holed = any(line.startswith("hole") for line in head)  # they name no laps here, without which a merge knows nothing
        if not holed:
            flightrec("merge", "-o", merged, file)
        ns = sum(b - a for a, b in want)
        copied = {0: 7000} if any(line.startswith("copied") for line in head) else {}
        for of in [file] if holed else [file, merged]:
            told = [json.loads(line) for line in flightrec("replay", "--json", "--gaps", *args, of).splitlines()]
            equal({e["cpu"]: e["ts"] - NS for e in told if e.get("gap") == "after"}, copied, f"{name}: where the CPU's events end, by replay of {of}")
            trace = subprocess.run([FLIGHTREC, "export", "--to", "perfetto", *args, of], capture_output=True, check=True)
            equal(trace.stdout.count(b"after its ring was copied"), len(copied), f"{name}: slices of perfetto of {of}")
            check(holed or b"missing" not in trace.stderr, f"{name}: {trace.stderr}")
        for of in [file] if holed else [file, merged]:
            r = json.loads(flightrec("report", "--json", "--moment", "1s", *args, of))
            equal(sum(t["oncpu_ns"] for t in r["tasks"] if t["tid"] == 7), ns, f"{name}: report of {of}")
            flightrec("view", *args, "-o", of + ".html", of)
            m = json.loads(subprocess.run(["node", "tests/view/model.mjs", of + ".html"], capture_output=True, text=True, check=True).stdout)
            origin, runs = int(m["origin"]) - NS, m["cpus"]["0"]
            states = [s for s in m["tasks"].get("7", []) if s[2] == RUNNING]
            equal([(at + origin, until + origin) for at, until, tid in runs if tid == 7], want, f"{name}: the page's lane of the CPU")
            equal([(at + origin, until + origin) for at, until, _ in states], want, f"{name}: the page's lane of the task")
            by_top = flightrec("top", "--once", "--size", "120x30", "--panel", "tasks", "--keys", "f", *args, of)
            lane = next(line for line in by_top.splitlines() if "CPU 0" in line)
            equal("task-7" in lane or "#" in lane, ns > 0, f"{name}: top's lane: {lane}")


def ran_by_replay(events):
    """ns that each task ran, as far as switches tell, and waits of runnable tasks that ended."""
    ran, since, on, waits, ready = collections.Counter(), {}, {}, [], {}
    for e in events:
        at = e["ts"]
        if e["event"] == "sched_switch":
            prev, nxt = e["prev_pid"], e["next_pid"]
            if e["cpu"] in on and on[e["cpu"]] == prev and prev:
                ran[prev] += at - since[e["cpu"]]
            on[e["cpu"]], since[e["cpu"]] = nxt, at
            if e["prev_state"] == 0 or e["prev_state"] & 256:
                ready[prev] = at
            if nxt and nxt in ready:
                waits.append(at - ready.pop(nxt))
            ready.pop(nxt, None)
        if e["event"] in ("sched_waking", "sched_wakeup_new") and e["target_pid"] not in ready and e["target_pid"] not in on.values():
            ready[e["target_pid"]] = at
    return ran, waits


def ran_by_page(page):
    """The same by the page, which also shows who ran before a CPU's first switch, and who runs behind its last."""
    switches, ran = {(e["cpu"], e["ts"]) for e in page.events if e["event"] == "sched_switch"}, collections.Counter()
    origin = int(page.js("return flightrec.data.origin"))
    for cpu, tid, at, until in page.js("""return flightrec.model.cpus.filter(c => c).flatMap(c => Array.from({length: c.runs.n}, (_, i) =>
            [c.nr, c.runs.kind.a[i], c.runs.at.a[i], c.runs.until.a[i]]))"""):
        if {(cpu, origin + at), (cpu, origin + until)} <= switches:
            ran[tid] += until - at
    return ran


def off_cpu(page):
    """Long waits by time: how many and how long, in the whole window, upside down, too; the part that has a function in it."""
    origin = int(page.js("return flightrec.data.origin"))
    # one that ended as the window begins has no part in it
    waits = [e for e in page.events if e["event"] == "wait" and e["state"] & 0xff and e["ts"] > origin]
    total = sum(e["ts"] - max(e["ts"] - e["off"], origin) for e in waits)
    page.browser.keys("f")
    page.js("""flightrec.timeline.selected = null; flightrec.panel.open("flame");
        flightrec.panel.flameOf.waits = true; flightrec.panel.flameOf.find = arguments[0]; flightrec.panel.fill()""", "")
    for inverted in False, True:
        page.js("flightrec.panel.flameOf.inverted = arguments[0]; flightrec.panel.fill()", inverted)
        said = page.js("return document.querySelector('#flame h2').textContent")
        want = page.js("return `${duration(arguments[0])} in ${many(arguments[1], 'long wait')} in `", total, len(waits))
        check(said.startswith(want), f"{said}, not {want}")
    page.js("flightrec.panel.flameOf.inverted = false; flightrec.panel.flameOf.find = 'all'; flightrec.panel.fill()")
    equal(page.text("#flame-found"), "100.0 %" if waits else "", "all of it is in all")
    page.js("Object.assign(flightrec.panel.flameOf, { waits: false, find: '' }); flightrec.panel.fill()")


def flame_graph(page):
    """Samples by name are replay's; a click makes a frame the whole."""
    samples = [e for e in page.events if e["event"] == "cpu_sample"]
    page.js("flightrec.timeline.selected = null; flightrec.panel.fill()")
    if not samples:
        return
    titles = page.js("return [...document.querySelectorAll('#flame title')].map(t => t.textContent.split('  '))")
    equal(int(titles[0][1]), len(samples), "samples in the flame graph")
    comm, cnt = collections.Counter(e["comm"] for e in samples).most_common(1)[0]
    check([comm, str(cnt)] in [t[:2] for t in titles], f"{comm} has {cnt} samples: {titles[:20]}")
    page.js("[...document.querySelectorAll('#flame rect')].find(r => r.textContent.startsWith(arguments[0] + '  ')).onclick()", comm)
    root = "return document.querySelector('#flame title').textContent.split('  ')"
    equal(page.js(root)[:2], [comm, str(cnt)], "the new root")
    page.js("flightrec.panel.fill()")
    equal(page.js(root)[:2], [comm, str(cnt)], "the root, once the panel was filled anew")
    page.js("document.querySelector('#flame rect').onclick()")
    equal(page.js(root)[0], "all", "the root, by a click on it")


@test("a real recording: all events, who ran for how long, calls, samples")
def real(_, folder):
    if os.geteuid():
        raise Skip("it needs root to record")
    needs_node()
    out = os.path.join(folder, "real")
    os.mkdir(out)
    flightrec("record", "-n", f"view{os.getpid()}", "-p", "full", "-e", "tp:sched:sched_process_exec", "-m", "1M", "-o", out, "--", "sh", "-c", WORK)
    with Page(glob.glob(f"{out}/*.flight")[0]) as page:
        compare_all(page)
        check(any(e["event"] == "tp:sched:sched_process_exec" and e["filename"] for e in page.events), "a tracepoint's text is there")
        info = json.loads(flightrec("info", "--json", glob.glob(f"{out}/*.flight")[0]))
        equal(int(page.js("return flightrec.data.origin")) + page.js("return flightrec.model.horizon"),
              max(info["horizon_ns"], page.events[0]["ts"]), "the common horizon")
        ran, _ = ran_by_replay(page.events)
        top = [tid for tid, _ in ran.most_common(5)]
        by_page = ran_by_page(page)
        equal([by_page[tid] for tid in top], [ran[tid] for tid in top], f"time on CPUs of {top}")
        equal_calls(page.js, glob.glob(f"{out}/*.flight")[0])
        equal(page.js("return flightrec.model.samples.at.n"), sum(e["event"] == "cpu_sample" for e in page.events), "samples")
        tiled = page.html + ".tiled"
        subprocess.run([TILED, "view", "-o", tiled, glob.glob(f"{out}/*.flight")[0]], check=True, stderr=subprocess.DEVNULL)
        models = subprocess.run(["node", "tests/view/model.mjs", page.html, tiled], capture_output=True, text=True, check=True).stdout.splitlines()
        few, many = map(json.loads, models)
        for key in few:
            equal(many[key], few[key], f"{key} of many tiles, of a few")
        page.browser.keys("f345")
        flame_graph(page)
        off_cpu(page)
        page.browser.keys("2")
        check(0 < page.js("return document.querySelectorAll('#events .row').length") < 200, "only the rows that are seen are there")


def on_pages():
    lacks = missing()
    with tempfile.TemporaryDirectory() as folder:
        small = os.path.join(folder, "small.flight")
        subprocess.run(["build/tests/cli/make_snapshot", small], check=True)

        def call(fn):
            if lacks:
                raise Skip(f"{lacks} is not installed")
            fn(small, folder)

        main(call, only=sys.argv[1:])


on_pages()
