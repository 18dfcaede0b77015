"""The campaign of command lines: options and values at random, most of them wrong."""

import collections
import concurrent.futures
import dataclasses
import os
import random
import re
import shutil
import time

from . import corpus, judge, program
from .samples import describe_node

COMMANDS = ("register", "plan", "apply", "evaluate", "synthesize", "compose", "invert", "jacobian", "info", "bench")
FILES = ("fixed.nii", "moving.nii", "labels.nii", "moved_labels.nii", "mask.nii", "affine.txt", "affine.mat", "warp.nii.gz", "linear.h5",
         "points.csv", "moving_points.csv", "table.csv", "flat_fixed.nii")
WORDS = ("", " ", "-", "--", "---", "-x", "--nonsense", "[", "]", "[]", "[,]", "[[", "]]", "[fixed.nii", "fixed.nii]", "[fixed.nii,1]", "[fixed.nii,2]",
         "[affine.mat,1]", "[,,,]", "'", '"', "$HOME", "~", "*", "a b", "a\tb", "a\nb", "\u00e9", "\u4e2d\u6587", "\U0001f9e0", "%s%n", "\\", ";",
         "a" * 300, "a/" * 300, "nowhere/o.nii", "/proc/nope/x_", "/dev/null", "/", ".", "..", "./", "identity", "NULL", "[NULL,mask.nii]",
         "missing.nii", "o.xyz", "o", "o.nii.gz", "o.nii", "o.mat", "o.txt", "o.h5", "o.csv", "o.json", "o.png", "o_", "ck", "--help", "--output",
         "--composite", "-o", "-f", "true", "false", "linear", "label", "nearest", "fast", "balanced", "t1", "t2", "same", "different", "cpu", "cuda",
         "cuda:0", "cuda:99", "gpu", "rigid", "affine", "deformable", "Rigid", "@file", "=", "a=b", "#", "{}", "<b>", "0x10")
# Small, or so large that it is refused at once: what lies between is work, and takes its time.
NUMBERS = ("0", "1", "2", "3", "-1", "-0", "+1", "0.5", "1.5", "-2.5", "nan", "inf", "-inf", "1e-300", "1e300", "1e999", "99999999999999999999",
           "-99999999999999999999", "2147483648", "4294967296", "18446744073709551616", "1e", "1e5x", "1,5", "0x1", "1 2", "1_000", "\u0663", "00", "1.", ".5", ".")
STAGE_WORDS = ("Rigid[0.25]", "Rigid[]", "Rigid[", "Rigid]", "Rigid[nan]", "Rigid[-1]", "Rigid[0]", "Rigid[1e300]", "Affine[0.25]", "Affine[0.25,3]",
               "Similarity[0.1]", "SyN[0.1,3,0]", "SyN[0.1,-3,0]", "SyN[0.1,3,nan]", "SyN[]", "Greedy[0.5,1,0.5]", "Greedy[0.5,1mm,0.5vox]",
               "Moments[10,5]", "Moments[0,0]", "Moments[1e-9,1]", "Moments[nan,1]", "BSplineSyN[0.1,26,0,3]", "Exponential[1]", "[0.1]", "Foo[1]",
               "CC", "CC[1,4]", "CC[1,0]", "CC[1,-1]", "CC[1,1e9]", "CC[1,2,power=1]", "CC[1,2,power=nan]", "CC[1,2,gradient=foo]",
               "CC[fixed.nii,moving.nii,1,2]", "CC[fixed.nii,moving.nii]", "CC[missing.nii,moving.nii,1,2]", "CC[1,2,epsilon=-1]",
               "MI[fixed.nii,moving.nii,1,32]", "MI[1,1]", "MI[1,0]", "MI[1,1000000]", "MI[nan,32]", "MI[0,32]", "MI[-1,32]", "MeanSquares", "MeanSquares[0]",
               "Edges[1,2]", "Edges", "Demons[1]", "Mattes[1,32,Regular,0.25]", "[3,1e-3,10]", "[3x2,1e-3,10]", "[3,nan,10]", "[3,0,0]", "[3,0,-1]", "[0,0,10]",
               "[-1,0,10]", "[x]", "[3,0,10,9]", "[99999999999999999999,0,10]", "3x2", "3x2x1", "0x0", "1x1x0", "0x0x0", "nanx1x1", "1x", "x1", "x",
               "1x1", "2x1", "1", "0", "-1", "1.5", "1000000000", "2x1vox", "2x1mm", "0vox", "1e300vox", "nanvox", "-1vox", "1furlong", "vox", "mm")


