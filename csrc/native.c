/*
** The C functions that other programs than SQLite call by name: Python, through
** cffi's ABI mode. They allocate nothing and touch no SQLite.
*/
#include "native.h"

#include "pure/bm25.h"

#ifndef RF_VERSION
#  define RF_VERSION "unknown"
#endif

const char *reasoning_fts_version(void){
  return RF_VERSION;
}

void reasoning_fts_bm25(
  int64_t rows,
  double average_tokens,
  int32_t phrases,
  const int64_t *document_frequencies,
  double *idf,
  int64_t count,
  const double *frequencies,
  const double *tokens,
  double *ranks
){
  for(int32_t i = 0; i < phrases; i++){
    idf[i] = rf_bm25_idf(rows, document_frequencies[i]);
  }
  for(int64_t i = 0; i < count; i++){
    ranks[i] = rf_bm25_rank(phrases, idf, frequencies, tokens[i], average_tokens);
    if( phrases > 0 ) frequencies += phrases;
  }
}
