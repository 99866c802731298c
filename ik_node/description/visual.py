"""What a link looks like, whatever dialect says so."""

from __future__ import annotations

from dataclasses import dataclass

Rgba = tuple[float, float, float, float]


@dataclass(frozen=True)
class Visual:
    """
    One piece of what is seen of a link.

    Attributes
    ----------
    link : str
        Whose it is.
    position : tuple of float
        In the link's frame [m].
    quat_xyzw : tuple of float
        In the link's frame.
    kind : {'box', 'cylinder', 'sphere', 'capsule', 'ellipsoid', 'plane', 'mesh', 'unread'}
        unread: the description draws something here that is not drawn.
    size : tuple of float
        Edges of a box; radius and length of a cylinder along z, and of a capsule without its
        half balls; radius of a sphere; half axes of an ellipsoid; edges of a plane along x and y,
        all [m]; factors along x, y, z of a mesh.
    file : str
        Of a mesh, as written: a path or a URL; of what is not read, what it is.
    rgba : tuple of float or None
        Each from 0 to 1; None = not said.

    """

    link: str
    position: tuple[float, ...]
    quat_xyzw: tuple[float, ...]
    kind: str
    size: tuple[float, ...]
    file: str = ''
    rgba: Rgba | None = None

    @classmethod
    def unread(cls, link: str, what: str) -> Visual:
        """Return what stands for a visual that cannot be drawn."""
        return cls(link, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), 'unread', (), what)
