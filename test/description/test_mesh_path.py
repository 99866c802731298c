"""Finding the meshes that a description names."""

from ik_node.description.mesh_path import mesh_path
import pytest


@pytest.fixture
def package(tmp_path):
    """Make a package with a mesh and a description; return its folder."""
    folder = tmp_path / 'checkout'
    (folder / 'meshes').mkdir(parents=True)
    (folder / 'urdf').mkdir()
    (folder / 'package.xml').write_text('<package><name> my_robot </name></package>')
    (folder / 'meshes' / 'a b.stl').write_text('solid')
    return folder


def test_package_url_is_found_by_its_manifest(package):
    """The package that the description lies in is found by its name, whatever its folder's."""
    source = str(package / 'urdf' / 'robot.urdf')
    wanted = package / 'meshes' / 'a b.stl'
    assert mesh_path('package://my_robot/meshes/a%20b.stl', source) == wanted
    assert mesh_path('package://other/meshes/a%20b.stl', source) is None


@pytest.mark.parametrize(
    ('variable', 'below'), [('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '')]
)
def test_package_url_is_found_by_the_environment(tmp_path, monkeypatch, variable, below):
    """Installed packages are found where ROS looks for them."""
    mesh = tmp_path / 'prefix' / below / 'my_robot' / 'arm.stl'
    mesh.parent.mkdir(parents=True)
    mesh.write_text('solid')
    monkeypatch.setenv(variable, f'/nowhere:{tmp_path / "prefix"}')
    assert mesh_path('package://my_robot/arm.stl', '<text>') == mesh
    assert mesh_path('package://../arm.stl', '<text>') is None
    assert mesh_path('package:///arm.stl', '<text>') is None


def test_model_url_is_found(package, tmp_path, monkeypatch):
    """A model is found by its folder, its manifest, as a package, or where Gazebo looks."""
    source = str(package / 'urdf' / 'robot.sdf')
    wanted = package / 'meshes' / 'a b.stl'
    assert mesh_path('model://checkout/meshes/a b.stl', source) == wanted
    assert mesh_path('model://my_robot/meshes/a%20b.stl', source) == wanted
    assert mesh_path('model://arm/meshes/a b.stl', source) is None
    (package / 'model.config').write_text('<model><name>arm</name></model>')
    assert mesh_path('model://arm/meshes/a b.stl', source) == wanted
    assert mesh_path('model://checkout/meshes/a b.stl', '<text>') is None
    monkeypatch.setenv('GZ_SIM_RESOURCE_PATH', f'/nowhere:{tmp_path}')
    assert mesh_path('model://checkout/meshes/a b.stl', '<text>') == wanted
    assert mesh_path('model://../checkout/meshes/a b.stl', '<text>') is None


def test_paths_are_found(package):
    """A path counts from the description; of a text, only an absolute one is looked for."""
    mesh = package / 'meshes' / 'a b.stl'
    source = str(package / 'urdf' / 'robot.urdf')
    assert mesh_path('../meshes/a b.stl', source).samefile(mesh)
    assert mesh_path(str(mesh), '<text>') == mesh
    assert mesh_path(f'file://{mesh}', '<text>') == mesh
    assert mesh_path('../meshes/a b.stl', '<text>') is None


@pytest.mark.parametrize('url', ['http://host/arm.stl', 'ftp://host/arm.stl', 'model://arm.stl'])
def test_mesh_urls_of_other_schemes_are_not_fetched(package, url):
    """Other URLs are left alone."""
    assert mesh_path(url, str(package / 'urdf' / 'robot.urdf')) is None


@pytest.mark.parametrize(
    'name', ['a.zip', 'passwd', 'a.stl.gz', 'a.py', '.stl/a', 'x' * 5000 + '.stl']
)
def test_other_files_are_not_looked_at(tmp_path, name):
    """A text can name meshes alone, whatever other files are there."""
    if len(name) < 100:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('secret')
    for written in (f'{tmp_path}/{name}', f'file://{tmp_path}/{name}', f'package://p/{name}'):
        assert mesh_path(written, '<text>') is None
