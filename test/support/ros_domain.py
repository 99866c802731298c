"""A ROS domain that nothing else on this machine uses."""

from __future__ import annotations

from contextlib import ExitStack
import os
from pathlib import Path
import socket
import tempfile

try:
    import fcntl
except ImportError:  # no Unix: there are no wheels of ROS 2 either
    fcntl = None  # type: ignore[assignment]

# From 102 on, ports of a domain may be those that the kernel gives to others.
DOMAINS = 101
FOLDER = Path(tempfile.gettempdir())


def take_domain(folder: Path = FOLDER) -> tuple[int, int]:
    """
    Return a domain, and the file descriptor that holds it until it is closed; -1 for none.

    Two runs of the tests at once must not hear each other, nor must any be heard by a robot. The
    lock files are those of tools/run.
    """
    own = os.getpid() % DOMAINS
    for offset in range(DOMAINS):
        domain = 1 + (own + offset) % DOMAINS
        lock = _lock(folder / f'ik_node-domain-{domain}.lock')
        if lock >= 0 and is_quiet(domain):
            return domain, lock
        if lock >= 0:
            os.close(lock)
    return 1 + own, -1


def is_quiet(domain: int) -> bool:
    """Return True if no process uses the ports of the domain's first participants."""
    base = 7400 + 250 * domain
    with ExitStack() as stack:
        for port in (base, *range(base + 10, base + 30)):
            probe = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            try:
                probe.bind(('', port))
            except OSError:
                return False
    return True


def _lock(path: Path) -> int:
    """Return a descriptor of the locked file; -1 if another process holds the lock."""
    if fcntl is None:
        return -1
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return -1
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return -1
    return file
