"""Damages a sample by what its bytes mean. What must come of it:

refuse          the file lacks something, or says what cannot be: to go on is a wrong answer
refuse or same  what was damaged may not matter: the answer must be that of the file as it was, or none
same            the file means what it meant
any             the file may mean something else now; the answer must be whole and finite, or none
"""

import dataclasses
import gzip
import math
import re
import struct
import zlib

from . import formats
from .corpus import TEXT_TRANSFORMS
from .samples import Sample, Special

REFUSE, EITHER, SAME, ANY = "refuse", "refuse or same", "same", "any"


@dataclasses.dataclass
class Mutation:
    sample: Sample
    what: str
    must: str
    voxels: bool = False  # who reads only the header need not see it


def special_number(rng, form, old):
    """A number that programs trip over, or one beside the old one."""
    code = form[-1]
    if code in "fd":
        usual = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e30, -1e30, 3.4e38, 1e-30, 1e-45, -1.0, 0.5, 1e9, 32768.0, 4.3e9, 1e19,
                 -old, old * 2, old + 1, old - 1]
        number = rng.choice(usual)
        if code == "f":
            return math.copysign(min(abs(number), 3.4e38), number) if math.isfinite(number) else number
        return rng.choice([number, 1e308, -1e308, 1e-308])
    bits = 8 * struct.calcsize("<" + code)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if code.islower() else (0, (1 << bits) - 1)
    number = rng.choice([0, 1, 2, 3, 4, 5, 7, 8, -1, -2, low, high, high - 1, low + 1, high // 2 + 1, old + 1, old - 1, old * 2, -old,
                         1 << rng.randrange(bits), old ^ (1 << rng.randrange(bits))])
    return max(low, min(high, number))


def nifti_needs(content, order):
    """Bytes of voxels that a header of NIfTI asks for; 0 where it means nothing."""
    dims = struct.unpack_from(order + "8h", content, 40)
    bytes_of = {code: size for code, size in formats.NIFTI_TYPES.values()}.get(struct.unpack_from(order + "h", content, 70)[0], 0)
    if not 1 <= dims[0] <= 7 or min(dims[1:dims[0] + 1]) < 1:
        return 0
    return bytes_of * math.prod(dims[1:dims[0] + 1])


def is_nifti(sample):
    return sample.header.endswith((".nii", ".nii.gz", ".hdr"))


def order_of(sample):
    return sample.fields[0].form[0] if sample.fields[0].form[0] in "<>" else "<"


def judge_nifti(sample, content):
    """Whether changed numbers of a header ask for voxels that are not there."""
    raw = sample.content(sample.data) if sample.zipped else sample.files[sample.data]
    there = len(raw) - (sample.data_start if sample.data == sample.header else 0)
    return REFUSE if nifti_needs(content, order_of(sample)) > there else ANY


def change_numbers(sample, rng):
    count = rng.choice([1, 1, 1, 2, 3])
    content = bytearray(sample.content(sample.header))
    told = []
    fields = list(sample.fields)
    important = [f for f in fields if f.role != "other"]
    for _ in range(count):
        field = rng.choice(important if important and rng.random() < 0.75 else fields)
        old = struct.unpack_from(field.form, content, field.offset)[0]
        new = special_number(rng, field.form, old if old == old and abs(old) < 1e300 else 1)
        struct.pack_into(field.form, content, field.offset, new)
        told.append("%s %s -> %s" % (field.name, old, new))
    sample.put(sample.header, bytes(content))
    must = judge_nifti(sample, content) if is_nifti(sample) else ANY
    return Mutation(sample, "; ".join(told), must, must == REFUSE)


def change_type(sample, rng):
    """Another type of voxel with the bits that belong to it."""
    if not is_nifti(sample):
        return None
    content = bytearray(sample.content(sample.header))
    code, bits = rng.choice([(2, 8), (4, 16), (8, 32), (16, 32), (32, 64), (64, 64), (128, 24), (256, 8), (512, 16), (768, 32),
                             (1024, 64), (1280, 64), (1536, 128), (1792, 128), (2048, 256), (2304, 32), (1, 1), (0, 0)])
    struct.pack_into(order_of(sample) + "hh", content, 70, code, bits)
    sample.put(sample.header, bytes(content))
    must = judge_nifti(sample, content)
    return Mutation(sample, "datatype %d of %d bits" % (code, bits), must, must == REFUSE)