@dataclasses.dataclass
class Option:
    names: tuple
    takes: int  # values
    several: bool


def read_options(ffdp, command):
    """The options of a command, as its help tells them."""
    result = program.run([ffdp, command, "--help"], "/", wall=60)
    options = []
    for line in result.out.splitlines():
        found = re.match(r"  (-[^ ]*)(.*)", line)
        if found:
            rest = found.group(2)
            takes = 3 if " x 3" in rest else 1 if re.match(r" (TEXT|UINT|INT|FLOAT)", rest) else 0
            options.append(Option(tuple(found.group(1).split(",")), takes, "..." in rest))
    return options


# What makes each command run, so that a single wrong option is met with all else in place.
BASE = {
    "register": "-q --no-report -f fixed.nii -m moving.nii -o o_ -t Affine[0.25] --metric MeanSquares -c [2,0,10] --shrink-factors 1 -s 0vox",
    "plan": "-f fixed.nii -m moving.nii", "apply": "-i moving.nii -r fixed.nii -t affine.mat -o o.nii", "evaluate": "--fixed fixed.nii --moved moving.nii",
    "synthesize": "-q --labels labels.nii --table table.csv -o o.nii", "compose": "-r fixed.nii -t affine.txt -o o.nii", "invert": "-t affine.mat -o o.mat",
    "jacobian": "-t warp.nii.gz -o o.nii", "info": "", "bench": "--size 16 --repeats 1",
}


@dataclasses.dataclass
class Outcome:
    index: int
    arguments: list
    code: int
    defect: tuple = None


class Tester:
    def __init__(self, ffdp, seed, work, keep):
        self.ffdp, self.seed, self.keep = ffdp, seed, keep
        self.material = os.path.join(work, "material-%d" % os.getpid())
        corpus.make_material(ffdp, self.material)
        self.folder = os.path.join(work, "run-%d" % os.getpid())
        self.options = {name: read_options(ffdp, name) for name in COMMANDS}
        self.fill()

    def fill(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for name in FILES:
            shutil.copy(os.path.join(self.material, name), self.folder)
        self.before = {name: describe_node(os.path.join(self.folder, name)) for name in os.listdir(self.folder)}

    def value(self, rng, command, option):
        name = option.names[-1]
        if command == "bench" and name in ("--size", "--repeats"):
            return rng.choice(["16", "17", "0", "-1", "15", "1025", "nan", "x", ""]) if name == "--size" else rng.choice(["1", "0", "1001", "x", "-1"])
        if name == "--size" and rng.random() < 0.8:
            return rng.choice(["1", "5", "12", "0", "-1", "1000000", "99999999999"])
        if name in ("--transform", "--metric", "--convergence", "--shrink-factors", "--smoothing-sigmas", "--restrict-deformation") and rng.random() < 0.75:
            return rng.choice(STAGE_WORDS)
        pool = rng.choice([FILES, FILES, WORDS, NUMBERS])
        return rng.choice(pool)

    def make_line(self, rng):
        command = rng.choice(COMMANDS[:8] * 3 + COMMANDS)
        line = BASE[command].split() if rng.random() < 0.7 or command == "bench" else []
        if line and command != "bench" and rng.random() < 0.3:  # another value for one of those
            place = rng.randrange(len(line))
            line[place] = rng.choice(rng.choice([FILES, WORDS, NUMBERS, STAGE_WORDS]))
        elif line and command != "bench" and rng.random() < 0.2:
            del line[rng.randrange(len(line))]
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 6])):
            option = rng.choice(self.options[command])
            words = [rng.choice(option.names)]
            count = max(0, option.takes + rng.choice([0] * 8 + [-1, 1, 2]))
            words += [self.value(rng, command, option) for _ in range(count + (rng.randrange(3) if option.several else 0))]
            if len(words) > 1 and words[0].startswith("--") and rng.random() < 0.15:
                words[0:2] = [words[0] + "=" + words[1]]
            if "--checkpoint" in words[0] or "--help" in words[0] and rng.random() < 0.9:
                continue
            line += words * (2 if rng.random() < 0.05 else 1)
        if rng.random() < 0.05:
            line.insert(rng.randrange(len(line) + 1), rng.choice(WORDS))
        if rng.random() < 0.03:
            command = rng.choice(["", "Register", "registe", "nonsense", "-q", "--threads", "--version", "register register"])
        return [command] + [word.replace("\0", "") for word in line]

    def run(self, index):
        rng = random.Random("lines %s:%d" % (self.seed, index))
        line = self.make_line(rng)
        result = program.run_twice_if_slow([self.ffdp] + line, self.folder, self.fill)
        defect = self.judge(line, result)
        outcome = Outcome(index, line, result.code, defect)
        self.clean()
        if defect and self.keep:
            with open(os.path.join(self.keep, "%s-%s-%d.txt" % (defect[0], self.seed, index)), "w") as out:
                out.write("%r\n%s: %s\n" % ((["ffdp"] + line,) + defect))
        return outcome

    def judge(self, line, result):
        told = judge.judge_words(result)
        if told:
            return told
        if result.code not in (0, 1, 2):
            return "wrong code", str(result.code)
        for name in os.listdir(self.folder):
            if name.startswith(".ffdp-"):
                return "leftover", name
            if name.startswith("--"):
                return "option as name", name
        for name, content in self.before.items():
            path = os.path.join(self.folder, name)
            if os.path.exists(path) and describe_node(path) != content and not self.is_output(line, name):
                return "input changed", name
        if result.code != 0 and not self.names_something(line, result.err):
            return "silence", "names neither option nor file: " + result.err.strip()[:200]
        return None

    def is_output(self, line, name):
        """Whether the line asks for a file to be written over, which is only right where it is no input as well."""
        text = "\n".join(line)
        written = re.search(r"(^|\n)(-o|--output|--json|--log-json|--labels-out|--warp-out|--rigid-out)(\n|=)[^\n]*%s" % re.escape(name), text)
        return bool(written) and line.count(name) == 1

    def names_something(self, line, said):
        """An option of any command, the command, or a word of the line; an empty one is shown as such."""
        if re.search(r"(^|[\s'(\[=:])-{1,2}[a-zA-Z]", said) or "''" in said:
            return True
        if any("'%s'" % part in said for part in line):
            return True
        words = [word for part in line for word in [part] + re.split(r"[=\[\],]", part) if len(word) > 1 or word.isdigit()]
        return any(word.strip() and word.strip() in said for word in words) or line[0] in COMMANDS and line[0] in said

    def clean(self):
        for name in os.listdir(self.folder):
            path = os.path.join(self.folder, name)
            if name not in self.before:
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.remove(path)
            elif describe_node(path) != self.before[name]:
                shutil.copy(os.path.join(self.material, name), self.folder)
        if set(os.listdir(self.folder)) != set(self.before):
            self.fill()


