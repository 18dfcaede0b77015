"""Makes valid files of every kind: images and transforms come from the program, formats from formats.py."""

import os
import re
import struct

from . import formats, program
from .samples import Field, Sample

SIZE = (12, 11, 10)


class CorpusError(Exception):
    """The program could not make what a campaign begins with."""


def make(ffdp, folder, arguments):
    result = program.run([ffdp] + arguments, folder, wall=60)
    if result.code != 0:
        raise CorpusError("ffdp %s: %d, %s" % (" ".join(arguments), result.code, result.err.strip()))


def make_material(ffdp, folder):
    """Files that commands need beside the one that is damaged; all are small."""
    os.makedirs(folder, exist_ok=True)
    common = ["synthesize", "-q", "--head", "--size"] + [str(n) for n in SIZE] + ["--spacing", "14"]
    make(ffdp, folder, common + ["-o", "fixed.nii", "--labels-out", "labels.nii"])
    make(ffdp, folder, common + ["-o", "moving.nii", "--labels-out", "moved_labels.nii", "--warp-size", "6",
                                 "--rotate", "3", "2", "1", "--rigid-out", "rigid.mat", "--seed", "2"])
    with open(os.path.join(folder, "affine.txt"), "w") as out:
        out.write(AFFINE)
    for name in ("fixed", "moving"):
        make(ffdp, folder, ["apply", "-i", name + ".nii", "-r", name + ".nii", "-t", "identity", "-o", name + ".nii.gz"])
    make(ffdp, folder, ["register", "-q", "--no-report", "-f", "fixed.nii", "-m", "moving.nii", "-o", "r_", "--composite",
                        "--uncompressed"] + STAGES)
    make(ffdp, folder, ["compose", "-t", "affine.txt", "-o", "affine.mat"])
    make(ffdp, folder, ["compose", "-t", "affine.txt", "rigid.mat", "-o", "linear.h5"])
    make(ffdp, folder, ["compose", "-r", "fixed.nii", "-t", "affine.txt", "-o", "warp.nii.gz"])
    for name, content in CSV.items():
        with open(os.path.join(folder, name), "w") as out:
            out.write(content)
    labels = formats.nifti_volume(read(folder, "labels.nii"))
    with open(os.path.join(folder, "table.csv"), "w") as out:
        out.write(TABLE_HEADER + "".join("%d,%d,5\n" % (label, 50 + label % 100) for label in sorted(set(labels.values))))
    image = formats.nifti_volume(read(folder, "fixed.nii"))
    mask = formats.Volume(image.size, [1 if v > 5 else 0 for v in image.values], "B", 1, image.spacing, image.origin)
    formats.nifti("", mask).write(folder)
    os.rename(os.path.join(folder, "x.nii"), os.path.join(folder, "mask.nii"))
    for name in ("fixed", "moving", "labels", "moved_labels"):
        volume = formats.nifti_volume(read(folder, name + ".nii"))
        formats.nifti("", volume.plane()).write(folder)
        os.rename(os.path.join(folder, "x.nii"), os.path.join(folder, "flat_" + name + ".nii"))


STAGES = ["--threads", "2", "--transform", "Affine[0.25]", "--metric", "MeanSquares", "-c", "[3,0,10]",
          "--shrink-factors", "1", "-s", "0vox", "--transform", "SyN[0.2,3,0]", "--metric", "CC[1,2]", "-c", "[3,0,10]",
          "--shrink-factors", "1", "-s", "0vox"]
AFFINE = """#Insight Transform File V1.0
#Transform 0
Transform: AffineTransform_double_3_3
Parameters: 0.97 -0.05 0.03 0.06 1.02 -0.04 0.02 0.05 0.98 3.5 -2.25 1.125
FixedParameters: 5 -10 15
"""
TABLE_HEADER = "label,mean,sd\n"
CSV = {
    "points.csv": "x,y,z,t,label,comment\n10.25,-20.5,15.75,0,1,a\n-30,12.5,3.25,0,2,b\n5.5,-6.25,-7.125,0,3,c\n",
    "moving_points.csv": "x,y,z\n11.5,-19,14\n-28,13,5\n7,-6,-8\n",
    "flat_points.csv": "x,y\n10.25,-20.5\n-30,12.5\n5.5,-6.25\n",
}


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as content:
        return content.read()


