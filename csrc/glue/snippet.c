/*
** Snippets as SQL functions:
**
**   reasoning_snippet_text(query, text, shape...)               of a text
**   reasoning_snippet_columns(spec, query, shape..., column...) of a row of several columns
**   reasoning_snippet(fts, columns, shape...)                   of a row of an FTS5 table,
**                                                               an auxiliary function
**
** where the shape is what snippet() takes: open, close, ellipsis, tokens. What is
** shown is made by pure/snippet.c; here are the hits and the texts it is made of.
**
** The scalar functions show the head of a row in which nothing matches. They depend
** on the tokenizers of the connection, so they are not deterministic in SQLite's
** sense.
*/
#include <string.h>

#include "glue/auxiliary.h"

/* The values of a shape. */
#define SHAPE 4

static int poll(void *db){
  return rf_interrupted(db) ? SQLITE_INTERRUPT : SQLITE_OK;
}

/* Reads a mark as snippet() does: NULL is empty, and a NUL byte ends it. */
static int read_mark(sqlite3_value *value, rf_snippet_mark *mark){
  const char *nul;
  const int rc = rf_value_text(value, &mark->text, &mark->bytes);
  if( rc != SQLITE_OK || mark->bytes == 0 ) return rc;
  nul = memchr(mark->text, 0, (size_t)mark->bytes);
  if( nul ) mark->bytes = (int)(nul - mark->text);
  return SQLITE_OK;
}

/* Begins a snippet with its shape; its marks belong to the values. */
static int read_shape(
  sqlite3_context *context, sqlite3_value **values, rf_snippet *snippet
){
  const sqlite3_int64 tokens = sqlite3_value_int64(values[3]);
  int rc;
  memset(snippet, 0, sizeof(*snippet));
  snippet->tokens = tokens < 0 ? 0 : tokens > RF_SNIPPET_TOKENS ? RF_SNIPPET_TOKENS : (int)tokens;
  snippet->poll = poll;
  snippet->poll_context = sqlite3_context_db_handle(context);
  rc = read_mark(values[0], &snippet->open);
  if( rc == SQLITE_OK ) rc = read_mark(values[1], &snippet->close);
  if( rc == SQLITE_OK ) rc = read_mark(values[2], &snippet->ellipsis);
  return rc;
}

/* Ends a function with its snippet, with NULL where the column to show has no text. */
static int show(sqlite3_context *context, const rf_snippet *snippet){
  rf_text text;
  bool shown;
  int rc;
  rf_text_begin(&text, &rf_sqlite_memory);
  rc = rf_snippet_make(&rf_sqlite_memory, snippet, &text, &shown);
  if( rc != SQLITE_OK || text.bytes == 0 ){
    rf_text_end(&text);
    if( rc == SQLITE_OK && shown ) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
    return rc;
  }
  /* The text now belongs to SQLite. */
  sqlite3_result_text64(context, text.bytes, text.length, sqlite3_free, SQLITE_UTF8);
  return SQLITE_OK;
}

/* ---- scalar functions ---------------------------------------------------------- */

/* Of a row in which nothing matches: its first indexed column that is not empty. */
static int head_column(const rf_row_call *call){
  const rf_row *row = &call->row;
  for(int i = 0; i < row->count; i++){
    if( row->bytes[i] > 0 && !call->compiled->spec->columns.unindexed[i] ) return i;
  }
  return -1;
}

/* Fills the columns of a snippet, `room` for as many as the row has. */
static void show_columns(
  const rf_row_call *call, bool matches, rf_snippet_column *room, rf_snippet *snippet
){
  const rf_row *row = &call->row;
  const rf_tokenizer *tokenizer = &call->compiled->tokenizer;
  snippet->column = room;
  if( !matches ){
    const int i = head_column(call);
    snippet->column_count = 1;
    room[0] = i < 0 ? (rf_snippet_column){0, "", 0, 0, tokenizer}
                    : (rf_snippet_column){i, row->text[i], row->bytes[i], -1, tokenizer};
    return;
  }
  snippet->column_count = row->count;
  for(int i = 0; i < row->count; i++){
    room[i] = (rf_snippet_column){
      i, row->text[i], row->bytes[i], call->compiled->tokens[i], tokenizer,
    };
  }
}

