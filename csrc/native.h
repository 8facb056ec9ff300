/*
** The C functions that other programs than SQLite call by name.
** sqlite_reasoning_fts/native.py declares them a second time for cffi.
*/
#ifndef RF_NATIVE_H
#define RF_NATIVE_H

#include <stdint.h>

#include "export.h"

/* The version of the library; static text. */
RF_EXPORT const char *reasoning_fts_version(void);

/*
** Ranks of `count` rows for a query of `phrases` phrases, by rf_bm25_rank().
** `document_frequencies` has `phrases` values. `idf` is room for `phrases`
** values, which this function fills. `frequencies` has `phrases` values for
** the first row, then for the second, and so on; `tokens` has the `count`
** lengths of the rows in tokens; `ranks` receives `count` ranks.
*/
RF_EXPORT void reasoning_fts_bm25(
  int64_t rows,
  double average_tokens,
  int32_t phrases,
  const int64_t *document_frequencies,
  double *idf,
  int64_t count,
  const double *frequencies,
  const double *tokens,
  double *ranks
);

#endif
