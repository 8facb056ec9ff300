/*
** A ranked scan. bm25 needs the document frequency of each phrase before it can
** rank any row, so one pass over all rows collects, for each row that matches,
** its length and the frequency of each phrase, and counts the rows that each
** phrase matches by itself; the ranks are made at the end.
**
** Where the tokens of the whole corpus are known, rows that cannot hold any
** phrase are not tokenized at all.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pure/bm25.h"
#include "glue/scan.h"

/* Hits of a phrase in a row; there is none for a phrase without hits. */
typedef struct Frequency {
  int phrase;
  int hits;
} Frequency;

typedef struct Match {
  sqlite3_int64 rowid;
  sqlite3_int64 tokens;
  int origin;
  int frequencies; /* how many of the pass belong to it, after those of earlier ones */
} Match;

typedef struct Pass {
  int phrases;
  Match *match;
  int matches;
  int match_room;
  Frequency *frequency;
  int frequencies;
  int frequency_room;
  sqlite3_int64 *rows_of; /* for each phrase the rows that hold it */
  sqlite3_int64 rows;     /* of the corpus */
  sqlite3_int64 tokens;   /* of the corpus */
} Pass;

int rf_origin_of(const rf_compiled *compiled, const rf_column_set *thought){
  int origin = 0;
  for(int i = 0; i < compiled->query->phrase_count && origin != RF_BOTH; i++){
    int count;
    const int64_t *hits = rf_matcher_hits(compiled->matcher, i, &count);
    for(int j = 0; j < count && origin != RF_BOTH; j++){
      origin |= thought->place[RF_PLACE_COLUMN(hits[j])] >= 0 ? RF_THOUGHT : RF_SAID;
    }
  }
  return origin;
}

/* Keeps the current row, which matches. */
static int keep(
  Pass *pass, const rf_compiled *compiled, const rf_column_set *thought, sqlite3_int64 rowid
){
  void *room = pass->match;
  const int first = pass->frequencies;
  int rc = rf_grow(&rf_sqlite_memory, &room, &pass->match_room, pass->matches + 1, sizeof(Match));
  pass->match = room;
  for(int i = 0; rc == SQLITE_OK && i < pass->phrases; i++){
    int hits;
    (void)rf_matcher_hits(compiled->matcher, i, &hits);
    if( hits == 0 ) continue;
    room = pass->frequency;
    rc = pass->frequencies == INT_MAX ? SQLITE_NOMEM : rf_grow(
        &rf_sqlite_memory, &room, &pass->frequency_room, pass->frequencies + 1,
        sizeof(Frequency));
    pass->frequency = room;
    if( rc == SQLITE_OK ) pass->frequency[pass->frequencies++] = (Frequency){i, hits};
  }
  if( rc != SQLITE_OK ) return rc;
  pass->match[pass->matches++] = (Match){
    rowid, rf_matcher_tokens(compiled->matcher),
    thought ? rf_origin_of(compiled, thought) : 0, pass->frequencies - first,
  };
  return SQLITE_OK;
}

/* Takes in the current row of the reader. */
static int take(
  Pass *pass, const rf_reader *reader, rf_compiled *compiled, const rf_column_set *thought,
  rf_range range, int lengths
){
  const rf_row row = {reader->count, reader->text, reader->bytes};
  bool matches;
  int rc;
  pass->rows++;
  if( !lengths && compiled->prefilter && !rf_prefilter_may_hit(compiled->prefilter, &row) ){
    return SQLITE_OK;
  }
  rc = rf_compiled_read(compiled, &row);
  if( rc == SQLITE_OK ) rc = rf_matcher_finish(compiled->matcher, true, &matches);
  if( rc != SQLITE_OK ) return rc;
  if( lengths ) pass->tokens += rf_matcher_tokens(compiled->matcher);
  for(int i = 0; i < pass->phrases; i++){
    pass->rows_of[i] += rf_matcher_alone(compiled->matcher, i);
  }
  if( !matches || reader->rowid < range.low || reader->rowid > range.high ) return SQLITE_OK;
  return keep(pass, compiled, thought, reader->rowid);
}

