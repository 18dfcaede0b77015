"""Which commands read a file of some kind, and where on the command line."""

import dataclasses

from .corpus import STAGES

FEW = STAGES


@dataclasses.dataclass(frozen=True)
class Command:
    """X stands for the sample in `arguments`, OUT/ for the names of outputs; other names are files of the material."""
    name: str
    takes: tuple  # first words of kinds
    arguments: tuple
    outputs: tuple
    voxels: bool = True  # reads all that is in the file, and not just its header
    timed: bool = False  # outputs hold times, so that no two runs have the same


def command(name, takes, line, outputs, voxels=True, more=()):
    return Command(name, tuple(takes.split()), tuple(line.split()) + tuple(more), tuple(outputs.split()), voxels,
                   line.startswith("plan"))


REGISTERED = "r_0GenericAffine.mat r_1Warp.nii r_1InverseWarp.nii r_Warped.nii r_InverseWarped.nii"
LINEAR = "linear3"
FIELDS = "field3 composite3"
ALL = LINEAR + " " + FIELDS

COMMANDS = (
    command("apply -i", "image3", "apply -i X -r fixed.nii -t identity -o o.nii", "o.nii"),
    command("apply -i (label)", "labels3", "apply -i X -r fixed.nii -t affine.txt -n label -o o.nii", "o.nii"),
    command("apply -i field", "field3", "apply -i X -r fixed.nii -t affine.txt -o o.nii", "o.nii"),
    command("apply -r", "image3 labels3", "apply -i moving.nii -r X -t affine.txt -o o.nii", "o.nii", False),
    command("apply -i flat", "image2 picture2", "apply -i X -r flat_fixed.nii -t identity -o o.nii", "o.nii"),
    command("apply -i flat labels", "labels2", "apply -i X -r flat_fixed.nii -t identity -n nearest -o o.nii", "o.nii"),
    command("apply -r flat", "image2 picture2", "apply -i flat_moving.nii -r X -t identity -o o.nii", "o.nii", False),
    command("apply -t, image", ALL, "apply -i moving.nii -r fixed.nii -t X affine.txt -o o.nii", "o.nii"),
    command("apply -t, points", ALL, "apply -i points.csv -t X -o o.csv", "o.csv"),
    command("apply -t, flat points", "linear2", "apply -i flat_points.csv -t X -o o.csv", "o.csv"),
    command("apply -i points", "points3", "apply -i X -t affine.txt -o o.csv", "o.csv"),
    command("apply -i flat points", "points2", "apply -i X -t identity -o o.csv", "o.csv"),
    command("register -f", "image3", "register -q --no-report --uncompressed -f X -m moving.nii -o r_", REGISTERED, True, FEW),
    command("register -m", "image3", "register -q --no-report --uncompressed -f fixed.nii -m X -o r_", REGISTERED, True, FEW),
    command("register -f flat", "image2", "register -q --no-report --uncompressed -f X -m flat_moving.nii -o r_", REGISTERED, True, FEW),
    command("register --fixed-mask", "mask3", "register -q --no-report --uncompressed -f fixed.nii -m moving.nii --fixed-mask X -o r_",
            REGISTERED, True, FEW),
    command("register -r", ALL, "register -q --no-report --uncompressed -f fixed.nii -m moving.nii -o r_ -r X", REGISTERED, True, FEW),
    command("plan -f", "image3 image2 picture2", "plan -f X -m X --json o.json", "o.json", False),
    command("plan -m", "image3", "plan -f fixed.nii -m X --json o.json", "o.json", False),
    command("evaluate --fixed", "image3", "evaluate --fixed X --moved moving.nii --json o.json", "o.json"),
    command("evaluate --moved", "image3", "evaluate --fixed fixed.nii --moved X --json o.json", "o.json"),
    command("evaluate --mask", "mask3", "evaluate --fixed fixed.nii --moved moving.nii --mask X --json o.json", "o.json"),
    command("evaluate --fixed-labels", "labels3", "evaluate --fixed-labels X --moved-labels moved_labels.nii --json o.json", "o.json"),
    command("evaluate --moved-labels", "labels3", "evaluate --fixed-labels labels.nii --moved-labels X --json o.json", "o.json"),
    command("evaluate --warp", "field3", "evaluate --warp X --json o.json", "o.json"),
    command("evaluate --fixed-points", "points3", "evaluate --fixed-points X --moving-points moving_points.csv -t affine.txt --json o.json", "o.json"),
    command("evaluate --moving-points", "points3", "evaluate --fixed-points points.csv --moving-points X -t affine.txt --json o.json", "o.json"),
    command("evaluate -t", ALL, "evaluate --fixed-points points.csv --moving-points moving_points.csv --json o.json -t X", "o.json"),
    command("synthesize --labels", "labels3", "synthesize -q --labels X -o o.nii --table table.csv", "o.nii"),
    command("synthesize --table", "table", "synthesize -q --labels labels.nii -o o.nii --table X", "o.nii"),
    command("compose, field", ALL, "compose -r fixed.nii -t X affine.txt -o o.nii", "o.nii"),
    command("compose, h5", ALL, "compose -t X affine.txt -o o.h5", "o.h5"),
    command("compose, mat", LINEAR, "compose -t X affine.txt -o o.mat", "o.mat"),
    command("compose -r", "image3", "compose -r X -t affine.txt -o o.nii", "o.nii", False),
    command("invert, linear", LINEAR, "invert -t X -o o.mat", "o.mat"),
    command("invert, field", "field3", "invert -t X -o o.nii", "o.nii"),
    command("invert, h5", "composite3", "invert -t X -o o.h5", "o.h5"),
    command("jacobian -t", ALL, "jacobian -t X -r fixed.nii -o o.nii", "o.nii"),
    command("jacobian -t alone", "field3", "jacobian -t X -o o.nii", "o.nii"),
    command("jacobian -r", "image3", "jacobian -t affine.txt -r X -o o.nii", "o.nii", False),
)


def commands_for(sample):
    word = sample.kind.split()[0]
    return [one for one in COMMANDS if word in one.takes]
