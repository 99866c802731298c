"""Concurrent test runs use different ROS domains."""

import os
import socket
import subprocess
import sys

from support.ros_domain import is_quiet, take_domain

TAKE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from support.ros_domain import take_domain
domain, lock = take_domain(Path(sys.argv[2]))
print(domain, flush=True)
sys.stdin.read()
"""


def test_concurrent_runs_get_different_domains(repository, tmp_path):
    """Each run keeps its domain until it ends."""
    words = [sys.executable, '-c', TAKE, str(repository / 'test'), str(tmp_path)]
    runs = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    domains = [int(run.stdout.readline()) for run in runs]
    here, lock = take_domain(tmp_path)
    another, other_lock = take_domain(tmp_path)
    assert len({*domains, here, another}) == 5
    assert all(1 <= domain <= 101 for domain in domains)
    os.close(lock)
    again, lock = take_domain(tmp_path)
    assert again == here
    os.close(lock)
    os.close(other_lock)
    for run in runs:
        run.communicate()
        assert run.returncode == 0


def test_domain_with_a_node_is_not_used(tmp_path):
    """A domain whose ports are in use is skipped, with or without a lock file."""
    first, lock = take_domain(tmp_path)
    os.close(lock)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as node:
        node.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        node.bind(('', 7400 + 250 * first + 10))
        assert not is_quiet(first)
        other, lock = take_domain(tmp_path)
        assert other != first
        os.close(lock)
    assert is_quiet(first)
