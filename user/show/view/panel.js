// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// panel: what is said beside the timeline: details, events, tasks, latencies, flame graph, losses. Texts of the snapshot are
// put in as text, never as markup.

const ROW_H = 18;

function el(tag, props = {}, ...kids) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(props)) {
		if (k.startsWith("on"))
			e[k] = v;
		else if (v !== undefined)
			e.setAttribute(k, v);
	}
	e.append(...kids.filter(k => k !== undefined && k !== null));
	return e;
}

// What a click and, once it has been reached by Tab, Enter do. No handler returns false, which would keep the key from the browser: Tab.
function gone(fn) {
	const onkeydown = e => {
		if (e.key === "Enter")
			fn();
	};
	return { tabindex: 0, onclick: fn, onkeydown };
}

function rowsTable(heads, rows, onclick) {
	const numeric = i => rows.length && typeof rows[0][i] === "object" ? "n" : undefined;
	const cell = v => typeof v === "object" ? el("td", { class: "n" }, v.n) : el("td", {}, v);
	return el("table", {}, el("tr", {}, ...heads.map((h, i) => el("th", { class: numeric(i) }, h))),
		  ...rows.map((r, i) => el("tr", onclick ? { class: "link", ...gone(() => onclick(i)) } : {}, ...r.map(cell))));
}

const num = v => ({ n: String(v) });

// Powers of two of ns; [[from, count], ...]
function buckets(values, from, to) {
	const cnt = new Float64Array(48);
	for (let i = from; i < to; i++)
		cnt[Math.max(0, Math.floor(Math.log2(Math.max(1, values[i]))))]++;
	const lo = cnt.findIndex(n => n), hi = 48 - [...cnt].reverse().findIndex(n => n);
	return lo < 0 ? [] : [...cnt.slice(lo, hi)].map((n, i) => [2 ** (lo + i), n]);
}

function percentile(sorted, p) {
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))];
}

const ABI_CALLS = 0x10000; // numbers of one ABI are below

class Panel {
	constructor(timeline, data, model) {
		Object.assign(this, { timeline, data, model });
		this.tab = "detail";
		for (const b of document.querySelectorAll("#tabs button"))
			b.onclick = () => this.open(b.dataset.tab);
		this.list = document.getElementById("events");
		this.verdict();
		this.list.onscroll = () => this.tab === "events" && this.data.whole && this.drawRows();
	}
	open(tab) {
		this.tab = tab;
		this.onopen?.();
		for (const b of document.querySelectorAll("#tabs button")) {
			b.classList.toggle("on", b.dataset.tab === tab);
			document.getElementById(b.dataset.tab).hidden = b.dataset.tab !== tab;
		}
		this.fill();
	}
	// The whole width, or beside the timeline.
	wide() {
		document.querySelector("main").classList.toggle("wide");
		this.fill();
	}
	fill() {
		const fill = { detail: () => this.detail(), events: () => this.events(), tasks: () => this.tasks(), hist: () => this.hist(),
			       flame: () => this.flame(), health: () => this.health() }[this.tab];
		if (!this.data.whole && ["events", "tasks", "hist", "flame"].includes(this.tab))
			this.unread(this.section());
		else
			fill();
	}
	// What needs more than is read says so.
	unread(s) {
		s.append(el("p", { class: "loading dim" }, this.read || this.data.unread));
	}
	// The window moved: what is of the window only is told anew, at leisure.
	moved() {
		clearTimeout(this.later);
		if (["tasks", "hist", "flame"].includes(this.tab))
			this.later = setTimeout(() => this.fill(), 150);
	}
	section() {
		const s = document.getElementById(this.tab);
		s.replaceChildren();
		return s;
	}
	when(ns) {
		const d = this.data, t = d.trigger;
		let text = `${(ns / 1e6).toFixed(6)} ms`;
		if (t !== undefined)
			text += `, ${ns === t ? "at" : ns < t ? duration(t - ns) + " before" : duration(ns - t) + " after"} the trigger`;
		if (d.wall_us)
			text += `, ${new Date((d.wall_us + ns / 1e3) / 1e3).toISOString()}`;
		return text;
	}