def text_transform(kind, name, parameters, fixed, suffix="txt"):
    content = "#Insight Transform File V1.0\n#Transform 0\nTransform: %s\nParameters: %s\nFixedParameters: %s\n" % (
        name, parameters, fixed)
    main = "x." + suffix
    return Sample(kind, main, {main: content.encode()}, header=main, text=len(content), coding="none")


# Numbers of each kind that ITK's readers make; the first word of a kind says what it is good for.
TEXT_TRANSFORMS = {
    "affine": ("AffineTransform_double_3_3", "0.97 -0.05 0.03 0.06 1.02 -0.04 0.02 0.05 0.98 3.5 -2.25 1.125", "5 -10 15"),
    "euler": ("Euler3DTransform_double_3_3", "0.05 -0.03 0.02 3.5 -2.25 1.125", "5 -10 15 0"),
    "versor": ("VersorRigid3DTransform_double_3_3", "0.02 0.03 -0.01 3.5 -2.25 1.125", "5 -10 15"),
    "similarity": ("Similarity3DTransform_double_3_3", "0.02 0.03 -0.01 3.5 -2.25 1.125 1.1", "5 -10 15"),
    "scale": ("ScaleTransform_double_3_3", "1.05 0.95 1.1", "5 -10 15"),
    "translation": ("TranslationTransform_double_3_3", "3.5 -2.25 1.125", ""),
    "matrix": ("MatrixOffsetTransformBase_double_3_3", "0.97 -0.05 0.03 0.06 1.02 -0.04 0.02 0.05 0.98 3.5 -2.25 1.125", "5 -10 15"),
    "float": ("AffineTransform_float_3_3", "0.97 -0.05 0.03 0.06 1.02 -0.04 0.02 0.05 0.98 3.5 -2.25 1.125", "5 -10 15"),
}


def matlab(kind, variables, main="x.mat"):
    """MATLAB's format 4: five 32-bit numbers, a name, and doubles for each variable."""
    content, fields = b"", []
    for name, values in variables:
        at = len(content)
        fields += [Field(label, at + 4 * i, "<i", role) for i, (label, role) in enumerate(
            [("type", "type"), ("rows", "count"), ("columns", "count"), ("imaginary", "other"), ("name length", "count")])]
        content += struct.pack("<5i", 0, len(values), 1, 0, len(name) + 1) + name.encode() + b"\0"
        fields += [Field("value%d" % i, len(content) + 8 * i, "<d", "scale") for i in range(len(values))]
        content += struct.pack("<%dd" % len(values), *values)
    return Sample(kind, main, {main: content}, header=main, fields=tuple(fields), coding="none")


def binary(kind, main, content, words):
    """A file of a library's own format: numbers are where `words` says, or any aligned word that is not 0."""
    return Sample(kind, main, {main: content}, header=main, fields=tuple(words), coding="none")


def hdf5_words(content):
    """Names of types and links, and the 8-byte words of the parts that are not voxels: the numbers of HDF5's records."""
    words = []
    for start in re.finditer(rb"OHDR|OCHK|TREE|BTHD|FRHP|FHDB|GCOL|HEAP|SNOD|\x89HDF", content):
        words += [Field("record+%d" % (start.start() + i), start.start() + i, form, "other")
                  for i in range(4, 72, 2) for form in ("<B", "<H", "<Q") if start.start() + i + 8 < len(content)]
    return words


def image_samples(volume, words="image3"):
    """An image of three dimensions in each format; `words` says what it is good for."""
    flat = volume.plane()
    yield formats.nifti(words + " nii", volume)
    yield formats.nifti(words + " nii.gz", volume, zipped=True)
    yield formats.nifti(words + " nii.gz of three members", volume, zipped=True, inner=3)
    yield formats.nifti(words + " nii big-endian", volume, order=">")
    yield formats.nifti(words + " nii of doubles", volume.typed("d"))
    yield formats.nifti(words + " nii of shorts", volume.typed("h"))
    yield formats.nifti_pair(words + " hdr+img", volume)
    yield formats.nifti_pair(words + " hdr+img by img", volume, main="x.img")
    for where in ("local", "detached", "list", "pattern"):
        yield formats.meta(words + " meta " + where, volume, where)
    for where in ("local", "detached"):
        yield formats.meta(words + " meta zlib " + where, volume, where, "zlib")
    yield formats.meta(words + " meta text", volume, "local", "text")
    for where in ("local", "detached", "list"):
        yield formats.nrrd(words + " nrrd " + where, volume, where)
    yield formats.nrrd(words + " nrrd gzip", volume, "local", "gzip")
    yield formats.nrrd(words + " nhdr gzip", volume, "detached", "gzip")
    yield formats.nrrd(words + " nrrd text", volume, "local", "text")
    yield formats.tiff(words + " tiff", volume.typed("H"))
    yield formats.tiff(words + " tiff ome", volume, ome=True)
    yield formats.nifti("image2 nii.gz", flat, zipped=True)
    yield formats.meta("image2 meta", flat)
    yield formats.nrrd("image2 nrrd", flat, "local", "gzip")
    yield formats.png("picture2 png", flat.typed("B"))
    yield formats.tiff("image2 tiff", flat)
    yield formats.tiff("image2 tiff zlib", flat.typed("B"), "zlib")


