// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// query: what is searched for. Words that must all match, or an expression in the part of the language of -f that a page can decide
// (docs/view.md); whatever else an expression has is refused with its name, never answered otherwise than `replay -f` does.

class Refused extends Error {
	constructor(at, why) {
		super(why);
		this.at = at;
	}
}

// Each by its own name only: an object has names that no unit has (`constructor`).
const UNITS = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 6e10, min: 6e10, h: 36e11, d: 864e11, k: 2 ** 10, K: 2 ** 10, KiB: 2 ** 10, M: 2 ** 20, MiB: 2 ** 20,
		G: 2 ** 30, GiB: 2 ** 30, T: 2 ** 40, TiB: 2 ** 40 };
const ONLY_REPLAY = "the page does not know it: replay -f does";
const TEXT_TYPES = ["comm", "str", "text8"];
// Names beside an event's fields: what the page tells of each row, and what replay alone does; of the last ones if no event has a field of that name.
const OF_ROWS = ["ts", "cpu", "tid", "pid", "comm", "latency", "queued"];
const OF_REPLAY = ["cgroup", "tier", "offcpu", "blocked", "oncpu", "waker"];
const OF_REPLAY_OR_FIELD = ["container", "container_id", "pod", "namespace", "image", "unit"];

// ---- from text to tree: { op, at, a, b, list }, leaves { op: "num" | "text" | "name", at, v, index } ----

