"""The processors that the kernels are compiled for."""

from __future__ import annotations

from pathlib import Path
import platform
from typing import NamedTuple

from ik_node.errors import OptionError


class Level(NamedTuple):
    """A set of instructions that code may use."""

    machine: str  # Kind of processor, as `platform.machine()` names it
    cpu: str  # LLVM's name of the oldest processor that has them
    needs: tuple[str, ...] = ()  # Flags of /proc/cpuinfo of a processor that has them
    features: str = ''  # What LLVM is to do besides

    @property
    def triple(self) -> str:
        """Return LLVM's name of the platform."""
        return f'{self.machine}-unknown-linux-gnu'


# The best one of a machine comes first: a library uses the first one that the processor has.
LEVELS = {
    # A vector of six numbers is one register of 512 bits, which LLVM would not use by default.
    'x86_64_v4': Level(
        'x86_64',
        'x86-64-v4',
        ('avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'),
        '-prefer-256-bit',
    ),
    'x86_64_v3': Level('x86_64', 'x86-64-v3', ('avx2', 'bmi2', 'fma')),
    'x86_64_v2': Level('x86_64', 'x86-64-v2', ('sse4_2',)),
    'aarch64': Level('aarch64', 'generic'),
}
# What the target names of `make native TARGETS=` stand for, besides single levels.
TARGETS = {'x86_64': ('x86_64_v4', 'x86_64_v3', 'x86_64_v2'), 'aarch64': ('aarch64',)}


def own_level() -> str:
    """Return the best level of this computer; raise OptionError if its processor has none."""
    machine = platform.machine()
    try:
        flags = set(Path('/proc/cpuinfo').read_text(encoding='utf-8').split())
    except OSError:
        flags = set()
    for name, level in LEVELS.items():
        if level.machine == machine and flags.issuperset(level.needs):
            return name
    raise OptionError('the processor', machine, ', '.join(LEVELS))
