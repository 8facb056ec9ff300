/*
** reasoning_parse(spec, query): the tree of a query as JSON, for programs that
** plan how to answer it.
*/
#include "rf.h"

static void reasoning_parse(sqlite3_context *context, int count, sqlite3_value **values){
  static const char function[] = "reasoning_parse";
  rf_compiler *compiler = sqlite3_user_data(context);
  rf_compiled *compiled = 0;
  const char *spec, *query;
  char *message = 0;
  int spec_bytes, query_bytes, rc;
  rf_text json;
  (void)count;
  rc = rf_value_text(values[0], &spec, &spec_bytes);
  if( rc == SQLITE_OK ) rc = rf_value_text(values[1], &query, &query_bytes);
  if( rc == SQLITE_OK && (spec == 0 || query == 0) ){
    message = sqlite3_mprintf("%s: the %s is NULL; pass a text", function,
                              spec ? "query" : "spec");
    rc = SQLITE_ERROR;
  }
  if( rc == SQLITE_OK ){
    rc = rf_compiler_get(compiler, function, spec, spec_bytes, query, query_bytes, &compiled,
                         &message);
  }
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, message);
    return;
  }
  rf_text_begin(&json, &rf_sqlite_memory);
  rf_query_render(compiled->program->query, &compiled->program->spec->columns, &json);
  rf_compiled_release(compiled);
  if( json.status != SQLITE_OK ){
    rf_text_end(&json);
    rf_result_error(context, json.status, 0);
    return;
  }
  sqlite3_result_text64(context, json.bytes, json.length, sqlite3_free, SQLITE_UTF8);
}

int rf_register_parse(sqlite3 *db, fts5_api *api){
  static const rf_function function = {"reasoning_parse", 2, reasoning_parse};
  return rf_register_functions(db, api, &function, 1);
}