class Parser {
	constructor(text) {
		this.text = text;
		this.at = 0;
		this.depth = 0;
		this.next();
	}
	fail(why, at = this.tok.at) {
		throw new Refused(at, why);
	}
	next() {
		const m = /\s*(?:(\d[\w.]*)|("(?:[^"\\]|\\.)*")|(SIGRTM(?:IN|AX)[+-]\d+|[A-Za-z_]\w*)|(==|!=|<=|>=|&&|\|\||!~|=~|<<|>>|.))?/sy;
		m.lastIndex = this.at;
		const got = m.exec(this.text), [all, num, text, name, punct] = got, at = this.at + all.length - (num || text || name || punct || "").length;
		this.at += all.length;
		this.tok = num ? { num, at } : text ? { text, at } : name ? { name, at } : punct ? { punct, at } : { end: true, at };
		if (punct === "\"")
			this.fail("this text has no closing \"");
		if (punct && !/^(==|!=|<=?|>=?|&&|\|\||!~|~|!|-|\(|\)|\[|\]|,)$/.test(punct))
			this.fail(punct === "=~" || punct === "/" ? `${punct}: regular expressions: ${ONLY_REPLAY}; ~ "GLOB" is here, too` : punct === "=" ? "use == to compare"
				: /^(\||\^|&|<<|>>|\+|\*|%)$/.test(punct) ? `${punct}: arithmetic: ${ONLY_REPLAY}; has tells bits` : `${punct} has no meaning here`);
	}
	is(punct) {
		return this.tok.punct === punct;
	}
	expect(punct, why) {
		if (!this.is(punct))
			this.fail(why || `a ${punct} is missing`);
		this.next();
	}
	all() {
		const e = this.or();
		if (!this.tok.end)
			this.fail(this.is("-") ? `-: arithmetic: ${ONLY_REPLAY}` : "an operator is missing here");
		return e;
	}
	or() {
		let a = this.and();
		while (this.is("||")) {
			const at = this.tok.at;
			this.next();
			a = { op: "||", at, a, b: this.and() };
		}
		return a;
	}
	and() {
		let a = this.compare();
		while (this.is("&&")) {
			const at = this.tok.at;
			this.next();
			a = { op: "&&", at, a, b: this.compare() };
		}
		return a;
	}
	operator() {
		const { punct, name } = this.tok;
		if (["==", "!=", "<", "<=", ">", ">=", "~", "!~"].includes(punct))
			return punct;
		if (name === "not" && /^\s*in\b/.test(this.text.slice(this.at))) {
			this.next();
			return "not in";
		}
		return name === "in" || name === "has" ? name : null;
	}
	compare() {
		const a = this.unary(), at = this.tok.at, op = this.operator();
		if (!op)
			return a;
		this.next();
		if (op === "in" || op === "not in") {
			const list = [];
			this.expect("(", "in needs ( and a list");
			do {
				if (list.length)
					this.next();
				list.push(this.unary());
			} while (this.is(","));
			this.expect(")");
			return this.unchained({ op, at, a, list });
		}
		const pattern = op === "~" || op === "!~";
		if (pattern && !this.tok.text)
			this.fail(`${op} needs a pattern in double quotes`);
		return this.unchained({ op, at, a, b: this.unary(pattern) });
	}
	unchained(e) {
		if (this.operator())
			this.fail("comparisons cannot be chained");
		return e;
	}
	unary(pattern) {
		const { punct, num, text, name, at } = this.tok;
		if (++this.depth > 99)
			this.fail("too deep: use fewer brackets");
		let e;
		if (punct === "(") {
			this.next();
			e = this.or();
			this.expect(")");
		} else if (punct === "!" || punct === "-") {
			this.next();
			e = { op: punct, at, a: this.unary() };
			if (punct === "-" && !["num", "name"].includes(e.a.op))
				this.fail(`-: arithmetic: ${ONLY_REPLAY}`, at);
		} else if (punct === "~") {
			this.fail(`~: arithmetic: ${ONLY_REPLAY}; has tells bits`);
		} else if (num || text || name) {
			e = num ? { op: "num", at, v: this.number(num) } : text ? { op: "text", at, v: this.string(text, pattern) } : { op: "name", at, v: name };
			this.next();
			if (name && this.is("[")) {
				this.next();
				if (!/^\d+$/.test(this.tok.num || ""))
					this.fail("an index is a number");
				e.index = +this.tok.num;
				this.next();
				this.expect("]");
			}
		} else {
			this.fail("a name, a number or a \"text\" is missing here");
		}
		this.depth--;
		return e;
	}
	number(s) {
		const m = /^(0x[0-9a-fA-F]+|0[0-7]+|\d+)(\.\d+)?([A-Za-z]*)$/.exec(s);
		if (!m || (/^0\d/.test(s) && !/^0[0-7]+$/.test(m[1])))
			this.fail(`${s} is no number`);
		const unit = m[3] ? Object.hasOwn(UNITS, m[3]) && UNITS[m[3]] : m[2] ? this.fail("only a duration or a size can have a fraction: 1.5ms, 1.5k") : 1;
		if (!unit)
			this.fail(`${m[3]} is no unit`);
		const whole = BigInt(/^0[0-7]+$/.test(m[1]) ? "0o" + m[1].slice(1) : m[1]) * BigInt(unit), part = m[2] ? m[2].slice(1, 16) : "";
		return whole + (part ? BigInt(part) * BigInt(unit) / 10n ** BigInt(part.length) : 0n);
	}
	string(s, pattern) {
		return s.slice(1, -1).replace(/\\(x[0-9a-fA-F]{2}|.)/gs, (all, c) => {
			if (c.length === 3)
				return parseInt(c.slice(1), 16) < 128 ? String.fromCharCode(parseInt(c.slice(1), 16)) : this.fail(`${all}: ${ONLY_REPLAY}`);
			const at = "\"\\nt".indexOf(c);
			return at >= 0 ? "\"\\\n\t"[at] : pattern ? all : this.fail("a text knows \\\" \\\\ \\n \\t \\xNN: write \\\\ for a backslash");
		});
	}
}

// A glob as a regular expression.
const SPECIAL = /[\\^$.|*+?(){}[\]\/]/;

