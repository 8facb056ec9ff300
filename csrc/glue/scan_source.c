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
  sqlite3 *db, const char *text, int bytes, rf_source *source, char **message
){
  char *schema = 0, *name = 0;
  int found = 1, rc;
  memset(source, 0, sizeof(*source));
  if( bytes > 0 && memchr(text, 0, (size_t)bytes) ){
    return fail(message, sqlite3_mprintf("reasoning_scan: source: holds a NUL byte"));
  }
  rc = split(db, text, bytes, &schema, &name);
  if( rc == SQLITE_ERROR && name == 0 ){
    rc = fail(message, sqlite3_mprintf(
        "reasoning_scan: source: cannot read the name %.*s; write [schema.]name of a table or"
        " view, with double quotes around a part that needs them", bytes, text));
  }
  if( rc == SQLITE_OK && schema ) rc = has_schema(db, schema, &found);
  if( rc == SQLITE_OK && !found ){
    rc = fail(message, sqlite3_mprintf("reasoning_scan: source: no such schema: %s", schema));
  }
  if( rc == SQLITE_OK ){
    rc = schema ? look_in(db, schema, name, source) : look_everywhere(db, name, source);
  }
  if( rc == SQLITE_OK && source->name == 0 ){
    rc = fail(message, sqlite3_mprintf(
        "reasoning_scan: source: no such table or view: %.*s", bytes, text));
  }
  if( rc != SQLITE_OK && rc != SQLITE_NOMEM && *message == 0 ){
    *message = sqlite3_mprintf("reasoning_scan: source: %s", sqlite3_errmsg(db));
  }
  sqlite3_free(schema);
  sqlite3_free(name);
  if( rc != SQLITE_OK ) rf_source_clear(source);
  return rc;
}

void rf_source_clear(rf_source *source){
  sqlite3_free(source->schema);
  sqlite3_free(source->name);
  memset(source, 0, sizeof(*source));
}

/* ---- reading rows ---------------------------------------------------------------- */

/* Marks the columns in which some leaf can have a hit. */
static void mark_wanted(const rf_node *node, unsigned char *wanted, int count){
  if( node->op == RF_LEAF ){
    for(int i = 0; i < count; i++) wanted[i] |= rf_leaf_covers(node, i);
  }
  for(int i = 0; i < node->child_count; i++) mark_wanted(node->child[i], wanted, count);
}

/* The alias keeps SQLite from reading a name that is no column as a string. */
static char *select_sql(
  const rf_reader *reader, const rf_spec *spec, int narrowed, rf_scan_order order
){
  sqlite3_str *sql = sqlite3_str_new(reader->db);
  sqlite3_str_appendall(sql, "SELECT source.rowid");
  for(int i = 0; i < reader->count; i++){
    if( reader->wanted[i] ) sqlite3_str_appendf(sql, ", source.\"%w\"", spec->columns.name[i]);
  }
  sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\" AS source", reader->source->schema,
                      reader->source->name);
  /* A scan of everything meets every row, also one whose rowid is no integer. */
  if( narrowed ) sqlite3_str_appendall(sql, " WHERE source.rowid BETWEEN ?1 AND ?2");
  if( order != RF_UNORDERED ){
    sqlite3_str_appendf(sql, " ORDER BY source.rowid%s", order == RF_DESCENDING ? " DESC" : "");
  }
  return sqlite3_str_finish(sql);
}

int rf_reader_open(
  rf_reader *reader, sqlite3 *db, const rf_source *source, const rf_compiled *compiled,
  int lengths, rf_range range, rf_scan_order order, char **message
){
  const rf_spec *spec = compiled->spec;
  const int count = spec->columns.count;
  const sqlite3_uint64 each = sizeof(char *) + sizeof(int) + 1;
  const int narrowed = range.low > INT64_MIN || range.high < INT64_MAX;
  char *sql;
  void *room = sqlite3_malloc64((sqlite3_uint64)count * each);
  int rc;
  if( room == 0 ) return SQLITE_NOMEM;
  memset(room, 0, (size_t)count * (size_t)each);
  reader->db = db;
  reader->source = source;
  reader->count = count;
  reader->text = room;
  reader->bytes = (int *)&reader->text[count];
  reader->wanted = (unsigned char *)&reader->bytes[count];
  if( lengths ){
    memset(reader->wanted, 1, (size_t)count);
  }else{
    mark_wanted(compiled->query->root, reader->wanted, count);
  }
  for(int i = 0; i < count; i++){
    if( spec->columns.unindexed[i] ) reader->wanted[i] = 0;
  }
  sql = select_sql(reader, spec, narrowed, order);
  if( sql == 0 ) return SQLITE_NOMEM;
  rc = sqlite3_prepare_v3(db, sql, -1, 0, &reader->statement, 0);
  sqlite3_free(sql);
  if( rc == SQLITE_OK && narrowed ){
    rc = sqlite3_bind_int64(reader->statement, 1, range.low);
    if( rc == SQLITE_OK ) rc = sqlite3_bind_int64(reader->statement, 2, range.high);
  }
  if( rc != SQLITE_OK && rc != SQLITE_NOMEM ){
    *message = sqlite3_mprintf(
        "reasoning_scan: cannot read %s %s.%s: %s; it needs the columns of the spec, and %s",
        source->view ? "view" : "table", source->schema, source->name, sqlite3_errmsg(db),
        source->view ? "an integer column named rowid" : "rowids");
    if( *message == 0 ) rc = SQLITE_NOMEM;
  }
  return rc;
}

int rf_reader_step(rf_reader *reader, int *row, char **message){
  int rc, at = 1;
  *row = 0;
  /* Between two rows SQLite looks by itself; a text of its own may be long. */
  if( rf_interrupted(reader->db) ) return SQLITE_INTERRUPT;
  rc = sqlite3_step(reader->statement);
  if( rc == SQLITE_DONE ) return SQLITE_OK;
  if( rc != SQLITE_ROW ){
    if( rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT ){
      *message = sqlite3_mprintf("reasoning_scan: cannot read %s.%s: %s",
                                 reader->source->schema, reader->source->name,
                                 sqlite3_errmsg(reader->db));
    }
    return rc;
  }
  if( sqlite3_column_type(reader->statement, 0) != SQLITE_INTEGER ){
    return fail(message, sqlite3_mprintf(
        "reasoning_scan: %s.%s has a row whose rowid is not an integer",
        reader->source->schema, reader->source->name));
  }
  reader->rowid = sqlite3_column_int64(reader->statement, 0);
  for(int i = 0; i < reader->count; i++){
    if( !reader->wanted[i] ) continue;
    rc = rf_value_text(sqlite3_column_value(reader->statement, at++), &reader->text[i],
                       &reader->bytes[i]);
    if( rc != SQLITE_OK ) return rc;
  }
  *row = 1;
  return SQLITE_OK;
}

void rf_reader_close(rf_reader *reader){
  /* An error of the last step has been reported by that step. */
  (void)sqlite3_finalize(reader->statement);
  sqlite3_free(reader->text);
  memset(reader, 0, sizeof(*reader));
}
