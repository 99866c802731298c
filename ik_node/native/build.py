"""
The build of the library: kernels compiled by Numba, linked by a C compiler.

Numba runs in processes of its own, one for each level, so that the process that wants the library
need not import it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
import fcntl
from importlib import metadata
import importlib.util
import os
from pathlib import Path
import shutil
import subprocess
import sys
import sysconfig
from tempfile import TemporaryDirectory
from threading import Event, Thread
import time

from ik_node.errors import IkError, OptionError
from ik_node.native.layout_header import layout_header
from ik_node.native.levels import Level, LEVELS, own_level, TARGETS
from ik_node.native.places import (
    call_file,
    digest,
    HERE,
    kernels_digest,
    LIBRARY,
    roots,
    why_untrusted,
)
import numpy as np

Say = Callable[[str], None]
# Time between two lines that tell the time [s].
PERIOD = 10.0


class BuildError(IkError):
    """The library cannot be built; the message says why, and what to do."""


def c_compiler(machine: str) -> list[str]:
    """
    Return the command of a C compiler for a kind of processor.

    Raise BuildError if none is installed.
    """
    own = machine == os.uname().machine
    named = os.environ.get('CC' if own else f'CC_{machine.upper()}')
    if named:
        return named.split()
    for name in ('cc', 'gcc', 'clang') if own else (f'{machine}-linux-gnu-gcc',):
        if shutil.which(name):
            return [name]
    if importlib.util.find_spec('ziglang') is not None:
        # An old glibc, so that the library runs on all systems of the last ten years.
        return [sys.executable, '-m', 'ziglang', 'cc', '-target', f'{machine}-linux-gnu.2.17']
    package = 'gcc' if own else f'gcc-{machine}-linux-gnu'.replace('_', '-')
    raise BuildError(
        f'no C compiler for {machine}: install one (apt install {package}, or pip install '
        'ziglang), or name one in the environment variable CC'
    )


def build(levels: Sequence[str] = (), root: Path | None = None) -> Path:
    """
    Build the library for some levels, unless it is there, and return its folder.

    A line on stderr says which entry is compiled, and every `PERIOD` how long it has taken.

    `levels`: keys of `LEVELS`, all for one kind of processor; none = the level of this computer.
    `root`: where the folder is made; None = the first of `places.roots()` that can be written to.
    Raise BuildError if Numba or a C compiler is missing or fails.
    """
    chosen = tuple(levels) or (own_level(),)
    machine = LEVELS[chosen[0]].machine
    root = writable_root() if root is None else root
    root.mkdir(parents=True, exist_ok=True)
    with open(root / '.lock', 'w', encoding='utf-8') as lock, _lines() as say:
        # Several processes may find no library at the same time; one of them builds it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = root / digest()
        listed = folder / 'levels'
        built = listed.read_text(encoding='utf-8').split() if listed.exists() else []
        if root == roots()[1] and why_untrusted(folder / LIBRARY):
            built = []  # made anew: the file that is there is replaced
        if not set(chosen).issubset(built):
            compiler = c_compiler(machine)
            if importlib.util.find_spec('numba') is None:
                raise BuildError('Numba is not installed, and compiles them: pip install numba')
            with TemporaryDirectory(dir=root, prefix='.building-') as made:
                objects = _objects(chosen, root, Path(made), say)
                _link(compiler, chosen, objects, Path(made))
                folder.mkdir(mode=0o755, exist_ok=True)
                os.chmod(Path(made) / LIBRARY, 0o755)
                os.replace(Path(made) / LIBRARY, folder / LIBRARY)
                listed.write_text(' '.join(chosen) + '\n', encoding='utf-8')
                say(f'stored in {folder}')
        _remove_others(root, folder)
    return folder


def libraries_of(
    targets: Sequence[str] | None, folder: Path | None = None
) -> list[tuple[tuple[str, ...], Path | None]]:
    """
    Return which libraries targets stand for: the levels of each, and the folder it is made in.

    `targets`: keys of `LEVELS` and `TARGETS`; none = this computer. `folder`: as `root` of
    `build`; other kinds of processors have a folder of their own in it. Raise OptionError if a
    target is unknown.
    """
    if not targets:
        return [((), folder)]
    levels: list[str] = []
    for name in targets:
        if name not in LEVELS and name not in TARGETS:
            allowed = ', '.join([*TARGETS, *(level for level in LEVELS if level not in TARGETS)])
            raise OptionError('target', name, allowed)
        levels += TARGETS.get(name, (name,))
    chosen = [level for level in LEVELS if level in levels]
    root = writable_root() if folder is None else folder
    return [
        (
            tuple(level for level in chosen if LEVELS[level].machine == machine),
            root if machine == os.uname().machine else root / machine,
        )
        for machine in dict.fromkeys(LEVELS[level].machine for level in chosen)
    ]


def writable_root() -> Path:
    """
    Return the folder in which libraries are stored; it exists.

    Raise BuildError if that is the cache of the user and other users can write to it.
    """
    beside, per_user = roots()
    try:
        beside.mkdir(exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside
    except OSError:
        pass
    _make_own_folder(per_user)
    return per_user


def _make_own_folder(folder: Path) -> None:
    """Make a folder of the cache, and those it is in, to which nobody else can write."""
    for each in reversed((folder, *folder.parents)):
        each.mkdir(mode=0o700, exist_ok=True)
    reason = why_untrusted(folder)
    if reason:
        raise BuildError(
            f'{reason}, so no library is stored in {folder}: set XDG_CACHE_HOME to a folder to '
            'which only you can write'
        )


# Libraries of other sources that are kept, for other checkouts and versions.
KEPT = 4


def _remove_others(root: Path, folder: Path) -> None:
    """Remove libraries of other sources, except for the newest ones."""
    others = [path for path in root.iterdir() if (path / LIBRARY).exists() and path != folder]
    for other in sorted(others, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(other, ignore_errors=True)


def _objects(levels: Sequence[str], root: Path, made: Path, say: Say) -> list[Path]:
    """
    Return the object files of all levels; those of the same kernels are made only once.

    They are kept in `objects-DIGEST-NUMBA/LEVEL` beside the libraries, where DIGEST is that of the
    kernels: an edit of the C sources links the library anew and compiles no kernel. For a library
    that stands elsewhere, such as in a wheel, no object files are kept.
    """
    name = f'objects-{kernels_digest()}-{metadata.version("numba")}'
    kept = (root if root in roots() else made) / name
    for other in root.glob('objects-*'):
        if other != kept:
            shutil.rmtree(other, ignore_errors=True)
    trusted = root != roots()[1] or not why_untrusted(kept)
    missing = [level for level in levels if not (trusted and (kept / level).is_dir())]
    _compile(missing, made, say)
    for level in missing:
        folder = made / level
        folder.mkdir()
        for path in made.glob(f'*.{level}.o'):
            path.rename(folder / path.name)
        kept.mkdir(mode=0o755, exist_ok=True)
        shutil.rmtree(kept / level, ignore_errors=True)
        folder.rename(kept / level)
    return sorted(path for level in levels for path in (kept / level).iterdir())


def _compile(levels: Sequence[str], folder: Path, say: Say) -> None:
    """Make the object files of all levels, each in its own process."""
    done = dict.fromkeys(levels, 0)

    def compile_level(name: str) -> None:
        command = [sys.executable, '-m', 'ik_node.native.compile', name, str(folder)]
        log = folder / f'{name}.log'
        with (
            log.open('w') as said,
            subprocess.Popen(
                command,
                env=_environment(LEVELS[name]),
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            ) as process,
        ):
            for line in process.stdout or ():
                number, count, entry = line.split()
                done[name] = int(number)
                of_all = f'{sum(done.values())} of {len(levels) * int(count)} done'
                say(f'{entry} ({name}), {of_all}')
        if process.returncode != 0:
            raise BuildError(f'Numba cannot compile the kernels for {name}: {log.read_text()}')

    with ThreadPoolExecutor(max(1, min(len(levels), os.cpu_count() or 1))) as threads:
        for ended in [threads.submit(compile_level, name) for name in levels]:
            ended.result()


def _environment(level: Level) -> dict[str, str]:
    """Return the environment of a process that compiles for a level."""
    own = level.machine == os.uname().machine
    # For another kind of processor LLVM optimises as for one without wide vectors.
    cpu = level.cpu if own else 'generic'
    here = str(HERE.parents[1])
    path = os.pathsep.join(part for part in (here, os.environ.get('PYTHONPATH')) if part)
    unset = ('NUMBA_DISABLE_JIT', 'NUMBA_BOUNDSCHECK', 'NUMBA_OPT')
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    chosen = {
        'IK_NODE_KERNELS': 'numba',
        'NUMBA_CPU_NAME': cpu,
        'NUMBA_CPU_FEATURES': level.features if own else '',
    }
    return {**kept, **chosen, 'PYTHONPATH': path}


def _link(
    compiler: list[str], levels: Sequence[str], objects: Sequence[Path], folder: Path
) -> None:
    """Link object files and the C sources to a library in a folder."""
    (folder / 'layout.h').write_text(layout_header(levels), encoding='utf-8')
    _run_compiler(
        [
            *compiler,
            *('-shared', '-fPIC', '-O2', '-fvisibility=hidden', '-Wl,-s', '-Wl,--no-undefined'),
            f'-Wl,-soname,{LIBRARY}',
            # Python does not round a product and a sum in one, and the results are to be equal.
            *('-std=c11', '-ffp-contract=off', f'-I{HERE / "include"}', f'-I{folder}'),
            f'-DIK_DIGEST="{digest()}"',
            *map(str, objects),
            *(str(HERE / name) for name in ('kernels.c', 'ik_node.c')),
            *('-lm', '-o', str(folder / LIBRARY)),
        ]
    )


def build_call(path: Path, machine: str = '') -> Path:
    """
    Compile `call.c` for this Python and this NumPy, and return where it stands.

    It is stored as `path`, or in the user's cache where that cannot be written. If it cannot be
    compiled, for example because Python's headers are not installed, there is no file. `machine`
    is the kind of processor; empty = this computer's.
    """
    try:
        compiler = c_compiler(machine or os.uname().machine)
    except BuildError:
        return path
    if not os.access(path.parent, os.W_OK):
        path = roots()[1] / digest() / call_file()
        try:
            _make_own_folder(path.parent)
        except (BuildError, OSError):
            return path
        if path.exists():
            return path
    headers = (sysconfig.get_paths()['include'], np.get_include())
    with TemporaryDirectory(dir=path.parent, prefix='.building-') as made:
        built = Path(made) / path.name
        (Path(made) / 'layout.h').write_text(layout_header(), encoding='utf-8')
        flags = ('-shared', '-fPIC', '-O2', '-Wl,-s', *(f'-I{each}' for each in (made, *headers)))
        try:
            _run_compiler([*compiler, *flags, str(HERE / 'call.c'), '-o', str(built)])
        except BuildError:
            return path
        os.chmod(built, 0o755)
        os.replace(built, path)
    return path


def _run_compiler(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise BuildError(f'the C compiler failed: {" ".join(command)}\n{ended.stderr}')


@contextmanager
def _lines() -> Iterator[Say]:
    """Yield a function that prints a line; every `PERIOD` there is one that tells the time."""
    began, ended = time.perf_counter(), Event()

    def say(what: str) -> None:
        spent = time.perf_counter() - began
        print(f'compiling the kernels, {spent:3.0f} s: {what}', file=sys.stderr, flush=True)

    def tick() -> None:
        while not ended.wait(PERIOD):
            say('...')

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield say
    finally:
        ended.set()
        clock.join()
