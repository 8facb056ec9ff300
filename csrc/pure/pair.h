/*
** Two words of a phrase, next to each other in a text that is not decoded yet.
*/
#ifndef RF_PAIR_H
#define RF_PAIR_H

#include "pure/candidate.h"

/* The needles of two adjacent terms; the first one is searched for. */
typedef struct rf_pair {
  rf_needle first;
  rf_needle second;
} rf_pair;

/*
** Whether the tokens of the pair may be adjacent in what a stored text becomes, be it
** plain or JSON: within one string, or at the end of one and the start of another.
** False is certain.
*/
bool rf_pair_may_stand(const rf_search *search, const rf_pair *pair, rf_hay *hay);

#endif