function globOf(pattern, at) {
	let out = "";
	for (let i = 0; i < pattern.length; i++) {
		const c = pattern[i], set = c === "[" && /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(i));
		if (c === "[" && !set)
			throw new Refused(at, "this pattern is wrong: a [ has no ]: write [[] for the character");
		if (set) {
			out += `[${set[1] ? "^" : ""}${set[2].replace(/[\\\]\[^]/g, "\\$&")}]`;
			i += set[0].length - 1;
		} else if (c === "\\" && i + 1 < pattern.length) {
			out += pattern[++i].replace(SPECIAL, "\\$&");
		} else {
			out += c === "*" ? ".*" : c === "?" ? "." : c.replace(SPECIAL, "\\$&");
		}
	}
	try {
		return new RegExp(`^${out}$`, "s");
	} catch {
		throw new Refused(at, "this pattern is wrong");
	}
}

// ---- what a tree means for each event ----

// A tree for one event: { c } if it is the same for all rows, else { f(row, number among those of its event in the piece) }. Numbers, texts,
// truths as true and false, undefined where there is no value.
class Meaning {
	constructor(data, model) {
		Object.assign(this, { data, model });
		this.bindings = []; // what takes its column anew in each piece
		this.nameVs = new Map(data.names.map(([style, abi, v, name]) => [`${style} ${abi} ${name}`, v]));
	}
	// Whole expression: of each event a truth or a function.
	of(tree) {
		this.check(tree);
		return this.data.schemaOf.map(ev => this.truth(tree, ev));
	}
	isField(name) {
		return this.data.schemaOf.some(ev => ev.fields.some(f => f.name === name));
	}
	isValue(n) {
		return n.op === "name" && (OF_ROWS.includes(n.v) || this.isField(n.v));
	}
	isReplays(name) {
		return OF_REPLAY.includes(name) || (OF_REPLAY_OR_FIELD.includes(name) && !this.isField(name));
	}
	fieldsOf(n) {
		return this.data.schemaOf.flatMap(ev => ev.fields.filter(f => f.name === n.v));
	}
	isText(n) {
		return n.op === "text" || (n.op === "name" && (n.v === "comm" || this.fieldsOf(n).some(f => TEXT_TYPES.includes(f.type))));
	}
	// Everything that is refused is refused here, before a row is looked at.
	check(n) {
		if (n.op === "name")
			return this.checkName(n);
		if (n.op === "num")
			return;
		if (n.op === "text")
			throw new Refused(n.at, "a text alone is no condition");
		if (["&&", "||", "!", "-"].includes(n.op)) {
			this.check(n.a);
			if (n.b)
				this.check(n.b);
			return;
		}
		this.checkCompare(n, n.list || [n.b]);
	}
	checkName(n) {
		if (this.isReplays(n.v))
			throw new Refused(n.at, `${n.v}: ${ONLY_REPLAY}`);
		if (!this.isValue(n))
			throw new Refused(n.at, n.v === "event" ? "event is compared with a name: event == sched_switch" : `${n.v}: no event of this page has a field of that name`);
		const arrays = this.fieldsOf(n).filter(f => f.type === "u64s").length;
		if (arrays && n.index === undefined)
			throw new Refused(n.at, `${n.v} is an array: take one item, as ${n.v}[0]`);
		if (!arrays && n.index !== undefined)
			throw new Refused(n.at, `${n.v} is no array: leave [${n.index}] out`);
	}
	checkCompare(n, right) {
		const order = ["<", "<=", ">", ">="].includes(n.op), pattern = n.op === "~" || n.op === "!~";
		if (n.a.op === "name" && n.a.v === "event") {
			if (order || n.op === "has")
				throw new Refused(n.at, "events have no order and no parts: compare with == != ~ !~ in");
			for (const b of right)
				if (!pattern && !(["name", "text"].includes(b.op) && Object.hasOwn(this.data.nrOf, b.v)))
					throw new Refused(b.at, `no event of this page is called ${b.v}`);
			return;
		}
		this.check(n.a);
		for (const b of right) {
			const neg = b.op === "-" ? b.a : b;
			if (!pattern && neg.op === "name" && !this.isValue(neg) && neg.v !== "event" && !this.isReplays(neg.v)) {
				if (n.a.op !== "name" || !this.symbols(n.a, b).size)
					throw new Refused(b.at, this.isText(n.a) ? `a text needs quotes: "${neg.v}"` : `${neg.v}: no ${n.a.v || "value"} of this page is called so`);
				if (["!=", "not in"].includes(n.op) && this.symbols(n.a, b).size === 1 && this.hasBothAbis(n.a))
					throw new Refused(b.at, `${neg.v}, of calls of 32 and of 64 bits: ${ONLY_REPLAY}`);
			} else if (b.op !== "text") {
				this.check(b);
			}
			if (pattern ? !this.isText(n.a) && !this.isNamed(n.a) : this.isText(n.a) !== this.isText(b))
				throw new Refused(n.at, pattern ? "only a text can match a pattern, or a number that is shown by name" : "a text cannot be compared with a number");
			if (order && this.isText(n.a))
				throw new Refused(n.at, "texts have no order: compare with == != ~ !~ in");
		}
	}
	isNamed(n) {
		if (n.op !== "name")
			return false;
		if (this.fieldsOf(n).some(f => f.style === "EXIT"))
			throw new Refused(n.at, `${n.v} by its name: ${ONLY_REPLAY}`);
		return this.fieldsOf(n).some(f => this.data.names.some(([style]) => style === f.style));
	}
	// Whose name a word is in calls of an ABI that did not happen, the page does not know.
	hasBothAbis(n) {
		return this.fieldsOf(n).some(f => f.style === "SYSCALL" && [0, 1].every(abi => this.data.names.some(([style, of]) => style === f.style && of === abi)));
	}
	// The numbers that a word is as a value of a field, by "event's field's style, ABI".
	symbols(field, n) {
		const word = n.op === "-" ? `-${n.a.v}` : n.v, out = new Map();
		for (const f of this.fieldsOf(field))
			for (const abi of [0, 1])
				for (const name of [word, `-${word}`, word.replace(/^SYS_/, "")]) {
					const v = this.nameVs.get(`${f.style} ${abi} ${name}`);
					if (v !== undefined && (name !== `-${word}` || f.style === "RET"))
						out.set(`${f.style} ${abi}`, v);
				}
		return out;
	}
	// A column that changes with each piece.
	column(nr, f, get) {
		const b = { nr, f, col: null };
		this.bindings.push(b);
		return { f: (i, k) => get(b.col[k], i) };
	}
	bind(piece) {
		for (const b of this.bindings)
			b.col = piece.of.has(b.nr) ? piece.column(b.nr, b.f) : null;
	}
	field(n, ev) {
		const nr = ev.fields.findIndex(f => f.name === n.v), f = ev.fields[nr], texts = this.data.texts;
		if (!f)
			return { c: undefined };
		if (f.type === "comm") // nobody's name is empty: it is not known
			return this.column(ev.nr, nr, v => texts[v] || undefined);
		if (TEXT_TYPES.includes(f.type))
			return this.column(ev.nr, nr, v => texts[v]);
		if (f.type === "u64s")
			return this.column(ev.nr, nr, v => n.index < v.length ? (f.signed ? withSign : unsigned)(v[n.index]) : undefined);
		return f.type === "u64" ? this.column(ev.nr, nr, unsigned) : f.type === "s64" ? this.column(ev.nr, nr, withSign)
			: this.column(ev.nr, nr, v => v);
	}
	value(n, ev) {
		const d = this.data;
		if (n.op === "num" || n.op === "text")
			return { c: n.op === "num" && n.v <= Number.MAX_SAFE_INTEGER ? Number(n.v) : n.v };
		if (n.op === "-") {
			const a = this.value(n.a, ev);
			return "c" in a ? { c: a.c === undefined ? a.c : -a.c } : { f: (i, k) => { const v = a.f(i, k); return v === undefined ? v : -v; } };
		}
		if (n.op !== "name") {
			const t = this.truth(n, ev);
			return typeof t === "boolean" ? { c: +t } : { f: (i, k) => +t(i, k) };
		}
		if (n.v === "queued" && ev.fields.some(f => f.name === "queued"))
			return this.field(n, ev);
		const origin = BigInt(d.origin);
		const own = { __proto__: null, ts: i => origin + BigInt(d.ts[i]), cpu: i => d.cpu[i], tid: i => d.tid[i], comm: i => d.texts[d.comm[i]] || undefined,
			      pid: i => this.pids()[i] < 0 ? undefined : this.pids()[i], latency: i => this.took()[i] || undefined, queued: i => this.queued()[i] || undefined }[n.v];
		return own ? { f: own } : this.field(n, ev);
	}
	// The process of a row's task; a number of a task may have been that of another process's before.
	pids() {
		if (this.pidOf)
			return this.pidOf;
		const d = this.data, now = new Map(), [row, pid] = d.index.pids, out = new Int32Array(d.n).fill(-1);
		for (let i = 0, k = 0; i < d.n; i++) {
			if (row[k] === i)
				now.set(d.tid[i], pid[k++]);
			out[i] = now.get(d.tid[i]) ?? -1;
		}
		return this.pidOf = out;
	}
	// What each row ends took, and how long a switch's next task was runnable; 0: unknown, or it ends nothing.
	took() {
		const { calls, took } = this.data.spans;
		return this.tookOf ||= spread(this.data.n, calls, took);
	}
	queued() {
		return this.queuedOf ||= spread(this.data.n, this.data.spans.waits);
	}
	truth(n, ev) {
		const truths = () => [this.truth(n.a, ev), this.truth(n.b, ev)];
		if (n.op === "&&" || n.op === "||") {
			const [a, b] = truths(), strong = n.op === "||";
			if (a === strong || b === strong)
				return strong;
			if (typeof a === "boolean")
				return b;
			return typeof b === "boolean" ? a : strong ? (i, k) => a(i, k) || b(i, k) : (i, k) => a(i, k) && b(i, k);
		}
		if (n.op === "!") {
			const a = this.truth(n.a, ev);
			return typeof a === "boolean" ? !a : (i, k) => !a(i, k);
		}
		if (["num", "name", "text", "-"].includes(n.op)) {
			const a = this.value(n, ev), is = v => v !== undefined && v != 0;
			return "c" in a ? is(a.c) : (i, k) => is(a.f(i, k));
		}
		return n.a.op === "name" && n.a.v === "event" ? this.ofEvent(n, ev) : this.compared(n, ev);
	}
	ofEvent(n, ev) {
		if (n.op === "~" || n.op === "!~")
			return globOf(n.b.v, n.b.at).test(ev.name) === (n.op === "~");
		return (n.list || [n.b]).some(b => b.v === ev.name) === (n.op === "==" || n.op === "in");
	}
	compared(n, ev) {
		const a = this.value(n.a, ev);
		if ("c" in a && a.c === undefined)
			return false;
		const test = this.tests(n, ev);
		if (typeof test === "boolean")
			return test;
		return "c" in a ? (i, k) => test(a.c, i, k) : (i, k) => {
			const v = a.f(i, k);
			return v !== undefined && test(v, i, k);
		};
	}
	// Of the left side's value, which is one.
	tests(n, ev) {
		if (n.op === "~" || n.op === "!~")
			return this.matches(n, ev);
		const right = (n.list || [n.b]).map(b => this.right(n, b, ev)), [b] = right;
		if (n.op === "in")
			return (v, i, k) => right.some(r => r(i, k).some(x => x == v));
		if (n.op === "not in") // each must be known
			return (v, i, k) => right.every(r => r(i, k).length && r(i, k).every(x => x != v));
		const every = fn => (v, i, k) => {
			const xs = b(i, k);
			return xs.length > 0 && xs.every(x => fn(v, x));
		};
		return { "==": (v, i, k) => b(i, k).some(x => x == v), "!=": every((v, x) => v != x), "<": every((v, x) => v < x), "<=": every((v, x) => v <= x),
			 ">": every((v, x) => v > x), ">=": every((v, x) => v >= x),
			 "has": every((v, x) => typeof v === "string" ? v.includes(x) : x != 0 && (BigInt(v) & BigInt(x)) === BigInt(x)) }[n.op];
	}
	// The right side as a list: none, it is not known; a negative argument of a call is two, as a register may have it in either form.
	right(n, b, ev) {
		const word = b.op === "-" ? b.a : b;
		if (word.op === "name" && !this.isValue(word)) {
			const f = ev.fields.find(g => g.name === n.a.v), of = this.symbols(n.a, b);
			if (b.op === "-" || of.has("SIG 0")) { // a number, whatever it is compared with
				const any = [[...of.values()][0]];
				return () => any;
			}
			const [x, y] = [0, 1].map(abi => f && of.has(`${f.style} ${abi}`) ? [of.get(`${f.style} ${abi}`)] : []);
			const abi = f && ev.fields.some(g => g.name === "abi") ? this.field({ v: "abi" }, ev) : null;
			const [of64, of32] = f && f.style === "SYSCALL" ? [x, y] : [x.length ? x : y, y.length ? y : x];
			return abi ? (i, k) => abi.f(i, k) ? of32 : of64 : () => of64; // events without an ABI of their own are of 64 bits
		}
		const v = this.value(b, ev);
		if (!("c" in v))
			return (i, k) => {
				const x = v.f(i, k);
				return x === undefined ? [] : [x];
			};
		const forms = v.c === undefined ? [] : n.a.index !== undefined && ["==", "!=", "in", "not in"].includes(n.op) && v.c < 0 && v.c >= -(2 ** 31)
			? [BigInt.asUintN(32, BigInt(v.c)), BigInt.asUintN(64, BigInt(v.c))] : [v.c];
		return () => forms;
	}
	matches(n, ev) {
		const glob = globOf(n.b.v, n.b.at), wanted = n.op === "~", known = new Map(), f = ev.fields.find(g => g.name === n.a.v);
		const isText = n.a.v === "comm" || (f && TEXT_TYPES.includes(f.type));
		const abi = !isText && ev.fields.some(g => g.name === "abi") ? this.field({ v: "abi" }, ev) : null;
		const nameOf = (v, i, k) => isText ? v : this.data.nameOf.get(`${f.style} ${abi ? abi.f(i, k) : 0} ${v}`);
		return (v, i, k) => {
			const name = nameOf(v, i, k);
			if (name === undefined)
				return false;
			let yes = known.get(name);
			if (yes === undefined)
				known.set(name, yes = glob.test(name));
			return yes === wanted;
		};
	}
}

