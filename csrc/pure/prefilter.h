/*
** Says of a row, without tokenizing it, that it cannot match.
*/
#ifndef RF_PREFILTER_H
#define RF_PREFILTER_H

#include "pure/needle.h"

/* A row: `text[i]` of `bytes[i]` bytes in column i, NULL for a NULL. */
typedef struct rf_row {
  int count;
  const char *const *text;
  const int *bytes;
} rf_row;

typedef struct rf_prefilter rf_prefilter;

/* What is known of the tokenizer of a query. */
typedef struct rf_reasoning {
  bool ascii;  /* it does not fold characters into ASCII: `ascii` */
  int trim;    /* bytes that a term may lose or change at its end: 1 for `porter` */
} rf_reasoning;

/* With more phrases, looking for each one would cost more than tokenizing. */
#define RF_PREFILTER_PHRASES 24

/*
** Makes a prefilter for a query over columns; both must outlive it. *prefilter is
** NULL where it would not pay.
*/
int rf_prefilter_new(const rf_memory *memory, const rf_query *query, const rf_columns *columns,
                     rf_reasoning reasoning, rf_simd simd, rf_prefilter **prefilter);
void rf_prefilter_free(rf_prefilter *prefilter);

/* What a row is asked for. */
typedef enum rf_demand {
  RF_WHOLE_QUERY,  /* a match */
  RF_ANY_PHRASE,   /* a hit of some phrase by itself, whether or not the row matches */
} rf_demand;

/* Whether a row may have it. False is certain. */
bool rf_prefilter_passes(rf_prefilter *prefilter, const rf_row *row, rf_demand demand);

/*
** The same for a row that is not decoded yet: the texts together hold, as plain
** text or as JSON, all that the row's columns hold, in whatever columns.
*/
bool rf_prefilter_stored_passes(rf_prefilter *prefilter, const rf_row *stored, rf_demand demand);

/* The needles of a phrase, rarest first; *count may be 0. */
const rf_needle *rf_prefilter_needles(const rf_prefilter *prefilter, int phrase, int *count);

/* The search that the prefilter uses. */
rf_finder rf_prefilter_finder(const rf_prefilter *prefilter);

/* Whether a leaf can have a hit in a column of a row: it is indexed, covered and no NULL. */
bool rf_prefilter_covers(const rf_prefilter *prefilter, const rf_row *row, const rf_node *leaf,
                         int column);

/*
** Whether every token of the text of a column comes out of the very letters that
** it consists of; of the row that the prefilter was asked about last.
*/
bool rf_prefilter_is_plain(rf_prefilter *prefilter, const rf_row *row, int column);

#endif
