/*
** reasoning_match(query, text) and reasoning_match_columns(spec, query, ...):
** what an FTS5 table that holds just this row would say.
**
** The functions depend on the tokenizers of the connection, so they are not
** deterministic in SQLite's sense: an index on them could go stale.
*/
#include "rf.h"

/* Answers a call and ends it. */
static void finish(sqlite3_context *context, rf_row_call *call){
  bool matches;
  const int rc = rf_program_match(call->compiled->program, &call->row, false, &matches);
  rf_row_call_end(call);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
  }else{
    sqlite3_result_int(context, matches);
  }
}

static void reasoning_match(sqlite3_context *context, int count, sqlite3_value **values){
  rf_row_call call;
  (void)count;
  if( rf_row_call_text(context, "reasoning_match", values[0], values[1], &call) ){
    finish(context, &call);
  }
}

static void reasoning_match_columns(
  sqlite3_context *context, int count, sqlite3_value **values
){
  rf_row_call call;
  if( count < 3 ){
    sqlite3_result_error(context, "reasoning_match_columns: too few arguments; pass the spec,"
                         " the query and a value for each column of the spec", -1);
    return;
  }
  if( rf_row_call_columns(context, "reasoning_match_columns", values[0], values[1],
                          count - 2, &values[2], &call) ){
    finish(context, &call);
  }
}

int rf_register_match(sqlite3 *db, fts5_api *api){
  static const rf_function functions[] = {
    {"reasoning_match", 2, reasoning_match},
    {"reasoning_match_columns", -1, reasoning_match_columns},
  };
  return rf_register_functions(db, api, functions, 2);
}
