/*
** A ranked scan. bm25 needs the document frequency of each phrase before it can
** rank any row, so one pass over all rows collects, for each row that matches,
** its length and the frequency of each phrase, and counts the rows that each
** phrase matches by itself; the ranks are made at the end.
**
** Where the totals of the whole corpus are known, rows that cannot hold any phrase
** are passed over, undecoded where the reader can tell, and not tokenized at all.
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
  rf_compiled *compiled;
  const rf_column_set *thought; /* NULL where origins are not asked for */
  rf_range range;               /* of the rows that are kept */
  int phrases;
  Match *match;
  int matches;
  int match_room;
  Frequency *frequency;
  int frequencies;
  int frequency_room;
  sqlite3_int64 *rows_of; /* for each phrase the rows that hold it */
  bool *alone;            /* for each phrase whether the current row holds it */
  bool counting;          /* the totals are not known yet */
  rf_totals totals;
} Pass;

int rf_origin_of(const rf_compiled *compiled, const rf_column_set *thought){
  int origin = 0;
  for(int i = 0; i < compiled->program->query->phrase_count && origin != RF_BOTH; i++){
    int count;
    const int64_t *hits = rf_matcher_hits(compiled->program->matcher, i, &count);
    for(int j = 0; j < count && origin != RF_BOTH; j++){
      origin |= thought->place[RF_PLACE_COLUMN(hits[j])] >= 0 ? RF_THOUGHT : RF_SAID;
    }
  }
  return origin;
}

/* Keeps the current row, which matches. */
static int keep(Pass *pass, sqlite3_int64 rowid){
  const rf_compiled *compiled = pass->compiled;
  void *room = pass->match;
  const int first = pass->frequencies;
  int rc = rf_grow(&rf_sqlite_memory, &room, &pass->match_room, pass->matches + 1, sizeof(Match));
  pass->match = room;
  for(int i = 0; rc == SQLITE_OK && i < pass->phrases; i++){
    int hits;
    (void)rf_matcher_hits(compiled->program->matcher, i, &hits);
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
    rowid, rf_matcher_tokens(compiled->program->matcher),
    pass->thought ? rf_origin_of(compiled, pass->thought) : 0, pass->frequencies - first,
  };
  return SQLITE_OK;
}

/* Takes in a row; an rf_reader's take(). */
static int take(void *context, sqlite3_int64 rowid, const rf_row *row){
  Pass *pass = context;
  rf_program *program = pass->compiled->program;
  bool matches;
  int rc = SQLITE_OK;
  if( pass->counting ){
    int64_t tokens;
    rc = rf_program_count(program, row, &tokens);
    pass->totals.tokens += tokens;
  }
  if( rc == SQLITE_OK ) rc = rf_program_hits(program, row, pass->alone, &matches);
  if( rc != SQLITE_OK ) return rc;
  for(int i = 0; i < pass->phrases; i++) pass->rows_of[i] += pass->alone[i];
  if( !matches || rowid < pass->range.low || rowid > pass->range.high ) return SQLITE_OK;
  return keep(pass, rowid);
}

/* Forgets what was taken in. */
static void restart(Pass *pass){
  memset(pass->rows_of, 0, sizeof(sqlite3_int64) * (size_t)pass->phrases);
  pass->matches = 0;
  pass->frequencies = 0;
  pass->totals = (rf_totals){0, 0};
  pass->counting = true;
}

/*
** Opens the reader at its first row, with the totals of the very content that it
** reads: what is remembered counts only if nothing changed before the statement
** began to read. Else all rows are counted, also those that the reader leaves out
** since they have no text, and the transaction of the count is held: a reader that
** takes all rows on its way has ended its own by the first step. *stamp and *holding
** are the caller's.
*/
static int begin(
  Pass *pass, rf_reader *reader, sqlite3 *db, const rf_reading *reading,
  const rf_corpora *corpora, sqlite3_stmt **holding, char **stamp, int *row, char **message
){
  const rf_range everything = {INT64_MIN, INT64_MAX};
  char *before = 0;
  int rc = rf_corpus_stamp(db, &before);
  if( rc != SQLITE_OK ) return rc;
  pass->counting = !rf_corpus_find(corpora, &reading->source, pass->compiled, before,
                                   &pass->totals);
  for(;;){
    reader->take = take;
    reader->context = pass;
    if( pass->counting ){
      rc = rf_reading_rows(db, reading, holding, &pass->totals.rows, message);
    }
    if( rc == SQLITE_OK ){
      rc = rf_reader_open(reader, db, reading, pass->compiled,
                          pass->counting ? RF_EVERY_ROW : RF_ROWS_WITH_HITS, everything,
                          RF_UNORDERED, message);
    }
    if( rc == SQLITE_OK ) rc = rf_reader_step(reader, row, message);
    if( rc == SQLITE_OK ) rc = rf_corpus_stamp(db, stamp);
    if( rc != SQLITE_OK || pass->counting || (*stamp && strcmp(before, *stamp) == 0) ) break;
    rf_reader_close(reader);
    sqlite3_free(*stamp);
    *stamp = 0;
    restart(pass);
  }
  sqlite3_free(before);
  return rc;
}

