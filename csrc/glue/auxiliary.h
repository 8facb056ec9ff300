/*
** What the FTS5 auxiliary functions share: a call, and the sets of columns that a
** cursor keeps.
*/
#ifndef RF_AUXILIARY_H
#define RF_AUXILIARY_H

#include "rf.h"

/* One call: what every helper needs. */
typedef struct rf_fts_call {
  const Fts5ExtensionApi *api;
  Fts5Context *fts;
  sqlite3_context *context;
  const char *function;
} rf_fts_call;

/* What is known of one set of columns for one query. */
typedef struct rf_scope rf_scope;
struct rf_scope {
  rf_scope *next;
  char *key;              /* the text of `columns`, the value that `set` is made of */
  int key_bytes;
  rf_column_set *set;
  int phrases;
  /* filled and used by auxiliary.c alone: */
  int counted;            /* rows, tokens and hits are filled */
  sqlite3_int64 rows;     /* rows of the table */
  sqlite3_int64 tokens;   /* tokens of all rows within the set */
  sqlite3_int64 idf_rows; /* the number of rows that idf was made for, 0 for none */
  sqlite3_int64 *hits;    /* for each phrase the rows with a hit within the set */
  double *idf;            /* for each phrase */
  double *frequency;      /* room for the current row, for each phrase */
  double *weight;         /* room for the current call, for each column of the set */
};

/*
** The scope of a call's first argument, the column set: from the cursor or new. It
** belongs to the cursor, and holds until the next call. On failure *message may be
** a text from sqlite3_mprintf.
*/
int rf_scope_of(const rf_fts_call *call, int count, sqlite3_value **values,
                rf_scope **scope, char **message);

/* The text of a column of the current row; NULL for none, as in a contentless table. */
int rf_fts_column_text(const rf_fts_call *call, int column, const char **text, int *bytes);

#endif
