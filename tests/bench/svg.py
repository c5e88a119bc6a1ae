# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Plots as SVG, the same text for the same figures: bars, and lines over a number. Error bars are quartiles."""
import math

# The same tool has the same colour everywhere, its variants lighter ones.
FAMILIES = (("flightrec", ("#1f5fa8", "#4f8fd0", "#86b4e4", "#b5d2f0")), ("ftrace", ("#4e7a2e", "#7ba35c", "#a9c792")),
            ("perf record", ("#b5651d", "#d79a5f", "#e6bf9a")), ("bpf_ringbuf", ("#b03a48", "#d07f88")),
            ("bpf_perf_event_output", ("#7d4f96", "#ab88bf")), ("LTTng", ("#2f8585", "#7db8b8")), ("bpftrace", ("#94802a", "#c2b36f")),
            ("model", ("#c2571a",)), ("", ("#6b6b6b", "#999999", "#4d4d4d", "#bbbbbb", "#808080")))
FONT = 'font-family="system-ui, sans-serif" font-size="12"'
WIDTH, RIGHT, CHAR = 800, 80, 6.6
INK, GRID = "#222222", "#dddddd"


def escape(text):
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def number(value):
    size = abs(value)
    if value and (size >= 1e6 or size < 0.001):
        return f"{value:.2g}".replace("e+0", "e").replace("e+", "e")
    return f"{value:,.0f}" if size >= 1000 or value == int(value) else f"{value:.3g}"


DISTINCT = ("#1f5fa8", "#b5651d", "#4e7a2e", "#7d4f96", "#b03a48", "#2f8585", "#94802a", "#6b6b6b", "#4f8fd0", "#d79a5f", "#a9c792")


def colours(names):
    """By name; where none is a tool's, each its own."""
    names = list(names)
    if not any(name.startswith(family) for name in names for family, _ in FAMILIES if family):
        return {name: DISTINCT[nr % len(DISTINCT)] for nr, name in enumerate(names)}
    used, found = {}, {}
    for name in names:
        family, shades = next(f for f in FAMILIES if name.startswith(f[0]))
        found[name] = shades[used.get(family, 0) % len(shades)]
        used[family] = used.get(family, 0) + 1
    return found


def text(x, y, said, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{INK}" {FONT}{more}>{escape(said)}</text>'


def line(x1, y1, x2, y2, colour=INK, width=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'


def document(width, height, title, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">\n'
            f'<title>{escape(title)}</title>\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n')
    return head + "\n".join([text(16, 24, title, more=' font-weight="600"'), *parts]) + "\n</svg>\n"


def ticks(low, high, most=6):
    """Round numbers from low to high."""
    if high <= low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / most))
    step *= next(f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= most)
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high):
    """1, 2, 5 of each decade; only the decades if these are many."""
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    all_of = [f * 10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1) for f in steps]
    return [t for t in all_of if low * 0.999 <= t <= high * 1.001]


# ---- bars ----