	// A sentence of the verdict: tasks that it names can be gone to, and what it follows from stands behind it.
	sentence(line) {
		const parts = [];
		let at = 0;
		for (const m of line.text.matchAll(/[^\s\/]+\/(\d+)\b/g)) {
			if (!this.model.tasks.has(+m[1]))
				continue;
			parts.push(line.text.slice(at, m.index), el("a", { role: "button", ...gone(() => this.ontask(+m[1])) }, m[0]));
			at = m.index + m[0].length;
		}
		return [...parts, line.text.slice(at), line.from ? el("span", { class: "from" }, ` [${line.from}]`) : null];
	}
	// What report says, beside whatever is looked at.
	verdict() {
		const v = this.data.verdict, s = document.getElementById("verdict");
		if (!v)
			return;
		s.hidden = false;
		s.append(el("p", {}, ...this.sentence(v.headline)));
		s.append(v.cause ? el("p", { class: "cause" }, ...this.sentence(v.cause)) : el("p", { class: "dim" }, "likely cause: none that is sure"));
		if (v.chain.length)
			s.append(el("ol", {}, ...v.chain.map(line => el("li", {}, ...this.sentence(line)))));
		if (v.ruled_out.length)
			s.append(el("p", { class: "dim" }, "ruled out: ", ...v.ruled_out.flatMap((line, i) => [i ? "; " : "", ...this.sentence(line)])));
	}