function unsigned(v) {
	return typeof v === "bigint" ? v : v < 0 ? BigInt.asUintN(64, BigInt(v)) : v;
}

// Lists of [rows, ns] as ns of each row.
function spread(n, ...lists) {
	const out = new Float64Array(n);
	for (const [row, ns] of lists)
		for (let k = 0; k < row.length; k++)
			out[row[k]] = ns[k];
	return out;
}

// A word's rows are a byte each, 1 for a match.
class Search {
	constructor(data, model) {
		Object.assign(this, { data, model });
	}
	static isExpression(text) {
		return /[=<>~&|!"()[\]]|^\s*\w+\s+(not\s+)?(in|has)\b/.test(text);
	}
	// Rows of an expression; a Refused is thrown if it has what the page cannot decide.
	ofExpression(text) {
		const d = this.data, hit = new Uint8Array(d.n), meaning = new Meaning(d, this.model), of = meaning.of(new Parser(text).all());
		const always = of.map(t => t === true), never = of.map(t => typeof t !== "function");
		d.pieces.forEach((p, nth) => {
			meaning.bind(p);
			for (let i = d.starts[nth], to = i + p.rows; i < to; i++) {
				const ev = d.ev[i];
				hit[i] = never[ev] ? always[ev] : of[ev](i, d.k[i]);
			}
		});
		return hit;
	}
	// Of words: a number is a tid or pid, pid:N tid:N cpu:N just that; else part of a name, an event, a text, the name of a system call,
	// signal or error.
	rowsOf(word) {
		const d = this.data, hit = new Uint8Array(d.n), m = /^(pid|tid|cpu):(\d+)$/.exec(word);
		if (m && m[1] !== "pid")
			d[m[1]].forEach((v, i) => { hit[i] = v === +m[2]; });
		else if (m || /^\d+$/.test(word))
			this.ofPid(hit, +(m ? m[2] : word));
		else
			this.ofText(hit, word.toLowerCase());
		return hit;
	}
	ofPid(hit, pid) {
		const tids = new Set([...this.model.tasks.values()].filter(t => t.pid === pid || t.tid === pid).map(t => t.tid)).add(pid);
		this.data.tid.forEach((tid, i) => { hit[i] = tids.has(tid); });
	}
	ofText(hit, word) {
		const d = this.data, texts = new Uint8Array(d.texts.length), events = new Uint8Array(256);
		d.texts.forEach((t, nr) => { texts[nr] = t.toLowerCase().includes(word); });
		d.schemaOf.forEach(ev => { events[ev.nr] = ev.name.includes(word); });
		for (let i = 0; i < d.n; i++)
			hit[i] = texts[d.comm[i]] | events[d.ev[i]];
		const named = new Set(d.names.filter(([, , , name]) => name.toLowerCase().includes(word)).map(([style, abi, v]) => `${style} ${abi} ${v}`));
		const styles = new Set([...named].map(n => n.split(" ")[0]));
		const texty = f => ["comm", "str", "text8"].includes(f.type) && texts.includes(1);
		d.schemaOf.forEach(ev => ev.fields.forEach(f => {
			if (texty(f))
				d.each(ev.name, [f.name], (i, v) => { hit[i] |= texts[v]; });
			else if (styles.has(f.style) && f.type !== "u64s")
				this.ofNames(hit, ev, f, named);
		}));
	}
	// A number's answer is asked for once.
	ofNames(hit, ev, f, named) {
		const has32 = ev.fields.some(g => g.name === "abi"), known = [new Map(), new Map()];
		this.data.each(ev.name, has32 ? [f.name, "abi"] : [f.name], (i, v, abi = 0) => {
			let yes = known[abi & 1].get(v);
			if (yes === undefined)
				known[abi & 1].set(v, yes = named.has(`${f.style} ${abi} ${v}`));
			hit[i] |= yes;
		});
	}
	find(text) {
		if (Search.isExpression(text))
			return { ...this.rowsIn(this.ofExpression(text)), at: -1 };
		const words = text.trim().split(/\s+/).filter(w => w);
		if (!words.length)
			return null;
		const all = this.rowsOf(words[0]), n = this.data.n;
		for (const word of words.slice(1)) {
			const more = this.rowsOf(word);
			for (let i = 0; i < n; i++)
				all[i] &= more[i];
		}
		return { ...this.rowsIn(all), at: -1 };
	}
	rowsIn(hit) {
		let cnt = 0;
		for (let i = 0; i < hit.length; i++)
			cnt += hit[i];
		const rows = new Uint32Array(cnt), ts = new Float64Array(cnt);
		for (let i = 0, k = 0; k < cnt; i++)
			if (hit[i]) {
				rows[k] = i;
				ts[k++] = this.data.ts[i];
			}
		return { rows, ts };
	}
}
