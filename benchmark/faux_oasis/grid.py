#==========================================================================
#
#   Copyright NumFOCUS
#
#   Licensed under the Apache License, Version 2.0 (the "License");
#   you may not use this file except in compliance with the License.
#   You may obtain a copy of the License at
#
#          https://www.apache.org/licenses/LICENSE-2.0.txt
#
#   Unless required by applicable law or agreed to in writing, software
#   distributed under the License is distributed on an "AS IS" BASIS,
#   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
#   See the License for the specific language governing permissions and
#   limitations under the License.
#
"""A grid of larger voxels over the same part of space, as a NIfTI file."""
import gzip
import struct

HEADER_BYTES = 352  # with the four bytes that say that no extension follows
UINT8 = (2, 8)  # code and bits


def write_coarse_grid(image, factor, output):
    """Writes an empty image whose voxels are `factor` x `factor` x `factor` voxels of `image`, a .nii.gz."""
    with gzip.open(image, "rb") as file:
        header = bytearray(file.read(HEADER_BYTES))
    if struct.unpack_from("<i", header, 0)[0] != 348:
        raise ValueError(f"'{image}' is no little-endian NIfTI-1 file")
    size = [voxels // factor for voxels in struct.unpack_from("<3h", header, 42)]
    struct.pack_into("<3h", header, 42, *size)
    struct.pack_into("<2h", header, 70, *UINT8)
    spacing = struct.unpack_from("<3f", header, 80)
    struct.pack_into("<3f", header, 80, *(edge * factor for edge in spacing))
    struct.pack_into("<f", header, 108, HEADER_BYTES)
    rows = [struct.unpack_from("<4f", header, 280 + 16 * row) for row in range(3)]
    # the middle of the first `factor` voxels along each axis
    origin = [row[3] + sum(row[:3]) * (factor - 1) / 2 for row in rows]
    struct.pack_into("<3f", header, 268, *origin)
    for i, row in enumerate(rows):
        struct.pack_into("<4f", header, 280 + 16 * i, *(step * factor for step in row[:3]), origin[i])
    with gzip.open(output, "wb", compresslevel=1) as file:
        file.write(header)
        for _ in range(size[2]):
            file.write(bytes(size[0] * size[1]))