	detail() {
		const s = this.section(), range = this.timeline.range;
		if (range)
			this.ofRange(s, Math.min(...range), Math.max(...range));
		this.ofSelection(s);
	}
	// What was measured.
	ofRange(s, from, to) {
		if (!this.timeline.isRead(from, to))
			return this.unread(s);
		const d = this.data, a = lower(d.ts, from), b = upper(d.ts, to), cnt = new Map(), w = this.model.waits;
		for (let i = a; i < b; i++)
			cnt.set(d.ev[i], (cnt.get(d.ev[i]) || 0) + 1);
		const queued = w.ns.a.slice(lower(w.at.a, from, w.at.n), upper(w.at.a, to, w.at.n)).sort();
		s.append(el("h2", { id: "range" }, `${duration(to - from)} marked`), el("p", { class: "dim" }, `from ${this.when(from)}`));
		const rows = [["events", num((b - a).toLocaleString("en"))], ["a second", num(Math.round((b - a) * 1e9 / Math.max(1, to - from)).toLocaleString("en"))]];
		if (queued.length)
			rows.push(["runnable until running, p50", num(duration(percentile(queued, 0.5)))], ["longest", num(duration(queued.at(-1)))]);
		s.append(rowsTable(["", ""], rows));
		s.append(rowsTable(["event", "count"], [...cnt].sort((x, y) => y[1] - x[1]).slice(0, 8).map(([ev, n]) => [d.schemaOf[ev].name, num(n.toLocaleString("en"))])));
		s.append(this.ranTable(from, to, 8));
	}
	ofSelection(s) {
		const sel = this.timeline.selected, d = this.data;
		if (!sel)
			return this.about(s);
		if (sel.until !== undefined) {
			s.append(el("h2", { id: "sel-name" }, sel.name), el("p", { class: "dim" }, this.when(sel.at)));
			s.append(rowsTable(["", ""], [["length", duration(sel.until - sel.at)], ["task", this.model.name(sel.tid)]]));
		}
		const wait = sel.tid && sel.at !== undefined && sel.until !== undefined && this.model.longWait(sel.tid, sel.until);
		if (wait)
			this.ofWait(s, wait);
		else if (!d.whole && sel.until !== undefined)
			this.unread(s); // a wait's record comes at its end
		if (sel.row !== undefined && sel.row >= 0) {
			const i = sel.row, ev = d.schemaOf[d.ev[i]];
			s.append(el("h2", { id: "ev-name" }, ev.name), el("p", { class: "dim" }, ev.doc), el("p", { class: "dim" }, this.when(d.ts[i])));
			s.append(rowsTable(["field", "value"], [["cpu", String(d.cpu[i])], ["tid", String(d.tid[i])], ["comm", d.commOf(i)],
							      ["ts", (BigInt(d.origin) + BigInt(d.ts[i])).toString()], ...d.words(i)]));
			for (const which of ["ustack", "kstack"])
				this.stack(s, which, d.get(i, which + "_id"));
		}
		if (sel.tid)
			this.ofTask(s, sel.tid);
		if (sel.pid)
			this.ofProcess(s, sel.track.proc);
	}
	ofProcess(s, p) {
		s.append(el("h2", { id: "sel-name" }, `process ${p.name || "?"} ${p.pid}`), el("p", { class: "dim" }, `${many(p.threads.length, "thread")}; o shows them`));
		s.append(rowsTable(["thread", "ran", "runnable", "blocked", "events"], p.threads.map(t =>
			[this.model.name(t.tid), num(duration(t.ran)), num(duration(t.waited)), num(duration(t.blocked)), num(t.events)]), i => this.ontask(p.threads[i].tid)));
	}
	// What the task waited for in the span, and who ended it.
	ofWait(s, wait) {
		const d = this.data, i = wait.row, word = Object.fromEntries(d.words(i));
		const rows = [["call", d.get(i, "id") < 0 ? word.waited_in : word.id], ["object", word.object || "not known"], ["state", word.state],
			      ["woken by", this.model.wokenBy(wait)],
			      ["off the CPU", duration(Number(d.get(i, "off")))], ["blocked", duration(Number(d.get(i, "blocked")))], ["queued", duration(Number(d.get(i, "queued")))]];
		s.append(el("h3", { id: "wait" }, "waited"), rowsTable(["", ""], rows));
		for (const which of ["ustack", "kstack"])
			this.stack(s, which, d.get(i, which + "_id"));
	}
	stack(s, which, id) {
		const frames = this.data.stack(id);
		if (frames)
			s.append(el("h3", {}, which === "ustack" ? "user stack" : "kernel stack"), el("pre", {}, frames.join("\n")));
	}
	ofTask(s, tid) {
		const t = this.model.tasks.get(tid);
		if (!t)
			return;
		s.append(el("h3", {}, `task ${this.model.name(tid)}${t.pid ? `, process ${t.pid}` : ""}`));
		s.append(rowsTable(["state", "time"], t.sums.map((ns, k) => [STATE_NAME[k], num(duration(ns))]).filter((r, k) => t.sums[k])));
		s.append(el("p", {}, el("button", { onclick: () => this.open("events") }, `its ${many(t.events, "event")}`)));
	}
	// Of the trigger's task: its wait, its stack, its last events.
	ofFocus(s) {
		const d = this.data, t = this.model.tasks.get(d.focus), at = this.model.trigger;
		if (!t || at < 0)
			return;
		if (!d.whole) // its wait and its last events may lie far off
			return this.unread(s);
		const end = upper(d.ts, at), n = lower(t.rows.a, end, t.rows.n), wait = this.model.longWait(d.focus, at);
		if (wait)
			this.ofWait(s, wait);
		for (let k = n - 1; k >= Math.max(0, n - 200); k--) {
			const frames = d.stack(d.get(t.rows.a[k], "ustack_id"));
			if (!frames)
				continue;
			s.append(el("h3", {}, `user stack, ${this.when(d.ts[t.rows.a[k]]).split(", ")[1]}`), el("pre", {}, frames.join("\n")));
			break;
		}
		const rows = [...t.rows.a.subarray(Math.max(0, n - 10), n)];
		if (rows.length)
			s.append(el("h3", {}, `its last ${rows.length === 1 ? "event" : many(rows.length, "event")}`),
				 rowsTable(["before", "event", ""], rows.map(i => [num(duration(at - d.ts[i])), d.schemaOf[d.ev[i]].name, d.brief(i)]),
					   i => this.onrow(rows[i])));
	}
	// The trigger in words.
	triggerRows() {
		const d = this.data, f = d.facts, rows = [], put = (name, v) => v && rows.push([name, v]);
		const signal = f.trigger_sig && d.names.find(([style, , v]) => /sig/i.test(style) && String(v) === f.trigger_sig);
		put("when", d.wall_us && d.trigger !== undefined && new Date((d.wall_us + d.trigger / 1e3) / 1e3).toISOString());
		put("rule", f.trigger_rule);
		put("task", f.trigger_comm && `${f.trigger_comm} ${f.trigger_tid || f.trigger_pid || ""}${f.trigger_pid ? `, process ${f.trigger_pid}` : ""}`);
		put("program", f.trigger_exe);
		put("signal", f.trigger_sig && +f.trigger_sig > 0 && (signal ? signal[3] : f.trigger_sig));
		put("counted", f.trigger_rate && `${f.trigger_cnt} (${f.trigger_rate})`);
		put(f.trigger_rate ? "within" : "took", f.trigger_value_ns && duration(+f.trigger_value_ns));
		put("host", f.host && `${f.host}, Linux ${f.kernel} ${f.arch}`);
		put("session", f.session && `${f.session}, profile ${f.profile}, flightrec ${f.version}`);
		return rows;
	}
	about(s) {
		const f = this.data.facts;
		s.append(el("h2", {}, f.trigger_reason ? `trigger: ${f.trigger_reason}` : "no trigger"));
		s.append(rowsTable(["", ""], this.triggerRows()));
		this.ofFocus(s);
		s.append(el("details", {}, el("summary", {}, "all facts"), rowsTable(["", ""], Object.entries(f))));
		s.append(el("p", { class: "dim" }, `${many(this.data.events, "event")} in ${duration(this.data.span)}. Click into the timeline, or press ? for keys.`));
	}

