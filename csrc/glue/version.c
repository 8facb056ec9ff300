/*
** reasoning_version() and reasoning_debug(): which library is this, how was it
** built, and what does it run on.
*/
#include "rf.h"

#ifndef RF_VERSION
#  define RF_VERSION "unknown"
#endif
#ifndef RF_COMMIT
#  define RF_COMMIT "unknown"
#endif

#if defined(__clang__)
#  define RF_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#  define RF_COMPILER "gcc " __VERSION__
#else
#  define RF_COMPILER "unknown"
#endif

static void version_function(sqlite3_context *context, int count, sqlite3_value **values){
  (void)count;
  (void)values;
  sqlite3_result_text(context, RF_VERSION, (int)sizeof(RF_VERSION) - 1, SQLITE_STATIC);
}

/* Appends `"name":"value"`, quoted as JSON, with a comma before all but the first. */
static void append_member(sqlite3_str *out, const char *name, const char *value){
  sqlite3_str_appendf(out, "%s\"%s\":\"", sqlite3_str_length(out) > 1 ? "," : "", name);
  for(; *value; value++){
    const unsigned char c = (unsigned char)*value;
    if( c == '"' || c == '\\' ){
      sqlite3_str_appendchar(out, 1, '\\');
      sqlite3_str_appendchar(out, 1, (char)c);
    }else if( c < 0x20 ){
      sqlite3_str_appendf(out, "\\u%04x", c);
    }else{
      sqlite3_str_appendchar(out, 1, (char)c);
    }
  }
  sqlite3_str_appendchar(out, 1, '"');
}

static void debug_function(sqlite3_context *context, int count, sqlite3_value **values){
  const fts5_api *api = sqlite3_user_data(context);
  sqlite3_str *out = sqlite3_str_new(sqlite3_context_db_handle(context));
  char *text;
  int rc, bytes;

  (void)count;
  (void)values;
  sqlite3_str_appendchar(out, 1, '{');
  append_member(out, "version", RF_VERSION);
  append_member(out, "commit", RF_COMMIT);
  append_member(out, "compiler", RF_COMPILER);
  append_member(out, "simd", rf_simd_name(rf_simd_best()));
  append_member(out, "sqlite_header_version", SQLITE_VERSION);
  append_member(out, "sqlite_version", sqlite3_libversion());
  append_member(out, "sqlite_source_id", sqlite3_sourceid());
  sqlite3_str_appendf(out, ",\"fts5_api_version\":%d}", api->iVersion);
  rc = sqlite3_str_errcode(out);
  bytes = sqlite3_str_length(out);
  text = sqlite3_str_finish(out);
  if( rc != SQLITE_OK || text == 0 ){
    sqlite3_free(text);
    sqlite3_result_error_code(context, rc != SQLITE_OK ? rc : SQLITE_NOMEM);
    return;
  }
  sqlite3_result_text(context, text, bytes, sqlite3_free);
}

int rf_register_version(sqlite3 *db, fts5_api *api){
  /* Not DETERMINISTIC: an index on either would go stale with the next version. */
  const int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;
  int rc = sqlite3_create_function_v2(
      db, "reasoning_version", 0, flags, 0, version_function, 0, 0, 0);
  if( rc == SQLITE_OK ){
    rc = sqlite3_create_function_v2(
        db, "reasoning_debug", 0, flags, api, debug_function, 0, 0, 0);
  }
  return rc;
}
