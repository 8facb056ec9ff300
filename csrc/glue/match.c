/*
** reasoning_match(query, text) and reasoning_match_columns(spec, query, ...):
** what an FTS5 table that holds just this row would say.
**
** Nothing is matched before the value is known not to be NULL: most rows of an
** archive have no reasoning, and a scan passes over them at the speed of SQLite.
**
** The functions depend on the tokenizers of the connection, so they are not
** deterministic in SQLite's sense: an index on them could go stale.
*/
#include <string.h>

#include "rf.h"

#define DEFAULT_SPEC "text"

static void finish(sqlite3_context *context, rf_compiled *compiled, const rf_row *row){
  bool matches;
  int rc = rf_program_match(compiled->program, row, false, &matches);
  rf_compiled_release(compiled);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
  }else{
    sqlite3_result_int(context, matches);
  }
}

static void reasoning_match(sqlite3_context *context, int count, sqlite3_value **values){
  static const char function[] = "reasoning_match";
  rf_compiled *compiled;
  const char *text;
  rf_row row;
  int bytes, rc;
  (void)count;
  if( sqlite3_value_type(values[0]) == SQLITE_NULL ){
    sqlite3_result_error(context, "reasoning_match: the query is NULL; pass the text of an"
                         " FTS5 query", -1);
    return;
  }
  if( sqlite3_value_type(values[1]) == SQLITE_NULL ) return;
  rc = rf_value_text(values[1], &text, &bytes);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
    return;
  }
  compiled = rf_compiled_for(context, function, 0, DEFAULT_SPEC, (int)strlen(DEFAULT_SPEC),
                          values[0]);
  if( compiled == 0 ) return;
  row = (rf_row){1, &text, &bytes};
  finish(context, compiled, &row);
}

/* Reads the values of a row and finishes the call; takes the reference. */
static void match_values(
  sqlite3_context *context, rf_compiled *compiled, int count, sqlite3_value **values
){
  rf_values read;
  int rc = rf_values_read(count, values, &read);
  if( rc == SQLITE_OK ){
    const rf_row row = {count, read.text, read.bytes};
    finish(context, compiled, &row);
  }else{
    rf_compiled_release(compiled);
    rf_result_error(context, rc, 0);
  }
  rf_values_free(&read);
}

static void reasoning_match_columns(
  sqlite3_context *context, int count, sqlite3_value **values
){
  static const char function[] = "reasoning_match_columns";
  rf_compiled *compiled;
  const char *spec;
  int spec_bytes, nulls = 0, rc;
  if( count < 3 ){
    sqlite3_result_error(context, "reasoning_match_columns: too few arguments; pass the spec,"
                         " the query and a value for each column of the spec", -1);
    return;
  }
  if( sqlite3_value_type(values[0]) == SQLITE_NULL
   || sqlite3_value_type(values[1]) == SQLITE_NULL ){
    rf_result_error(context, SQLITE_ERROR, sqlite3_mprintf(
        "%s: the %s is NULL; pass a text", function,
        sqlite3_value_type(values[0]) == SQLITE_NULL ? "spec" : "query"));
    return;
  }
  for(int i = 2; i < count; i++) nulls += sqlite3_value_type(values[i]) == SQLITE_NULL;
  if( nulls == count - 2 ) return;
  rc = rf_value_text(values[0], &spec, &spec_bytes);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
    return;
  }
  compiled = rf_compiled_for(context, function, 1, spec, spec_bytes, values[1]);
  if( compiled == 0 ) return;
  if( compiled->program->spec->columns.count != count - 2 ){
    rf_result_error(context, SQLITE_ERROR, sqlite3_mprintf(
        "%s: the spec has %d columns, and %d values are given; pass one a column", function,
        compiled->program->spec->columns.count, count - 2));
    rf_compiled_release(compiled);
    return;
  }
  match_values(context, compiled, count - 2, &values[2]);
}

int rf_register_match(sqlite3 *db, fts5_api *api){
  static const rf_function functions[] = {
    {"reasoning_match", 2, reasoning_match},
    {"reasoning_match_columns", -1, reasoning_match_columns},
  };
  return rf_register_functions(db, api, functions, 2);
}
