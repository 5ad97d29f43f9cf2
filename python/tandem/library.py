# SPDX-License-Identifier: Apache-2.0
"""libtandem: where it is found, its functions, and its statuses as exceptions.

Looked for in this order: the file that TANDEM_LIBRARY names; beside this package, in the release
build of a source tree or below the `lib` of an installed prefix; where the system's loader looks.
"""

import ctypes
import os
import pathlib
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_uint64, c_void_p

from . import structs
from .errors import Fault, Mismatch, UserError

API_VERSION = 1
NAME = "libtandem.so.0"
GOOD, MISMATCH, USER_ERROR = 0, 1, 2

# The result and the argument types of every function that is not a plain status.
FUNCTIONS = {
    "tandem_version": (c_char_p, []),
    "tandem_api_version": (c_uint32, []),
    "tandem_build_info": (c_int, [POINTER(c_void_p), POINTER(c_void_p)]),
    "tandem_free": (None, [c_void_p]),
    "tandem_chip_figures": (c_int, [POINTER(structs.Chip), POINTER(c_void_p), POINTER(c_void_p)]),
    "tandem_model_load": (c_int, [POINTER(structs.ModelOptions), POINTER(c_void_p),
                                  POINTER(c_void_p)]),
    "tandem_model_free": (None, [c_void_p]),
    "tandem_model_compile": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "tandem_model_tensor_count": (c_uint64, [c_void_p, c_uint32]),
    "tandem_model_tensor": (c_int, [c_void_p, c_uint32, c_uint64, POINTER(structs.Tensor),
                                    POINTER(c_void_p)]),
    "tandem_run": (c_int, [c_void_p, POINTER(structs.RunOptions), POINTER(c_void_p),
                           POINTER(c_void_p)]),
    "tandem_result_free": (None, [c_void_p]),
    "tandem_result_report": (c_char_p, [c_void_p]),
    "tandem_result_summary": (c_char_p, [c_void_p]),
    "tandem_result_tensor_count": (c_uint64, [c_void_p, c_uint32]),
    "tandem_result_tensor": (c_int, [c_void_p, c_uint32, c_uint64, POINTER(structs.Tensor),
                                     POINTER(c_void_p)]),
    "tandem_gemm": (c_int, [POINTER(structs.GemmOptions), POINTER(c_void_p), POINTER(c_void_p)]),
    "tandem_verify": (c_int, [POINTER(structs.VerifyOptions), POINTER(c_void_p),
                              POINTER(c_void_p)]),
}


def candidates():
    """Files that may be the library, best first; the last is a name for the system's loader."""
    named = os.environ.get("TANDEM_LIBRARY")
    if named:
        return [named]
    package = pathlib.Path(__file__).resolve().parent
    found = []
    if package.parent.name == "python":  # a source tree
        found = [package.parents[1] / "build" / "release" / NAME]
    for folder in package.parents:
        if folder.name == "lib":  # of an installed prefix
            found += [folder / NAME, *sorted(folder.glob(f"*-linux-*/{NAME}"))]
            break
    return [str(file) for file in found if file.exists()] + [NAME]


def load():
    file = candidates()[0]
    try:
        library = ctypes.CDLL(file)
    except OSError as error:
        raise ImportError(f"tandem: no library: {error} (set TANDEM_LIBRARY to {NAME})") from None
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.tandem_api_version() < API_VERSION:
        raise ImportError(f"tandem: {file} is too old: interface {library.tandem_api_version()}, "
                          f"expected {API_VERSION}")
    return library


LIBRARY = load()


def version():
    """Of the library, e.g. "0.1.0"."""
    return LIBRARY.tandem_version().decode()


def text(pointer):
    """Of a string that is ours to free."""
    if not pointer.value:
        return ""
    try:
        return ctypes.string_at(pointer.value).decode(errors="replace")
    finally:
        LIBRARY.tandem_free(pointer)


def call(name, *arguments):
    """Calls a function whose last argument is `error`. Returns whether all is well and, if it is
    not, what is wrong; raises UserError and Fault."""
    error = c_void_p()
    status = getattr(LIBRARY, name)(*arguments, byref(error))
    message = text(error).rstrip()
    if status == USER_ERROR:
        raise UserError(message)
    if status not in (GOOD, MISMATCH):
        raise Fault(message)
    return status == GOOD, message


def build_info():
    """A dict: version, commit, compiler, Verilator, SystemC, as `tandem --version` has them."""
    pointer = c_void_p()
    call("tandem_build_info", byref(pointer))
    first, *others = text(pointer).splitlines()
    return {"version": first.split()[1],
            **{name.lower(): value for name, value in (line.split(None, 1) for line in others)}}


def call_for_result(name, *arguments):
    """The same for functions with a result in front of `error`: returns it; raises Mismatch."""
    from .results import Result
    pointer = c_void_p()
    good, message = call(name, *arguments, byref(pointer))
    result = Result(pointer)
    if not good:
        raise Mismatch(message, result)
    return result
