/*
** A host for the library: an SQLite that is linked in like the library itself, so
** that sanitizers see both, with an allocator that counts and can be made to fail.
*/
#ifndef HOST_H
#define HOST_H

#include <stddef.h>

#include "sqlite3.h"

/*
** Begins SQLite with the allocator below and without memory of its own, so that
** every allocation passes here; to be called once, before anything else. Ends the
** process where this SQLite has no FTS5 or is too old for the library.
*/
void host_begin(void);

/* Opens a database and loads the library into it, as sqlite3_load_extension() does. */
sqlite3 *host_open(const char *file);

/* The entry point alone; *message is from sqlite3_mprintf, or NULL. */
int host_load(sqlite3 *db, char **message);

/* Ends the process with a message. */
_Noreturn void host_fail(const char *format, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 1, 2)))
#endif
;

/* ---- the allocator ---------------------------------------------------------- */

/*
** Lets the `number`-th allocation from now on fail, the first being 1, and with
** `sticky` all that follow it; 0 lets none fail.
*/
void host_fail_allocation(long number, int sticky);

/* The failures since then, and the allocations. */
long host_failures(void);
long host_allocations(void);

/* Bytes that are allocated and not freed. */
sqlite3_int64 host_memory(void);

/* ---- answers ---------------------------------------------------------------- */

/* What a statement says: its rows as text, or its error. */
typedef struct host_answer {
  int rc;        /* SQLITE_OK, or the code of the error */
  char *text;
  size_t length;
  size_t room;
} host_answer;

/*
** Runs the statements of `sql`, one after the other, up to the first error. The
** texts of the answer are not of SQLite's memory; free it with host_answer_end().
*/
void host_ask(sqlite3 *db, const char *sql, host_answer *answer);

/* A text with its length; NULL for an SQL NULL. */
typedef struct host_text {
  const char *bytes;
  int length;
} host_text;

/* The same with values for ?1, ?2, ... of each statement. */
void host_ask_with(sqlite3 *db, const char *sql, int count, const host_text *values,
                   host_answer *answer);
void host_answer_end(host_answer *answer);

#endif