/* Answers a call and ends it. */
static void finish(sqlite3_context *context, rf_row_call *call, sqlite3_value **shape){
  rf_compiled *compiled = call->compiled;
  rf_snippet snippet;
  rf_snippet_column *columns = 0;
  rf_snippet_hit *hits = 0;
  int matches = 0;
  int rc = read_shape(context, shape, &snippet);
  if( rc == SQLITE_OK ) rc = rf_compiled_match(compiled, &call->row, 1, &matches);
  if( rc == SQLITE_OK && matches ){
    snippet.phrase_count = compiled->query->phrase_count;
    rc = rf_snippet_hits(&rf_sqlite_memory, compiled->matcher, snippet.phrase_count, &hits,
                         &snippet.hit_count);
    snippet.hit = hits;
  }
  if( rc == SQLITE_OK ){
    columns = sqlite3_malloc64(sizeof(*columns) * (sqlite3_uint64)call->row.count);
    if( columns == 0 ) rc = SQLITE_NOMEM;
  }
  if( rc == SQLITE_OK ){
    show_columns(call, matches, columns, &snippet);
    rc = show(context, &snippet);
  }
  sqlite3_free(columns);
  sqlite3_free(hits);
  rf_row_call_end(call);
  if( rc != SQLITE_OK ) rf_result_error(context, rc, 0);
}

static void snippet_text(sqlite3_context *context, int count, sqlite3_value **values){
  rf_row_call call;
  (void)count;
  if( rf_row_call_text(context, "reasoning_snippet_text", values[0], values[1], &call) ){
    finish(context, &call, &values[2]);
  }
}

static void snippet_columns(sqlite3_context *context, int count, sqlite3_value **values){
  rf_row_call call;
  if( count < 3 + SHAPE ){
    sqlite3_result_error(context, "reasoning_snippet_columns: too few arguments; pass the spec,"
                         " the query, open, close, ellipsis, tokens and a value for each column"
                         " of the spec", -1);
    return;
  }
  if( rf_row_call_columns(context, "reasoning_snippet_columns", values[0], values[1],
                          count - 2 - SHAPE, &values[2 + SHAPE], &call) ){
    finish(context, &call, &values[2]);
  }
}

/* ---- the auxiliary function ------------------------------------------------------ */

/* A tokenizer of the pure layer: the table's own, with the locale of a column. */
typedef struct ColumnTokenizer {
  rf_tokenizer tokenizer;
  const rf_fts_call *call;
  int column;
} ColumnTokenizer;

static int tokenize(
  void *context, int flags, const char *text, int bytes, void *callback_context,
  rf_token_callback callback
){
  const ColumnTokenizer *column = context;
  const Fts5ExtensionApi *api = column->call->api;
  Fts5Context *fts = column->call->fts;
  const char *locale = 0;
  int locale_bytes = 0, rc;
  (void)flags; /* FTS5 sets them itself */
  /* Hosts before 3.47 know no locales. */
  if( api->iVersion < 4 ) return api->xTokenize(fts, text, bytes, callback_context, callback);
  rc = api->xColumnLocale(fts, column->column, &locale, &locale_bytes);
  if( rc != SQLITE_OK ) return rc;
  return api->xTokenize_v2(fts, text, bytes, locale, locale_bytes, callback_context, callback);
}

/* Reads the hits of the current row within the set; the caller frees *hits. */
static int read_hits(const rf_fts_call *call, const rf_column_set *set, rf_snippet *snippet,
                     rf_snippet_hit **hits){
  int count = 0, rc;
  *hits = 0;
  snippet->phrase_count = call->api->xPhraseCount(call->fts);
  /* Without a MATCH there is no phrase, and not every FTS5 may be asked for hits. */
  if( snippet->phrase_count == 0 ) return SQLITE_OK;
  rc = call->api->xInstCount(call->fts, &count);
  if( rc != SQLITE_OK || count == 0 ) return rc;
  *hits = sqlite3_malloc64(sizeof(**hits) * (sqlite3_uint64)count);
  if( *hits == 0 ) return SQLITE_NOMEM;
  snippet->hit = *hits;
  for(int i = 0; i < count; i++){
    rf_snippet_hit hit;
    rc = call->api->xInst(call->fts, i, &hit.phrase, &hit.column, &hit.token);
    if( rc != SQLITE_OK ) return rc;
    if( hit.column < 0 || hit.column >= set->columns ) return SQLITE_CORRUPT_VTAB;
    if( set->place[hit.column] < 0 ) continue;
    hit.tokens = call->api->xPhraseSize(call->fts, hit.phrase);
    (*hits)[snippet->hit_count++] = hit;
  }
  return SQLITE_OK;
}

