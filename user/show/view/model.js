// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// model: CPUs and tasks with what they did, as flightrec found it (data.spans), and their events.

const STATE = { UNKNOWN: 0, RUNS: 1, WAITS: 2, SLEEPS: 3, BLOCKED: 4, OTHER: 5 };
const WAITS = 0xff; // states in which a task is not runnable: FR_PREV_STATE_WAITS
const WAKER = { UNKNOWN: 0, TASK: 1 }; // enum fr_waker
const STATE_NAME = ["unknown", "running", "runnable", "sleeping", "blocked (D)", "stopped or idle"];

// Of several threads, what is shown of their process: running, runnable, blocked, another, asleep; 0: nothing is known.
const STATE_WEIGHT = [0, 5, 4, 1, 3, 2];

// In which order tasks, and processes by the sums of their threads, can be.
const SORTS = {
	verdict: "trigger's first", ran: "ran longest", waited: "runnable longest", blocked: "blocked longest", events: "most events", name: "name", number: "number", begin: "first seen",
};

// An array of numbers that grows.
class Nums {
	constructor(Type = Float64Array) {
		this.a = new Type(64);
		this.n = 0;
	}
	push(v) {
		if (this.n === this.a.length) {
			const a = new this.a.constructor(2 * this.n || 64);
			a.set(this.a);
			this.a = a;
		}
		this.a[this.n++] = v;
	}
	last() {
		return this.a[this.n - 1];
	}
	// These, and no others.
	set(a) {
		this.a = a;
		this.n = a.length;
	}
}

// Of each number in a column the rows that have it, as arrays of just their size.
function listsOf(col) {
	const cnt = new Map(), of = new Map();
	for (let i = 0, end; i < col.length; i = end) {
		for (end = i + 1; end < col.length && col[end] === col[i]; end++)
			;
		cnt.set(col[i], (cnt.get(col[i]) || 0) + end - i);
	}
	for (const [v, n] of cnt)
		of.set(v, { a: new Int32Array(n), n: 0 });
	for (let i = 0; i < col.length; i++) {
		const list = of.get(col[i]);
		list.a[list.n++] = i;
	}
	return [...of].map(([v, list]) => [v, list.a]);
}

// A system call as a span's kind: its number and the ABI that it is of.
const UNKNOWN_CALL = -1, CALL_ABI = 1 << 24;
const callKind = (id, abi) => id >= 0 && id < CALL_ABI ? id + CALL_ABI * (abi & 1) : UNKNOWN_CALL;

// Spans: [at, until) of a kind, ascending, not overlapping. row: the event that began it, -1: it is not on the page.
class Spans {
	constructor() {
		this.at = new Nums();
		this.until = new Nums();
		this.kind = new Nums(Int32Array);
		this.row = new Nums(Int32Array);
	}
	push(at, until, kind, row) {
		this.at.push(at);
		this.until.push(until);
		this.kind.push(kind);
		this.row.push(row);
	}
	// These, and no others.
	set([at, length, row, kind]) {
		const n = at.length, until = new Float64Array(n);
		for (let i = 0; i < n; i++)
			until[i] = at[i] + length[i];
		[[this.at, at], [this.until, until], [this.kind, kind ? new Int32Array(kind) : new Int32Array(n)], [this.row, new Int32Array(row)]].forEach(([to, v]) => to.set(v));
	}
	get n() {
		return this.at.n;
	}
	// The span at time t, -1.
	find(t) {
		const i = upper(this.at.a, t, this.at.n) - 1;
		return i >= 0 && this.until.a[i] > t ? i : -1;
	}
	// The first that ends behind t.
	first(t) {
		return upper(this.until.a, t, this.n);
	}
}

// What is made of the data, one after the other: each asks for those before it.
const MAKES = ["taskHeads", "rowsOf", "spansOf", "callsOf", "waitsOf", "longWaitsOf", "interruptsOf", "wakesOf", "samplesOf", "orderTasks"];

// From there on all CPUs' histories have begun, and may have holes.
function beginOf(data) {
	return Math.max(0, ...data.rings.filter(r => r.tier === 0).map(r => r.begin));
}

