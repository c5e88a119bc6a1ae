// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// node query.mjs PAGE < EXPRESSIONS, a JSON list: what the search of a page finds, a line of JSON for each: rows, or why it is refused.
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { context, source, WHOLE } from "./model.mjs";

const of = context(process.argv[2]);
const search = await vm.runInContext(`${source(["data.js", "model.js", "query.js"])}\n${WHOLE}.then(d => new Search(d, new Model(d)))`, of);
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
	let said;
	try {
		said = { rows: Array.from(search.find(text).rows) };
	} catch (e) {
		if (e.constructor.name !== "Refused")
			throw e;
		said = { refused: e.message, at: e.at };
	}
	console.log(JSON.stringify(said));
}
