"""The command line: its JSON, its exit codes, and what it says to bad input."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from archives import file_state
from tables import write_table

from sqlite_reasoning_fts.cli.app import run

SEARCH_KEYS = "query scope syntax match order design placement hits coverage".split()
HIT_KEYS = "key session_id role created_at rank origin snippet in_default_search".split()
COVERAGE_KEYS = (
    "rows_considered rows_rechecked rows_unreadable rows_lagging synced_at cut_by_limit route "
    "empty_because"
).split()
AUDIT_KEYS = (
    "archive rows rows_with_reasoning reasoning_characters content_characters ratio "
    "turns_reasoning_only rows_unreadable rows_duplicate rows_orphaned routes queries"
).split()
COMPARE_KEYS = ("archive seed oracle designs latency disagreements default_search summary").split()
DESIGN_KEYS = "name bytes growth_of_index growth_of_file build_seconds agrees".split()
LATENCY_KEYS = "design kind order scope query median_ms p25_ms p75_ms runs hits".split()
DEFAULT_KEYS = "design ranker same_rows same_order same_ranks changed_top10".split()


Capture = pytest.CaptureFixture[str]


def as_json(capsys: Capture, *arguments: str, code: int = 0) -> dict[str, Any]:
    assert run([*arguments, "--json"]) == code
    printed = capsys.readouterr()
    assert printed.err == ""
    found: dict[str, Any] = json.loads(printed.out)
    return found


def fails(capsys: Capture, *arguments: str, code: int = 2) -> dict[str, str]:
    """The error of a command, which must be the same in JSON and for a person."""
    error: dict[str, str] = as_json(capsys, *arguments, code=code)["error"]
    assert run([*arguments]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert error["message"].splitlines()[0][:60] in printed.err
    assert set(error) == {"kind", "message", "hint"}
    assert error["hint"]
    return error


def test_search_prints_the_contracts_keys(capsys: Capture, demo_path: Path) -> None:
    found = as_json(capsys, "search", str(demo_path), "the", "--scope", "all")
    assert list(found)[: len(SEARCH_KEYS)] == SEARCH_KEYS
    assert list(found["hits"][0])[: len(HIT_KEYS)] == HIT_KEYS
    assert list(found["coverage"])[: len(COVERAGE_KEYS)] == COVERAGE_KEYS
    assert len(found["hits"]) == 20
    assert found["coverage"]["cut_by_limit"]


def test_audit_prints_the_contracts_keys(capsys: Capture, demo_path: Path) -> None:
    found = as_json(capsys, "audit", str(demo_path))
    assert list(found)[: len(AUDIT_KEYS)] == AUDIT_KEYS
    assert list(found["archive"]) == (
        "path agent schema_version bytes journal_mode sqlite_version".split()
    )
    assert list(found["routes"][0]) == "name sql parameters token count".split()
    assert list(found["queries"]) == "sampled hit_content hit_any gap".split()


def test_compare_prints_the_contracts_keys(capsys: Capture, demo_path: Path) -> None:
    found = as_json(capsys, "compare", str(demo_path), "--repeat", "1")
    assert list(found)[: len(COMPARE_KEYS)] == COMPARE_KEYS
    assert list(found["oracle"]) == "sqlite_version rows queries".split()
    assert list(found["designs"][0])[: len(DESIGN_KEYS)] == DESIGN_KEYS
    assert list(found["latency"][0]) == LATENCY_KEYS
    assert list(found["default_search"][0]) == DEFAULT_KEYS


def test_demo_makes_an_archive_and_refuses_to_replace_one(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "demo.db"
    made = as_json(capsys, "demo", "--scale", "0.001", "--out", str(path))
    assert (made["rows"], made["rows_with_reasoning"]) == (289, 61)
    before = file_state(path)
    error = fails(capsys, "demo", "--scale", "0.001", "--out", str(path))
    assert "--force" in error["hint"]
    assert file_state(path) == before


def test_a_search_without_hits_says_why_and_is_no_failure(capsys: Capture, demo_path: Path) -> None:
    for query, reason in (
        ("qqqqzzzz", "nothing matched"),
        ("...", "no words"),
        ("", "no words"),
        ("   ", "no words"),
    ):
        found = as_json(capsys, "search", str(demo_path), query)
        assert found["hits"] == []
        assert reason in found["coverage"]["empty_because"]


@pytest.mark.parametrize(
    "query",
    [
        "chat-send", "P2.2", "src/main.py", "don't", "50%", "#123", "alice@example.com", "C++",
        "a,b", "foo(bar)", "^start", "TODO: fix", r"C:\Users\demo", "*", '"', 'un"balanced', "AND",
        "NEAR(", "a\0b", "{x} : y", "🙂", "需要",
    ],
)  # fmt: skip
def test_plain_text_is_never_a_syntax_error(capsys: Capture, demo_path: Path, query: str) -> None:
    as_json(capsys, "search", str(demo_path), query, "--scope", "all")


def test_a_wrong_fts5_query_names_the_place(capsys: Capture, demo_path: Path) -> None:
    error = fails(capsys, "search", str(demo_path), "one AND", "--syntax", "fts5")
    assert error["kind"] == "query"
    error = fails(capsys, "search", str(demo_path), "nowhere : x", "--syntax", "fts5")
    assert "no such column: nowhere" in error["message"]


def test_a_huge_query_is_refused_by_its_size(capsys: Capture, demo_path: Path) -> None:
    assert "16,384" in fails(capsys, "search", str(demo_path), "word " * 250_000)["message"]


def test_a_lone_surrogate_is_refused(capsys: Capture, demo_path: Path) -> None:
    assert "surrogate" in fails(capsys, "search", str(demo_path), "a\udc80b")["message"]


def test_filters_apply_before_the_limit(capsys: Capture, demo_path: Path) -> None:
    options = ("--scope", "all", "--limit", "3", "--in-role", "tool")
    found = as_json(capsys, "search", str(demo_path), "the", *options)
    assert [hit["role"] for hit in found["hits"]] == ["tool"] * 3


def test_times_bound_an_answer(capsys: Capture, demo_path: Path) -> None:
    rows = as_json(capsys, "search", str(demo_path), "the", "--order", "newest")["hits"]
    times = [hit["created_at"] for hit in rows]
    assert times == sorted(times, reverse=True)
    middle = times[10]
    later = as_json(capsys, "search", str(demo_path), "the", "--since", str(middle))["hits"]
    earlier = as_json(capsys, "search", str(demo_path), "the", "--until", str(middle))["hits"]
    assert min(hit["created_at"] for hit in later) >= middle
    assert max(hit["created_at"] for hit in earlier) < middle
    assert fails(capsys, "search", str(demo_path), "the", "--since", "yesterday")["kind"] == "usage"


def test_folding_gives_one_hit_a_session(capsys: Capture, demo_path: Path) -> None:
    found = as_json(capsys, "search", str(demo_path), "the", "--fold-sessions")
    sessions = [hit["session_id"] for hit in found["hits"]]
    assert len(sessions) == len(set(sessions)) > 1


def test_control_characters_do_not_reach_the_terminal(capsys: Capture, tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "a.db",
        "CREATE TABLE m(id TEXT, role, thought)",
        [("k\x1b[2J", "r\x07\x9b", "quagga \x1b]0;title\x07 \x02 \x03 okapi")],
    )
    options = ["--table", "m", "--key", "id", "--thought", "thought", "--role", "role"]
    assert run(["search", str(path), "okapi", "--scope", "thought", *options]) == 0
    printed = capsys.readouterr().out
    assert "quagga" in printed
    assert not [c for c in printed if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]


def test_a_reader_that_has_seen_enough_is_no_failure(demo_path: Path) -> None:
    for arguments in (["search", str(demo_path), "the", "--json"], ["audit", str(demo_path)]):
        command = [sys.executable, "-m", "sqlite_reasoning_fts", *arguments]
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.close()
        told = started.stderr.read()
        started.stderr.close()
        assert (started.wait(), b"Traceback" in told) == (0, False)


def test_output_that_cannot_be_written_is_told_on_standard_error(demo_path: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sqlite_reasoning_fts", "search", str(demo_path), "the"]
        done = subprocess.run(
            [*command, "--json"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_terminal_that_is_not_utf8_gets_escapes(demo_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sqlite_reasoning_fts", "audit", str(demo_path)],
        capture_output=True,
        env={**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
        check=False,
    )
    assert done.returncode == 0, done.stderr


# -- bad input ---------------------------------------------------------------


@pytest.fixture(params=["audit", "search", "compare"])
def command(request: pytest.FixtureRequest) -> Callable[..., list[str]]:
    def with_file(path: Path, *options: str) -> list[str]:
        query = ["word"] if request.param == "search" else []
        return [request.param, str(path), *query, *options]

    return with_file


Command = Callable[..., list[str]]


def test_a_missing_file(capsys: Capture, tmp_path: Path, command: Command) -> None:
    error = fails(capsys, *command(tmp_path / "none.db"))
    assert (error["kind"], "none.db" in error["message"]) == ("not_found", True)
    assert list(tmp_path.iterdir()) == []


def test_a_directory(capsys: Capture, tmp_path: Path, command: Command) -> None:
    (tmp_path / "state.db").touch()
    error = fails(capsys, *command(tmp_path))
    assert (error["kind"], "state.db" in error["hint"]) == ("directory", True)


def test_an_empty_file(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    assert fails(capsys, *command(path))["kind"] == "empty"


def test_no_database(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Not a database at all.\n" * 100)
    before = file_state(path)
    assert fails(capsys, *command(path))["kind"] == "not_a_database"
    assert file_state(path) == before


def test_an_encrypted_database(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "secret.db"
    path.write_bytes(bytes((i * 197 + i // 7 * 31 + 129) % 256 for i in range(8192)))
    error = fails(capsys, *command(path))
    assert (error["kind"], "decrypt" in error["hint"]) == ("encrypted", True)


def test_a_truncated_database(
    capsys: Capture, tmp_path: Path, demo_path: Path, command: Command
) -> None:
    path = tmp_path / "cut.db"
    path.write_bytes(demo_path.read_bytes()[: 64 * 4096 + 100])
    before = file_state(path)
    error = as_json(capsys, *command(path), code=2)["error"]
    assert error["kind"] == "damaged"
    assert file_state(path) == before


def test_no_known_agent(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE notes(a, b)")
    connection.close()
    error = fails(capsys, *command(path))
    assert error["kind"] == "no_agent"
    assert "--table" in error["hint"]
    assert "notes" in error["hint"]


def test_a_database_without_tables(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = tmp_path / "bare.db"
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    error = fails(capsys, *command(path))
    assert "no tables" in error["hint"]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE m(id, said, thought); INSERT INTO m VALUES (1, 'a', 'b'), (1, 'c', 'd');"
        "CREATE VIEW v AS SELECT * FROM m"
    )
    connection.close()
    return path


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        (["--table", "m", "--thought", "thougt"], "missing_column", "thought"),
        (["--table", "m", "--thought", "thought", "--said", "sed"], "missing_column", "said"),
        (["--table", "m", "--thought", "thought", "--key", "idd"], "missing_column", "id"),
        (["--table", "m", "--thought", "thought", "--key", "id"], "no_key", "unique"),
        (["--table", "v", "--thought", "thought"], "no_key", "--key"),
        (["--table", "n", "--thought", "thought"], "missing_table", "m"),
        (["--table", "m"], "usage", "--thought"),
        (["--thought", "thought"], "usage", "--table"),
        (["--adapter", "nobody"], "usage", "hermes"),
        (["--adapter", "generic"], "usage", "--table"),
        (["--adapter", "hermes"], "no_agent", "--table"),
        (["--adapter", "hermes", "--table", "m"], "usage", "--adapter"),
    ],
)
def test_a_description_that_does_not_fit(
    capsys: Capture, plain: Path, command: Command, options: list[str], kind: str, told: str
) -> None:
    before = file_state(plain)
    error = fails(capsys, *command(plain, *options))
    assert (error["kind"], told in error["hint"]) == (kind, True)
    assert file_state(plain) == before


def test_a_column_that_is_named_twice(capsys: Capture, plain: Path, command: Command) -> None:
    options = ["--table", "m", "--thought", "thought", "--said", "said", "--said", "SAID"]
    assert "twice" in fails(capsys, *command(plain, *options))["message"]


def test_a_key_of_blobs(capsys: Capture, tmp_path: Path, command: Command) -> None:
    path = write_table(tmp_path / "a.db", "CREATE TABLE m(id, thought)", [(b"k", "quagga")])
    error = fails(capsys, *command(path, "--table", "m", "--key", "id", "--thought", "thought"))
    assert (error["kind"], "BLOB" in error["message"]) == ("no_key", True)


def test_a_file_name_that_is_no_utf8(capsys: Capture, tmp_path: Path, demo_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9 %41?#.db"
    shutil.copyfile(demo_path, path)
    assert as_json(capsys, "search", os.fsdecode(path), "the")["hits"]


def test_a_temporary_folder_that_is_missing(
    capsys: Capture, demo_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    assert "/nowhere/at/all" in fails(capsys, "compare", str(demo_path))["message"]


def test_an_empty_list_of_queries(capsys: Capture, tmp_path: Path, demo_path: Path) -> None:
    path = tmp_path / "queries.txt"
    for text in ("", "# nothing\n\n"):
        path.write_text(text)
        for name in ("audit", "compare"):
            error = as_json(capsys, name, str(demo_path), "--queries", str(path), code=2)["error"]
            assert "empty" in error["message"]


def test_an_unknown_option_or_choice_is_wrong_usage(capsys: Capture, demo_path: Path) -> None:
    for arguments in (["--nothing"], ["--scope", "mind"], ["--limit", "0"], ["--design", "magic"]):
        error = as_json(capsys, "search", str(demo_path), "a", *arguments, code=2)["error"]
        assert (error["kind"], "--help" in error["hint"]) == ("usage", True)


def test_no_permission_to_read(tmp_path: Path, demo_path: Path, as_plain_user: Any) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(demo_path, path)
    path.chmod(0)
    command = [sys.executable, "-m", "sqlite_reasoning_fts", "audit", str(path), "--json"]
    done = as_plain_user(command)
    assert done.returncode == 2, done.stderr
    assert json.loads(done.stdout)["error"]["kind"] == "permission"


def test_a_file_of_queries_that_is_missing_or_no_text(
    capsys: Capture, tmp_path: Path, demo_path: Path
) -> None:
    binary = tmp_path / "queries.bin"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.txt", binary):
        error = fails(capsys, "compare", str(demo_path), "--queries", str(path))
        assert path.name in error["message"]


def test_a_wrong_line_in_a_file_of_queries_is_named(
    capsys: Capture, tmp_path: Path, demo_path: Path
) -> None:
    path = tmp_path / "queries.txt"
    path.write_text("good\n\nbad AND\n")
    error = as_json(capsys, "compare", str(demo_path), "--queries", str(path), code=2)["error"]
    assert "query 3 (bad AND)" in error["message"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("step", ["counting", "building", "checking", "timing"])
def test_a_signal_in_any_step_cleans_up(
    tmp_path: Path, demo_path: Path, number: int, code: int, step: str
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(demo_path, path)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before = file_state(path)
    started = subprocess.Popen(
        [sys.executable, "-m", "sqlite_reasoning_fts", "compare", str(path), "--repeat", "1000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    assert started.stderr is not None
    for line in started.stderr:
        if line.startswith(step):
            break
    started.send_signal(number)
    printed, told = started.communicate(timeout=60)
    assert started.returncode == code, told
    assert printed == ""
    assert "the archive is as it was" in told
    assert list(scratch.iterdir()) == []
    assert file_state(path) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["scratch", "state.db"]


def test_a_full_disk_while_building_is_told_and_leaves_nothing(
    tmp_path: Path, demo_path: Path
) -> None:
    """The limit on a file's size stands for a disk that fills up."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        "from sqlite_reasoning_fts.compare import workbench\n"
        "workbench.CACHE_KIB = 100\n"
        "from sqlite_reasoning_fts.cli import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", str(demo_path), "--json"],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["error"]["kind"] in ("no_room", "fault")
    assert list(scratch.iterdir()) == []


def test_help_names_every_command_and_every_option_has_help(capsys: Capture) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    for name in ("audit", "search", "compare", "demo"):
        assert name in text
        assert run([name, "--help"]) == 0
        assert "--json" in capsys.readouterr().out


def test_importing_the_package_imports_neither_click_nor_rich() -> None:
    code = "import sys, sqlite_reasoning_fts; print({'click', 'rich', 'apsw'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
