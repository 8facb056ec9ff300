/*
** Reads the rows of a source, one statement from beginning to end.
**
** Decoding is what costs most, so the statement asks a function of ours about the
** stored columns before SQLite decodes anything: the expressions of a view are
** evaluated only for the rows that pass the WHERE clause. A row whose stored columns
** hold one text that is not JSON needs no decoding at all.
*/
#include <string.h>

#include "glue/scan.h"

/* The reader, as the function finds it. */
#define POINTER_TYPE "rf_reader"

/* Marks the columns in which some leaf can have a hit. */
static void mark_wanted(const rf_node *node, unsigned char *wanted, int count){
  if( node->op == RF_LEAF ){
    for(int i = 0; i < count; i++) wanted[i] |= rf_leaf_covers(node, i);
  }
  for(int i = 0; i < node->child_count; i++) mark_wanted(node->child[i], wanted, count);
}

/* ---- stored columns ----------------------------------------------------------- */

/* Stored texts, each once, without the empty ones. */
typedef struct Stored {
  int count;
  const char *text[RF_STORED_LIMIT];
  int bytes[RF_STORED_LIMIT];
} Stored;

static int read_stored(int count, sqlite3_value **values, Stored *stored){
  stored->count = 0;
  for(int i = 0; i < count; i++){
    const char *text;
    int bytes, same = 0;
    int rc = rf_value_text(values[i], &text, &bytes);
    if( rc != SQLITE_OK ) return rc;
    if( bytes == 0 ) continue;
    for(; same < stored->count; same++){
      if( stored->bytes[same] == bytes && memcmp(stored->text[same], text, (size_t)bytes) == 0 ){
        break;
      }
    }
    if( same < stored->count ) continue;
    stored->text[stored->count] = text;
    stored->bytes[stored->count++] = bytes;
  }
  return SQLITE_OK;
}

/* A row that is just one text, in the column `single`. */
static int take_plain(rf_reader *reader, sqlite3_int64 rowid, const Stored *stored, bool *given){
  const rf_row row = {reader->count, reader->text, reader->bytes};
  int rc;
  *given = false;
  reader->text[reader->single] = stored->text[0];
  reader->bytes[reader->single] = stored->bytes[0];
  if( reader->take ){
    rc = reader->take(reader->context, rowid, &row);
  }else{
    rc = rf_program_match(reader->program, &row, false, given);
    reader->decided = *given;
  }
  /* The value is SQLite's, and this call's. */
  reader->text[reader->single] = 0;
  return rc;
}

static bool may_be_given(const rf_reader *reader, const Stored *stored){
  const rf_row row = {stored->count, stored->text, stored->bytes};
  if( reader->mode == RF_EVERY_ROW ) return true;
  return rf_program_stored_passes(
      reader->program, &row,
      reader->mode == RF_ROWS_THAT_MATCH ? RF_WHOLE_QUERY : RF_ANY_PHRASE);
}

/*
** reasoning_stored(reader, rowid, stored columns...): whether the row is to be given.
** reasoning_stored(reader): whether that row needs no decoding.
*/
static void stored_function(sqlite3_context *context, int count, sqlite3_value **values){
  rf_reader *reader = count > 0 ? sqlite3_value_pointer(values[0], POINTER_TYPE) : 0;
  Stored stored;
  bool given;
  int rc;
  if( reader == 0 || count - 2 > RF_STORED_LIMIT ){
    sqlite3_result_error(context, "reasoning_stored: serves reasoning_scan alone; call that", -1);
    return;
  }
  if( count == 1 ){
    sqlite3_result_int(context, reader->decided);
    return;
  }
  reader->decided = false;
  rc = read_stored(count - 2, &values[2], &stored);
  if( rc == SQLITE_OK && stored.count == 1 && reader->single >= 0
   && !rf_may_be_json(stored.text[0], stored.bytes[0]) ){
    rc = take_plain(reader, sqlite3_value_int64(values[1]), &stored, &given);
  }else{
    given = rc == SQLITE_OK && stored.count > 0 && may_be_given(reader, &stored);
  }
  if( rc != SQLITE_OK ) rf_result_error(context, rc, 0);
  else sqlite3_result_int(context, given);
}

