"""Named arrays in .npz and HDF5 files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
import zipfile

from ik_node.errors import DescriptionError, IkError, OptionError
from ik_node.whole_file import whole_file
import numpy as np
from numpy.typing import NDArray

HDF5 = ('.h5', '.hdf5')
SUFFIXES = ('.npz', *HDF5)


def check_suffix(path: Path, name: str = 'path') -> None:
    """
    Check that a file can have arrays.

    Raises OptionError if it ends in something else than .npz, .h5 or .hdf5; the message calls it
    `name`. Raises IkError if h5py is needed and missing.
    """
    if not is_map(path):
        raise OptionError(name, str(path), 'a file that ends in .npz, .h5 or .hdf5')
    if path.suffix in HDF5:
        _h5py()


def is_map(path: str | Path) -> bool:
    """Return True if a file has the suffix of a map."""
    return Path(path).suffix in SUFFIXES


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """
    Write arrays to a file.

    Raises OptionError if the suffix is another one, or the file cannot be written. Raises IkError
    if h5py is needed and missing.
    """
    check_suffix(path)
    try:
        with whole_file(path) as part:
            if path.suffix == '.npz':
                np.savez(part, allow_pickle=False, **dict(arrays))
                return
            h5py = _h5py()
            with h5py.File(part, 'w') as file:
                for name, array in arrays.items():
                    # HDF5 has no texts of a fixed number of characters.
                    kind = h5py.string_dtype() if array.dtype.kind == 'U' else array.dtype
                    file.create_dataset(name, data=array.astype(kind))
    except OSError as error:
        text = f'a file that can be written: {error.strerror or error}'
        raise OptionError('path', str(path), text) from None


def read_arrays(path: Path) -> dict[str, Any]:
    """
    Return the arrays in a file.

    Raises DescriptionError if there is no such file or it has another format. Raises IkError if
    h5py is needed and missing.
    """
    if not path.is_file():
        raise DescriptionError('no such file', source=str(path))
    check_suffix(path)
    try:
        if path.suffix == '.npz':
            if not zipfile.is_zipfile(path):
                raise DescriptionError('not a .npz file', source=str(path))
            with np.load(path, allow_pickle=False) as file:
                return dict(file)
        h5py = _h5py()
        with h5py.File(path, 'r') as file:
            return {
                name: (each.asstr() if h5py.check_string_dtype(each.dtype) else each)[()]
                for name, each in file.items()
            }
    except MemoryError as error:  # a damaged header may claim any size
        raise DescriptionError(f'too large to read: {error}', source=str(path)) from None
    except (OSError, ValueError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise DescriptionError(f'not a file of arrays: {error}', source=str(path)) from None


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise IkError("HDF5 files need h5py: pip install 'ik_node[hdf5]', or use .npz") from None
    return h5py
