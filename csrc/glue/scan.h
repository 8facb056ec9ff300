/*
** reasoning_scan() in parts: what it is asked to read, how it reads, what it knows
** of the whole corpus, and how it ranks. The virtual table itself is in scan.c.
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

/*
** Finds `[schema.]name`; the source is freed with rf_source_clear(). `argument` is
** the name of the argument, for messages.
*/
int rf_source_find(sqlite3 *db, const char *argument, const char *text, int bytes,
                   rf_source *source, char **message);
void rf_source_clear(rf_source *source);

/*
** What a text lists that is a JSON array and not a name; a name that begins with
** a bracket has to stand between double quotes.
*/
typedef enum rf_list { RF_NO_LIST, RF_ROWIDS, RF_RANGES } rf_list;
rf_list rf_list_of(const char *text, int bytes);

/* ---- scan_reader.c: the rows of a source ------------------------------------ */

/*
** What is to be read: a source, perhaps only the rows that `listed` lists, which
** are then all that have a text, or those of a list in JSON; perhaps through its
** `stored` columns, from which the indexed columns are decoded (see
** rf_program_stored_passes()).
*/
typedef struct rf_reading {
  rf_source source;
  rf_source listed;      /* all zero for none */
  rf_list list;          /* what the elements of `json` are */
  sqlite3_value *json;   /* the caller's; NULL for none */
  rf_spec *stored;       /* NULL for none */
} rf_reading;

/* Which rows a reader may leave out, and what it reads of the others. */
typedef enum rf_reader_mode {
  RF_EVERY_ROW,      /* those without a text, and all indexed columns: for lengths */
  RF_ROWS_WITH_HITS, /* those without a hit of any phrase, and all indexed columns */
  RF_ROWS_THAT_MATCH /* those that do not match, and columns in which nothing can hit */
} rf_reader_mode;

/* Reads the rows: their rowids and the columns of a spec. */
typedef struct rf_reader rf_reader;
struct rf_reader {
  sqlite3 *db;
  sqlite3_stmt *statement;
  const rf_reading *reading;
  rf_program *program;
  rf_reader_mode mode;
  int single;            /* the indexed column where there is just one, else -1 */
  /*
  ** Takes a row that needs no decoding, on the way: it is not given by a step.
  ** NULL: it is given, if it matches, with `decided` set and without texts.
  */
  int (*take)(void *context, sqlite3_int64 rowid, const rf_row *row);
  void *context;
  bool decided;          /* the current row matches */
  int count;             /* columns of the spec */
  unsigned char *wanted; /* whether a column is read at all */
  const char **text;     /* the current row; its texts hold until the next step */
  int *bytes;
  sqlite3_int64 rowid;
};

/*
** Opens a reader of which all is zero but take() and its context. It may leave rows
** out as the mode says, and need not. On failure *message may be a text.
** rf_reader_close() takes a zeroed reader too.
*/
int rf_reader_open(rf_reader *reader, sqlite3 *db, const rf_reading *reading,
                   const rf_compiled *compiled, rf_reader_mode mode, rf_range range,
                   rf_scan_order order, char **message);
int rf_reader_step(rf_reader *reader, int *row, char **message);
void rf_reader_close(rf_reader *reader);

/*
** Counts the rows of the source. *holding keeps the read transaction of the count
** open until the caller finalizes it, also on failure.
*/
int rf_reading_rows(sqlite3 *db, const rf_reading *reading, sqlite3_stmt **holding,
                    sqlite3_int64 *rows, char **message);

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

/* What a rank needs to know of a corpus: its rows, and the tokens in them. */
typedef struct rf_totals {
  sqlite3_int64 rows;
  sqlite3_int64 tokens;
} rf_totals;

/* Whether the totals of a corpus are known; `stamp` may be NULL. */
int rf_corpus_find(const rf_corpora *corpora, const rf_source *source,
                   const rf_compiled *compiled, const char *stamp, rf_totals *totals);

/* Remembers them. Out of memory they are not remembered, and nothing else happens. */
void rf_corpus_remember(rf_corpora *corpora, sqlite3 *db, const rf_source *source,
                        const rf_compiled *compiled, const char *stamp, rf_totals totals);

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
  RF_AS_READ, RF_RANK_ASCENDING, RF_RANK_DESCENDING, RF_ROWID_ASCENDING, RF_ROWID_DESCENDING
} rf_hit_order;

/*
** Reads the rows and makes *hits, `*count` of them within the range, in order
** (equal ranks by rowid). The caller frees *hits with sqlite3_free().
*/
int rf_scan_ranked(sqlite3 *db, const rf_reading *reading, rf_compiled *compiled,
                   rf_corpora *corpora, const rf_column_set *thought, rf_range range,
                   rf_hit_order order, rf_hit **hits, int *count, char **message);

#endif
