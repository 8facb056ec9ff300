/*
** Says quickly, without a tokenizer, that a row cannot match.
*/
#ifndef RF_PREFILTER_H
#define RF_PREFILTER_H

#include "pure/query.h"

/* A row: for each column of the spec its text, NULL for none. */
typedef struct rf_row {
  int count;
  const char *const *text;
  const int *bytes;
} rf_row;

typedef struct rf_prefilter rf_prefilter;

/*
** Makes a filter for a query whose tokens the named tokenizer made; `tokenizer`
** has its name and arguments as in a spec. Where it knows no sound test for the
** tokenizer or the query, *prefilter is NULL, and every row may match. The query
** must outlive the filter.
*/
int rf_prefilter_new(const rf_memory *memory, const rf_query *query, int columns,
                     int tokenizer_count, const char *const *tokenizer,
                     rf_prefilter **prefilter);
void rf_prefilter_free(rf_prefilter *prefilter);

/* False only where the row cannot match. */
bool rf_prefilter_may_match(rf_prefilter *prefilter, const rf_row *row);

/* False only where no phrase of the query can have a hit in the row. */
bool rf_prefilter_may_hit(rf_prefilter *prefilter, const rf_row *row);

#endif