# Factors whose product, or that times the bytes of a voxel, is little or nothing in 64 bits.
WRAPPING = [(1 << 32, 1 << 32, 1), (1 << 31, 1 << 31, 4), (1 << 22, 1 << 21, 1 << 21), (56089639, 220650, 372626),
            ((1 << 63) + 1, 2, 1), (1 << 62, 4, 330), (2147483647, 2147483647, 5), (1 << 20, 1 << 22, 1 << 22),
            (4294967297, 4294967297, 1), (65536, 65536, 65536), (3, 6148914691236517206, 1)]


def wrap_sizes(sample, rng):
    factors = list(rng.choice(WRAPPING))
    rng.shuffle(factors)
    if is_nifti(sample):
        content = bytearray(sample.content(sample.header))
        sizes = rng.choice([[32767] * 7, [16384] * 7, [32767, 32767, 32767, 32767, 16, 1, 1], [4096, 4096, 4096, 4096, 4096, 16, 1],
                            [16384, 16384, 16384, 16384, 256, 1, 1], [256] * 7, [12, 11, 10, 4096, 4096, 4096, 4096]])
        struct.pack_into(order_of(sample) + "8h", content, 40, rng.choice([7, 7, 6, 5, 4, 3]), *sizes)
        if rng.random() < 0.3:
            struct.pack_into(order_of(sample) + "hh", content, 70, 128, 24)
        sample.put(sample.header, bytes(content))
        must = judge_nifti(sample, content)
        return Mutation(sample, "sizes %s" % sizes, must, must == REFUSE)
    if not sample.text or sample.coding == "none":
        return None
    header, body = split_text(sample)
    change = lambda found: found.group(1) + b" ".join(str(f).encode() for f in factors[:len(found.group(2).split())])
    changed = re.sub(rb"((?:DimSize =|sizes:) )([0-9 ]+)", change, header)
    if changed == header:
        return None
    sample.files[sample.header] = changed + body
    used = factors[:2] if sample.kind.split()[0].endswith("2") else factors
    return Mutation(sample, "sizes %s" % used, REFUSE if math.prod(used) > 100000 else ANY, True)


def split_text(sample):
    content = sample.files[sample.header]
    return content[:sample.text], content[sample.text:]


NUMBERS = [b"0", b"-1", b"1", b"2", b"nan", b"inf", b"-inf", b"1e30", b"-1e30", b"1e999", b"1e-320", b"3.4e38", b"1.7e308", b"2147483647",
           b"2147483648", b"-2147483648", b"4294967295", b"4294967296", b"9223372036854775807", b"-9223372036854775808",
           b"18446744073709551615", b"18446744073709551616", b"9" * 400, b"0x10", b"1,5", b"1.5.5", b"--1", b"+1", b"1e", b"1d5", b""]
WORDS = [b"", b"x", b"LOCAL", b"LIST", b"True", b"False", b"MET_FLOAT_ARRAY", b"MET_OTHER", b"MET_STRING", b"double", b"block", b"gzip", b"bzip2",
         b"raw", b"hex", b"ascii", b"big", b"little", b"none", b"%d%d%d%n", b"%s%s%s", b"../../etc/passwd", b"/", b".", b"..", b"a" * 70000,
         "\u00e9\u4e2d".encode(), b"\xff\xfe", b"\0", b"identity", b"Tensor", b"Image", b"Scene", b"(1,0,0)", b"(nan,0,0)", b"(1,0", b"[1,2]"]


