"""
Roll, pitch and yaw at the node's border.

tf_transformations does it where it is installed; the wheels from PyPI lack it, so that scipy does
the same there. Conventions: static axes, roll about x, then pitch about y, then yaw about z;
quaternions are xyzw. Never in the hot path: the import alone takes long.
"""

from __future__ import annotations

from collections.abc import Sequence
import importlib.util


def has_tf_transformations() -> bool:
    """Tell whether tf_transformations can be imported."""
    return importlib.util.find_spec('tf_transformations') is not None


def quat_xyzw_from_rpy(rpy: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the quaternion of roll, pitch and yaw [rad] about fixed axes."""
    if has_tf_transformations():
        return _quat_from_tf_transformations(rpy)
    return _quat_from_scipy(rpy)


def _quat_from_tf_transformations(rpy: Sequence[float]) -> tuple[float, float, float, float]:
    from tf_transformations import quaternion_from_euler

    return _four(quaternion_from_euler(*rpy, axes='sxyz'))


def _quat_from_scipy(rpy: Sequence[float]) -> tuple[float, float, float, float]:
    from scipy.spatial.transform import Rotation

    return _four(Rotation.from_euler('xyz', rpy).as_quat())


def _four(quat: Sequence[float]) -> tuple[float, float, float, float]:
    x, y, z, w = (float(part) for part in quat)
    return (x, y, z, w)
