// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// query.mjs - minimal trace_processor.wasm driver for Node >= 18, no dependencies: to compile the reader takes far longer than to ask it.
// usage: node query.mjs <trace_processor.wasm>
// Each line of standard input is a question, ["trace", "SQL"]; the answer is a line: {"rows": [...]} or {"error": "..."}. A trace that is
// not the last question's is read by an instance of its own.
import fs from 'node:fs';
import readline from 'node:readline';
const REQ = 32 << 20;
let ex, mem, out = [];
const u8 = () => new Uint8Array(mem.buffer), dv = () => new DataView(mem.buffer);
const cstr = p => { const m = u8(); let e = p; while (m[e]) e++; return Buffer.from(m.subarray(p, e)).toString(); };
const die = m => { throw new Error(m); };
const impl = {
  emscripten_get_now: () => performance.now(), emscripten_date_now: () => Date.now(),
  emscripten_get_heap_max: () => 4294901760,
  emscripten_resize_heap: n => { n >>>= 0; try { mem.grow(Math.ceil((n - mem.buffer.byteLength) / 65536)); return 1; } catch { return 0; } },
  _abort_js: () => die('abort'), exit: c => die('exit ' + c), proc_exit: c => die('exit ' + c),
  __assert_fail: p => die('assert ' + cstr(p)), __cxa_throw: () => die('C++ exception'),
  environ_sizes_get: (a, b) => { dv().setUint32(a, 0, true); dv().setUint32(b, 0, true); return 0; }, environ_get: () => 0,
  clock_time_get: (id, prec, p) => { dv().setBigUint64(p, id === 0 ? BigInt(Date.now()) * 1000000n : process.hrtime.bigint(), true); return 0; },
  _tzset_js: () => {}, emscripten_asm_const_int: () => 0, HaveOffsetConverter: () => 0,
  emscripten_err: p => process.stderr.write(cstr(p) + '\n'), emscripten_errn: (p, n) => process.stderr.write(Buffer.from(u8().subarray(p, p + n))),
  fd_write: (fd, iov, n, pnw) => { let t = 0; for (let i = 0; i < n; i++) { const p = dv().getUint32(iov + 8 * i, true), l = dv().getUint32(iov + 8 * i + 4, true);
      process.stderr.write(Buffer.from(u8().subarray(p, p + l))); t += l; } dv().setUint32(pnw, t, true); return 0; },
};
const mod = new WebAssembly.Module(fs.readFileSync(process.argv[2])), imports = {};
for (const i of WebAssembly.Module.imports(mod)) (imports[i.module] ??= {})[i.name] = impl[i.name] ?? (() => -52 /* -ENOSYS */);
// wrap a JS callback as a wasm funcref of type (i32,i32)->()
const wrap = f => new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0, 1,6,1,96,2,127,127,0, 2,7,1,1,101,1,102,0,0, 7,5,1,1,102,0,0])), { e: { f } }).exports.f;
// --- tiny protobuf
const vi = n => { n = BigInt.asUintN(64, BigInt(n)); const o = []; do { let b = Number(n & 127n); n >>= 7n; o.push(n ? b | 128 : b); } while (n); return Buffer.from(o); };
const F = (f, v) => typeof v === 'number' ? Buffer.concat([vi(f << 3), vi(v)]) : Buffer.concat([vi(f << 3 | 2), vi(v.length), v]);
function* fields(b) { let p = 0; const rv = () => { let r = 0n, s = 0n, c; do { c = b[p++]; r |= BigInt(c & 127) << s; s += 7n; } while (c & 128); return r; };
  while (p < b.length) { const t = Number(rv()), f = t >> 3, w = t & 7;
    if (w === 0) yield [f, rv()]; else if (w === 2) { const n = Number(rv()); yield [f, b.subarray(p, p + n)]; p += n; }
    else if (w === 1) { yield [f, b.subarray(p, p + 8)]; p += 8; } else { yield [f, b.subarray(p, p + 4)]; p += 4; } } }
const packed = b => { const r = []; let p = 0; while (p < b.length) { let v = 0n, s = 0n, c; do { c = b[p++]; v |= BigInt(c & 127) << s; s += 7n; } while (c & 128); r.push(BigInt.asIntN(64, v)); } return r; };
let seq = 0, buf;
function rpc(method, ...args) { out = []; const m = Buffer.concat([F(1, seq++), F(2, method), ...args]), w = F(1, m);
  for (let o = 0; o < w.length; o += REQ) { const c = w.subarray(o, o + REQ); u8().set(c, buf); ex.trace_processor_on_rpc_request(c.length); }
  const msgs = []; for (const [, m2] of fields(Buffer.concat(out))) { const d = {}; for (const [f, v] of fields(m2)) (d[f] ??= []).push(v); if (d[5]) die('fatal: ' + d[5][0]); msgs.push(d); } return msgs; }
function open(path) {
  ex = new WebAssembly.Instance(mod, imports).exports; mem = ex.memory; seq = 0;
  const slot = ex.__indirect_function_table.grow(1);
  ex.__indirect_function_table.set(slot, wrap((p, n) => out.push(Buffer.from(u8().slice(p, p + n)))));
  ex.emscripten_stack_init?.(); ex.__wasm_call_ctors();
  buf = ex.trace_processor_rpc_init(slot, REQ) >>> 0;
  const tr = fs.readFileSync(path);
  for (let o = 0; o < tr.length; o += 1 << 20) for (const m of rpc(1, F(101, tr.subarray(o, o + (1 << 20))))) for (const a of m[201] ?? []) for (const [f, v] of fields(a)) if (f === 2) die('parse: ' + v);
  for (const m of rpc(2)) for (const a of m[212] ?? []) for (const [f, v] of fields(a)) if (f === 1 && v.length) die('finalize: ' + v);
}
function ask(sql) { let cols = [], row = [], rows = [];
  for (const m of rpc(3, F(103, F(1, Buffer.from(sql))))) for (const q of m[203] ?? []) for (const [f, v] of fields(q)) {
    if (f === 1) cols.push(v.toString()); else if (f === 2) die('SQL error: ' + v);
    else if (f === 3) { const b = { }; for (const [g, x] of fields(v)) (b[g] ??= []).push(x);
      const ints = packed(Buffer.concat(b[2] ?? [])), fl = Buffer.concat(b[3] ?? []), st = (b[5]?.[0] ?? Buffer.alloc(0)).toString().split('\0'); let ii = 0, fi = 0, si = 0, bi = 0;
      for (const c of Buffer.concat(b[1] ?? [])) { row.push(c === 1 ? null : c === 2 ? ints[ii++] : c === 3 ? fl.readDoubleLE(8 * fi++) : c === 4 ? st[si++] : (b[4][bi++]).toString('hex'));
        if (row.length === cols.length) { rows.push('{' + cols.map((n, i) => JSON.stringify(n) + ':' + (typeof row[i] === 'bigint' ? row[i] : JSON.stringify(row[i]))).join(',') + '}'); row = []; } } } }
  return rows; }
let opened = null;
for await (const line of readline.createInterface({ input: process.stdin })) {
  const [trace, sql] = JSON.parse(line);
  try {
    if (trace !== opened) { opened = null; open(trace); opened = trace; }
    console.log(`{"rows":[${ask(sql).join(',')}]}`);
  } catch (e) { opened = null; console.log(JSON.stringify({ error: String(e.message ?? e) })); }
}