	// ---- events: only the rows that can be seen are there ----
	rowsShown() {
		const sel = this.timeline.selected;
		if (this.timeline.matches)
			return this.timeline.matches.rows;
		const t = sel && sel.tid && this.model.tasks.get(sel.tid);
		return t ? t.rows.a.subarray(0, t.rows.n) : null;
	}
	events() {
		this.rows = this.rowsShown();
		this.rowCnt = this.rows ? this.rows.length : this.data.n;
		const h = Math.min(this.rowCnt * ROW_H, 8e6); // browsers end at some 16 million pixels
		this.list.replaceChildren(el("div", { style: `height:${h}px` }));
		const sel = this.timeline.selected;
		if (sel && sel.row !== undefined) {
			const at = this.rows ? lower(this.rows, sel.row) : sel.row;
			this.list.scrollTop = this.rowCnt ? at / this.rowCnt * h - this.list.clientHeight / 2 : 0;
		}
		this.drawRows();
	}
	drawRows() {
		const filler = this.list.firstChild, h = filler.offsetHeight, sel = this.timeline.selected;
		this.list.querySelectorAll(".row").forEach(r => r.remove());
		const top = this.list.scrollTop;
		const first = h < this.rowCnt * ROW_H ? Math.floor(top / Math.max(1, h - this.list.clientHeight) * Math.max(0, this.rowCnt - 20)) : Math.floor(top / ROW_H);
		const cnt = Math.ceil(this.list.clientHeight / ROW_H) + 1;
		for (let k = first; k < Math.min(first + cnt, this.rowCnt); k++) {
			const i = this.rows ? this.rows[k] : k, d = this.data;
			const text = d.brief(i);
			const y = h < this.rowCnt * ROW_H ? top + (k - first) * ROW_H : k * ROW_H;
			this.list.append(el("div", { class: "row" + (sel && sel.row === i ? " on" : ""), style: `top:${y}px`, onclick: () => this.onrow(i) },
					    el("span", { class: "t" }, `${(d.ts[i] / 1e6).toFixed(6)} ${d.cpu[i]} ${d.commOf(i)} ${d.tid[i]} `),
					    el("span", { class: "e" }, d.schemaOf[d.ev[i]].name), " " + text));
		}
	}

