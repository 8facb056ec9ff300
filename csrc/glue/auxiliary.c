/*
** FTS5 auxiliary functions over a set of columns:
**
**   reasoning_bm25(fts, columns, weight...)            bm25() of the table reduced to the columns
**   reasoning_bm25_rows(fts, columns, rows, weight...) the same, had the table `rows` rows
**   reasoning_origin(fts, columns)                     'thought', 'said' or 'both'
**   reasoning_counts(fts, columns)                     length and hits of the row, as int32
**   reasoning_tokens(fts, columns)                     the length of all rows together
**
** FTS5 gives an auxiliary function one slot of data a cursor. It holds a short
** list here, so that one statement may call a function for several sets.
**
** Only slots of Fts5ExtensionApi up to version 2 are used, which all supported
** hosts have. Nothing but integers and FTS5's own iterators is read from it, so
** no tokenizer and no column text, but for the tables that keep no positions.
*/
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "pure/bm25.h"
#include "rf.h"

/* Column sets that one cursor keeps for one function; more make it count again. */
#define MAX_SETS 16

/* Rows between two looks at sqlite3_interrupt(). */
#define POLL_ROWS 1024

/* What is known of one set of columns for one query. */
typedef struct Scope Scope;
struct Scope {
  Scope *next;
  char *key;              /* the text of `columns`, the value that `set` is made of */
  int key_bytes;
  rf_column_set *set;
  int phrases;
  int counted;            /* rows, tokens and hits are filled */
  sqlite3_int64 rows;     /* rows of the table */
  sqlite3_int64 tokens;   /* tokens of all rows within the set */
  sqlite3_int64 idf_rows; /* the number of rows that idf was made for, 0 for none */
  sqlite3_int64 *hits;    /* for each phrase the rows with a hit within the set */
  double *idf;            /* for each phrase */
  double *frequency;      /* room for the current row, for each phrase */
  double *weight;         /* room for the current call, for each column of the set */
};

/* The slot of a cursor: owns the scopes, newest first. */
typedef struct Scopes {
  Scope *first;
} Scopes;

/* One call: what every helper below needs. */
typedef struct Call {
  const Fts5ExtensionApi *api;
  Fts5Context *fts;
  sqlite3_context *context;
  const char *function;
} Call;

static void scope_free(Scope *scope){
  if( scope == 0 ) return;
  sqlite3_free(scope->key);
  sqlite3_free(scope->set);
  sqlite3_free(scope->hits);
  sqlite3_free(scope);
}

static void scopes_free(void *pointer){
  Scopes *scopes = pointer;
  while( scopes->first ){
    Scope *scope = scopes->first;
    scopes->first = scope->next;
    scope_free(scope);
  }
  sqlite3_free(scopes);
}

/* Ends a call with an error: `message`, which is freed here, or else the code. */
static void result_failure(const Call *call, int rc, char *message){
  if( message ){
    sqlite3_result_error(call->context, message, -1);
    sqlite3_free(message);
  }else{
    sqlite3_result_error_code(call->context, rc);
  }
}

/* The slot of the cursor, made at the first call. NULL when out of memory. */
static Scopes *scopes_of(const Call *call){
  Scopes *scopes = call->api->xGetAuxdata(call->fts, 0);
  if( scopes == 0 ){
    scopes = sqlite3_malloc64(sizeof(*scopes));
    if( scopes == 0 ) return 0;
    scopes->first = 0;
    /* On failure FTS5 has run the destructor already. */
    if( call->api->xSetAuxdata(call->fts, scopes, scopes_free) != SQLITE_OK ) return 0;
  }
  return scopes;
}

