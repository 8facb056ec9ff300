/*
** A query compiled for a spec: parsed, tokenized and ready to be asked about
** rows; and the small cache that each function has of them.
**
** SQLite keeps a compiled query for a function as long as its arguments are
** constant (auxiliary data). The cache serves the others: a query that comes
** from a column or another function.
*/
#include <string.h>

#include "rf.h"

#define CACHED 8

static void *resize(void *context, void *block, size_t bytes){
  (void)context;
  return sqlite3_realloc64(block, bytes);
}

static void release(void *context, void *block){
  (void)context;
  sqlite3_free(block);
}

const rf_memory rf_sqlite_memory = {0, resize, release};

/* ---- one compiled query ----------------------------------------------------- */

static void compiled_free(rf_compiled *compiled){
  rf_program_free(compiled->program);
  sqlite3_free(compiled);
}

void rf_compiled_retain(rf_compiled *compiled){
  compiled->references++;
}

void rf_compiled_release(void *released){
  rf_compiled *compiled = released;
  if( compiled && --compiled->references == 0 ) compiled_free(compiled);
}

int rf_compiled_has_spec(const rf_compiled *compiled, const char *spec, int bytes){
  return compiled->spec_bytes == bytes
      && (bytes == 0 || memcmp(compiled->text, spec, (size_t)bytes) == 0);
}

/* ---- what a program asks of its host ------------------------------------------ */

static int open_tokenizer(
  void *context, const rf_spec *spec, rf_tokenizer *tokenizer, rf_error *error
){
  const rf_compiled *compiled = context;
  return rf_tokenizer_open(compiled->api, spec, tokenizer, error);
}

static bool is_interrupted(void *context){
  const rf_compiled *compiled = context;
  return rf_interrupted(compiled->db) != 0;
}

/* Fills a zeroed object, but for its texts. */
static int fill(rf_compiled *made, const char *function, char **message){
  rf_error error;
  int rc;
  made->host = (rf_host){made, open_tokenizer, rf_tokenizer_close, is_interrupted};
  rc = rf_program_new(&rf_sqlite_memory, &made->host, made->text, made->spec_bytes,
                      made->text + made->spec_bytes, made->query_bytes, &made->program, &error);
  if( rc != SQLITE_OK && error.message[0] ){
    *message = sqlite3_mprintf("%s: %s", function, error.message);
    if( *message == 0 ) rc = SQLITE_NOMEM;
  }
  return rc;
}

/* ---- the cache --------------------------------------------------------------- */

struct rf_compiler {
  sqlite3 *db;
  fts5_api *api;
  rf_compiled *cached[CACHED]; /* newest first, NULL from the first free one on */
};

rf_compiler *rf_compiler_new(sqlite3 *db, fts5_api *api){
  rf_compiler *compiler = sqlite3_malloc64(sizeof(*compiler));
  if( compiler ){
    memset(compiler, 0, sizeof(*compiler));
    compiler->db = db;
    compiler->api = api;
  }
  return compiler;
}

void rf_compiler_free(void *freed){
  rf_compiler *compiler = freed;
  if( compiler == 0 ) return;
  for(int i = 0; i < CACHED; i++) rf_compiled_release(compiler->cached[i]);
  sqlite3_free(compiler);
}

static int is_query(
  const rf_compiled *compiled, const char *spec, int spec_bytes, const char *query,
  int query_bytes
){
  return compiled->query_bytes == query_bytes
      && (query_bytes == 0
          || memcmp(compiled->text + compiled->spec_bytes, query, (size_t)query_bytes) == 0)
      && rf_compiled_has_spec(compiled, spec, spec_bytes);
}

/* Moves the entry at `place` to the front; the others move back. */
static void to_front(rf_compiler *compiler, int place, rf_compiled *compiled){
  for(int i = place; i > 0; i--) compiler->cached[i] = compiler->cached[i - 1];
  compiler->cached[0] = compiled;
}

int rf_compiler_get(
  rf_compiler *compiler, const char *function, const char *spec, int spec_bytes,
  const char *query, int query_bytes, rf_compiled **compiled, char **message
){
  /* The query ends at a NUL byte, as in FTS5. */
  const char *nul = query_bytes > 0 ? memchr(query, 0, (size_t)query_bytes) : 0;
  rf_compiled *made;
  int place, rc;
  if( nul ) query_bytes = (int)(nul - query);
  *compiled = 0;
  *message = 0;
  for(place = 0; place < CACHED && compiler->cached[place]; place++){
    made = compiler->cached[place];
    if( !is_query(made, spec, spec_bytes, query, query_bytes) ) continue;
    to_front(compiler, place, made);
    rf_compiled_retain(made);
    *compiled = made;
    return SQLITE_OK;
  }
  made = sqlite3_malloc64(sizeof(*made) + (sqlite3_uint64)spec_bytes
                          + (sqlite3_uint64)query_bytes + 1);
  if( made == 0 ) return SQLITE_NOMEM;
  memset(made, 0, sizeof(*made));
  made->references = 1;
  made->db = compiler->db;
  made->spec_bytes = spec_bytes;
  made->query_bytes = query_bytes;
  if( spec_bytes > 0 ) memcpy(made->text, spec, (size_t)spec_bytes);
  if( query_bytes > 0 ) memcpy(made->text + spec_bytes, query, (size_t)query_bytes);
  made->text[spec_bytes + query_bytes] = 0;
  made->api = compiler->api;
  rc = fill(made, function, message);
  if( rc != SQLITE_OK ){
    rf_compiled_release(made);
    return rc;
  }
  if( place == CACHED ) rf_compiled_release(compiler->cached[--place]);
  to_front(compiler, place, made);
  rf_compiled_retain(made);
  *compiled = made;
  return SQLITE_OK;
}

/* ---- a call of a function ------------------------------------------------------ */

rf_compiled *rf_compiled_for(
  sqlite3_context *context, const char *function, int slot, const char *spec, int spec_bytes,
  sqlite3_value *query
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

int rf_register_functions(
  sqlite3 *db, fts5_api *api, const rf_function *functions, int count
){
  int rc = SQLITE_OK;
  for(int i = 0; rc == SQLITE_OK && i < count; i++){
    rf_compiler *compiler = rf_compiler_new(db, api);
    if( compiler == 0 ) return SQLITE_NOMEM;
    /* SQLite frees the compiler, also where it refuses the function. */
    rc = sqlite3_create_function_v2(db, functions[i].name, functions[i].arguments,
                                    SQLITE_UTF8 | SQLITE_INNOCUOUS, compiler,
                                    functions[i].function, 0, 0, rf_compiler_free);
  }
  return rc;
}