static int read_all(
  Pass *pass, sqlite3 *db, const rf_reading *reading, rf_corpora *corpora, char **message
){
  rf_reader reader;
  sqlite3_stmt *holding = 0;
  char *stamp = 0;
  int row = 0, rc;
  memset(&reader, 0, sizeof(reader));
  rc = begin(pass, &reader, db, reading, corpora, &holding, &stamp, &row, message);
  while( rc == SQLITE_OK && row ){
    const rf_row texts = {reader.count, reader.text, reader.bytes};
    rc = take(pass, reader.rowid, &texts);
    if( rc == SQLITE_OK ) rc = rf_reader_step(&reader, &row, message);
  }
  rf_reader_close(&reader);
  /* An error of the count has been reported. */
  (void)sqlite3_finalize(holding);
  if( rc == SQLITE_OK && pass->counting ){
    rf_corpus_remember(corpora, db, &reading->source, pass->compiled, stamp, pass->totals);
  }
  sqlite3_free(stamp);
  return rc;
}

static int rowid_ascending(const void *left, const void *right){
  const rf_hit *a = left, *b = right;
  return a->rowid < b->rowid ? -1 : a->rowid > b->rowid;
}

static int rowid_descending(const void *left, const void *right){
  return rowid_ascending(right, left);
}

static int rank_ascending(const void *left, const void *right){
  const rf_hit *a = left, *b = right;
  return a->rank < b->rank ? -1 : a->rank > b->rank ? 1 : rowid_ascending(a, b);
}

static int rank_descending(const void *left, const void *right){
  const rf_hit *a = left, *b = right;
  return a->rank > b->rank ? -1 : a->rank < b->rank ? 1 : rowid_ascending(a, b);
}

static void sort(rf_hit *hits, int count, rf_hit_order order){
  static int (*const by[])(const void *, const void *) = {
    [RF_RANK_ASCENDING] = rank_ascending,
    [RF_RANK_DESCENDING] = rank_descending,
    [RF_ROWID_ASCENDING] = rowid_ascending,
    [RF_ROWID_DESCENDING] = rowid_descending,
  };
  if( order != RF_AS_READ ) qsort(hits, (size_t)count, sizeof(rf_hit), by[order]);
}

/*
** Makes the hits of what the pass has found. Phrases without hits add nothing to
** a rank, so only the others are handed on, in their order.
*/
static int rank(const Pass *pass, rf_hit *hits){
  const double average = pass->totals.rows > 0 ? (double)pass->totals.tokens / (double)pass->totals.rows : 0.0;
  const Frequency *next = pass->frequency;
  double *idf = sqlite3_malloc64(3 * sizeof(double) * (sqlite3_uint64)pass->phrases);
  double *row_idf, *row_frequency;
  if( idf == 0 ) return SQLITE_NOMEM;
  row_idf = &idf[pass->phrases];
  row_frequency = &row_idf[pass->phrases];
  for(int i = 0; i < pass->phrases; i++) idf[i] = rf_bm25_idf(pass->totals.rows, pass->rows_of[i]);
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
  sqlite3 *db, const rf_reading *reading, rf_compiled *compiled, rf_corpora *corpora,
  const rf_column_set *thought, rf_range range, rf_hit_order order, rf_hit **hits, int *count,
  char **message
){
  Pass pass;
  sqlite3_uint64 room;
  int rc;
  memset(&pass, 0, sizeof(pass));
  *hits = 0;
  *count = 0;
  pass.compiled = compiled;
  pass.thought = thought;
  pass.range = range;
  pass.phrases = compiled->program->query->phrase_count;
  room = (sizeof(sqlite3_int64) + sizeof(bool)) * (sqlite3_uint64)pass.phrases;
  pass.rows_of = sqlite3_malloc64(room);
  if( pass.rows_of == 0 ) return SQLITE_NOMEM;
  memset(pass.rows_of, 0, (size_t)room);
  pass.alone = (bool *)&pass.rows_of[pass.phrases];
  rc = read_all(&pass, db, reading, corpora, message);
  if( rc == SQLITE_OK && pass.matches > 0 ){
    *hits = sqlite3_malloc64(sizeof(rf_hit) * (sqlite3_uint64)pass.matches);
    rc = *hits ? rank(&pass, *hits) : SQLITE_NOMEM;
    if( rc == SQLITE_OK ){
      *count = pass.matches;
      sort(*hits, *count, order);
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
