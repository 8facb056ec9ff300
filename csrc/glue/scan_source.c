/*
** The source of a scan: `[schema.]name` of a table or a view, looked up exactly
** and quoted. It never becomes SQL of its own. A part with a dot or a blank can
** stand between double quotes; without quotes, what precedes the first dot is a
** schema where the connection has one of that name.
**
** A view must have a column `rowid` of integers. A table has its own.
*/
#include <string.h>

#include "glue/scan.h"

static int fail(char **message, char *text){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* ---- names ------------------------------------------------------------------- */

/*
** Takes an identifier between double quotes at *at. The copy is the caller's; a
** quote that is not closed gives SQLITE_ERROR.
*/
static int take_quoted(const char *text, int bytes, int *at, char **name){
  char *out = sqlite3_malloc64((sqlite3_uint64)bytes + 1);
  int length = 0, i;
  if( out == 0 ) return SQLITE_NOMEM;
  for(i = *at + 1; i < bytes; i++){
    if( text[i] == '"' ){
      if( i + 1 >= bytes || text[i + 1] != '"' ) break;
      i++;
    }
    out[length++] = text[i];
  }
  out[length] = 0;
  if( i >= bytes ){
    sqlite3_free(out);
    return SQLITE_ERROR;
  }
  *at = i + 1;
  *name = out;
  return SQLITE_OK;
}

/* Takes the rest of the text, which must be one identifier. */
static int take_rest(const char *text, int bytes, int at, char **name){
  if( at < bytes && text[at] == '"' ){
    int rc = take_quoted(text, bytes, &at, name);
    if( rc != SQLITE_OK || at == bytes ) return rc;
    sqlite3_free(*name);
    *name = 0;
    return SQLITE_ERROR;
  }
  *name = sqlite3_mprintf("%.*s", bytes - at, text + at);
  return *name ? SQLITE_OK : SQLITE_NOMEM;
}

/* Whether the connection has a schema of a name; *found is 0 or 1. */
static int has_schema(sqlite3 *db, const char *name, int *found){
  sqlite3_stmt *statement = 0;
  int rc = sqlite3_prepare_v2(
      db, "SELECT 1 FROM pragma_database_list WHERE name = ?1 COLLATE NOCASE", -1, &statement, 0);
  int rc_final;
  *found = 0;
  if( rc == SQLITE_OK ) rc = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if( rc == SQLITE_OK ){
    rc = sqlite3_step(statement);
    *found = rc == SQLITE_ROW;
    if( rc == SQLITE_ROW || rc == SQLITE_DONE ) rc = SQLITE_OK;
  }
  rc_final = sqlite3_finalize(statement);
  return rc == SQLITE_OK ? rc_final : rc;
}

/* Splits the text into *schema, NULL where none is named, and *name. */
static int split(sqlite3 *db, const char *text, int bytes, char **schema, char **name){
  const char *dot = bytes > 0 ? memchr(text, '.', (size_t)bytes) : 0;
  int at = 0, found = 0, rc = SQLITE_OK;
  *schema = 0;
  *name = 0;
  if( bytes > 0 && text[0] == '"' ){
    rc = take_quoted(text, bytes, &at, name);
    if( rc != SQLITE_OK || at == bytes ) return rc;
    *schema = *name;
    *name = 0;
    if( text[at] != '.' ) return SQLITE_ERROR;
    return take_rest(text, bytes, at + 1, name);
  }
  if( dot ){
    *schema = sqlite3_mprintf("%.*s", (int)(dot - text), text);
    if( *schema == 0 ) return SQLITE_NOMEM;
    rc = has_schema(db, *schema, &found);
    if( rc != SQLITE_OK ) return rc;
    if( found ) return take_rest(text, bytes, (int)(dot - text) + 1, name);
    sqlite3_free(*schema);
    *schema = 0;
  }
  return take_rest(text, bytes, 0, name);
}

/* ---- looking a name up --------------------------------------------------------- */

/* Looks for a table or view in one schema; fills *source where it is found. */
static int look_in(sqlite3 *db, const char *schema, const char *name, rf_source *source){
  sqlite3_stmt *statement = 0;
  char *sql = sqlite3_mprintf(
      "SELECT name, type = 'view' FROM \"%w\".sqlite_schema"
      " WHERE type IN ('table', 'view') AND name = ?1 COLLATE NOCASE", schema);
  int rc, rc_final;
  if( sql == 0 ) return SQLITE_NOMEM;
  rc = sqlite3_prepare_v2(db, sql, -1, &statement, 0);
  sqlite3_free(sql);
  if( rc == SQLITE_OK ) rc = sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if( rc == SQLITE_OK ){
    rc = sqlite3_step(statement);
    if( rc == SQLITE_ROW ){
      rc = SQLITE_OK;
      source->view = sqlite3_column_int(statement, 1);
      source->schema = sqlite3_mprintf("%s", schema);
      source->name = sqlite3_mprintf("%s", (const char *)sqlite3_column_text(statement, 0));
      if( source->schema == 0 || source->name == 0 ) rc = SQLITE_NOMEM;
    }else if( rc == SQLITE_DONE ){
      rc = SQLITE_OK;
    }
  }
  rc_final = sqlite3_finalize(statement);
  return rc == SQLITE_OK ? rc_final : rc;
}

/* In SQLite's own order: temp, main, then the attached files as they came. */
static int look_everywhere(sqlite3 *db, const char *name, rf_source *source){
  sqlite3_stmt *statement = 0;
  int rc = sqlite3_prepare_v2(
      db, "SELECT name FROM pragma_database_list ORDER BY seq <> 1, seq", -1, &statement, 0);
  int rc_final;
  while( rc == SQLITE_OK && source->name == 0 ){
    const char *schema;
    rc = sqlite3_step(statement);
    if( rc != SQLITE_ROW ) break;
    schema = (const char *)sqlite3_column_text(statement, 0);
    rc = schema ? look_in(db, schema, name, source) : SQLITE_NOMEM;
  }
  if( rc == SQLITE_DONE ) rc = SQLITE_OK;
  rc_final = sqlite3_finalize(statement);
  return rc == SQLITE_OK ? rc_final : rc;
}

int rf_source_find(
  sqlite3 *db, const char *argument, const char *text, int bytes, rf_source *source,
  char **message
){
  char *schema = 0, *name = 0;
  int found = 1, rc;
  memset(source, 0, sizeof(*source));
  if( bytes > 0 && memchr(text, 0, (size_t)bytes) ){
    return fail(message, sqlite3_mprintf("reasoning_scan: %s: holds a NUL byte", argument));
  }
  rc = split(db, text, bytes, &schema, &name);
  if( rc == SQLITE_ERROR && name == 0 ){
    rc = fail(message, sqlite3_mprintf(
        "reasoning_scan: %s: cannot read the name %.*s; write [schema.]name of a table or"
        " view, with double quotes around a part that needs them", argument, bytes, text));
  }
  if( rc == SQLITE_OK && schema ) rc = has_schema(db, schema, &found);
  if( rc == SQLITE_OK && !found ){
    rc = fail(message, sqlite3_mprintf("reasoning_scan: %s: no such schema: %s", argument, schema));
  }
  if( rc == SQLITE_OK ){
    rc = schema ? look_in(db, schema, name, source) : look_everywhere(db, name, source);
  }
  if( rc == SQLITE_OK && source->name == 0 ){
    rc = fail(message, sqlite3_mprintf(
        "reasoning_scan: %s: no such table or view: %.*s", argument, bytes, text));
  }
  if( rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == 0 ){
    *message = sqlite3_mprintf("reasoning_scan: %s: %s", argument, sqlite3_errmsg(db));
  }
  sqlite3_free(schema);
  sqlite3_free(name);
  if( rc != SQLITE_OK ) rf_source_clear(source);
  return rc;
}

rf_list rf_list_of(const char *text, int bytes){
  int at = 1;
  if( bytes == 0 || text[0] != '[' ) return RF_NO_LIST;
  while( at < bytes && memchr(" \t\r\n", text[at], 4) ) at++;
  return at < bytes && text[at] == '[' ? RF_RANGES : RF_ROWIDS;
}

void rf_source_clear(rf_source *source){
  sqlite3_free(source->schema);
  sqlite3_free(source->name);
  memset(source, 0, sizeof(*source));
}
