"""Says whether a run of the program on damaged files was as it should be."""

import gzip
import json
import math
import os
import re
import struct

from . import formats

# What libraries print by themselves.
CHATTER = re.compile(r"HDF5-DIAG|HDF5: |#0\d\d: |MetaIO|MetaImage|M_Read|WARNING: In |ERROR: In |\*\* ?(ERROR|WARNING|warning)|nifti_|znz|vnl|libpng|"
                     r"TIFF[A-Z][a-z]+|terminate called|what\(\)|free\(\)|malloc|nrrd:|\[nrrd\]|itk::|/build/|\.cxx:|\.hxx:|std::", re.I)


class Broken(Exception):
    """An output is not whole, or has numbers that are none."""


def require_finite(values):
    if not all(math.isfinite(v) for v in values):
        raise Broken("numbers that are not finite")


def check_nifti(content):
    try:
        volume = formats.nifti_volume(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (ValueError, OSError, struct.error) as error:
        raise Broken(str(error))
    require_finite(volume.values)


def check_matlab(content):
    at, variables = 0, 0
    while at < len(content):
        if at + 20 > len(content):
            raise Broken("half a variable")
        _, rows, columns, _, length = struct.unpack_from("<5i", content, at)
        at += 20 + length
        if at + 8 * rows * columns > len(content):
            raise Broken("half a matrix")
        require_finite(struct.unpack_from("<%dd" % (rows * columns), content, at))
        at += 8 * rows * columns
        variables += 1
    if variables != 2:
        raise Broken("%d variables" % variables)


def check_csv(content):
    lines = content.decode("utf-8", "replace").splitlines()
    if not lines:
        raise Broken("no line")
    for line in lines:
        if re.search(r"(^|,)-?(nan|inf)(,|$)", ",".join(line.split(",")[:2])):
            raise Broken("numbers that are not finite")


def check_json(content):
    def refuse(word):
        raise Broken("numbers that are not finite")
    try:
        json.loads(content, parse_constant=refuse)
    except ValueError as error:
        raise Broken(str(error))


def check_hdf5(content):
    if content[:4] != b"\x89HDF" or struct.unpack_from("<Q", content, 28)[0] != len(content):
        raise Broken("not all of a file of HDF5")


def check_text(content):
    if not content.endswith(b"\n"):
        raise Broken("no end of the last line")


CHECKS = {".nii": check_nifti, ".gz": check_nifti, ".mat": check_matlab, ".csv": check_csv, ".json": check_json, ".h5": check_hdf5,
          ".txt": check_text}


def check_output(path):
    """Throws Broken if a file that was written is not whole."""
    check = CHECKS.get(os.path.splitext(path)[1])
    if check:
        with open(path, "rb") as content:
            check(content.read())


def names_file(line, names, files):
    """Whether a line names one of the files of a sample, in whatever folder, or one that a header speaks of."""
    for quoted in re.findall(r"'([^']+)'", line):
        spoken = os.path.basename(quoted).encode("utf-8", "replace")
        if len(spoken) > 1 and any(isinstance(content, bytes) and spoken in content[:2000] for content in files.values()):
            return True
    return any(re.search(r"(?<![\w.])%s(?!\w)" % re.escape(name), line) for name in names)


def judge_words(result):
    """What is wrong with what was said, whatever the files were; None if nothing."""
    if result.hung:
        return "hang", "still running after %.0f s" % result.seconds
    if result.code < 0:
        return "signal", "%s; %s" % (result.signal_name(), result.err.strip()[-200:])
    if result.code > 128 and result.code != 130:
        return "signal", "exit code %d; %s" % (result.code, result.err.strip()[-200:])
    said = result.err + result.out
    if "Sanitizer" in said or "runtime error:" in said:
        return "signal", said.strip()[:400]
    lines = [line for line in result.err.split("\n") if line]  # Python knows other ends of lines, which may be in names
    # what the program says itself may name such words; who speaks of HDF5 in its own line is the program
    for line in lines + result.out.splitlines():
        if CHATTER.search(line) and not line.startswith("ffdp: "):
            return "chatter", line[:200]
    if result.code == 0:
        strange = [line for line in lines if not line.startswith(("ffdp: ", "note: ", "warning: "))]
        return ("chatter", strange[0][:200]) if strange else None
    if len(lines) != 1 or not lines[0].startswith("ffdp: "):
        return "silence", "%d lines on stderr: %s" % (len(lines), result.err.strip()[:300])
    return None


def judge(result, mutation, command, names, before, after, answer):
    """A kind of defect and what was seen, or None. before, after: what was in the folder, by name; answer() gives the
    outputs of the undamaged sample, or None if it is refused."""
    told = judge_words(result)
    if told:
        return told
    added = sorted(set(after) - set(before))
    changed = [name for name in before if after.get(name) != before[name]]
    if changed:
        return "input changed", ", ".join(changed)
    if result.code != 0:
        if added:
            return "leftover", ", ".join(added)
        line = result.err.split("\n")[0]
        if mutation.must == "same":
            return "refused", line[:300]
        # a grid that is read may be one that the format of the output does not hold
        blamed = "File too large" in line or not command.voxels and re.search(r"'o\.\w+' cannot be written", line)
        if not blamed and not names_file(line, names, mutation.sample.files):
            return "silence", "does not name the file: " + line[:300]
        return None
    missing = [name for name in command.outputs if name not in after]
    if missing:
        return "wrong answer", "exit code 0 without " + ", ".join(missing)
    left = [name for name in added if name not in command.outputs]
    if left:
        return "leftover", ", ".join(left)
    must = mutation.must if command.voxels or not mutation.voxels else "any"
    if must in ("same", "refuse or same", "refuse"):
        right = answer()
        same = right is not None and (command.timed or all(after[name] == right[name] for name in command.outputs))
        if must == "refuse" and not (same and not command.voxels):
            return "wrong answer", "went on" + (", with the answer of the whole file" if same else "")
        if not same:
            return "wrong answer", "another answer than that of the whole file"
    return None
