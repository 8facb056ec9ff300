/*
** Decides whether a row matches a query, and where its phrases stand in it.
*/
#ifndef RF_EVALUATE_H
#define RF_EVALUATE_H

#include <stdint.h>

#include "pure/query.h"

/* A place in a row: the column in the upper half, the token in the lower. */
#define RF_PLACE(column, token) (((int64_t)(column) << 32) | (token))
#define RF_PLACE_COLUMN(place) ((int)((place) >> 32))
#define RF_PLACE_TOKEN(place) ((int)((place) & 0x7FFFFFFF))

typedef struct rf_matcher rf_matcher;

/*
** The hits of all terms in one row, and the comparisons of hits for a NEAR group,
** whose number grows with the square of its phrases; more are RF_TOOBIG.
*/
#define RF_PLACE_LIMIT (1 << 25)
#define RF_NEAR_LIMIT (1 << 29)

/* The query must outlive the matcher. */
int rf_matcher_new(const rf_memory *memory, const rf_query *query, rf_matcher **matcher);
void rf_matcher_free(rf_matcher *matcher);

/*
** A row: begin, then for each indexed column its number and its tokens, in
** order, then finish. rf_matcher_token() is an rf_token_callback whose context
** is the matcher. An unindexed column is left out.
*/
void rf_matcher_begin(rf_matcher *matcher);
void rf_matcher_column(rf_matcher *matcher, int column);
int rf_matcher_token(void *matcher, int flags, const char *token, int bytes, int start, int end);

/*
** Whether the row matches. With `hits` the functions below hold for the row
** until the next begin; without, only the verdict is made.
*/
int rf_matcher_finish(rf_matcher *matcher, bool hits, bool *matches);

/*
** Instead of finish: whether one leaf, or one phrase by itself, matches the text
** that was read. Of the row's other properties nothing holds afterwards.
*/
int rf_matcher_leaf(rf_matcher *matcher, const rf_node *leaf, bool *matches);
int rf_matcher_phrase(rf_matcher *matcher, const rf_phrase *phrase, bool *matches);

/* Tokens of the row so far, colocated ones not counted. */
int64_t rf_matcher_tokens(const rf_matcher *matcher);

/* The hits of a phrase, ascending, as xInst of FTS5 shows them; *count may be 0. */
const int64_t *rf_matcher_hits(const rf_matcher *matcher, int phrase, int *count);

/* The length of a phrase in tokens: xPhraseSize. */
int rf_matcher_phrase_tokens(const rf_matcher *matcher, int phrase);

/* Whether the phrase alone, with its column set, would match: xQueryPhrase. */
bool rf_matcher_alone(const rf_matcher *matcher, int phrase);

#endif
