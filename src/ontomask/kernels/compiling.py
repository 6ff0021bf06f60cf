"""How kernels are compiled, and when they are, rather than found on disk.

Numba compiles a kernel at its first call on a machine, and whoever waits for seconds should be told
what for. Kernels that are found on disk are not reported.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import gc
import hashlib
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import llvmlite.binding as machine_code
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, event, typing

from ontomask.errors import MethodError
from ontomask.kernels.shortcuts import INSIDES_KNOWN, shortcuts
from ontomask.kernels.turns import WAITING, turn

__all__ = [
    "NOTICE",
    "Compiling",
    "allocating",
    "apart",
    "compiled",
    "compiling",
    "later",
    "part",
    "unsigned",
    "whole",
]

_compile: Any = njit  # whose types do not tell all of its options
_writing: Any = cgutils  # which have none
_typing: Any = typing
_OPTIONS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}


def allocating(function: Callable[..., Any]) -> Any:
    """Compile a kernel that makes arrays, or calls one that hands out an array."""
    return _kernel(function, _nrt=True)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only writes into arrays it is given.

    Nobody counts who holds the arrays that are passed, which is half of the compiler's work on a
    call.
    """
    return _kernel(function, _nrt=False)


def _kernel(function: Callable[..., Any], **options: bool) -> Any:
    """Two ways of compiling a function: for calls from Python, and for calls from other kernels.

    Most kernels are needed in one way only, and those that are called from kernels alone need not
    know how objects of Python become arrays.
    """
    kernel = _compile(**_OPTIONS, **options)(function)
    if kernel is function or not INSIDES_KNOWN:
        return kernel  # the function itself where Numba is switched off
    inside = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    inside.__module__ = function.__module__
    inside.__qualname__ = f"{function.__qualname__}.inside"  # the two are kept on disk by this name
    kernel.inside = _compile(**_OPTIONS, **options, no_cpython_wrapper=True)(inside)
    for one in (kernel, kernel.inside):
        one.compile = _in_turn(one)
    kernel.get_call_template = kernel.inside.get_call_template
    kernel.get_overload = kernel.inside.get_overload
    # Numba forgets it with those that are taken from disk, and who has their code in its own would
    # not know whom it calls
    _afterwards(kernel.inside, lambda made: made.library._reload_init.update(made.reload_init))
    return kernel


def _in_turn(kernel: Any) -> Callable[[Any], Any]:
    """Compile a kernel, or take it from disk, by shortcuts and when no other process does it."""
    compile_for, function = kernel.compile, kernel.py_func
    name = f"{function.__module__}.{function.__qualname__}"

    def compile_(signature: Any) -> Any:
        with shortcuts(), turn(f"{name}{signature!r}"):
            return compile_for(signature)

    return compile_


def _afterwards(kernel: Any, step: Callable[[Any], None]) -> None:
    """Do something more with whatever is compiled, or taken from disk, for a kernel."""
    add = kernel.add_overload

    def add_overload(result: Any) -> None:
        add(result)
        step(result)

    kernel.add_overload = add_overload


part: Any = njit(inline="always")
"""For steps that are called in one place and get a name to be read: they are written out there,
because the compiler goes through a function again in every function above it."""


@dataclass(frozen=True)
class Called:
    """A kernel that others call without having its code in theirs, for some types of arguments.

    To those it is the library that Numba would link with them: an empty one, which sees to it that
    the kernel is there before one that calls it is taken from disk.
    """

    module: str
    name: str
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        """Take the kernel from disk, or compile it."""
        kernel = getattr(importlib.import_module(self.module), self.name)
        kernel.inside.compile(self.arguments)

    @property
    def symbol(self) -> str:
        """The name it is called by, which is the same in all processes: Numba's own is not."""
        types = hashlib.blake2b(repr(self.arguments).encode(), digest_size=16).hexdigest()
        return f"{self.module}.{self.name}.{types}"

    @property
    def _reload_init(self) -> set[Called]:
        return {self}

    def _ensure_finalized(self) -> None:
        """There is nothing to be done."""

    def _get_module_for_linking(self) -> Any:
        return machine_code.parse_assembly("")


def apart(kernel: Any) -> Any:
    """Let other kernels call this one instead of having a copy of it, optimized once more in each.

    For large kernels: of small ones the compiler can do without the call.

    Parameters
    ----------
    kernel
        What `compiled` or `allocating` gave.
    """

    def publish(result: Any) -> None:
        function, described = kernel.py_func, copy.copy(result.fndesc)
        called = Called(function.__module__, function.__name__, tuple(result.signature.args))
        address = result.library.get_pointer_to_function(described.llvm_func_name)
        machine_code.add_symbol(called.symbol, address)
        described.mangled_name = called.symbol
        # of several definitions for the same types, Numba takes the last
        result.target_context.insert_user_function(result.entry_point, described, [called])

    if hasattr(kernel, "inside"):
        _afterwards(kernel.inside, publish)
    return kernel


REACHES_FAR = machine_code.get_process_triple().startswith("x86_64")
"""Whether programs reach data wherever it lies. With other processors it must lie near them, but
functions need not."""
KINDS = {"float": types.float64, "int": types.int64, "bool": types.boolean, "None": types.none}