TESTER = None


def start_worker(*arguments):
    global TESTER
    TESTER = Tester(*arguments)


def run_one(index):
    return TESTER.run(index)


def run_campaign(ffdp, work, options):
    start = time.monotonic()
    wanted = options.only or range(options.first, options.first + options.count)
    outcomes = []
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=start_worker, initargs=(ffdp, options.seed, work, options.keep)) as pool:
        futures = [pool.submit(run_one, index) for index in wanted]
        for future in futures:
            if options.time and time.monotonic() - start > options.time:
                future.cancel()
                continue
            outcome = future.result()
            outcomes.append(outcome)
            if outcome.defect:
                shown = " ".join(repr(a[:60]) if re.search(r"[^\w.\-/\[\],=:]", a) or not a else a for a in outcome.arguments)
                print("DEFECT %s:%d [%s] ffdp %s | %s" % (options.seed, outcome.index, outcome.defect[0],
                                                        shown[:500].encode("ascii", "backslashreplace").decode(),
                                                        outcome.defect[1][:300].encode("ascii", "backslashreplace").decode().replace("\n", " | ")), flush=True)
    print("%-14s %6s %6s %6s %6s %8s" % ("command", "runs", "0", "1", "2", "defects"))
    for name in sorted({o.arguments[0] for o in outcomes}):
        row = [o for o in outcomes if o.arguments[0] == name]
        codes = collections.Counter(o.code for o in row)
        print("%-14s %6d %6d %6d %6d %8d" % (name[:14], len(row), codes[0], codes[1], codes[2], sum(bool(o.defect) for o in row)))
    total = collections.Counter(o.defect[0] for o in outcomes if o.defect)
    print("lines: %d runs in %.0f s, %d defects%s" % (len(outcomes), time.monotonic() - start, sum(total.values()),
                                                   "".join(", %s %d" % d for d in sorted(total.items()))), flush=True)
    return [o for o in outcomes if o.defect]