int rf_register_stored(sqlite3 *db, fts5_api *api){
  (void)api;
  return sqlite3_create_function_v2(db, "reasoning_stored", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                    0, stored_function, 0, 0, 0);
}

/* ---- the statement ------------------------------------------------------------- */

/* Appends the condition on stored columns: first that there is anything at all. */
static void append_stored(sqlite3_str *sql, const rf_columns *stored){
  for(int i = 0; i < stored->count; i++){
    sqlite3_str_appendf(sql, "%s source.\"%w\" IS NOT NULL", i ? " OR" : " AND (",
                        stored->name[i]);
  }
  sqlite3_str_appendall(sql, ") AND reasoning_stored(?3, source.rowid");
  for(int i = 0; i < stored->count; i++){
    sqlite3_str_appendf(sql, ", source.\"%w\"", stored->name[i]);
  }
  sqlite3_str_appendall(sql, ")");
}

/* What the outer loop goes over, where that is not the source itself. */
static void append_driver(sqlite3_str *sql, const rf_reading *reading){
  /* CROSS JOIN keeps it in the outer loop. */
  if( reading->listed.name ){
    sqlite3_str_appendf(sql, "\"%w\".\"%w\" AS listed CROSS JOIN ", reading->listed.schema,
                        reading->listed.name);
  }else if( reading->list != RF_NO_LIST ){
    sqlite3_str_appendall(sql, "json_each(?4) AS listed CROSS JOIN ");
  }
}

static void append_join(sqlite3_str *sql, const rf_reading *reading){
  if( reading->listed.name ){
    sqlite3_str_appendall(sql, " AND source.rowid = listed.rowid");
  }else if( reading->list == RF_ROWIDS ){
    sqlite3_str_appendall(sql, " AND source.rowid = listed.value");
  }else if( reading->list == RF_RANGES ){
    sqlite3_str_appendall(sql, " AND source.rowid BETWEEN json_extract(listed.value, '$[0]')"
                          " AND json_extract(listed.value, '$[1]')");
  }
}

/* The alias keeps SQLite from reading a name that is no column as a string. */
static char *select_sql(
  const rf_reader *reader, const rf_spec *spec, int narrowed, int filtered, rf_scan_order order
){
  const rf_reading *reading = reader->reading;
  const char *driver = reading->listed.name ? "listed" : "source";
  sqlite3_str *sql = sqlite3_str_new(reader->db);
  sqlite3_str_appendall(sql, "SELECT source.rowid");
  for(int i = 0; i < reader->count; i++){
    if( !reader->wanted[i] ) continue;
    sqlite3_str_appendf(sql, filtered ? ", CASE WHEN NOT reasoning_stored(?3) THEN source.\"%w\" END"
                                      : ", source.\"%w\"", spec->columns.name[i]);
  }
  sqlite3_str_appendall(sql, " FROM ");
  append_driver(sql, reading);
  sqlite3_str_appendf(sql, "\"%w\".\"%w\" AS source WHERE 1", reading->source.schema,
                      reading->source.name);
  append_join(sql, reading);
  /* A scan of everything meets every row, also one whose rowid is no integer. */
  if( narrowed ) sqlite3_str_appendf(sql, " AND %s.rowid BETWEEN ?1 AND ?2", driver);
  if( filtered ) append_stored(sql, &reading->stored->columns);
  if( order != RF_UNORDERED ){
    sqlite3_str_appendf(sql, " ORDER BY %s.rowid%s", driver,
                        order == RF_DESCENDING ? " DESC" : "");
  }
  return sqlite3_str_finish(sql);
}

static int bind(rf_reader *reader, int narrowed, int filtered, rf_range range){
  int rc = SQLITE_OK;
  if( narrowed ){
    rc = sqlite3_bind_int64(reader->statement, 1, range.low);
    if( rc == SQLITE_OK ) rc = sqlite3_bind_int64(reader->statement, 2, range.high);
  }
  if( rc == SQLITE_OK && filtered ){
    rc = sqlite3_bind_pointer(reader->statement, 3, reader, POINTER_TYPE, 0);
  }
  if( rc == SQLITE_OK && reader->reading->list != RF_NO_LIST ){
    rc = sqlite3_bind_value(reader->statement, 4, reader->reading->json);
  }
  return rc;
}

