// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// data: the snapshot as columns. Pieces are those of user/show/export/page_columns.h.
//
//	data.ts[i] data.ev[i] data.cpu[i] data.tid[i] data.comm[i]	each event: ns since the window's begin, numbers
//	data.get(i, "field")						any other value of it, decoded when it is asked for
//
// What is read is all of it (data.whole), or some tiles of it (user/show/export/page_index.h): rows are numbered from data.base of the page's
// on then, and only what lies between data.have[0] and data.have[1] is known.

const DRAW_MS = 50; // while it reads, it lets the browser draw that often
const AHEAD = 16;   // pieces that are asked for before they are needed: a worker's come from the page
const KEEP_SZ = 128 << 20; // bytes of fields that are kept decoded
const VIEW_SZ = 112;	   // a list among the values of a field, beside its numbers: what browsers take for it

// What a column has of a stored field: numbers, arrays of them ("u64s"), or texts.
function typeOf(word) {
	const [, type, isArray] = /^(\w+)(?::[^[]*)?(\[)?/.exec(word);
	return type === "data" || (isArray && type === "char") ? "str" : isArray ? "u64s" : type;
}

// Has an array elements with a sign?
function isSigned(word) {
	return /^s\d+\b.*\[/.test(word);
}

function parseSchema(text) {
	const events = [];
	let ev = null;
	for (const line of text.split("\n")) {
		const w = line.split(" ");
		if (w[0] === "event") {
			ev = { nr: +w[1], name: w[2], tier: w[3], group: w[4], doc: w.slice(5).join(" "), fields: [] };
			events[ev.nr] = ev;
		} else if (w[0] === "flags") {
			ev.fields.push({ name: w[1], style: w[2], type: "u8", doc: w.slice(3).join(" ") });
		} else if (w[0] === "field") {
			ev.fields.push({ type: typeOf(w[1]), signed: isSigned(w[1]), name: w[2], style: w[3], hidden: w[1] === "data" || /LOC$/.test(w[3]), doc: w.slice(4).join(" ") });
		} else if (w[0] === "derived") {
			const [rule, elem] = w[2].split(":"), array = `${elem || "char"}[]`, type = rule === "LOC" ? typeOf(array) : { COMM: "comm", STACK: "u64s", TID: "s32" }[rule] || "s64";
			ev.fields.push({ name: w[1], rule, from: w[3], type, signed: isSigned(array), style: rule === "TID" ? "TID" : "TEXT", doc: w.slice(4).join(" ") });
		}
	}
	return events;
}

// Uint8Array.fromBase64 is of 2025; without it, a function for each byte would take ten times as long as this.
function unbase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const plain = atob(text), packed = new Uint8Array(plain.length);
	for (let i = 0; i < plain.length; i++)
		packed[i] = plain.charCodeAt(i);
	return packed;
}

// What a browser says of a bad piece is not for readers: "Failed to fetch".
async function inflate(key, text) {
	try {
		const stream = new Blob([unbase64(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch (cause) {
		throw new Error(`this file is damaged, or memory is short: ${key} cannot be unpacked`, { cause });
	}
}

// The pieces [a, b) of a kind, one after the other.
async function* inflated(kind, a, b, texts) {
	const asked = [], key = nr => `${kind} ${nr}`;
	for (let nr = a; nr < b; nr++) {
		while (asked.length < AHEAD && nr + asked.length < b)
			asked.push(texts.text(key(nr + asked.length)));
		yield await inflate(key(nr), await asked.shift());
	}
}

// A varint of more than four bytes, of which low is what the first four have: more than integers hold. [value, how many bytes more].
function longVarint(bytes, at, low) {
	let v = low, scale = 2 ** 28, b, n = 0;
	do {
		b = bytes[at + n++];
		v += (b & 0x7f) * scale;
		scale *= 128;
	} while (b & 0x80);
	return [v % 2 ? -(v + 1) / 2 : v / 2, n];
}

// A column's numbers; those that a double cannot hold are BigInts. Most differ from the one before by what one or two bytes hold.
function decodeColumn(bytes, cnt) {
	if (bytes[0] === 1) {
		const wide = new BigUint64Array(cnt);
		const view = new DataView(bytes.buffer, bytes.byteOffset + 5);
		for (let i = 0; i < cnt; i++)
			wide[i] = view.getBigUint64(8 * i, true);
		return wide;
	}
	const out = new Float64Array(cnt);
	let at = 5, last = 0;
	for (let i = 0; i < cnt; i++) {
		let b = bytes[at++], v = b & 0x7f, shift = 7;
		while (b & 0x80 && shift < 28) {
			b = bytes[at++];
			v |= (b & 0x7f) << shift;
			shift += 7;
		}
		if (b & 0x80) {
			const [far, n] = longVarint(bytes, at, v);
			at += n;
			last += far;
		} else {
			last += v >>> 1 ^ -(v & 1);
		}
		out[i] = last;
	}
	return out;
}

// The same as doubles: times and lengths of more than 2^53 ns are rounded, rows and numbers of tasks are below.
function decodeDoubles(bytes, cnt) {
	const col = decodeColumn(bytes, cnt);
	return col instanceof BigUint64Array ? Float64Array.from(col, v => Number(BigInt.asIntN(64, v))) : col;
}

class Columns {
	constructor(bytes) {
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.bytes = bytes;
		this.at = 0;
	}
	u32() {
		this.at += 4;
		return this.view.getUint32(this.at - 4, true);
	}
	skip() {
		const from = this.at;
		this.at += 5 + this.view.getUint32(this.at + 1, true);
		return this.bytes.subarray(from, this.at);
	}
	take(cnt, number) {
		return Array.from({ length: number }, () => decodeDoubles(this.skip(), cnt));
	}
}

// Who had each CPU, what each task was doing in a tile: user/show/export/page_spans.h. Of each CPU and task lists of [begin, length, ...]
// columns; calls and waits that ended, as columns.
function parseSpans(bytes) {
	const c = new Columns(bytes), tile = c.u32(), cpuCnt = c.u32(), taskCnt = c.u32(), callCnt = c.u32(), waitCnt = c.u32(), tookCnt = c.u32(), sum = a => a.reduce((x, y) => x + y, 0);
	const lists = (counts, number) => {
		const cols = c.take(sum(counts), number);
		let at = 0;
		return Array.from(counts, n => {
			at += n;
			return cols.map(col => col.subarray(at - n, at));
		});
	};
	const [nr, runCnt] = c.take(cpuCnt, 2), runs = lists(runCnt, 4);
	const [tid, stateCnts, callCnts] = c.take(taskCnt, 3), states = lists(stateCnts, 4), calls = lists(callCnts, 3);
	return {
		tile,
		runs: runs.map((cols, i) => [nr[i], cols]),
		states: states.map((cols, i) => [tid[i], cols]),
		taskCalls: calls.map((cols, i) => [tid[i], cols]),
		calls: c.take(callCnt, 4),
		waits: c.take(waitCnt, 2),
		took: c.take(tookCnt, 2),
	};
}

// How many pieces and tasks there are: user/show/export/page_index.h.
function parseIndex(bytes) {
	const c = new Columns(bytes), perTile = c.u32(), pieceCnt = c.u32(), taskCnt = c.u32(), sumCnt = c.u32(), pidCnt = c.u32();
	const [rows, at] = c.take(pieceCnt, 2), [tid, cnt, first, text] = c.take(taskCnt, 4), [sumTid, begin, ...sums] = c.take(sumCnt, 7), pids = c.take(pidCnt, 3);
	return { perTile, rows, at, tasks: { tid, cnt, first, text }, sums: { tid: sumTid, begin, sums }, pids, tileCnt: Math.max(1, Math.ceil(pieceCnt / perTile)) };
}

// Arrays of doubles as one.
function joined(arrays) {
	const out = new Float64Array(arrays.reduce((n, a) => n + a.length, 0));
	let at = 0;
	for (const a of arrays) {
		out.set(a, at);
		at += a.length;
	}
	return out;
}

const NOT_READ = -2; // a row that is on the page, in a tile that is not read

// The texts of the page's pieces, by kind and number: "events 0".
function pageTexts() {
	const of = {}, list = kind => of[kind] ||= [...document.querySelectorAll(`script[type="text/x-${kind}"]`)];
	const text = key => {
		const [kind, nr] = key.split(" "), piece = list(kind)[nr];
		if (!piece)
			throw new Error(`this file is not whole: it lacks ${key}`);
		return piece.textContent;
	};
	const forget = () => Object.values(of).flat().forEach(s => s.remove());
	return { text, forget };
}

// Fields of pieces, decoded when they are asked for: so many bytes at most are kept, or one piece's, if that has more. Of the piece
// that nobody has asked for longest all are forgotten; they are decoded again when they are asked for again.
class Kept {
	constructor(most = KEEP_SZ) {
		Object.assign(this, { most, sz: 0, of: new Map(), forgotten: 0 }); // of: piece -> its bytes, the longest unused one first
	}
	// A piece is used; it has so many bytes more.
	use(piece, more) {
		if (!more && this.last === piece)
			return;
		const sz = (this.of.get(piece) || 0) + more;
		this.of.delete(piece);
		this.of.set(piece, sz);
		this.sz += more;
		this.last = piece;
		for (const [old, its] of this.of) {
			if (this.sz <= this.most || old === piece)
				break;
			old.forget();
			this.of.delete(old);
			this.sz -= its;
			this.forgotten++;
		}
	}
}

class Piece extends Columns {
	constructor(bytes, schema, kept) {
		super(bytes);
		this.kept = kept;
		this.rows = this.u32();
		this.base = [0, 1, 2, 3, 4].map(() => this.skip());
		this.of = new Map();
		while (this.at < bytes.length) {
			const ev = schema[this.bytes[this.at++]];
			const cnt = this.u32();
			const cols = ev.fields.map(f => f.type === "u64s" ? [this.skip(), this.skip()] : [this.skip()]);
			this.of.set(ev.nr, { cnt, cols, decoded: [] });
		}
	}
	// Field nr f of all rows of an event: numbers, or arrays of them.
	column(nr, f) {
		const of = this.of.get(nr);
		if (of.decoded[f]) {
			this.kept.use(this, 0);
			return of.decoded[f];
		}
		let col = decodeColumn(of.cols[f][0], of.cnt), sz = col.byteLength;
		if (of.cols[f].length > 1) {
			const counts = col;
			const total = counts.reduce((a, b) => a + b, 0);
			const flat = decodeColumn(of.cols[f][1], total);
			let at = 0;
			col = Array.from(counts, n => flat.subarray(at, at += n));
			sz = flat.byteLength + VIEW_SZ * of.cnt;
		}
		of.decoded[f] = col;
		this.kept.use(this, sz);
		return col;
	}
	forget() {
		for (const of of this.of.values())
			of.decoded = [];
	}
}

class Data {
	// What is known beside the tiles; texts: where they are, as pageTexts().
	static async head(texts) {
		const d = Object.assign(new Data(), { kept: new Kept() }), plain = async key => inflate(key, await texts.text(key));
		Object.assign(d, JSON.parse(new TextDecoder().decode(await plain("rest 0"))));
		d.index = parseIndex(await plain("index 0"));
		d.schemaOf = parseSchema(d.schema);
		d.nrOf = {};
		d.schemaOf.forEach(ev => { d.nrOf[ev.name] = ev.nr; });
		d.nameOf = new Map(d.names.map(([style, abi, v, name]) => [`${style} ${abi} ${v}`, name]));
		const rows = d.index.rows.reduce((n, r) => n + r, 0);
		if (rows !== d.events)
			throw new Error(`this file is not whole: ${rows} of ${many(d.events, "event")}`);
		return d;
	}
	// Where a tile's rows and its time begin.
	border(tile) {
		const x = this.index, nr = tile * x.perTile;
		return { row: x.rows.subarray(0, nr).reduce((n, r) => n + r, 0), at: !tile ? 0 : nr < x.at.length ? x.at[nr] : Infinity };
	}
	// The tile that a moment is in.
	tileAt(t) {
		let tile = 0;
		while (tile + 1 < this.index.tileCnt && this.border(tile + 1).at <= t)
			tile++;
		return tile;
	}
	// Tiles [a, b) are what is known; progress(part of 1).
	async read(a, b, texts, progress) {
		const x = this.index, from = this.border(a), until = this.border(b), n = until.row - from.row, end = Math.min(b * x.perTile, x.rows.length);
		const d = { base: from.row, n, whole: a === 0 && b === x.tileCnt, have: [a ? from.at : -1, until.at], pieces: [], starts: [],
			    ts: new Float64Array(n), ev: new Uint8Array(n), cpu: new Uint16Array(n), tid: new Uint32Array(n), comm: new Uint32Array(n),
			    k: new Uint16Array(n) }; // k: the row's number among those of its event in its piece
		const steps = b - a + end - a * x.perTile, tiles = [];
		let at = 0, nr = a * x.perTile, drawn = performance.now(), done = 0;
		const pause = async () => {
			done++;
			if (performance.now() - drawn < DRAW_MS)
				return;
			progress?.(done / steps);
			await new Promise(r => setTimeout(r)); // 4 ms, so not for each piece
			drawn = performance.now();
		};
		for await (const bytes of inflated("spans", a, b, texts)) {
			tiles.push(parseSpans(bytes));
			if (tiles.at(-1).tile !== a + tiles.length - 1)
				throw new Error(`this file is not whole: spans ${a + tiles.length - 1} are others`);
			await pause();
		}
		d.spans = this.joinTiles(tiles, a, d);
		for await (const bytes of inflated("events", nr, end, texts)) {
			const p = new Piece(bytes, this.schemaOf, this.kept), base = p.base.map(c => decodeDoubles(c, p.rows)), seen = new Uint32Array(256), [ev, ts] = base;
			if (p.rows !== x.rows[nr])
				throw new Error(`this file is not whole: ${p.rows} of ${many(x.rows[nr], "event")} of a piece`);
			if (ts[0] !== x.at[nr]) // most have as many rows as this one
				throw new Error(`this file is not whole: events ${nr} are others`);
			[d.ev, d.ts, d.cpu, d.tid, d.comm].forEach((to, c) => to.set(base[c], at));
			for (let i = 0; i < p.rows; i++)
				d.k[at + i] = seen[ev[i]]++;
			d.pieces.push(p);
			d.starts.push(at);
			at += p.rows;
			nr++;
			await pause();
		}
		Object.assign(this, d);
	}
	// The spans of tiles from a on as those of one: what goes on from a tile into the next is in both.
	joinTiles(tiles, a, { base, n, whole }) {
		const row = i => i < 0 ? i : i >= base && i < base + n ? i - base : NOT_READ;
		const lists = (kind, rowCol) => {
			const of = new Map();
			tiles.forEach((tile, i) => {
				const begin = i ? this.border(a + i).at : -Infinity;
				for (const [nr, cols] of tile[kind]) {
					let again = 0;
					while (again < cols[0].length && cols[0][again] < begin)
						again++;
					const all = of.get(nr) || cols.map(() => []);
					of.set(nr, all);
					cols.forEach((col, c) => all[c].push(!again ? col : col.subarray(again)));
				}
				tile[kind] = null;
			});
			for (const [nr, all] of of) {
				const cols = all.map(joined);
				of.set(nr, whole ? cols : cols.map((col, c) => c === rowCol ? col.map(row) : col));
			}
			return of;
		};
		const ended = kind => {
			const cols = tiles[0][kind].map((_, c) => joined(tiles.map(t => t[kind][c])));
			tiles.forEach(t => { t[kind] = null; });
			return whole ? cols : cols.map((col, c) => c ? col : col.map(row));
		};
		return { runs: lists("runs", 3), states: lists("states", 3), taskCalls: lists("taskCalls", 2), calls: ended("calls"), waits: ended("waits"), took: ended("took") };
	}
	// What stands for what is not read: it is being read, or will not be.
	get unread() {
		return this.failed ? "not read" : "loading";
	}
	field(nr, name) {
		const ev = this.schemaOf[nr];
		return ev ? ev.fields.findIndex(f => f.name === name) : -1;
	}
	pieceOf(i) {
		return upper(this.starts, i) - 1;
	}
	value(i, f) {
		return this.pieces[this.pieceOf(i)].column(this.ev[i], f)[this.k[i]];
	}
	get(i, name) {
		const f = this.field(this.ev[i], name);
		return f < 0 ? undefined : this.value(i, f);
	}
	// fn(row, values...) of each event of this name, piece by piece.
	each(name, fields, fn) {
		const nr = this.nrOf[name];
		if (nr === undefined)
			return;
		const fs = fields.map(f => this.field(nr, f));
		if (fs.includes(-1))
			return;
		this.pieces.forEach((p, nth) => {
			if (!p.of.has(nr))
				return;
			const from = this.starts[nth], to = from + p.rows;
			this.eachOf(nr, from, to, fs.map(f => p.column(nr, f)), fn);
		});
	}
	// No array for each event: there are millions.
	eachOf(nr, from, to, cols, fn) {
		const none = [], [a = none, b = none, c = none, d = none, e = none] = cols, ev = this.ev;
		if (cols.length > 5)
			throw new Error("each() gives five values at most");
		for (let i = from, k = 0; i < to; i++)
			if (ev[i] === nr) {
				fn(i, a[k], b[k], c[k], d[k], e[k]);
				k++;
			}
	}
	// An event's field in each of these rows, which are that event's and ascend: numbers.
	column(rows, name, field) {
		const nr = this.nrOf[name], f = this.field(nr, field), out = new Float64Array(rows.length);
		for (let k = 0, nth = 0; k < rows.length; nth++) {
			const p = this.pieces[nth], end = this.starts[nth] + p.rows;
			if (rows[k] >= end)
				continue;
			for (const col = p.column(nr, f); k < rows.length && rows[k] < end; k++)
				out[k] = Number(col[this.k[rows[k]]]);
		}
		return out;
	}
	commOf(i) {
		return this.texts[this.comm[i]] || "?";
	}
	// A value in words.
	word(i, f) {
		const field = this.schemaOf[this.ev[i]].fields[f];
		const v = this.value(i, f);
		if (field.type === "u64s")
			return field.rule === "STACK" ? "" : "[" + Array.from(v, field.signed ? withSign : hex).join(" ") + "]";
		if (field.type === "comm" || field.type === "str" || field.type === "text8")
			return this.texts[v];
		const abi = this.get(i, "abi") || 0;
		const name = this.nameOf.get(`${field.style} ${abi} ${v}`);
		if (name)
			return name;
		return ["HEX", "HANDLER", "ARG", "TAKEN"].includes(field.style) ? hex(v) : field.style === "NS" ? duration(Number(v)) : String(v);
	}
	// A system call's name; what it has of events is the same in both.
	call(id, abi) {
		const nr = this.nrOf.sys_exit ?? this.nrOf.sys_enter, f = this.schemaOf[nr].fields[this.field(nr, "id")];
		return this.nameOf.get(`${f.style} ${abi} ${id}`) || String(id);
	}
	words(i) {
		return this.schemaOf[this.ev[i]].fields.map((f, nr) => [f.name, f.hidden ? "" : this.word(i, nr)]).filter(([, w]) => w !== "");
	}
	// The same in a line: without ids of stacks, which say nothing, and that a call is of the usual ABI.
	brief(i) {
		return this.words(i).filter(([name, word]) => !name.endsWith("stack_id") && !(name === "abi" && word === "native")).map(([name, word]) => `${name}=${word}`).join(" ");
	}
	stack(id) {
		return id ? this.stacks[String(id)] : undefined;
	}
}

// A column of large numbers has them without their sign.
function withSign(v) {
	return typeof v === "bigint" ? BigInt.asIntN(64, v) : v;
}

function hex(v) {
	return "0x" + (typeof v === "bigint" ? v : BigInt.asUintN(64, BigInt(v))).toString(16);
}

// "1 event", "2 events", "1,234 events"
function many(n, what) {
	return `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
}

// A moment on an axis whose marks are step apart and at most far from 0: all of its digits that differ between two marks, and no
// others; one unit for all.
function axisTime(ns, step, far) {
	const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]].find(([u]) => far >= u) || [1, "ns"];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
	return `${(ns / unit).toFixed(digits)} ${name}`;
}

function duration(ns) {
	const a = Math.abs(ns);
	if (a < 1e3)
		return `${Math.round(ns)} ns`;
	if (a < 1e6)
		return `${(ns / 1e3).toFixed(a < 1e4 ? 2 : 1)} µs`;
	if (a < 1e9)
		return `${(ns / 1e6).toFixed(a < 1e7 ? 3 : 2)} ms`;
	return `${(ns / 1e9).toFixed(3)} s`;
}

// First index whose value is above v: of an ascending array.
function upper(a, v, len = a.length) {
	let lo = 0, hi = len;
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (a[mid] > v)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

// The first of these rows, ascending, from the one at `from` on, that is at time t or behind it; their number, if none is. One that is
// near is found soon.
function firstBy(rows, ts, t, from) {
	let lo = from, step = 1;
	while (lo + step <= rows.n && ts[rows.a[lo + step - 1]] < t) {
		lo += step;
		step *= 2;
	}
	let hi = Math.min(lo + step - 1, rows.n);
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (ts[rows.a[mid]] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

// The same; the last, if none is.
function lowerBy(rows, ts, t) {
	return Math.max(0, Math.min(firstBy(rows, ts, t, 0), rows.n - 1));
}

// First index whose value is not below v.
function lower(a, v, len = a.length) {
	let lo = 0, hi = len;
	while (lo < hi) {
		const mid = (lo + hi) >>> 1;
		if (a[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
