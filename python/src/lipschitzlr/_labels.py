"""Classes of any type and the labels that stand for them in a model file; weights of classes."""
from __future__ import annotations

from typing import Any, List, Sequence

import numpy as np

_NOTE = "labels of kind "


def note_of(classes: Any, labels: Sequence[str]) -> str:
    """What a file must say beside the labels for the classes to be read as they were; empty: nothing."""
    kind = str(classes.dtype.kind)
    understood = kind == "i" or (kind == "U" and classes_of(labels).dtype.kind == kind)
    return "" if understood else _NOTE + kind


def kind_in(note: str) -> str:
    return note[len(_NOTE) :] if note.startswith(_NOTE) else ""


def labels_of(classes: Any) -> List[str]:
    """As the command line names classes that are numbers: 1, not 1.0."""
    if classes.dtype.kind == "f":
        return [str(int(value)) if value == int(value) else repr(float(value)) for value in classes]
    return [str(value) for value in classes]


def classes_of(labels: Sequence[str], kind: str = "") -> Any:
    if kind == "b":
        return np.array([label == "True" for label in labels])
    if kind not in ("U", "O"):
        for number in (int, float):
            try:
                return np.array([number(label) for label in labels], dtype=number if not kind else kind)
            except ValueError:
                continue
    return np.array(labels, dtype=object if kind == "O" else None)


def class_weights(wanted: Any, classes: Any, indices: Any) -> Any:
    if isinstance(wanted, str) and wanted == "balanced":
        counts = np.bincount(indices.astype(np.intp), minlength=len(classes))
        return len(indices) / (len(classes) * counts)
    if not isinstance(wanted, dict):
        raise ValueError(f"class_weight is {wanted!r}; it must be 'balanced', a dictionary of weights, or None")
    known = classes.tolist()
    for name in wanted:
        if name not in known:
            raise ValueError(f"class_weight: there is no class {name!r}; the classes are {known}")
    weights = np.array([float(wanted.get(name, 1)) for name in known])
    if not bool(np.all(np.isfinite(weights) & (weights >= 0))) or not bool(weights.any()):
        raise ValueError("class_weight: weights must be finite, 0 or more, and not all of them 0")
    return weights