static int read_all(
  Pass *pass, rf_reader *reader, rf_compiled *compiled, rf_corpora *corpora,
  const rf_column_set *thought, rf_range range, char **message
){
  char *stamp = 0;
  int lengths, row;
  int rc = rf_reader_step(reader, &row, message);
  if( rc != SQLITE_OK || !row ) return rc;
  /* Taken now, inside the read transaction that the first row has begun. */
  rc = rf_corpus_stamp(reader->db, &stamp);
  if( rc != SQLITE_OK ) return rc;
  pass->tokens = rf_corpus_tokens(corpora, reader->source, compiled, stamp);
  lengths = pass->tokens < 0;
  if( lengths ) pass->tokens = 0;
  while( rc == SQLITE_OK && row ){
    rc = take(pass, reader, compiled, thought, range, lengths);
    if( rc == SQLITE_OK ) rc = rf_reader_step(reader, &row, message);
  }
  if( rc == SQLITE_OK && lengths ){
    rf_corpus_remember(corpora, reader->db, reader->source, compiled, stamp, pass->tokens);
  }
  sqlite3_free(stamp);
  return rc;
}

static int compare_rowid(const rf_hit *a, const rf_hit *b){
  return a->rowid < b->rowid ? -1 : a->rowid > b->rowid;
}

static int ascending(const void *left, const void *right){
  const rf_hit *a = left, *b = right;
  return a->rank < b->rank ? -1 : a->rank > b->rank ? 1 : compare_rowid(a, b);
}

static int descending(const void *left, const void *right){
  const rf_hit *a = left, *b = right;
  return a->rank > b->rank ? -1 : a->rank < b->rank ? 1 : compare_rowid(a, b);
}

/*
** Makes the hits of what the pass has found. Phrases without hits add nothing to
** a rank, so only the others are handed on, in their order.
*/
static int rank(const Pass *pass, rf_hit *hits){
  const double average = pass->rows > 0 ? (double)pass->tokens / (double)pass->rows : 0.0;
  const Frequency *next = pass->frequency;
  double *idf = sqlite3_malloc64(3 * sizeof(double) * (sqlite3_uint64)pass->phrases);
  double *row_idf, *row_frequency;
  if( idf == 0 ) return SQLITE_NOMEM;
  row_idf = &idf[pass->phrases];
  row_frequency = &row_idf[pass->phrases];
  for(int i = 0; i < pass->phrases; i++) idf[i] = rf_bm25_idf(pass->rows, pass->rows_of[i]);
  for(int i = 0; i < pass->matches; i++){
    const Match *match = &pass->match[i];
    for(int j = 0; j < match->frequencies; j++, next++){
      row_idf[j] = idf[next->phrase];
      row_frequency[j] = (double)next->hits;
    }
    hits[i] = (rf_hit){
      match->rowid,
      rf_bm25_rank(match->frequencies, row_idf, row_frequency, (double)match->tokens, average),
      match->origin,
    };
  }
  sqlite3_free(idf);
  return SQLITE_OK;
}

int rf_scan_ranked(
  rf_reader *reader, rf_compiled *compiled, rf_corpora *corpora, const rf_column_set *thought,
  rf_range range, rf_hit_order order, rf_hit **hits, int *count, char **message
){
  Pass pass;
  int rc;
  memset(&pass, 0, sizeof(pass));
  *hits = 0;
  *count = 0;
  pass.phrases = compiled->query->phrase_count;
  pass.rows_of = sqlite3_malloc64(sizeof(sqlite3_int64) * (sqlite3_uint64)pass.phrases);
  if( pass.rows_of == 0 ) return SQLITE_NOMEM;
  memset(pass.rows_of, 0, sizeof(sqlite3_int64) * (size_t)pass.phrases);
  rc = read_all(&pass, reader, compiled, corpora, thought, range, message);
  if( rc == SQLITE_OK && pass.matches > 0 ){
    *hits = sqlite3_malloc64(sizeof(rf_hit) * (sqlite3_uint64)pass.matches);
    rc = *hits ? rank(&pass, *hits) : SQLITE_NOMEM;
    if( rc == SQLITE_OK ){
      *count = pass.matches;
      if( order != RF_AS_READ ){
        qsort(*hits, (size_t)*count, sizeof(rf_hit),
              order == RF_RANK_ASCENDING ? ascending : descending);
      }
    }else{
      sqlite3_free(*hits);
      *hits = 0;
    }
  }
  sqlite3_free(pass.match);
  sqlite3_free(pass.frequency);
  sqlite3_free(pass.rows_of);
  return rc;
}
