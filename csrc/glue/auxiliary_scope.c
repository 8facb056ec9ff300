/*
** The sets of columns that a cursor keeps for an FTS5 auxiliary function, and the
** text of its current row.
**
** FTS5 gives an auxiliary function one slot of data a cursor. It holds a short
** list here, so that one statement may call a function for several sets.
*/
#include <string.h>

#include "glue/auxiliary.h"

/* Column sets that one cursor keeps for one function; more make it start again. */
#define MAX_SETS 16

/* The slot of a cursor: owns the scopes, newest first. */
typedef struct Scopes {
  rf_scope *first;
} Scopes;

static void scope_free(rf_scope *scope){
  if( scope == 0 ) return;
  sqlite3_free(scope->key);
  sqlite3_free(scope->set);
  sqlite3_free(scope->hits);
  sqlite3_free(scope);
}

static void scopes_free(void *pointer){
  Scopes *scopes = pointer;
  while( scopes->first ){
    rf_scope *scope = scopes->first;
    scopes->first = scope->next;
    scope_free(scope);
  }
  sqlite3_free(scopes);
}

/* The slot of the cursor, made at the first call. NULL when out of memory. */
static Scopes *scopes_of(const rf_fts_call *call){
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

/* Adds a scope for the set that `columns` names, dropping the oldest of too many. */
static int scope_add(
  const rf_fts_call *call, Scopes *scopes, sqlite3_value *columns, rf_scope **out, char **message
){
  rf_scope *scope = sqlite3_malloc64(sizeof(*scope));
  rf_scope **link = &scopes->first;
  sqlite3_uint64 phrases, weights;
  const char *text;
  int rc, kept = 0;

  if( scope == 0 ) return SQLITE_NOMEM;
  memset(scope, 0, sizeof(*scope));
  scope->phrases = call->api->xPhraseCount(call->fts);
  rc = rf_column_set_parse(
      call->function, columns, call->api->xColumnCount(call->fts), &scope->set, message);
  if( rc == SQLITE_OK ){
    text = (const char *)sqlite3_value_text(columns);
    scope->key_bytes = sqlite3_value_bytes(columns);
    scope->key = sqlite3_malloc64((sqlite3_uint64)scope->key_bytes + 1);
    phrases = (sqlite3_uint64)scope->phrases;
    weights = (sqlite3_uint64)scope->set->count;
    scope->hits = sqlite3_malloc64(
        phrases * (sizeof(sqlite3_int64) + 2 * sizeof(double)) + weights * sizeof(double));
    if( text == 0 || scope->key == 0 || scope->hits == 0 ){
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

int rf_scope_of(
  const rf_fts_call *call, int count, sqlite3_value **values, rf_scope **out,
  char **message
){
  Scopes *scopes;
  const char *text;
  int bytes, type;

  *out = 0;
  if( count < 1 ){
    *message = sqlite3_mprintf(
        "%s: the second argument, a text of zero-based column numbers such as '0 1', is"
        " missing", call->function);
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  scopes = scopes_of(call);
  if( scopes == 0 ) return SQLITE_NOMEM;
  /* The type before the text: SQLite does not keep it through a conversion. */
  type = sqlite3_value_type(values[0]);
  if( type == SQLITE_TEXT || type == SQLITE_INTEGER ){
    text = (const char *)sqlite3_value_text(values[0]);
    if( text == 0 ) return SQLITE_NOMEM;
    bytes = sqlite3_value_bytes(values[0]);
    for(rf_scope *scope = scopes->first; scope; scope = scope->next){
      if( scope->key_bytes == bytes && memcmp(scope->key, text, (size_t)bytes) == 0 ){
        *out = scope;
        return SQLITE_OK;
      }
    }
  }
  return scope_add(call, scopes, values[0], out, message);
}

int rf_fts_column_text(const rf_fts_call *call, int column, const char **text, int *bytes){
  const int rc = call->api->xColumnText(call->fts, column, text, bytes);
  if( rc != SQLITE_OK ) return rc;
  /* FTS5 does not look whether it is NULL for want of memory, but SQLite remembers. */
  if( *text == 0 && sqlite3_errcode(sqlite3_context_db_handle(call->context)) == SQLITE_NOMEM ){
    return SQLITE_NOMEM;
  }
  return SQLITE_OK;
}
