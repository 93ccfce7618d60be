"""From what a user passes to arrays that the library reads where they are.

A C-contiguous array of float32 or float64, and a CSR matrix with sorted 32-bit indices, are taken as they are; anything
else is converted once.
"""
from __future__ import annotations

import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _library
from ._compat import conversion_warning
from ._library import Matrix, Rows, texts

_LARGEST_INDEX = 2**31 - 1
_NARROW = 1000  # between the lowest and the highest class: counting is quicker than sorting
_MOST_GUESSED_CLASSES = 10
_FEW_STEPS = ("auto", "newton", "lbfgs", "coordinate", "fista")


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr") and hasattr(X, "nnz")


def features(X: Any) -> Any:
    """A C-contiguous matrix, or a CSR one, of float32 or float64."""
    if is_sparse(X):
        return _sparse(X)
    array = X if type(X) is np.ndarray else np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, a row for each example, got {array.ndim}D. Reshape your data: array.reshape(1, -1) is "
            "one row, array.reshape(-1, 1) one column"
        )
    _check_size(array.shape)
    if array.dtype not in (np.float64, np.float32) or not array.dtype.isnative:
        array = _numbers(array, "X")
    return np.ascontiguousarray(array)


def _check_size(shape: Tuple[int, ...]) -> None:
    for count, what in zip(shape, ("sample", "feature")):
        if count == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required.")


def _numbers(array: Any, what: str) -> Any:
    if array.dtype.kind in "mM":
        raise ValueError(f"{what} has dates or times; make numbers of them first")
    try:
        return array.astype(np.float64)
    except TypeError as error:
        raise TypeError(f"{what}: every argument must be a string or a number: {error}") from error
    except ValueError as error:
        raise ValueError(f"{what}: every value must be a number: {error}") from error


def _sparse(X: Any) -> Any:
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    matrix = X.tocsr()
    if matrix.ndim != 2:
        raise ValueError("Expected 2D array, got a sparse array of another dimension. Reshape your data")
    _check_size(matrix.shape)
    if matrix.dtype not in (np.float64, np.float32):
        matrix = matrix.astype(np.float64)
    if max(matrix.nnz + matrix.shape[0], matrix.shape[1]) >= _LARGEST_INDEX:
        raise ValueError(f"a sparse matrix can have up to {_LARGEST_INDEX} stored values and rows together, or columns")
    _check_places(matrix)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


# A matrix that was put together by hand may have places past its end; scipy looks at them no sooner than we do.
def _check_places(matrix: Any) -> None:
    starts, places = matrix.indptr, matrix.indices
    stored = min(len(places), len(matrix.data))
    usable = len(starts) == matrix.shape[0] + 1 and starts[0] == 0 and starts[-1] <= stored
    usable = usable and bool(np.all(starts[1:] >= starts[:-1]))
    used = places[: starts[-1]] if usable else places
    if not usable or (len(used) > 0 and (used.min() < 0 or used.max() >= matrix.shape[1])):
        raise ValueError("the sparse matrix is damaged: its indptr or indices point outside of it")


