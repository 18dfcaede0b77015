"""A sample is a valid input in one format, written byte by byte, with what its format means at which byte."""

import copy
import dataclasses
import gzip
import os
import stat


@dataclasses.dataclass(frozen=True)
class Special:
    """Stands where a file should be: a folder, a FIFO, a link, or an unreadable or missing file."""
    kind: str
    target: str = ""

    def create(self, path):
        if self.kind == "folder":
            os.mkdir(path)
        elif self.kind == "fifo":
            os.mkfifo(path)
        elif self.kind == "link":
            os.symlink(self.target, path)


@dataclasses.dataclass(frozen=True)
class Field:
    """A number of a binary header. `role` is size, type, bits, offset, place, scale, count, check, text or other."""
    name: str
    offset: int
    form: str
    role: str


@dataclasses.dataclass
class Sample:
    """Files that belong together. `main` is the one that the command line names."""
    kind: str
    main: str
    files: dict
    header: str = ""  # the file that the header is in
    zipped: bool = False  # the whole header file is in gzip
    text: int = 0  # bytes of the text that the header file begins with
    fields: tuple = ()  # numbers of a binary header
    data: str = ""  # the file that the voxels are in
    data_start: int = 0  # in that file, or in what it holds
    coding: str = "raw"  # of the voxels: raw, gzip, zlib, text, none
    exact: bool = True  # a file that ends earlier lacks something

    def copy(self):
        other = copy.copy(self)
        other.files = dict(self.files)
        return other

    def content(self, name):
        """What a file holds, unzipped if the whole of it is in gzip."""
        return gzip.decompress(self.files[name]) if self.zipped and name == self.header else self.files[name]

    def put(self, name, content):
        whole = self.zipped and name == self.header
        self.files[name] = gzip.compress(content, 1, mtime=0) if whole else content

    def write(self, folder):
        for name, content in self.files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if isinstance(content, Special):
                content.create(path)
            else:
                with open(path, "wb") as out:
                    out.write(content)


def describe_node(path):
    """What stands at a path, to see whether it was changed."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return "link " + os.readlink(path)
    if stat.S_ISREG(mode):
        with open(path, "rb") as content:
            return content.read()
    return "folder" if stat.S_ISDIR(mode) else "other"
