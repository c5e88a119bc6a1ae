// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// load: what is read when. A page of more than a few tiles is shown when those around what it opens at are read; all others are read in a
// worker meanwhile, which makes the model, too, and hands both over at once. Where there is no worker, they are read in slices.

const NEAR_TILES = 4;  // read before the page is shown
const OPENS_NS = 5e7;  // before and behind the trigger
const SOURCE = typeof document === "undefined" ? "" : document.currentScript?.textContent || "";

// The window that a page opens with: around the trigger, or what all CPUs have but for holes; before that there is the life tier's longer history.
function opensAt(data, begin) {
	const t = data.trigger;
	if (!(t >= 0 && t <= data.span))
		return [begin < data.span * 0.999 ? begin : 0, data.span];
	const from = Math.max(0, t - OPENS_NS);
	return [from, Math.min(data.span, Math.max(t + OPENS_NS, from + 50))];
}

// The window that a part of the address says, null: none.
function windowOf(hash, data) {
	const t = /^#(?:.*&)?t=(\d{1,20})-(\d{1,20})(?:&|$)/.exec(hash);
	return t && [t[1], t[2]].map(v => Number(BigInt(v) - BigInt(data.origin))).sort((a, b) => a - b);
}

// The tiles [a, b) of a window, and one beside it at each end; of a long window those in its middle.
function nearTiles(data, [from, to]) {
	const cnt = data.index.tileCnt, middle = data.tileAt((from + to) / 2);
	let a = data.tileAt(from), b = data.tileAt(to) + 1;
	while (b - a > NEAR_TILES)
		if (middle - a > b - 1 - middle)
			a++;
		else
			b--;
	if (b < cnt && b - a < NEAR_TILES)
		b++;
	if (a > 0 && b - a < NEAR_TILES)
		a--;
	return [a, b];
}

// What the page is shown with: all of it if it is small.
async function readNear(progress) {
	const texts = pageTexts(), data = await Data.head(texts), all = data.index.tileCnt;
	const [a, b] = all <= NEAR_TILES ? [0, all] : nearTiles(data, windowOf(location.hash, data) || opensAt(data, beginOf(data)));
	await data.read(a, b, texts, progress);
	if (data.whole)
		texts.forget();
	return data;
}

// ---- the worker ----

const SPAN_PARTS = ["calls", "waits", "took"]; // the others are in the model, too
const DATA_PARTS = ["base", "n", "whole", "have", "starts", "ts", "ev", "cpu", "tid", "comm", "k"];
const MODEL_PARTS = ["tasks", "cpus", "waits", "calls", "longWaits", "wakes", "samples", "stackIds"];
const parts = (of, names) => Object.fromEntries(names.map(name => [name, of[name]]));

// In the worker: it asks the page for each text.
async function workAll() {
	const wanted = new Map();
	const text = want => new Promise(r => {
		wanted.set(want, r);
		postMessage({ want });
	});
	self.onmessage = ({ data: [key, t] }) => {
		wanted.get(key)(t);
		wanted.delete(key);
	};
	self.onmessageerror = () => postMessage({ error: "what the page sent cannot be taken over" });
	try {
		const d = await Data.head({ text });
		await d.read(0, d.index.tileCnt, { text }, part => postMessage({ part }));
		postMessage({ part: 1 });
		const m = new Model(d);
		const all = { data: { ...parts(d, DATA_PARTS), pieces: d.pieces.map(p => p.bytes), spans: parts(d.spans, SPAN_PARTS) }, model: parts(m, MODEL_PARTS) };
		postMessage({ all }, [...buffersOf(all)]);
	} catch (e) {
		postMessage({ error: e.message });
	}
}

// All memory that is below an object: handed over, not copied.
function buffersOf(all) {
	const buffers = new Set(), todo = [all];
	while (todo.length) {
		const o = todo.pop();
		if (ArrayBuffer.isView(o))
			buffers.add(o.buffer);
		else if (o instanceof Map)
			todo.push(...o.values());
		else if (o && typeof o === "object")
			for (const key in o)
				todo.push(o[key]);
	}
	return buffers;
}

// What comes from a worker has lost what its objects are.
function revived(model) {
	const nums = n => Object.setPrototypeOf(n, Nums.prototype);
	const spans = s => {
		[s.at, s.until, s.kind, s.row].forEach(nums);
		Object.setPrototypeOf(s, Spans.prototype);
	};
	for (const t of model.tasks.values()) {
		[t.states, t.calls].forEach(spans);
		nums(t.rows);
	}
	model.cpus.forEach(c => {
		[c.runs, c.irqs].forEach(spans);
		nums(c.rows);
	});
	for (const of of [model.waits, model.calls, model.wakes, model.samples])
		Object.values(of).forEach(nums);
	return model;
}

// Pieces, which a worker sends as bytes.
function withPieces(d, schema) {
	const kept = new Kept();
	return { ...d, kept, pieces: d.pieces.map(bytes => new Piece(bytes, schema, kept)) };
}

// All that the worker made, as parts of data and model. An error: there is no worker, or it failed.
function byWorker(data, texts, progress) {
	return new Promise((done, fail) => {
		const url = URL.createObjectURL(new Blob([SOURCE], { type: "text/javascript" })), worker = new Worker(url);
		const end = (fn, v) => {
			worker.terminate();
			URL.revokeObjectURL(url);
			fn(v);
		};
		worker.onerror = e => {
			e.preventDefault();
			end(fail, new Error(e.message || "no worker"));
		};
		worker.onmessageerror = () => end(fail, new Error("what the worker read cannot be taken over"));
		worker.onmessage = ({ data: said }) => {
			try {
				if (said.want)
					worker.postMessage([said.want, texts.text(said.want)]);
				else if (said.all)
					end(done, [withPieces(said.all.data, data.schemaOf), revived(said.all.model)]);
				else if (said.error)
					end(fail, new Error(said.error));
				else
					progress(said.part);
			} catch (e) {
				end(fail, e);
			}
		};
	});
}

async function bySlices(data, texts, progress) {
	const d = Object.assign(new Data(), data, { kept: new Kept() });
	await d.read(0, d.index.tileCnt, texts, progress);
	progress(1);
	const m = await Model.slowly(d);
	return [{ ...parts(d, DATA_PARTS), kept: d.kept, pieces: d.pieces, spans: parts(d.spans, SPAN_PARTS) }, parts(m, MODEL_PARTS)];
}

// Reads all into a page that is shown.
async function readAll(data, model, progress) {
	const texts = pageTexts();
	let by = "worker";
	const [d, m] = await byWorker(data, texts, progress).catch(e => {
		console.warn(`no worker: ${e.message}`);
		by = "slices";
		return bySlices(data, texts, progress);
	});
	texts.forget();
	Object.assign(data, d, { by });
	Object.assign(model, m);
	model.orderTasks();
}
