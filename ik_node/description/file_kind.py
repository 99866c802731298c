"""Files that are mistaken for robot descriptions: what they are, and what to read instead."""

from __future__ import annotations

from pathlib import Path

# What files are, and the endings of their names.
_ENDINGS_OF = {
    'a CAD file, whose joints cannot be read: export a URDF from the CAD program, for example '
    'with onshape-to-robot or the URDF exporter of SolidWorks': '.step .stp .iges .igs '
    '.sldprt .sldasm .catpart .catproduct .ipt .iam .prt .asm .f3d .fcstd .x_t .x_b .3dm .dxf',
    'a mesh without joints: name the robot description that uses it': '.stl .dae .obj .ply .glb '
    '.gltf .off .fbx .3ds',
    'a picture: name the robot description itself': '.png .jpg .jpeg .gif .bmp .webp .svg .pdf',
    'an archive: unpack it, and name the robot description in it': '.zip .tar .gz .tgz .bz2 .xz '
    '.7z .rar',
    'a USD file, which is not read: export a URDF, SDFormat or MJCF': '.usd .usda .usdc .usdz',
    'not a robot description: name the robot; closure annotations are read from '
    'NAME.closures.yaml beside it, or given as closures (`--closures FILE`)': '.yaml .yml .json',
    'an ERB template, not yet SDFormat: expand it first, `erb model.sdf.erb > model.sdf`': '.erb',
}
KINDS = {ending: what for what, endings in _ENDINGS_OF.items() for ending in endings.split()}
# Endings of robot descriptions, for a folder that is named in place of a file in it.
_ENDINGS = ('.urdf', '.xacro', '.sdf', '.xml', '.mjcf')
_MOST_FILES = 5


def kind_of_file(path: Path) -> str:
    """Return the kind of a file that is no robot description, as text; '' = not known."""
    return KINDS.get(path.suffix.lower(), '')


def robots_in_folder(folder: Path) -> str:
    """Return a sentence that names robot descriptions in a folder."""
    found = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in _ENDINGS)
    if not found:
        return 'it is a folder, without a robot description in it; name a file'
    more = ' ...' if len(found) > _MOST_FILES else ''
    return f'it is a folder; name a file in it: {" ".join(found[:_MOST_FILES])}{more}'
