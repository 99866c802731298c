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
    if written.startswith('package://'):
        package, _, rest = unquote(written[len('package://') :]).partition('/')
        candidates = [share / rest for share in _shares(package, folder)]
    elif written.startswith('model://'):
        model, _, rest = unquote(written[len('model://') :]).partition('/')
        candidates = [place / rest for place in _models(model, folder)]
    elif written.startswith('file://'):
        candidates = [Path(unquote(written[len('file://') :]))]
    elif '://' in written:
        return None
    else:
        path = Path(written)
        # Text from a topic has no folder, so relative paths must not match local files.
        candidates = [path] if path.is_absolute() else [folder / path] if folder else []
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # not a valid file name
        return False


def _shares(package: str, folder: Path | None) -> Iterator[Path]:
    """Yield the folders that may contain the files of a package."""
    if not package or '..' in package:
        return
    for prefix in _folders('AMENT_PREFIX_PATH'):
        yield prefix / 'share' / package
    for place in _folders('ROS_PACKAGE_PATH'):
        yield place / package
    for parent in [] if folder is None else [folder, *folder.parents]:
        if _package_name(parent) == package:
            yield parent
        yield parent / package


def _models(model: str, folder: Path | None) -> Iterator[Path]:
    """Yield the folders that may contain the files of a model; a package can be a model."""
    if not model or '..' in model:
        return
    for variable in MODELS:
        for place in _folders(variable):
            yield place / model
    for parent in [] if folder is None else [folder, *folder.parents]:
        if parent.name == model or _model_name(parent) == model:
            yield parent
    yield from _shares(model, folder)


def _folders(variable: str) -> Iterator[Path]:
    """Yield the folders that an environment variable lists."""
    for folder in os.environ.get(variable, '').split(os.pathsep):
        if folder:
            yield Path(folder)


def _package_name(folder: Path) -> str:
    """Return the name in a folder's package.xml; '' if it has none."""
    return _name_in(folder / 'package.xml')


def _model_name(folder: Path) -> str:
    """Return the name in a folder's model.config; '' if it has none."""
    return _name_in(folder / 'model.config')


def _name_in(manifest: Path) -> str:
    try:
        named = _NAME.search(manifest.read_text(errors='replace')) if manifest.is_file() else None
    except OSError:
        named = None
    return named.group(1) if named else ''