/*
** Adds a scope for the set that `columns` names, dropping the oldest of too many.
** The text is that of the set; where `columns` is no set it is NULL.
*/
static int scope_add(
  const Call *call, Scopes *scopes, sqlite3_value *columns, const char *text, int bytes,
  Scope **out, char **message
){
  Scope *scope = sqlite3_malloc64(sizeof(*scope));
  Scope **link = &scopes->first;
  sqlite3_uint64 phrases, weights;
  int rc, kept = 0;

  if( scope == 0 ) return SQLITE_NOMEM;
  memset(scope, 0, sizeof(*scope));
  scope->phrases = call->api->xPhraseCount(call->fts);
  rc = rf_column_set_parse(
      call->function, columns, call->api->xColumnCount(call->fts), &scope->set, message);
  if( rc == SQLITE_OK ){
    scope->key_bytes = bytes;
    scope->key = sqlite3_malloc64((sqlite3_uint64)scope->key_bytes + 1);
    phrases = (sqlite3_uint64)scope->phrases;
    weights = (sqlite3_uint64)scope->set->count;
    scope->hits = sqlite3_malloc64(
        phrases * (sizeof(sqlite3_int64) + 2 * sizeof(double)) + weights * sizeof(double));
    if( scope->key == 0 || scope->hits == 0 ){
      rc = SQLITE_NOMEM;
    }else{
      memcpy(scope->key, text, (size_t)scope->key_bytes);
      scope->idf = (double *)&scope->hits[phrases];
      scope->frequency = &scope->idf[phrases];
      scope->weight = &scope->frequency[phrases];
    }
  }
  if( rc != SQLITE_OK ){
    scope_free(scope);
    return rc;
  }
  while( *link && ++kept < MAX_SETS ) link = &(*link)->next;
  scope_free(*link);
  *link = 0;
  scope->next = scopes->first;
  scopes->first = scope;
  *out = scope;
  return SQLITE_OK;
}

