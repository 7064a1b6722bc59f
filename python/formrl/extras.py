"""Optional dependencies: what a part of the package needs, and how to install it.

The package itself needs numpy alone. Gymnasium, PettingZoo, Stable-Baselines3, Ray and PyTorch are extras: a module that needs
one asks for it here, so that a missing one is an error that names the extra instead of a bare ``No module named``.
"""

from __future__ import annotations

import importlib
from types import ModuleType

# By the name of the module that is imported: the extra that brings it.
EXTRAS = {
    "gymnasium": "gymnasium",
    "pettingzoo": "pettingzoo",
    "minigrid": "minigrid",
    "mujoco": "mujoco",
    "stable_baselines3": "sb3",
    "ray": "rllib",
    "torch": "torch",
    "safetensors": "torch",
}


def require(module: str, purpose: str, extra: str | None = None) -> ModuleType:
    """The module, or an ``ImportError`` that says which extra brings it.

    >>> require("json", "reading").loads("[1]")
    [1]
    """
    top = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] != top:
            raise
        extra = extra or EXTRAS.get(top, top)
        message = f'{purpose} needs the package {top!r}: pip install "formrl[{extra}]"'
        raise ImportError(message, name=module) from error
