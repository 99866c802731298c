"""
Inverse kinematics for robots with closed loops.

Each public name is imported on first use, so that `import ik_node` is fast and needs neither Numba
nor ROS 2. Their list is `__init__.pyi`.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
import re
from typing import Any

__version__ = '0.2.0'

_STUB = Path(__file__).with_suffix('.pyi').read_text(encoding='utf-8')
_LINES = re.findall(r'from (ik_node\S+) import (\w+) as', _STUB)
_MODULE_OF = {name: module for module, name in _LINES}
# Packages with further public names, and the modules that reading their names imports.
_PACKAGES = {'scene': 'scene', 'kernels': 'kernels.layout'}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        import_module(f'{__name__}.{_PACKAGES[name]}')
        return globals()[name]
    if name not in _MODULE_OF:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # Modules and helpers are left out, so that completion at a prompt shows what users need.
    return sorted({*__all__, *(name for name in globals() if name.startswith('__'))})
