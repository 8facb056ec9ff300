"""The bar of the main job: a whole comparison, in minutes and in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import pytest

from .bars import Bar, report
from .corpus import REFERENCE_NAME
from .measured import Measured, WrongAnswer
from .turns import ratio

KIB_A_GIB = 1 << 20

pytestmark = pytest.mark.corpora(REFERENCE_NAME)


def compare(measured: Measured) -> int:
    """Runs the command as a user does; the KiB that it held at most."""
    command = [sys.executable, "-m", "sqlite_reasoning_fts", "compare", str(measured.path)]
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([*command, "--json"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        out.seek(0)
        found: dict[str, Any] = json.load(out)
    wrong = [one for one in found["disagreements"] if one["design"] != "like"]
    if wrong:
        raise WrongAnswer(f"compare finds designs that disagree with the oracle: {wrong[:3]}")
    return usage.ru_maxrss


def test_time_and_memory(described: Any, measured: Measured) -> None:
    """For scale 1. A whole comparison has no peer, so these two figures are no ratios."""
    kib = described.pedantic(compare, args=(measured,), rounds=1)
    if described.disabled:
        return
    minutes = described.stats.stats.data[0] / 60
    report(described, Bar("compare at scale 1, minutes", 5), ratio([(minutes, 1.0)]))
    report(described, Bar("compare at scale 1, GiB of memory", 1), ratio([(kib / KIB_A_GIB, 1.0)]))
