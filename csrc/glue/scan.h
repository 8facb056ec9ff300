/*
** reasoning_scan() in parts: what it reads, what it knows of the whole corpus,
** and how it ranks. The virtual table itself is in scan.c.
*/
#ifndef RF_SCAN_H
#define RF_SCAN_H

#include "rf.h"

/* ---- scan_source.c: a table or a view by name ------------------------------ */

typedef struct rf_source {
  char *schema;
  char *name;
  int view;
} rf_source;

typedef enum rf_scan_order { RF_UNORDERED, RF_ASCENDING, RF_DESCENDING } rf_scan_order;

/* Rows to read: all with low <= rowid <= high. */
typedef struct rf_range {
  sqlite3_int64 low;
  sqlite3_int64 high;
} rf_range;

/* Finds `[schema.]name`; the source is freed with rf_source_clear(). */
int rf_source_find(sqlite3 *db, const char *text, int bytes, rf_source *source, char **message);
void rf_source_clear(rf_source *source);

/* Reads the rows of a source: their rowids and the columns of a spec. */
typedef struct rf_reader {
  sqlite3 *db;
  sqlite3_stmt *statement;
  const rf_source *source;
  int count;             /* columns of the spec */
  unsigned char *wanted; /* whether a column is read at all */
  const char **text;     /* the current row; its texts hold until the next step */
  int *bytes;
  sqlite3_int64 rowid;
} rf_reader;

/*
** Opens a zeroed reader. Columns that are not indexed are not read, nor, unless
** `lengths` asks for whole rows, those in which the query cannot have a hit. On
** failure *message may be a text. rf_reader_close() takes a zeroed reader too.
*/
int rf_reader_open(rf_reader *reader, sqlite3 *db, const rf_source *source,
                   const rf_compiled *compiled, int lengths, rf_range range,
                   rf_scan_order order, char **message);
int rf_reader_step(rf_reader *reader, int *row, char **message);
void rf_reader_close(rf_reader *reader);

/* ---- scan_corpus.c: lengths of whole corpora, as long as nothing changes ---- */

typedef struct rf_corpora rf_corpora;
rf_corpora *rf_corpora_new(void);
void rf_corpora_free(rf_corpora *corpora);

/*
** A text that changes whenever the content of a database of the connection may
** have; NULL where none can be made. To be taken while the rows are being read,
** so that it stands for the very content that they come from. The caller frees it.
*/
int rf_corpus_stamp(sqlite3 *db, char **stamp);

/* The tokens of all rows of a corpus, -1 where they are not known. */
sqlite3_int64 rf_corpus_tokens(rf_corpora *corpora, const rf_source *source,
                               const rf_compiled *compiled, const char *stamp);

/* Remembers them. Out of memory they are not remembered, and nothing else happens. */
void rf_corpus_remember(rf_corpora *corpora, sqlite3 *db, const rf_source *source,
                        const rf_compiled *compiled, const char *stamp,
                        sqlite3_int64 tokens);

/* ---- scan_rank.c: ranked hits ---------------------------------------------- */

typedef enum rf_origin { RF_SAID = 1, RF_THOUGHT = 2, RF_BOTH = 3 } rf_origin;

/* Where the current row has its hits, 0 for none; `thought` holds columns. */
int rf_origin_of(const rf_compiled *compiled, const rf_column_set *thought);

typedef struct rf_hit {
  sqlite3_int64 rowid;
  double rank;
  int origin;
} rf_hit;

typedef enum rf_hit_order {
  RF_AS_READ, RF_RANK_ASCENDING, RF_RANK_DESCENDING
} rf_hit_order;

/*
** Reads all rows and makes *hits, `*count` of them within the range, in order
** (equal ranks by rowid). The caller frees *hits with sqlite3_free().
*/
int rf_scan_ranked(rf_reader *reader, rf_compiled *compiled, rf_corpora *corpora,
                   const rf_column_set *thought, rf_range range, rf_hit_order order,
                   rf_hit **hits, int *count, char **message);

#endif
