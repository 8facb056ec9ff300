"""A bridge for code that still imports ``.load``; the code is in ``loading.py``.

A submodule and a public function of one name cannot both be attributes of the package:
importing the module would replace the function. So the module can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .loading import extension_path, load

__all__ = ["extension_path", "load"]


class _CallableModule(ModuleType):
    def __call__(self, connection: Any) -> None:
        load(connection)


sys.modules[__name__].__class__ = _CallableModule
