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

/* Tokens between two looks at sqlite3_interrupt(): about 1 MB of text. */
#define POLL_TOKENS 100000

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
  rf_prefilter_free(compiled->prefilter);
  rf_matcher_free(compiled->matcher);
  rf_query_free(compiled->query);
  rf_tokenizer_close(&compiled->tokenizer);
  rf_spec_free(compiled->spec);
  sqlite3_free(compiled->tokens);
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

/* Puts the name of the function before a reason, which it frees. */
static char *named(const char *function, const char *argument, const char *reason){
  return sqlite3_mprintf("%s: %s%s", function, argument, reason);
}

/* Fills a zeroed object; what is made stays in it also on failure. */
static int fill(
  rf_compiled *made, fts5_api *api, const char *function, char **message
){
  const char *query = made->text + made->spec_bytes;
  rf_error error;
  char *reason = 0;
  int rc = rf_spec_parse(&rf_sqlite_memory, made->text, made->spec_bytes, &made->spec, &error);
  if( rc == SQLITE_ERROR ) *message = named(function, "spec: ", error.message);
  if( rc == SQLITE_OK ){
    rc = rf_tokenizer_open(api, made->spec, &made->tokenizer, &reason);
    if( reason ) *message = named(function, "spec: ", reason);
    if( reason && *message == 0 ) rc = SQLITE_NOMEM;
    sqlite3_free(reason);
    if( rc != SQLITE_OK ) return rc;
    made->tokens = sqlite3_malloc64(sizeof(int) * (sqlite3_uint64)made->spec->columns.count);
    if( made->tokens == 0 ) return SQLITE_NOMEM;
    error.message[0] = 0;
    rc = rf_query_parse(&rf_sqlite_memory, query, made->query_bytes, &made->spec->columns,
                        &made->tokenizer, &made->query, &error);
    if( rc == SQLITE_ERROR && error.message[0] ) *message = named(function, "", error.message);
  }
  if( rc == SQLITE_ERROR && error.message[0] && *message == 0 ) rc = SQLITE_NOMEM;
  if( rc == SQLITE_OK ) rc = rf_matcher_new(&rf_sqlite_memory, made->query, &made->matcher);
  if( rc == SQLITE_OK ){
    rc = rf_prefilter_new(&rf_sqlite_memory, made->query, made->spec->columns.count,
                          made->spec->tokenizer_count, made->spec->tokenizer,
                          &made->prefilter);
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
  rc = fill(made, compiler->api, function, message);
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

/* ---- rows ---------------------------------------------------------------------- */

static int token(
  void *context, int flags, const char *bytes, int length, int start, int end
){
  rf_compiled *compiled = context;
  if( ++compiled->polled >= POLL_TOKENS ){
    compiled->polled = 0;
    if( rf_interrupted(compiled->db) ) return SQLITE_INTERRUPT;
  }
  return rf_matcher_token(compiled->matcher, flags, bytes, length, start, end);
}

int rf_compiled_read(rf_compiled *compiled, const rf_row *row){
  const rf_columns *columns = &compiled->spec->columns;
  int rc = SQLITE_OK;
  rf_matcher_begin(compiled->matcher);
  for(int i = 0; rc == SQLITE_OK && i < row->count; i++){
    int64_t before;
    compiled->tokens[i] = 0;
    if( row->text[i] == 0 || columns->unindexed[i] ) continue;
    rf_matcher_column(compiled->matcher, i);
    before = rf_matcher_tokens(compiled->matcher);
    rc = compiled->tokenizer.tokenize(compiled->tokenizer.context, RF_TOKENIZE_DOCUMENT,
                                      row->text[i], row->bytes[i], compiled, token);
    compiled->tokens[i] = (int)(rf_matcher_tokens(compiled->matcher) - before);
  }
  return rc;
}

int rf_compiled_match(rf_compiled *compiled, const rf_row *row, int hits, int *matches){
  bool verdict = false;
  int rc;
  *matches = 0;
  if( compiled->prefilter && !rf_prefilter_may_match(compiled->prefilter, row) ){
    return SQLITE_OK;
  }
  rc = rf_compiled_read(compiled, row);
  if( rc == SQLITE_OK ) rc = rf_matcher_finish(compiled->matcher, hits != 0, &verdict);
  *matches = verdict;
  return rc;
}

/* ---- values ---------------------------------------------------------------------- */

int rf_value_text(sqlite3_value *value, const char **text, int *bytes){
  *text = 0;
  *bytes = 0;
  if( sqlite3_value_type(value) == SQLITE_NULL ) return SQLITE_OK;
  *text = (const char *)sqlite3_value_text(value);
  *bytes = sqlite3_value_bytes(value);
  if( *text == 0 ){
    /* An empty blob has no address; otherwise the conversion ran out of memory. */
    if( sqlite3_value_type(value) != SQLITE_BLOB || *bytes != 0 ) return SQLITE_NOMEM;
    *text = "";
  }
  return SQLITE_OK;
}

void rf_result_error(sqlite3_context *context, int rc, char *message){
  if( rc == SQLITE_NOMEM ){
    sqlite3_result_error_nomem(context);
  }else if( message ){
    sqlite3_result_error(context, message, -1);
    if( rc != SQLITE_ERROR ) sqlite3_result_error_code(context, rc);
  }else{
    sqlite3_result_error_code(context, rc);
  }
  sqlite3_free(message);
}
