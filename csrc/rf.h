/*
** The private header of the library: its sections are the files that implement them.
**
** Three layers, one direction:
**   pure/       bytes in, result out; no SQLite header
**   glue/       SQLite values, FTS5 auxiliary functions, virtual tables
**   extension.c the entry point, registration only
*/
#ifndef RF_H
#define RF_H

#include "pure/program.h"
#include "sqlite3ext.h"

SQLITE_EXTENSION_INIT3

/* ---- glue/fts5_host.c: the FTS5 of the host ------------------------------ */

/*
** Finds the FTS5 API of a connection. On failure returns an SQLite error code
** and, where the reason is known, a message from sqlite3_mprintf in *message,
** which the caller frees.
*/
int rf_fts5_api(sqlite3 *db, fts5_api **api, char **message);

/*
** Whether sqlite3_interrupt() was called: for loops that run long between two
** opcodes. Always 0 on hosts before 3.41, which cannot tell.
*/
int rf_interrupted(sqlite3 *db);

/*
** Keeps the library that holds `address` mapped for the rest of the process.
** Best effort: where the system cannot, nothing happens.
*/
void rf_keep_mapped(const void *address);

/* ---- glue/column_set.c: a set of columns by number ----------------------- */

/*
** Columns of a table, named as in '0 1' or '-2' (all but column 2). One
** allocation of sqlite3_malloc64(); free it with sqlite3_free().
*/
typedef struct rf_column_set {
  int count;         /* columns in the set, at least 1 */
  int columns;       /* columns of the table */
  const int *column; /* `count` column numbers, in the order written */
  const int *place;  /* for each column of the table its index in `column`, or -1 */
} rf_column_set;

/* Room for the digits of a column set that is given as a number. */
typedef struct rf_column_set_digits {
  char text[24];
} rf_column_set_digits;

/*
** The text of a column set: a text itself, a whole number as its digits, which
** are written to *digits. *text is NULL for any other value, and lives as long
** as the value and *digits do. Returns SQLITE_NOMEM or SQLITE_OK.
*/
int rf_column_set_text(sqlite3_value *value, rf_column_set_digits *digits,
                       const char **text, int *bytes);

/*
** Reads a column set for a table of `columns` columns. `function` names the SQL
** function in messages. On failure returns SQLITE_ERROR with a message from
** sqlite3_mprintf in *message, which the caller frees, or SQLITE_NOMEM.
*/
int rf_column_set_parse(const char *function, sqlite3_value *value, int columns,
                        rf_column_set **set, char **message);

/* ---- glue/tokenize.c: tokenizers of the host's FTS5 ----------------------- */

/*
** Opens the tokenizer that a spec names; an rf_host's open(), but for the type of
** the first argument. rf_tokenizer_close() takes a zeroed tokenizer too.
*/
int rf_tokenizer_open(fts5_api *api, const rf_spec *spec, rf_tokenizer *tokenizer,
                      rf_error *error);
void rf_tokenizer_close(rf_tokenizer *tokenizer);

/* ---- glue/compiled.c: a spec and a query, ready to be asked --------------- */

/* SQLite's allocator for the pure layer. */
extern const rf_memory rf_sqlite_memory;

/* Counted references; none of it is shared between connections. */
typedef struct rf_compiled {
  int references;
  sqlite3 *db;
  fts5_api *api;
  rf_host host;
  rf_program *program;
  int spec_bytes;
  int query_bytes;
  char text[];              /* the spec, then the query: what it was made of */
} rf_compiled;

/* The query cache of one registered function; also its user data. */
typedef struct rf_compiler rf_compiler;
rf_compiler *rf_compiler_new(sqlite3 *db, fts5_api *api);
void rf_compiler_free(void *compiler);

/*
** Compiles a query for a spec, or finds it compiled. The caller gets a reference
** in *compiled and gives it back with rf_compiled_release(). On failure *message
** is a text from sqlite3_mprintf, or NULL for errors of no more than a code.
*/
int rf_compiler_get(rf_compiler *compiler, const char *function, const char *spec,
                    int spec_bytes, const char *query, int query_bytes,
                    rf_compiled **compiled, char **message);
