/*
** Snippets, as snippet() of SQLite 3.54 makes them, on every host:
**
**   reasoning_snippet_text(query, text, open, close, ellipsis, tokens)
**   reasoning_snippet_columns(spec, query, open, close, ellipsis, tokens, column...)
**   reasoning_snippet(fts, columns, open, close, ellipsis, tokens)
**
** The first two need no table; where nothing matches they show the head of the
** first column with text. The last one is an FTS5 auxiliary function.
*/
#include <string.h>

#include "pure/snippet.h"
#include "rf.h"

#define MARKS 4 /* open, close, ellipsis, tokens */

/* ---- what all three share ------------------------------------------------------- */

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

/*
** Ends the call with a snippet, which is taken, or NULL where none is shown. On
** failure the text is freed, and nothing else done.
*/
static void finish(sqlite3_context *context, int rc, rf_text *text, bool shown){
  if( rc == SQLITE_OK && shown && text->bytes ){
    sqlite3_result_text64(context, text->bytes, text->length, sqlite3_free, SQLITE_UTF8);
    return;
  }
  if( rc == SQLITE_OK && shown ) sqlite3_result_text(context, "", 0, SQLITE_STATIC);
  rf_text_end(text);
}

/* ---- without a table -------------------------------------------------------------- */

/* Answers a call and ends it. */
static void show(sqlite3_context *context, rf_row_call *call, sqlite3_value **values){
  rf_snippet marks;
  rf_text text;
  bool shown = false;
  int rc;
  memset(&marks, 0, sizeof(marks));
  rf_text_begin(&text, &rf_sqlite_memory);
  rc = read_marks(values, sqlite3_context_db_handle(context), &marks);
  if( rc == SQLITE_OK ){
    rc = rf_snippet_of_row(call->compiled->program, &call->row, &marks, &text, &shown);
  }
  rf_row_call_end(call);
  finish(context, rc, &text, shown);
  if( rc != SQLITE_OK ) rf_result_error(context, rc, 0);
}

static void snippet_text(sqlite3_context *context, int count, sqlite3_value **values){
  rf_row_call call;
  (void)count;
  if( rf_row_call_text(context, "reasoning_snippet_text", values[0], values[1], &call) ){
    show(context, &call, &values[2]);
  }
}

static void snippet_columns(sqlite3_context *context, int count, sqlite3_value **values){
  const int columns = count - 2 - MARKS;
  rf_row_call call;
  if( columns < 1 ){
    sqlite3_result_error(context, "reasoning_snippet_columns: too few arguments; pass spec, query,"
                         " open, close, ellipsis, tokens and a value for each column", -1);
    return;
  }
  if( rf_row_call_columns(context, "reasoning_snippet_columns", values[0], values[1], columns,
                          &values[2 + MARKS], &call) ){
    show(context, &call, &values[2]);
  }
}

/* ---- of a table -------------------------------------------------------------------- */

typedef struct Table {
  const Fts5ExtensionApi *api;
  Fts5Context *fts;
  sqlite3 *db;
  const rf_column_set *set;
} Table;

/* The table's own tokenizer, with the locale of a column. */
typedef struct ColumnTokenizer {
  rf_tokenizer tokenizer;
  const Table *table;
  int column;
} ColumnTokenizer;

static int table_tokenize(
  void *context, int flags, const char *text, int bytes, void *callback_context,
  rf_token_callback callback
){
  const ColumnTokenizer *column = context;
  const Fts5ExtensionApi *api = column->table->api;
  Fts5Context *fts = column->table->fts;
  const char *locale = 0;
  int locale_bytes = 0, rc;
  (void)flags; /* FTS5 says by itself that an auxiliary function is asking */
  /* Hosts before 3.47 know no locales. */
  if( api->iVersion < 4 ) return api->xTokenize(fts, text, bytes, callback_context, callback);
  rc = api->xColumnLocale(fts, column->column, &locale, &locale_bytes);
  if( rc != SQLITE_OK ) return rc;
  return api->xTokenize_v2(fts, text, bytes, locale, locale_bytes, callback_context, callback);
}

/*
** The hits in the columns of the set, in FTS5's order: by column, token and phrase.
** *hits is the caller's, also on failure.
*/
static int table_hits(const Table *table, rf_snippet_hit **hits, int *count){
  const rf_column_set *set = table->set;
  int all, rc = table->api->xInstCount(table->fts, &all);
  *count = 0;
  *hits = 0;
  if( rc != SQLITE_OK || all == 0 ) return rc;
  *hits = sqlite3_malloc64(sizeof(**hits) * (sqlite3_uint64)all);
  if( *hits == 0 ) return SQLITE_NOMEM;
  for(int i = 0; rc == SQLITE_OK && i < all; i++){
    int phrase, column, token;
    rc = table->api->xInst(table->fts, i, &phrase, &column, &token);
    if( rc != SQLITE_OK ) break;
    if( column < 0 || column >= set->columns ) return SQLITE_CORRUPT_VTAB;
    if( set->place[column] < 0 ) continue;
    (*hits)[(*count)++] = (rf_snippet_hit){
      column, token, phrase, table->api->xPhraseSize(table->fts, phrase),
    };
  }
  return rc;
}

