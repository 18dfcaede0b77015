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
#==========================================================================
"""What is computed, step by step. A step whose result is there is not done again."""
import dataclasses
import json
import os
import statistics
import subprocess
import time

from .grid import write_coarse_grid

SCORES = ("mean_dice", "inverse_volume_weighted_dice", "mean_hd90_mm")
BASE_SEED = 2025  # the paper's
MARGIN = 12.0  # mm that a cropped moving image shows beyond the fixed one on each side

IDENTITY = """#Insight Transform File V1.0
#Transform 0
Transform: AffineTransform_double_3_3
Parameters: 1 0 0 0 1 0 0 0 1 0 0 0
FixedParameters: 0 0 0
"""


class ExperimentError(Exception):
    """What the user can do something about."""


@dataclasses.dataclass
class Settings:
    ffdp: str
    folder: str
    labels: list
    native: float
    size: list
    crop: list
    iterations: list
    least: float
    threads: int
    keep: bool

    def identity(self):
        """What must not change between runs in one folder."""
        return {"labels": self.labels, "native": self.native, "size": self.size, "crop": self.crop,
                "iterations": self.iterations, "least": self.least}


@dataclasses.dataclass
class Usage:
    """What a program took."""
    seconds: float
    cpu_seconds: float
    megabytes: float


