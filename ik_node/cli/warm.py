"""
Build the library of compiled kernels, so that no solve has to wait for it.

It is built once for every version of the sources, by Numba and a C compiler, in about a
minute; after an edit of C sources alone in a second. Without --targets it is for this computer
alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ik_node.cli.arguments import add_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `ik_node warm`."""
    table = """
    --targets NAME...  build for these processors instead: x86_64 (any of the last fifteen years),
        x86_64_v4, x86_64_v3 or x86_64_v2 (with AVX-512, AVX2 or neither), aarch64; one library for
        each kind
    --folder FOLDER  where the libraries are put, as FOLDER/DIGEST/libik_node.so (default: beside
        the code, or in the cache of the user)
    --cmake  only print the folder to pass to CMake as -Dik_node_DIR=FOLDER
    """
    add_options(parser, table)


def run(args: argparse.Namespace) -> int:
    """Build what is missing, and return the exit code."""
    from ik_node.native.build import build, libraries_of
    from ik_node.native.library import library
    from ik_node.native.places import HERE

    if args.cmake:
        print(HERE / 'cmake')
        return 0
    for levels, folder in libraries_of(args.targets, args.folder and Path(args.folder)):
        made = build(levels, folder)
        print(made / 'libik_node.so')
    if not args.targets and args.folder is None:
        # This also compiles what calls the library from this Python.
        library()
    return 0