/* FTS5 takes a text that it had no memory to read for NULL, but SQLite remembers. */
static int table_text(const Table *table, rf_snippet_column *column){
  const int rc = table->api->xColumnText(table->fts, column->number, &column->text,
                                         &column->bytes);
  if( rc != SQLITE_OK || column->text ) return rc;
  return sqlite3_errcode(table->db) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/*
** The columns of the set, in the order of the table. Only what can be shown is read,
** the first column and those with hits: the others may be large.
*/
static int table_columns(
  const Table *table, const rf_snippet *snippet, rf_snippet_column *columns,
  ColumnTokenizer *tokenizers
){
  int hit = 0, at = 0, rc = SQLITE_OK;
  for(int i = 0; rc == SQLITE_OK && i < table->set->columns; i++){
    rf_snippet_column *column = &columns[at];
    bool wanted = at == 0;
    if( table->set->place[i] < 0 ) continue;
    for(; hit < snippet->hit_count && snippet->hit[hit].column == i; hit++) wanted = true;
    tokenizers[at] = (ColumnTokenizer){{&tokenizers[at], table_tokenize}, table, i};
    *column = (rf_snippet_column){i, 0, 0, 0, &tokenizers[at].tokenizer};
    at++;
    if( !wanted ) continue;
    rc = table_text(table, column);
    if( rc == SQLITE_OK ) rc = table->api->xColumnSize(table->fts, i, &column->tokens);
  }
  return rc;
}

/* Makes the snippet of the current row, as `snippet` says but for columns and hits. */
static int table_snippet(
  const Table *table, rf_snippet *snippet, rf_text *text, bool *shown
){
  const sqlite3_uint64 count = (sqlite3_uint64)table->set->count;
  rf_snippet_column *columns = sqlite3_malloc64(sizeof(*columns) * count);
  ColumnTokenizer *tokenizers = sqlite3_malloc64(sizeof(*tokenizers) * count);
  rf_snippet_hit *hits = 0;
  int rc = columns && tokenizers ? SQLITE_OK : SQLITE_NOMEM;
  if( rc == SQLITE_OK ) rc = table_hits(table, &hits, &snippet->hit_count);
  snippet->hit = hits;
  snippet->phrase_count = table->api->xPhraseCount(table->fts);
  snippet->column = columns;
  snippet->column_count = table->set->count;
  if( rc == SQLITE_OK ) rc = table_columns(table, snippet, columns, tokenizers);
  if( rc == SQLITE_OK ) rc = rf_snippet_make(&rf_sqlite_memory, snippet, text, shown);
  sqlite3_free(hits);
  sqlite3_free(tokenizers);
  sqlite3_free(columns);
  return rc;
}

static void snippet_auxiliary(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context, int count,
  sqlite3_value **values
){
  static const char function[] = "reasoning_snippet";
  sqlite3 *db = sqlite3_context_db_handle(context);
  rf_column_set *set = 0;
  rf_snippet snippet;
  rf_text text;
  bool shown = false;
  char *message = 0;
  int rc;
  if( count != 1 + MARKS ){
    sqlite3_result_error(context, "reasoning_snippet: pass the table, a column set, open, close,"
                         " ellipsis and tokens", -1);
    return;
  }
  memset(&snippet, 0, sizeof(snippet));
  rf_text_begin(&text, &rf_sqlite_memory);
  rc = rf_column_set_parse(function, values[0], api->xColumnCount(fts), &set, &message);
  if( rc == SQLITE_OK ) rc = read_marks(&values[1], db, &snippet);
  if( rc == SQLITE_OK ){
    const Table table = {api, fts, db, set};
    rc = table_snippet(&table, &snippet, &text, &shown);
  }
  sqlite3_free(set);
  finish(context, rc, &text, shown);
  if( rc == SQLITE_CORRUPT_VTAB ){
    message = sqlite3_mprintf(
        "%s: the index does not belong to the row's content, or the table is contentless with"
        " columnsize=0; rebuild the index, or use a table that knows how long its columns are",
        function);
    if( message == 0 ) rc = SQLITE_NOMEM;
  }
  if( rc != SQLITE_OK ) rf_result_error(context, rc, message);
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
