/*
** bm25 as FTS5 computes it. The operations stand in FTS5's order, so that the
** results agree to the last bit and not merely closely.
*/
#include "pure/bm25.h"

#include <math.h>

double rf_bm25_idf(int64_t rows, int64_t hits){
  const double rest = (double)(rows - hits) + 0.5;
  const double idf = log(rest / ((double)hits + 0.5));
  /*
  ** FTS5 tests `idf <= 0.0`. The negated test is the same for numbers, and
  ** takes the floor as well where an index claims more hits than rows and the
  ** logarithm is not a number.
  */
  if( !(idf > 0.0) ) return 1e-6;
  return idf;
}

double rf_bm25_rank(int phrases, const double *idf, const double *frequency,
                    double tokens, double average_tokens){
  const double k1 = 1.2;
  const double b = 0.75;
  double score = 0.0;
  double share; /* the part of the length normalisation that depends on the row */

  /* Without any token in the table there is no mean length: every row is neutral. */
  share = average_tokens > 0.0 ? b * tokens / average_tokens : b;
  for(int i = 0; i < phrases; i++){
    if( frequency[i] == 0.0 ) continue;
    score += idf[i] * (
        (frequency[i] * (k1 + 1.0)) / (frequency[i] + k1 * (1 - b + share))
    );
  }
  return -1.0 * score;
}
