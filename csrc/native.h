/*
** The C functions that other programs than SQLite call by name.
** sqlite_reasoning_fts/native.py declares them a second time for cffi.
**
** Texts are bytes of UTF-8 with their lengths, and may hold NUL. A status is 0, 1
** (an error, with a message), or 7 (out of memory).
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

/* Room for a message, in bytes. */
#define REASONING_FTS_MESSAGE 320

/*
** A query for a spec (the argument list of an FTS5 table), ready to be asked about
** rows; not to be used by two threads at once. Tokenizers are `unicode61` and
** `ascii`: others are SQLite's, and an error. `message` is room for
** REASONING_FTS_MESSAGE bytes; the texts are copied.
*/
typedef struct reasoning_fts_query reasoning_fts_query;
RF_EXPORT int32_t reasoning_fts_query_open(
  const char *spec, int32_t spec_bytes, const char *text, int32_t bytes,
  reasoning_fts_query **query, char *message
);
RF_EXPORT void reasoning_fts_query_close(reasoning_fts_query *query);

/*
** Whether a row matches: `count` texts, one for each column of the spec, NULL for
** none. Another number of them is an error without a message.
*/
RF_EXPORT int32_t reasoning_fts_query_match(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  int32_t *matches
);

/* The query's tree as JSON, in the form of reasoning_parse(); *json is the caller's. */
RF_EXPORT int32_t reasoning_fts_query_parse(
  const reasoning_fts_query *query, char **json, int64_t *bytes
);

/*
** The tokens of a text, by the tokenizer of the query's spec. *tokens is the
** caller's: for each token three 32-bit numbers, its start and end in the text and
** its length, and then as many bytes.
*/
RF_EXPORT int32_t reasoning_fts_query_tokenize(
  const reasoning_fts_query *query, const char *text, int32_t bytes, char **tokens,
  int64_t *size
);

/*
** The snippet of a row, as reasoning_snippet_columns() makes it, of at most `tokens`
** tokens; *snippet is the caller's. `marks` are three texts that end at a NUL: what
** stands before a hit, behind it, and for what is left out.
*/
RF_EXPORT int32_t reasoning_fts_query_snippet(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  const char *const *marks, int32_t tokens, char **snippet, int64_t *size
);

/* Frees what a function above has given to its caller. */
RF_EXPORT void reasoning_fts_free(void *memory);

#endif
