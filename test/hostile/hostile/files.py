"""The campaign of damaged files: every kind of file, every command that reads it."""

import collections
import concurrent.futures
import dataclasses
import os
import random
import shutil
import time

from . import corpus, judge, program
from .commands import commands_for
from .mutations import SAME, Mutation, mutate
from .samples import Special, describe_node


@dataclasses.dataclass
class Outcome:
    index: int
    kind: str
    command: str
    what: str
    refused: bool
    defect: tuple = None  # its kind, and what was seen
    kept: str = ""


class Tester:
    """Runs cases of one seed; a case is known by its number."""

    def __init__(self, ffdp, seed, work, keep):
        self.ffdp, self.right, self.seed, self.keep = ffdp, ffdp, seed, keep
        self.material = os.path.join(work, "material")
        self.folder = os.path.join(work, "run-%d" % os.getpid())
        self.samples = corpus.make_samples(ffdp, self.make_own_material(work))
        self.support = {name: corpus.read(self.material, name) for name in os.listdir(self.material)}
        self.groups = collections.defaultdict(list)
        for sample in self.samples:
            for command in commands_for(sample):
                self.groups[sample.kind.split()[0], command.name].append((sample, command))
        self.answers = {}

    def make_own_material(self, work):
        self.material = os.path.join(work, "material-%d" % os.getpid())
        corpus.make_material(self.ffdp, self.material)
        return self.material

    def arguments(self, sample, command):
        return [sample.main if a == "X" else a for a in command.arguments]

    def fill(self, sample, command):
        """A fresh folder with what a command needs."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for name in command.arguments:
            if name in self.support:
                with open(os.path.join(self.folder, name), "wb") as out:
                    out.write(self.support[name])
        sample.write(self.folder)

    def see(self):
        return {name: describe_node(os.path.join(self.folder, name)) for name in os.listdir(self.folder)}

    def answer(self, sample, command):
        """Outputs of the sample as it was, by name."""
        key = (sample.kind, command.name)
        if key not in self.answers:
            self.fill(sample, command)
            result = program.run([self.right] + self.arguments(sample, command), self.folder, wall=60)
            there = self.see() if result.code == 0 else {}
            self.answers[key] = {n: there[n] for n in command.outputs} if result.code == 0 else None
        return self.answers[key]

    def choose(self, index):
        """Every use of a kind of file in turn, and there one format after the other: a short run meets as many as it
        can. The order is the seed's own."""
        turns = [name for name, pairs in sorted(self.groups.items()) for _ in range(1 + len(pairs) // 10)]
        random.Random("%s order" % self.seed).shuffle(turns)
        turn, name = divmod(index, len(turns))[0], turns[index % len(turns)]
        pairs = list(self.groups[name])
        random.Random("%s order of %s %s" % ((self.seed,) + name)).shuffle(pairs)
        place = turn * turns.count(name) + turns[:index % len(turns)].count(name)
        return pairs[place % len(pairs)]

    def run(self, index):
        rng = random.Random("%s:%d" % (self.seed, index))
        sample, command = self.choose(index)
        mutation = mutate(sample, rng, self.samples)
        damaged = mutation.sample
        arguments = [self.ffdp] + self.arguments(sample, command)
        self.fill(damaged, command)
        before = self.see()
        result = program.run_twice_if_slow(arguments, self.folder, lambda: self.fill(damaged, command))
        after = self.see()
        names = set(sample.files) | set(damaged.files)
        defect = judge.judge(result, mutation, command, names, before, after, lambda: self.answer(sample, command))
        if defect is None and result.code == 0:
            defect = self.check_outputs(command, after)
        outcome = Outcome(index, sample.kind, command.name, mutation.what, result.code != 0, defect)
        if defect and self.keep:
            outcome.kept = self.keep_case(outcome, damaged, command, arguments, result)
        return outcome

    def check_outputs(self, command, after):
        for name in command.outputs:
            try:
                check = judge.CHECKS.get(os.path.splitext(name)[1])
                if check:
                    check(after[name])
            except judge.Broken as error:
                return "wrong answer", "%s: %s" % (name, error)
        return None

    def keep_case(self, outcome, damaged, command, arguments, result):
        """A folder with the files as they were, the command and what came of it."""
        words = "%s-%s-%d-%s" % (outcome.defect[0], self.seed, outcome.index, outcome.command)
        folder = os.path.join(self.keep, "".join(c if c.isalnum() or c in "-_." else "_" for c in words))
        shutil.rmtree(folder, ignore_errors=True)
        self.fill(damaged, command)
        shutil.copytree(self.folder, folder, symlinks=True, ignore=lambda where, names: [
            n for n in names if isinstance(damaged.files.get(n), Special) and damaged.files[n].kind == "fifo"])
        for name, content in damaged.files.items():
            if isinstance(content, Special) and content.kind == "fifo":
                os.mkfifo(os.path.join(folder, name))
        with open(os.path.join(folder, "repeat.sh"), "w") as out:
            quoted = " ".join("'%s'" % a for a in arguments[1:])
            out.write('#!/bin/sh\n# %s\n# %s: %s\n# %s: %s\ncd "$(dirname "$0")"\nulimit -c 0\nexec timeout 30 "${FFDP:-ffdp}" %s\n' % (
                outcome.kind, outcome.command, outcome.what.encode("ascii", "backslashreplace").decode().replace("\n", " "),
                outcome.defect[0], outcome.defect[1].replace("\n", " | ").replace("\0", ""), quoted))
        with open(os.path.join(folder, "said.txt"), "w") as out:
            out.write("code %d\n--- stdout\n%s\n--- stderr\n%s\n" % (result.code, result.out[-5000:], result.err[-5000:]))
        os.chmod(os.path.join(folder, "repeat.sh"), 0o755)
        return folder


TESTER = None


def start_worker(*arguments):
    global TESTER
    TESTER = Tester(*arguments)


def run_one(index):
    return TESTER.run(index)


def run_campaign(ffdp, work, options):
    """All cases, or those that --only names; ends early when the time is over. Returns the defects."""
    start = time.monotonic()
    outcomes = []
    wanted = list(options.only) or range(options.first, options.first + options.count)
    with concurrent.futures.ProcessPoolExecutor(options.jobs, initializer=start_worker,
                                                initargs=(ffdp, options.seed, work, options.keep)) as pool:
        waiting, numbers = set(), iter(wanted)
        done = False
        while not done or waiting:
            while not done and len(waiting) < 2 * options.jobs:
                index = next(numbers, None)
                late = options.time and time.monotonic() - start > options.time
                if index is None or late:
                    done = True
                else:
                    waiting.add(pool.submit(run_one, index))
            finished, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in finished:
                outcome = future.result()
                outcomes.append(outcome)
                if outcome.defect:
                    print_defect(options.seed, outcome)
    print_table(outcomes, time.monotonic() - start)
    return [o for o in outcomes if o.defect]


def print_defect(seed, outcome):
    print("DEFECT %s:%d [%s] %s | %s | %s | %s" % (seed, outcome.index, outcome.defect[0], outcome.kind, outcome.command,
                                                 outcome.what[:120].encode("ascii", "backslashreplace").decode(),
                                                 outcome.defect[1][:300].encode("ascii", "backslashreplace").decode().replace("\n", " | ")), flush=True)


def print_table(outcomes, seconds):
    for title, key in (("kind", lambda o: o.kind), ("command", lambda o: o.command)):
        rows = collections.defaultdict(list)
        for outcome in outcomes:
            rows[key(outcome)].append(outcome)
        print("%-34s %6s %8s %9s %8s" % (title, "runs", "refused", "accepted", "defects"))
        for name, row in sorted(rows.items()):
            defects = collections.Counter(o.defect[0] for o in row if o.defect)
            refused = sum(o.refused and not o.defect for o in row)
            print("%-34s %6d %8d %9d %8d  %s" % (name, len(row), refused, len(row) - refused - sum(defects.values()), sum(defects.values()),
                                             ", ".join("%s %d" % d for d in sorted(defects.items()))))
    total = collections.Counter(o.defect[0] for o in outcomes if o.defect)
    print("files: %d runs in %.0f s, %d defects%s" % (len(outcomes), seconds, sum(total.values()),
                                                   "".join(", %s %d" % d for d in sorted(total.items()))), flush=True)
