// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// node model.mjs PAGE...: what the model of each page says, without a browser: a line of JSON each. Runs of CPUs and states of tasks as
// [begin, end, tid or state], ns behind the window's begin.
import { readFileSync, realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

const spans = s => Array.from({ length: s.n }, (_, i) => [s.at.a[i], s.until.a[i], s.kind.a[i]]);

// What the scripts of a page need of a browser.
export function context(path) {
	const html = readFileSync(path, "utf8"), of = kind => [...html.matchAll(new RegExp(`<script type="text/x-${kind}">([^<]*)</script>`, "g"))]
		.map(m => ({ textContent: m[1], remove() {} }));
	const kindOf = selector => /text\/x-(\w+)/.exec(selector)[1];
	const document = { querySelector: s => of(kindOf(s))[0], querySelectorAll: s => of(kindOf(s)) };
	return vm.createContext({ document, atob, Blob, Response, DecompressionStream, TextDecoder, setTimeout, performance });
}

export function source(names) {
	return names.map(name => readFileSync(new URL(`../../user/show/view/${name}`, import.meta.url), "utf8")).join("\n");
}

// All data of a page.
export const WHOLE = `(async texts => {
	const d = await Data.head(texts);
	await d.read(0, d.index.tileCnt, texts);
	return d;
})(pageTexts())`;

async function tell(path) {
	const m = await vm.runInContext(`${source(["data.js", "model.js"])}\n${WHOLE}.then(d => new Model(d))`, context(path));
	const list = w => Array.from({ length: w.at.n }, (_, i) => [w.at.a[i], w.tid.a[i], w.ns.a[i]]);
	console.log(JSON.stringify({
		origin: m.data.origin, span: m.data.span, events: m.data.n, holes: m.data.holes,
		cpus: Object.fromEntries(m.cpus.flatMap((c, nr) => c ? [[nr, spans(c.runs)]] : [])),
		tasks: Object.fromEntries([...m.tasks].map(([tid, t]) => [tid, spans(t.states)])),
		calls: list(m.calls), waits: list(m.waits),
		wakes: Array.from({ length: m.wakes.at.n }, (_, i) => [m.wakes.at.a[i], m.wakes.from.a[i], m.wakes.to.a[i]]),
		longWaits: Object.fromEntries(m.longWaits),
		wokenBy: Object.fromEntries([...m.longWaits].map(([tid, of]) => [tid, of.map(w => m.wokenBy(w))])),
	}));
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
	for (const path of process.argv.slice(2))
		await tell(path);