class NotCompiledError(MethodError):
    """Why a kernel could not be compiled, where compiled code can only tell which one it was."""

    def __init__(self, module: str, name: str) -> None:
        reason = getattr(importlib.import_module(module), name).reason
        told = str(reason).strip().partition("\n")[0]
        super().__init__(
            f"A part of this step ({name}) could not be compiled on this machine "
            f"({type(reason).__name__}{': ' if told else ''}{told}); make sure that there is room "
            "in memory and on the disk, and run it again."
        )

    def __reduce__(self) -> tuple[type[MethodError], tuple[Any, ...]]:
        """Go to another process, where nothing has failed, as the sentence alone."""
        return MethodError, self.args


@dataclass(frozen=True)
class Late(Called):
    """A kernel that is not there before it is called, at an address that is found by then."""

    def __call__(self) -> None:
        """Say where the address will be and who finds it, once in a process."""
        kernel = getattr(importlib.import_module(self.module), self.name)
        if self in kernel.addresses:
            return

        def find() -> bool:
            # whoever interrupts this finds no address
            with contextlib.suppress(KeyboardInterrupt):
                try:
                    kernel.inside.compile(self.arguments)
                except Exception as reason:  # noqa: BLE001 - compiled code cannot pass on any
                    kernel.reason = reason
                    return False
            return True

        address, finder = ctypes.c_void_p(), ctypes.CFUNCTYPE(ctypes.c_bool)(find)
        machine_code.add_symbol(self.symbol, ctypes.addressof(address))
        machine_code.add_symbol(self.finder, ctypes.cast(finder, ctypes.c_void_p).value)
        kernel.addresses[self] = address, finder
        call: Any = functools.partial(self.call)
        call.libs = (self,)
        kernel.inside.targetctx._defns[self].append(call, self.arguments)

    @property
    def finder(self) -> str:
        """The name of what finds the address."""
        return f"{self.symbol}.find"

    def call(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the call: look for the address, have it found if need be, go there."""
        module, convention = builder.module, context.call_conv
        kind = convention.get_function_type(signature.return_type, self.arguments).as_pointer()
        place = module.globals.get(self.symbol) or ir.GlobalVariable(module, kind, self.symbol)
        with _writing.if_unlikely(builder, _writing.is_null(builder, builder.load(place))):
            finding = ir.FunctionType(ir.IntType(8), ())
            found = builder.call(_writing.get_or_insert_function(module, finding, self.finder), ())
            with _writing.if_unlikely(builder, _writing.is_null(builder, found)):
                convention.return_user_exc(builder, NotCompiledError, (self.module, self.name))
            with _writing.if_unlikely(builder, _writing.is_null(builder, builder.load(place))):
                convention.return_user_exc(builder, KeyboardInterrupt, ())
        told = signature.return_type, self.arguments, arguments
        status, result = convention.call_function(builder, builder.load(place), *told)
        with _writing.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result


def later(kernel: Any) -> Any:
    """Let other kernels call this one before it is compiled, which is done when it is first called.

    For what few runs need. The kernel says by its annotation what it returns.

    Parameters
    ----------
    kernel
        What `compiled` or `allocating` gave.
    """
    if not hasattr(kernel, "inside") or not REACHES_FAR:
        return apart(kernel)
    function, inside = kernel.py_func, kernel.inside
    kind = KINDS[function.__annotations__["return"]]
    kernel.addresses, kernel.reason = {}, None

    def late(arguments: Any) -> Late:
        return Late(function.__module__, function.__name__, tuple(arguments))

    def get_call_template(arguments: Any, named: Any) -> Any:
        python, folded = inside._compiler.fold_argument_types(arguments, named)
        one, signature = late(folded), _typing.signature(kind, *folded)
        one()
        template = _typing.make_concrete_template(one.symbol, one.symbol, [signature])
        return template, python, folded, {}

    def publish(result: Any) -> None:
        one = late(result.signature.args)
        one()
        address = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        kernel.addresses[one][0].value = address

    kernel.get_call_template = get_call_template
    kernel.get_overload = late
    _afterwards(inside, publish)
    return kernel


whole: Any = np.int64
"""The type all loops use. A plain 0, or a number from a narrower array, is a type of its own to the
compiler: every function it is passed to would be compiled once more."""

unsigned: Any = np.uint64
"""The type of places in arrays in the innermost loops. Signed ones may count from the end, and the
compiler asks each of them, which can take as long as all else. Sums need it on both sides."""

NOTICE = "compiling, once on this machine, about 10 s"
"""What a person is told, in the middle of a sentence."""


class Compiling(event.Listener):
    """Whether a kernel is being compiled, in whatever thread."""

    def __init__(self, tell: Callable[[bool], None]) -> None:
        self._tell, self._depth, self._collects = tell, 0, gc.isenabled()

    @property
    def active(self) -> bool:
        """Whether one is being compiled now."""
        return self._depth > 0

    # a kernel that calls others is compiled around them, and Numba compiles one at a time
    def on_start(self, _event: Any) -> None:
        """Count a kernel that is begun, and tell of the outermost."""
        self._depth += 1
        if self._depth == 1:
            gc.disable()  # a tenth of the time, with nothing to collect
            self._tell(True)

    def on_end(self, _event: Any) -> None:
        """Count a kernel that is done, and tell of the outermost."""
        self._depth -= 1
        if self._depth == 0:
            if self._collects:
                gc.enable()
            self._tell(False)


@contextlib.contextmanager
def compiling(tell: Callable[[bool], None] = lambda _active: None) -> Iterator[Compiling]:
    """Tell when kernels begin to be compiled, and when that is over.

    Parameters
    ----------
    tell
        Called with True and, afterwards, with False; in the thread that compiles.
    """
    watch = Compiling(tell)
    with (
        event.install_listener("numba:compile", watch),
        event.install_listener(WAITING, watch),
    ):
        yield watch
