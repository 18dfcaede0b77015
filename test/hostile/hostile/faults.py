"""The campaigns of kills and of failing calls: a system call of a run is disturbed, and the same command runs again."""

import collections
import concurrent.futures
import dataclasses
import json
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time

from . import corpus, judge, program
from .samples import describe_node

STAGES = corpus.STAGES


class Unavailable(Exception):
    """System calls cannot be disturbed on this machine."""


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A command with old outputs in its folder, which another command, `before`, made."""
    name: str
    inputs: tuple
    arguments: tuple
    before: tuple
    outputs: tuple
    weight: int = 1
    ranks: int = 1


def scenario(name, inputs, line, before, outputs, more=(), weight=1, ranks=1):
    return Scenario(name, tuple(inputs.split()), tuple(line.split()) + tuple(more), tuple(before.split()) + tuple(more),
                    tuple(outputs.split()), weight, ranks)


PLAIN = "r_0GenericAffine.mat r_1Warp.nii.gz r_1InverseWarp.nii.gz r_Warped.nii.gz r_InverseWarped.nii.gz"
PAIR = "fixed.nii moving.nii"
SCENARIOS = (
    scenario("register", PAIR, "register -q --no-report -f fixed.nii -m moving.nii -o r_", "register -q --no-report -f moving.nii -m fixed.nii -o r_",
             PLAIN, STAGES, 3),
    scenario("register, all outputs", PAIR,
             "register -q -f fixed.nii -m moving.nii -o r_ --composite --log-json r_log.json --checkpoint ck --checkpoint-seconds 0",
             "register -q -f moving.nii -m fixed.nii -o r_ --composite --log-json r_log.json",
             PLAIN + " r_Composite.h5 r_InverseComposite.h5 r_report.html r_log.json", STAGES, 5),
    scenario("register, two ranks", PAIR,
             "register -q --no-report -f fixed.nii -m moving.nii -o r_ --uncompressed --checkpoint ck --checkpoint-seconds 0",
             "register -q --no-report -f moving.nii -m fixed.nii -o r_ --uncompressed", PLAIN.replace(".gz", ""), STAGES, 1, 2),
    scenario("apply", "fixed.nii.gz moving.nii.gz affine.mat", "apply -i moving.nii.gz -r fixed.nii.gz -t affine.mat -o o.nii.gz",
             "apply -i fixed.nii.gz -r moving.nii.gz -t identity -o o.nii.gz", "o.nii.gz", weight=2),
    scenario("apply, mha", PAIR + " warp.nii.gz", "apply -i moving.nii -r fixed.nii -t warp.nii.gz -o o.mha",
             "apply -i fixed.nii -r moving.nii -t identity -o o.mha", "o.mha"),
    scenario("apply, points", "points.csv affine.txt", "apply -i points.csv -t affine.txt -o o.csv", "apply -i points.csv -t identity -o o.csv", "o.csv"),
    scenario("compose, h5", "affine.txt warp.nii.gz", "compose -t warp.nii.gz affine.txt -o o.h5", "compose -t affine.txt -o o.h5", "o.h5", weight=2),
    scenario("compose, field", "affine.txt warp.nii.gz fixed.nii", "compose -r fixed.nii -t warp.nii.gz affine.txt -o o.nii.gz",
             "compose -r fixed.nii -t affine.txt -o o.nii.gz", "o.nii.gz"),
    scenario("compose, mat", "affine.txt rigid.mat", "compose -t rigid.mat affine.txt -o o.mat", "compose -t affine.txt -o o.mat", "o.mat"),
    scenario("invert", "warp.nii.gz affine.txt fixed.nii", "invert -t warp.nii.gz -o o.nii.gz", "compose -r fixed.nii -t affine.txt -o o.nii.gz", "o.nii.gz"),
    scenario("jacobian", "warp.nii.gz", "jacobian -t warp.nii.gz -o o.nii.gz", "jacobian -t warp.nii.gz --log -o o.nii.gz", "o.nii.gz"),
    scenario("synthesize", "labels.nii table.csv",
             "synthesize -q --labels labels.nii --table table.csv --warp-size 5 --rotate 1 2 3 -o o.nii.gz --labels-out l.nii.gz --warp-out w.nii.gz --rigid-out r.mat --seed 2",
             "synthesize -q --labels labels.nii --table table.csv --warp-size 5 --rotate 3 2 1 -o o.nii.gz --labels-out l.nii.gz --warp-out w.nii.gz --rigid-out r.mat --seed 3",
             "o.nii.gz l.nii.gz w.nii.gz r.mat", weight=2),
    scenario("evaluate", PAIR, "evaluate --fixed fixed.nii --moved moving.nii --json o.json", "evaluate --fixed moving.nii --moved moving.nii --json o.json",
             "o.json"),
)
CANARY = {"bystander.nii.gz": b"precious", "r_notes.txt": b"precious, too", ".hidden": b"hidden"}
ERRORS = ("ENOSPC", "ENOSPC+", "EIO", "EIO+", "EACCES", "EACCES+", "EINTR", "EMFILE", "EMFILE+", "ENOMEM", "EDQUOT+", "short", "short+", "term")
CLEANING = ("unlink", "unlinkat", "rmdir", "close", "getdents64", "rename", "renameat", "renameat2", "flock", "openat", "open")


@dataclasses.dataclass
class Outcome:
    index: int
    scenario: str
    what: str
    result: str
    defect: tuple = None
    kept: str = ""


VARYING = ("r_report.html", "r_log.json")  # tell times, and how far a run came before it was stopped


def is_whole(name, content):
    """Whether a file of VARYING has its end."""
    if name.endswith(".html"):
        return content.rstrip().endswith(b"</html>")
    try:
        return all(json.loads(line) is not None for line in content.splitlines())
    except ValueError:
        return False


def build_tool(work):
    """The program that disturbs system calls, made with the compiler that is there."""
    tool = os.environ.get("FFDP_FAULTS") or compile_tool(os.path.join(work, "faults"))
    tried = subprocess.run([tool, work, "all", "none", "0", "-", "/bin/true"], capture_output=True, text=True)
    if tried.returncode != 0:
        raise Unavailable("no process can be traced here: " + tried.stderr.strip())
    return tool


def compile_tool(tool):
    source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "faults.c")
    made = subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", tool, source], capture_output=True, text=True)
    if made.returncode != 0:
        raise Unavailable("faults.c cannot be compiled: " + made.stderr.strip())
    return tool


class Tester:
    """Runs cases of one seed, each in a folder of its own."""

    def __init__(self, ffdp, seed, work, keep, kills, tool, mpiexec):
        self.ffdp, self.seed, self.keep, self.kills, self.tool, self.mpiexec = ffdp, seed, keep, kills, tool, mpiexec
        material = os.path.join(work, "material-%d" % os.getpid())
        corpus.make_material(ffdp, material)
        self.material = {name: corpus.read(material, name) for name in os.listdir(material)}
        self.folder = os.path.join(work, "run-%d" % os.getpid())
        self.log = os.path.join(work, "calls-%d" % os.getpid())
        self.known = {}

    def line(self, arguments, ranks=1):
        own = [self.ffdp] + list(arguments)
        return own if ranks == 1 else [self.mpiexec, "--oversubscribe", "--bind-to", "none", "-n", str(ranks)] + own

    def disturbed(self, one, which, mode, number):
        """Runs the command below the tool."""
        call = [self.tool, self.folder, which, mode, str(number), self.log] + self.line(one.arguments, one.ranks)
        # libraries of MPI keep files of their own
        extra = {"TMPDIR": "/tmp"} if one.ranks > 1 else None
        return program.run(call, self.folder, wall=3 * program.WALL_SECONDS, memory=0, extra=extra)

    def fill(self, one, old):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for name in one.inputs:
            self.put(name, self.material[name])
        for name, content in list(old.items()) + list(CANARY.items()):
            self.put(name, content)

    def put(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as out:
            out.write(content)

    def see(self):
        """All that is in the folder and below it."""
        found = {}
        for where, folders, names in os.walk(self.folder):
            for name in names + folders:
                path = os.path.join(where, name)
                found[os.path.relpath(path, self.folder)] = describe_node(path)
        return found

    def learn(self, one):
        """Old outputs, right outputs, all that is there after a run, and the calls that it makes."""
        if one.name not in self.known:
            self.fill(one, {})
            result = program.run(self.line(one.before), self.folder, wall=60)
            old = {name: content for name, content in self.see().items() if name in one.outputs}
            if result.code != 0 or not old:
                raise corpus.CorpusError("%s: %d, %s" % (" ".join(one.before), result.code, result.err))
            calls = {}
            for which in ("writes", "all", "resources"):
                self.fill(one, old)
                result = self.disturbed(one, which, "none", 0)
                if result.code != 0:
                    raise corpus.CorpusError("%s: %d, %s" % (" ".join(one.arguments), result.code, result.err))
                with open(self.log, errors="replace") as log:
                    calls[which] = [line.split(" ", 2) for line in log]
            self.known[one.name] = old, self.see(), calls
        return self.known[one.name]

    def choose_call(self, rng, calls):
        """Half of them among the kinds of calls and files, so that the many writes do not hide the few others."""
        if rng.random() < 0.5:
            return int(rng.choice(calls)[0])
        kinds = collections.defaultdict(list)
        for number, name, path in calls:
            kinds[name, re.sub(r"-\d+-", "-", os.path.basename(path))].append(int(number))
        return rng.choice(kinds[rng.choice(sorted(kinds))])

    def compare_outputs(self, one, there, old, right):
        """None, or a defect: outputs that belong to no run, or to two."""
        states = {}
        for name in one.outputs:
            if name not in there or name.endswith("log.json"):  # a log grows while the run goes on
                continue
            if name in VARYING:
                if not is_whole(name, there[name]):
                    return "half output", name
                continue
            is_old, is_new = there[name] == old.get(name), there[name] == right[name]
            if not is_old and not is_new:
                return "half output", name
            if is_old != is_new:
                states[name] = "new" if is_new else "old"
        if len(set(states.values())) > 1:
            return "mixed", ", ".join("%s %s" % s for s in sorted(states.items()))
        for name, content in CANARY.items():
            if there.get(name) != content:
                return "bystander changed", name
        for name in one.inputs:
            if there.get(name) != self.material[name]:
                return "input changed", name
        return None

    def require_right(self, one, old, right, final):
        """Runs the command in peace: it must succeed, with the right bytes, and leave nothing."""
        result = program.run(self.line(one.arguments, one.ranks), self.folder, wall=60)
        told = judge.judge_words(result)
        if told:
            return told
        if result.code != 0:
            return "not mended", "the next run fails: " + result.err.strip()[:200]
        return self.compare_final(one, right, self.see())

    def compare_final(self, one, right, there):
        for name in one.outputs:
            if name not in there:
                return "wrong answer", name + " is missing"
            if not is_whole(name, there[name]) if name in VARYING else there[name] != right[name]:
                return "wrong answer", name + " is not as it should be"
        more = sorted(set(there) - set(right) - set(CANARY))
        if more:
            return "leftover", ", ".join(more)[:300]
        changed = self.compare_outputs(one, there, {}, right)
        return changed

    def run_kill(self, one, rng):
        old, right, calls = self.learn(one)
        old = old if rng.random() < 0.8 else {}
        self.fill(one, old)
        told = []
        for _ in range(1 if rng.random() < 0.7 else 2):
            number = self.choose_call(rng, calls["writes"])
            mode = rng.choice(["killall", "killall", "killall", "kill", "kill", "term"])
            result = self.disturbed(one, "writes", mode, number)
            told.append("%s at %s" % (mode, self.last_call(number)))
            if result.hung:
                return told, "hung", ("hang", "after " + told[-1])
            if mode == "kill" and result.code > 0 and one.ranks == 1:  # a process that only reads or writes was killed
                defect = judge.judge_words(result)
                if defect:
                    return told, str(result.code), defect
            elif mode != "term" and result.code not in (0, -9) and one.ranks == 1:
                return told, str(result.code), ("signal", "code %d: %s" % (result.code, result.err[-200:]))
            defect = self.compare_outputs(one, self.see(), old, right)
            if defect:
                return told, "killed", defect
        if rng.random() < 0.3:
            told += self.damage_leftovers(rng)
        defect = self.require_right(one, old, right, told)
        if defect and defect[0] == "leftover" and "damaged" in told[-1]:
            defect = None  # what cannot be read may be left to its owner
        return told, "killed", defect

    def damage_leftovers(self, rng):
        """Changes a journal or a checkpoint that a killed run left."""
        hidden = [name for name in self.see() if name.startswith(".ffdp-") and "journal" in name or name.endswith("ffdp-state")]
        if not hidden:
            return []
        name = rng.choice(sorted(hidden))
        path = os.path.join(self.folder, name)
        with open(path, "rb") as file:
            content = bytearray(file.read())
        how = rng.choice(["cut", "flip", "names", "empty", "long"])
        if "journal" in name and how == "names":
            content = content.replace(b"r_", b"../").replace(b"o.", b"bystander.")
        elif how == "flip" and content:
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        elif how == "long":
            content += rng.randbytes(5000)
        else:
            content = content[:rng.randrange(len(content) + 1) if how == "cut" else 0]
        with open(path, "wb") as file:
            file.write(content)
        if name.endswith("ffdp-state"):  # which is refused, and stays for its owner to look at
            result = program.run(self.line(SCENARIOS[1].arguments), self.folder, wall=60)
            told = judge.judge_words(result)
            os.remove(path) if os.path.exists(path) else None
            if told:
                return ["damaged checkpoint (%s): %s" % (how, told)]
        return ["damaged %s (%s)" % (name, how)]

    def last_call(self, number):
        try:
            with open(self.log, errors="replace") as log:
                lines = [line.strip() for line in log if line.startswith("%d " % number)]
        except OSError:
            lines = []
        return lines[0].replace(self.folder + "/", "") if lines else "call %d, which was not made" % number

    def run_limited(self, one, rng, old, right):
        """A run that may not have as much as it needs of something."""
        what, least, most = rng.choice([("RLIMIT_FSIZE", 0, 40000), ("RLIMIT_FSIZE", 0, 3000), ("RLIMIT_AS", 60 << 20, 400 << 20),
                                        ("RLIMIT_NOFILE", 4, 40)])
        limit = rng.randrange(least, most)
        told = ["%s of %d" % (what, limit)]
        try:
            result = program.run(self.line(one.arguments, one.ranks), self.folder, wall=30, memory=0,
                                 limits=((getattr(resource, what), limit),))
        except (program.NotStarted, OSError, subprocess.SubprocessError):  # not even the program could be loaded
            return told, "not started", self.require_right(one, old, right, told)
        there = self.see()
        # what the kernel ends while the program is being loaded is not the program's doing
        loading = result.code == -11 and what == "RLIMIT_AS" and not result.err
        defect = None if loading or one.ranks > 1 else judge.judge_words(result)
        if not defect:
            defect = self.compare_final(one, right, there) if result.code == 0 else self.compare_outputs(one, there, old, right)
        if not defect and [name for name in old if name not in there]:
            defect = "output lost", "of the old ones"
        left = [name for name in there if name.startswith(".ffdp")]
        if not defect and left:
            defect = "leftover", ", ".join(left)
        return told, "failed" if result.code else "succeeded", defect or self.require_right(one, old, right, told)

    def run_failure(self, one, rng):
        old, right, calls = self.learn(one)
        old = old if rng.random() < 0.8 else {}
        self.fill(one, old)
        which = rng.choice(["writes", "writes", "writes", "all", "all", "all", "resources", "limits"])
        if which == "limits":
            return self.run_limited(one, rng, old, right)
        which = which if calls[which] else "all"
        mode = rng.choice(["ENOMEM", "EAGAIN", "ENOMEM+", "EAGAIN+"]) if which == "resources" else rng.choice(ERRORS)
        number = self.choose_call(rng, calls[which])
        result = self.disturbed(one, which, mode, number)
        call = self.last_call(number)
        told = ["%s at %s" % (mode, call)]
        there = self.see()
        if one.ranks == 1 or result.hung:
            if mode == "term" and result.code == -15:
                result.code = 0
            told_by = judge.judge_words(result)
            if told_by:
                return told, str(result.code), told_by
        if result.code == 0 and mode != "term":
            defect = self.compare_final(one, right, there)
            if defect and defect[0] == "leftover" and call.split(" ")[1] in CLEANING:
                defect = None
        else:
            defect = self.compare_outputs(one, there, old, right)
            # where no name can be changed any more, or the run ends at once, the next run brings the files back
            stopped = mode == "term" or mode.endswith("+") and call.split(" ")[1].startswith("rename")
            gone = [name for name in old if name not in there and not stopped]
            if not defect and gone:
                defect = "output lost", ", ".join(gone)
            left = [name for name in there if "/" not in name and name.startswith(".") and name not in CANARY]
            if not defect and left and call.split(" ")[1] not in CLEANING and mode != "term":
                defect = "leftover", ", ".join(left)
        defect = defect or self.require_right(one, old, right, told)
        return told, "failed" if result.code else "succeeded", defect

    def run(self, index):
        rng = random.Random("%s %s:%d" % ("kills" if self.kills else "failures", self.seed, index))
        choices = [s for s in SCENARIOS if s.ranks == 1 or self.mpiexec]
        one = rng.choices(choices, [s.weight for s in choices])[0]
        told, result, defect = (self.run_kill if self.kills else self.run_failure)(one, rng)
        told += [] if not any("damaged checkpoint" in t and "(" in t[20:] for t in told) else ["see the above"]
        outcome = Outcome(index, one.name, "; ".join(told), result, defect)
        if defect and self.keep:
            outcome.kept = self.keep_case(outcome, one)
        return outcome

    def keep_case(self, outcome, one):
        folder = os.path.join(self.keep, re.sub(r"[^\w.-]", "_", "%s-%s-%d-%s" % (outcome.defect[0], self.seed, outcome.index, one.name)))
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder, symlinks=True)
        with open(os.path.join(folder, "what.txt"), "w", errors="backslashreplace") as out:
            out.write("%s\n%s: %s\nffdp %s\n" % ((outcome.what,) + tuple(outcome.defect) + (" ".join(one.arguments),)))
        return folder


TESTER = None


def start_worker(*arguments):
    global TESTER
    TESTER = Tester(*arguments)


def run_one(index):
    return TESTER.run(index)


def run_campaign(ffdp, work, options):
    kills = options.campaign == "kills"
    tool = build_tool(work)
    start = time.monotonic()
    wanted = options.only or range(options.first, options.first + options.count)
    outcomes = []
    arguments = (ffdp, options.seed, work, options.keep, kills, tool, options.mpiexec)
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=start_worker, initargs=arguments) as pool:
        futures = []
        for index in wanted:
            futures.append(pool.submit(run_one, index))
        for future in futures:
            if options.time and time.monotonic() - start > options.time:
                future.cancel()
                continue
            outcome = future.result()
            outcomes.append(outcome)
            if outcome.defect:
                print("DEFECT %s:%d [%s] %s | %s | %s" % (options.seed, outcome.index, outcome.defect[0], outcome.scenario, outcome.what[:250],
                                                       outcome.defect[1][:300].replace("\n", " | ")), flush=True)
    print("%-26s %6s %8s  %s" % ("scenario", "runs", "defects", "ends"))
    for name in sorted({o.scenario for o in outcomes}):
        row = [o for o in outcomes if o.scenario == name]
        ends = collections.Counter(o.result for o in row)
        print("%-26s %6d %8d  %s" % (name, len(row), sum(bool(o.defect) for o in row), ", ".join("%s %d" % e for e in sorted(ends.items()))))
    total = collections.Counter(o.defect[0] for o in outcomes if o.defect)
    print("%s: %d runs in %.0f s, %d defects%s" % (options.campaign, len(outcomes), time.monotonic() - start, sum(total.values()),
                                                "".join(", %s %d" % d for d in sorted(total.items()))), flush=True)
    return [o for o in outcomes if o.defect]
