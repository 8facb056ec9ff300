// Asks through better-sqlite3 or node:sqlite: reads an order from standard input, prints JSON.
"use strict";

const order = JSON.parse(require("node:fs").readFileSync(0, "utf8"));

function open(path) {
  if (order.module === "node:sqlite") {
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(path, { readOnly: true, allowExtension: true });
    db.loadExtension(order.library);
    db.enableLoadExtension(false);
    return db;
  }
  const Database = require(order.module);
  const db = new Database(path, { readonly: true });
  db.loadExtension(...[order.library, order.entry].filter((argument) => argument !== null));
  return db;
}

function rows(db, question) {
  const statement = db.prepare(question.sql);
  // Rows as lists: two columns of a row may have one name.
  if (order.module === "node:sqlite") statement.setReturnArrays(true);
  else statement.raw();
  const values = Object.keys(question.parameters).length > 0 ? [question.parameters] : [];
  return statement.all(...values);
}

function answer(db, question) {
  try {
    return { rows: rows(db, question) };
  } catch (error) {
    return { error: error.message };
  }
}

const answers = order.sheets.map((sheet) => {
  const db = open(sheet.path);
  const given = sheet.questions.map((question) => answer(db, question));
  db.close();
  return given;
});
process.stdout.write(JSON.stringify({ answers }));
