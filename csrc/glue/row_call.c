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

/*
** Finds the compiled query of a call: where the arguments are constant it stands
** in the auxiliary data of argument `slot`, else in the function's cache. The
** caller gets a reference. On failure the error is set and NULL returned.
*/
static rf_compiled *compiled_for(
  sqlite3_context *context, const char *function, int slot, const char *spec,
  int spec_bytes, sqlite3_value *query
){
  rf_compiler *compiler = sqlite3_user_data(context);
  rf_compiled *compiled = sqlite3_get_auxdata(context, slot);
  const char *text;
  char *message = 0;
  int bytes, rc;
  if( compiled && rf_compiled_has_spec(compiled, spec, spec_bytes) ){
    rf_compiled_retain(compiled);
    return compiled;
  }
  rc = rf_value_text(query, &text, &bytes);
  if( rc == SQLITE_OK ){
    rc = rf_compiler_get(compiler, function, spec, spec_bytes, text, bytes, &compiled,
                         &message);
  }
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, message);
    return 0;
  }
  /*
  ** One reference for the auxiliary data, one for this call: SQLite may give the
  ** first back at once. It does so without a word where it has no memory, which
  ** costs a look into the cache a row and nothing else.
  */
  rf_compiled_retain(compiled);
  sqlite3_set_auxdata(context, slot, compiled, rf_compiled_release);
  return compiled;
}

/* Fills a call that has its compiled query with the texts of a row. */
static int read_row(rf_row_call *call, int count, sqlite3_value **values){
  const char **text = call->usual_text;
  int *bytes = call->usual_bytes;
  int rc = SQLITE_OK;
  if( count > RF_USUAL_COLUMNS ){
    call->room = sqlite3_malloc64((sqlite3_uint64)count * (sizeof(char *) + sizeof(int)));
    if( call->room == 0 ) return SQLITE_NOMEM;
    text = call->room;
    bytes = (int *)&text[count];
  }
  for(int i = 0; rc == SQLITE_OK && i < count; i++){
    rc = rf_value_text(values[i], &text[i], &bytes[i]);
  }
  call->row = (rf_row){count, text, bytes};
  return rc;
}

static bool begin_row(
  sqlite3_context *context, rf_row_call *call, int count, sqlite3_value **values
){
  const int rc = read_row(call, count, values);
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
  call->room = 0;
  if( is_null(query) ){
    refuse(context, sqlite3_mprintf(
        "%s: the query is NULL; pass the text of an FTS5 query", function));
    return false;
  }
  if( is_null(text) ) return false;
  call->compiled = compiled_for(context, function, 0, DEFAULT_SPEC,
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
  call->room = 0;
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
  call->compiled = compiled_for(context, function, 1, text, bytes, query);
  if( call->compiled == 0 ) return false;
  if( call->compiled->spec->columns.count != count ){
    refuse(context, sqlite3_mprintf(
        "%s: the spec has %d columns, and %d values are given; pass one a column", function,
        call->compiled->spec->columns.count, count));
    rf_row_call_end(call);
    return false;
  }
  return begin_row(context, call, count, values);
}

void rf_row_call_end(rf_row_call *call){
  rf_compiled_release(call->compiled);
  sqlite3_free(call->room);
}

int rf_register_scalars(
  sqlite3 *db, fts5_api *api, int count, const rf_scalar *scalars
){
  int rc = SQLITE_OK;
  for(int i = 0; rc == SQLITE_OK && i < count; i++){
    rf_compiler *compiler = rf_compiler_new(db, api);
    if( compiler == 0 ) return SQLITE_NOMEM;
    /* SQLite frees the compiler, also where it refuses the function. */
    rc = sqlite3_create_function_v2(db, scalars[i].name, scalars[i].arguments,
                                    SQLITE_UTF8 | SQLITE_INNOCUOUS, compiler,
                                    scalars[i].function, 0, 0, rf_compiler_free);
  }
  return rc;
}
