"""Writes images in the formats that the program reads, byte by byte, and says which byte means what."""

import gzip
import struct
import zlib

from .samples import Field, Sample

NIFTI_TYPES = {"f": (16, 4), "d": (64, 8), "B": (2, 1), "h": (4, 2), "H": (512, 2), "i": (8, 4)}
META_TYPES = {"f": "MET_FLOAT", "d": "MET_DOUBLE", "B": "MET_UCHAR", "h": "MET_SHORT", "H": "MET_USHORT", "i": "MET_INT"}
NRRD_TYPES = {"f": "float", "d": "double", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32"}


class Volume:
    """Voxels, x fastest, the values of a voxel side by side; places in LPS mm."""

    def __init__(self, size, values, code="f", channels=1, spacing=(1, 1, 1), origin=(0, 0, 0)):
        self.size, self.values, self.code, self.channels = tuple(size), values, code, channels
        self.spacing, self.origin = tuple(spacing), tuple(origin)

    def bytes(self, order="<"):
        return struct.pack(order + str(len(self.values)) + self.code, *self.values)

    def apart(self):
        """The first values of all voxels, then the second ones, as in NIfTI."""
        return [v for c in range(self.channels) for v in self.values[c::self.channels]]

    def plane(self):
        """Its middle plane, as an image of two dimensions."""
        voxels = self.size[0] * self.size[1] * self.channels
        start = voxels * (self.size[2] // 2)
        return Volume(self.size[:2], self.values[start:start + voxels], self.code, self.channels, self.spacing[:2],
                      self.origin[:2])

    def typed(self, code):
        most = {"B": 255, "h": 32767, "H": 65535}.get(code)
        values = [max(0, min(most, int(v))) for v in self.values] if most else self.values
        return Volume(self.size, values, code, self.channels, self.spacing, self.origin)


NIFTI_FIELDS = tuple(
    [Field("sizeof_hdr", 0, "i", "other"), Field("dim_info", 39, "B", "other")]
    + [Field("dim%d" % i, 40 + 2 * i, "h", "size") for i in range(8)]
    + [Field("intent_p1", 56, "f", "other"), Field("intent_code", 68, "h", "type"), Field("datatype", 70, "h", "type"),
       Field("bitpix", 72, "h", "bits"), Field("slice_start", 74, "h", "other")]
    + [Field("pixdim%d" % i, 76 + 4 * i, "f", "place") for i in range(8)]
    + [Field("vox_offset", 108, "f", "offset"), Field("scl_slope", 112, "f", "scale"),
       Field("scl_inter", 116, "f", "scale"), Field("slice_end", 120, "h", "other"),
       Field("slice_code", 122, "B", "other"), Field("xyzt_units", 123, "B", "other"),
       Field("cal_max", 124, "f", "other"), Field("toffset", 136, "f", "other"),
       Field("qform_code", 252, "h", "place"), Field("sform_code", 254, "h", "place")]
    + [Field("quatern%d" % i, 256 + 4 * i, "f", "place") for i in range(6)]
    + [Field("srow%d" % i, 280 + 4 * i, "f", "place") for i in range(12)]
    + [Field("magic", 344, "i", "type"), Field("extension", 348, "i", "other")])


def nifti_header(volume, order="<", pair=False):
    header = bytearray(352)
    code, bytes_of = NIFTI_TYPES[volume.code]
    dimension = len(volume.size)
    sizes = list(volume.size) + [1] * (7 - dimension)
    if volume.channels > 1:
        sizes, dimension = list(volume.size) + [1] * (4 - dimension) + [volume.channels, 1, 1], 5
    spacing = list(volume.spacing) + [1] * (7 - len(volume.spacing))
    origin = list(volume.origin) + [0] * (3 - len(volume.origin))
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(order + "8h", header, 40, dimension, *sizes)
    struct.pack_into(order + "hhh", header, 68, 1007 if volume.channels > 1 else 0, code, 8 * bytes_of)
    struct.pack_into(order + "8f", header, 76, 1, *spacing)
    struct.pack_into(order + "fff", header, 108, 0 if pair else 352, 1, 0)
    header[123] = 2
    struct.pack_into(order + "hh", header, 252, 1, 1)
    # a turn by 180 degrees about z, which is what takes LPS to RAS
    struct.pack_into(order + "6f", header, 256, 0, 0, 1, -origin[0], -origin[1], origin[2])
    struct.pack_into(order + "12f", header, 280, -spacing[0], 0, 0, -origin[0], 0, -spacing[1], 0, -origin[1], 0, 0,
                     spacing[2], origin[2])
    header[344:348] = b"ni1\0" if pair else b"n+1\0"
    return bytes(header[:348] if pair else header)


def nifti_volume(content):
    """Reads what nifti_header() or the program wrote, little-endian; raises ValueError if the file is not whole."""
    if len(content) < 352 or struct.unpack_from("<i", content)[0] != 348:
        raise ValueError("no header of NIfTI")
    dims = struct.unpack_from("<8h", content, 40)
    code = {number: letter for letter, (number, _) in NIFTI_TYPES.items()}.get(struct.unpack_from("<h", content, 70)[0])
    start = int(struct.unpack_from("<f", content, 108)[0])
    if code is None or not 1 <= dims[0] <= 7 or min(dims[1:dims[0] + 1]) < 1:
        raise ValueError("a type or sizes that nobody wrote")
    count = 1
    for size in dims[1:dims[0] + 1]:
        count *= size
    if len(content) != start + count * struct.calcsize(code):
        raise ValueError("%d bytes, not %d" % (len(content), start + count * struct.calcsize(code)))
    values = struct.unpack_from("<%d%s" % (count, code), content, start)
    channels = dims[5] if dims[0] == 5 else 1
    size = dims[1:4] if dims[0] >= 3 else dims[1:3]
    voxels = count // channels
    mixed = [values[c * voxels + i] for i in range(voxels) for c in range(channels)] if channels > 1 else list(values)
    rows = struct.unpack_from("<12f", content, 280)
    return Volume(size, mixed, code, channels, struct.unpack_from("<3f", content, 80)[:len(size)],
                  (-rows[3], -rows[7], rows[11])[:len(size)])


def nifti(kind, volume, zipped=False, order="<", inner=1):
    name = "x.nii.gz" if zipped else "x.nii"
    values = Volume(volume.size, volume.apart(), volume.code, 1)
    content = nifti_header(volume, order) + values.bytes(order)
    fields = tuple(Field(f.name, f.offset, order + f.form, f.role) for f in NIFTI_FIELDS)
    sample = Sample(kind, name, {}, header=name, zipped=zipped, fields=fields, data=name, data_start=352,
                    coding="gzip" if zipped else "raw")
    sample.put(name, content)
    if inner > 1:  # several members of gzip, one after the other
        third = len(content) // inner + 1
        sample.files[name] = b"".join(gzip.compress(content[i * third:(i + 1) * third], 1, mtime=0) for i in range(inner))
    return sample


def nifti_pair(kind, volume, main="x.hdr"):
    values = Volume(volume.size, volume.apart(), volume.code, 1)
    fields = tuple(f for f in NIFTI_FIELDS if f.offset < 348)
    return Sample(kind, main, {"x.hdr": nifti_header(volume, pair=True), "x.img": values.bytes()}, header="x.hdr",
                  fields=fields, data="x.img")


def numbers(values):
    return " ".join("%g" % v for v in values)


def as_text(volume):
    return (" ".join("%.9g" % v for v in volume.values) + "\n").encode()


def meta(kind, volume, where="local", coding="raw"):
    """where: local, detached, list or pattern."""
    dimension = len(volume.size)
    raw = as_text(volume) if coding == "text" else volume.bytes()
    body = zlib.compress(raw) if coding == "zlib" else raw
    data = {"local": "LOCAL", "detached": "x.zraw" if coding == "zlib" else "x.raw", "list": "LIST",
            "pattern": "x%03d.raw 1 " + str(volume.size[-1]) + " 1"}[where]
    identity = [1 if i % (dimension + 1) == 0 else 0 for i in range(dimension * dimension)]
    lines = ["ObjectType = Image", "NDims = %d" % dimension, "BinaryData = " + str(coding != "text"),
             "BinaryDataByteOrderMSB = False", "CompressedData = " + str(coding == "zlib")]
    lines += ["CompressedDataSize = %d" % len(body)] if coding == "zlib" else []
    lines += ["TransformMatrix = " + numbers(identity), "Offset = " + numbers(volume.origin),
              "CenterOfRotation = " + numbers([0] * dimension), "AnatomicalOrientation = RAI"[:24 + dimension],
              "ElementSpacing = " + numbers(volume.spacing), "DimSize = " + numbers(volume.size)]
    lines += ["ElementNumberOfChannels = %d" % volume.channels] if volume.channels > 1 else []
    lines += ["ElementType = " + META_TYPES[volume.code], "ElementDataFile = " + data]
    planes = volume.size[-1]
    names = {"list": ["x%d.raw" % z for z in range(planes)], "pattern": ["x%03d.raw" % (z + 1) for z in range(planes)]}
    lines += names["list"] if where == "list" else []
    header = ("\n".join(lines) + "\n").encode()
    main = "x.mha" if where == "local" else "x.mhd"
    files = {main: header + (body if where == "local" else b"")}
    if where == "detached":
        files[data] = body
    for z, name in enumerate(names.get(where, [])):
        part = len(body) // planes
        files[name] = body[z * part:(z + 1) * part]
    return Sample(kind, main, files, header=main, text=len(header),
                  data=main if where == "local" else data if where == "detached" else names[where][0],
                  data_start=len(header) if where == "local" else 0, coding=coding)


def nrrd(kind, volume, where="local", coding="raw"):
    """where: local, detached or list."""
    dimension = len(volume.size)
    raw = as_text(volume) if coding == "text" else volume.bytes()
    body = gzip.compress(raw, 1, mtime=0) if coding == "gzip" else raw
    vector = volume.channels > 1
    sizes = ([volume.channels] if vector else []) + list(volume.size)
    axes = ["(%s)" % ",".join("%g" % (volume.spacing[i] if i == j else 0) for j in range(dimension))
            for i in range(dimension)]
    lines = ["NRRD0004", "# written by test/hostile", "type: " + NRRD_TYPES[volume.code], "dimension: %d" % len(sizes)]
    lines += ["space: left-posterior-superior"] if dimension == 3 else ["space dimension: 2"]
    lines += ["sizes: " + numbers(sizes), "space directions: " + " ".join((["none"] if vector else []) + axes),
              "kinds: " + " ".join((["vector"] if vector else []) + ["domain"] * dimension), "endian: little",
              "encoding: " + {"raw": "raw", "gzip": "gzip", "text": "ascii"}[coding],
              "space origin: (%s)" % ",".join("%g" % v for v in volume.origin)]
    data = "x.raw.gz" if coding == "gzip" else "x.raw"
    planes = volume.size[-1]
    names = ["x%d.raw" % z for z in range(planes)]
    lines += {"local": [], "detached": ["data file: " + data], "list": ["data file: LIST"] + names}[where]
    header = ("\n".join(lines) + "\n" + ("" if where == "list" else "\n")).encode()
    main = "x.nrrd" if where == "local" else "x.nhdr"
    files = {main: header + (body if where == "local" else b"")}
    if where == "detached":
        files[data] = body
    if where == "list":
        part = len(body) // planes
        files.update({name: body[z * part:(z + 1) * part] for z, name in enumerate(names)})
    return Sample(kind, main, files, header=main, text=len(header),
                  data={"local": main, "detached": data, "list": names[0]}[where],
                  data_start=len(header) if where == "local" else 0, coding=coding)


def png_chunks(content):
    """Pairs of a type and its bytes."""
    chunks, at = [], 8
    while at + 12 <= len(content):
        length = struct.unpack_from(">I", content, at)[0]
        chunks.append((content[at + 4:at + 8], content[at + 8:at + 8 + length]))
        at += 12 + length
    return chunks


def png_of(chunks):
    out = b"\x89PNG\r\n\x1a\n"
    for name, body in chunks:
        out += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return out


def png(kind, volume):
    width, height = volume.size
    rows = b"".join(b"\0" + bytes(volume.values[y * width:(y + 1) * width]) for y in range(height))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)),
              (b"pHYs", struct.pack(">IIB", 1000, 1000, 1)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return Sample(kind, "x.png", {"x.png": png_of(chunks)}, header="x.png", data="x.png", coding="png")


OME = ('<?xml version="1.0" encoding="UTF-8"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
       '<Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="%s" SizeX="%d" SizeY="%d" SizeZ="%d" '
       'SizeC="1" SizeT="1" PhysicalSizeX="14" PhysicalSizeXUnit="mm" PhysicalSizeY="14" PhysicalSizeYUnit="mm" '
       'PhysicalSizeZ="14" PhysicalSizeZUnit="mm"><TiffData/></Pixels></Image></OME>')


def tiff(kind, volume, coding="raw", ome=False):
    """Pages of one strip each, little-endian."""
    size = list(volume.size) + [1] * (3 - len(volume.size))
    bytes_of = struct.calcsize(volume.code)
    page = size[0] * size[1]
    out = bytearray(struct.pack("<2sHI", b"II", 42, 8))
    fields, starts = [Field("version", 2, "<H", "type"), Field("first", 4, "<I", "offset")], []
    for z in range(size[2]):
        raw = struct.pack("<%d%s" % (page, volume.code), *volume.values[z * page:(z + 1) * page])
        body = zlib.compress(raw) if coding == "zlib" else raw
        text = b""
        if z == 0 and ome:
            text = (OME % ({"f": "float", "B": "uint8", "H": "uint16"}[volume.code], *size)).encode() + b"\0"
        elif z == 0:  # as ImageJ says it; voxels of 10 mm and more would not be believed
            slices = b"slices=%d\nspacing=5.0\n" % size[2] if size[2] > 1 else b""
            text = b"ImageJ=1.53\nimages=%d\n%sunit=mm\nloop=false\n\0" % (size[2], slices)
        count = 14 if text else 13
        start, after = len(out), len(out) + 2 + 12 * count + 4
        resolution, strip = after, after + 16 + len(text)
        entries = [(256, 4, 1, size[0]), (257, 4, 1, size[1]), (258, 3, 1, 8 * bytes_of),
                   (259, 3, 1, 8 if coding == "zlib" else 1), (262, 3, 1, 1), (273, 4, 1, strip), (277, 3, 1, 1),
                   (278, 4, 1, size[1]), (279, 4, 1, len(body)), (282, 5, 1, resolution), (283, 5, 1, resolution + 8), (296, 3, 1, 1),
                   (339, 3, 1, 3 if volume.code in "fd" else 1)]
        entries += [(270, 2, len(text), after + 16)] if text else []
        out += struct.pack("<H", count)
        for tag, form, number, value in sorted(entries):
            at = len(out)
            out += struct.pack("<HHII", tag, form, number, value)
            role = {256: "size", 257: "size", 258: "bits", 273: "offset", 278: "size", 279: "count"}.get(tag, "other")
            fields += [Field("tag%d" % tag, at, "<H", "type"), Field("form%d" % tag, at + 2, "<H", "type"),
                       Field("count%d" % tag, at + 4, "<I", "count"), Field("value%d" % tag, at + 8, "<I", role)]
        last = z + 1 == size[2]
        fields.append(Field("next", len(out), "<I", "offset"))
        out += struct.pack("<I", 0 if last else strip + len(body)) + struct.pack("<4I", 1, 5, 1, 5) + text
        starts.append(len(out))
        out += body
    name = "x.ome.tif" if ome else "x.tif"
    return Sample(kind, name, {name: bytes(out)}, header=name, fields=tuple(fields), data=name, data_start=starts[0],
                  coding="raw" if coding == "raw" else "none")
