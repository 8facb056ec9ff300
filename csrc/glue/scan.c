/*
** reasoning_scan(query, source, spec, thought_columns, stored, listed): a
** table-valued function that reads a table or view row by row and gives the rows
** that match.
**
**   CREATE TABLE x(rowid, rank, origin, query HIDDEN, source HIDDEN, spec HIDDEN,
**                  thought_columns HIDDEN, stored HIDDEN, listed HIDDEN)
**
** `stored` names, as a spec, the columns of the source from which the indexed columns
** of `spec` are made: each text in them goes in once, on its own, as it is or, if it
** is JSON (RFC 8259), as its strings. `listed` is a table or view with the rowids of
** all rows that have a text. Both only make a scan faster. Instead of a name `listed`
** may be a JSON array of the rowids that are to be looked at, or of ranges of them
** ([first, last]): the other rows are left out, so there are no ranks then.
**
** Without `rank` it gives each row as it is found, in the order of the source or
** of `ORDER BY rowid`. With it the whole source is read first (scan_rank.c).
**
** It runs SQL on a table that an argument names, so it is not to be called from
** a trigger or a view (SQLITE_VTAB_DIRECTONLY). Range conditions on the rowid
** narrow what is read, and SQLite checks them again: a bound that is no integer
** is simply not used.
*/
#include <string.h>

#include "glue/scan.h"

enum Column { ROWID, RANK, ORIGIN, QUERY, SOURCE, SPEC, THOUGHT, STORED, LISTED };
#define FIRST_ARGUMENT QUERY
#define ARGUMENTS 6
#define VALUES 13 /* bits of a plan that come with a value */

/* The plan, in idxNum. Values come to xFilter in the order of these bits. */
enum Plan {
  HAS_ARGUMENT = 1 << 0, /* six of them, in the order of the columns */
  ROWID_EQ = 1 << 6,
  ROWID_GT = 1 << 7,
  ROWID_GE = 1 << 8,
  ROWID_LT = 1 << 9,
  ROWID_LE = 1 << 10,
  LIMITED = 1 << 11,
  OFFSET = 1 << 12,
  WANT_RANK = 1 << 13,
  WANT_ORIGIN = 1 << 14,
  BY_RANK = 1 << 15,
  BY_ROWID = 1 << 16,
  DESCENDING = 1 << 17,
};

typedef struct Module {
  sqlite3 *db;
  rf_compiler *compiler;
  rf_corpora *corpora;
} Module;

typedef struct Table {
  sqlite3_vtab base;
  Module *module;
} Table;

typedef struct Cursor {
  sqlite3_vtab_cursor base;
  sqlite3_value *argument[ARGUMENTS]; /* copies, NULL where not given */
  rf_compiled *compiled;
  rf_reading reading;
  rf_column_set *thought;
  rf_reader reader;      /* of a scan without ranks */
  rf_hit *hits;          /* of a ranked scan */
  int count;
  int at;
  rf_hit current;
  int ranked;
  int origins;           /* whether the origin of each hit is to be found */
  int only_origin;       /* the origin of all hits, 0 where they may differ */
  int end;
} Cursor;

/* ---- table --------------------------------------------------------------------- */

static int scan_connect(
  sqlite3 *db, void *module, int count, const char *const *arguments, sqlite3_vtab **table,
  char **message
){
  Table *made;
  int rc;
  (void)count;
  (void)arguments;
  (void)message;
  rc = sqlite3_declare_vtab(
      db, "CREATE TABLE x(rowid INTEGER, rank REAL, origin TEXT, query HIDDEN, source HIDDEN,"
          " spec HIDDEN, thought_columns HIDDEN, stored HIDDEN, listed HIDDEN)");
  if( rc != SQLITE_OK ) return rc;
  rc = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  if( rc != SQLITE_OK ) return rc;
  made = sqlite3_malloc64(sizeof(*made));
  if( made == 0 ) return SQLITE_NOMEM;
  memset(made, 0, sizeof(*made));
  made->module = module;
  *table = &made->base;
  return SQLITE_OK;
}

static int scan_disconnect(sqlite3_vtab *table){
  sqlite3_free(table);
  return SQLITE_OK;
}

