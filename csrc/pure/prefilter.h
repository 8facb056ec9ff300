/*
** Says of a row, without tokenizing it, that it cannot match.
*/
#ifndef RF_PREFILTER_H
#define RF_PREFILTER_H

#include "pure/candidate.h"

/* A row: `text[i]` of `bytes[i]` bytes in column i, NULL for a NULL. */
typedef struct rf_row {
  int count;
  const char *const *text;
  const int *bytes;
} rf_row;

typedef struct rf_prefilter rf_prefilter;

/* With more phrases, looking for each one would cost more than tokenizing. */
#define RF_PREFILTER_PHRASES 24

/* Texts of a row that is not decoded yet. */
#define RF_STORED_LIMIT 16

/*
** Makes a prefilter for a query over columns; they and what `search` names must
** outlive it. A term may lose or change `trim` bytes at its end: 1 for `porter`.
** *prefilter is NULL where it would not pay.
*/
int rf_prefilter_new(const rf_memory *memory, const rf_query *query, const rf_columns *columns,
                     rf_search search, int trim, rf_prefilter **prefilter);
void rf_prefilter_free(rf_prefilter *prefilter);

/* What a row is asked for. */
typedef enum rf_demand {
  RF_WHOLE_QUERY,  /* a match */
  RF_ANY_PHRASE,   /* a hit of some phrase by itself, whether or not the row matches */
} rf_demand;

/* Whether a row may have it. False is certain. */
bool rf_prefilter_passes(rf_prefilter *prefilter, const rf_row *row, rf_demand demand);

/*
** The same for a row that is not decoded yet: the texts, RF_STORED_LIMIT at most,
** together hold, as plain text or as JSON, all that the row's columns hold, in
** whatever columns.
*/
bool rf_prefilter_stored_passes(rf_prefilter *prefilter, const rf_row *stored, rf_demand demand);

/* The needles of a phrase, rarest first; *count may be 0. */
const rf_needle *rf_prefilter_needles(const rf_prefilter *prefilter, int phrase, int *count);

/* Whether a leaf can have a hit in a column of a row: it is indexed, covered and no NULL. */
bool rf_prefilter_covers(const rf_prefilter *prefilter, const rf_row *row, const rf_node *leaf,
                         int column);

/*
** rf_candidate() for the text of a column, of the row that the prefilter was asked
** about last.
*/
int rf_prefilter_candidate(rf_prefilter *prefilter, int column, const rf_needle *needle, int from);

#endif
