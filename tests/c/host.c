/*
** The host of the C drivers; see host.h.
*/
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* csrc/extension.c; the vendored sqlite3ext.h would redirect every call of this file. */
typedef struct sqlite3_api_routines sqlite3_api_routines;
int sqlite3_reasoningfts_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

_Noreturn void host_fail(const char *format, ...){
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

/* ---- the allocator ---------------------------------------------------------- */

static sqlite3_mem_methods system_memory;
static long countdown;   /* to the failure; 0 for none */
static int failing;      /* all allocations fail */
static int keep_failing;
static long failures, allocations;
static sqlite3_int64 held;

static int fails(void){
  allocations++;
  if( countdown > 0 && --countdown == 0 ) failing = 1;
  if( !failing ) return 0;
  if( !keep_failing ) failing = 0;
  failures++;
  return 1;
}

static void *allocate(int bytes){
  void *block = fails() ? 0 : system_memory.xMalloc(bytes);
  if( block ) held += system_memory.xSize(block);
  return block;
}

static void *reallocate(void *block, int bytes){
  const int before = system_memory.xSize(block);
  void *grown = fails() ? 0 : system_memory.xRealloc(block, bytes);
  if( grown ) held += system_memory.xSize(grown) - before;
  return grown;
}

static void free_block(void *block){
  held -= system_memory.xSize(block);
  system_memory.xFree(block);
}

void host_fail_allocation(long number, int sticky){
  countdown = number;
  failing = 0;
  keep_failing = sticky;
  failures = allocations = 0;
}

long host_failures(void){
  return failures;
}

long host_allocations(void){
  return allocations;
}

sqlite3_int64 host_memory(void){
  return held;
}

/* ---- connections ------------------------------------------------------------ */

static const sqlite3_api_routines *routines;

/* SQLite hands the table of its functions to extensions alone. */
static int note_routines(sqlite3 *db, char **message, const sqlite3_api_routines *api){
  (void)db;
  (void)message;
  routines = api;
  return SQLITE_OK;
}

void host_begin(void){
  sqlite3_mem_methods counting;
  sqlite3 *db;
  int rc = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &system_memory);
  counting = system_memory;
  counting.xMalloc = allocate;
  counting.xFree = free_block;
  counting.xRealloc = reallocate;
  if( rc == SQLITE_OK ) rc = sqlite3_config(SQLITE_CONFIG_MALLOC, &counting);
  if( rc == SQLITE_OK ) rc = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
  if( rc == SQLITE_OK ) rc = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
  if( rc == SQLITE_OK ) rc = sqlite3_initialize();
  if( rc == SQLITE_OK ) rc = sqlite3_auto_extension((void (*)(void))note_routines);
  if( rc == SQLITE_OK ) rc = sqlite3_open(":memory:", &db);
  if( rc == SQLITE_OK ) rc = sqlite3_exec(db, "CREATE VIRTUAL TABLE t USING fts5(a)", 0, 0, 0);
  if( rc == SQLITE_OK ) rc = sqlite3_close(db);
  sqlite3_reset_auto_extension();
  if( rc != SQLITE_OK || routines == 0 || sqlite3_libversion_number() < 3038000 ){
    host_fail("SQLite %s cannot be the host: FTS5 and 3.38 or newer are needed (%s)",
              sqlite3_libversion(), sqlite3_errstr(rc));
  }
}

int host_load(sqlite3 *db, char **message){
  *message = 0;
  return sqlite3_reasoningfts_init(db, message, routines);
}

sqlite3 *host_open(const char *file){
  sqlite3 *db;
  char *message;
  if( sqlite3_open(file, &db) != SQLITE_OK || host_load(db, &message) != SQLITE_OK ){
    host_fail("cannot open %s with the library: %s", file, sqlite3_errmsg(db));
  }
  return db;
}

/* ---- answers ---------------------------------------------------------------- */

static void add(host_answer *answer, const char *bytes, size_t length){
  while( answer->length + length + 1 > answer->room ){
    answer->room = answer->room ? answer->room * 2 : 256;
    answer->text = realloc(answer->text, answer->room);
    if( answer->text == 0 ) abort();
  }
  if( length ) memcpy(answer->text + answer->length, bytes, length);
  answer->length += length;
  answer->text[answer->length] = 0;
}

static void put(host_answer *answer, const char *text){
  add(answer, text, strlen(text));
}

/* A failed conversion of a value is noticed by the statement's next step, or here. */
static int add_row(sqlite3_stmt *statement, host_answer *answer){
  for(int i = 0; i < sqlite3_column_count(statement); i++){
    const char *text;
    if( i ) put(answer, " | ");
    if( sqlite3_column_type(statement, i) == SQLITE_NULL ){
      put(answer, "NULL");
      continue;
    }
    text = (const char *)sqlite3_column_text(statement, i);
    if( text == 0 && sqlite3_column_type(statement, i) != SQLITE_BLOB ) return SQLITE_NOMEM;
    add(answer, text, (size_t)sqlite3_column_bytes(statement, i));
  }
  put(answer, "\n");
  return SQLITE_OK;
}

static int bind(sqlite3_stmt *statement, int count, const host_text *values){
  int rc = SQLITE_OK;
  for(int i = 0; rc == SQLITE_OK && i < count; i++){
    if( i >= sqlite3_bind_parameter_count(statement) || values[i].bytes == 0 ) continue;
    rc = sqlite3_bind_text(statement, i + 1, values[i].bytes, values[i].length, SQLITE_STATIC);
  }
  return rc;
}

void host_ask(sqlite3 *db, const char *sql, host_answer *answer){
  host_ask_with(db, sql, 0, 0, answer);
}

void host_ask_with(
  sqlite3 *db, const char *sql, int count, const host_text *values, host_answer *answer
){
  memset(answer, 0, sizeof(*answer));
  put(answer, "");
  while( answer->rc == SQLITE_OK && *sql ){
    sqlite3_stmt *statement = 0;
    int rc = sqlite3_prepare_v2(db, sql, -1, &statement, &sql), rc_final;
    if( rc == SQLITE_OK && statement == 0 ) break; /* blanks and comments */
    if( rc == SQLITE_OK ) rc = bind(statement, count, values);
    while( rc == SQLITE_OK ){
      rc = sqlite3_step(statement);
      if( rc != SQLITE_ROW ) break;
      rc = add_row(statement, answer);
    }
    if( rc != SQLITE_DONE ){
      answer->rc = rc;
      put(answer, "error: ");
      put(answer, sqlite3_errmsg(db));
    }
    rc_final = sqlite3_finalize(statement);
    if( answer->rc == SQLITE_OK && rc_final != SQLITE_OK ) answer->rc = rc_final;
  }
}

void host_answer_end(host_answer *answer){
  free(answer->text);
  memset(answer, 0, sizeof(*answer));
}
