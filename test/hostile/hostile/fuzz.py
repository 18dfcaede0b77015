"""Builds the targets of libFuzzer and runs each of them for some seconds, from the corpus that is committed."""

import concurrent.futures
import os
import re
import shutil
import subprocess
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROJECT = os.path.dirname(os.path.dirname(HERE))


class NotBuilt(Exception):
    """The targets cannot be built here."""


def build(jobs):
    if not shutil.which("clang++"):
        raise NotBuilt("there is no clang++ (Debian: clang libclang-rt-14-dev)")
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment.update({"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_BASEDIR": PROJECT, "CCACHE_NOHASHDIR": "1"})
    for line in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz", "--parallel", str(jobs)]):
        made = subprocess.run(line, cwd=PROJECT, env=environment, capture_output=True, text=True)
        if made.returncode != 0:
            raise NotBuilt("%s: %s" % (" ".join(line), (made.stdout + made.stderr)[-3000:]))
    return os.path.join(PROJECT, "build", "fuzz", "fuzz")


def run_target(target, work, options):
    """Its name, how many inputs it ran, and what it found: files that show it, and the words of the sanitizer."""
    name = os.path.basename(target)[len("fuzz-"):]
    grown, found = os.path.join(work, name), os.path.join(options.keep or work, "found-" + name) + os.sep
    os.makedirs(grown), os.makedirs(found, exist_ok=True)
    seeds = os.path.join(HERE, "fuzz", "corpus", name)
    seed = int.from_bytes(options.seed.encode()[-4:], "little") or 1
    line = [target, grown, seeds, "-max_total_time=%d" % options.seconds, "-artifact_prefix=" + found, "-timeout=10", "-rss_limit_mb=2560",
            "-malloc_limit_mb=2048", "-max_len=65536", "-seed=%d" % seed, "-print_final_stats=1",
            "-detect_leaks=0"]  # of libraries; a run of the program is short
    environment = dict(os.environ, ASAN_OPTIONS="detect_container_overflow=0:allocator_may_return_null=0:handle_abort=1",
                       UBSAN_OPTIONS="print_stacktrace=1")
    result = subprocess.run(line, env=environment, capture_output=True, text=True, errors="backslashreplace", cwd=work)
    runs = re.search(r"number_of_executed_units: (\d+)", result.stderr)
    artifacts = sorted(os.listdir(found))
    defect = ""
    if result.returncode != 0:
        shown = re.search(r"(ERROR: .*|runtime error: .*|SUMMARY: .*|uncaught exception.*|terminate called.*)", result.stderr)
        defect = (shown.group(1) if shown else result.stderr[-300:]) + " " + " ".join(artifacts)
        with open(os.path.join(found, "said.txt"), "w") as out:
            out.write(result.stderr[-20000:])
    return name, int(runs.group(1)) if runs else 0, defect


def run_campaign(_, work, options):
    start = time.monotonic()
    folder = build(options.jobs)
    targets = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith("fuzz-"))
    defects, total = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        print("%-18s %12s" % ("target", "inputs"))
        for name, runs, defect in pool.map(lambda target: run_target(target, work, options), targets):
            print("%-18s %12d  %s" % (name, runs, defect), flush=True)
            total += runs
            if defect:
                defects.append(defect)
                print("DEFECT fuzz-%s | %s" % (name, defect), flush=True)
    print("fuzz: %d inputs of %d targets in %.0f s, %d defects" % (total, len(targets), time.monotonic() - start, len(defects)))
    return defects
