/*
** What a table holds: the argument list of CREATE VIRTUAL TABLE ... USING
** fts5(...), as far as it says something about matching.
*/
#ifndef RF_SPEC_H
#define RF_SPEC_H

#include "pure/query.h"

/* SQLite's own limit on columns, less the two hidden ones of an FTS5 table. */
#define RF_COLUMN_LIMIT 1998

/* Bytes of a spec; a limit of our own. */
#define RF_SPEC_LIMIT 100000

typedef struct rf_spec {
  rf_arena arena;
  rf_columns columns;
  int tokenizer_count;           /* 0 for the default tokenizer */
  const char *const *tokenizer;  /* its name and arguments */
} rf_spec;

/*
** Reads a spec. The result is freed with rf_spec_free(); on RF_ERROR `error`
** says what is wrong.
*/
int rf_spec_parse(const rf_memory *memory, const char *text, int bytes,
                  rf_spec **spec, rf_error *error);
void rf_spec_free(rf_spec *spec);

#endif
