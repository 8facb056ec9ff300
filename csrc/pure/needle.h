/*
** Needles: the ASCII letters and digits that a text must hold, in either case,
** for a term to come out of it; and the search for them.
*/
#ifndef RF_NEEDLE_H
#define RF_NEEDLE_H

#include "pure/query.h"

typedef struct rf_needle {
  const char *bytes; /* lower case letters and digits, of the term */
  int length;        /* 0: there is none */
  int rare[2];       /* the places of its two rarest bytes, in order */
  double rarity;     /* the share of places in prose and code where those two stand */
} rf_needle;

/*
** The longest run of letters and digits in a term less its last `trim` bytes. A
** term with synonyms has none.
*/
rf_needle rf_needle_of(const rf_term *term, int trim);

/* Instruction sets to search with. */
typedef enum rf_simd { RF_SCALAR, RF_SSE2, RF_AVX2, RF_NEON } rf_simd;

/* The best one that the library has code for and this processor can run. */
rf_simd rf_simd_best(void);
const char *rf_simd_name(rf_simd simd);

/*
** The first place >= `from` in a text at which a needle stands in either case, -1
** where there is none. The needle is not empty; 0 <= from. *high becomes whether one
** of the bytes that were compared is not ASCII: those at needle->rare[0] from all
** places up to the result.
*/
typedef int (*rf_finder)(const rf_needle *needle, const char *text, int bytes, int from,
                         bool *high);

/* The search with an instruction set, NULL where the library has no code for it. */
rf_finder rf_finder_for(rf_simd simd);

#endif
