"""Functions for workers: they are imported by name in other processes."""

import os
import signal
import time

from ik_node.errors import ShapeError


def add(shared, number):
    return shared + number


def process_of(_shared, _number):
    """Return the number of the process, and stay long enough for the others to get some."""
    time.sleep(0.02)
    return os.getpid()


def refuse(_shared, number):
    """Raise an error of the package for one number, and another for the next."""
    if number == 3:
        raise ShapeError('pose in row 3', 'finite numbers', 'nan')
    if number == 4:
        raise ZeroDivisionError('no more')
    return number


def die_always(_shared, number):
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return number
