"""Shows that the campaigns can fail: programs that misbehave on purpose must be found guilty, and a good one must not."""

import os
import random
import sys
import time

from . import faults, files, lines, program

# Each behaves as the program does until it is given a file that was damaged (all are called x.something).
STAND_INS = {
    "crashes": ("signal", "kill -SEGV $$"),
    "aborts": ("signal", "echo 'ffdp: something' >&2; kill -ABRT $$"),
    "hangs": ("hang", "sleep 30"),
    "says nothing": ("silence", "exit 1"),
    "says two lines": ("silence", "echo 'ffdp: x.nii is broken' >&2; echo 'ffdp: really' >&2; exit 1"),
    "names no file": ("silence", "echo 'ffdp: there is not enough memory' >&2; exit 1"),
    "lets a library speak": ("chatter", "echo 'HDF5: infinite loop closing library' >&2; exec '%(ffdp)s' \"$@\""),
    "leaves a file": ("leftover", "touch .ffdp-host-1-o.nii; echo \"ffdp: $(echo x.*) is broken\" >&2; exit 1"),
    "leaves half an output": ("leftover", "for o in %(outputs)s; do head -c 100 fixed.nii > $o; done; echo \"ffdp: $(echo x.*) is broken\" >&2; exit 1"),
    "writes half an output": ("wrong answer", "for a in \"$@\"; do case $a in o.*) head -c 400 '%(ffdp)s' > $a;; esac; done; exit 0"),
    "writes nothing": ("wrong answer", "exit 0"),
    "refuses what is whole": ("refused", "echo \"ffdp: $(echo x.*) is broken\" >&2; exit 1"),
    "changes its input": ("input changed", "for x in x.*; do [ -f $x ] && echo more >> $x; done; echo \"ffdp: $(echo x.*) is broken\" >&2; exit 1"),
}

# Writes two outputs. The first argument says what they hold: old or new.
WRITER = '''#!%(python)s
import os, sys
behavior, text = "%(behavior)s", sys.argv[1]
content = {name: (text + " " + name + "\\n").encode() * 2000 for name in ("a.txt", "b.txt")}
with open("fixed.nii", "rb") as file:
    if not file.read(): sys.exit("ffdp: 'fixed.nii' is empty")
names = {name: ".ffdp-%%s-%%s" %% (os.getpid() if behavior == "leaves" else "own", name) for name in content}
def write(target, bytes_of):
    number = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    half = len(bytes_of) // 2
    for part in (bytes_of[:half], bytes_of[half:]):
        done = os.write(number, part)
        if done != len(part) and behavior != "ignores": raise OSError(5, "short")
    os.close(number)
try:
    for name in content:
        try:
            write(name if behavior == "in place" else names[name], content[name])
        except OSError:
            if behavior != "ignores": raise
    if behavior != "in place":
        if behavior != "mixes":  # old ones go first
            for name in content:
                if os.path.lexists(name): os.remove(name)
        for name in content: os.rename(names[name], name)
except OSError as error:
    if behavior == "crashes": os.abort()
    for name in names.values():
        if os.path.exists(name) and behavior != "leaves": os.remove(name)
    sys.exit("ffdp: 'a.txt' cannot be written: " + str(error))
'''
WRITERS = {"in place": ("half output", True), "mixes": ("mixed", True), "leaves": ("leftover", True), "ignores": ("wrong answer", False),
           "crashes": ("signal", False)}
TWO = faults.Scenario("two outputs", ("fixed.nii",), ("new",), ("old",), ("a.txt", "b.txt"))


def write_script(path, content):
    with open(path, "w") as out:
        out.write(content)
    os.chmod(path, 0o755)
    return path


def find(cases, wanted):
    """Runs cases until one shows the defect; the kinds that were seen."""
    seen = []
    for outcome in cases:
        if outcome.defect:
            seen.append(outcome.defect[0])
            if outcome.defect[0] == wanted:
                break
    return seen


def test_files(ffdp, work, failed):
    tester = files.Tester(ffdp, "selftest", work, "")
    outputs = "o.nii o.csv o.json o.h5 o.mat r_0GenericAffine.mat r_1Warp.nii r_1InverseWarp.nii r_Warped.nii r_InverseWarped.nii"
    for name, (wanted, script) in STAND_INS.items():
        body = '#!/bin/sh\ncase "$*" in *x.*) ;; *) exec "%s" "$@";; esac\n' % ffdp + script % {"ffdp": ffdp, "outputs": outputs} + "\n"
        tester.ffdp = write_script(os.path.join(work, "stand-in"), body)
        seen = find((tester.run(index) for index in range(4 if wanted == "hang" else 60)), wanted)
        check("a program that " + name, wanted, seen, failed)


def test_faults(ffdp, work, failed):
    tester = faults.Tester(ffdp, "selftest", work, "", True, faults.build_tool(work), "")
    for behavior, (wanted, kills) in list(WRITERS.items()) + [("good", ("", True))]:
        tester.known.clear()
        script = WRITER % {"python": sys.executable, "behavior": behavior}
        tester.ffdp = write_script(os.path.join(work, "writer"), script)
        run = tester.run_kill if kills else tester.run_failure
        cases = (faults.Outcome(i, "", "", *run(TWO, random.Random(i))[1:]) for i in range(25 if behavior == "good" else 60))
        check("a writer that is or does '%s'" % behavior, wanted, find(cases, wanted), failed)


def test_lines(ffdp, work, failed):
    tester = lines.Tester(ffdp, "selftest", work, "")
    for name, wanted, script in (("crashes", "signal", "kill -SEGV $$"), ("says nothing", "silence", "exit 2"),
                                 ("names nothing", "silence", "echo 'ffdp: At Most 1 required but received 3' >&2; exit 2"),
                                 ("ends with 3", "wrong code", "echo \"ffdp: $*\" >&2; exit 3"),
                                 ("takes an option as a name", "option as name", "touch -- --composite; exit 0")):
        tester.ffdp = write_script(os.path.join(work, "stand-in"), "#!/bin/sh\n" + script + "\n")
        check("a program that " + name, wanted, find((tester.run(index) for index in range(60)), wanted), failed)


def check(what, wanted, seen, failed):
    """An empty `wanted` stands for no defect at all."""
    right = wanted in seen if wanted else not seen
    print("%-45s %-15s %s" % (what, wanted or "no defect", "found" if right and wanted else "none" if right else "NOT FOUND, but %s" % seen), flush=True)
    if not right:
        failed.append(what)


def run_campaign(ffdp, work, _):
    start = time.monotonic()
    program.WALL_SECONDS = 2
    failed = []
    for test in (test_files, test_lines, test_faults):
        test(ffdp, work, failed)
    print("selftest: %d failed, in %.0f s" % (len(failed), time.monotonic() - start))
    return failed
