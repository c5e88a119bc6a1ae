// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// model: what events say of CPUs and tasks: who ran when, who waited for whom, which calls took how long.

const STATE = { UNKNOWN: 0, RUNS: 1, WAITS: 2, SLEEPS: 3, BLOCKED: 4, OTHER: 5 };
const DEAD = 16 | 32; // of prev_state: X, Z
const STATE_NAME = ["unknown", "running", "runnable", "sleeping", "blocked (D)", "stopped"];

// An array of numbers that grows.
class Nums {
	constructor(Type = Float64Array) {
		this.a = new Type(64);
		this.n = 0;
	}
	push(v) {
		if (this.n === this.a.length) {
			const a = new this.a.constructor(2 * this.n);
			a.set(this.a);
			this.a = a;
		}
		this.a[this.n++] = v;
	}
	last() {
		return this.a[this.n - 1];
	}
}

// Spans: [at, until) of a kind, ascending, not overlapping. row: the event that began it.
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

function stateOf(prev_state) {
	if (prev_state === 0 || prev_state & 256)
		return STATE.WAITS;
	if (prev_state & 2)
		return STATE.BLOCKED;
	return prev_state & 1 ? STATE.SLEEPS : STATE.OTHER;
}

class Model {
	constructor(data) {
		this.data = data;
		this.tasks = new Map();
		this.cpus = [];
		this.waits = { at: new Nums(), ns: new Nums(), tid: new Nums(Uint32Array) };
		this.calls = { at: new Nums(), ns: new Nums(), id: new Nums(Int32Array), abi: new Nums(Uint8Array), ret: new Nums(), tid: new Nums(Uint32Array), row: new Nums(Int32Array) };
		this.wakes = { at: new Nums(), from: new Nums(Uint32Array), to: new Nums(Uint32Array) };
		this.samples = { at: new Nums(), row: new Nums(Int32Array) };
		const rings = data.rings.filter(r => r.tier === 0);
		this.begin = Math.max(0, ...rings.map(r => r.begin)); // all CPUs' histories have begun, and may have holes
		this.horizon = Math.max(0, ...rings.map(r => r.horizon)); // behind the holes
		this.holes = [...data.holes].sort((a, b) => a.since - b.since);
		this.rowsOf();
		this.schedule();
		this.callsOf();
		this.interruptsOf();
		data.each("cpu_sample", ["ip"], i => {
			this.samples.at.push(data.ts[i]);
			this.samples.row.push(i);
		});
		this.orderTasks();
		this.trigger = data.trigger >= 0 && data.trigger <= data.span ? data.trigger : -1; // in the window, else -1
	}
	task(tid) {
		let t = this.tasks.get(tid);
		if (!t) {
			t = { tid, pid: 0, comm: 0, name: "", states: new Spans(), calls: new Spans(), rows: new Nums(Int32Array), ran: 0, ended: Infinity,
			      state: STATE.UNKNOWN, since: 0, sinceRow: -1, cpu: -1 };
			this.tasks.set(tid, t);
		}
		return t;
	}
	cpuOf(nr) {
		return this.cpus[nr] ||= { nr, runs: new Spans(), irqs: new Spans(), rows: new Nums(Int32Array), ts: new Nums(), at: -1, lost: false, begin: 0 };
	}
	rowsOf() {
		const d = this.data;
		for (const [tid, pid, comm] of d.tasks)
			if (!this.tasks.has(tid) || comm)
				Object.assign(this.task(tid), { pid, name: comm });
		for (const r of d.rings)
			this.cpuOf(r.cpu).begin = Math.max(this.cpuOf(r.cpu).begin, r.tier ? 0 : r.begin);
		for (let i = 0; i < d.n; i++) {
			const c = this.cpuOf(d.cpu[i]);
			c.rows.push(i);
			c.ts.push(d.ts[i]);
			if (d.tid[i]) {
				const t = this.task(d.tid[i]);
				t.rows.push(i);
				if (d.comm[i])
					t.name = d.texts[d.comm[i]];
			}
		}
	}
	change(t, at, state, row) {
		if (at > t.since && t.state !== STATE.UNKNOWN)
			t.states.push(t.since, at, t.state, t.sinceRow);
		if (t.state === STATE.RUNS)
			t.ran += at - t.since;
		t.state = state;
		t.since = at;
		t.sinceRow = row;
	}
	schedule() {
		const d = this.data, next = this.field2("sched_switch", "next_pid"), state = this.field2("sched_switch", "prev_state");
		const target = this.field2("sched_waking", "target_pid"), born = this.field2("sched_wakeup_new", "target_pid");
		if (!next)
			return;
		const nrs = d.nrOf;
		// A task without a CPU may get any: what it does is known only from here on, where all CPUs' events are there.
		this.blind = this.begin;
		let hole = 0;
		const loseUntil = at => {
			for (; hole < this.holes.length && this.holes[hole].since < at; hole++)
				this.loses(this.holes[hole]);
		};
		for (let i = 0; i < d.n; i++) {
			const nr = d.ev[i];
			loseUntil(d.ts[i]);
			if (nr === nrs.sched_switch)
				this.switched(i, next(i), state(i));
			else if (nr === nrs.sched_waking && target)
				this.woken(i, target(i));
			else if (nr === nrs.sched_wakeup_new && born)
				this.woken(i, born(i));
		}
		loseUntil(d.span);
		for (const t of this.tasks.values())
			this.change(t, d.span, STATE.UNKNOWN, -1);
		for (const c of this.cpus)
			if (c && c.at >= 0 && !c.lost)
				c.runs.push(c.at, d.span, c.tid, c.row);
	}
	// Events of a CPU are missing. A task that runs on another CPU does so until that one's events say otherwise.
	loses(hole) {
		const c = this.cpuOf(hole.cpu);
		if (c.at >= 0 && c.at < hole.since && !c.lost)
			c.runs.push(c.at, hole.since, c.tid, c.row);
		c.lost = true;
		for (const t of this.tasks.values())
			if (t.state !== STATE.UNKNOWN && (t.state !== STATE.RUNS || t.cpu === hole.cpu))
				this.change(t, Math.max(hole.since, t.since), STATE.UNKNOWN, -1);
		this.blind = Math.max(this.blind, hole.until);
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
	switched(i, next, prev_state) {
		const d = this.data, at = d.ts[i], c = this.cpuOf(d.cpu[i]), prev = d.tid[i], known = c.at >= 0 || c.lost;
		// who leaves first ran when the CPU's history begins
		const begin = known ? c.at : Math.min(Math.max(c.begin, c.ts.a[0]), at);
		// a switch is missing (the kernel hides some tasks' from tracing): who ran when is not known
		const missing = known && c.tid !== prev;
		if (begin < at && !missing && !c.lost)
			c.runs.push(begin, at, prev, known ? c.row : i);
		if (missing && !c.lost && c.tid && this.task(c.tid).state === STATE.RUNS)
			this.change(this.task(c.tid), c.at, STATE.UNKNOWN, i);
		c.lost = false;
		c.at = at;
		c.tid = next;
		c.row = i;
		if (prev) {
			const t = this.task(prev);
			if (t.state === STATE.UNKNOWN && !known)
				Object.assign(t, { state: STATE.RUNS, since: begin, sinceRow: i, cpu: c.nr });
			this.change(t, at, prev_state & DEAD || at < this.blind ? STATE.UNKNOWN : stateOf(prev_state), i);
			if (prev_state & DEAD)
				t.ended = at;
		}
		if (next) {
			const t = this.task(next);
			if (t.state === STATE.WAITS) {
				this.waits.at.push(at);
				this.waits.ns.push(at - t.since);
				this.waits.tid.push(next);
			}
			this.change(t, at, STATE.RUNS, i);
			t.cpu = c.nr;
		}
	}
	woken(i, target) {
		const d = this.data, t = this.task(target);
		this.wakes.at.push(d.ts[i]);
		this.wakes.from.push(d.tid[i]);
		this.wakes.to.push(target);
		if (d.ts[i] >= this.blind && t.state !== STATE.RUNS && t.state !== STATE.WAITS)
			this.change(t, d.ts[i], STATE.WAITS, i);
	}
	callsOf() {
		const d = this.data, id = this.field2("sys_enter", "id"), left = this.field2("sys_exit", "id"), ret = this.field2("sys_exit", "ret");
		if (!id || !left)
			return;
		const open = new Map(), state = this.field2("sched_switch", "prev_state"), child = this.field2("sched_process_fork", "child_pid"), old = this.field2("sched_process_exec", "old_pid");
		const idOf = d.field(d.nrOf.sys_enter, "id");
		const holes = this.holes;
		// what is open and cannot be told to have ended: it lasts until then at least
		const leave = (tid, until) => {
			const from = open.get(tid);
			open.delete(tid);
			if (from !== undefined && until > d.ts[from])
				this.task(tid).calls.push(d.ts[from], until, d.get(from, "id"), from);
		};
		let unknown = 0; // what began before that may have ended unseen
		for (let i = 0, hole = 0; i < d.n; i++) {
			for (; hole < holes.length && holes[hole].since < d.ts[i]; hole++) {
				unknown = Math.max(unknown, holes[hole].until);
				for (const tid of [...open.keys()])
					leave(tid, holes[hole].since);
			}
			if (d.ev[i] === d.nrOf.sched_switch && state) {
				if (state(i) & DEAD)
					leave(d.tid[i], d.ts[i]);
			} else if (d.ev[i] === d.nrOf.sched_process_fork && child) {
				leave(child(i), d.ts[i]); // a tid is lent: this is another task
			} else if (d.ev[i] === d.nrOf.sched_process_exec && old) {
				if (old(i) !== d.tid[i] && open.has(old(i))) { // a thread gets the first one's tid, and is still in its call
					open.set(d.tid[i], open.get(old(i)));
					open.delete(old(i));
				}
			} else if (d.ev[i] === d.nrOf.sys_enter) {
				open.set(d.tid[i], i);
			} else if (d.ev[i] === d.nrOf.sys_exit) {
				const from = open.get(d.tid[i]);
				open.delete(d.tid[i]);
				if (from === undefined || d.ts[from] < unknown)
					continue;
				const nr = d.get(from, "id"), abi = d.get(from, "abi") || 0;
				const executed = Number(ret(i)) === 0 && /^execve(at)?$/.test(d.word(from, idOf)); // it ends as execve, in the ABI of the program
				if (!executed && (nr !== left(i) || abi !== (d.get(i, "abi") || 0)))
					continue;
				this.task(d.tid[i]).calls.push(d.ts[from], d.ts[i], nr, from);
				const c = this.calls;
				c.at.push(d.ts[i]);
				c.ns.push(d.ts[i] - d.ts[from]);
				c.id.push(nr);
				c.abi.push(abi);
				c.ret.push(Number(ret(i)));
				c.tid.push(d.tid[i]);
				c.row.push(from);
			}
		}
		for (const tid of [...open.keys()])
			leave(tid, d.span);
	}
	interruptsOf() {
		const d = this.data;
		const open = this.cpus.map(() => new Map());
		const kinds = [["irq_handler_entry", "irq_handler_exit", "irq", 0], ["softirq_entry", "softirq_exit", "vec", 1]];
		const spans = this.cpus.map(() => []);
		for (const [begins, ends, key, kind] of kinds) {
			const b = d.nrOf[begins], e = d.nrOf[ends], bf = this.field2(begins, key), ef = this.field2(ends, key);
			if (!bf || !ef)
				continue;
			for (let i = 0; i < d.n; i++) {
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
	orderTasks() {
		const who = this.data.focus;
		this.order = [...this.tasks.values()].filter(t => t.tid && (t.rows.n || t.states.n))
			.sort((a, b) => (b.tid === who) - (a.tid === who) || b.ran - a.ran || b.rows.n - a.rows.n || a.tid - b.tid);
	}
	name(tid) {
		const t = this.tasks.get(tid);
		return tid ? `${t && t.name || "?"} ${tid}` : "idle";
	}
}