def bars(title, unit, rows, promise=None):
    """rows: (name, value, (low, high) or None, who) or (name, None, reason, who). promise: a line at that value."""
    shown = [r for r in rows if r[1] is not None]
    ends = [v for r in shown for v in (r[1], *(r[2] or ()))] + [0.0] + ([promise] if promise is not None else [])
    low, high = min(ends), max(ends)
    high += (high - low) * 0.02 or 1
    begin = 24 + CHAR * max(len(r[0]) for r in rows)
    span, top, step = WIDTH - begin - RIGHT, 44, 24
    height = top + step * len(rows) + 44

    def at(value):
        return begin + (value - low) / (high - low) * span

    out = []
    for tick in ticks(low, high):
        out += [line(at(tick), top - 4, at(tick), height - 40, GRID), text(at(tick), height - 24, number(tick), "middle")]
    out.append(text(begin + span / 2, height - 8, unit, "middle"))
    colour = colours(dict.fromkeys(r[3] for r in rows))
    for nr, (name, value, spread, who) in enumerate(rows):
        y = top + step * nr
        out.append(text(begin - 8, y + 14, name, "end"))
        if value is None:
            out.append(text(begin + 6, y + 14, f"not measured: {spread}"[:70], more=' font-style="italic"'))
            continue
        left, right = sorted((at(0), at(value)))
        out.append(f'<rect x="{left:.1f}" y="{y + 2}" width="{max(right - left, 0.5):.1f}" height="{step - 8}" fill="{colour[who]}"/>')
        if spread:
            a, b, mid = at(spread[0]), at(spread[1]), y + step / 2 - 2
            out += [line(a, mid, b, mid), line(a, mid - 4, a, mid + 4), line(b, mid - 4, b, mid + 4)]
        out.append(text(max(right, at(max(spread)) if spread else 0) + 6, y + 14, number(value)))
    out.append(line(at(0), top - 4, at(0), height - 40, INK))
    if promise is not None:
        out += [line(at(promise), top - 4, at(promise), height - 40, "#b00020", 1.5), text(at(promise), top - 8, "promised", "middle")]
    return document(WIDTH, height, title, out)


# ---- lines ----

def _axis(low, high, log):
    """Ticks, and from a value to its share of the axis."""
    if log:
        return log_ticks(low, high), lambda v: math.log(v / low) / math.log(high / low)
    return ticks(low, high), lambda v: (v - low) / (high - low)


def lines(title, x_unit, y_unit, series, log_x=True, log_y=False):
    """series: {who: [(x, y, (low, high) or None), ...]}."""
    points = [p for s in series.values() for p in s]
    xs, ys = [p[0] for p in points], [v for p in points for v in (p[1], *(p[2] or ()))]
    x_low, x_high = min(xs), max(xs) if max(xs) > min(xs) else min(xs) * 2 or 1
    y_low, y_high = (min(ys) * 0.8, max(ys) * 1.2) if log_y else (0, max(ys) * 1.08)
    left, top, wide, tall = 70, 60, 430, 280
    x_ticks, x_share = _axis(x_low, x_high, log_x)
    y_ticks, y_share = _axis(y_low, y_high, log_y)
    if len(set(xs)) <= 8:
        x_ticks = sorted(set(xs))

    def at(x, y):
        return left + x_share(x) * wide, top + tall - y_share(y) * tall

    out = []
    for tick in y_ticks:
        y = at(x_low, tick)[1]
        out += [line(left, y, left + wide, y, GRID), text(left - 6, y + 4, number(tick), "end")]
    for tick in x_ticks:
        x = at(tick, y_high)[0]
        out += [line(x, top, x, top + tall, GRID), text(x, top + tall + 18, number(tick), "middle")]
    out += [text(left + wide / 2, top + tall + 38, x_unit, "middle"), text(16, top - 8, y_unit)]
    colour = colours(series)
    order = sorted(series, key=lambda who: -series[who][-1][1])
    for who in series:
        pts = [at(x, y) for x, y, _ in series[who]]
        out.append(f'<polyline fill="none" stroke="{colour[who]}" stroke-width="2" points="'
                   + " ".join(f"{x:.1f},{y:.1f}" for x, y in pts) + '"/>')
        for (x, y), (xv, _, spread) in zip(pts, series[who]):
            if spread:
                a, b = at(xv, max(spread[0], y_low))[1], at(xv, spread[1])[1]
                out += [line(x, a, x, b, colour[who]), line(x - 4, a, x + 4, a, colour[who]), line(x - 4, b, x + 4, b, colour[who])]
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour[who]}"/>')
    for nr, who in enumerate(order):
        y = top + 10 + nr * 20
        out += [line(left + wide + 16, y, left + wide + 36, y, colour[who], 3), text(left + wide + 42, y + 4, who)]
    return document(WIDTH + 40, top + tall + 50, title, out)
