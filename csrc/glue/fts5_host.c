/*
** What the library asks of its host: the FTS5 of the connection, whether the
** user has interrupted the statement, to stay mapped, and its whole numbers.
*/
#if !defined(_WIN32)
#  define _GNU_SOURCE /* dladdr() */
#  include <dlfcn.h>
#endif

#include "rf.h"

int rf_fts5_api(sqlite3 *db, fts5_api **api, char **message){
  sqlite3_stmt *statement = 0;
  fts5_api *found = 0;
  int rc, rc_final;

  *api = 0;
  rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, 0);
  if( rc == SQLITE_NOMEM ) return rc;
  if( rc != SQLITE_OK ){
    *message = sqlite3_mprintf(
        "reasoning_fts: the FTS5 of this SQLite cannot be reached: %s; use a SQLite"
        " that is built with SQLITE_ENABLE_FTS5", sqlite3_errmsg(db));
    return *message ? rc : SQLITE_NOMEM;
  }
  rc = sqlite3_bind_pointer(statement, 1, (void *)&found, "fts5_api_ptr", 0);
  if( rc == SQLITE_OK ){
    rc = sqlite3_step(statement);
    if( rc == SQLITE_ROW ) rc = SQLITE_OK;
  }
  rc_final = sqlite3_finalize(statement);
  if( rc == SQLITE_OK ) rc = rc_final;
  if( rc == SQLITE_NOMEM ) return rc;
  if( rc == SQLITE_OK && (found == 0 || found->iVersion < 2) ) rc = SQLITE_ERROR;
  if( rc != SQLITE_OK ){
    *message = sqlite3_mprintf(
        "reasoning_fts: this SQLite has no FTS5 of API version 2 or newer; use a SQLite"
        " that is built with SQLITE_ENABLE_FTS5");
    return *message ? rc : SQLITE_NOMEM;
  }
  *api = found;
  return SQLITE_OK;
}

int rf_interrupted(sqlite3 *db){
#if defined(SQLITE_OMIT_LOAD_EXTENSION)
  return sqlite3_is_interrupted(db);
#else
  /* Older hosts do not have the slot; there the statement ends at its next opcode. */
  return sqlite3_libversion_number() >= 3041000 && sqlite3_is_interrupted(db);
#endif
}

int rf_value_whole(sqlite3_value *value, sqlite3_int64 *number){
  /* Beyond this a REAL stands for more than one integer. */
  const double exact = 9007199254740992.0;
  double real;

  *number = 0;
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER:
      *number = sqlite3_value_int64(value);
      return 1;
    case SQLITE_FLOAT:
      real = sqlite3_value_double(value);
      if( !(real >= -exact && real <= exact) ) return 0;
      *number = (sqlite3_int64)real;
      return (double)*number == real;
    default:
      return 0;
  }
}

void rf_keep_mapped(const void *address){
#if !defined(_WIN32) && defined(RTLD_NOLOAD) && defined(RTLD_NODELETE)
  Dl_info info;
  if( dladdr(address, &info) != 0 && info.dli_fname != 0 ){
    /* The handle is left open on purpose: it is what keeps the library mapped. */
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  }
#else
  (void)address;
#endif
}
