// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// main: puts it together: mouse, keys.

class App {
	constructor(data) {
		this.data = data;
		this.model = new Model(data);
		this.timeline = new Timeline(document.getElementById("timeline"), document.getElementById("overview"), data, this.model);
		this.panel = new Panel(this.timeline, data, this.model);
		this.timeline.onview = () => this.moved();
		this.panel.onopen = () => this.moved();
		this.panel.onrow = i => this.selectRow(i);
		this.panel.ontask = tid => this.selectTask(tid);
		this.mouse();
		this.buttons();
		addEventListener("keydown", e => this.key(e));
		addEventListener("resize", () => this.timeline.resize());
		new ResizeObserver(() => this.timeline.resize()).observe(document.getElementById("left"));
		this.headline();
		this.panel.open("detail");
		this.goTo(location.hash);
		addEventListener("hashchange", () => location.hash !== this.hash && this.goTo(location.hash));
		if (!data.whole)
			this.reading(0);
	}
	// How much of the page is read. What needs all of it says so until then.
	reading(part) {
		this.say(part < 1 ? `loading ${Math.floor(part * 100)} %` : "loading: putting it together");
	}
	// No more of it can be read.
	failed(why) {
		const said = document.getElementById("failed");
		this.data.failed = why;
		said.textContent = `only a part of this file can be read: ${why}`;
		said.hidden = false;
		this.say(this.data.unread);
		this.timeline.resize();
	}
	// What stands where something needs all of the page; what waits for it is told beside the search.
	say(read) {
		const searched = this.data.failed ? "; a search needs all of it" : ", then it is searched";
		this.panel.read = this.read = read;
		document.getElementById("found").textContent = [read, this.waiting !== undefined ? searched : "", this.beyond ? `; ${this.beyond}` : ""].join("");
		document.querySelectorAll(".loading").forEach(e => { e.textContent = read; });
	}
	// All is read; what waited for it is done.
	whole() {
		const { waiting, event } = this;
		document.getElementById("found").textContent = "";
		this.timeline.whole();
		this.waiting = this.event = this.beyond = undefined;
		if (event !== undefined && !this.timeline.selected)
			this.select({ row: event, tid: this.data.tid[event], track: this.timeline.trackOfTask(this.data.tid[event]) || this.timeline.trackOfCpu(this.data.cpu[event]) });
		this.panel.fill();
		if (waiting !== undefined)
			this.find(waiting);
	}
	// What is looked at, as a part of the page's address that can be sent: ns of the recording clock, task or event, panel.
	place() {
		const tl = this.timeline, sel = tl.selected, on = t => (BigInt(this.data.origin) + BigInt(Math.round(t))).toString();
		const parts = [`t=${on(tl.from)}-${on(tl.to)}`];
		if (sel && sel.row >= 0 && sel.until === undefined)
			parts.push(`event=${sel.row + this.data.base}`);
		else if (this.event !== undefined && !sel)
			parts.push(`event=${this.event}`);
		else if (sel && sel.tid)
			parts.push(`task=${sel.tid}`);
		parts.push(`panel=${this.panel.tab}`);
		return "#" + parts.join("&");
	}
	// Kept up with, at leisure. A page that may not is none the worse.
	moved() {
		this.panel.moved();
		clearTimeout(this.later);
		this.later = setTimeout(() => {
			this.hash = this.place();
			try {
				history.replaceState(null, "", this.hash);
			} catch (e) {
				this.hash = location.hash;
			}
		}, 300);
	}
	goTo(hash) {
		const d = this.data, of = Object.fromEntries(hash.slice(1).split("&").map(p => p.split("="))), t = windowOf(hash, d);
		const event = /^\d+$/.test(of.event || "") && +of.event < d.events ? +of.event : -1;
		if (event >= d.base && event < d.base + d.n)
			this.selectRow(event - d.base);
		else if (event >= 0) {
			this.select(null);
			this.event = event; // once it is read
		} else if (/^\d+$/.test(of.task || "") && this.timeline.trackOfTask(+of.task))
			this.selectTask(+of.task);
		if (t)
			this.timeline.view(...t);
		if (["detail", "events", "tasks", "hist", "flame", "health"].includes(of.panel))
			this.panel.open(of.panel);
	}
	headline() {
		const f = this.data.facts;
		document.title = `flightrec ${f.host || ""} ${f.trigger_reason || ""}`;
		document.getElementById("what").textContent = [f.host, f.kernel, f.trigger_reason && `trigger: ${f.trigger_reason} ${f.trigger_comm || ""} ${f.trigger_pid || ""}`,
			`${many(this.data.events, "event")}, ${duration(this.data.span)}`,
			this.data.left_out && `${this.data.left_out.toLocaleString("en")} later ones left out: --memory`].filter(x => x).join(" · ");
		document.getElementById("trigger").hidden = this.model.trigger < 0;
	}
	select(sel) {
		if (sel)
			sel.base = this.data.base; // what its row counts from
		this.event = undefined;
		if (this.beyond) {
			this.beyond = undefined;
			this.say(this.read);
		}
		this.timeline.selected = sel;
		this.timeline.lay();
		this.timeline.show();
		if (this.panel.tab !== "events" && sel)
			this.panel.tab === "flame" || this.panel.open("detail");
		this.panel.fill();
		this.moved();
	}
	selectRow(i) {
		const d = this.data, track = this.timeline.trackOfTask(d.tid[i]) || this.timeline.trackOfCpu(d.cpu[i]);
		this.select({ row: i, tid: d.tid[i], track });
		this.timeline.reveal(d.ts[i], track);
	}
	selectTask(tid) {
		const track = this.timeline.trackOfTask(tid);
		this.select({ tid, track });
		this.timeline.reveal(this.timeline.from, track);
	}
	// On a process's name its threads are shown, or fold away.
	click(x, y) {
		const hit = this.timeline.hit(x, y);
		if (hit && hit.pid && x < LABEL_W)
			this.timeline.fold(hit.pid);
		this.select(hit);
	}
	selectTrack(track) {
		if (!track)
			return;
		this.select(track.proc ? { pid: track.proc.pid, track } : track.task ? { tid: track.task.tid, track } : { track });
		this.timeline.reveal(this.timeline.from, track);
	}
	// The row before or behind the selected one: of its task, or of all.
	step(by, ofTask) {
		const sel = this.timeline.selected;
		if (!sel || sel.row === undefined)
			return;
		const d = this.data, t = ofTask && this.model.tasks.get(d.tid[sel.row]);
		const [k, cnt, all] = t ? [lower(t.rows.a, sel.row, t.rows.n) + by, t.rows.n, t.events] : [sel.row + by, d.n, d.events];
		if (k >= 0 && k < cnt) {
			this.selectRow(t ? t.rows.a[k] : k);
		} else if (cnt < all && (by < 0 ? d.base > 0 : d.base + d.n < d.events)) {
			this.beyond = `what comes ${by < 0 ? "before" : "after"} is not read`;
			this.say(this.read);
		}
	}
	find(text) {
		const refused = document.getElementById("refused");
		let m = null;
		refused.hidden = true;
		if (!this.data.whole) {
			this.waiting = text.trim() ? text : undefined;
			this.say(this.read);
			return;
		}
		try {
			m = new Search(this.data, this.model).find(text);
		} catch (e) {
			if (!(e instanceof Refused))
				throw e;
			refused.replaceChildren(el("code", {}, text.slice(0, e.at), el("mark", {}, text.slice(e.at) || " ")), " ", e.message);
			refused.hidden = false;
		}
		this.timeline.matches = m;
		document.getElementById("found").textContent = m ? `${m.rows.length} found` : "";
		this.timeline.show();
		if (this.panel.tab === "events")
			this.panel.fill();
		if (m && m.rows.length)
			this.match(1);
	}
	match(by) {
		const m = this.timeline.matches;
		if (!m || !m.rows.length)
			return;
		m.at = (m.at + by + m.rows.length) % m.rows.length;
		document.getElementById("found").textContent = `${m.at + 1} of ${m.rows.length}`;
		this.selectRow(m.rows[m.at]);
	}
	fit() {
		this.timeline.view(0, this.data.span);
	}
	toTrigger() {
		const t = this.model.trigger;
		if (t >= 0)
			this.timeline.view(t - OPENS_NS, t + OPENS_NS);
	}
	toSelection() {
		const s = this.timeline.selected;
		if (s && s.until !== undefined)
			this.timeline.view(s.at - (s.until - s.at) / 4, s.until + (s.until - s.at) / 4);
		else if (s && s.row !== undefined)
			this.timeline.view(this.data.ts[s.row] - 5e4, this.data.ts[s.row] + 5e4);
	}
	// Where keys zoom in: at the selected event or span, or else the trigger, if it is in the window; or else in the middle.
	anchor() {
		const tl = this.timeline, s = tl.selected, its = s?.row >= 0 ? this.data.ts[s.row] : s?.at, at = [its, this.model.trigger].find(t => t >= 0 && tl.isIn(t));
		return at === undefined ? LABEL_W + tl.w / 2 : tl.x(at);
	}
	theme() {
		document.documentElement.classList.toggle("dark");
		this.timeline.colors();
		this.timeline.show();
	}
	mouse() {
		const tl = this.timeline, c = tl.canvas, tip = document.getElementById("tip");
		let drag = null;
		this.leave = () => { tip.hidden = true; };
		c.addEventListener("wheel", e => {
			e.preventDefault();
			this.leave();
			if (e.shiftKey)
				tl.scrollTo(tl.scroll + (e.deltaY || e.deltaX));
			else
				tl.zoom(Math.exp(e.deltaY * 0.0016), e.offsetX);
		}, { passive: false });
		c.addEventListener("pointerdown", e => {
			this.leave();
			drag = { x: e.offsetX, y: e.offsetY, from: tl.from, to: tl.to, scroll: tl.scroll, mark: e.shiftKey || e.ctrlKey, measures: e.ctrlKey, moved: false };
			c.setPointerCapture(e.pointerId);
			c.focus();
		});
		c.addEventListener("pointermove", e => {
			tl.pointer = e.offsetX;
			tl.show();
			if (!drag) {
				const hit = tl.hit(e.offsetX, e.offsetY);
				tip.hidden = !hit || !hit.text;
				if (!tip.hidden) {
					tip.textContent = hit.text;
					tip.style.left = `${Math.min(e.offsetX + 14, c.clientWidth - 260)}px`;
					tip.style.top = `${Math.min(e.offsetY + 16, c.clientHeight - 30)}px`;
				}
				return;
			}
			drag.moved ||= Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 3;
			if (drag.mark) {
				tl.mark = [tl.time(drag.x), tl.time(e.offsetX)];
				tl.show();
			} else if (drag.moved) {
				const by = (drag.x - e.offsetX) / tl.w * (drag.to - drag.from);
				tl.view(drag.from + by, drag.to + by);
				tl.scrollTo(drag.scroll + drag.y - e.offsetY);
			}
		});
		c.addEventListener("pointerup", e => {
			if (drag && drag.measures && drag.moved)
				this.measure(tl.mark);
			else if (drag && drag.mark && drag.moved)
				tl.view(Math.min(...tl.mark), Math.max(...tl.mark));
			else if (drag && !drag.moved)
				this.click(e.offsetX, e.offsetY);
			tl.mark = drag = null;
			tl.show();
		});
		c.addEventListener("pointerleave", () => {
			this.leave();
			tl.pointer = undefined;
			tl.show();
		});
		const o = tl.overview, to = e => {
			const t = e.offsetX / o.clientWidth * this.data.span, half = (tl.to - tl.from) / 2;
			tl.view(t - half, t + half);
		};
		o.addEventListener("pointerdown", e => {
			o.setPointerCapture(e.pointerId);
			to(e);
		});
		o.addEventListener("pointermove", e => e.buttons && to(e));
	}
	buttons() {
		const tl = this.timeline;
		const on = (id, fn) => { document.getElementById(id).onclick = fn; };
		on("next", () => this.match(1));
		on("prev", () => this.match(-1));
		on("fit", () => this.fit());
		on("trigger", () => this.toTrigger());
		on("theme", () => this.theme());
		on("keys", () => document.getElementById("help").showModal());
		const tracks = document.getElementById("tracks");
		tracks.addEventListener("input", () => this.timeline.filter(tracks.value));
		tracks.addEventListener("keydown", e => ["Enter", "Escape"].includes(e.key) && this.timeline.canvas.focus());
		const sort = document.getElementById("sort");
		sort.append(...Object.entries(SORTS).map(([value, words]) => el("option", { value }, words)));
		sort.addEventListener("change", () => this.timeline.sortBy(sort.value));
		sort.addEventListener("keydown", e => e.key === "Escape" && tl.canvas.focus());
		on("fold", () => tl.foldAll());
		const s = document.getElementById("search");
		s.addEventListener("change", () => this.find(s.value));
		s.addEventListener("keydown", e => {
			if (e.key === "Enter" && this.timeline.matches && this.searched === s.value) {
				this.match(e.shiftKey ? -1 : 1);
				e.preventDefault();
			}
			if (e.key === "Enter") {
				this.searched = s.value;
				setTimeout(() => this.timeline.canvas.focus()); // when it has been looked for: n and N are keys again
			}
			if (e.key === "Escape") {
				e.preventDefault(); // which would empty it
				this.timeline.canvas.focus();
			}
		});
	}
	// A range, with what it has; it stays until Escape.
	measure(mark) {
		this.timeline.range = mark;
		this.panel.open("detail");
	}
	escape() {
		this.timeline.range = null;
		this.select(null);
	}
	key(e) {
		const tl = this.timeline, zoom = factor => tl.zoom(factor, this.anchor());
		if (e.target.matches("input, select, dialog, dialog *") || document.getElementById("help").open || e.ctrlKey || e.metaKey || e.altKey)
			return;
		this.leave();
		const keys = {
			"w": () => zoom(0.7), "+": () => zoom(0.7), "=": () => zoom(0.7), "s": () => zoom(1 / 0.7), "-": () => zoom(1 / 0.7),
			"a": () => tl.move(-0.2), "d": () => tl.move(0.2), "ArrowLeft": () => tl.move(-0.2), "ArrowRight": () => tl.move(0.2),
			"ArrowUp": () => tl.scrollTo(tl.scroll - 60), "ArrowDown": () => tl.scrollTo(tl.scroll + 60),
			"[": () => this.step(-1, true), "]": () => this.step(1, true), ",": () => this.step(-1, false), ".": () => this.step(1, false),
			"/": () => document.getElementById("search").select(), "n": () => this.match(1), "N": () => this.match(-1),
			"t": () => this.toTrigger(), "f": () => this.fit(), "z": () => this.toSelection(), "l": () => this.theme(),
			"?": () => document.getElementById("help").showModal(), "Escape": () => this.escape(),
			"j": () => this.selectTrack(tl.nextTrack(1)), "k": () => this.selectTrack(tl.nextTrack(-1)),
			"o": () => tl.processOf(tl.selected) && tl.fold(tl.processOf(tl.selected)), "O": () => tl.foldAll(),
			"p": () => tl.selected && tl.selected.tid && tl.pin(tl.selected.tid), "x": () => this.panel.wide(),
		};
		["detail", "events", "tasks", "hist", "flame", "health"].forEach((tab, i) => { keys[i + 1] = () => this.panel.open(tab); });
		if (keys[e.key]) {
			keys[e.key]();
			e.preventDefault();
		}
	}
}

async function show() {
	const said = document.getElementById("loading-text");
	let app;
	if (matchMedia("(prefers-color-scheme: dark)").matches)
		document.documentElement.classList.add("dark");
	try {
		const data = await readNear(part => {
			document.getElementById("progress").value = part;
			said.textContent = `reading ${Math.round(part * 100)} %`;
		});
		document.getElementById("loading").hidden = true;
		app = window.flightrec = new App(data);
	} catch (e) {
		document.getElementById("loading").hidden = false;
		said.textContent = `cannot show this file: ${e.message}`;
		said.className = "bad";
		throw e;
	}
	if (app.data.whole)
		return;
	try {
		await readAll(app.data, app.model, part => app.reading(part));
	} catch (e) {
		app.failed(e.message);
		throw e;
	}
	app.whole();
}

if (typeof document === "undefined")
	workAll();
else
	show();
