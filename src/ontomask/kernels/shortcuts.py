"""Ways around what Numba does over and over, taken while a kernel of ours is compiled.

Half of the compiler's time goes into finding what it has found before. The ways around lead to the
same program: types are those that Numba resolves, and LLVM's passes keep every rounding, however
often they run. They stand in for insides of one version of Numba, so they are taken with that
version only, and put back after each kernel: other people's functions are compiled as ever.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from numba import version_info
from numba.core import codegen, inline_closurecall, ir, postproc, targetconfig, transforms
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import functions

__all__ = ["INSIDES_KNOWN", "shortcuts"]

INSIDES_KNOWN = version_info.short == (0, 68)
"""Whether this is the Numba whose insides were looked at. With any other, kernels are compiled and
linked as Numba itself does it, which takes longer and is as good."""

UNTOUCHED = SimpleNamespace(deepcopy=lambda blocks: blocks)


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Ask dozens of templates once, not each time a sum of the same types is met."""
    known: dict[Any, Any] = {}
    stack: Any = targetconfig.ConfigStack

    def get_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
        flags = stack.top_or_none()
        options = "" if flags is None else repr(flags._values)
        key = id(function), id(context), tuple(arguments), tuple(named.items()), options
        if key not in known:
            signature = resolve(function, context, arguments, named)
            implementation = function._impl_keys[signature.args]
            # with the function itself, so that no other gets its number
            known[key] = function, context, signature, implementation
        signature, implementation = known[key][2:]
        function._impl_keys[signature.args] = implementation
        return signature

    return get_call_type


def _inline_function(
    worker: Any, caller: Any, block: Any, place: int, function: Any, arg_typs: Any = None
) -> Any:
    """Write a step out in its caller without copying it twice: it was read for just that."""
    callee, free = worker.run_untyped_passes(function), function.__code__.co_freevars
    with _replaced([(inline_closurecall, "copy", UNTOUCHED)]):
        return worker.inline_ir(caller, block, place, callee, free, arg_typs)


def _listing(list_variables: Callable[..., Any]) -> Callable[..., Any]:
    """Ask most parts of an instruction for their type only: they are names and places."""

    def _rec_list_vars(instruction: Any, part: Any) -> Any:
        kind, found = type(part), []
        if kind is not dict and kind is not list and kind is not tuple:
            return [part] if kind is ir.Var else list_variables(instruction, part)
        for one in part.values() if kind is dict else part:
            kind = type(one)
            if kind is ir.Var:
                found.append(one)
            elif kind is not str and kind is not ir.Loc:
                found += _rec_list_vars(instruction, one)
        return found

    return _rec_list_vars


def _when_asked(process: Callable[..., None]) -> Callable[..., None]:
    """Do not find out after each of a dozen passes which variables live where a block begins.

    Generators ask for that, and functions that are not compiled. Others ask where variables end,
    after the last pass.
    """
    blocks_of: Any = transforms.canonicalize_cfg
    lifetime_in: Any = postproc.VariableLifetime

    def run(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = processor.func_ir
        if function.is_generator:
            process(processor, emit_dels, extend_lifetimes)
            return
        function.blocks = blocks_of(function.blocks)
        function.variable_lifetime = lifetime_in(function.blocks)
        function.generator_info = None
        if emit_dels:
            processor._insert_var_dels(extend_lifetimes=extend_lifetimes)

    return run


def _optimize_functions(library: Any, module: Any) -> None:
    """Leave functions as they are: they are optimized with all they are linked to."""
    module.data_layout = library._codegen._data_layout


def _once(optimize_twice: Callable[..., Any]) -> Callable[..., Any]:
    """Optimize a module once where nobody counts who holds arrays.

    The first time is there to bring such counts together, so that they can be taken out.
    """

    def _optimize_final_module(library: Any) -> None:
        module = library._final_module
        if any(function.name.startswith("NRT_") for function in module.functions):
            optimize_twice(library)
        else:
            manager, builder = library._codegen._module_pass_manager()
            manager.run(module, builder)

    return _optimize_final_module


def _ways() -> list[tuple[Any, str, Any]]:
    """What is replaced where, and by what."""
    functions_of, library = functions.BaseFunction, codegen.CPUCodeLibrary
    return [
        (functions_of, "get_call_type", _remembering(functions_of.get_call_type)),
        (inline_closurecall.InlineWorker, "inline_function", _inline_function),
        (ir.Inst, "_rec_list_vars", _listing(ir.Inst._rec_list_vars)),
        (postproc.PostProcessor, "run", _when_asked(postproc.PostProcessor.run)),
        (library, "_optimize_functions", _optimize_functions),
        (library, "_optimize_final_module", _once(library._optimize_final_module)),
    ]


WAYS = _ways() if INSIDES_KNOWN else []


@contextlib.contextmanager
def _replaced(ways: list[tuple[Any, str, Any]]) -> Iterator[None]:
    """Put something else in the places of some attributes for a while."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in ways]
    try:
        for owner, name, other in ways:
            setattr(owner, name, other)
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


@contextlib.contextmanager
def shortcuts() -> Iterator[None]:
    """Take the ways around, alone: no other thread compiles meanwhile."""
    with global_compiler_lock, _replaced(WAYS):
        yield
