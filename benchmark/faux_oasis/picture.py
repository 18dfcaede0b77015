#==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
"""The results as a picture (SVG): scores by resolution, and time and memory by level."""
from xml.sax.saxutils import escape

PANELS = (("mean_dice", "Dice"), ("inverse_volume_weighted_dice", "inverse-volume-weighted Dice"),
          ("mean_hd90_mm", "cumulative HD90, mm"))
PANEL, HEIGHT, TOP, LEFT = 250, 170, 60, 60
SHADES = ("#d0d8e8", "#a3b8d6", "#7597c4", "#4a76b0", "#27568f")


def draw_picture(summary):
    rows = summary["resolutions"]
    width = LEFT + len(PANELS) * PANEL + 20
    second = TOP + HEIGHT + 90
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{second + HEIGHT + 70}" '
             'font-family="sans-serif" font-size="12">',
             '<rect width="100%" height="100%" fill="white"/>',
             text(LEFT, 24, "faux-OASIS: scores at native resolution after registration with larger voxels", size=15)]
    for i, (score, title) in enumerate(PANELS):
        parts += draw_scores(LEFT + i * PANEL, TOP, rows, summary["runs"], score, title)
    parts += draw_levels(LEFT, second, rows, "seconds", "seconds by level (coarse: light)", stacked=True)
    parts += draw_levels(LEFT + PANEL, second, rows, "resident_mb", "memory by level, MB", stacked=False)
    return "\n".join(parts) + "\n</svg>\n"


def text(x, y, words, anchor="start", size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def bar(x, y, width, height, color):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.5):.1f}" fill="{color}"/>'


def axis(x, y, title, highest, rows):
    """Title, base line, largest value and names of the groups of a panel; returns parts and the width of a group."""
    group = (PANEL - 50) / (len(rows) + 1)
    parts = [text(x, y - 10, title), f'<line x1="{x}" y1="{y + HEIGHT}" x2="{x + PANEL - 40}" y2="{y + HEIGHT}" '
             'stroke="black"/>', text(x - 6, y + 8, f"{highest:.3g}", "end", 10)]
    return parts, group


def draw_scores(x, y, rows, runs, score, title):
    """A bar for the mean, a dot for each pair; what affine alignment gives comes first."""
    values = [("affine", rows[0]["baseline_" + score]["mean"], [run["baseline"][score] for run in runs])]
    values += [(f"{row['voxels_mm']:g} mm", row[score]["mean"],
                [run["scores"][score] for run in runs if run["voxels_mm"] == row["voxels_mm"]]) for row in rows]
    highest = max(max(own) for _, _, own in values)
    parts, group = axis(x, y, title, highest, rows)
    for i, (name, mean, own) in enumerate(values):
        left = x + 8 + i * group
        length = HEIGHT * mean / highest
        parts.append(bar(left, y + HEIGHT - length, group * 0.7, length, "#bbbbbb" if i == 0 else SHADES[min(i, 3)]))
        parts += [f'<circle cx="{left + group * 0.35:.1f}" cy="{y + HEIGHT * (1 - value / highest):.1f}" r="2.5"/>'
                  for value in own]
        parts.append(text(left + group * 0.35, y + HEIGHT + 16, name, "middle", 11))
        parts.append(text(left + group * 0.35, y + HEIGHT + 31, f"{mean:.3f}", "middle", 11))
    return parts


def draw_levels(x, y, rows, figure, title, stacked):
    total = sum if stacked else max
    heights = [total([level[figure] for level in row["levels"]] or [0]) for row in rows]
    highest = max(heights) or 1
    parts, group = axis(x, y, title, highest, rows)
    for i, row in enumerate(rows):
        left, base = x + 8 + i * group, y + HEIGHT
        each = group * 0.7 / (1 if stacked else max(1, len(row["levels"])))
        for k, level in enumerate(row["levels"]):
            length = HEIGHT * level[figure] / highest
            color = SHADES[min(k, len(SHADES) - 1)]
            if stacked:
                base -= length
                parts.append(bar(left, base, each, length, color))
            else:
                parts.append(bar(left + k * each, base - length, each * 0.9, length, color))
        parts.append(text(left + group * 0.35, y + HEIGHT + 16, f"{row['voxels_mm']:g} mm", "middle", 11))
        parts.append(text(left + group * 0.35, y + HEIGHT + 31, f"{heights[i]:.0f}", "middle", 11))
    return parts
