"""Asks through apsw or sqlite3, or both at once: reads an order from standard input.

The order names the modules, how the library is loaded (`load`: rf.load, `path`: the module's
own load_extension) and the sheets of each module. Answers are printed as JSON, a list of sheets
for each module. With several modules all connections stay open, each question is asked of one
module right after the other, and the connections of the first are closed before the last turn.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import sqlite_reasoning_fts as rf


def opened(module: str, path: str, way: str) -> Any:
    connection = importlib.import_module(module).Connection(path)
    if way == "load":
        rf.load(connection)
    else:
        connection.enable_load_extension(True)
        connection.load_extension(rf.extension_path())
        connection.enable_load_extension(False)
    return connection


def answer(module: str, connection: Any, question: dict[str, Any]) -> dict[str, Any]:
    try:
        cursor = connection.execute(question["sql"], question["parameters"])
        return {"rows": cursor.fetchall()}
    except importlib.import_module(module).Error as error:
        return {"error": str(error)}


def main() -> None:
    order = json.load(sys.stdin)
    modules = order["modules"]
    sheets = order["sheets"]
    connections = {
        module: [opened(module, sheet["path"], order["way"]) for sheet in sheets[module]]
        for module in modules
    }
    answers: dict[str, list[list[Any]]] = {module: [] for module in modules}
    for number in range(len(sheets[modules[0]])):
        for module in modules:
            answers[module].append([])
        for at in range(len(sheets[modules[0]][number]["questions"])):
            for module in modules:
                question = sheets[module][number]["questions"][at]
                answers[module][number].append(
                    answer(module, connections[module][number], question)
                )
    for connection in connections.pop(modules[0]):
        connection.close()
    last = {
        module: answer(module, opened_last[0], {"sql": order["last"], "parameters": {}})
        for module, opened_last in connections.items()
    }
    json.dump({"answers": answers, "last": last}, sys.stdout)


if __name__ == "__main__":
    main()