def change_token(sample, rng):
    if not sample.text:
        return None
    header, body = split_text(sample)
    places = [m.span() for m in re.finditer(rb"[^\s,():;=]+", header)]
    begin, end = rng.choice(places)
    old = header[begin:end]
    number = re.fullmatch(rb"[-+]?[0-9.]+(e[-+]?[0-9]+)?", old) is not None
    choices = NUMBERS if number and rng.random() < 0.85 else WORDS
    new = rng.choice(choices)
    if number and rng.random() < 0.2:
        new = b"%g" % (float(old) + rng.choice([-1, 1, 0.5, float(old), -2 * float(old), 1000]))
    line_start = header.rfind(b"\n", 0, begin) + 1
    key = header[line_start:begin].split(b"=")[0].split(b":")[0].strip().decode("latin-1")
    sample.files[sample.header] = header[:begin] + new + header[end:] + body
    must = ANY
    broken = new in (b"nan", b"inf", b"-inf", b"x")
    if key in ("Parameters", "FixedParameters") and broken:
        must = REFUSE
    elif sample.kind.startswith("points") and line_start > 0 and broken and header[line_start:begin].count(b",") < 2:
        must = REFUSE
    elif key in ("DimSize", "sizes") and re.fullmatch(rb"[1-9][0-9]{0,8}", new) and int(new) > int(old):
        must = REFUSE
    return Mutation(sample, "%s: %s -> %s" % (key, old[:40], new[:40]), must, key in ("DimSize", "sizes"))


NEEDED_LINES = ("Transform:", "Parameters:", "FixedParameters:", "DimSize", "ElementType", "ElementDataFile", "sizes:", "type:", "encoding:",
                "dimension:")


def change_lines(sample, rng):
    if not sample.text:
        return None
    header, body = split_text(sample)
    lines = header.split(b"\n")
    at = rng.randrange(len(lines) - 1)
    other = rng.randrange(len(lines) - 1)
    how = rng.choice(["remove", "remove", "double", "swap", "insert", "crlf", "bom", "spaces", "join", "upper", "long", "zero bytes"])
    told = lines[at].decode("latin-1")[:50]
    must = ANY
    if how == "remove":
        removed = lines.pop(at)
        text = removed.decode("latin-1")
        if text.startswith(NEEDED_LINES) and not removed.endswith(b":"):
            must = REFUSE
        if text.startswith("FixedParameters") and "translation" in sample.kind or "composite" in sample.kind:
            must = ANY
    elif how == "double":
        lines.insert(at, lines[at])
    elif how == "swap":
        lines[at], lines[other] = lines[other], lines[at]
    elif how == "insert":
        lines.insert(at, rng.choice([b"", b"Nonsense", b"Nonsense = 1", b"nonsense: 1", b"key:=value", b"# comment", b"\0\0\0", b"1,2,3", b",,,,"]))
    elif how == "crlf":
        lines = [line + b"\r" for line in lines[:-1]] + lines[-1:]
    elif how == "bom":
        lines[0] = b"\xef\xbb\xbf" + lines[0]
    elif how == "spaces":
        lines[at] = b"  " + lines[at] + b"   "
    elif how == "join":
        lines[at] = lines[at] + lines.pop(at + 1)
    elif how == "upper":
        lines[at] = lines[at].upper()
    elif how == "long":
        lines[at] += rng.choice([b" ", b"1", b" 1", b"x"]) * rng.choice([300, 5000, 200000])
    else:
        lines[at] = lines[at][:3] + b"\0" + lines[at][3:]
    sample.files[sample.header] = b"\n".join(lines) + body
    return Mutation(sample, "%s line '%s'" % (how, told), must)


def drop_numbers(sample, rng):
    """Fewer parameters than a transform has."""
    if sample.header.endswith((".txt", ".tfm")):
        lines = sample.files[sample.header].decode().split("\n")
        places = [i for i, line in enumerate(lines) if re.match(r"(Fixed)?Parameters: .", line)]
        at = rng.choice(places)
        key, *words = lines[at].split()
        keep = rng.randrange(len(words))
        del words[keep:]
        lines[at] = " ".join([key] + words)
        sample.files[sample.header] = "\n".join(lines).encode()
        euler = any("Euler3D" in line for line in lines[max(0, at - 2):at])
        known = euler and key == "FixedParameters:" and keep == 3  # older files have three
        return Mutation(sample, "%d numbers in %s" % (keep, key), ANY if known else REFUSE)
    if sample.header.endswith(".mat"):
        content = bytearray(sample.files[sample.header])
        field = rng.choice([f for f in sample.fields if f.name == "rows"])
        old = struct.unpack_from("<i", content, field.offset)[0]
        new = rng.randrange(old)
        length = struct.unpack_from("<i", content, field.offset + 12)[0]
        values = field.offset + 16 + length
        struct.pack_into("<i", content, field.offset, new)
        del content[values + 8 * new:values + 8 * old]
        sample.files[sample.header] = bytes(content)
        return Mutation(sample, "%d of %d rows" % (new, old), ANY if old == 4 and new == 3 else REFUSE)
    return None


