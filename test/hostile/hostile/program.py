"""Runs the program in a folder of its own, under limits."""

import dataclasses
import os
import resource
import signal
import subprocess
import time

WALL_SECONDS = 10
MEMORY = 6 << 30
FILE_BYTES = 512 << 20


class NotStarted(Exception):
    """There is no program, or not all of it, as while it is being built."""


@dataclasses.dataclass
class Result:
    code: int  # negative: the number of a signal
    out: str
    err: str
    seconds: float
    hung: bool = False

    def signal_name(self):
        return signal.Signals(-self.code).name if self.code < 0 else ""


def limit(memory, more=()):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (3 * WALL_SECONDS, 3 * WALL_SECONDS + 2))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    for which, most in more:
        resource.setrlimit(which, (most, most))


def environment(extra=None):
    """The same on every machine."""
    keep = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
    keep.update({"LC_ALL": "C", "HOME": "/nonexistent", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                 "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS": "2"})
    keep.update(extra or {})
    return keep


def run(arguments, folder, wall=None, memory=MEMORY, extra=None, limits=()):
    """The program and its children end when the time is over."""
    start = time.monotonic()
    child = subprocess.Popen(arguments, cwd=folder, env=environment(extra), stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                             preexec_fn=lambda: limit(memory, limits))
    hung = False
    try:
        out, err = child.communicate(timeout=wall or WALL_SECONDS)
    except subprocess.TimeoutExpired:
        hung = True
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
    if child.returncode == 127:
        raise NotStarted(err.decode("utf-8", "replace").strip())
    text = lambda some: some[:1 << 20].decode("utf-8", "backslashreplace")
    return Result(child.returncode, text(out), text(err), time.monotonic() - start, hung)


def run_twice_if_slow(arguments, folder, renew):
    """A run that is too slow may have had to wait for others: it hangs if it is too slow once more, alone with more
    time. `renew` makes the folder as it was."""
    result = run(arguments, folder)
    if result.hung:
        renew()
        again = run(arguments, folder, wall=2 * WALL_SECONDS)
        return again if not again.hung else result
    return result