/* The bit of a constraint, 0 for one that the scan has no use for. */
static int plan_bit(const struct sqlite3_index_constraint *constraint){
  switch( constraint->op ){
    case SQLITE_INDEX_CONSTRAINT_LIMIT: return LIMITED;
    case SQLITE_INDEX_CONSTRAINT_OFFSET: return OFFSET;
    case SQLITE_INDEX_CONSTRAINT_EQ:
      if( constraint->iColumn >= FIRST_ARGUMENT ){
        return HAS_ARGUMENT << (constraint->iColumn - FIRST_ARGUMENT);
      }
      return constraint->iColumn <= ROWID ? ROWID_EQ : 0;
    case SQLITE_INDEX_CONSTRAINT_GT: return constraint->iColumn <= ROWID ? ROWID_GT : 0;
    case SQLITE_INDEX_CONSTRAINT_GE: return constraint->iColumn <= ROWID ? ROWID_GE : 0;
    case SQLITE_INDEX_CONSTRAINT_LT: return constraint->iColumn <= ROWID ? ROWID_LT : 0;
    case SQLITE_INDEX_CONSTRAINT_LE: return constraint->iColumn <= ROWID ? ROWID_LE : 0;
    default: return 0;
  }
}

static int plan_order(const sqlite3_index_info *info){
  const struct sqlite3_index_orderby *by = info->aOrderBy;
  const int descending = info->nOrderBy > 0 && by[0].desc ? DESCENDING : 0;
  if( info->nOrderBy == 1 && by[0].iColumn <= ROWID ) return BY_ROWID | descending;
  if( info->nOrderBy < 1 || by[0].iColumn != RANK ) return 0;
  /* Hits of one rank come by ascending rowid. */
  if( info->nOrderBy == 1 || (info->nOrderBy == 2 && by[1].iColumn <= ROWID && !by[1].desc) ){
    return BY_RANK | descending;
  }
  return 0;
}

static int scan_best_index(sqlite3_vtab *table, sqlite3_index_info *info){
  int plan = plan_order(info), others = 0, value = 1;
  int place[VALUES]; /* the constraint that a bit of the plan stands for */
  (void)table;
  if( plan ) info->orderByConsumed = 1;
  if( info->colUsed & (1 << RANK) ) plan |= WANT_RANK;
  if( plan & BY_RANK ) plan |= WANT_RANK;
  if( info->colUsed & (1 << ORIGIN) ) plan |= WANT_ORIGIN;
  for(int i = 0; i < info->nConstraint; i++){
    const int bit = plan_bit(&info->aConstraint[i]);
    const int argument = bit > 0 && bit < ROWID_EQ;
    if( !info->aConstraint[i].usable ){
      /* Another order of the join has to give the arguments first. */
      if( argument ) return SQLITE_CONSTRAINT;
      others = 1;
      continue;
    }
    if( !argument && !(bit & (LIMITED | OFFSET)) ) others = 1;
    if( bit == 0 || (plan & bit) ) continue;
    plan |= bit;
    for(int j = 0; j < VALUES; j++){
      if( bit == 1 << j ) place[j] = i;
    }
  }
  /*
  ** Only a sorted scan has a use for LIMIT, since any other one ends when SQLite
  ** asks for no more; and only where no condition is left for SQLite to check.
  */
  if( others || !(plan & BY_RANK) ) plan &= ~(LIMITED | OFFSET);
  if( !(plan & LIMITED) ) plan &= ~OFFSET;
  for(int i = 0; i < VALUES; i++){
    const int bit = 1 << i;
    if( !(plan & bit) ) continue;
    info->aConstraintUsage[place[i]].argvIndex = value++;
    info->aConstraintUsage[place[i]].omit = bit < ROWID_EQ || bit == LIMITED;
  }
  info->idxNum = plan;
  info->estimatedCost = plan & WANT_RANK ? 2e7 : plan & ROWID_EQ ? 1e3 : 1e7;
  info->estimatedRows = plan & ROWID_EQ ? 1 : 1000;
  return SQLITE_OK;
}

/* ---- cursor --------------------------------------------------------------------- */

static int scan_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor){
  Cursor *made = sqlite3_malloc64(sizeof(*made));
  (void)table;
  if( made == 0 ) return SQLITE_NOMEM;
  memset(made, 0, sizeof(*made));
  made->end = 1;
  *cursor = &made->base;
  return SQLITE_OK;
}

static void cursor_clear(Cursor *cursor){
  for(int i = 0; i < ARGUMENTS; i++){
    sqlite3_value_free(cursor->argument[i]);
    cursor->argument[i] = 0;
  }
  rf_reader_close(&cursor->reader);
  rf_source_clear(&cursor->reading.source);
  rf_source_clear(&cursor->reading.listed);
  rf_spec_free(cursor->reading.stored);
  cursor->reading.list = RF_NO_LIST;
  cursor->reading.json = 0;
  rf_compiled_release(cursor->compiled);
  sqlite3_free(cursor->thought);
  sqlite3_free(cursor->hits);
  cursor->compiled = 0;
  cursor->reading.stored = 0;
  cursor->thought = 0;
  cursor->hits = 0;
  cursor->count = 0;
  cursor->at = 0;
  cursor->ranked = 0;
  cursor->origins = 0;
  cursor->only_origin = 0;
  cursor->end = 1;
}

