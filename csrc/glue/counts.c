/*
** reasoning_counts_columns(spec, query, ...): what bm25 needs of a row that is in no
** table with positions: its length, and the hits of each phrase.
*/
#include <limits.h>

#include "rf.h"

/* Writes the length and the hits of the row that was read; zeros where it does not match. */
static int write_counts(const rf_program *program, bool matches, unsigned char *blob){
  const int64_t tokens = rf_matcher_tokens(program->matcher);
  if( tokens > INT_MAX ) return SQLITE_TOOBIG;
  rf_put_int32(blob, (int)tokens);
  for(int i = 0; i < program->query->phrase_count; i++){
    int hits = 0;
    if( matches ) (void)rf_matcher_hits(program->matcher, i, &hits);
    rf_put_int32(blob + 4 * (i + 1), hits);
  }
  return SQLITE_OK;
}

static void reasoning_counts_columns(
  sqlite3_context *context, int count, sqlite3_value **values
){
  rf_row_call call;
  rf_program *program;
  unsigned char *blob;
  sqlite3_uint64 bytes;
  bool matches;
  int rc;
  if( count < 3 ){
    sqlite3_result_error(context, "reasoning_counts_columns: too few arguments; pass the spec,"
                         " the query and a value for each column of the spec", -1);
    return;
  }
  if( !rf_row_call_columns(context, "reasoning_counts_columns", values[0], values[1],
                           count - 2, &values[2], &call) ){
    return;
  }
  program = call.compiled->program;
  bytes = 4 * ((sqlite3_uint64)program->query->phrase_count + 1);
  blob = sqlite3_malloc64(bytes);
  rc = blob ? rf_program_read(program, &call.row) : SQLITE_NOMEM;
  if( rc == SQLITE_OK ) rc = rf_matcher_finish(program->matcher, true, &matches);
  if( rc == SQLITE_OK ) rc = write_counts(program, matches, blob);
  rf_row_call_end(&call);
  if( rc != SQLITE_OK ){
    sqlite3_free(blob);
    rf_result_error(context, rc, 0);
    return;
  }
  sqlite3_result_blob64(context, blob, bytes, sqlite3_free);
}

int rf_register_counts(sqlite3 *db, fts5_api *api){
  static const rf_function functions[] = {
    {"reasoning_counts_columns", -1, reasoning_counts_columns},
  };
  return rf_register_functions(db, api, functions, 1);
}
