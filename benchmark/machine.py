"""The machine and the versions of a measurement."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import platform


def _processor() -> str:
    with suppress(OSError):
        for line in Path('/proc/cpuinfo').read_text().splitlines():
            if line.startswith('model name'):
                return line.split(':', 1)[1].strip()
    return platform.processor() or platform.machine()


def _ros() -> str:
    for distro in ('kilted', 'jazzy'):
        with suppress(PackageNotFoundError):
            return f'ROS 2 {distro} wheels (rclpy {version(f"ros-{distro}-rclpy")})'
    return f'ROS 2 {os.environ.get("ROS_DISTRO", "")}'


def machine() -> str:
    """Return two lines: processor and load, versions."""
    load = ', '.join(f'{each:.1f}' for each in os.getloadavg())
    versions = ', '.join(f'{name} {version(name)}' for name in ('numpy', 'numba'))
    return (
        f'{os.cpu_count()} x {_processor()}; load averages at the start {load}\n'
        f'Python {platform.python_version()}, {versions}, {_ros()}'
    )
