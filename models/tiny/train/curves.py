#!/usr/bin/env python3
"""Draws the losses of train.py as an SVG picture.

usage: curves.py OUT.svg VARIANT.csv ...
"""
import argparse
import csv
import pathlib

PANELS = [("text", "loss on running text, nats per token"),
          ("needles", "loss on needles' digits, nats per digit"),
          ("lookups", "loss on looked-up values, nats per token")]
COLOURS = ["#1b6ca8", "#c8553d", "#4f9d4f", "#7a5195"]
WIDTH, HEIGHT, LEFT, GAP = 720, 190, 56, 44


def smoothed(values, keep=0.8):
    out = []
    for v in values:
        out.append(v if not out else keep * out[-1] + (1 - keep) * v)
    return out


def panel(column, title, top, runs, last):
    high = max(max(run[column]) for run in runs.values())
    parts = [f'<text x="{LEFT}" y="{top - 8}">{title}</text>',
             f'<rect x="{LEFT}" y="{top}" width="{WIDTH - LEFT - 16}" '
             f'height="{HEIGHT}" fill="none" stroke="#999"/>']
    for tick in range(int(high) + 1):
        y = top + HEIGHT * (1 - tick / high)
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" '
                     f'text-anchor="end">{tick}</text>')
        parts.append(f'<path d="M{LEFT} {y:.1f}h{WIDTH - LEFT - 16}" '
                     'stroke="#eee"/>')
    for colour, (name, run) in zip(COLOURS, runs.items()):
        points = " ".join(
            f"{LEFT + (WIDTH - LEFT - 16) * t / last:.1f},"
            f"{top + HEIGHT * (1 - v / high):.1f}"
            for t, v in zip(run["tokens"], smoothed(run[column])))
        parts.append(f'<polyline points="{points}" fill="none" '
                     f'stroke="{colour}" stroke-width="1.5"/>')
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    runs = {}
    for path in args.runs:
        with open(path) as file:
            rows = list(csv.DictReader(file))
        runs[path.stem] = {k: [float(r[k]) for r in rows]
                           for k in ["tokens", *(c for c, _ in PANELS)]}
    last = max(run["tokens"][-1] for run in runs.values())
    height = len(PANELS) * (HEIGHT + GAP) + 30
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
             f'height="{height}" font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>']
    for n, (column, title) in enumerate(PANELS):
        parts += panel(column, title, 28 + n * (HEIGHT + GAP), runs, last)
    for n, (colour, name) in enumerate(zip(COLOURS, runs)):
        parts.append(f'<text x="{LEFT + 110 * n}" y="{height - 8}" '
                     f'fill="{colour}">{name}</text>')
    parts.append(f'<text x="{WIDTH - 16}" y="{height - 8}" text-anchor="end">'
                 f'tokens, to {last / 1e6:.0f} million</text></svg>')
    args.out.write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