TYPE_NAMES = [name for name, _, _ in TEXT_TRANSFORMS.values()] + [
    "BSplineTransform_double_3_3", "DisplacementFieldTransform_double_3_3", "CompositeTransform_double_3_3", "IdentityTransform_double_3_3",
    "Foo", "", "AffineTransform", "AffineTransform_double_4_4", "AffineTransform_double_3_2", "ThinPlateSplineKernelTransform_double_3_3",
    "QuaternionRigidTransform_double_3_3", "ScaleLogarithmicTransform_double_3_3", "Rigid2DTransform_double_2_2",
    "ConstantVelocityFieldTransform_double_3_3", "TimeVaryingVelocityFieldTransform_double_4_4", "AzimuthElevationToCartesianTransform_double_3_3",
    "ScaleSkewVersor3DTransform_double_3_3", "VersorTransform_double_3_3", "ComposeScaleSkewVersor3DTransform_double_3_3", "A" * 5000]


def rename_type(sample, rng):
    name = rng.choice(TYPE_NAMES).encode()
    content = sample.files[sample.header]
    found = list(re.finditer(rb"[A-Za-z0-9]+Transform[A-Za-z]*_(double|float)_\d_\d", content)) if not sample.zipped else []
    if not found:
        return None
    begin, end = rng.choice(found).span()
    if sample.header.endswith((".h5", ".hdf5")):  # the places of what follows stay
        name = name[:end - begin].ljust(end - begin, b"\0")
    sample.files[sample.header] = content[:begin] + name + content[end:]
    return Mutation(sample, "%s -> %s" % (content[begin:end].decode(), name[:40]), ANY)


