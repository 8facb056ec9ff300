"""Installs the programs that the tests load the library into: `install.py FOLDER`.

FOLDER/node gets better-sqlite3, and a Node with node:sqlite where the system's is older;
FOLDER/datasette gets a virtual environment of a Python whose sqlite3 loads extensions. What
cannot be had is said on standard error, and the exit code is 1; the rest is installed all
the same. The standard library alone, since it runs before the package is installed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import interpreters  # noqa: E402

SECONDS = 900
NODE_MISSING = "node and npm are missing; install Node.js 20 or newer with npm"
HAS_NODE_SQLITE = """
process.exit(typeof require("node:sqlite").StatementSync.prototype.setReturnArrays
             === "function" ? 0 : 1)
"""


def run(command: list[str], *, cwd: Path, env: dict[str, str] | None = None) -> str | None:
    """Runs a command, all that it started included, to its end; says what went wrong."""
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
        return f"{command[0]} did not end within {SECONDS} s; is the package registry reachable?"
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode == 0:
        return None
    last = "\n    ".join(output.strip().splitlines()[-12:])
    return f"{' '.join(command[:4])} failed with code {process.returncode}:\n    {last}"


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


def install_node(folder: Path) -> str | None:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return NODE_MISSING
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(HERE / "package.json", folder / "package.json")
    command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    command += ["--fetch-retries=1", "--fetch-timeout=120000"]
    if has_node_sqlite(node):
        command.append("--omit=optional")
    # Where there is no ready binary it is compiled: half the time without the optimizer.
    flags = {"CFLAGS": "-O1", "CXXFLAGS": "-O1"}
    env = {name: value for name, value in flags.items() if name not in os.environ}
    return run(command, cwd=folder, env=env)


def install_datasette(folder: Path) -> str | None:
    python = interpreters.that_loads()
    if python is None:
        return interpreters.MISSING
    folder.mkdir(parents=True, exist_ok=True)
    # Without pip, which a system's Python may lack; ours installs into it.
    failure = run([python, "-m", "venv", "--without-pip", str(folder)], cwd=folder)
    if failure:
        return failure
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    command += ["install", "--quiet", "--retries", "2", "-r", str(HERE / "requirements.txt")]
    return run(command, cwd=folder)


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
