"""Files that a user names: installed robots, folders, and files of other kinds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
import os
from pathlib import Path

from ik_node.errors import DescriptionError, similar

_PACKAGE = 'ik_node'


def description_path(file_name: str) -> Path:
    """Return the path of a file of urdf/ in a checkout or an installation by pip or colcon."""
    for folder in _folders():
        path = folder / file_name
        if path.is_file():
            return path
    raise DescriptionError(
        'not found beside the package or in share/ik_node/urdf of its prefix; is the '
        'installation complete?',
        source=file_name,
    )


def _folders() -> Iterator[Path]:
    for parent in Path(__file__).resolve().parents:
        if (parent / 'package.xml').is_file():
            yield parent / 'urdf'
        yield parent / 'share' / _PACKAGE / 'urdf'
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        if prefix:
            yield Path(prefix) / 'share' / _PACKAGE / 'urdf'


def own_robots() -> dict[str, Path]:
    """Return the names and paths of the robots that are installed with the package."""
    result = (path for folder in _folders() for path in sorted(folder.glob('*.urdf')))
    paths: dict[str, Path] = {}
    for path in result:
        paths.setdefault(path.stem, path)
    return paths


def found_by_name(source: str | Path) -> str | Path:
    """
    Return the path of an installed robot if `source` is its name and no file; else `source`.

    Names of the package robot_descriptions, such as ur5e_description, stand for its files, which
    that package downloads at first use. Raises DescriptionError if it is not installed.
    """
    name = str(source)
    if name != Path(name).name or Path(name).suffix or Path(name).is_file():
        return source
    if name.endswith('_description') and not Path(name).exists():
        return _described_elsewhere(name)
    return own_robots().get(name, source)


def _described_elsewhere(name: str) -> str:
    try:
        module = import_module(f'robot_descriptions.{name}')
    except ModuleNotFoundError as error:
        if error.name == f'robot_descriptions.{name}':
            near = 'that package has no such robot; see its list'
        else:
            near = f'no {error.name} here: `pip install robot_descriptions`'
        raise DescriptionError(f'a name of robot_descriptions, but {near}', source=name) from None
    except Exception as error:  # of Git, when the package fetches the files
        said = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip(" '")
        wrong = f'robot_descriptions cannot fetch its files, which needs git and network: {said}'
        raise DescriptionError(wrong, source=name) from error
    paths = (getattr(module, each, None) for each in ('URDF_PATH', 'MJCF_PATH', 'XACRO_PATH'))
    return next(str(path) for path in paths if path)


def similar_file(path: Path) -> str:
    """Return similar file names beside a path that does not exist, and robots; '' if none is."""
    try:
        beside = [each.name for each in islice(path.parent.iterdir(), 200)]
    except OSError:
        beside = []
    names = beside if path.suffix else [*own_robots(), *beside]
    return similar(path.name, names)


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


def robots_in_folder(folder: Path) -> str:
    """Return a sentence that names robot descriptions in a folder."""
    result = sorted(path.name for path in folder.iterdir() if path.suffix.lower() in _ENDINGS)
    if not result:
        return 'it is a folder, without a robot description in it; name a file'
    more = ' ...' if len(result) > _MOST_FILES else ''
    return f'it is a folder; name a file in it: {" ".join(result[:_MOST_FILES])}{more}'
