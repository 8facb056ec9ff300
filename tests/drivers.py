"""Builds the C drivers, the harness and the fuzzers: each one program with the library in it.

The library's sources and an SQLite are linked in, so that sanitizers see both. The SQLite is the
system's, or the amalgamation that ``REASONING_FTS_SQLITE_C`` names.

    python tests/drivers.py --out build/safety --sanitize oom parser matcher tokenizer
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sqlite_reasoning_fts._version import __version__

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests"
HOST = TESTS / "c" / "host.c"
FUZZERS = ("parser", "matcher", "tokenizer")
DRIVERS: dict[str, tuple[Path, ...]] = {
    "oom": (TESTS / "c" / "oom.c", HOST),
    **{name: (TESTS / "fuzz" / f"{name}.c", TESTS / "fuzz" / "fuzz.c", HOST) for name in FUZZERS},
}
REPLAY = TESTS / "fuzz" / "replay.c"

LIBRARY = tuple(sorted((ROOT / "csrc").rglob("*.c")))
INCLUDED = tuple(
    f"-I{folder}" for folder in (TESTS / "c", ROOT / "csrc", ROOT / "csrc" / "vendor" / "sqlite")
)
SYSTEM = ("-lm", "-ldl", "-lpthread")
OWN_FLAGS = ("-Wall", "-Wextra", "-Werror", "-std=c11", "-fvisibility=hidden",
             f'-DRF_VERSION="{__version__}"')  # fmt: skip
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
SQLITE_FLAGS = ("-DSQLITE_ENABLE_FTS5", "-DSQLITE_THREADSAFE=1", "-w")
SQLITE_NAMES = ("-lsqlite3", "-l:libsqlite3.so.0")
PROBE = """
#include "sqlite3.h"
int main(void){ return sqlite3_libversion_number() >= 3038000 && sqlite3_serialize ? 0 : 1; }
"""


class CannotBuild(Exception):
    """Something that building needs is not here; says what."""


@dataclass(frozen=True)
class Toolchain:
    """A compiler, the way it is called, and the SQLite that is linked."""

    compiler: str
    flags: tuple[str, ...]
    sqlite: str
    """An option of the linker, or the path of an amalgamation."""

    def run(self, *arguments: str | Path) -> None:
        command = [self.compiler, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")

    def compile(self, source: Path, folder: Path, *extra: str) -> Path:
        made = folder / "-".join(source.with_suffix(".o").parts[-3:])
        own = SQLITE_FLAGS if source == Path(self.sqlite) else OWN_FLAGS
        self.run(*self.flags, *own, *extra, *INCLUDED, "-c", source, "-o", made)
        return made

    def compile_all(self, sources: list[Path], folder: Path, *extra: str) -> dict[Path, Path]:
        """The object of each source."""
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            made = pool.map(lambda source: self.compile(source, folder, *extra), sources)
            return dict(zip(sources, made, strict=True))


def toolchain(folder: Path, *, sanitize: bool, compiler: str | None = None) -> Toolchain:
    """Finds a compiler that can do it and an SQLite to link; CannotBuild says what is missing."""
    name = compiler or os.environ.get("CC", "gcc")
    if shutil.which(name) is None:
        raise CannotBuild(f"there is no C compiler {name}")
    flags = ("-g", "-O1", *(SANITIZE if sanitize else ()))
    probe = folder / "probe.c"
    probe.write_text("int main(void){ return 0; }", encoding="utf-8")
    try:
        Toolchain(name, flags, "").run(*flags, probe, "-o", folder / "probe")
    except RuntimeError:
        raise CannotBuild(f"{name} cannot link with {' '.join(flags)}") from None
    amalgamation = os.environ.get("REASONING_FTS_SQLITE_C")
    if amalgamation:
        return Toolchain(name, flags, amalgamation)
    probe.write_text(PROBE, encoding="utf-8")
    for sqlite in SQLITE_NAMES:
        found = Toolchain(name, flags, sqlite)
        try:
            found.run(*flags, *INCLUDED, probe, "-o", folder / "probe", sqlite)
        except RuntimeError:
            continue
        if subprocess.run([folder / "probe"], check=False).returncode == 0:
            return found
    raise CannotBuild("there is no SQLite library of 3.38 or newer to link")


def build(
    tools: Toolchain, folder: Path, names: tuple[str, ...], *, libfuzzer: bool = False
) -> dict[str, Path]:
    """Builds drivers into a folder: the objects of the library once, then each driver."""
    library = list(LIBRARY)
    if tools.sqlite.endswith(".c"):
        library.append(Path(tools.sqlite))
    own = sorted({source for name in names for source in DRIVERS[name]} | {REPLAY})
    coverage = ("-fsanitize=fuzzer-no-link",) if libfuzzer else ()
    compiled = tools.compile_all([*library, *own], folder, *coverage)
    linked = () if tools.sqlite.endswith(".c") else (tools.sqlite,)
    programs = {}
    for name in names:
        objects = [compiled[source] for source in (*library, *DRIVERS[name])]
        flags = list(tools.flags)
        if name in FUZZERS and libfuzzer:
            flags.append("-fsanitize=fuzzer")
        elif name in FUZZERS:
            objects.append(compiled[REPLAY])
        programs[name] = folder / name
        tools.run(*flags, *objects, "-o", programs[name], *linked, *SYSTEM)
    return programs


def build_library(tools: Toolchain, folder: Path, made: Path) -> None:
    """Builds the loadable library itself, in the way of this toolchain."""
    objects = folder / "library"
    objects.mkdir(exist_ok=True)
    compiled = tools.compile_all(list(LIBRARY), objects, "-fPIC")
    tools.run(*tools.flags, "-shared", *compiled.values(), "-o", made, "-Wl,-Bsymbolic", *SYSTEM)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drivers", nargs="+", choices=sorted(DRIVERS))
    parser.add_argument("--out", type=Path, required=True, help="the folder for the programs")
    parser.add_argument("--sanitize", action="store_true", help="with ASan and UBSan")
    parser.add_argument("--libfuzzer", action="store_true", help="with libFuzzer, by clang")
    parser.add_argument("--compiler", help="instead of $CC or gcc")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    compiler = options.compiler or ("clang" if options.libfuzzer else None)
    try:
        tools = toolchain(options.out, sanitize=options.sanitize, compiler=compiler)
    except CannotBuild as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    names = tuple(options.drivers)
    for program in build(tools, options.out, names, libfuzzer=options.libfuzzer).values():
        print(program)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
