"""The shared library and its handles: the functions of include/lipschitzlr/c_api.h, through ctypes.

ctypes lets other threads run during a call. Sentences of the library become exceptions here.
"""
from __future__ import annotations

import ctypes
import functools
import json
import os
import pathlib
import threading
from typing import Any, Callable, Dict, NoReturn, Optional, Sequence

from ._version import VERSION

_NAME = "liblipschitzlr.so"
_USAGE, _DATA, _INTERRUPTED = 2, 3, 130
LINEAR = 0
MOST_CLASSES = 16  # that classes() finds
SCORES, PREDICTIONS, PROBABILITIES = 0, 1, 2


class Matrix(ctypes.Structure):
    """lipschitzlr_matrix"""

    _fields_ = [
        ("rows", ctypes.c_int64),
        ("columns", ctypes.c_int64),
        ("type", ctypes.c_int32),
        ("values", ctypes.c_void_p),
        ("row_starts", ctypes.c_void_p),
        ("column_numbers", ctypes.c_void_p),
    ]


class Rows(ctypes.Structure):
    """lipschitzlr_rows"""

    _fields_ = [
        ("features", Matrix),
        ("targets", ctypes.c_void_p),
        ("classes", ctypes.c_int64),
        ("labels", ctypes.POINTER(ctypes.c_char_p)),
        ("row_weights", ctypes.c_void_p),
        ("feature_names", ctypes.POINTER(ctypes.c_char_p)),
    ]


class Summary(ctypes.Structure):
    """lipschitzlr_summary"""

    _fields_ = [
        ("family", ctypes.c_int32),
        ("intercept", ctypes.c_int32),
        ("features", ctypes.c_int64),
        ("outputs", ctypes.c_int64),
        ("classes", ctypes.c_int64),
        ("epochs", ctypes.c_int64),
        ("converged", ctypes.c_int32),
    ]


_POINTER, _TEXT, _CODE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_PLACE, _ROWS = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Rows)
_PLACE_64 = ctypes.POINTER(ctypes.c_int64)
# What each returns, then what it takes.
_FUNCTIONS: Dict[str, Any] = {
    "version": (_TEXT,),
    "error": (_TEXT,),
    "text_free": (None, _POINTER),
    "options_new": (_CODE, _PLACE),
    "options_set": (_CODE, _POINTER, _TEXT, _TEXT),
    "options_stop": (None, _POINTER),
    "options_free": (None, _POINTER),
    "classes": (_CODE, _POINTER, ctypes.c_int64, ctypes.c_int64, _POINTER, _POINTER, _PLACE_64),
    "fit": (_CODE, _POINTER, _ROWS, _POINTER, _PLACE),
    "rates": (_CODE, _POINTER, _ROWS, _PLACE),
    "model_load": (_CODE, _TEXT, _PLACE),
    "model_save": (_CODE, _POINTER, _TEXT),
    "model_from_text": (_CODE, _TEXT, _PLACE),
    "model_text": (_CODE, _POINTER, _PLACE),
    "model_training": (_CODE, _POINTER, _PLACE),
    "model_free": (None, _POINTER),
    "model_summary": (_CODE, _POINTER, ctypes.POINTER(Summary)),
    "model_weights": (_CODE, _POINTER, _POINTER, _POINTER),
    "predict": (_CODE, _POINTER, ctypes.POINTER(Matrix), ctypes.c_int32, ctypes.c_int32, _POINTER),
}


def _find() -> pathlib.Path:
    named = os.environ.get("LIPSCHITZLR_LIBRARY")
    if named:
        return pathlib.Path(named)
    here = pathlib.Path(__file__).resolve()
    beside = here.parent / _NAME
    # From a checkout that is on the path and not installed: the one that was built there.
    return beside if beside.exists() else here.parents[3] / "build" / "lib" / _NAME


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    path = _find()
    if not path.exists():
        raise RuntimeError(
            f"{_NAME} is not there ({path}): this installation has lipschitzlr.torch only. Build the checkout, then "
            "install the package again, or name the library in LIPSCHITZLR_LIBRARY"
        )
    try:
        loaded = ctypes.CDLL(str(path))
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(loaded, "lipschitzlr_" + name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise RuntimeError(f"{path} is not a library of lipschitzlr that can be used here: {error}") from error
    built = loaded.lipschitzlr_version().decode()
    if built != VERSION:
        raise RuntimeError(f"{path} is of version {built}, this package of {VERSION}; install both anew")
    return loaded


def _fail(code: int) -> NoReturn:
    sentence = (library().lipschitzlr_error() or b"").decode("utf-8", "replace")
    if code in (_USAGE, _DATA):
        raise ValueError(sentence)
    if code == _INTERRUPTED:
        raise KeyboardInterrupt(sentence)
    raise RuntimeError(sentence)


def _call(name: str, *arguments: Any) -> None:
    code = getattr(library(), "lipschitzlr_" + name)(*arguments)
    if code != 0:
        _fail(code)


def _text(name: str, *arguments: Any) -> str:
    result = ctypes.c_void_p()
    _call(name, *arguments, ctypes.byref(result))
    try:
        return (ctypes.cast(result, ctypes.c_char_p).value or b"").decode("utf-8")
    finally:
        library().lipschitzlr_text_free(result)


def classes(labels: int, rows: int, size: int, indices: int) -> Optional[Sequence[int]]:
    """Of the labels at an address, each of this size, the first row of each class, counted as they appear; writes the class
    of each row to the float64 array at indices. None: there are more than 16."""
    first_rows, found = (ctypes.c_int64 * MOST_CLASSES)(), ctypes.c_int64()
    _call("classes", labels, rows, size, indices, first_rows, ctypes.byref(found))
    return None if found.value < 0 else first_rows[: found.value]


def texts(words: Sequence[str]) -> Any:
    """An array of C strings; it must live as long as they are needed."""
    encoded = []
    for word in words:
        if "\0" in word:
            raise ValueError(f"{word!r} has a zero character in it, which a name or label can't have")
        encoded.append(word.encode("utf-8"))
    return (ctypes.c_char_p * len(encoded))(*encoded)


def _path(path: Any) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"{path!r} is not the name of a file")
    return name