def feature_names(X: Any) -> Optional[Any]:
    """The names of the columns of a table, when all are text."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = np.asarray(columns, dtype=object)
    kinds = {isinstance(name, str) for name in names}
    if kinds == {True, False}:
        raise TypeError("some names of the columns are text and some are not: give text for all or for none")
    return names if kinds == {True} else None


def check_names(now: Optional[Any], fitted: Optional[Any], who: str) -> None:
    """Raises when the columns are others than in fit; warns when only one side has names."""
    if now is None and fitted is None:
        return
    if now is None or fitted is None:
        here, there = ("has", "without") if fitted is None else ("does not have valid", "with")
        warnings.warn(f"X {here} feature names, but {who} was fitted {there} feature names", UserWarning, stacklevel=4)
        return
    if len(now) == len(fitted) and bool(np.all(now == fitted)):
        return
    said = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(now) - set(fitted)), sorted(set(fitted) - set(now))
    titles = "Feature names unseen at fit time:\n", "Feature names seen at fit time, yet now missing:\n"
    for names, title in zip((unseen, missing), titles):
        if names:
            said += title + "".join(f"- {name}\n" for name in names[:5]) + ("- ...\n" if len(names) > 5 else "")
    if not unseen and not missing:
        said += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(said)


def column(y: Any, rows: int, who: str) -> Any:
    """One target per row, of any type."""
    if y is None:
        raise ValueError(f"{who} requires y to be passed, but the target y is None")
    if is_sparse(y):
        raise TypeError("y is a sparse matrix; give an array with one target per row")
    target = np.asarray(y)
    if target.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if target.ndim == 2 and target.shape[1] == 1:
        sentence = "A column-vector y was passed when a 1d array was expected; y.ravel() makes one"
        warnings.warn(sentence, conversion_warning(), stacklevel=4)
        target = target.ravel()
    if target.ndim != 1:
        raise ValueError(f"y should be a 1d array, with one target per row, got an array of shape {target.shape}")
    if len(target) != rows:
        raise ValueError(f"X has {rows} rows, but y has {len(target)} targets: there must be one for each row")
    return target


def as_float64(y: Any, what: str) -> Any:
    return np.ascontiguousarray(y if y.dtype == np.float64 else _numbers(y, what))


def numbers(y: Any, what: str) -> Any:
    array = as_float64(y, what)
    if not np.isfinite(array.sum()) and not np.isfinite(array).all():
        raise ValueError(f"Input {what} contains NaN or infinity")
    return array


def encode(y: Any) -> Tuple[Any, Any]:
    """The classes in ascending order, and of each row the index of its class as a float64."""
    if y.dtype.kind == "f":
        numbers(y, "y")
        if not bool(np.all(y == np.floor(y))):
            raise ValueError("Unknown label type: numbers with a fraction are no classes; LipschitzRegressor fits them")
    if y.dtype.kind == "b":
        both = 0 < np.count_nonzero(y) < len(y)  # nothing is learned of a class alone
        return np.array([False, True]) if both else y[:1], y.astype(np.float64)
    if y.dtype.kind in "iuf":
        first, last = y.min(), y.max()
        if float(last) - float(first) == 1:
            return np.array([first, last], dtype=y.dtype), (y - first).astype(np.float64, copy=False)
        if float(last) - float(first) < _NARROW:
            places = y.astype(np.intp) - int(first) if y.itemsize == 1 else (y - first).astype(np.intp, copy=False)
            present = np.bincount(places) > 0
            classes = (np.flatnonzero(present) + int(first)).astype(y.dtype)
            if len(classes) == len(present):
                return classes, places.astype(np.float64)
            return classes, (np.cumsum(present) - 1.0)[places]
    found = _few_texts(y) if y.dtype.kind == "U" and y.itemsize > 0 else None
    if found is None and y.dtype.kind == "O":
        found = _few_classes(y)
    if found is not None:
        return found
    if y.dtype.kind == "O" and any(entry is None or entry != entry for entry in y):
        raise ValueError("Input y contains NaN or None")
    try:
        classes, indices = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"Unknown label type: the classes of y can't be put in order: {error}") from error
    return classes, indices.astype(np.float64)


def _few_texts(y: Any) -> Optional[Tuple[Any, Any]]:
    """encode() of an array of text: its characters are compared in place, which is much quicker than sorting the rows. None
    when there are many classes."""
    labels, indices = np.ascontiguousarray(y), np.empty(len(y))
    first_rows = _library.classes(address(labels), len(labels), labels.itemsize, address(indices))
    if first_rows is None:
        return None
    names = labels[first_rows]
    order = np.argsort(names)
    if len(names) == 2:
        return names[order], indices if order[0] == 0 else np.subtract(1, indices, out=indices)
    places = np.empty(len(names))
    places[order] = np.arange(len(names))
    return names[order], places[indices.astype(np.intp)]


def _few_classes(y: Any) -> Optional[Tuple[Any, Any]]:
    """encode() of text in objects, class by class; None when there are many classes or entries of another kind."""
    rows_of: Dict[str, Any] = {}
    left = np.ones(len(y), dtype=bool)
    for _ in range(_library.MOST_CLASSES):
        first = left.argmax()
        name = y[first]
        if not left[first]:
            break
        if not isinstance(name, str):
            return None
        rows_of[name] = y == name
        if not isinstance(rows_of[name], np.ndarray):  # some entries can't be compared with text
            return None
        left &= ~rows_of[name]
    if left.any():
        return None
    names = sorted(rows_of)
    indices = rows_of[names[-1]] * (len(names) - 1.0)
    for index, name in enumerate(names[1:-1], 1):
        indices += rows_of[name] * float(index)
    return np.array(names, dtype=y.dtype), indices


def row_weights(weights: Any, rows: int) -> Optional[Any]:
    """float64, finite, not negative, not all 0; None for None."""
    if weights is None:
        return None
    array = np.asarray(weights)
    if array.ndim == 0 and array.dtype.kind in "biuf":
        array = np.full(rows, float(array))
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if array.shape != (rows,):
        raise ValueError(f"sample_weight has the shape {array.shape}: give one weight for each of the {rows} rows")
    array = numbers(array, "sample_weight")
    if bool((array < 0).any()) or not bool((array > 0).any()):
        raise ValueError("sample_weight: weights must be 0 or more, and not all of them 0")
    return array


def counted(X: Any, y: Any, weights: Optional[Any]) -> Tuple[Any, Any, Optional[Any]]:
    """Without the rows of weight 0, which have no part in anything, scaling and folds included."""
    if weights is None or bool(weights.all()):
        return X, y, weights
    rows = np.flatnonzero(weights)
    return X[rows], y[rows], weights[rows]


def looks_like_classes(y: Any) -> bool:
    """As the command line sees a target: text, or few different whole numbers, each three times on average."""
    if y.dtype.kind not in "iuf":
        return True
    values = np.unique(y)
    if not bool(np.all(values == np.floor(values))):
        return False
    return len(y) >= (3 if len(values) == 2 else 3 * len(values)) and len(values) <= _MOST_GUESSED_CLASSES


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])  # quicker than array.ctypes.data


def as_matrix(X: Any) -> Tuple[Matrix, List[Any]]:
    """For the library, with the arrays that must stay alive as long as it is used."""
    kind = 1 if X.dtype == np.float32 else 0
    if not is_sparse(X):
        return Matrix(X.shape[0], X.shape[1], kind, address(X), None, None), [X]
    starts, places = (np.ascontiguousarray(part, dtype=np.int32) for part in (X.indptr, X.indices))
    values = np.ascontiguousarray(X.data)
    matrix = Matrix(X.shape[0], X.shape[1], kind, address(values), address(starts), address(places))
    return matrix, [starts, places, values]


class Training:
    """What to learn from: features, targets as float64, labels of classes, weights of rows, names of features."""

    classes: Any = None  # that the labels stand for
    notes: Dict[str, str] = {}  # settings that come with the data
    settings: Dict[str, str] = {}  # of the training

    def __init__(
        self, X: Any, y: Any, weights: Optional[Any], names: Optional[Any], labels: Sequence[str] = ()
    ) -> None:
        self.features, self._targets, self._weights = X, y, weights
        matrix, self._alive = as_matrix(X)
        self.rows = Rows(matrix, address(y), len(labels), None, None, None)
        for field, words in (("labels", labels), ("feature_names", () if names is None else names)):
            if len(words) > 0:
                setattr(self.rows, field, texts(words))  # ctypes keeps the array alive
        if weights is not None:
            self.rows.row_weights = address(weights)

    def work(self, settings: Dict[str, str]) -> float:
        """About how long the training takes: values in a pass, times how many there are beyond the usual twenty."""
        stored = self.features.nnz if is_sparse(self.features) else self.features.size
        chosen = 15 if settings.get("l2", "auto") == "auto" else 1
        steps = 1 if settings.get("solver", "auto") in _FEW_STEPS else int(settings.get("epochs", 1000)) / 20
        return float(stored * max(1, self.rows.classes) * chosen * steps)
