"""Parameters of the estimators, checked, as options of the library."""
from __future__ import annotations

import inspect
import numbers as _abstract
import os
from typing import Any, Dict, Optional

import numpy as np


def of_constructor(kind: type) -> Dict[str, Any]:
    """Their names and defaults."""
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    return {name: one.default for name, one in list(signature.parameters.items())[1:]}


def penalty_settings(penalty: Optional[str], l2: Any, l1_ratio: Optional[float]) -> Dict[str, str]:
    if penalty not in ("l2", "l1", "elasticnet", None):
        raise ValueError(f"penalty is {penalty!r}; it must be 'l2', 'l1', 'elasticnet' or None")
    if l1_ratio is not None and penalty != "elasticnet":
        raise ValueError(f"l1_ratio does nothing with penalty={penalty!r}; leave it out, or take penalty='elasticnet'")
    chosen = isinstance(l2, str) and l2 == "auto"
    if penalty is None:
        if not chosen:
            raise ValueError("l2 does nothing with penalty=None; leave it out")
        return {"l2": "0"}
    share = {"l2": 0.0, "l1": 1.0}.get(penalty)
    if share is None:
        share = float(real("l1_ratio", l1_ratio))
    if share > 1:
        raise ValueError(f"l1_ratio is {share}; it must be from 0 to 1")
    if chosen:
        return {"l1_share": repr(share)} if share > 0 else {}
    strength = float(real("l2", l2))
    return {"l1": repr(strength * share), "l2": repr(strength * (1 - share))} if share > 0 else {"l2": repr(strength)}


def word(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r}; it must be text")
    return value


def real(name: str, value: Any) -> str:
    if not isinstance(value, _abstract.Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} is {value!r}; it must be a number of 0 or more")
    return repr(float(value))


def whole(name: str, value: Any, least: int) -> str:
    if not isinstance(value, _abstract.Integral) or isinstance(value, bool) or not least <= int(value) < 2**63:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of {least} or more")
    return str(int(value))


def seed(state: Any) -> str:
    if isinstance(state, np.random.RandomState):
        return str(int(state.randint(2**31)))
    if isinstance(state, np.random.Generator):
        return str(int(state.integers(2**31)))
    return whole("random_state", state, 0)


def threads(n_jobs: Optional[int]) -> int:
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")  # joblib and others set it in the processes they start
        return min(int(limit), 1024) if limit.isdigit() else 0
    if not isinstance(n_jobs, _abstract.Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}; it must be None, -1 for all cores, or a number of threads")
    return min(int(n_jobs), 1024) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