def ends_of(sample, name, content):
    """Places where a file may end: around what has a meaning."""
    places = {0, 1, 2, 4, 8, len(content) - 1, len(content) - 2, len(content) - 4, len(content) - 8, len(content) // 2, len(content) - 100}
    if name == sample.header:
        places |= {sample.text + d for d in (-2, -1, 0, 1)} | {347, 348, 349, 351, 352}
        places |= {f.offset for f in sample.fields[:200]}
    if name == sample.data:
        places |= {sample.data_start + d for d in (-1, 0, 1, 4)}
    return sorted(p for p in places if 0 <= p < len(content))


def truncate(sample, rng):
    name = rng.choice(sorted(sample.files))
    content = sample.files[name]
    size = rng.choice(ends_of(sample, name, content)) if rng.random() < 0.7 else rng.randrange(len(content))
    lost = len(content) - size
    sample.files[name] = content[:size]
    must, voxels = REFUSE, name != sample.header or name == sample.data and size >= max(sample.data_start, sample.text)
    if sample.zipped:
        voxels = True
    if sample.text and name == sample.header and sample.data != sample.header:  # a text ends here
        last = content.rstrip(b"\n").rfind(b"\n") + 1
        last_number = max(content.rstrip().rfind(b" "), content.rfind(b","), last) + 1
        if size >= len(content.rstrip(b"\n")):
            must = EITHER
        elif size >= last_number and sample.coding == "none":
            must = ANY
        elif sample.kind.startswith(("points", "table")) and size > 0:
            must = ANY
        elif size >= last and sample.coding != "none":
            must = EITHER
        # an Euler transform may have three fixed parameters or four
        if must == REFUSE and b"0 0 0 0" not in content and ("euler" in sample.kind or "composite" in sample.kind) and size > last:
            must = ANY if len(content[last:size].split()) >= 4 else must
        if "composite" in sample.kind and must == REFUSE and content[:size].rstrip().endswith((b"_3_3", b"FixedParameters: 5 -10 15", b"FixedParameters: 5 -10 15 0")):
            must = ANY
    elif sample.coding == "text" and voxels and lost < 20:
        must = ANY
    elif sample.header.endswith((".png", ".tif")) and lost < 20:
        must = EITHER
    elif sample.header.endswith((".h5", ".hdf5", ".mat")):
        voxels = False
    return Mutation(sample, "%s cut at %d of %d" % (name, size, len(content)), must, voxels)


def append(sample, rng):
    name = rng.choice(sorted(sample.files))
    content = sample.files[name]
    more = rng.choice([b"\0", b"\0" * 1000, b"\n", b"junk", content[:5000], rng.randbytes(100), gzip.compress(b"more", mtime=0), b"\x1f\x8b", b"\x1f"])
    sample.files[name] = content + more
    text = sample.text and name == sample.header and sample.data != sample.header or sample.coding == "text"
    # numbers that follow those of a matrix, or another stream, may count
    return Mutation(sample, "%d bytes after %s" % (len(more), name), ANY if text or sample.header.endswith((".mat", ".tif")) else EITHER)


def is_checked(sample, name, at):
    """Whether a checksum speaks for a byte."""
    if sample.zipped:
        return True
    if sample.header.endswith(".png"):
        content = sample.files[name]
        place = content.find(b"pHYs")
        return not place - 4 <= at < place + 20
    return name == sample.data and sample.coding in ("gzip", "zlib") and at >= sample.data_start


def flip_bits(sample, rng):
    name = rng.choice(sorted(sample.files))
    content = bytearray(sample.files[name])
    header = min(len(content), sample.text or 400)
    must, told = EITHER, []
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        at = rng.randrange(header) if rng.random() < 0.4 else rng.randrange(len(content))
        if not is_checked(sample, name, at):
            must = ANY
        content[at] ^= 1 << rng.randrange(8)
        told.append(str(at))
    sample.files[name] = bytes(content)
    return Mutation(sample, "bits of %s at %s" % (name, ", ".join(told)), must, True)


def shift_bytes(sample, rng):
    """A few bytes more or less in the middle."""
    name = rng.choice(sorted(sample.files))
    content = sample.files[name]
    at, count = rng.randrange(len(content)), rng.choice([1, 2, 4, 8, 100])
    remove = rng.random() < 0.5
    sample.files[name] = content[:at] + (content[at + count:] if remove else rng.randbytes(count) + content[at:])
    checked = is_checked(sample, name, at)
    raw = remove and not sample.zipped and sample.coding == "raw" and name == sample.data and at >= sample.data_start and name != "x.tif"
    must = REFUSE if raw and not name.endswith(".tif") else EITHER if checked else ANY
    return Mutation(sample, "%d bytes %s at %d of %s" % (count, "gone" if remove else "more", at, name), must, True)


def replace_file(sample, rng, others):
    """A file of another kind under the right name, or nothing that is a file at all."""
    name = rng.choice(sorted(sample.files)) if rng.random() < 0.5 else sample.main
    content = sample.files[name]
    how = rng.choice(["folder", "fifo", "dangling", "loop", "null", "zero", "linked", "missing", "empty", "random", "text", "other", "other", "zeros"])
    must = REFUSE
    if how in ("folder", "fifo"):
        sample.files[name] = Special(how)
    elif how in ("dangling", "loop", "null", "zero"):
        sample.files[name] = Special("link", {"dangling": "nowhere", "loop": name, "null": "/dev/null", "zero": "/dev/zero"}[how])
    elif how == "linked":
        sample.files["y" + name] = content
        sample.files[name] = Special("link", "y" + name)
        must = SAME
    elif how == "missing":
        del sample.files[name]
    elif how == "other":
        other = rng.choice(others)
        sample.files[name] = next(iter(other.files.values()))
        must = ANY
        how += " (%s)" % other.kind
    else:
        sample.files[name] = {"empty": b"", "random": rng.randbytes(2000), "text": b"To be, or not to be, that is the question.\n" * 40,
                              "zeros": bytes(40000)}[how]
        text = sample.kind.startswith(("points", "table"))
        must = ANY if how != "empty" and (text or name != sample.main) else REFUSE
    return Mutation(sample, "%s is %s" % (name, how), must, name != sample.main)


def special_gzip(sample, rng):
    """Streams as the standard allows and nobody writes, and one that holds far more than its header says."""
    if not sample.zipped:
        return None
    inner = sample.content(sample.header)
    how = rng.choice(["bomb", "bomb", "fields", "stored", "empty members", "wrong length", "wrong check", "shorter", "plain"])
    must = SAME
    if how == "bomb":
        member = gzip.compress(bytes(1 << 24), 9, mtime=0)
        content, must = gzip.compress(inner, 1, mtime=0) + member * 600, ANY
    elif how == "fields":
        body = gzip.compress(inner, 1, mtime=0)
        content = body[:3] + b"\x1c" + body[4:10] + struct.pack("<H", 300) + bytes(300) + b"name" * 100 + b"\0" + b"comment\0" + body[10:]
    elif how == "stored":
        content = gzip.compress(inner, 0, mtime=0)
    elif how == "empty members":
        content = gzip.compress(b"", mtime=0) * 5 + gzip.compress(inner, 1, mtime=0) + gzip.compress(b"", mtime=0) * 5
    elif how == "shorter":
        content, must = gzip.compress(inner[:-rng.randrange(1, 400)], 1, mtime=0), REFUSE
    elif how == "plain":
        content, must = inner, EITHER
    else:
        body = bytearray(gzip.compress(inner, 1, mtime=0))
        body[-1 if how == "wrong length" else -8] ^= 0x55
        content, must = bytes(body), REFUSE
    sample.files[sample.header] = content
    return Mutation(sample, "gzip: " + how, must, True)


def change_chunks(sample, rng):
    """Chunks of PNG whose checks are right."""
    if not sample.header.endswith(".png"):
        return None
    chunks = formats.png_chunks(sample.files[sample.header])
    at = rng.randrange(len(chunks))
    name, body = chunks[at]
    how = rng.choice(["number", "number", "remove", "double", "short", "new", "swap"])
    must = ANY
    if how == "number" and body:
        changed = bytearray(body)
        place = rng.randrange(len(body))
        changed[place] = rng.choice([0, 1, 2, 3, 4, 16, 127, 128, 255])
        chunks[at] = (name, bytes(changed))
    elif how == "remove":
        chunks.pop(at)
        must = REFUSE if name in (b"IHDR", b"IDAT") else ANY
    elif how == "double":
        chunks.insert(at, chunks[at])
    elif how == "short":
        chunks[at] = (name, body[:len(body) // 2])
    elif how == "swap":
        chunks[0], chunks[at] = chunks[at], chunks[0]
    else:
        bomb = zlib.compress(bytes(1 << 24), 9)
        chunks.insert(1, rng.choice([(b"zTXt", b"k\0\0" + bomb), (b"iCCP", b"k\0\0" + bomb), (b"PLTE", bytes(9)), (b"tRNS", b"\0\1"),
                                     (b"gAMA", bytes(4)), (b"abCd", bytes(10)), (b"ABCD", bytes(10)), (b"sBIT", b"\xff")]))
    sample.files[sample.header] = formats.png_of(chunks)
    return Mutation(sample, "chunk %s: %s" % (name.decode(), how), must, True)


def change_xml(sample, rng):
    """Sizes and units of OME."""
    content = sample.files[sample.header]
    begin, end = content.find(b"<?xml"), content.find(b"</OME>")
    if begin < 0:
        return None
    places = [m.span(1) for m in re.finditer(rb'="([^"]*)"', content[begin:end])]
    first, last = (begin + p for p in rng.choice(places))
    new = rng.choice(NUMBERS[:20] + [b"m", b"nm", b"pixel", b"\xc2\xb5m", b"&#181;m", b"&lt;", b"<", b"\""])
    new = new[:last - first].ljust(last - first)
    sample.files[sample.header] = content[:first] + new + content[last:]
    return Mutation(sample, "OME: %s -> %s" % (content[first:last], new), ANY)


def nothing(sample, _):
    return Mutation(sample, "nothing", SAME)


WAYS = ((change_numbers, 8), (change_type, 2), (wrap_sizes, 3), (change_token, 8), (change_lines, 4), (drop_numbers, 4), (rename_type, 3),
        (truncate, 7), (append, 2), (flip_bits, 6), (shift_bytes, 3), (replace_file, 5), (special_gzip, 2), (change_chunks, 4),
        (change_xml, 4), (nothing, 1))


def mutate(sample, rng, others):
    """One of the ways that a sample of this kind can be damaged."""
    while True:
        way = rng.choices([w for w, _ in WAYS], [n for _, n in WAYS])[0]
        if way is change_numbers and not sample.fields:
            continue
        mutation = way(sample.copy(), rng, others) if way is replace_file else way(sample.copy(), rng)
        if mutation is not None:
            if mutation.sample.files == sample.files and mutation.must != SAME:
                mutation = Mutation(mutation.sample, "nothing", SAME)
            return mutation