class Options:
    """How to train; the names and values are those of the command line."""

    def __init__(self, settings: Dict[str, str]) -> None:
        self._pointer: Optional[int] = None
        place = ctypes.c_void_p()
        _call("options_new", ctypes.byref(place))
        self._pointer = place.value
        self._free = library().lipschitzlr_options_free  # at the end of Python nothing else may be left to find it
        for name, value in settings.items():
            if "\0" in value:
                raise ValueError(f"{name}: {value!r} has a zero character in it")
            _call("options_set", self._pointer, name.encode(), value.encode())

    def __del__(self) -> None:
        if self._pointer is not None:
            self._free(self._pointer)
            self._pointer = None

    def fit(self, rows: Rows, start: Optional[Model], quick: bool) -> Model:
        """Trains. Unless it is quick, Ctrl-C ends it: Python's handler runs in the main thread, which must not be
        inside the library then."""
        place = ctypes.c_void_p()
        begin = None if start is None else start.pointer()
        self._run(quick, lambda: _call("fit", self._pointer, ctypes.byref(rows), begin, ctypes.byref(place)))
        return Model(place.value)

    def rates(self, rows: Rows, quick: bool) -> Any:
        found: list[str] = []
        self._run(quick, lambda: found.append(_text("rates", self._pointer, ctypes.byref(rows))))
        return json.loads(found[0])

    def _run(self, quick: bool, call: Callable[[], None]) -> None:
        if quick or threading.current_thread() is not threading.main_thread():
            call()
            return
        failures: list[BaseException] = []
        finished = threading.Event()  # Python 3.11 takes a thread for ended when a signal interrupts join()

        def run() -> None:
            try:
                call()
            except BaseException as failure:  # whatever it is, it is raised again below
                failures.append(failure)
            finally:
                finished.set()

        thread = threading.Thread(target=run, name="lipschitzlr")
        try:
            thread.start()
            finished.wait()
        except BaseException:
            library().lipschitzlr_options_stop(self._pointer)
            if thread.ident is not None:
                finished.wait()
                thread.join()
            raise
        thread.join()
        if failures:
            raise failures[0]


class Model:
    """A trained model inside the library."""

    def __init__(self, pointer: Optional[int]) -> None:
        self._pointer = pointer
        self._free = library().lipschitzlr_model_free  # as above

    def __del__(self) -> None:
        if self._pointer is not None:
            self._free(self._pointer)
            self._pointer = None

    def pointer(self) -> int:
        if self._pointer is None:
            raise ValueError("this model was closed")
        return self._pointer

    @classmethod
    def load(cls, path: Any) -> Model:
        place = ctypes.c_void_p()
        _call("model_load", _path(path), ctypes.byref(place))
        return cls(place.value)

    def save(self, path: Any) -> None:
        _call("model_save", self.pointer(), _path(path))

    # A pickle holds the text of the model's file.
    def __reduce__(self) -> Any:
        return _model_from_text, (self.text(),)

    def text(self) -> str:
        return _text("model_text", self.pointer())

    def training(self) -> Dict[str, Any]:
        """How it was trained and what came out."""
        summary = json.loads(_text("model_training", self.pointer()))
        assert isinstance(summary, dict)
        return summary

    def summary(self) -> Summary:
        summary = Summary()
        _call("model_summary", self.pointer(), ctypes.byref(summary))
        return summary

    def weights(self, coefficients: int, intercepts: int) -> None:
        """Writes to the arrays at these addresses."""
        _call("model_weights", self.pointer(), coefficients, intercepts)

    def predict(self, features: Matrix, what: int, threads: int, result: int) -> None:
        _call("predict", self.pointer(), ctypes.byref(features), what, threads, result)


def _model_from_text(text: str) -> Model:
    place = ctypes.c_void_p()
    _call("model_from_text", text.encode("utf-8"), ctypes.byref(place))
    return Model(place.value)
