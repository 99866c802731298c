"""Mesh files are read within limits on what they expand to, and in a limited time."""

import base64
import io
import json
import os
import sys

from ik_node.viewer.stage import mesh_reader
from ik_node.viewer.stage.mesh_reader import MeshReader
import numpy as np
import pytest

pytest.importorskip('trimesh')

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], dtype='<f4')
SCALE = (1.0, 1.0, 1.0)


@pytest.fixture
def reader():
    """Return a reader that is closed at the end."""
    with MeshReader() as made:
        yield made


def triangle(folder):
    """Save one triangle; return the path."""
    path = folder / 'good.off'
    path.write_text('OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n')
    return path


def gltf(folder, **changes):
    """Save one triangle as glTF, some of its parts replaced; return the path."""
    data = base64.b64encode(CORNERS.tobytes()).decode()
    content = {
        'asset': {'version': '2.0'},
        'scene': 0,
        'scenes': [{'nodes': [0]}],
        'nodes': [{'mesh': 0}],
        'meshes': [{'primitives': [{'attributes': {'POSITION': 0}}]}],
        'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}],
        'bufferViews': [{'buffer': 0, 'byteLength': 36}],
        'buffers': [{'byteLength': 36, 'uri': f'data:application/octet-stream;base64,{data}'}],
        **changes,
    }
    path = folder / 'bomb.gltf'
    path.write_text(json.dumps(content))
    return path


def textures(folder, count=2, edge=4000):
    """Save triangles with pictures that are small as files alone."""
    image = pytest.importorskip('PIL.Image').new('1', (edge, edge))
    held = io.BytesIO()
    image.save(held, 'PNG')
    assert len(held.getvalue()) < 2**20
    data = base64.b64encode(CORNERS.tobytes() + CORNERS[:, :2].tobytes()).decode()
    picture = base64.b64encode(held.getvalue()).decode()
    return gltf(
        folder,
        meshes=[
            {
                'primitives': [
                    {'attributes': {'POSITION': 0, 'TEXCOORD_0': 1}, 'material': number}
                    for number in range(count)
                ]
            }
        ],
        accessors=[
            {'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3'},
            {'bufferView': 1, 'componentType': 5126, 'count': 3, 'type': 'VEC2'},
        ],
        bufferViews=[
            {'buffer': 0, 'byteLength': 36},
            {'buffer': 0, 'byteOffset': 36, 'byteLength': 24},
        ],
        buffers=[{'byteLength': 60, 'uri': f'data:application/octet-stream;base64,{data}'}],
        materials=[
            {'name': f'm{number}', 'pbrMetallicRoughness': {'baseColorTexture': {'index': number}}}
            for number in range(count)
        ],
        textures=[{'source': number} for number in range(count)],
        images=[{'uri': f'data:image/png;base64,{picture}'}] * count,
    )


def zeros(folder):
    """Save a mesh of a thousand million corners that the file need not hold."""
    return gltf(folder, accessors=[{'componentType': 5126, 'count': 10**9, 'type': 'VEC3'}])


def copies(folder):
    """Save a mesh whose nodes each place two others, so that one part is there 2^24 times."""
    nodes = [{'children': [2 * i + 1, 2 * i + 2]} for i in range(2**12 - 1)]
    nodes += [{'mesh': 0} for _ in range(2**12)]
    big = np.tile(CORNERS, (2**10, 1))
    data = base64.b64encode(big.tobytes()).decode()
    return gltf(
        folder,
        nodes=nodes,
        accessors=[{'bufferView': 0, 'componentType': 5126, 'count': len(big), 'type': 'VEC3'}],
        bufferViews=[{'buffer': 0, 'byteLength': big.nbytes}],
        buffers=[
            {'byteLength': big.nbytes, 'uri': f'data:application/octet-stream;base64,{data}'}
        ],
    )


def endless(folder):
    """Save a mesh whose numbers are in a file that has no end."""
    (folder / 'zeros').symlink_to('/dev/zero')
    return gltf(folder, buffers=[{'byteLength': 36, 'uri': 'zeros'}])


def test_mesh_is_read_and_scaled(reader, tmp_path):
    """With colours of its own as glTF, or without."""
    plain = reader.read(triangle(tmp_path), (1.0, 2.0, 3.0), coloured=False)
    np.testing.assert_array_equal(plain.vertices, CORNERS * (1, 2, 3))
    np.testing.assert_array_equal(plain.faces, [[0, 1, 2]])
    assert plain.glb == b''
    coloured = reader.read(gltf(tmp_path), SCALE, coloured=True)
    np.testing.assert_array_equal(np.sort(coloured.vertices, axis=0), np.sort(CORNERS, axis=0))
    assert coloured.glb.startswith(b'glTF')


@pytest.mark.skipif(sys.platform != 'linux', reason='the limit on memory is one of Linux')
@pytest.mark.parametrize('bomb', [textures, zeros, copies, endless])
def test_mesh_that_expands_is_not_read(reader, tmp_path, bomb):
    """A small file that stands for gigabytes is refused; the next mesh is read."""
    path = bomb(tmp_path)
    assert path.stat().st_size < 2**20
    assert reader.read(path, SCALE, coloured=True) is None
    assert reader.read(triangle(tmp_path), SCALE, coloured=True) is not None


def test_texture_that_expands_is_left_out(reader, tmp_path):
    """The shape is shown; a texture of a sensible size is kept."""
    kept, left_out = (
        reader.read(textures(tmp_path, 1, edge), SCALE, coloured=True) for edge in (64, 30000)
    )
    assert len(kept.faces) == len(left_out.faces) == 1
    assert b'image/png' in kept.glb
    assert b'image/png' not in left_out.glb


def test_mesh_that_takes_too_long_is_given_up(reader, tmp_path, monkeypatch):
    """A file that waits for a pipe is given up, and others are read until the time is over."""
    os.mkfifo(tmp_path / 'pipe')
    path = gltf(tmp_path, buffers=[{'byteLength': 36, 'uri': 'pipe'}])
    assert reader.read(triangle(tmp_path), SCALE, coloured=False) is not None
    monkeypatch.setattr(mesh_reader, 'MESH_SECONDS', 0.5)
    assert reader.read(path, SCALE, coloured=False) is None
    monkeypatch.setattr(mesh_reader, 'MESH_SECONDS', 60.0)
    assert reader.read(triangle(tmp_path), SCALE, coloured=False) is not None
    reader._seconds = 0.0
    assert reader.read(triangle(tmp_path), SCALE, coloured=False) is None


def test_meshes_of_a_robot_together_are_limited(monkeypatch, tmp_path):
    """One file that is named very often fills no memory."""
    monkeypatch.setattr(mesh_reader, 'MOST_ROBOT_BYTES', 100)
    with MeshReader() as reader:
        found = [reader.read(triangle(tmp_path), SCALE, coloured=False) for _ in range(4)]
    assert [mesh is not None for mesh in found] == [True, True, False, False]


def test_large_file_is_not_opened(reader, tmp_path):
    """A file that is larger than any mesh is not read."""
    path = tmp_path / 'large.stl'
    with path.open('wb') as file:
        file.truncate(mesh_reader.MOST_BYTES + 1)
    assert reader.read(path, SCALE, coloured=False) is None
    assert reader._process is None
