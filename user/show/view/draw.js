// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// draw: the timeline and the overview on their canvases. What is smaller than a pixel is not walked: each pixel looks up what
// it shows, so that five million events are drawn as quickly as five. Of tasks there may be tens of thousands: what is asked of each, each frame,
// is a comparison or two (isThere()).

const FONT = "11px system-ui, sans-serif";
const CPU_H = 40, TASK_H = 26, PROC_H = 18, LABEL_W = 150, RULER_H = 22, GAP = 3;
const ARROW_MAX = 400; // wake arrows drawn at once

function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function taskColor(tid, dark) {
	return tid ? `hsl(${(tid * 137.508) % 360} ${dark ? "42% 52%" : "52% 62%"})` : css("--s0");
}

// What can be read on a colour, "#rrggbb": black or white, at 4.58 : 1 at least.
function inkOn(color) {
	const part = at => {
		const v = parseInt(color.slice(at, at + 2), 16) / 255;
		return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5) > 0.1791 ? "#000" : "#fff";
}

class Timeline {
	constructor(canvas, overview, data, model) {
		Object.assign(this, { canvas, overview, data, model });
		[this.from, this.to] = opensAt(data, model.begin);
		this.scroll = 0;
		this.selected = null; // { row } or { tid, at, until }
		this.matches = null;
		this.tracks = [];
		for (const c of model.cpus)
			if (c)
				this.tracks.push({ cpu: c, h: CPU_H });
		this.cpuTracks = this.tracks;
		this.taskTracks = new Map(model.order.map(t => [t.tid, { task: t, h: TASK_H }]));
		this.procTracks = new Map();
		this.pinned = new Set();
		this.open = new Set(); // processes whose threads are shown
		this.sort = "verdict";
		this.filter("");
		this.colors();
		this.resize();
	}
	// All is read: the tracks are those that there were, of the whole model.
	whole() {
		const d = this.data, sel = this.selected;
		for (const t of this.cpuTracks)
			t.cpu = this.model.cpus[t.cpu.nr];
		for (const [tid, t] of this.taskTracks)
			t.task = this.model.tasks.get(tid);
		this.density = null;
		this.filter(this.words);
		if (sel && sel.row === undefined && sel.lane) {
			const spans = sel.lane(sel.track), i = lower(spans.at.a, sel.at, spans.n), row = i < spans.n ? spans.row.a[i] : -1;
			sel.row = row >= 0 ? row : undefined;
		} else if (sel && sel.row !== undefined) {
			sel.row += sel.base - d.base;
		}
		if (sel && sel.naming) // its row may have been none that was read
			sel.name = sel.naming(sel.kind, sel.row ?? -1);
		this.resize();
	}
	// Is all of the window read?
	isRead(from = this.from, to = this.to) {
		return this.data.whole || (from > this.data.have[0] && to < this.data.have[1]);
	}
	// Has a task anything in the window: is it known to have been there?
	isThere(t) {
		if (t.end === undefined)
			[t.begin, t.end] = this.extent(t);
		if (t.end < this.from || t.begin > this.to)
			return false;
		if ((t.begin >= this.from && t.begin < this.to) || (t.end > this.from && t.end <= this.to))
			return true; // most are short: tens of thousands are asked for each frame
		const s = t.states, rows = t.rows, k = s.first(this.from);
		return (k < s.n && s.at.a[k] < this.to) || (rows.n > 0 && this.isIn(this.data.ts[rows.a[lowerBy(rows, this.data.ts, this.from)]]));
	}
	// From when until when anything is known of a task.
	extent({ states: s, rows }) {
		const { ts } = this.data, begin = rows.n ? ts[rows.a[0]] : Infinity, end = rows.n ? ts[rows.a[rows.n - 1]] : -Infinity;
		return s.n ? [Math.min(begin, s.at.a[0]), Math.max(end, s.until.a[s.n - 1])] : [begin, end];
	}
	isIn(t) {
		return t >= this.from && t <= this.to;
	}
	// Shown also where its process is folded, or it has nothing in the window.
	isWanted(t) {
		return this.wanted.has(t.tid);
	}
	isShown(track) {
		const t = track.task, p = track.proc || track.of;
		if (track.proc)
			return p.threads.some(thread => this.isThere(thread) || this.isWanted(thread)) || (this.selected && this.selected.pid === p.pid);
		return !t || ((!p || this.open.has(p.pid)) && this.isThere(t)) || this.isWanted(t);
	}
	// Tracks one below the other; tasks that have ended, or are not there yet, fold away, and so do threads in their process.
	lay() {
		let y = 0;
		this.wanted = new Set([this.data.focus, ...this.model.involved, ...this.pinned, this.selected?.tid]); // asked for each track, each frame
		this.folded = 0;
		for (const t of this.tracks) {
			t.shown = this.isShown(t);
			t.y = y;
			y += t.shown ? t.h + GAP : 0;
			this.folded += !t.shown && !(t.of && !this.open.has(t.of.pid));
		}
		this.height = y + (this.folded ? TASK_H : 0);
	}
	// Of the tasks only those that have all words in name or number, or are pinned; these come first. Of a process with several threads,
	// itself with those of them below it.
	filter(text) {
		const words = text.toLowerCase().split(/\s+/).filter(w => w), has = (...of) => words.every(w => of.join(" ").toLowerCase().includes(w));
		const pinned = [], others = [], track = (t, of) => Object.assign(this.taskTracks.get(t.tid), { of });
		for (const p of this.model.sorted(this.sort)) {
			const threads = p.threads.filter(t => {
				if (this.pinned.has(t.tid))
					pinned.push(track(t, null));
				return !this.pinned.has(t.tid) && has(this.model.name(t.tid), t.pid, p.name);
			});
			if (threads.length && p.threads.length > 1) {
				const proc = this.procTracks.get(p.pid) || { h: PROC_H };
				this.procTracks.set(p.pid, proc);
				others.push(Object.assign(proc, { proc: { ...p, threads } }));
			}
			others.push(...threads.map(t => track(t, p.threads.length > 1 ? p : null)));
		}
		this.tracks = [...this.cpuTracks, ...pinned, ...others];
		this.words = text;
		this.lay();
		if (this.h)
			this.scrollTo(Math.min(this.scroll, this.height));
	}
	sortBy(sort) {
		this.sort = sort;
		this.filter(this.words);
	}
	pin(tid) {
		if (!this.pinned.delete(tid))
			this.pinned.add(tid);
		this.filter(this.words);
	}
	// A process's threads are shown, or no more.
	fold(pid) {
		if (!this.open.delete(pid))
			this.open.add(pid);
		this.lay();
		this.scrollTo(this.scroll);
	}
	// All of them: shown if any was not.
	foldAll() {
		const all = this.tracks.filter(t => t.proc).map(t => t.proc.pid), shut = all.some(pid => !this.open.has(pid));
		this.open = new Set(shut ? all : []);
		this.lay();
		this.scrollTo(this.scroll);
	}
	// The process of what is selected, if it has several threads.
	processOf(sel) {
		return sel && (sel.pid || (this.taskTracks.get(sel.tid)?.of || {}).pid);
	}
	// The shown track before or behind the selected one.
	nextTrack(by) {
		const shown = this.tracks.filter(t => t.shown), sel = this.selected, now = sel && (sel.track && sel.track.shown ? sel.track : this.trackOfTask(sel.tid));
		const at = shown.indexOf(now);
		return shown[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by, 0), shown.length - 1)];
	}
	colors() {
		this.dark = document.documentElement.classList.contains("dark");
		this.c = {};
		for (const n of ["bg", "fg", "dim", "line", "accent", "hit", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "call", "irq", "panel"])
			this.c[n] = css("--" + n);
		this.state = [0, 1, 2, 3, 4, 6].map(s => this.c["s" + s]);
		this.taskColors = new Map();
		this.inks = new Map();
	}
	colorOf(tid) {
		let c = this.taskColors.get(tid);
		if (!c)
			this.taskColors.set(tid, c = taskColor(tid, this.dark));
		return c;
	}
	resize() {
		for (const canvas of [this.canvas, this.overview]) {
			const scale = devicePixelRatio || 1;
			canvas.width = Math.max(1, canvas.clientWidth * scale);
			canvas.height = Math.max(1, canvas.clientHeight * scale);
			canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
		}
		this.w = Math.max(1, this.canvas.clientWidth - LABEL_W);
		this.h = this.canvas.clientHeight;
		this.show();
	}
	x(t) {
		return LABEL_W + (t - this.from) / (this.to - this.from) * this.w;
	}
	time(x) {
		return this.from + (x - LABEL_W) / this.w * (this.to - this.from);
	}
	trackAt(y) {
		y += this.scroll - RULER_H;
		return this.tracks.find(t => t.shown && y >= t.y && y < t.y + t.h);
	}
	view(from, to) {
		const span = Math.min(Math.max(to - from, 50), this.data.span);
		from = Math.min(Math.max(from, 0), this.data.span - span);
		this.from = from;
		this.to = from + span;
		this.lay();
		this.show();
		this.onview?.();
	}
	zoom(factor, x) {
		const t = this.time(x);
		this.view(t - (t - this.from) * factor, t + (this.to - t) * factor);
	}
	move(part) {
		const by = part * (this.to - this.from);
		this.view(this.from + by, this.to + by);
	}
	reveal(at, track) {
		const span = this.to - this.from;
		if (at < this.from || at > this.to)
			this.view(at - span / 2, at + span / 2);
		this.lay();
		if (track && (track.y < this.scroll || track.y + track.h > this.scroll + this.h - RULER_H))
			this.scrollTo(track.y - this.h / 3);
		this.show();
	}
	scrollTo(y) {
		this.scroll = Math.max(0, Math.min(y, this.height - this.h + RULER_H));
		this.show();
	}
	trackOfTask(tid) {
		return this.taskTracks.get(tid);
	}
	trackOfCpu(nr) {
		return this.tracks.find(t => t.cpu && t.cpu.nr === nr);
	}
	show() {
		if (!this.due)
			this.due = requestAnimationFrame(() => {
				this.due = 0;
				this.draw();
			});
	}

	// Spans of [from, to) as rectangles; fn(kind, span number) gives the colour, null for nothing.
	drawSpans(g, spans, y, h, fn) {
		const scale = this.w / (this.to - this.from), n = spans.n, at = spans.at.a, until = spans.until.a, kind = spans.kind.a;
		let x = LABEL_W;
		for (let i = spans.first(this.from); i < n && at[i] < this.to;) {
			const x0 = Math.max(this.x(at[i]), x), x1 = Math.min(this.x(until[i]), LABEL_W + this.w);
			const color = fn(kind[i], i);
			if (color) {
				g.fillStyle = color;
				g.fillRect(x0, y, Math.max(x1 - x0, 0.7), h);
			}
			if (x1 - x0 >= 1) {
				i++;
				continue;
			}
			// several in this pixel: on to the first that ends in the next one
			x = Math.floor(x0) + 1;
			i = Math.max(i + 1, spans.first(this.from + (x - LABEL_W) / scale));
		}
	}
	// As much of a text as has room, with an ellipsis for the rest.
	cut(g, text, width) {
		if (g.measureText(text).width <= width)
			return text;
		let lo = 0, hi = text.length;
		while (lo < hi) {
			const mid = (lo + hi + 1) >> 1;
			if (g.measureText(text.slice(0, mid) + "…").width <= width)
				lo = mid;
			else
				hi = mid - 1;
		}
		return text.slice(0, lo) + "…";
	}
	inkOn(g, color) {
		let ink = this.inks.get(color);
		if (!ink) {
			g.fillStyle = color;
			this.inks.set(color, ink = inkOn(g.fillStyle)); // which canvases have as #rrggbb
		}
		return ink;
	}
	label(g, text, x0, x1, y, color) {
		x0 = Math.max(x0, LABEL_W);
		if (x1 - x0 < 40 || !text)
			return;
		g.save();
		g.beginPath();
		g.rect(x0, y - 10, x1 - x0 - 3, 14);
		g.clip();
		g.fillStyle = this.inkOn(g, color);
		g.fillText(this.cut(g, text, x1 - x0 - 7), x0 + 3, y);
		g.restore();
	}
	// fn: a span's text; on: the colour that it is written on, by its kind.
	drawLabels(g, spans, y, fn, on) {
		let i = spans.first(this.from), drawn = 0;
		for (; i < spans.n && spans.at.a[i] < this.to && drawn < 300; i++) {
			const x0 = this.x(spans.at.a[i]), x1 = this.x(spans.until.a[i]);
			if (x1 - x0 >= 40) {
				this.label(g, fn(spans.kind.a[i], i), x0, Math.min(x1, LABEL_W + this.w), y, on(spans.kind.a[i]));
				drawn++;
			} else if (x1 - x0 < 1) {
				i = Math.max(i, spans.first(this.time(x1 + 1)) - 1);
			}
		}
	}
	// How many events a pixel has, as a lane of bars; single ones where there is room.
	drawDensity(g, rows, y, h) {
		const { ts } = this.data, n = rows.n;
		let i = firstBy(rows, ts, this.from, 0);
		g.fillStyle = this.c.dim;
		for (let px = 0; px < this.w && i < n; px++) {
			const end = firstBy(rows, ts, this.time(LABEL_W + px + 1), i);
			if (end > i) {
				const bar = Math.min(h, 2 + Math.log2(end - i) * 1.3);
				g.fillRect(LABEL_W + px, y + h - bar, 1, bar);
			}
			i = end;
		}
	}
	// The ruler counts from the trigger, or else from the begin: the largest number on it.
	far() {
		const zero = Math.max(0, this.model.trigger);
		return Math.max(Math.abs(this.from - zero), Math.abs(this.to - zero));
	}
	drawRuler(g) {
		const span = this.to - this.from, about = span / Math.max(2, this.w / 110);
		const power = 10 ** Math.floor(Math.log10(about));
		const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= about);
		g.fillStyle = this.c.bg;
		g.fillRect(0, 0, LABEL_W + this.w, RULER_H);
		g.strokeStyle = this.c.line;
		g.fillStyle = this.c.dim;
		const zero = Math.max(0, this.model.trigger);
		for (let nr = Math.ceil((this.from - zero) / step); nr * step + zero < this.to; nr++) {
			const t = nr * step + zero, x = Math.round(this.x(t)) + 0.5;
			g.beginPath();
			g.moveTo(x, 14);
			g.lineTo(x, this.h);
			g.stroke();
			const text = (nr > 0 && this.model.trigger >= 0 ? "+" : "") + axisTime(nr * step, step, this.far());
			if (x + 3 + g.measureText(text).width <= LABEL_W + this.w) // half a number is another one
				g.fillText(text, x + 3, 11);
		}
	}
	isSelected(t) {
		const s = this.selected;
		return !!s && (s.track === t || (!!t.task && t.task.tid === s.tid));
	}
	drawTrack(g, t, y) {
		g.fillStyle = this.c.fg;
		if (this.isSelected(t))
			g.fillRect(0, y, 4, t.h);
		if (t.cpu) {
			const c = t.cpu;
			g.fillText(`CPU ${c.nr}`, 8, y + 14);
			this.drawSpans(g, c.runs, y, 18, tid => tid ? this.colorOf(tid) : null);
			this.drawLabels(g, c.runs, y + 13, tid => tid ? this.model.name(tid) : "", tid => this.colorOf(tid));
			this.drawIrqs(g, c, y + 19);
			this.drawDensity(g, c.rows, y + 27, 13);
			this.drawLosses(g, c.nr, y, t.h);
			return;
		}
		if (t.proc) {
			this.drawProcess(g, t, y);
			return;
		}
		const tid = t.task.tid, focus = tid === this.data.focus;
		g.fillStyle = focus ? this.c.accent : this.c.fg;
		g.font = (focus || this.model.involved.has(tid) ? "bold " : "") + FONT;
		const left = t.of ? 22 : 8;
		g.fillText(this.cut(g, this.model.name(tid), LABEL_W - left - 6), left, y + 13);
		g.font = FONT;
		this.drawSpans(g, t.task.states, y, 15, s => this.state[s]);
		this.drawSpans(g, t.task.calls, y + 16, 10, () => this.c.call);
		this.drawLabels(g, t.task.calls, y + 24, (kind, i) => this.callName(kind, t.task.calls.row.a[i]), () => this.c.call);
	}
	// What a process does: in each pixel what weighs most of its threads' states. Threads that have tracks of their own are in it, too.
	drawProcess(g, t, y) {
		const p = t.proc, w = Math.ceil(this.w), most = new Uint8Array(w), scale = this.w / (this.to - this.from);
		for (const { states: s } of p.threads)
			for (let i = s.first(this.from); i < s.n && s.at.a[i] < this.to;) {
				const x0 = Math.max(0, Math.floor((s.at.a[i] - this.from) * scale)), x1 = Math.min(w, Math.max(x0 + 1, Math.ceil((s.until.a[i] - this.from) * scale)));
				const weight = STATE_WEIGHT[s.kind.a[i]];
				for (let x = x0; x < x1; x++)
					most[x] = Math.max(most[x], weight);
				i = x1 - x0 > 1 ? i + 1 : Math.max(i + 1, s.first(this.from + (x0 + 1) / scale));
			}
		for (let x = 0, end; x < w; x = end) {
			for (end = x + 1; end < w && most[end] === most[x]; end++)
				;
			if (!most[x])
				continue;
			g.fillStyle = this.state[STATE_WEIGHT.indexOf(most[x])];
			g.fillRect(LABEL_W + x, y + 1, end - x, PROC_H - 4);
		}
		g.fillStyle = this.c.fg;
		g.font = "bold " + FONT;
		g.fillText(this.cut(g, `${this.open.has(p.pid) ? "▾" : "▸"} ${p.name || "?"} ${p.pid} (${p.threads.length})`, LABEL_W - 14), 8, y + 13);
		g.font = FONT;
	}
	processName(p) {
		return `${p.name || "?"} ${p.pid}, ${many(p.threads.length, "thread")}`;
	}
	callName(kind, row) {
		return kind >= 0 ? this.data.call(kind % CALL_ABI, Math.floor(kind / CALL_ABI)) : row === NOT_READ ? "a call that is not read" : row < 0 ? "a call that began before the window" : this.data.word(row, this.data.field(this.data.ev[row], "id"));
	}
	drawLosses(g, cpu, y, h) {
		const d = this.data;
		for (const r of d.rings) {
			if (r.cpu === cpu && r.tier === 0)
				this.hatch(g, this.from, Math.min(r.begin, this.to), y, h, this.c.dim);
		}
		for (const hole of d.holes)
			if (hole.cpu === cpu)
				this.hatch(g, Math.max(hole.since, this.from), Math.min(hole.until, this.to), y, h, this.c.accent);
	}
	// What is not read is not said to be empty.
	drawUnread(g) {
		if (this.isRead())
			return;
		const [begin, end] = this.data.have, h = this.h - RULER_H;
		for (const [from, to] of [[this.from, Math.min(begin, this.to)], [Math.max(end, this.from), this.to]]) {
			if (to <= from)
				continue;
			const x0 = this.x(from), x1 = this.x(to), text = this.cut(g, this.data.unread, x1 - x0);
			g.fillStyle = this.c.line;
			g.globalAlpha = 0.85; // no hatching, which means that there is nothing to be read
			g.fillRect(x0, RULER_H, x1 - x0, h);
			g.globalAlpha = 1;
			g.fillStyle = this.c.fg;
			if (g.measureText(text).width <= x1 - x0)
				g.fillText(text, (x0 + x1 - g.measureText(text).width) / 2, RULER_H + 40);
		}
	}
	// Of a part, handlers are not known: some began, or end, outside it.
	drawIrqs(g, c, y) {
		if (this.data.whole) {
			this.drawSpans(g, c.irqs, y, 7, kind => kind ? this.c.s5 : this.c.irq);
			return;
		}
		g.fillStyle = this.c.line;
		g.fillRect(LABEL_W, y, this.w, 7);
		const from = Math.max(this.from, this.data.have[0]), to = Math.min(this.to, this.data.have[1]);
		if (to <= from)
			return;
		g.fillStyle = this.c.fg;
		g.font = "7px system-ui, sans-serif";
		g.fillText(this.cut(g, `interrupts: ${this.data.unread}`, this.x(to) - this.x(from) - 4), this.x(from) + 4, y + 6);
		g.font = FONT;
	}
	hatch(g, from, to, y, h, color) {
		if (to <= from)
			return;
		const x0 = this.x(from), x1 = this.x(to);
		g.save();
		g.beginPath();
		g.rect(x0, y, Math.max(x1 - x0, 1), h);
		g.clip();
		g.strokeStyle = color;
		g.globalAlpha = 0.45;
		g.beginPath();
		for (let x = x0 - h; x < x1; x += 7) {
			g.moveTo(x, y + h);
			g.lineTo(x + h, y);
		}
		g.stroke();
		g.restore();
	}
	// Of the selected task, from the waker's track to the woken one's; what is not drawn is said.
	drawArrows(g) {
		const w = this.model.wakes, from = lower(w.at.a, this.from, w.at.n), to = upper(w.at.a, this.to, w.at.n);
		const only = this.selected && this.selected.tid;
		this.arrowsCut = 0;
		if (!only)
			return;
		if (!this.data.whole) { // who did a waking, a record tells that comes behind it
			g.fillStyle = this.c.fg;
			g.fillText(`wakeups without arrows: ${this.data.unread}`, LABEL_W + 4, this.h - 6);
			return;
		}
		const y = tid => {
			const t = this.trackOfTask(tid);
			return t && t.shown ? t.y - this.scroll + RULER_H + 8 : undefined;
		};
		g.strokeStyle = g.fillStyle = this.c.fg;
		g.globalAlpha = 0.6;
		for (let i = from, drawn = 0; i < to; i++) {
			if (w.from.a[i] !== only && w.to.a[i] !== only)
				continue;
			if (drawn === ARROW_MAX) {
				this.arrowsCut++;
				continue;
			}
			const y0 = y(w.from.a[i]), y1 = y(w.to.a[i]), x = this.x(w.at.a[i]);
			if (y0 === undefined || y1 === undefined || y0 === y1)
				continue;
			drawn++;
			const dir = Math.sign(y1 - y0);
			g.beginPath();
			g.moveTo(x, y0);
			g.lineTo(x, y1 - 7 * dir);
			g.stroke();
			g.beginPath();
			g.moveTo(x, y1 - 3 * dir);
			g.lineTo(x - 3, y1 - 9 * dir);
			g.lineTo(x + 3, y1 - 9 * dir);
			g.fill();
		}
		g.globalAlpha = 1;
		if (this.arrowsCut)
			g.fillText(`${many(this.arrowsCut, "wakeup")} more have no arrow: zoom in`, LABEL_W + 4, this.h - 6);
	}
	// Where the trigger is, if it is not on the screen.
	drawAway(g) {
		const t = this.model.trigger;
		if (t < 0 || (t >= this.from && t <= this.to))
			return;
		const left = t < this.from, text = left ? `◀ trigger, ${duration(this.from - t)} before` : `trigger, ${duration(t - this.to)} on ▶`;
		g.fillStyle = this.c.accent;
		g.fillText(text, left ? LABEL_W + 4 : LABEL_W + this.w - g.measureText(text).width - 4, RULER_H + 11);
	}
	// The moment under the pointer.
	drawCross(g) {
		if (this.pointer === undefined || this.pointer < LABEL_W)
			return;
		const t = this.time(this.pointer), zero = Math.max(0, this.model.trigger), step = (this.to - this.from) / this.w;
		const text = (t > zero && this.model.trigger >= 0 ? "+" : "") + axisTime(t - zero, step, this.far()), w = g.measureText(text).width + 8;
		const x = Math.min(this.pointer, LABEL_W + this.w - w);
		g.strokeStyle = this.c.dim;
		g.beginPath();
		g.moveTo(Math.round(this.pointer) + 0.5, RULER_H);
		g.lineTo(Math.round(this.pointer) + 0.5, this.h);
		g.stroke();
		g.fillStyle = this.c.fg;
		g.fillRect(x, 0, w, 14);
		g.fillStyle = this.c.bg;
		g.fillText(text, x + 4, 11);
	}
	vertical(g, t, color, text) {
		if (t < this.from || t > this.to)
			return;
		const x = Math.round(this.x(t)) + 0.5;
		g.strokeStyle = g.fillStyle = color;
		g.beginPath();
		g.moveTo(x, 0);
		g.lineTo(x, this.h);
		g.stroke();
		if (text) {
			const w = g.measureText(text).width;
			g.fillText(text, x + 3 + w > LABEL_W + this.w ? x - 3 - w : x + 3, RULER_H - 1);
		}
	}
	drawMatches(g) {
		if (!this.matches)
			return;
		const ts = this.matches.ts, end = upper(ts, this.to);
		g.fillStyle = this.c.hit;
		// one of each pixel: the next is the first behind it
		for (let i = lower(ts, this.from); i < end;) {
			const x = Math.floor(this.x(ts[i]));
			g.fillRect(x, RULER_H - 5, 2, 5);
			i = Math.max(i + 1, lower(ts, this.time(x + 1)));
		}
	}
	draw() {
		const g = this.canvas.getContext("2d");
		g.font = FONT;
		g.fillStyle = this.c.bg;
		g.fillRect(0, 0, this.canvas.clientWidth, this.h);
		this.drawRuler(g);
		g.save();
		g.beginPath();
		g.rect(0, RULER_H, LABEL_W + this.w, this.h);
		g.clip();
		const span = this.selected && this.selected.until !== undefined;
		for (const t of this.tracks) {
			const y = t.y - this.scroll + RULER_H;
			if (!t.shown || y > this.h || y + t.h < RULER_H)
				continue;
			this.drawTrack(g, t, y);
			if (span && this.selected.track === t) {
				g.strokeStyle = this.c.fg;
				g.lineWidth = 2;
				g.strokeRect(this.x(this.selected.at), y + this.selected.dy, Math.max(2, this.x(this.selected.until) - this.x(this.selected.at)), this.selected.dh);
				g.lineWidth = 1;
			}
		}
		this.drawUnread(g);
		if (this.folded) {
			g.fillStyle = this.c.dim;
			g.fillText(`${many(this.folded, "task")} without anything in ${this.isRead() ? "" : "what is read of "}this window`, 8, this.height - this.scroll + RULER_H - 10);
		}
		this.drawArrows(g);
		g.restore();
		this.drawMatches(g);
		this.vertical(g, this.model.horizon, this.c.dim, this.model.horizon > 0 ? "all CPUs from here" : "");
		if (this.model.trigger >= 0)
			this.vertical(g, this.model.trigger, this.c.accent, this.data.facts.trigger_reason || "trigger");
		if (this.selected && this.selected.row !== undefined)
			this.vertical(g, this.data.ts[this.selected.row], this.c.fg);
		for (const mark of [this.mark, this.range]) {
			if (!mark)
				continue;
			g.fillStyle = this.c.hit;
			g.globalAlpha = 0.2;
			g.fillRect(this.x(Math.min(...mark)), 0, Math.abs(this.x(mark[1]) - this.x(mark[0])), this.h);
			g.globalAlpha = 1;
		}
		this.drawAway(g);
		this.drawCross(g);
		this.drawOverview();
		this.drawn = (this.drawn || 0) + 1;
	}
	// Events per pixel of the whole window, counted once for a width.
	densityOf(w) {
		if (this.density && this.density.length === w)
			return this.density;
		this.density = new Float64Array(w);
		if (!this.data.whole)
			return this.densityOfPieces(w);
		for (let px = 0, i = 0; px < w; px++) {
			const end = px === w - 1 ? this.data.n : lower(this.data.ts, (px + 1) / w * this.data.span);
			this.density[px] = end - i;
			i = end;
		}
		return this.density;
	}
	// Before all is read: what each piece has, evenly from its first event to the next one's.
	densityOfPieces(w) {
		const { rows, at } = this.data.index, scale = w / this.data.span;
		for (let k = 0; k < rows.length; k++) {
			const x0 = Math.min(at[k] * scale, w - 1), x1 = Math.max(Math.min((k + 1 < at.length ? at[k + 1] : this.data.span) * scale, w), x0 + 1e-9);
			for (let px = Math.floor(x0); px < x1; px++)
				this.density[px] += rows[k] * Math.max(0, Math.min(x1, px + 1) - Math.max(x0, px)) / (x1 - x0);
		}
		return this.density;
	}
	drawOverview() {
		const g = this.overview.getContext("2d"), w = Math.max(1, this.overview.clientWidth), h = this.overview.clientHeight;
		const density = this.densityOf(w), top = Math.max(1, ...density), x = t => t / this.data.span * w;
		g.fillStyle = this.c.bg;
		g.fillRect(0, 0, w, h);
		g.fillStyle = this.c.call;
		density.forEach((n, px) => n && g.fillRect(px, h - (h - 6) * Math.sqrt(n / top), 1, (h - 6) * Math.sqrt(n / top)));
		g.fillStyle = this.c.hit;
		if (this.matches)
			for (let i = 0, step = Math.max(1, this.matches.ts.length >> 12); i < this.matches.ts.length; i += step)
				g.fillRect(x(this.matches.ts[i]), 0, 1, 5);
		g.fillStyle = this.c.fg;
		g.globalAlpha = 0.13;
		g.fillRect(0, 0, x(this.from), h);
		g.fillRect(x(this.to), 0, w, h);
		g.globalAlpha = 1;
		g.strokeStyle = this.c.fg;
		g.strokeRect(x(this.from) + 0.5, 0.5, Math.max(2, x(this.to) - x(this.from) - 1), h - 1);
		if (this.model.trigger >= 0) {
			g.fillStyle = this.c.accent;
			g.fillRect(x(this.model.trigger), 0, 2, h);
		}
	}
	// What is at a point: { track, tid, at, until, row, text }
	hit(x, y) {
		const track = this.trackAt(y);
		if (track && track.proc)
			return this.hitProcess(track, x);
		if (!track || x < LABEL_W)
			return track && track.task ? { track, tid: track.task.tid, text: this.model.name(track.task.tid) } : null;
		const t = this.time(x), dy = y + this.scroll - RULER_H - track.y;
		const lanes = track.cpu
			? [[track.cpu.runs, 0, 18, tid => this.model.name(tid)], [track.cpu.irqs, 19, 7, (k, row) => this.interruptName(row)]]
			: [[track.task.states, 0, 15, s => STATE_NAME[s]], [track.task.calls, 16, 10, (kind, row) => this.callName(kind, row)]];
		for (const [spans, top, h, name] of lanes) {
			if (dy < top || dy >= top + h)
				continue;
			const near = (this.to - this.from) / this.w;
			let i = spans.find(t);
			if (i < 0 && (i = spans.first(t)) >= 0 && !(i < spans.n && spans.at.a[i] < t + near))
				i = -1;
			if (i < 0)
				return { track };
			const row = spans.row.a[i], kind = spans.kind.a[i];
			const tid = track.task ? track.task.tid : top ? 0 : kind;
			const lane = t => t.cpu ? top ? t.cpu.irqs : t.cpu.runs : top ? t.task.calls : t.task.states; // once all is read
			return { track, tid, kind, lane, row: row >= 0 ? row : undefined, at: spans.at.a[i], until: spans.until.a[i], dy: top, dh: h, name: name(kind, row), naming: name,
				 text: `${name(kind, row)}  ${duration(spans.until.a[i] - spans.at.a[i])}` };
		}
		if (!track.cpu)
			return { track, tid: track.task.tid };
		const rows = track.cpu.rows, i = lowerBy(rows, this.data.ts, t - (this.to - this.from) / this.w);
		if (!rows.n)
			return { track };
		const row = rows.a[i];
		return { track, tid: this.data.tid[row], row, text: `${this.data.schemaOf[this.data.ev[row]].name}  ${this.data.commOf(row)} ${this.data.tid[row]}` };
	}
	// The thread whose state weighs most there.
	hitProcess(track, x) {
		const p = track.proc, t = this.time(x);
		let best = null;
		for (const { tid, states: s } of x < LABEL_W ? [] : p.threads) {
			const i = s.find(t), weight = i < 0 ? 0 : STATE_WEIGHT[s.kind.a[i]];
			if (weight > (best ? best.weight : 0))
				best = { weight, tid, i, s };
		}
		if (!best)
			return { track, pid: p.pid, text: this.processName(p) };
		const { s, i, tid } = best, row = s.row.a[i], name = STATE_NAME[s.kind.a[i]];
		return { track: this.trackOfTask(tid), tid, kind: s.kind.a[i], lane: t => t.task.states, row: row >= 0 ? row : undefined, at: s.at.a[i], until: s.until.a[i], dy: 0, dh: 15, name,
			 text: `${this.model.name(tid)}: ${name}  ${duration(s.until.a[i] - s.at.a[i])}` };
	}
	interruptName(row) {
		if (row < 0)
			return "a handler that began before the window";
		const d = this.data, ev = d.schemaOf[d.ev[row]];
		return ev.name.startsWith("soft") ? `softirq ${d.word(row, d.field(ev.nr, "vec"))}`
			: `irq ${d.word(row, d.field(ev.nr, "irq"))} ${d.word(row, d.field(ev.nr, "name"))}`;
	}
}