	// ---- of the window ----
	tasks() {
		const s = this.section(), { from, to } = this.timeline;
		s.append(el("h2", {}, `tasks in ${duration(to - from)}`), this.ranTable(from, to, 200));
	}
	// Who ran and who was runnable in a range, the longest first.
	ranTable(from, to, most) {
		const of = [];
		for (const t of this.model.order) {
			let ran = 0, waited = 0;
			for (let i = t.states.first(from); i < t.states.n && t.states.at.a[i] < to; i++) {
				const ns = Math.min(t.states.until.a[i], to) - Math.max(t.states.at.a[i], from);
				ran += t.states.kind.a[i] === STATE.RUNS ? ns : 0;
				waited += t.states.kind.a[i] === STATE.WAITS ? ns : 0;
			}
			if (ran || waited)
				of.push({ t, ran, waited });
		}
		of.sort((a, b) => b.ran - a.ran);
		return rowsTable(["task", "ran", "% of a CPU", "runnable"],
				   of.slice(0, most).map(o => [this.model.name(o.t.tid), num(duration(o.ran)), num((o.ran / (to - from) * 100).toFixed(1)), num(duration(o.waited))]),
				   i => this.ontask(of[i].t.tid));
	}
	histogram(s, title, ns, from, to) {
		s.append(el("h3", {}, title));
		if (from >= to) {
			s.append(el("p", { class: "dim" }, "none in this window"));
			return;
		}
		const sorted = ns.slice(from, to).sort(), b = buckets(ns, from, to), top = Math.max(...b.map(x => x[1]));
		s.append(el("p", { class: "dim" }, `${to - from}: p50 ${duration(percentile(sorted, 0.5))}, p99 ${duration(percentile(sorted, 0.99))}, max ${duration(sorted.at(-1))}`));
		s.append(el("table", {}, ...b.map(([at, n]) => el("tr", {}, el("td", { class: "n", style: "width:9em" }, `≥ ${duration(at)}`), el("td", { class: "n", style: "width:6em" }, String(n)),
								 el("td", {}, el("span", { class: "bar", style: `width:${n / top * 100}%` }))))));
	}
	hist() {
		const s = this.section(), { from, to } = this.timeline, w = this.model.waits, c = this.model.calls, d = this.data;
		s.append(el("h2", {}, `latencies in ${duration(to - from)}`));
		this.histogram(s, "runnable until running", w.ns.a, lower(w.at.a, from, w.at.n), upper(w.at.a, to, w.at.n));
		const a = lower(c.at.a, from, c.at.n), b = upper(c.at.a, to, c.at.n);
		this.histogram(s, "system calls", c.ns.a, a, b);
		const of = new Map();
		for (let i = a; i < b; i++) {
			const kind = c.abi.a[i] * ABI_CALLS + c.id.a[i];
			const o = of.get(kind) || { cnt: 0, ns: 0, max: 0, bad: 0, id: c.id.a[i], abi: c.abi.a[i] };
			o.cnt++;
			o.ns += c.ns.a[i];
			o.max = Math.max(o.max, c.ns.a[i]);
			o.bad += c.ret.a[i] < 0 && c.ret.a[i] >= -4095;
			of.set(kind, o);
		}
		const sorted = [...of.values()].sort((x, y) => y.ns - x.ns);
		if (sorted.length)
			s.append(rowsTable(["call", "count", "errors", "mean", "max"], sorted.slice(0, 60).map(o => [d.call(o.id, o.abi), num(o.cnt), num(o.bad), num(duration(o.ns / o.cnt)), num(duration(o.max))])));
	}
	// Frames of what there is to be counted: samples, or long waits by their time. Each is [name, kernel's], outermost first.
	frames(user, kernel) {
		return [...this.functions(user, false), ...this.functions(kernel, true)];
	}
	// A stack's functions, wherever in them.
	functions(nr, isKernel) {
		const known = this.functionsOf ||= new Map(), id = this.model.stackIds[nr], key = `${isKernel} ${id}`;
		if (!known.has(key))
			known.set(key, [...this.data.stack(id) || []].reverse().map(f => [f.replace(/\+0x[0-9a-f]+(?= |$)/, ""), isKernel]));
		return known.get(key);
	}
	// fn(row, weight, user's stack, kernel's) of each in the window, of one task or all: samples count, waits have ns.
	eachCounted(from, to, tid, fn) {
		const m = this.model, d = this.data;
		if (!this.flameOf.waits) {
			for (let k = lower(m.samples.at.a, from, m.samples.at.n); k < m.samples.at.n && m.samples.at.a[k] <= to; k++) {
				const i = m.samples.row.a[k];
				if (!tid || d.tid[i] === tid)
					fn(i, 1, m.samples.user.a[k], m.samples.kernel.a[k]);
			}
			return;
		}
		for (const [of, waits] of m.longWaits)
			for (const w of waits)
				if ((!tid || of === tid) && w.slept && w.until > from && w.at < to)
					fn(w.row, Math.min(w.until, to) - Math.max(w.at, from), w.user, w.kernel);
	}
	// As a tree: { name, kernel, cnt, kids, parent }. Upside down: callers hang below what they called.
	tree(from, to, tid) {
		const root = { name: "all", cnt: 0, n: 0, kids: new Map() };
		this.eachCounted(from, to, tid, (i, weight, user, kernel) => {
			const frames = this.frames(user, kernel), of = [this.data.commOf(i), null];
			let at = root;
			root.cnt += weight;
			root.n++;
			for (const [name, kernel] of this.flameOf.inverted ? [...frames.reverse(), of] : [of, ...frames]) {
				let kid = at.kids.get(name);
				if (!kid)
					at.kids.set(name, kid = { name, kernel, cnt: 0, kids: new Map(), parent: at });
				kid.cnt += weight;
				at = kid;
			}
		});
		return root;
	}
	flame() {
		const s = this.section(), { from, to, selected } = this.timeline, tid = selected && selected.tid;
		this.flameOf ||= { waits: false, inverted: false, find: "" };
		const all = this.tree(from, to, tid), waits = this.flameOf.waits;
		s.append(el("h2", {}, `${waits ? `${duration(all.cnt)} in ${many(all.n, "long wait")}` : many(all.cnt, "sample")} in ${duration(to - from)}${tid ? ` of ${this.model.name(tid)}` : ""}`));
		const toggle = (name, word, title) => el("button", { class: this.flameOf[name] ? "on" : "", "aria-pressed": String(this.flameOf[name]), title, onclick: () => {
			this.flameOf[name] = !this.flameOf[name];
			this.fill();
		} }, word);
		const find = el("input", { type: "search", id: "flame-find", placeholder: "function", "aria-label": "functions with this in their names", value: this.flameOf.find, oninput: () => {
			this.flameOf.find = find.value;
			this.markFlame(s, all);
		} });
		s.append(el("p", { class: "tools" }, toggle("waits", "off the CPU", "long waits by time instead of samples"), " ", toggle("inverted", "inverted", "what ran at the root, its callers above"),
			    " ", el("button", { onclick: () => this.wide(), title: "the whole width (x)" }, "wide"), " ", find, " ", el("span", { id: "flame-found", "aria-live": "polite" })));
		s.append(el("p", { class: "dim" }, el("i", { class: "key user" }), "user ", el("i", { class: "key kernel" }), "kernel"));
		if (all.cnt)
			this.drawFlame(s, all, this.flameRoot(all));
		this.markFlame(s, all);
	}
	// The frame that was made the root, also once the panel is filled anew; all, if there is none such.
	flameRoot(all) {
		let n = all;
		for (const name of this.flameOf.path || [])
			n = n && n.kids.get(name);
		return n || all;
	}
	// Those with the word in their names are marked; how much of all is in or below them, each counted once.
	markFlame(s, all) {
		const word = this.flameOf.find.toLowerCase(), has = n => n.name.toLowerCase().includes(word);
		const sum = n => has(n) ? n.cnt : [...n.kids.values()].reduce((a, kid) => a + sum(kid), 0);
		for (const r of s.querySelectorAll("rect"))
			r.classList.toggle("hit", !!word && r.dataset.name.toLowerCase().includes(word));
		s.querySelector("#flame-found").textContent = word && all.cnt ? `${(sum(all) / all.cnt * 100).toFixed(1)} %` : "";
	}
	// The part below root, and whose it is of; a click makes another the root, one on the root goes back.
	drawFlame(s, all, root) {
		const H = 17, W = Math.max(200, s.clientWidth - 24), ns = "http://www.w3.org/2000/svg";
		const depth = n => 1 + Math.max(0, ...[...n.kids.values()].map(depth));
		const make = (tag, attributes, text) => {
			const e = document.createElementNS(ns, tag);
			for (const [k, v] of Object.entries(attributes))
				e.setAttribute(k, v);
			e.textContent = text || "";
			return e;
		};
		const h = depth(root) * H, svg = make("svg", { viewBox: `0 0 ${W} ${h}`, height: h });
		const put = (n, x, w, y) => {
			if (w < 1)
				return;
			const shade = [...n.name].reduce((a, c) => (a * 31 + c.charCodeAt(0)) >>> 0, 7) % 25;
			const hue = n.kernel === null || n.kernel === undefined ? "210 8%" : n.kernel ? `${200 + shade} 60%` : `${25 + shade} 80%`;
			const r = make("rect", { x, y, width: w, height: H, fill: `hsl(${hue} 68%)`, "data-name": n.name });
			const amount = this.flameOf.waits ? duration(n.cnt) : String(n.cnt);
			r.append(make("title", {}, `${n.name}  ${amount}  ${(n.cnt / all.cnt * 100).toFixed(1)} %`));
			const toRoot = again => {
				svg.remove();
				this.flameOf.path = [];
				for (let of = n === root ? all : n; of.parent; of = of.parent)
					this.flameOf.path.unshift(of.name);
				this.drawFlame(s, all, this.flameRoot(all));
				this.markFlame(s, all);
				if (again)
					s.querySelector("rect").focus(); // the new root: what had it is gone
			};
			Object.assign(r, gone(() => toRoot(document.activeElement === r)));
			r.setAttribute("tabindex", 0);
			svg.append(r);
			if (w > 40)
				svg.append(make("text", { x: x + 3, y: y + 12 }, n.name.length > w / 6.8 ? n.name.slice(0, w / 6.8 - 1) + "…" : n.name));
			let at = x;
			for (const kid of [...n.kids.values()].sort((a, b) => a.name < b.name ? -1 : 1)) {
				put(kid, at, w * kid.cnt / n.cnt, y + H);
				at += w * kid.cnt / n.cnt;
			}
		};
		put(root, 0, W, 0);
		s.append(svg);
	}
	health() {
		const s = this.section(), d = this.data;
		s.append(el("h2", {}, "what is complete, and what was lost"));
		s.append(el("p", {}, this.model.horizon > 0 ? `All CPUs are complete from ${this.when(this.model.horizon)}.` : "All CPUs are complete from the start."));
		s.append(rowsTable(["CPU", "tier", "complete from", "lost", "overwritten"],
				   d.rings.map(r => [String(r.cpu), ["main", "life", "stack", "wait", "rare"][r.tier] || String(r.tier), num(r.horizon ? duration(r.horizon) : "start"), num(r.lost), num(r.overwritten)])));
		if (d.left_out)
			s.append(el("p", { class: "bad" }, `${many(d.left_out, "later event")} left out, as the program that made this page had no more memory (--memory)`));
		if (d.damage)
			s.append(el("p", { class: "bad" }, `${many(d.damage, "part")} of the file ${d.damage === 1 ? "is" : "are"} damaged or missing: nothing is known of what was there`));
		const cnt = d.holes.filter(h => h.why !== "after").length; // each ring is copied before something else happens
		s.append(el("p", { class: cnt ? "bad" : "dim" }, cnt ? `${many(cnt, "hole")}: hatched in the timeline` : "no holes"));
	}
}