def make_samples(ffdp, folder):
    """All samples; `folder` has the material."""
    volume = formats.nifti_volume(read(folder, "fixed.nii"))
    samples = list(image_samples(volume))
    labels = formats.nifti_volume(read(folder, "labels.nii")).typed("h")
    samples += [formats.nifti("labels3 nii.gz", labels, zipped=True), formats.meta("labels3 meta", labels, "local", "zlib"),
                formats.nrrd("labels3 nrrd", labels, "local", "gzip"), formats.nifti("labels2 nii", labels.plane())]
    mask = formats.nifti_volume(read(folder, "mask.nii"))
    samples += [formats.nifti("mask3 nii.gz", mask, zipped=True), formats.nrrd("mask3 nrrd", mask),
                formats.meta("mask3 meta", mask)]
    warp = formats.nifti_volume(read(folder, "r_1Warp.nii"))
    samples += [formats.nifti("field3 nii.gz", warp, zipped=True), formats.nifti("field3 nii", warp),
                formats.nifti_pair("field3 hdr+img", warp),
                formats.meta("field3 meta", warp), formats.meta("field3 meta zlib", warp, "detached", "zlib"),
                formats.nrrd("field3 nrrd", warp), formats.nrrd("field3 nrrd gzip", warp, "local", "gzip")]
    samples += [text_transform("linear3 %s txt" % name, *parts) for name, parts in TEXT_TRANSFORMS.items()]
    samples += [text_transform("linear3 affine tfm", *TEXT_TRANSFORMS["affine"], suffix="tfm")]
    two = [text_transform("", *TEXT_TRANSFORMS[name]).files["x.txt"].decode().split("\n", 2) for name in ("affine", "euler")]
    body = two[0][0] + "\n#Transform 0\nTransform: CompositeTransform_double_3_3\n" + "".join(
        "#Transform %d\n%s" % (i + 1, part[2]) for i, part in enumerate(two))
    samples.append(Sample("linear3 composite txt", "x.txt", {"x.txt": body.encode()}, header="x.txt", text=len(body), coding="none"))
    samples.append(text_transform("linear2 affine txt", "AffineTransform_double_2_2", "0.97 -0.05 0.06 1.02 3.5 -2.25", "5 -10"))
    values = [float(v) for v in TEXT_TRANSFORMS["affine"][1].split()]
    samples += [matlab("linear3 affine mat", [("AffineTransform_double_3_3", values), ("fixed", [5.0, -10.0, 15.0])]),
                matlab("linear3 euler mat", [("Euler3DTransform_double_3_3", [0.05, -0.03, 0.02, 3.5, -2.25, 1.125]),
                                             ("fixed", [5.0, -10.0, 15.0, 0.0])])]
    for kind, source in (("linear3 h5", "linear.h5"), ("composite3 h5", "r_Composite.h5"),
                         ("composite3 inverse h5", "r_InverseComposite.h5")):
        content = read(folder, source)
        samples.append(binary(kind, "x.h5", content, hdf5_words(content)))
    make(ffdp, folder, ["apply", "-i", "fixed.nii", "-r", "fixed.nii", "-t", "identity", "-o", "image.hdf5"])
    content = read(folder, "image.hdf5")
    samples.append(binary("image3 hdf5", "x.hdf5", content, hdf5_words(content)))
    for kind, source in (("points3 csv", "points.csv"), ("points2 csv", "flat_points.csv"), ("table csv", "table.csv")):
        content = read(folder, source)
        samples.append(Sample(kind, "x.csv", {"x.csv": content}, header="x.csv", text=len(content), coding="none"))
    return samples