/* The scope of the first argument, from the slot or new. */
static int scope_of(
  const Call *call, int count, sqlite3_value **values, Scope **out, char **message
){
  rf_column_set_digits digits;
  Scopes *scopes;
  const char *text;
  int bytes, rc;

  *out = 0;
  if( count < 1 ){
    *message = sqlite3_mprintf(
        "%s: the second argument, a text of zero-based column numbers such as '0 1', is"
        " missing", call->function);
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  scopes = scopes_of(call);
  if( scopes == 0 ) return SQLITE_NOMEM;
  rc = rf_column_set_text(values[0], &digits, &text, &bytes);
  if( rc != SQLITE_OK ) return rc;
  for(Scope *scope = text ? scopes->first : 0; scope; scope = scope->next){
    if( scope->key_bytes == bytes && memcmp(scope->key, text, (size_t)bytes) == 0 ){
      *out = scope;
      return SQLITE_OK;
    }
  }
  return scope_add(call, scopes, values[0], text, bytes, out, message);
}

/* What the counting of one phrase's rows needs. */
typedef struct Counting {
  const rf_column_set *set;
  sqlite3 *db;
  sqlite3_int64 seen;
  sqlite3_int64 hits;
} Counting;

/* Called by FTS5 for each row that has the phrase, as phrase 0 of its own query. */
static int count_row(const Fts5ExtensionApi *api, Fts5Context *fts, void *pointer){
  Counting *counting = pointer;
  const rf_column_set *set = counting->set;
  Fts5PhraseIter iterator;
  int column, rc;

  if( ++counting->seen % POLL_ROWS == 0 && rf_interrupted(counting->db) ){
    return SQLITE_INTERRUPT;
  }
  if( set->count == set->columns ){
    counting->hits++;
    return SQLITE_OK;
  }
  rc = api->xPhraseFirstColumn(fts, 0, &iterator, &column);
  while( rc == SQLITE_OK && column >= 0 ){
    if( column < set->columns && set->place[column] >= 0 ){
      counting->hits++;
      break;
    }
    api->xPhraseNextColumn(fts, &iterator, &column);
  }
  return rc;
}

/* The tokens of all rows of the table within the set. */
static int table_tokens(const Call *call, const rf_column_set *set, sqlite3_int64 *total){
  int rc = SQLITE_OK;
  *total = 0;
  for(int i = 0; rc == SQLITE_OK && i < set->count; i++){
    sqlite3_int64 tokens = 0;
    rc = call->api->xColumnTotalSize(call->fts, set->column[i], &tokens);
    *total += tokens;
  }
  return rc;
}

/* Fills the statistics of the table within the set: once for a query. */
static int scope_count(const Call *call, Scope *scope){
  const rf_column_set *set = scope->set;
  int rc = call->api->xRowCount(call->fts, &scope->rows);

  if( rc == SQLITE_OK ) rc = table_tokens(call, set, &scope->tokens);
  for(int i = 0; rc == SQLITE_OK && i < scope->phrases; i++){
    Counting counting = {set, sqlite3_context_db_handle(call->context), 0, 0};
    rc = call->api->xQueryPhrase(call->fts, i, &counting, count_row);
    scope->hits[i] = counting.hits;
  }
  scope->counted = rc == SQLITE_OK;
  return rc;
}

/* The tokens of the current row within the set. */
static int row_tokens(const Call *call, const Scope *scope, int *tokens, char **message){
  const rf_column_set *set = scope->set;
  *tokens = 0;
  for(int i = 0; i < set->count; i++){
    int size = 0;
    int rc = call->api->xColumnSize(call->fts, set->column[i], &size);
    if( rc != SQLITE_OK ) return rc;
    if( size < 0 ){
      *message = sqlite3_mprintf(
          "%s: the table is contentless with columnsize=0 and does not know how long its"
          " rows are; use a table with columnsize=1 or with content", call->function);
      return *message ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    *tokens += size;
  }
  return SQLITE_OK;
}

/* Whether the first row that holds a phrase knows where; ends the query at once. */
static int look_for_position(const Fts5ExtensionApi *api, Fts5Context *fts, void *found){
  Fts5PhraseIter iterator;
  int column, offset;
  const int rc = api->xPhraseFirst(fts, 0, &iterator, &column, &offset);
  if( rc != SQLITE_OK ) return rc;
  if( column >= 0 ) *(int *)found = 1;
  return SQLITE_DONE;
}

/*
** For a row that matches though no phrase has a hit. A contentless table with
** detail=none or detail=column looks like this, and a rank of 0 would be wrong
** without a word. A row whose content has changed since it was indexed looks
** like this too, and has no hits indeed; so may a row in which FTS5 loses its hits,
** below OR and AND.
*/
static int check_positions(const Call *call, char **message){
  const int columns = call->api->xColumnCount(call->fts);
  for(int i = 0; i < columns; i++){
    const char *text = 0;
    int bytes = 0;
    int rc = call->api->xColumnText(call->fts, i, &text, &bytes);
    if( rc != SQLITE_OK ) return rc;
    if( text != 0 ) return SQLITE_OK;
  }
  for(int i = 0; i < call->api->xPhraseCount(call->fts); i++){
    int found = 0;
    int rc = call->api->xQueryPhrase(call->fts, i, &found, look_for_position);
    if( rc != SQLITE_OK || found ) return rc;
  }
  *message = sqlite3_mprintf(
      "%s: the table is contentless and keeps no positions (detail=none or column), so the"
      " hits of a row are not known; use detail=full or a table with content",
      call->function);
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/*
** Adds up, for each phrase, the hits of the current row within the set, each
** with its column's weight (1.0 where `weight` is NULL), into scope->frequency.
*/
static int row_frequencies(
  const Call *call, const Scope *scope, const double *weight, char **message
){
  const rf_column_set *set = scope->set;
  int any = 0;

  for(int i = 0; i < scope->phrases; i++){
    Fts5PhraseIter iterator;
    double frequency = 0.0;
    int column, offset;
    int rc = call->api->xPhraseFirst(call->fts, i, &iterator, &column, &offset);
    if( rc != SQLITE_OK ) return rc;
    while( column >= 0 ){
      if( column >= set->columns ) return SQLITE_CORRUPT_VTAB;
      any = 1;
      if( set->place[column] >= 0 ){
        frequency += weight ? weight[set->place[column]] : 1.0;
      }
      call->api->xPhraseNext(call->fts, &iterator, &column, &offset);
    }
    scope->frequency[i] = frequency;
  }
  if( !any && scope->phrases > 0 ) return check_positions(call, message);
  return SQLITE_OK;
}

/* Reads the weights into scope->weight; a column without one weighs 1.0, as in bm25(). */
static int read_weights(
  const Call *call, const Scope *scope, int count, sqlite3_value **values, char **message
){
  const int columns = scope->set->count;
  if( count > columns ){
    *message = sqlite3_mprintf(
        "%s: %d weights for %d column%s; give at most one weight a column of the set",
        call->function, count, columns, columns == 1 ? "" : "s");
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  for(int i = 0; i < columns; i++){
    double weight = 1.0;
    if( i < count ){
      const int type = sqlite3_value_numeric_type(values[i]);
      weight = sqlite3_value_double(values[i]);
      if( (type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !isfinite(weight) ){
        *message = sqlite3_mprintf(
            "%s: weight %d, of column %d, is not a finite number",
            call->function, i + 1, scope->set->column[i]);
        return *message ? SQLITE_ERROR : SQLITE_NOMEM;
      }
    }
    scope->weight[i] = weight;
  }
  return SQLITE_OK;
}

/*
** The rank of the current row. `rows` is the number of rows that the table is
** taken to have, or -1 for those it has; the weights are values[0..count-1].
*/
static int rank_row(
  const Call *call, Scope *scope, sqlite3_int64 rows, int count, sqlite3_value **values,
  double *rank, char **message
){
  int tokens = 0;
  int rc = read_weights(call, scope, count, values, message);

  /* Without a MATCH there is no phrase, and the index may not know a single row. */
  *rank = 0.0;
  if( rc != SQLITE_OK || scope->phrases == 0 ) return rc;
  if( !scope->counted ) rc = scope_count(call, scope);
  if( rc != SQLITE_OK ) return rc;
  if( rows < 0 ){
    rows = scope->rows;
  }else if( rows < scope->rows ){
    *message = sqlite3_mprintf(
        "%s: rows is %lld, but the table has %lld rows; give the number of all rows, those"
        " left out of the index included", call->function, rows, scope->rows);
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if( scope->idf_rows != rows ){
    for(int i = 0; i < scope->phrases; i++){
      scope->idf[i] = rf_bm25_idf(rows, scope->hits[i]);
    }
    scope->idf_rows = rows;
  }
  rc = row_tokens(call, scope, &tokens, message);
  if( rc == SQLITE_OK ){
    rc = row_frequencies(call, scope, count > 0 ? scope->weight : 0, message);
  }
  if( rc == SQLITE_OK ){
    *rank = rf_bm25_rank(scope->phrases, scope->idf, scope->frequency,
                         (double)tokens, (double)scope->tokens / (double)rows);
  }
  return rc;
}

static void bm25_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const Call call = {api, fts, context, "reasoning_bm25"};
  Scope *scope;
  char *message = 0;
  double rank = 0.0;
  int rc = scope_of(&call, count, values, &scope, &message);

  if( rc == SQLITE_OK ){
    rc = rank_row(&call, scope, -1, count - 1, values + 1, &rank, &message);
  }
  if( rc != SQLITE_OK ){
    result_failure(&call, rc, message);
  }else{
    sqlite3_result_double(context, rank);
  }
}

static void bm25_rows_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const Call call = {api, fts, context, "reasoning_bm25_rows"};
  Scope *scope;
  sqlite3_int64 rows = -1;
  char *message = 0;
  double rank = 0.0;
  int rc = scope_of(&call, count, values, &scope, &message);

  if( rc == SQLITE_OK && count > 1 ){
    (void)sqlite3_value_numeric_type(values[1]); /* a text of digits is a number */
    if( !rf_value_whole(values[1], &rows) ) rows = -1;
  }
  if( rc == SQLITE_OK && rows < 0 ){
    message = sqlite3_mprintf(
        "%s: the third argument must be the number of all rows, an integer", call.function);
    rc = message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  if( rc == SQLITE_OK ){
    rc = rank_row(&call, scope, rows, count - 2, values + 2, &rank, &message);
  }
  if( rc != SQLITE_OK ){
    result_failure(&call, rc, message);
  }else{
    sqlite3_result_double(context, rank);
  }
}

/* A helper for the functions that take nothing but the columns. */
static int only_columns(const Call *call, int count, char **message){
  if( count <= 1 ) return SQLITE_OK;
  *message = sqlite3_mprintf(
      "%s: %d arguments, 2 are wanted: the table and its columns",
      call->function, count + 1);
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

static void origin_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const Call call = {api, fts, context, "reasoning_origin"};
  Scope *scope;
  char *message = 0;
  int inside = 0, outside = 0;
  int rc = only_columns(&call, count, &message);

  if( rc == SQLITE_OK ) rc = scope_of(&call, count, values, &scope, &message);
  for(int i = 0; rc == SQLITE_OK && !(inside && outside) && i < scope->phrases; i++){
    Fts5PhraseIter iterator;
    int column;
    rc = api->xPhraseFirstColumn(fts, i, &iterator, &column);
    while( rc == SQLITE_OK && column >= 0 && !(inside && outside) ){
      if( column >= scope->set->columns ){
        rc = SQLITE_CORRUPT_VTAB;
        break;
      }
      if( scope->set->place[column] >= 0 ) inside = 1; else outside = 1;
      api->xPhraseNextColumn(fts, &iterator, &column);
    }
  }
  if( rc == SQLITE_OK && scope->phrases > 0 && !inside && !outside ){
    rc = check_positions(&call, &message);
  }
  if( rc != SQLITE_OK ){
    result_failure(&call, rc, message);
  }else if( inside || outside ){
    const char *origin = inside && outside ? "both" : inside ? "thought" : "said";
    sqlite3_result_text(context, origin, (int)strlen(origin), SQLITE_STATIC);
  }
  /* Without a hit there is no origin: the result stays NULL. */
}

static void counts_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const Call call = {api, fts, context, "reasoning_counts"};
  Scope *scope;
  char *message = 0;
  unsigned char *blob = 0;
  sqlite3_uint64 bytes = 0;
  int tokens = 0;
  int rc = only_columns(&call, count, &message);

  if( rc == SQLITE_OK ) rc = scope_of(&call, count, values, &scope, &message);
  if( rc == SQLITE_OK ) rc = row_tokens(&call, scope, &tokens, &message);
  if( rc == SQLITE_OK ) rc = row_frequencies(&call, scope, 0, &message);
  if( rc == SQLITE_OK ){
    bytes = 4 * ((sqlite3_uint64)scope->phrases + 1);
    blob = sqlite3_malloc64(bytes);
    if( blob == 0 ) rc = SQLITE_NOMEM;
  }
  if( rc != SQLITE_OK ){
    result_failure(&call, rc, message);
    return;
  }
  rf_put_int32(blob, tokens);
  for(int i = 0; i < scope->phrases; i++){
    rf_put_int32(blob + 4 * (i + 1), (int)scope->frequency[i]);
  }
  sqlite3_result_blob64(context, blob, bytes, sqlite3_free);
}

static void tokens_function(
  const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *context,
  int count, sqlite3_value **values
){
  const Call call = {api, fts, context, "reasoning_tokens"};
  Scope *scope;
  char *message = 0;
  sqlite3_int64 tokens = 0;
  int rc = only_columns(&call, count, &message);

  if( rc == SQLITE_OK ) rc = scope_of(&call, count, values, &scope, &message);
  if( rc == SQLITE_OK ) rc = table_tokens(&call, scope->set, &tokens);
  if( rc != SQLITE_OK ){
    result_failure(&call, rc, message);
    return;
  }
  sqlite3_result_int64(context, tokens);
}

int rf_register_auxiliary(sqlite3 *db, fts5_api *api){
  static const struct {
    const char *name;
    fts5_extension_function function;
  } functions[] = {
    {"reasoning_bm25", bm25_function},
    {"reasoning_bm25_rows", bm25_rows_function},
    {"reasoning_origin", origin_function},
    {"reasoning_counts", counts_function},
    {"reasoning_tokens", tokens_function},
  };
  int rc = SQLITE_OK;
  (void)db;
  for(size_t i = 0; rc == SQLITE_OK && i < sizeof(functions) / sizeof(functions[0]); i++){
    rc = api->xCreateFunction(api, functions[i].name, 0, functions[i].function, 0);
  }
  return rc;
}