/*
** Reads the set into `columns`. Only texts that can be shown are read, those of the
** columns with hits and of the first one; the others can be large.
*/
static int read_columns(
  const rf_fts_call *call, const rf_column_set *set, rf_snippet *snippet,
  rf_snippet_column *columns, ColumnTokenizer *tokenizers
){
  snippet->column = columns;
  snippet->column_count = set->count;
  for(int i = 0; i < set->count; i++){
    tokenizers[i] = (ColumnTokenizer){{&tokenizers[i], tokenize}, call, set->column[i]};
    columns[i] = (rf_snippet_column){set->column[i], 0, 0, 0, 0};
  }
  columns[0].tokenizer = &tokenizers[0].tokenizer;
  for(int i = 0; i < snippet->hit_count; i++){
    const int place = set->place[snippet->hit[i].column];
    columns[place].tokenizer = &tokenizers[place].tokenizer;
  }
  for(int i = 0; i < set->count; i++){
    rf_snippet_column *column = &columns[i];
    int rc;
    if( column->tokenizer == 0 ) continue;
    rc = rf_fts_column_text(call, column->number, &column->text, &column->bytes);
    if( rc == SQLITE_OK ){
      rc = call->api->xColumnSize(call->fts, column->number, &column->tokens);
    }
    if( rc != SQLITE_OK ) return rc;
  }
  return SQLITE_OK;
}

static int snippet_of_row(
  const rf_fts_call *call, const rf_column_set *set, rf_snippet *snippet
){
  rf_snippet_hit *hits = 0;
  rf_snippet_column *columns = 0;
  ColumnTokenizer *tokenizers = 0;
  int rc = read_hits(call, set, snippet, &hits);
  if( rc == SQLITE_OK ){
    const sqlite3_uint64 count = (sqlite3_uint64)set->count;
    columns = sqlite3_malloc64(count * sizeof(*columns));
    tokenizers = sqlite3_malloc64(count * sizeof(*tokenizers));
    if( columns == 0 || tokenizers == 0 ) rc = SQLITE_NOMEM;
  }
  if( rc == SQLITE_OK ) rc = read_columns(call, set, snippet, columns, tokenizers);
  if( rc == SQLITE_OK ) rc = show(call->context, snippet);
  sqlite3_free(tokenizers);
  sqlite3_free(columns);
  sqlite3_free(hits);
  return rc;
}

static void snippet_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const rf_fts_call call = {api, fts, context, "reasoning_snippet"};
  rf_scope *scope;
  rf_snippet snippet;
  char *message = 0;
  int rc = rf_scope_of(&call, count, values, &scope, &message);
  if( rc == SQLITE_OK && count != 1 + SHAPE ){
    message = sqlite3_mprintf(
        "%s: %d arguments, 6 are wanted: the table, its columns, open, close, ellipsis and"
        " tokens", call.function, count + 1);
    rc = message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if( rc == SQLITE_OK ) rc = read_shape(context, &values[1], &snippet);
  if( rc == SQLITE_OK ) rc = snippet_of_row(&call, scope->set, &snippet);
  if( rc == SQLITE_CORRUPT_VTAB ){
    message = sqlite3_mprintf(
        "%s: the index does not belong to the row's content, or the table is contentless with"
        " columnsize=0; rebuild the index, or use a table that knows how long its columns are",
        call.function);
    if( message == 0 ) rc = SQLITE_NOMEM;
  }
  if( rc != SQLITE_OK ) rf_result_error(context, rc, message);
}

int rf_register_snippet(sqlite3 *db, fts5_api *api){
  static const rf_scalar scalars[] = {
    {"reasoning_snippet_text", 2 + SHAPE, snippet_text},
    {"reasoning_snippet_columns", -1, snippet_columns},
  };
  const int rc = rf_register_scalars(db, api, sizeof(scalars) / sizeof(scalars[0]), scalars);
  if( rc != SQLITE_OK ) return rc;
  return api->xCreateFunction(api, "reasoning_snippet", 0, snippet_function, 0);
}
