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
"""Results as one table of numbers and as text."""
import statistics

from .experiment import SCORES


def spread(values):
    """Mean and standard deviation over pairs."""
    return {"mean": statistics.fmean(values), "sd": statistics.stdev(values) if len(values) > 1 else 0.0}


def make_summary(settings, runs):
    """Everything: settings, each run, and means over pairs by resolution."""
    resolutions = []
    for voxels in sorted({run["voxels_mm"] for run in runs}, reverse=True):
        same = [run for run in runs if run["voxels_mm"] == voxels]
        row = {"voxels_mm": voxels, "pairs": len(same)}
        for score in SCORES:
            row[score] = spread([run["scores"][score] for run in same])
            row["baseline_" + score] = spread([run["baseline"][score] for run in same])
        for figure in ("seconds", "cpu_seconds", "peak_mb", "planned_mb"):
            row[figure] = spread([run[figure] for run in same])
        row["levels"] = mean_levels(same)
        resolutions.append(row)
    return {"settings": settings.identity(), "resolutions": resolutions, "runs": runs,
            "finer_is_better": finer_is_better(runs)}


def mean_levels(runs):
    """Seconds and memory by level, of the runs that went through all of their iterations at once."""
    whole = [run["levels"] for run in runs if not run["resumed"]]
    levels = []
    for same in zip(*whole):
        speeds = [level["ns_per_voxel"] for level in same if level["ns_per_voxel"] is not None]
        levels.append({"size": same[0]["size"], "iterations": same[0]["iterations"],
                       "seconds": statistics.fmean(level["seconds"] for level in same),
                       "resident_mb": statistics.fmean(level["resident_mb"] for level in same),
                       "ns_per_voxel": statistics.fmean(speeds) if speeds else None})
    return levels


def finer_is_better(runs):
    """For each pair: whether each score improves, or stays, from every resolution to the next finer one."""
    verdicts = {}
    for pair in sorted({tuple(run["pair"]) for run in runs}):
        own = sorted((run for run in runs if tuple(run["pair"]) == pair), key=lambda run: -run["voxels_mm"])
        steps = list(zip(own, own[1:]))
        verdicts["-".join(map(str, pair))] = {
            score: all((fine["scores"][score] - coarse["scores"][score]) * (-1 if score == "mean_hd90_mm" else 1) >= 0
                       for coarse, fine in steps)
            for score in SCORES}
    return verdicts


def number(value, digits):
    return f"{value['mean']:.{digits}f} +- {value['sd']:.{digits}f}"


def make_table(summary):
    """The paper's table, and below it what each level took."""
    size = summary["settings"]["crop"] or summary["settings"]["size"]
    lines = [f"{size[0]} x {size[1]} x {size[2]} voxels of {summary['settings']['native']:g} mm; scores at that "
             "resolution; mean +- sd over pairs",
             f"{'voxels':>9} {'pairs':>5} {'Dice':>16} {'inverse Dice':>16} {'HD90, mm':>16} {'wall clock':>12} "
             f"{'processor':>11} {'peak memory':>12} {'planned':>9}"]
    for i, row in enumerate(summary["resolutions"]):
        if i == 0:
            scores = " ".join(f"{number(row['baseline_' + score], 3):>16}" for score in SCORES)
            lines.append(f"{'affine':>9} {row['pairs']:>5} {scores}")
        scores = " ".join(f"{number(row[score], 3):>16}" for score in SCORES)
        lines.append(f"{row['voxels_mm']:>6g} mm {row['pairs']:>5} {scores} {row['seconds']['mean']:>10.1f} s "
                     f"{row['cpu_seconds']['mean']:>9.1f} s {row['peak_mb']['mean']:>9.0f} MB "
                     f"{row['planned_mb']['mean']:>6.0f} MB")
    lines += ["", f"{'voxels':>9} {'level':>15} {'iterations':>10} {'time':>10} {'memory':>9} {'ns/voxel/it':>12}"]
    for row in summary["resolutions"]:
        for level in row["levels"]:
            speed = "" if level["ns_per_voxel"] is None else f"{level['ns_per_voxel']:.1f}"
            lines.append(f"{row['voxels_mm']:>6g} mm {'x'.join(map(str, level['size'])):>15} {level['iterations']:>10} "
                         f"{level['seconds']:>8.1f} s {level['resident_mb']:>6.0f} MB {speed:>12}")
    resumed = [run for run in summary["runs"] if run["resumed"]]
    if resumed:
        lines.append(f"{len(resumed)} of the runs went on from a checkpoint: times are those of the last part, and "
                     "their levels are left out")
    for pair, scores in summary["finer_is_better"].items():
        worse = [score for score, better in scores.items() if not better]
        verdict = "not better in " + ", ".join(worse) if worse else "better in all scores"
        lines.append(f"pair {pair}: finer is {verdict}")
    return "\n".join(lines) + "\n"
