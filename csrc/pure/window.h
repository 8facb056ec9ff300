/*
** Decides about a row by tokenizing only the surroundings of its candidates.
*/
#ifndef RF_WINDOW_H
#define RF_WINDOW_H

#include "pure/evaluate.h"
#include "pure/prefilter.h"
#include "pure/unicode61.h"

typedef enum rf_verdict { RF_NO, RF_YES, RF_UNKNOWN } rf_verdict;

/*
** What the decision is made with: all of it outlives the windows. `bounds` knows
** where the tokenizer's texts can be cut; read() gives the tokens of a piece of
** text to the matcher.
*/
typedef struct rf_windows {
  const rf_query *query;
  rf_prefilter *prefilter;
  rf_matcher *matcher;
  const rf_unicode61 *bounds;
  int (*read)(void *context, const char *text, int bytes);
  void *context;
} rf_windows;

/*
** For a row that the prefilter passed (and was asked about last). RF_UNKNOWN: the
** row has to be read whole. The matcher is not left in any state of use.
*/
int rf_windows_match(const rf_windows *windows, const rf_row *row, rf_verdict *verdict);

/* Whether phrases match by themselves: verdict[i] for the query's phrase i. */
int rf_windows_phrases(const rf_windows *windows, const rf_row *row, rf_verdict *verdict);

#endif