static int scan_close(sqlite3_vtab_cursor *base){
  Cursor *cursor = (Cursor *)base;
  cursor_clear(cursor);
  sqlite3_free(cursor);
  return SQLITE_OK;
}

/* Hands a message over to the table; its text ends any earlier one. */
static int report(Cursor *cursor, int rc, char *message){
  if( rc == SQLITE_OK ){
    sqlite3_free(message);
    return rc;
  }
  cursor->end = 1;
  sqlite3_free(cursor->base.pVtab->zErrMsg);
  cursor->base.pVtab->zErrMsg = message;
  return rc;
}

static int advance(Cursor *cursor, char **message){
  bool matches;
  int row;
  if( cursor->ranked ){
    cursor->end = cursor->at >= cursor->count;
    if( cursor->end ) return SQLITE_OK;
    cursor->current = cursor->hits[cursor->at++];
    if( cursor->only_origin ) cursor->current.origin = cursor->only_origin;
    return SQLITE_OK;
  }
  for(;;){
    int rc = rf_reader_step(&cursor->reader, &row, message);
    const rf_row texts = {cursor->reader.count, cursor->reader.text, cursor->reader.bytes};
    cursor->end = rc != SQLITE_OK || !row;
    if( cursor->end ) return rc;
    matches = cursor->reader.decided;
    if( !matches ){
      rc = rf_program_match(cursor->compiled->program, &texts, cursor->origins != 0, &matches);
    }
    if( rc != SQLITE_OK ) return rc;
    if( !matches ) continue;
    cursor->current = (rf_hit){
      cursor->reader.rowid, 0.0,
      cursor->origins ? rf_origin_of(cursor->compiled, cursor->thought) : cursor->only_origin,
    };
    return SQLITE_OK;
  }
}

static const char *const argument_names[ARGUMENTS] = {
  "query", "source", "spec", "thought_columns", "stored", "listed",
};

static int has(const Cursor *cursor, int column){
  sqlite3_value *value = cursor->argument[column - FIRST_ARGUMENT];
  return value && sqlite3_value_type(value) != SQLITE_NULL;
}

/* Copies the arguments; the first three must be there. */
static int copy_arguments(
  Cursor *cursor, int plan, sqlite3_value **values, int *used, char **message
){
  for(int i = 0; i < ARGUMENTS; i++){
    if( !(plan & (HAS_ARGUMENT << i)) ) continue;
    cursor->argument[i] = sqlite3_value_dup(values[(*used)++]);
    if( cursor->argument[i] == 0 ) return SQLITE_NOMEM;
  }
  for(int column = QUERY; column <= SPEC; column++){
    if( has(cursor, column) ) continue;
    *message = sqlite3_mprintf(
        "reasoning_scan: the %s is %s; write reasoning_scan(query, source, spec,"
        " thought_columns)", argument_names[column - FIRST_ARGUMENT],
        cursor->argument[column - FIRST_ARGUMENT] ? "NULL" : "missing");
    return *message ? SQLITE_ERROR : SQLITE_NOMEM;
  }
  return SQLITE_OK;
}

static int argument_text(const Cursor *cursor, int column, const char **text, int *bytes){
  return rf_value_text(cursor->argument[column - FIRST_ARGUMENT], text, bytes);
}

static int compile(Cursor *cursor, const Module *module, char **message){
  const char *query = 0, *spec = 0;
  int query_bytes = 0, spec_bytes = 0;
  int rc = argument_text(cursor, QUERY, &query, &query_bytes);
  if( rc == SQLITE_OK ) rc = argument_text(cursor, SPEC, &spec, &spec_bytes);
  if( rc != SQLITE_OK ) return rc;
  return rf_compiler_get(module->compiler, "reasoning_scan", spec, spec_bytes, query, query_bytes,
                         &cursor->compiled, message);
}

