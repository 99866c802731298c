"""Search for the mesh files that a description names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
import os
from pathlib import Path
import re
from urllib.parse import unquote

Rgba = tuple[float, float, float, float]


@dataclass(frozen=True)
class Visual:
    """A visual of a link."""

    link: str  # Name of the link
    position: tuple[float, ...]  # In the link's frame [m]
    quat_xyzw: tuple[float, ...]  # In the link's frame
    kind: str  # unread: a visual of the description that cannot be drawn
    # Edges of a box; radius and length of a cylinder along z, and of a capsule without its half
    # balls; radius of a sphere; half axes of an ellipsoid; edges of a plane along x and y, all
    # [m]; factors along x, y, z of a mesh
    size: tuple[float, ...]
    file: str = ''  # Of a mesh: its path or URL as written. Of an unread visual: what it is.
    rgba: Rgba | None = None  # Each from 0 to 1; None = not given
    source: str = '<text>'  # File of the description, beside which meshes are searched
    # Of collision geometry: a pair collides if bits of the one's first and of the other's second
    # number agree, and False if it never collides with another link of its robot
    bits: tuple[int, int] = (1, 1)
    with_own: bool = True

    @classmethod
    def unread(cls, link: str, what: str) -> Visual:
        """Return a placeholder for a visual that cannot be drawn."""
        return cls(link, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'unread', (), what)


# Environment variables with the folders in which Gazebo searches for models.
MODELS = ('GZ_SIM_RESOURCE_PATH', 'SDF_PATH', 'IGN_GAZEBO_RESOURCE_PATH', 'GAZEBO_MODEL_PATH')
# File name endings of meshes. Other files that a text names are not opened.
ENDINGS = ('.stl', '.dae', '.obj', '.ply', '.glb', '.gltf', '.off', '.fbx', '.3ds', '.mesh')
_NAME = re.compile(r'<name>\s*([^<\s]+)\s*</name>')


def mesh_path(written: str, source: str) -> Path | None:
    """
    Return the path of a mesh; None if it is not found or does not have the name of a mesh.

    Parameters
    ----------
    written : str
        package://PACKAGE/PATH, model://MODEL/PATH, file://PATH, or a path; a relative path starts
        at the description's folder. Nothing is downloaded.
    source : str
        File of the description; '<text>' if it was given as text.

    """
    if not unquote(written).lower().endswith(ENDINGS):
        return None
    folder = Path(source).resolve().parent if source != '<text>' else None
    scheme, separator, rest = written.partition('://')
    if not separator:
        path = Path(written)
        # Text from a topic has no folder, so relative paths must not match local files.
        candidates = [path] if path.is_absolute() else [folder / path] if folder else []
    elif scheme == 'file':
        candidates = [Path(unquote(rest))]
    elif scheme in ('package', 'model'):
        name, _, rest = unquote(rest).partition('/')
        candidates = [place / rest for place in folders_of(name, folder, scheme == 'model')]
    else:
        return None
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False


def folders_of(name: str, folder: Path | None, model: bool = False) -> Iterator[Path]:
    """Yield the folders that may contain the files of a package or model, for a file's folder."""
    if not name or '..' in name:
        return
    parents = [] if folder is None else [folder, *folder.parents]
    if model:  # a package can be a model, too
        for variable in MODELS:
            yield from (place / name for place in _folders(variable))
        for parent in parents:
            if parent.name == name or _name_in(parent / 'model.config') == name:
                yield parent
    yield from (prefix / 'share' / name for prefix in _folders('AMENT_PREFIX_PATH'))
    yield from (place / name for place in _folders('ROS_PACKAGE_PATH'))
    for parent in parents:
        if _name_in(parent / 'package.xml') == name:
            yield parent
        yield parent / name


def _folders(variable: str) -> Iterator[Path]:
    """Yield the folders that an environment variable lists."""
    return map(Path, filter(None, os.environ.get(variable, '').split(os.pathsep)))


def _name_in(manifest: Path) -> str:
    """Return the name in a package.xml or model.config; '' if it has none."""
    try:
        named = _NAME.search(manifest.read_text(errors='replace')) if manifest.is_file() else None
    except OSError:
        named = None
    return named.group(1) if named else ''