class Model {
	constructor(data, makes = MAKES) {
		this.data = data;
		this.tasks = new Map();
		this.cpus = [];
		this.waits = { at: new Nums(), ns: new Nums(), tid: new Nums(Uint32Array) };
		this.calls = { at: new Nums(), ns: new Nums(), id: new Nums(Int32Array), abi: new Nums(Uint8Array), ret: new Nums(), tid: new Nums(Uint32Array) };
		this.longWaits = new Map(); // tid: its long waits, those that have a record: { at, until, row, waker, ... }, in order
		this.wakes = { at: new Nums(), from: new Nums(Uint32Array), to: new Nums(Uint32Array) };
		this.samples = { at: new Nums(), row: new Nums(Int32Array), user: new Nums(Uint32Array), kernel: new Nums(Uint32Array) }; // the last two: numbers in stackIds
		this.stackIds = ["0"];
		const rings = data.rings.filter(r => r.tier === 0);
		this.begin = beginOf(data);
		this.horizon = Math.max(0, ...rings.map(r => r.horizon)); // behind the holes
		this.trigger = data.trigger >= 0 && data.trigger <= data.span ? data.trigger : -1; // in the window, else -1
		makes.forEach(make => this[make]());
	}
	// The same, with a pause before each part.
	static async slowly(data) {
		const m = new Model(data, []);
		for (const make of MAKES) {
			await new Promise(r => setTimeout(r));
			m[make]();
		}
		return m;
	}
	task(tid) {
		let t = this.tasks.get(tid);
		if (!t) {
			// events, sums of states and first: of the whole page, whatever is read of it
			t = { tid, pid: 0, name: "", states: new Spans(), calls: new Spans(), rows: new Nums(Int32Array), events: 0, sums: [0, 0, 0, 0, 0, 0], first: Infinity,
			      begin: undefined, end: undefined }; // what is read of it: Timeline.extent(), when it is asked for
			this.tasks.set(tid, t);
		}
		return t;
	}
	cpuOf(nr) {
		return this.cpus[nr] ||= { nr, runs: new Spans(), irqs: new Spans(), rows: new Nums(Int32Array) };
	}
	// What the index has of each task.
	taskHeads() {
		const d = this.data, { tasks, sums, pids: [row, pid, pidTid] } = d.index;
		for (const [tid, pid, comm] of d.tasks)
			if (!this.tasks.has(tid) || comm)
				Object.assign(this.task(tid), { pid, name: comm });
		for (let k = 0; k < row.length; k++)
			if (pid[k] >= 0)
				this.task(pidTid[k]).pid = pid[k];
		for (let k = 0; k < tasks.tid.length; k++) {
			if (!tasks.tid[k])
				continue;
			const t = this.task(tasks.tid[k]);
			[t.events, t.first] = [tasks.cnt[k], tasks.first[k]];
			if (tasks.text[k])
				t.name = d.texts[tasks.text[k]];
		}
		for (let k = 0; k < sums.tid.length; k++) {
			const t = this.task(sums.tid[k]);
			sums.sums.forEach((col, s) => { t.sums[s + 1] += col[k]; }); // a number may have been that of several tasks
			t.first = Math.min(t.first, sums.begin[k] < 0 ? Infinity : sums.begin[k]);
		}
		for (const t of this.tasks.values())
			[t.ran, t.waited, t.blocked] = [t.sums[STATE.RUNS], t.sums[STATE.WAITS], t.sums[STATE.BLOCKED]];
	}
	rowsOf() {
		const d = this.data;
		for (const r of d.rings)
			this.cpuOf(r.cpu);
		for (const [of, rows] of listsOf(d.cpu))
			this.cpuOf(of).rows.set(rows);
		for (const [of, rows] of listsOf(d.tid))
			if (of)
				this.task(of).rows.set(rows);
	}
	spansOf() {
		const { runs, states, taskCalls } = this.data.spans;
		for (const [nr, [at, length, tid, row]] of runs)
			this.cpuOf(nr).runs.set([at, length, row, tid]);
		for (const [tid, [at, length, state, row]] of states)
			this.task(tid).states.set([at, length, row, state]);
		for (const [tid, cols] of taskCalls)
			this.task(tid).calls.set(cols);
		this.kindsOf([...taskCalls.keys()].map(tid => this.task(tid).calls));
	}
	// Which calls they are, of those whose beginnings are read: drawn without looking into their events.
	kindsOf(calls) {
		const of = new Int32Array(this.data.n).fill(UNKNOWN_CALL);
		this.data.each("sys_enter", ["id", "abi"], (i, id, abi) => { of[i] = callKind(id, abi); });
		for (const { kind, row, n } of calls)
			for (let k = 0; k < n; k++)
				kind.a[k] = row.a[k] < 0 ? UNKNOWN_CALL : of[row.a[k]];
	}
	samplesOf() {
		const s = this.samples, d = this.data;
		d.each("cpu_sample", ["ustack_id", "kstack_id"], (i, user, kernel) => {
			s.at.push(d.ts[i]);
			s.row.push(i);
			s.user.push(this.stackNr(user));
			s.kernel.push(this.stackNr(kernel));
		});
	}
	// A stack as its number in stackIds: ids have 64 bits.
	stackNr(id) {
		const nrs = this.stackNrs ||= new Map(this.stackIds.map((key, nr) => [key, nr])), key = String(id);
		if (!nrs.has(key))
			nrs.set(key, this.stackIds.push(key) - 1);
		return nrs.get(key);
	}
	// Calls and waits that ended, where they did, with all their time, also if they began before the window.
	callsOf() {
		const d = this.data, c = this.calls, [row, ns, id, abi] = d.spans.calls;
		this.endsAt(row, c.at, c.tid);
		[[c.ns, ns], [c.id, new Int32Array(id)], [c.abi, new Uint8Array(abi)], [c.ret, d.column(row, "sys_exit", "ret")]].forEach(([to, a]) => to.set(a));
		d.spans.calls = [new Int32Array(row), ns]; // what a search asks for
	}
	waitsOf() {
		const w = this.waits, [row, ns] = this.data.spans.waits;
		this.endsAt(row, w.at);
		[[w.ns, ns], [w.tid, new Uint32Array(this.data.column(row, "sched_switch", "next_pid"))]].forEach(([to, a]) => to.set(a));
		this.data.spans.waits = [new Int32Array(row), ns];
	}
	// When these rows are, and of whom.
	endsAt(row, at, tid) {
		const d = this.data, n = row.length, ats = new Float64Array(n), tids = new Uint32Array(n);
		for (let k = 0; k < n; k++) {
			ats[k] = d.ts[row[k]];
			tids[k] = d.tid[row[k]];
		}
		at.set(ats);
		tid?.set(tids);
	}
	longWaitsOf() {
		const d = this.data;
		d.each("wait", ["off", "waker", "state", "ustack_id", "kstack_id"], (i, off, waker, state, user, kernel) => {
			const of = this.longWaits.get(d.tid[i]) || [];
			of.push({ at: d.ts[i] - Number(off), until: d.ts[i], row: i, waker, slept: (state & WAITS) !== 0, user: this.stackNr(user), kernel: this.stackNr(kernel) });
			this.longWaits.set(d.tid[i], of);
		});
	}
	// The long wait of a task that t lies in.
	longWait(tid, t) {
		const of = this.longWaits.get(tid) || [];
		let lo = 0;
		for (let hi = of.length; lo < hi;) {
			const mid = (lo + hi) >> 1;
			if (of[mid].until < t)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo < of.length && of[lo].at <= t ? of[lo] : null;
	}
	wokenBy(wait) {
		const by = this.data.get(wait.row, "waker_pid");
		if (!wait.slept)
			return "nobody: runnable";
		if (wait.waker === WAKER.TASK)
			return by ? this.name(by) : "a task";
		return Object.fromEntries(this.data.words(wait.row)).waker;
	}
	// Did a task do the waking in row i, of task tid? The event is of whatever task an interrupt came on top of. The wait's record
	// knows best, then handlers that were recorded, then the waking's own word.
	isByTask(i, tid, word) {
		const d = this.data, w = this.longWait(tid, d.ts[i]);
		if (w && w.slept && w.waker !== WAKER.UNKNOWN && d.ts[i] <= w.until - Number(d.get(w.row, "queued")))
			return w.waker === WAKER.TASK;
		return word === WAKER.TASK && this.cpus[d.cpu[i]].irqs.find(d.ts[i]) < 0;
	}
	wakesOf() {
		const d = this.data, w = this.wakes, all = [];
		const add = (i, target, word) => this.isByTask(i, target, word) && all.push([d.ts[i], d.tid[i], target]);
		d.each("sched_waking", ["target_pid", "waker"], add);
		d.each("sched_wakeup_new", ["target_pid"], (i, target) => add(i, target, WAKER.TASK)); // only a task begins another one
		all.sort((x, y) => x[0] - y[0]);
		for (const e of all)
			[w.at, w.from, w.to].forEach((to, k) => to.push(e[k]));
	}
	// Reads a field of the rows of one event quickly.
	field2(event, name) {
		const d = this.data, nr = d.nrOf[event];
		const f = nr === undefined ? -1 : d.field(nr, name);
		if (f < 0)
			return null;
		let nth = -1, col = null;
		return i => {
			while (nth + 1 < d.starts.length && i >= d.starts[nth + 1]) {
				nth++;
				col = d.pieces[nth].of.has(nr) ? d.pieces[nth].column(nr, f) : null;
			}
			return col[d.k[i]];
		};
	}
	interruptsOf() {
		const d = this.data;
		if (!d.whole)
			return; // a handler, or what it is in, may have begun in a tile that is not read
		const open = this.cpus.map(() => new Map());
		const kinds = [["irq_handler_entry", "irq_handler_exit", "irq", 0], ["softirq_entry", "softirq_exit", "vec", 1]];
		const spans = this.cpus.map(() => []), holes = [...d.holes].sort((a, b) => a.since - b.since);
		for (const [begins, ends, key, kind] of kinds) {
			const b = d.nrOf[begins], e = d.nrOf[ends], bf = this.field2(begins, key), ef = this.field2(ends, key);
			if (!bf || !ef)
				continue;
			for (let i = 0, hole = 0; i < d.n; i++) {
				for (; hole < holes.length && holes[hole].since < d.ts[i]; hole++)
					open[holes[hole].cpu]?.clear(); // what began before it may have ended in it
				if (d.ev[i] !== b && d.ev[i] !== e)
					continue;
				const o = open[d.cpu[i]], what = `${kind} ${d.ev[i] === b ? bf(i) : ef(i)}`;
				if (d.ev[i] === b)
					o.set(what, i);
				else if (o.has(what)) {
					spans[d.cpu[i]].push([d.ts[o.get(what)], d.ts[i], kind, o.get(what)]);
					o.delete(what);
				}
			}
		}
		this.cpus.forEach((c, nr) => c && this.lay(c.irqs, spans[nr]));
	}
	// Interrupts nest in softirqs: the outer one is cut where the inner one lies, and goes on behind it.
	lay(to, nested) {
		const open = []; // those that the next one may lie in, the innermost last
		let at = 0;
		const put = (s, until) => {
			if (until > at)
				to.push(at, until, s[2], s[3]);
			at = Math.max(at, until);
		};
		nested.sort((x, y) => x[0] - y[0] || y[1] - x[1]);
		for (const s of nested) {
			while (open.length && open.at(-1)[1] <= s[0]) {
				const ended = open.pop();
				put(ended, ended[1]);
			}
			if (open.length)
				put(open.at(-1), s[0]);
			at = Math.max(at, s[0]);
			open.push(s);
		}
		for (const s of open.reverse())
			put(s, s[1]);
	}
	// The tasks that a text of the verdict names: NAME/TID.
	named(text) {
		return [...text.matchAll(/\/(\d+)\b/g)].map(m => +m[1]).filter(tid => this.tasks.has(tid));
	}
	// The trigger's task first, then whom the verdict names, from the trigger backwards, then those that ran longest.
	orderTasks() {
		const who = this.data.focus, v = this.data.verdict;
		this.involved = new Set(v ? [...v.chain, ...(v.cause ? [v.cause] : []), v.headline].flatMap(line => this.named(line.text)) : []);
		const rank = new Map([who, ...this.involved].map((tid, i) => [tid, i]).reverse());
		this.rankOf = tid => rank.get(tid) ?? rank.size + 1;
		this.processes = new Map();
		for (const t of this.tasks.values())
			if (t.tid && t.first < Infinity) {
				const pid = t.pid || t.tid, p = this.processes.get(pid) || { pid, threads: [] };
				p.threads.push(t);
				this.processes.set(pid, p);
			}
		for (const p of this.processes.values())
			p.name = (this.tasks.get(p.pid) || p.threads[0]).name || p.threads[0].name;
		this.order = this.sorted("verdict").flatMap(p => p.threads);
	}
	// What a task is sorted by; the least first.
	keyOf(t, sort) {
		return { verdict: this.rankOf(t.tid), ran: -t.ran, waited: -t.waited, blocked: -t.blocked, events: -t.events, name: t.name, number: t.tid, begin: t.first }[sort];
	}
	// Processes, and the threads of each, in an order of SORTS: a process is where the sum of its threads belongs, or else its first one.
	sorted(sort) {
		const sums = ["ran", "waited", "blocked", "events"].includes(sort), less = (x, y) => x < y ? -1 : x > y ? 1 : 0;
		const of = [...this.processes.values()].map(p => {
			const tasks = p.threads.map(t => ({ t, key: this.keyOf(t, sort) }));
			tasks.sort((a, b) => less(a.key, b.key) || b.t.ran - a.t.ran || b.t.events - a.t.events || a.t.tid - b.t.tid);
			const sum = (n, get) => tasks.reduce((s, x) => s + get(x), n);
			return { p, threads: tasks.map(x => x.t), key: sums ? sum(0, x => x.key) : sort === "name" ? p.name : sort === "number" ? p.pid : tasks[0].key,
				 ran: sum(0, x => x.t.ran), rows: sum(0, x => x.t.events) };
		});
		of.sort((a, b) => less(a.key, b.key) || b.ran - a.ran || b.rows - a.rows || a.p.pid - b.p.pid);
		return of.map(({ p, threads }) => ({ ...p, threads }));
	}
	name(tid) {
		const t = this.tasks.get(tid);
		return tid ? `${t && t.name || "?"} ${tid}` : "idle";
	}
}
