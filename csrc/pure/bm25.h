/*
** bm25 as FTS5 computes it: the one place where a rank is made.
**
** k1 = 1.2 and b = 0.75, as in the auxiliary function bm25() of SQLite's FTS5;
** the formula is the one of Robertson and Zaragoza (2009) with FTS5's floor of
** 1e-6 for the inverse document frequency. Smaller (more negative) is better.
*/
#ifndef RF_BM25_H
#define RF_BM25_H

#include <stdint.h>

/* Inverse document frequency of a phrase that `hits` of `rows` rows hold. */
double rf_bm25_idf(int64_t rows, int64_t hits);

/*
** The rank of one row. `idf[i]` and `frequency[i]` (weighted number of hits)
** for each of `phrases` phrases; `tokens` is the row's length and
** `average_tokens` the mean length of a row, both in tokens.
*/
double rf_bm25_rank(int phrases, const double *idf, const double *frequency,
                    double tokens, double average_tokens);

#endif
