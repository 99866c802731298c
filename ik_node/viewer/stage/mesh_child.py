"""
Program that reads mesh files, so that what they expand to can be limited.

A small file can stand for gigabytes: a compressed texture, an array of zeros, one part that is
placed a million times. The reader of another process cannot exhaust this one's memory or time.

Standard input has one line of JSON a mesh: [path, scale along x y z, whether its own colours are
wanted]. Standard output has, for each, a line of JSON [vertices, faces, bytes of GLB] and then the
vertices (n, 3) float32 [m], the faces (m, 3) uint32 and the GLB, which is empty where no colours
are wanted. A line [0, 0, 0] is a mesh that cannot be drawn.

Its arguments: the memory limit [bytes] beyond what the program itself takes; the largest answer
[bytes], which counts the textures as they are in memory.
"""

from contextlib import suppress
import json
import os
import sys
from typing import Any, BinaryIO
import warnings


def limit_memory(more: int) -> None:
    """Limit the memory of this process, where the system can."""
    try:
        import resource

        with open('/proc/self/statm', encoding='ascii') as sizes:
            used = int(sizes.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    except (ImportError, OSError, ValueError):
        pass  # the parent still limits the time


def read(
    trimesh: Any, path: str, scale: list[float], coloured: bool, most: int
) -> tuple[Any, ...]:
    """
    Return the vertices, faces and GLB of a file.

    Raises
    ------
    ValueError
        If they are more than `most` bytes, or if there is no face.

    """
    mesh = trimesh.load_mesh(path, process=False)
    parts = list(mesh.geometry.values()) if isinstance(mesh, trimesh.Scene) else [mesh]
    pixels = sum(texture_bytes(part) for part in parts)
    if pixels > most:
        raise ValueError('its textures are too large')
    if isinstance(mesh, trimesh.Scene):
        placed = sum(
            24 * len(mesh.geometry[name].faces)
            for _, name in (mesh.graph[node] for node in mesh.graph.nodes_geometry)
        )
        if placed > most:
            raise ValueError('it has too many faces')
        mesh = mesh.to_geometry()
    mesh.apply_scale(scale)
    vertices, faces = mesh.vertices.astype('<f4'), mesh.faces.astype('<u4')
    if not len(faces) or vertices.nbytes + faces.nbytes + pixels > most:
        raise ValueError('it has no face, or too many')
    return vertices, faces, mesh.export(file_type='glb') if coloured else b''


def texture_bytes(part: Any) -> int:
    """Return the memory that the textures of a mesh take, before they are decoded."""
    material = getattr(getattr(part, 'visual', None), 'material', None)
    images = list(vars(material).values()) if material is not None else []
    images += list(getattr(material, '_data', {}).values())
    sizes = [image.size for image in images if hasattr(image, 'getbands')]
    return sum(4 * width * height for width, height in sizes)


def answer(output: BinaryIO, vertices: Any, faces: Any, glb: bytes) -> None:
    """Write one mesh."""
    header = json.dumps([len(vertices), len(faces), len(glb)])
    output.write(header.encode() + b'\n')
    for part in (vertices, faces):
        if len(part):
            output.write(part.tobytes())
    output.write(glb)
    output.flush()


def main(memory: int, most: int) -> int:
    """Answer until the input ends."""
    sys.path.pop(0)  # this program's folder, whose modules are not meant to be found
    output = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # what a reader prints is no answer
    import trimesh

    with suppress(ImportError):
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = most // 4
        warnings.simplefilter('error', Image.DecompressionBombWarning)
    limit_memory(memory)
    for line in sys.stdin:
        path, scale, coloured = json.loads(line)
        try:
            found = read(trimesh, path, scale, coloured, most)
        # Readers of a dozen formats fail in as many ways.
        except Exception:  # noqa: BLE001
            found = ((), (), b'')
        answer(output, *found)
    return 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
