/*
** A query for a spec, ready to be asked about rows: parsed, with its tokenizer,
** its prefilter and its matcher.
*/
#ifndef RF_PROGRAM_H
#define RF_PROGRAM_H

#include "pure/evaluate.h"
#include "pure/prefilter.h"
#include "pure/spec.h"
#include "pure/unicode61.h"
#include "pure/window.h"

/*
** What a program needs of its host. open() opens the tokenizer that a spec names;
** where it fails, `error` may be left empty. interrupted() is asked about once
** for each megabyte.
*/
typedef struct rf_host {
  void *context;
  int (*open)(void *context, const rf_spec *spec, rf_tokenizer *tokenizer, rf_error *error);
  void (*close)(rf_tokenizer *tokenizer);
  bool (*interrupted)(void *context);
} rf_host;

typedef struct rf_program {
  const rf_memory *memory;
  const rf_host *host;     /* NULL: none but our own tokenizers, and no interrupts */
  rf_spec *spec;
  rf_tokenizer tokenizer;
  rf_unicode61 *bounds;    /* knows where texts can be cut; NULL for tokenizers unknown to us */
  bool own;                /* `bounds` is the tokenizer itself */
  rf_query *query;
  rf_matcher *matcher;
  rf_prefilter *prefilter; /* NULL where rows are not filtered */
  rf_windows windows;
  int polled;              /* bytes since interrupted() was asked */
} rf_program;

/*
** Compiles a query. `host` and the texts must outlive the program. RF_ERROR comes
** with a message, but for an error of the tokenizer's own that says nothing.
*/
int rf_program_new(const rf_memory *memory, const rf_host *host, const char *spec, int spec_bytes,
                   const char *query, int query_bytes, rf_program **program, rf_error *error);
void rf_program_free(rf_program *program);

/*
** Tokenizes a row into the matcher, which is then ready to be finished; or only
** counts its tokens, which is faster.
*/
int rf_program_read(rf_program *program, const rf_row *row);
int rf_program_count(rf_program *program, const rf_row *row, int64_t *tokens);
int rf_program_count_text(rf_program *program, const char *text, int bytes, int64_t *tokens);

/* Whether a row matches. With `hits` the matcher holds the hits of a match. */
int rf_program_match(rf_program *program, const rf_row *row, bool hits, bool *matches);

/*
** For ranks: which phrases match the row by themselves (alone[i], for the query's
** phrase i), and whether the row matches, in which case the matcher holds its
** hits and tokens.
*/
int rf_program_hits(rf_program *program, const rf_row *row, bool *alone, bool *matches);

/*
** Whether a row that is not decoded yet (see rf_prefilter_stored_passes()) may
** have what is demanded.
*/
bool rf_program_stored_passes(rf_program *program, const rf_row *stored, rf_demand demand);

#endif
