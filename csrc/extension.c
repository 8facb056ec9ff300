/*
** The entry point: decides whether this SQLite may use the library, then
** registers everything.
**
** The return value is SQLITE_OK and not SQLITE_OK_LOAD_PERMANENTLY. Nothing of
** ours outlives a connection (no auto-extension, no VFS, no thread), and SQLite
** unloads a library only after it has dropped the connection's functions and
** modules. Unloading gives a file back for use by another SQLite library.
*/
#include <stdatomic.h>
#include <stddef.h>

#include "export.h"
#include "rf.h"

SQLITE_EXTENSION_INIT1

/* 3.38 has sqlite3_vtab_rhs_value() and sqlite3_error_offset(). */
#define RF_SQLITE_FLOOR 3038000
#define RF_SQLITE_FLOOR_TEXT "3.38.0"

RF_EXPORT int sqlite3_reasoningfts_init(
  sqlite3 *db, char **message, const sqlite3_api_routines *api
);

/*
** Claims this image of the library for the SQLite library behind `api`; returns
** 0 where another one has it.
**
** sqlite3_api is one pointer for the whole image, and SQLite opens extensions
** so that a file is mapped once a process. A second SQLite library (Python's
** sqlite3 beside apsw, say) that overwrote it would make connections of the
** first call into the wrong library.
*/
static int claim(const sqlite3_api_routines *api){
  static _Atomic(const sqlite3_api_routines *) owner;
  const sqlite3_api_routines *expected = 0;
  if( atomic_compare_exchange_strong(&owner, &expected, api) ) return 1;
  return expected == api;
}

/*
** Registers everything. *done counts the files that have registered something,
** the failing one included.
*/
static int register_all(sqlite3 *db, fts5_api *fts, int *done){
  static int (*const parts[])(sqlite3 *, fts5_api *) = {
    rf_register_version,
    rf_register_match,
    rf_register_counts,
    rf_register_parse,
    rf_register_snippet,
    rf_register_scan,
    rf_register_stored,
    rf_register_auxiliary,
  };
  int rc = SQLITE_OK;
  *done = 0;
  for(size_t i = 0; rc == SQLITE_OK && i < sizeof(parts) / sizeof(parts[0]); i++){
    *done += 1;
    rc = parts[i](db, fts);
  }
  return rc;
}

int sqlite3_reasoningfts_init(
  sqlite3 *db, char **message, const sqlite3_api_routines *api
){
  static const char anchor = 0; /* an address inside this library */
  fts5_api *fts = 0;
  int rc, done = 0;

  /* Until the library is claimed only `api` may be used, never sqlite3_api. */
  if( api->libversion_number() < RF_SQLITE_FLOOR ){
    *message = api->mprintf(
        "reasoning_fts: SQLite %s is too old, " RF_SQLITE_FLOOR_TEXT
        " or newer is needed; use a program with a newer SQLite", api->libversion());
    return SQLITE_ERROR;
  }
  if( !claim(api) ){
    *message = api->mprintf(
        "reasoning_fts: this file is already loaded by another SQLite library in this"
        " process; load a copy of the file under the same name from another folder");
    return SQLITE_ERROR;
  }
  SQLITE_EXTENSION_INIT2(api)

  rc = rf_fts5_api(db, &fts, message);
  if( rc != SQLITE_OK ) return rc;
  rc = register_all(db, fts, &done);
  if( rc != SQLITE_OK ){
    /*
    ** SQLite unloads a library whose entry point fails, but FTS5 has no way to
    ** take an auxiliary function back: the connection would call unmapped code.
    */
    if( done > 0 ) rf_keep_mapped(&anchor);
    if( rc != SQLITE_NOMEM ){
      *message = sqlite3_mprintf(
          "reasoning_fts: cannot register the functions: %s; load the library while no"
          " statement of this connection runs", sqlite3_errmsg(db));
    }
  }
  return rc;
}