int rf_reader_open(
  rf_reader *reader, sqlite3 *db, const rf_reading *reading, const rf_compiled *compiled,
  rf_reader_mode mode, rf_range range, rf_scan_order order, char **message
){
  const rf_spec *spec = compiled->program->spec;
  const int count = spec->columns.count;
  const sqlite3_uint64 each = sizeof(char *) + sizeof(int) + 1;
  const int narrowed = range.low > INT64_MIN || range.high < INT64_MAX;
  const int filtered = reading->stored != 0;
  int indexed = 0;
  char *sql;
  void *room = sqlite3_malloc64((sqlite3_uint64)count * each);
  int rc;
  if( room == 0 ) return SQLITE_NOMEM;
  memset(room, 0, (size_t)count * (size_t)each);
  reader->db = db;
  reader->reading = reading;
  reader->program = compiled->program;
  reader->mode = mode;
  reader->count = count;
  reader->text = room;
  reader->bytes = (int *)&reader->text[count];
  reader->wanted = (unsigned char *)&reader->bytes[count];
  if( mode == RF_ROWS_THAT_MATCH ){
    mark_wanted(compiled->program->query->root, reader->wanted, count);
  }else{
    memset(reader->wanted, 1, (size_t)count);
  }
  for(int i = 0; i < count; i++){
    if( spec->columns.unindexed[i] ) reader->wanted[i] = 0;
    else reader->single = indexed++ ? -1 : i;
  }
  if( indexed == 0 ) reader->single = -1;
  sql = select_sql(reader, spec, narrowed, filtered, order);
  if( sql == 0 ) return SQLITE_NOMEM;
  rc = sqlite3_prepare_v3(db, sql, -1, 0, &reader->statement, 0);
  sqlite3_free(sql);
  if( rc == SQLITE_OK ) rc = bind(reader, narrowed, filtered, range);
  if( rc != SQLITE_OK && rc != SQLITE_NOMEM ){
    *message = sqlite3_mprintf(
        "reasoning_scan: cannot read %s %s.%s: %s; it needs the columns of the spec, and %s",
        reading->source.view ? "view" : "table", reading->source.schema, reading->source.name,
        sqlite3_errmsg(db), reading->source.view ? "an integer column named rowid" : "rowids");
    if( *message == 0 ) rc = SQLITE_NOMEM;
  }
  return rc;
}

static int fail(char **message, char *text){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* The error of a statement's last step. */
static int step_error(sqlite3 *db, const rf_reading *reading, int rc, char **message){
  if( rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT ){
    *message = sqlite3_mprintf("reasoning_scan: cannot read %s.%s: %s", reading->source.schema,
                               reading->source.name, sqlite3_errmsg(db));
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
  if( rc != SQLITE_ROW ) return step_error(reader->db, reader->reading, rc, message);
  if( sqlite3_column_type(reader->statement, 0) != SQLITE_INTEGER ){
    return fail(message, sqlite3_mprintf(
        "reasoning_scan: %s.%s has a row whose rowid is not an integer",
        reader->reading->source.schema, reader->reading->source.name));
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

int rf_reading_rows(
  sqlite3 *db, const rf_reading *reading, sqlite3_stmt **holding, sqlite3_int64 *rows,
  char **message
){
  char *sql = sqlite3_mprintf("SELECT count(*) FROM \"%w\".\"%w\"", reading->source.schema,
                              reading->source.name);
  int rc;
  *holding = 0;
  if( sql == 0 ) return SQLITE_NOMEM;
  rc = sqlite3_prepare_v2(db, sql, -1, holding, 0);
  sqlite3_free(sql);
  if( rc == SQLITE_OK ) rc = sqlite3_step(*holding);
  if( rc != SQLITE_ROW ) return step_error(db, reading, rc, message);
  *rows = sqlite3_column_int64(*holding, 0);
  return SQLITE_OK;
}