static int take_stored(Cursor *cursor, char **message){
  const char *text;
  rf_error error;
  int bytes;
  int rc = argument_text(cursor, STORED, &text, &bytes);
  if( rc != SQLITE_OK ) return rc;
  rc = rf_spec_parse(&rf_sqlite_memory, text, bytes, &cursor->reading.stored, &error);
  if( rc == SQLITE_ERROR ){
    *message = sqlite3_mprintf("reasoning_scan: stored: %s", error.message);
  }else if( rc == SQLITE_OK && cursor->reading.stored->columns.count > RF_STORED_LIMIT ){
    *message = sqlite3_mprintf("reasoning_scan: stored: %d columns; name at most %d",
                               cursor->reading.stored->columns.count, RF_STORED_LIMIT);
    rc = SQLITE_ERROR;
  }
  return rc == SQLITE_ERROR && *message == 0 ? SQLITE_NOMEM : rc;
}

/* Whether all columns that the query looks at are thought, or none is. */
static void take_origin(Cursor *cursor, int plan){
  const rf_columns *columns = &cursor->compiled->program->spec->columns;
  int in = 0, out = 0;
  if( cursor->thought == 0 ) return;
  for(int i = 0; i < columns->count; i++){
    if( columns->unindexed[i] ) continue;
    if( cursor->thought->place[i] >= 0 ) in++;
    else out++;
  }
  if( in == 0 || out == 0 ) cursor->only_origin = out ? RF_SAID : RF_THOUGHT;
  else cursor->origins = (plan & WANT_ORIGIN) != 0;
}

static int take_listed(Cursor *cursor, const Module *module, int plan, char **message){
  rf_reading *reading = &cursor->reading;
  const char *text;
  int bytes;
  int rc = argument_text(cursor, LISTED, &text, &bytes);
  if( rc != SQLITE_OK ) return rc;
  reading->list = rf_list_of(text, bytes);
  if( reading->list == RF_NO_LIST ){
    return rf_source_find(module->db, "listed", text, bytes, &reading->listed, message);
  }
  reading->json = cursor->argument[LISTED - FIRST_ARGUMENT];
  if( (plan & WANT_RANK) == 0 ) return SQLITE_OK;
  *message = sqlite3_mprintf("reasoning_scan: listed: a rank needs all rows; ask for no rank, or"
                             " name a table or view with the rowids of all rows that have a text");
  return *message ? SQLITE_ERROR : SQLITE_NOMEM;
}

/* Makes of the arguments what the scan works with. */
static int take_arguments(
  Cursor *cursor, const Module *module, int plan, sqlite3_value **values, int *used,
  char **message
){
  const char *text;
  int bytes;
  int rc = copy_arguments(cursor, plan, values, used, message);
  if( rc == SQLITE_OK ) rc = compile(cursor, module, message);
  if( rc == SQLITE_OK && has(cursor, THOUGHT) ){
    rc = rf_column_set_parse("reasoning_scan", cursor->argument[THOUGHT - FIRST_ARGUMENT],
                             cursor->compiled->program->spec->columns.count, &cursor->thought,
                             message);
  }
  if( rc == SQLITE_OK ) rc = argument_text(cursor, SOURCE, &text, &bytes);
  if( rc == SQLITE_OK ){
    rc = rf_source_find(module->db, "source", text, bytes, &cursor->reading.source, message);
  }
  if( rc != SQLITE_OK ) return rc;
  take_origin(cursor, plan);
  if( has(cursor, STORED) ) rc = take_stored(cursor, message);
  if( rc == SQLITE_OK && has(cursor, LISTED) ) rc = take_listed(cursor, module, plan, message);
  return rc;
}

/* Narrows a range by a bound; one that is no whole number is left to SQLite. */
static void narrow(rf_range *range, int bit, sqlite3_value *value){
  sqlite3_int64 bound;
  if( !rf_value_whole(value, &bound) ) return;
  if( bit == ROWID_EQ || bit == ROWID_GE || bit == ROWID_GT ){
    /* "> the greatest integer" stays ">=", and SQLite drops the row. */
    const sqlite3_int64 low = bit == ROWID_GT && bound < INT64_MAX ? bound + 1 : bound;
    if( low > range->low ) range->low = low;
  }
  if( bit == ROWID_EQ || bit == ROWID_LE || bit == ROWID_LT ){
    const sqlite3_int64 high = bit == ROWID_LT && bound > INT64_MIN ? bound - 1 : bound;
    if( high < range->high ) range->high = high;
  }
}

