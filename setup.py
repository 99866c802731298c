"""Install ik_node the ament_python way."""

from glob import glob
import os
from pathlib import Path
import re
import shutil
import sys
import warnings

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

NAME = 'ik_node'
# For which processors a release is built, see `ik_node warm --targets`; none = for this computer.
TARGETS = os.environ.get('IK_NODE_TARGETS', '').split()
MACHINE = os.uname().machine if not TARGETS else 'aarch64' if 'aarch64' in TARGETS else 'x86_64'
SHARED_FOLDERS = ('launch', 'config', 'config/sros2', 'urdf')
HOME = 'https://ik-node.example'
REPOSITORY = f'{HOME}/ik_node'


class BuildWithKernels(build_py):
    """
    Build the package with the library of compiled kernels.

    Where Numba or a C compiler is missing, the package is installed without it.
    """

    def run(self):
        """Copy the sources, then build the library and put it beside them."""
        super().run()
        if getattr(self, 'editable_mode', False):
            return
        sys.path.insert(0, str(Path(__file__).parent.resolve()))
        try:
            from ik_node.errors import IkError
            from ik_node.native.build import build, build_call, libraries_of
            from ik_node.native.places import call_file, LIBRARY
        except ImportError as error:
            warnings.warn(f'no compiled kernels: {error}', stacklevel=1)
            return
        try:
            for levels, root in libraries_of(TARGETS):
                made = build(levels, root)
                name = call_file(MACHINE)
                if not (made / name).exists():
                    build_call(made / name, MACHINE)
                wanted = (LIBRARY, 'levels', name)
                into = self._into / made.name
                into.mkdir(parents=True, exist_ok=True)
                for path in (made / each for each in wanted if (made / each).exists()):
                    shutil.copy(path, into)
        except IkError as error:
            warnings.warn(f'no compiled kernels: {error}', stacklevel=1)

    @property
    def _into(self):
        return Path(self.build_lib) / NAME / 'native' / 'lib'

    def get_outputs(self, include_bytecode=1):
        """Return all files that are installed."""
        made = [str(path) for path in self._into.rglob('*') if path.is_file()]
        return super().get_outputs(include_bytecode) + made


class WithCompiledCode(Distribution):
    """The package contains compiled code, so that wheels are for one platform."""

    def has_ext_modules(self):
        """Return True."""
        return True


def long_description():
    """Return the README with links that work outside of the repository."""
    text = Path('README.md').read_text(encoding='utf-8')

    def absolute(link):
        kind = 'raw' if link[1].endswith(('.png', '.webp')) else 'blob'
        return f']({REPOSITORY}/{kind}/main/{link[1]})'

    return re.sub(r'\]\((?!https?:|#)([^)]+)\)', absolute, text)


setup(
    name=NAME,
    version='0.2.0',
    packages=[NAME, *(f'{NAME}.{package}' for package in find_packages(NAME))],
    package_data={
        NAME: ['*.pyi', 'py.typed', 'native/*.c', 'native/include/ik_node/*', 'native/cmake/*']
    },
    cmdclass={'build_py': BuildWithKernels},
    distclass=WithCompiledCode,
    # The library needs no symbol of glibc that is newer than 2.17.
    options={'bdist_wheel': {'plat_name': f'manylinux2014_{MACHINE}'}} if TARGETS else {},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/cmake', glob(f'{NAME}/native/cmake/*')),
        *((f'share/{NAME}/{folder}', glob(f'{folder}/*.*')) for folder in SHARED_FOLDERS),
    ],
    install_requires=['numpy', 'scipy', 'pyyaml', 'tqdm'],
    extras_require={
        # Compiles the kernels where no library comes with the package.
        'build': ['numba'],
        'plot': ['matplotlib'],
        # Maps of reach in HDF5 files; .npz files need nothing.
        'hdf5': ['h5py'],
        # Motions from BVH files, to bags of ROS 2 and as moving pictures.
        'motion': ['pybvh>=0.9', 'rosbags', 'matplotlib', 'pillow'],
        'viewer': ['viser>=1.1', 'trimesh'],
        'xacro': ['xacro'],
        # Batches on several machines.
        'dask': ['distributed'],
        # The shell completes commands and options of `ik_node`.
        'completion': ['argcomplete'],
        'test': ['pytest', 'pytest-timeout', 'hypothesis', 'urdf_parser_py'],
    },
    python_requires='>=3.10',
    # The library of compiled kernels is loaded from a file, and stored beside the code.
    zip_safe=False,
    author='The ik_node maintainers',
    author_email='maintainers@ik-node.example',
    maintainer='The ik_node maintainers',
    maintainer_email='maintainers@ik-node.example',
    description='Inverse kinematics for robots with closed loops, as a ROS 2 node and a library.',
    long_description=long_description(),
    long_description_content_type='text/markdown',
    url=HOME,
    project_urls={
        'Source': REPOSITORY,
        'Issues': f'{REPOSITORY}/issues',
        'Changelog': f'{REPOSITORY}/blob/main/CHANGELOG.rst',
        'Security': f'{REPOSITORY}/blob/main/SECURITY.md',
    },
    keywords=[
        'inverse kinematics',
        'closed loops',
        'parallel robots',
        'robotics',
        'ros',
        'ros2',
        'urdf',
        'sdformat',
        'mjcf',
    ],
    classifiers=[
        'Development Status :: 4 - Beta',
        'Intended Audience :: Developers',
        'Intended Audience :: Science/Research',
        'Operating System :: POSIX :: Linux',
        'Programming Language :: C',
        'Programming Language :: Python :: 3',
        'Programming Language :: Python :: 3 :: Only',
        *(f'Programming Language :: Python :: 3.{minor}' for minor in range(10, 14)),
        'Topic :: Scientific/Engineering',
        'Typing :: Typed',
    ],
    license='Apache-2.0',
    entry_points={
        'console_scripts': ['ik_node = ik_node.cli.main:main', 'ik = ik_node.cli.main:main']
    },
)
