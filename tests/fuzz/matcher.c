/*
** Fuzzes matching: for each row the library says what a real FTS5 table with this
** row says, with its short cuts and without; and a scan of all rows finds the rows
** that a table with all of them finds, whichever way it reads them.
**
** Input: a spec, the query, then the rows: RS before each text, GS between rows.
*/
#include "fuzz.h"

#include <string.h>

#define ROWS 8
#define COLUMNS 3

/* Values: the query, the spec, its twin, its stored columns, then a row. */
enum Value { QUERY, SPEC, TWIN, STORED, ROW, VALUES = ROW + COLUMNS };

/* Statements for specs of one, two and three columns. */
static const char *const ours_sql[] = {
  "SELECT coalesce(reasoning_match_columns(?2, ?1, ?5), 0)",
  "SELECT coalesce(reasoning_match_columns(?2, ?1, ?5, ?6), 0)",
  "SELECT coalesce(reasoning_match_columns(?2, ?1, ?5, ?6, ?7), 0)",
};
static const char *const twin_sql[] = {
  "SELECT coalesce(reasoning_match_columns(?3, ?1, ?5), 0)",
  "SELECT coalesce(reasoning_match_columns(?3, ?1, ?5, ?6), 0)",
  "SELECT coalesce(reasoning_match_columns(?3, ?1, ?5, ?6, ?7), 0)",
};
static const char *const one_sql[] = {
  "DELETE FROM one%d; INSERT INTO one%d VALUES (?5)",
  "DELETE FROM one%d; INSERT INTO one%d VALUES (?5, ?6)",
  "DELETE FROM one%d; INSERT INTO one%d VALUES (?5, ?6, ?7)",
};
static const char *const row_sql[] = {
  "INSERT INTO rows%d(a) VALUES (?5)",
  "INSERT INTO rows%d(a, b) VALUES (?5, ?6)",
  "INSERT INTO rows%d(a, b, c) VALUES (?5, ?6, ?7)",
};
static const char *const all_sql[] = {
  "INSERT INTO all%d(rowid, a) SELECT id, a FROM rows%d",
  "INSERT INTO all%d(rowid, a, b) SELECT id, a, b FROM rows%d",
  "INSERT INTO all%d(rowid, a, b, c) SELECT id, a, b, c FROM rows%d",
};

/* Runs what must not fail. */
static void run(const char *sql, int number, const host_text *values){
  host_answer answer = fuzz_ask(sql, number, VALUES, values);
  if( answer.rc != SQLITE_OK ) fuzz_fail("%s: %s", sql, answer.text);
  host_answer_end(&answer);
}

/* Compares a statement's answer with the expected one. */
static void expect(
  const char *sql, int number, const host_text *values, const host_answer *expected
){
  host_answer answer = fuzz_ask(sql, number, VALUES, values);
  fuzz_compare(sql, &answer, expected);
  host_answer_end(&answer);
}

/* Reads a row of `columns` texts; a missing one is NULL. */
static void take_row(const char **at, const char *end, int columns, host_text *row){
  host_text line = fuzz_take(at, end, FUZZ_GS);
  const char *next = line.bytes, *stop = line.bytes + line.length;
  for(int i = 0; i < COLUMNS; i++){
    row[i] = (host_text){0, 0};
    if( i < columns && next < stop ) row[i] = fuzz_take(&next, stop, FUZZ_RS);
  }
}

static int is_null(const host_text *row){
  for(int i = 0; i < COLUMNS; i++){
    if( row[i].bytes ) return 0;
  }
  return 1;
}

static void check_row(const fuzz_spec *spec, int number, const host_text *values){
  const int form = spec->columns - 1;
  host_answer theirs;
  run(one_sql[form], number, values);
  theirs = fuzz_ask("SELECT count(*) FROM one%d WHERE one%d MATCH ?1", number, VALUES, values);
  /* A row of NULLs is never compiled for, so it is never an error either. */
  if( theirs.rc == SQLITE_OK || !is_null(&values[ROW]) ){
    expect(ours_sql[form], number, values, &theirs);
    expect(twin_sql[form], number, values, &theirs);
  }
  host_answer_end(&theirs);
}

/*
** FTS5's own ranks depend on the order of reading for some queries with these
** operators, and are not compared there.
*/
static int has_stable_ranks(host_text query){
  for(int i = 0; i + 1 < query.length; i++){
    if( memcmp(query.bytes + i, "OR", 2) == 0 || memcmp(query.bytes + i, "NO", 2) == 0
     || memcmp(query.bytes + i, "NE", 2) == 0 ) return 0;
  }
  return 1;
}

/* A scan, whichever way it reads, gives the rows of FTS5, and the same ranks. */
static void check_scans(int number, const host_text *values){
  host_answer theirs = fuzz_ask(
      "SELECT rowid FROM all%d WHERE all%d MATCH ?1 ORDER BY rowid", number, VALUES, values);
  host_answer ranks;
  expect("SELECT rowid FROM reasoning_scan(?1, 'rows%d', ?2) ORDER BY rowid", number, values,
         &theirs);
  expect("SELECT rowid FROM reasoning_scan(?1, 'rows%d', ?3) ORDER BY rowid", number, values,
         &theirs);
  expect("SELECT rowid FROM reasoning_scan(?1, 'rows%d', ?2, NULL, ?4) ORDER BY rowid", number,
         values, &theirs);
  host_answer_end(&theirs);
  ranks = fuzz_ask(
      "SELECT rowid, printf('%.9g', rank) FROM reasoning_scan(?1, 'rows%d', ?3) ORDER BY rowid",
      number, VALUES, values);
  expect("SELECT rowid, printf('%.9g', rank) FROM reasoning_scan(?1, 'rows%d', ?2) ORDER BY rowid",
         number, values, &ranks);
  expect("SELECT rowid, printf('%.9g', rank) FROM reasoning_scan(?1, 'rows%d', ?2, NULL, ?4)"
         " ORDER BY rowid", number, values, &ranks);
  if( has_stable_ranks(values[QUERY]) ){
    expect("SELECT rowid, printf('%.9g', bm25(all%d)) FROM all%d WHERE all%d MATCH ?1"
           " ORDER BY rowid", number, values, &ranks);
  }
  host_answer_end(&ranks);
}

static host_text text_of(const char *string){
  return (host_text){string, (int)strlen(string)};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size){
  const char *at = (const char *)data + 1, *end = (const char *)data + size;
  host_text values[VALUES];
  const fuzz_spec *spec;
  int number, form;
  if( size < 1 || size > 100000 ) return 0;
  spec = fuzz_spec_of(data[0], &number);
  form = spec->columns - 1;
  values[QUERY] = fuzz_take(&at, end, FUZZ_RS);
  /* FTS5 has commands of its own here. */
  if( values[QUERY].length > 0 && values[QUERY].bytes[0] == '*' ) return 0;
  values[SPEC] = text_of(spec->text);
  values[TWIN] = text_of(spec->twin);
  values[STORED] = text_of(spec->stored);
  fuzz_connection();
  run("DELETE FROM rows%d; DELETE FROM all%d", number, values);
  for(int i = 0; i < ROWS && (at < end || i == 0); i++){
    take_row(&at, end, spec->columns, &values[ROW]);
    check_row(spec, number, values);
    run(row_sql[form], number, values);
  }
  run(all_sql[form], number, values);
  check_scans(number, values);
  return 0;
}
