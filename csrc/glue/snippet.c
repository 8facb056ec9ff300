/*
** Snippets, as snippet() of SQLite 3.54 makes them, on every host:
**
**   reasoning_snippet_text(query, text, open, close, ellipsis, tokens)
**   reasoning_snippet_columns(spec, query, open, close, ellipsis, tokens, column...)
**   reasoning_snippet(fts, columns, open, close, ellipsis, tokens)
**
** The first two need no table; where nothing matches they show the head of the
** first column. The last one is an FTS5 auxiliary function.
*/
#include <string.h>

#include "pure/snippet.h"
#include "rf.h"

#define MARKS 4 /* open, close, ellipsis, tokens */

/* ---- what all three share ------------------------------------------------------- */

static int poll(void *db){
  return rf_interrupted(db) ? SQLITE_INTERRUPT : SQLITE_OK;
}

/* A mark as FTS5 takes it: NULL is empty, and it ends at a NUL byte. */
static int read_mark(sqlite3_value *value, rf_snippet_mark *mark){
  const char *text;
  int bytes;
  int rc = rf_value_text(value, &text, &bytes);
  mark->text = text ? text : "";
  mark->bytes = text ? (int)strlen(text) : 0;
  return rc;
}

static int read_marks(sqlite3_value **values, sqlite3 *db, rf_snippet *snippet){
  const sqlite3_int64 tokens = sqlite3_value_int64(values[3]);
  int rc = read_mark(values[0], &snippet->open);
  if( rc == SQLITE_OK ) rc = read_mark(values[1], &snippet->close);
  if( rc == SQLITE_OK ) rc = read_mark(values[2], &snippet->ellipsis);
  snippet->tokens = tokens < 0 ? 0 : tokens > RF_SNIPPET_TOKENS ? RF_SNIPPET_TOKENS : (int)tokens;
  snippet->poll = poll;
  snippet->poll_context = db;
  return rc;
}

/* Ends the call with a snippet, which is freed here, or the error of making it. */
static void finish(sqlite3_context *context, int rc, rf_text *text, bool shown){
  if( rc == SQLITE_OK && shown && text->bytes ){
    sqlite3_result_text64(context, text->bytes, text->length, sqlite3_free, SQLITE_UTF8);
    return;
  }
  if( rc == SQLITE_OK && shown ) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
  rf_text_end(text);
  /* A hit behind the end of its column: the table does not belong to its index. */
  if( rc != SQLITE_OK ) rf_result_error(context, rc == SQLITE_ERROR ? SQLITE_CORRUPT_VTAB : rc, 0);
}

/* ---- without a table -------------------------------------------------------------- */

/* Gives the call its snippet of a row, or its error. */
static void show(
  sqlite3_context *context, rf_program *program, const rf_row *row, sqlite3_value **values
){
  rf_snippet marks;
  rf_text text;
  bool shown = false;
  int rc;
  memset(&marks, 0, sizeof(marks));
  rf_text_begin(&text, &rf_sqlite_memory);
  rc = read_marks(values, sqlite3_context_db_handle(context), &marks);
  if( rc == SQLITE_OK ) rc = rf_snippet_of_row(program, row, &marks, &text, &shown);
  finish(context, rc, &text, shown);
}

/* Whether an argument is NULL, which is an error. */
static bool is_missing(
  sqlite3_context *context, const char *function, const char *name, sqlite3_value *value
){
  if( sqlite3_value_type(value) != SQLITE_NULL ) return false;
  rf_result_error(context, SQLITE_ERROR,
                  sqlite3_mprintf("%s: the %s is NULL; pass a text", function, name));
  return true;
}

static void snippet_text(sqlite3_context *context, int count, sqlite3_value **values){
  static const char function[] = "reasoning_snippet_text";
  rf_compiled *compiled;
  const char *text;
  int bytes, rc;
  (void)count;
  if( is_missing(context, function, "query", values[0]) ) return;
  if( sqlite3_value_type(values[1]) == SQLITE_NULL ) return;
  rc = rf_value_text(values[1], &text, &bytes);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
    return;
  }
  compiled = rf_compiled_for(context, function, 0, "text", 4, values[0]);
  if( compiled == 0 ) return;
  const rf_row row = {1, &text, &bytes};
  show(context, compiled->program, &row, &values[2]);
  rf_compiled_release(compiled);
}

static void snippet_columns(sqlite3_context *context, int count, sqlite3_value **values){
  static const char function[] = "reasoning_snippet_columns";
  const int columns = count - 2 - MARKS;
  rf_compiled *compiled;
  rf_values read;
  const char *spec;
  int bytes, rc;
  if( columns < 1 ){
    sqlite3_result_error(context, "reasoning_snippet_columns: too few arguments; pass spec, query,"
                         " open, close, ellipsis, tokens and a value for each column", -1);
    return;
  }
  if( is_missing(context, function, "spec", values[0]) ) return;
  if( is_missing(context, function, "query", values[1]) ) return;
  rc = rf_value_text(values[0], &spec, &bytes);
  if( rc != SQLITE_OK ){
    rf_result_error(context, rc, 0);
    return;
  }
  compiled = rf_compiled_for(context, function, 1, spec, bytes, values[1]);
  if( compiled == 0 ) return;
  if( compiled->program->spec->columns.count != columns ){
    rf_result_error(context, SQLITE_ERROR, sqlite3_mprintf(
        "%s: the spec has %d columns, and %d values are given; pass one a column", function,
        compiled->program->spec->columns.count, columns));
    rf_compiled_release(compiled);
    return;
  }
  rc = rf_values_read(columns, &values[2 + MARKS], &read);
  if( rc == SQLITE_OK ){
    const rf_row row = {columns, read.text, read.bytes};
    show(context, compiled->program, &row, &values[2]);
  }else{
    rf_result_error(context, rc, 0);
  }
  rf_values_free(&read);
  rf_compiled_release(compiled);
}