class Experiment:
    def __init__(self, settings):
        self.settings = settings
        if any(voxels < 32 or voxels % 16 for voxels in (settings.crop or []) + settings.size):
            raise ExperimentError("sizes must be multiples of 16 voxels, and 32 at least")
        os.makedirs(settings.folder, exist_ok=True)
        self._require_same_settings()
        self._write("identity.txt", IDENTITY)

    def find(self, pair, factor):
        """Returns the result of an earlier run, or None."""
        known = self._path(self._name(pair, factor) + ".json")
        if not os.path.exists(known):
            return None
        with open(known, encoding="utf-8") as text:
            return json.load(text)

    def run(self, pair, factor):
        """Registers a pair at `factor` times the native voxel size, unless that was done before; returns the result."""
        known = self.find(pair, factor)
        if known:
            return known
        name = self._name(pair, factor)
        affine = self._align(pair)
        fixed, moving = (self._image(subject, moves, factor) for subject, moves in zip(pair, (False, True)))
        print(f"{name}: register", flush=True)
        prefix, log = self._path(name + "_"), self._path(name + "_log.json")
        checkpoint = self._path(name + "_checkpoint")
        resumed = os.path.isdir(checkpoint) and bool(os.listdir(checkpoint))
        options = self._schedule(factor) + ["--initial-moving-transform", affine]
        plan = self._plan(fixed, moving, options, name)
        usage = self._ffdp("register", "-f", fixed, "-m", moving, "-o", prefix, *options, "--uncompressed", "--quiet",
                           "--log-json", log, "--checkpoint", checkpoint, "--checkpoint-seconds", "1200")
        transforms = [prefix + "1Warp.nii", prefix + "0GenericAffine.mat"]
        result = {"pair": list(pair), "voxels_mm": self.settings.native * factor, "resumed": resumed,
                  "seconds": usage.seconds, "cpu_seconds": usage.cpu_seconds, "peak_mb": usage.megabytes,
                  "planned_mb": plan / 1e6, "levels": read_levels(log),
                  "baseline": self._baseline(pair, affine),
                  "scores": self._evaluate(pair, transforms, name)}
        self._write(name + ".json", json.dumps(result, indent=2) + "\n")
        if not self.settings.keep:
            for ending in ("1Warp.nii", "1InverseWarp.nii", "Warped.nii", "InverseWarped.nii"):
                os.remove(prefix + ending)
        return result

    def _schedule(self, factor):
        """The levels of the paper that are not finer than the images, as factors of their voxels."""
        factors = [level // factor for level in (16, 8, 4, 2, 1) if level >= factor]
        iterations = self.settings.iterations[:len(factors)]
        window = max(iterations) + 1  # of the test for a flat loss: so long that no iteration is left out
        return ["--transform", "Greedy[0.5,1.0,0.5]", "--metric", "CC[1,3]",
                "--convergence", f"[{'x'.join(map(str, iterations))},0,{window}]",
                "--shrink-factors", "x".join(map(str, factors))]

    def _align(self, pair):
        """The paper's subjects are affinely aligned: an affine transform, found at four native voxels, whole heads."""
        name = f"{pair[0]}-{pair[1]}_affine"
        prefix = self._path(name + "_")
        matrix = prefix + "0GenericAffine.mat"
        if not os.path.exists(matrix):
            fixed, moving = (self._subject(subject, 4, None, "whole")[0] for subject in pair)
            print(f"{name}: register", flush=True)
            self._ffdp("register", "-f", fixed, "-m", moving, "-o", prefix, "--initial-moving-transform", "[0]",
                       "--transform", "Affine[0.25]", "--metric", "MI[1,32]", "--convergence", "200x100",
                       "--shrink-factors", "4x2", "--quiet", "--no-report")
        return matrix

    def _baseline(self, pair, matrix):
        """The scores of the affine alignment."""
        name = f"{pair[0]}-{pair[1]}_affine"
        known = self._path(name + ".json")
        if not os.path.exists(known):
            self._write(name + ".json", json.dumps(self._evaluate(pair, [matrix], name)) + "\n")
        with open(known, encoding="utf-8") as text:
            return json.load(text)

    def _subject(self, subject, factor, voxels, part):
        """Image and labels of a subject, painted at `factor` times the native voxel size; voxels: native, or all."""
        settings = self.settings
        size = [count // factor for count in voxels or settings.size]
        name = f"subject{subject}_{part}_{settings.native * factor:g}mm"
        image, labels = self._path(name + ".nii.gz"), self._path(name + "_labels.nii.gz")
        if not (os.path.exists(image) and os.path.exists(labels)):
            print(f"{name}: synthesize", flush=True)
            source = ["--head"]
            if settings.labels:
                if not 1 <= subject <= len(settings.labels):
                    raise ExperimentError(f"there is no subject {subject}: {len(settings.labels)} label maps are given")
                source = ["--labels", settings.labels[subject - 1], "--skull-strip", "--crop", "0"]
            self._ffdp("synthesize", *source, "--seed", BASE_SEED + subject, "--spacing", settings.native * factor,
                       "--size", *size, "-o", image, "--labels-out", labels, "--quiet")
        return image, labels

    def _native(self, subject, moves):
        """Image and labels that are registered and scored; a cropped moving image shows more than the fixed one."""
        settings = self.settings
        if not settings.crop:
            return self._subject(subject, 1, None, "whole")
        margin = round(MARGIN / settings.native / 16) * 32 if moves else 0
        voxels = [min(all_of, count + margin) for all_of, count in zip(settings.size, settings.crop)]
        return self._subject(subject, 1, voxels, "moving" if moves else "fixed")

    def _image(self, subject, moves, factor):
        """The native image, or means of its 2 x 2 x 2 or 4 x 4 x 4 voxels."""
        image, _ = self._native(subject, moves)
        if factor == 1:
            return image
        coarse = image.replace(f"{self.settings.native:g}mm", f"{self.settings.native * factor:g}mm_mean")
        if not os.path.exists(coarse):
            fine = self._image(subject, moves, factor // 2)
            print(f"{os.path.basename(coarse)}: downsample", flush=True)
            grid = self._path("grid.nii.gz")
            write_coarse_grid(fine, 2, grid)
            # The middle of eight voxels: linear interpolation is their mean.
            self._ffdp("apply", "-i", fine, "-r", grid, "-t", self._path("identity.txt"), "-o", coarse)
        return coarse

    def _evaluate(self, pair, transforms, name):
        """The paper's scores, at native resolution."""
        fixed, moving = (self._native(subject, moves)[1] for subject, moves in zip(pair, (False, True)))
        moved, scores = self._path(name + "_labels.nii.gz"), self._path(name + "_scores.json")
        print(f"{name}: evaluate", flush=True)
        self._ffdp("apply", "-i", moving, "-r", fixed, "-t", *transforms, "-n", "nearest", "-o", moved)
        self._ffdp("evaluate", "--fixed-labels", fixed, "--moved-labels", moved, "--json", scores)
        if not self.settings.keep:
            os.remove(moved)
        return read_scores(scores, self.settings.least / self.settings.native**3)

    def _plan(self, fixed, moving, options, name):
        """Bytes that ffdp expects to need."""
        file = self._path(name + "_plan.json")
        self._ffdp("plan", "-f", fixed, "-m", moving, *options, "--json", file)
        with open(file, encoding="utf-8") as text:
            return json.load(text)["peak_bytes"]

    def _ffdp(self, *arguments):
        """Runs the program; what it prints is shown only if it fails."""
        command = [self.settings.ffdp, *map(str, arguments)]
        environment = dict(os.environ)
        if self.settings.threads:
            environment["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = str(self.settings.threads)
        begin = time.monotonic()
        log = self._path("ffdp.log")
        with open(log, "w", encoding="utf-8") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
            try:
                _, status, usage = os.wait4(process.pid, 0)
            except KeyboardInterrupt:
                process.wait()
                raise
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            with open(log, encoding="utf-8") as text:
                said = text.read().strip()
            raise ExperimentError(f"'{' '.join(command)}' ended with {process.returncode}: {said}")
        return Usage(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)

    def _require_same_settings(self):
        identity, file = self.settings.identity(), self._path("settings.json")
        if os.path.exists(file):
            with open(file, encoding="utf-8") as text:
                if json.load(text) != identity:
                    raise ExperimentError(f"'{self.settings.folder}' holds results of other settings")
        else:
            self._write("settings.json", json.dumps(identity, indent=2) + "\n")

    def _name(self, pair, factor):
        return f"{pair[0]}-{pair[1]}_{self.settings.native * factor:g}mm"

    def _path(self, name):
        return os.path.join(self.settings.folder, name)

    def _write(self, name, text):
        with open(self._path(name) + ".part", "w", encoding="utf-8") as out:
            out.write(text)
        os.replace(self._path(name) + ".part", self._path(name))


def read_scores(file, least_voxels):
    """The means of ffdp evaluate over the structures that are large enough; over all of them as "of_all"."""
    with open(file, encoding="utf-8") as text:
        found = json.load(text)
    labels = [label for label in found["labels"] if label["fixed_voxels"] >= max(1, least_voxels)]
    if not labels:
        raise ExperimentError(f"'{file}' has no structure that is large enough to be scored")
    weights = [1 / label["fixed_voxels"] for label in labels]
    distances = [label["hd90_mm"] for label in labels if label["hd90_mm"] is not None]
    return {"structures": len(labels),
            "mean_dice": statistics.fmean(label["dice"] for label in labels),
            "inverse_volume_weighted_dice": sum(weight * label["dice"] for weight, label in zip(weights, labels))
            / sum(weights),
            "mean_hd90_mm": statistics.fmean(distances),
            "of_all": {score: found[score] for score in SCORES}}


def read_levels(log):
    """Seconds and memory of each level, from the log of a registration."""
    levels = []
    before = 0.0
    with open(log, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["name"] == "inverse":  # after the last level
                continue
            if not levels or levels[-1]["size"] != line["size"]:
                before = levels[-1]["end"] if levels else 0.0
                levels.append({"size": line["size"], "iterations": 0, "first_iteration": line["seconds"]})
            level = levels[-1]
            level["iterations"] += 1
            level["end"] = line["seconds"]
            level["seconds"] = line["seconds"] - before
            level["resident_mb"] = line["resident_mb"]
    for level in levels:
        voxels = level["size"][0] * level["size"][1] * level["size"][2]
        laps = level["iterations"] - 1  # without the first, which also prepares the level
        level["ns_per_voxel"] = (level["end"] - level["first_iteration"]) / laps / voxels * 1e9 if laps else None
        del level["end"], level["first_iteration"]
    return levels
