"""
A program that reads mesh files with limits on memory.

A small file can expand to gigabytes: a compressed texture, an array of zeros, or one part that is
placed a million times. In a separate process, it cannot exhaust the memory or time of the viewer.

Standard input has one line of JSON per mesh: [path, scale along x y z, true to keep its colours].
Standard output has, for each mesh, a line of JSON [vertices, faces, bytes of GLB], and then the
vertices (n, 3) float32 [m], the faces (m, 3) uint32 and the GLB, which is empty without colours.
A line [0, 0, 0] means that the mesh cannot be drawn.

Arguments: the memory limit [bytes] in addition to the program itself; the largest response
[bytes], which includes the decoded textures.
"""

from contextlib import suppress
import json
import os
import sys
from typing import Any, BinaryIO
import warnings


def limit_memory(more: int) -> None:
    """Limit the memory of this process if the system supports it."""
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
        If the mesh is larger than `most` bytes or has no face.

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
    """Return the size of the decoded textures of a mesh without decoding them [bytes]."""
    material = getattr(getattr(part, 'visual', None), 'material', None)
    images = list(vars(material).values()) if material is not None else []
    images += list(getattr(material, '_data', {}).values())
    sizes = [image.size for image in images if hasattr(image, 'getbands')]
    return sum(4 * width * height for width, height in sizes)


def answer(output: BinaryIO, vertices: Any, faces: Any, glb: bytes) -> None:
    """Write a mesh to the output."""
    header = json.dumps([len(vertices), len(faces), len(glb)])
    output.write(header.encode() + b'\n')
    for part in (vertices, faces):
        if len(part):
            output.write(part.tobytes())
    output.write(glb)
    output.flush()


def main(memory: int, most: int) -> int:
    """Read meshes until the input ends."""
    sys.path.pop(0)  # this program's folder, whose modules trimesh must not import
    output = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)  # text that a mesh reader prints must not go to the output
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
        # The readers of a dozen formats raise many kinds of exceptions.
        except Exception:  # noqa: BLE001
            found = ((), (), b'')
        answer(output, *found)
    return 0


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