/* ---- of a table -------------------------------------------------------------------- */

typedef struct Table {
  const Fts5ExtensionApi *api;
  Fts5Context *fts;
} Table;

static int table_tokenize(
  void *context, int flags, const char *text, int bytes, void *callback_context,
  rf_token_callback callback
){
  const Table *table = context;
  (void)flags; /* FTS5 says by itself that an auxiliary function is asking */
  return table->api->xTokenize(table->fts, text, bytes, callback_context, callback);
}

/* The hits in the columns of the set, in FTS5's order: by column, token and phrase. */
static int table_hits(
  const Table *table, const rf_column_set *set, rf_snippet_hit **hits, int *count
){
  int all, rc = table->api->xInstCount(table->fts, &all);
  *count = 0;
  *hits = 0;
  if( rc != SQLITE_OK || all == 0 ) return rc;
  *hits = sqlite3_malloc64(sizeof(**hits) * (sqlite3_uint64)all);
  if( *hits == 0 ) return SQLITE_NOMEM;
  for(int i = 0; rc == SQLITE_OK && i < all; i++){
    int phrase, column, token;
    rc = table->api->xInst(table->fts, i, &phrase, &column, &token);
    if( rc != SQLITE_OK || set->place[column] < 0 ) continue;
    (*hits)[(*count)++] = (rf_snippet_hit){
      column, token, phrase, table->api->xPhraseSize(table->fts, phrase),
    };
  }
  return rc;
}

static int table_columns(
  const Table *table, const rf_column_set *set, const rf_tokenizer *tokenizer,
  rf_snippet_column *columns
){
  int rc = SQLITE_OK, at = 0;
  for(int i = 0; rc == SQLITE_OK && i < set->columns; i++){
    rf_snippet_column *column = &columns[at];
    if( set->place[i] < 0 ) continue;
    column->number = i;
    column->tokenizer = tokenizer;
    rc = table->api->xColumnText(table->fts, i, &column->text, &column->bytes);
    if( rc == SQLITE_OK ) rc = table->api->xColumnSize(table->fts, i, &column->tokens);
    at++;
  }
  return rc;
}

static void snippet_auxiliary(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
  sqlite3_value **values
){
  static const char function[] = "reasoning_snippet";
  Table table = {api, fts};
  const rf_tokenizer tokenizer = {&table, table_tokenize};
  rf_column_set *set = 0;
  rf_snippet_column *columns = 0;
  rf_snippet_hit *hits = 0;
  rf_snippet snippet;
  rf_text text;
  bool shown = false;
  char *message = 0;
  int rc;
  memset(&snippet, 0, sizeof(snippet));
  if( count != 1 + MARKS ){
    sqlite3_result_error(context, "reasoning_snippet: pass the table, a column set, open, close,"
                         " ellipsis and tokens", -1);
    return;
  }
  rc = rf_column_set_parse(function, values[0], api->xColumnCount(fts), &set, &message);
  if( rc == SQLITE_OK ){
    const sqlite3_uint64 room = sizeof(*columns) * (sqlite3_uint64)set->count;
    columns = sqlite3_malloc64(room);
    if( columns ) memset(columns, 0, (size_t)room);
    rc = columns ? read_marks(&values[1], sqlite3_context_db_handle(context), &snippet)
                 : SQLITE_NOMEM;
  }
  if( rc == SQLITE_OK ) rc = table_columns(&table, set, &tokenizer, columns);
  if( rc == SQLITE_OK ) rc = table_hits(&table, set, &hits, &snippet.hit_count);
  if( rc == SQLITE_OK ){
    snippet.column_count = set->count;
    snippet.column = columns;
    snippet.hit = hits;
    snippet.phrase_count = api->xPhraseCount(fts);
    rf_text_begin(&text, &rf_sqlite_memory);
    rc = rf_snippet_make(&rf_sqlite_memory, &snippet, &text, &shown);
    finish(context, rc, &text, shown);
  }else{
    rf_result_error(context, rc, message);
  }
  sqlite3_free(hits);
  sqlite3_free(columns);
  sqlite3_free(set);
}

/* ---- registration -------------------------------------------------------------------- */

int rf_register_snippet(sqlite3 *db, fts5_api *api){
  static const rf_function functions[] = {
    {"reasoning_snippet_text", 2 + MARKS, snippet_text},
    {"reasoning_snippet_columns", -1, snippet_columns},
  };
  int rc = api->xCreateFunction(api, "reasoning_snippet", 0, snippet_auxiliary, 0);
  return rc == SQLITE_OK ? rf_register_functions(db, api, functions, 2) : rc;
}
