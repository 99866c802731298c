# flake8: noqa: E203
"""Reader of mesh files in a separate process with limits on memory, time and size."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
import json
import os
from pathlib import Path
import subprocess
import sys
import threading
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PROGRAM = Path(__file__).with_name('mesh_child.py')
# Size limit of a file, and of a mesh with its textures [bytes].
MOST_BYTES = 64 * 2**20
# Size limit of all meshes of a robot, which this process and the browser keep [bytes].
MOST_ROBOT_BYTES = 512 * 2**20
# Time limits for one mesh and for all meshes of a robot [s].
MESH_SECONDS = 20.0
ROBOT_SECONDS = 60.0
# Memory limit of the process in addition to the program itself [bytes].
MEMORY = 2**30


class Triangles(NamedTuple):
    """
    A triangle mesh.

    Attributes
    ----------
    vertices : ndarray, shape (n, 3)
        [m]
    faces : ndarray, shape (m, 3)
        Vertex indices of the triangles.
    glb : bytes
        The mesh as glTF with its colours; empty = without colours.

    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]
    glb: bytes = b''


class MeshReader:
    """
    A reader of the meshes of a robot, which must be closed or used in a `with` statement.

    A mesh that exceeds a limit is not drawn, and the process is restarted for the next mesh.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._seconds = ROBOT_SECONDS
        self._bytes = MOST_ROBOT_BYTES

    def __enter__(self) -> MeshReader:
        """Return the reader."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the reader."""
        self.close()

    def read(self, path: Path, scale: Sequence[float], *, coloured: bool) -> Triangles | None:
        """
        Read a mesh.

        Parameters
        ----------
        path : Path
            The file.
        scale : sequence of float
            Factors along x, y, z.
        coloured : bool
            True if the mesh keeps its own colours, if it has any.

        Returns
        -------
        Triangles or None
            None = it cannot be read, or exceeds the limits.

        """
        if path.stat().st_size > MOST_BYTES or self._seconds <= 0.0:
            return None
        begun = time.monotonic()
        process = self._running()
        watch = threading.Timer(min(MESH_SECONDS, self._seconds), process.kill)
        watch.start()
        try:
            return self._ask(process, [str(path.absolute()), list(scale), coloured])
        except (OSError, ValueError):  # the process exceeded a limit
            self.close()
            return None
        finally:
            watch.cancel()
            self._seconds -= time.monotonic() - begun

    def close(self) -> None:
        """Kill the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):  # the pipe may contain unread data
                    stream.close()
        process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(MEMORY), str(MOST_BYTES)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # More threads would reserve memory that the limit counts.
                env={**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'},
            )
        return self._process

    def _ask(self, process: subprocess.Popen[bytes], question: list[object]) -> Triangles | None:
        to, back = process.stdin, process.stdout
        if to is None or back is None:
            raise ValueError('the process has no pipes')
        to.write(json.dumps(question).encode() + b'\n')
        to.flush()
        vertices, faces, glb = json.loads(back.readline(200))
        size = 12 * vertices + 12 * faces + glb
        if size > self._bytes:
            raise ValueError('all meshes of the robot take too much')
        data = back.read(size)
        if len(data) < size:
            raise ValueError('the process has ended')
        if not faces:
            return None
        self._bytes -= size
        return Triangles(
            np.frombuffer(data, np.float32, 3 * vertices).reshape(-1, 3),
            np.frombuffer(data, np.uint32, 3 * faces, 12 * vertices).reshape(-1, 3),
            data[12 * (vertices + faces) :],
        )