static int start(Cursor *cursor, Module *module, int plan, sqlite3_value **values, char **message){
  const int ranked = (plan & WANT_RANK) != 0;
  rf_range range = {INT64_MIN, INT64_MAX};
  sqlite3_int64 limit = -1, offset = 0;
  rf_scan_order order = RF_UNORDERED;
  rf_hit_order hit_order = RF_AS_READ;
  int used = 0;
  int rc = take_arguments(cursor, module, plan, values, &used, message);
  if( rc != SQLITE_OK ) return rc;
  for(int bit = ROWID_EQ; bit <= ROWID_LE; bit *= 2){
    if( plan & bit ) narrow(&range, bit, values[used++]);
  }
  if( plan & LIMITED ) limit = sqlite3_value_int64(values[used++]);
  if( plan & OFFSET ) offset = sqlite3_value_int64(values[used++]);
  if( plan & BY_ROWID ){
    order = plan & DESCENDING ? RF_DESCENDING : RF_ASCENDING;
    hit_order = plan & DESCENDING ? RF_ROWID_DESCENDING : RF_ROWID_ASCENDING;
  }
  if( plan & BY_RANK ) hit_order = plan & DESCENDING ? RF_RANK_DESCENDING : RF_RANK_ASCENDING;
  if( ranked ){
    /* Ranks are made over all rows; the range then picks from them. */
    cursor->ranked = 1;
    rc = rf_scan_ranked(module->db, &cursor->reading, cursor->compiled, module->corpora,
                        cursor->origins ? cursor->thought : 0, range, hit_order,
                        &cursor->hits, &cursor->count, message);
    if( rc != SQLITE_OK ) return rc;
    if( offset > 0 && limit >= 0 ){
      limit = offset > INT64_MAX - limit ? INT64_MAX : limit + offset;
    }
    if( limit >= 0 && limit < cursor->count ) cursor->count = (int)limit;
  }else{
    rc = rf_reader_open(&cursor->reader, module->db, &cursor->reading, cursor->compiled,
                        RF_ROWS_THAT_MATCH, range, order, message);
    if( rc != SQLITE_OK ) return rc;
  }
  return advance(cursor, message);
}

static int scan_filter(
  sqlite3_vtab_cursor *base, int plan, const char *unused, int count, sqlite3_value **values
){
  Cursor *cursor = (Cursor *)base;
  char *message = 0;
  int rc;
  (void)unused;
  (void)count;
  cursor_clear(cursor);
  rc = start(cursor, ((Table *)base->pVtab)->module, plan, values, &message);
  return report(cursor, rc, message);
}

static int scan_next(sqlite3_vtab_cursor *base){
  Cursor *cursor = (Cursor *)base;
  char *message = 0;
  int rc = advance(cursor, &message);
  return report(cursor, rc, message);
}

static int scan_eof(sqlite3_vtab_cursor *base){
  return ((Cursor *)base)->end;
}

static int scan_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column){
  const Cursor *cursor = (Cursor *)base;
  static const char *const origins[] = {0, "said", "thought", "both"};
  switch( column ){
    case ROWID:
      sqlite3_result_int64(context, cursor->current.rowid);
      break;
    case RANK:
      if( cursor->ranked ) sqlite3_result_double(context, cursor->current.rank);
      break;
    case ORIGIN:
      if( cursor->current.origin ){
        sqlite3_result_text(context, origins[cursor->current.origin], -1, SQLITE_STATIC);
      }
      break;
    default:
      if( cursor->argument[column - FIRST_ARGUMENT] ){
        sqlite3_result_value(context, cursor->argument[column - FIRST_ARGUMENT]);
      }
      break;
  }
  return SQLITE_OK;
}

static int scan_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid){
  *rowid = ((Cursor *)base)->current.rowid;
  return SQLITE_OK;
}

/* ---- registration ------------------------------------------------------------------ */

static void module_free(void *freed){
  Module *module = freed;
  if( module == 0 ) return;
  rf_compiler_free(module->compiler);
  rf_corpora_free(module->corpora);
  sqlite3_free(module);
}

int rf_register_scan(sqlite3 *db, fts5_api *api){
  /* Without xCreate it is there for every connection, and cannot be created. */
  static const sqlite3_module methods = {
    .iVersion = 0,
    .xConnect = scan_connect,
    .xBestIndex = scan_best_index,
    .xDisconnect = scan_disconnect,
    .xOpen = scan_open,
    .xClose = scan_close,
    .xFilter = scan_filter,
    .xNext = scan_next,
    .xEof = scan_eof,
    .xColumn = scan_column,
    .xRowid = scan_rowid,
  };
  Module *module = sqlite3_malloc64(sizeof(*module));
  if( module == 0 ) return SQLITE_NOMEM;
  memset(module, 0, sizeof(*module));
  module->db = db;
  module->compiler = rf_compiler_new(db, api);
  module->corpora = rf_corpora_new();
  if( module->compiler == 0 || module->corpora == 0 ){
    module_free(module);
    return SQLITE_NOMEM;
  }
  return sqlite3_create_module_v2(db, "reasoning_scan", &methods, module, module_free);
}
