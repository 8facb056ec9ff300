/*
** A call of a scalar function that asks an FTS5 query about the row in its
** arguments: finds the compiled query and reads the row.
**
** Nothing is read before the values are known not to be NULL: most rows of an
** archive have no reasoning, and a scan passes over them at the speed of SQLite.
*/
#include <string.h>

#include "rf.h"

#define DEFAULT_SPEC "text"

static bool begin_row(
  sqlite3_context *context, rf_row_call *call, int count, sqlite3_value **values
){
  const int rc = rf_values_read(count, values, &call->values);
  call->row = (rf_row){count, call->values.text, call->values.bytes};
  if( rc == SQLITE_OK ) return true;
  rf_result_error(context, rc, 0);
  rf_row_call_end(call);
  return false;
}

/* Ends a function with a message of sqlite3_mprintf(), which it takes. */
static void refuse(sqlite3_context *context, char *message){
  rf_result_error(context, message ? SQLITE_ERROR : SQLITE_NOMEM, message);
}

static bool is_null(sqlite3_value *value){
  return sqlite3_value_type(value) == SQLITE_NULL;
}

bool rf_row_call_text(
  sqlite3_context *context, const char *function, sqlite3_value *query,
  sqlite3_value *text, rf_row_call *call
){
  call->compiled = 0;
  call->values.room = 0;
  if( is_null(query) ){
    refuse(context, sqlite3_mprintf(
        "%s: the query is NULL; pass the text of an FTS5 query", function));
    return false;
  }
  if( is_null(text) ) return false;
  call->compiled = rf_compiled_for(context, function, 0, DEFAULT_SPEC,
                                   (int)strlen(DEFAULT_SPEC), query);
  return call->compiled && begin_row(context, call, 1, &text);
}

bool rf_row_call_columns(
  sqlite3_context *context, const char *function, sqlite3_value *spec,
  sqlite3_value *query, int count, sqlite3_value **values, rf_row_call *call
){
  const char *text;
  int bytes, nulls = 0, rc;
  call->compiled = 0;
  call->values.room = 0;
  if( is_null(spec) || is_null(query) ){
    refuse(context, sqlite3_mprintf(
        "%s: the %s is NULL; pass a text", function, is_null(spec) ? "spec" : "query"));
    return false;
  }
  for(int i = 0; i < count; i++) nulls += is_null(values[i]);
  if( nulls == count ) return false;
  rc = rf_value_text(spec, &text, &bytes);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
    return false;
  }
  call->compiled = rf_compiled_for(context, function, 1, text, bytes, query);
  if( call->compiled == 0 ) return false;
  if( call->compiled->program->spec->columns.count != count ){
    refuse(context, sqlite3_mprintf(
        "%s: the spec has %d columns, and %d values are given; pass one a column", function,
        call->compiled->program->spec->columns.count, count));
    rf_row_call_end(call);
    return false;
  }
  return begin_row(context, call, count, values);
}

void rf_row_call_end(rf_row_call *call){
  rf_compiled_release(call->compiled);
  rf_values_free(&call->values);
}
