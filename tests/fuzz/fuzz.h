/*
** What the fuzz drivers share: the specs, a connection with the library and real
** FTS5 tables, and how a difference is reported.
**
** A driver is one LLVMFuzzerTestOneInput(), linked with libFuzzer or with replay.c.
** The first byte of an input chooses a spec; what follows is cut into texts at the
** bytes RS (0x1E) and, between rows, GS (0x1D).
*/
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define FUZZ_RS 0x1E
#define FUZZ_GS 0x1D

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct fuzz_spec {
  const char *text;    /* of `columns` columns */
  const char *twin;    /* the same, with a tokenizer that only passes calls on */
  const char *stored;  /* its indexed columns, as a spec */
  int columns;
} fuzz_spec;

/* The spec that a byte chooses; *number is its index. */
const fuzz_spec *fuzz_spec_of(uint8_t byte, int *number);

/*
** The connection, made at the first call. For each spec it has an FTS5 table
** `one<number>` for single rows, with the columns of the spec; `all<number>` for
** all rows; and a plain table `rows<number>`. The twins' tokenizers are the host's
** under names for which the library has no short cuts.
*/
sqlite3 *fuzz_connection(void);

/* Takes the text before the next `separator` from *at, and moves on behind it. */
host_text fuzz_take(const char **at, const char *end, char separator);

/* Runs a statement whose %d stand for a spec's number. */
host_answer fuzz_ask(const char *sql, int number, int count, const host_text *values);

/* An answer's first line; for an error the kind of FTS5's errors that it is. */
const char *fuzz_kind(const host_answer *answer);

/* Ends the process where two answers are not of one kind. */
void fuzz_compare(const char *what, const host_answer *got, const host_answer *expected);

/* Ends the process by abort(), with a message. */
_Noreturn void fuzz_fail(const char *format, ...)
#if defined(__GNUC__)
  __attribute__((format(printf, 1, 2)))
#endif
;

#endif