void rf_compiled_retain(rf_compiled *compiled);
void rf_compiled_release(void *compiled);

/* Whether it was made of exactly this spec. */
int rf_compiled_has_spec(const rf_compiled *compiled, const char *spec, int bytes);

/*
** The compiled query of a call: where the arguments are constant it stands in the
** auxiliary data of argument `slot`, else in the cache of the function, whose user
** data is its compiler. The caller gets a reference. On failure the call's error is
** set and NULL returned.
*/
rf_compiled *rf_compiled_for(sqlite3_context *context, const char *function, int slot,
                             const char *spec, int spec_bytes, sqlite3_value *query);

/* Registers functions that compile queries, each with a compiler of its own. */
typedef struct rf_function {
  const char *name;
  int arguments;
  void (*function)(sqlite3_context *, int, sqlite3_value **);
} rf_function;
int rf_register_functions(sqlite3 *db, fts5_api *api, const rf_function *functions, int count);

/* ---- glue/values.c: SQL values as texts ----------------------------------- */

/*
** Reads an SQL value as FTS5 reads the value of a column. *text is NULL for an
** SQL NULL. Returns SQLITE_NOMEM or SQLITE_OK.
*/
int rf_value_text(sqlite3_value *value, const char **text, int *bytes);

/* Ends a function with an error; takes `message`, which may be NULL. */
void rf_result_error(sqlite3_context *context, int rc, char *message);

/*
** Reads a whole number; returns 0 for a value that is none. A REAL without a
** fraction is one: hosts written in JavaScript bind every number as REAL.
*/
int rf_value_whole(sqlite3_value *value, sqlite3_int64 *number);

/* Writes the lower 32 bits of a number, little-endian: 4 bytes. */
void rf_put_int32(unsigned char *to, int number);

/* The texts of several values; more than usual take memory. */
#define RF_USUAL_VALUES 16
typedef struct rf_values {
  const char **text;
  int *bytes;
  void *room;
  const char *usual_text[RF_USUAL_VALUES];
  int usual_bytes[RF_USUAL_VALUES];
} rf_values;

/* Reads values; freed with rf_values_free(), also on failure. */
int rf_values_read(int count, sqlite3_value **values, rf_values *read);
void rf_values_free(rf_values *read);

/* ---- glue/row_call.c: scalar functions that ask a query about a row ------------ */

/* A query and a row, from the arguments of a function. */
typedef struct rf_row_call {
  rf_compiled *compiled; /* a reference */
  rf_values values;
  rf_row row;            /* the values */
} rf_row_call;

/*
** Begin a call for a table of one column `text`, or for the columns of a spec.
** `function` names it in messages. Where they return false the result is set: NULL
** for a row without any value, or an error; else rf_row_call_end() ends the call.
** The query is argument 0 of the function, or 1 behind the spec.
*/
bool rf_row_call_text(sqlite3_context *context, const char *function, sqlite3_value *query,
                      sqlite3_value *text, rf_row_call *call);
bool rf_row_call_columns(sqlite3_context *context, const char *function,
                         sqlite3_value *spec, sqlite3_value *query, int count,
                         sqlite3_value **values, rf_row_call *call);
void rf_row_call_end(rf_row_call *call);

/* ---- registration, one function a file; called by extension.c ------------ */

int rf_register_match(sqlite3 *db, fts5_api *api);     /* glue/match.c */
int rf_register_counts(sqlite3 *db, fts5_api *api);    /* glue/counts.c */
int rf_register_parse(sqlite3 *db, fts5_api *api);     /* glue/parse.c */
int rf_register_snippet(sqlite3 *db, fts5_api *api);   /* glue/snippet.c */
int rf_register_scan(sqlite3 *db, fts5_api *api);      /* glue/scan.c */
int rf_register_stored(sqlite3 *db, fts5_api *api);    /* glue/scan_reader.c */
int rf_register_auxiliary(sqlite3 *db, fts5_api *api); /* glue/auxiliary.c */
int rf_register_version(sqlite3 *db, fts5_api *api);   /* glue/version.c */

#endif
