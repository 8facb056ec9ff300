"""Builds the one loadable library, which belongs to no Python version.

The wheel is tagged ``py3-none-<platform>``: SQLite loads the library, and cffi opens the
same file in ABI mode, so nothing in it depends on CPython.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
PACKAGE = "sqlite_reasoning_fts"
STRICT = ["-Wall", "-Wextra", "-Werror"] if os.environ.get("REASONING_FTS_STRICT") else []


def commit() -> str:
    """The revision that is built, or ``unknown`` outside a checkout."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return done.stdout.strip()


class BuildPlainLibrary(build_ext):
    """Compiles a plain shared library: no Python symbols, no ABI tag in its name."""

    def get_ext_filename(self, fullname: str) -> str:
        suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
        return os.path.join(*fullname.split(".")) + suffix

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return []

    def get_libraries(self, ext: Extension) -> list[str]:
        return list(ext.libraries)


class PlatformWheel(bdist_wheel):
    """One wheel for all Python versions of a platform."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


def version() -> str:
    for line in (ROOT / PACKAGE / "_version.py").read_text().splitlines():
        if line.startswith("__version__"):
            return line.split('"')[1]
    raise SystemExit("sqlite_reasoning_fts/_version.py has no __version__")


sources = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "csrc").rglob("*.c"))
headers = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "csrc").rglob("*.h"))

setup(
    ext_modules=[
        Extension(
            f"{PACKAGE}.reasoning_fts",
            sources=sources,
            depends=headers,
            include_dirs=["csrc", "csrc/vendor/sqlite"],
            define_macros=[
                ("RF_VERSION", f'"{version()}"'),
                ("RF_COMMIT", f'"{commit()}"'),
            ],
            extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", *STRICT],
            extra_link_args=[]
            if sys.platform == "darwin"
            else ["-Wl,-Bsymbolic", "-Wl,-z,defs", "-lm", "-ldl"],
        )
    ],
    cmdclass={"build_ext": BuildPlainLibrary, "bdist_wheel": PlatformWheel},
)
