"""
Compilation of all entries for one level: `python -m ik_node.native.compile LEVEL FOLDER`.

Runs in a process of its own with IK_NODE_KERNELS=numba. Numba compiles each entry as a C callback
(`numba.cfunc`) and hands out LLVM's intermediate representation of it, from which llvmlite makes
an object file. Numba wraps a callback so that it could report a Python exception; kernels raise
none. Those parts are cut off, so that the library needs no Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import importlib
from pathlib import Path
import re
import sys
from typing import Any

from ik_node.kernels.decorators import called, entries
from ik_node.native.levels import Level, LEVELS

# Modules with entries, in the order of their compilation: what another one calls comes first.
MODULES = (
    *('solve', 'batch', 'external_step', 'links', 'transmit', 'velocity', 'path', 'distance'),
    'every_solution',
)


def load_entries() -> None:
    """Import the modules that mark entries."""
    for name in MODULES:
        importlib.import_module(f'ik_node.kernels.{name}')


def compiled_entries() -> Iterator[tuple[str, Any]]:
    """Compile all entries one after the other; yield the name and Numba's callback of each."""
    from ik_node.kernels.numba_ext.calls import signature_of, symbol_of
    from llvmlite import binding
    from numba import cfunc

    load_entries()
    # Checks of indices may divide numbers of 128 bits, for which GCC has a function.
    binding.load_library_permanently('libgcc_s.so.1')
    for done, (name, entry) in enumerate(entries.items()):
        print(f'{done} {len(entries)} {name}', flush=True)
        callback = cfunc(signature_of(entry.parameters), error_model='numpy')(entry.function)
        # An entry that calls this one finds it by its name.
        binding.add_symbol(symbol_of(name), callback.address)
        yield name, callback


def assemble_entries_only() -> Callable[[Any], None]:
    """
    Keep Numba from optimising and assembling each of the kernels, most of which are inlined.

    Numba does both for every function that it compiles, so that Python could call it. A build
    needs neither: it uses the intermediate representation of the entries, into which the kernels
    are linked. Without them a build took 60 s of processor time instead of 85. Kernels that are
    called (`decorators.rare`), and entries, stay functions of their own. Returns the function that
    optimises Numba's code library of an entry, with the passes of Numba.
    """
    from numba.core import codegen
    from numba.core.base import BaseContext

    optimise: Callable[[Any], None] = codegen.CPUCodeLibrary._optimize_final_module
    declare = BaseContext.declare_function

    def declare_kernel(context: Any, module: Any, described: Any) -> Any:
        function = declare(context, module, described)
        of_kernels = str(described.modname).startswith('ik_node.kernels')
        if of_kernels and described.qualname in called:
            function.attributes.add('noinline')
        return function

    BaseContext.declare_function = declare_kernel

    def finalise(library: Any) -> None:
        library._finalize_dynamic_globals()
        library._finalized = True

    def no_address(library: Any, _name: str) -> int:
        library._ensure_finalized()  # links what the function calls
        return 0

    codegen.CPUCodeLibrary._optimize_final_module = lambda library: None
    codegen.CPUCodeLibrary._finalize_final_module = finalise
    codegen.JITCodeLibrary.get_pointer_to_function = no_address
    codegen.JITCPUCodegen.set_env = lambda *_: None
    return optimise


def object_code(callback: Any, name: str, level_name: str) -> bytes:
    """Return an object file with one entry, which is called `ik_kernel_NAME_LEVEL`."""
    from ik_node.kernels.numba_ext.calls import symbol_of
    from llvmlite import binding

    level = LEVELS[level_name]
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(level.triple).create_target_machine(
        cpu=level.cpu, features=level.features, opt=3, reloc='pic', codemodel='default'
    )
    text = without_python(callback.inspect_llvm(), callback.native_name, symbol_of(name))
    module = binding.parse_assembly(for_level(text, level, level_name, machine))
    module.verify()
    code: bytes = machine.emit_object(module)
    return code


_FUNCTION = re.compile(r'^define .*?^}\n', re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'@("[^"]+"|[-\w.$]+)')


def without_python(text: str, native_name: str, symbol: str) -> str:
    """
    Return the representation of an entry with a C name and without calls of Python.

    Functions that it does not use go. What reports an exception becomes code that is never
    reached.
    """
    text = with_short_names(text)
    text = re.sub(r'@"?' + re.escape(native_name) + r'"?(?=\()', f'@{symbol}', text)
    functions = {_NAME.findall(body)[0]: body for body in _FUNCTION.findall(text)}
    used, waiting = set(), [symbol]
    while waiting:
        name = waiting.pop()
        if name in functions and name not in used:
            used.add(name)
            waiting += _NAME.findall(functions[name])
    for name, body in functions.items():
        text = text.replace(body, body if name in used else '')
    text = re.sub(rf'^define (?=.*@{symbol}\()', 'define hidden ', text, flags=re.MULTILINE)
    text = re.sub(
        rf'^define (?:linkonce_odr )?(?=.*@)(?!.*@{symbol}\()',
        'define internal ',
        text,
        flags=re.MULTILINE,
    )
    text = re.sub(
        r'^(@.*) = (?:external|common)( local_unnamed_addr)? global (\S+?)( null| 0|)(?=,|$)',
        r'\1 = internal global \3 zeroinitializer',
        text,
        flags=re.MULTILINE,
    )
    return re.sub(
        r'^declare (.*@(?:Py|numba_|NRT_).*)$',
        r'define internal \1 { unreachable }',
        text,
        flags=re.MULTILINE,
    )


# Longest name of a value or block that LLVM 14 reads back without cutting it off.
LONGEST_NAME = 500
_LONG = rf'([-\w.$]{{{LONGEST_NAME},}}|"[^"\n]{{{LONGEST_NAME},}}")'


def with_short_names(text: str) -> str:
    """Return the representation with short names for values and blocks with very long ones."""
    names: dict[str, str] = {}

    def short(match: re.Match[str]) -> str:
        name = names.setdefault(match.group(2).strip('"'), f'long.{len(names)}')
        return f'{match.group(1)}{name}'

    text = re.sub(f'(%){_LONG}', short, text)
    return re.sub(f'^(){_LONG}(?=:)', short, text, flags=re.MULTILINE)


def for_level(text: str, level: Level, level_name: str, machine: Any) -> str:
    """Return the representation for another processor, with the level in all entries' names."""
    text = re.sub(r'@(ik_kernel_\w+)', rf'@\1_{level_name}', text)
    text = re.sub(r'^target triple = .*$', f'target triple = "{level.triple}"', text, flags=re.M)
    layout = f'target datalayout = "{machine.target_data}"'
    return re.sub(r'^target datalayout = .*$', layout, text, flags=re.M)


def main(words: list[str]) -> int:
    """Write one object file an entry to a folder."""
    level_name, folder = words
    optimise = assemble_entries_only()
    for name, callback in compiled_entries():
        optimise(callback._library)
        path = Path(folder) / f'{name}.{level_name}.o'
        path.write_bytes(object_code(callback, name, level_name))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
