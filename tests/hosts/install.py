"""Installs the programs that the tests load the library into: `install.py FOLDER`.

FOLDER/node gets better-sqlite3, and a Node with node:sqlite where the system's is older;
FOLDER/datasette gets a virtual environment of a Python whose sqlite3 loads extensions. What
cannot be had is said on standard error, and the exit code is 1; the rest is installed all
the same. What is there already, for these programs in these versions, is left as it is.
The standard library alone, since it runs before the package is installed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import interpreters  # noqa: E402

SECONDS: float = 900
RETRIES = 1
NODE_MISSING = "node and npm are missing; install Node.js 20 or newer with npm"
HAS_NODE_SQLITE = """
process.exit(typeof require("node:sqlite").StatementSync.prototype.setReturnArrays
             === "function" ? 0 : 1)
"""


def run(command: list[str], *, cwd: Path, env: dict[str, str] | None = None) -> str | None:
    """Runs a command, all that it started included, to its end; says what went wrong."""
    shown = " ".join([Path(command[0]).name, *command[1:5]])
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"{shown} did not end within {SECONDS} s; is the package registry reachable?"
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=60)
    if process.returncode == 0:
        return None
    last = "\n    ".join(output.strip().splitlines()[-12:])
    return f"{shown} ... failed with code {process.returncode}:\n    {last}"


def has_node_sqlite(node: str) -> bool:
    """Whether this Node has node:sqlite as the tests use it (22.16 or newer)."""
    done = subprocess.run(
        [node, "-e", HAS_NODE_SQLITE],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    return done.returncode == 0


def version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    return f"{program} {done.stdout.strip()}"


def once(folder: Path, wanted: str, install: Callable[[], str | None]) -> str | None:
    """Installs into an empty folder, unless the folder has what is wanted."""
    mark = folder / "installed.txt"
    if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    failure = install()
    if failure is None:
        mark.write_text(wanted, encoding="utf-8")
    return failure


def install_node(folder: Path) -> str | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return NODE_MISSING
    package = HERE / "package.json"
    command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    command += [f"--fetch-retries={RETRIES}", "--fetch-timeout=120000"]
    if has_node_sqlite(node):
        command.append("--omit=optional")
    # Where there is no ready binary it is compiled: half the time with less optimization.
    flags = {"CFLAGS": "-O1", "CXXFLAGS": "-O1"}
    env = {name: value for name, value in flags.items() if name not in os.environ}

    def install() -> str | None:
        shutil.copy(package, folder)
        return run(command, cwd=folder, env=env)

    return once(folder, f"{version(node)}\n{package.read_text(encoding='utf-8')}", install)


def install_datasette(folder: Path) -> str | None:
    python = interpreters.that_loads()
    if python is None:
        return interpreters.MISSING
    requirements = HERE / "requirements.txt"
    # Without pip, which a system's Python may lack; ours installs into it.
    create = [python, "-m", "venv", "--without-pip", str(folder)]
    fill = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    fill += ["--quiet", "--retries", str(RETRIES), "-r", str(requirements)]

    def install() -> str | None:
        return run(create, cwd=folder) or run(fill, cwd=folder)

    return once(folder, f"{version(python)}\n{requirements.read_text(encoding='utf-8')}", install)


def main(folder: Path) -> int:
    parts = {"node": install_node, "datasette": install_datasette}
    with ThreadPoolExecutor() as pool:
        failures = list(pool.map(lambda name: parts[name](folder / name), parts))
    for name, failure in zip(parts, failures, strict=True):
        if failure:
            print(f"hosts: {name}: {failure}", file=sys.stderr)
    if any(failures):
        print(
            "hosts: the tests of these hosts are skipped, or fail where"
            " REASONING_FTS_REQUIRE=1; the next make tries again",
            file=sys.stderr,
        )
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
