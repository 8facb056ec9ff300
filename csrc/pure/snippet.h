/*
** The part of a row that snippet() of FTS5 shows, as SQLite 3.54 makes it.
*/
#ifndef RF_SNIPPET_H
#define RF_SNIPPET_H

#include "pure/program.h"

/* What snippet() makes of a number of tokens that is larger. */
#define RF_SNIPPET_TOKENS 64

/* A hit of a phrase, as xInst of FTS5 shows it. */
typedef struct rf_snippet_hit {
  int column;
  int token;     /* its first token, in the column */
  int phrase;    /* FTS5's number of the phrase */
  int tokens;    /* length of the phrase */
} rf_snippet_hit;

typedef struct rf_snippet_column {
  int number;        /* as the hits name it */
  const char *text;  /* NULL for none */
  int bytes;
  int tokens;        /* its length as the index counts it, or -1 where it is not known */
  const rf_tokenizer *tokenizer;
} rf_snippet_column;

typedef struct rf_snippet_mark {
  const char *text;
  int bytes;
} rf_snippet_mark;

typedef struct rf_snippet {
  /* The columns that may be shown, at least one. Of equally good windows the one
  ** in the column that stands first is shown; without a hit, the first column. */
  int column_count;
  const rf_snippet_column *column;
  /* Hits in these columns, ordered by column, token and phrase. */
  int hit_count;
  const rf_snippet_hit *hit;
  int phrase_count;
  rf_snippet_mark open, close, ellipsis;
  int tokens;        /* of the window, 0 to RF_SNIPPET_TOKENS */
  /* Called about every MB of text; another status than RF_OK ends the work. */
  int (*poll)(void *context);
  void *poll_context;
} rf_snippet;

/*
** Adds the snippet to `text`. *shown is false, and nothing is added, where the
** column to show has no text. RF_CORRUPT says that a hit lies behind the end of its
** column; else the status is RF_OK, RF_NOMEM, or one of a tokenizer or of poll().
*/
int rf_snippet_make(const rf_memory *memory, const rf_snippet *snippet, rf_text *text,
                    bool *shown);

/*
** The hits of the matcher's row, of all phrases, in the order that a snippet wants
** them. The caller gives *hit back to `memory`, also on failure; it may be NULL.
*/
int rf_snippet_hits(const rf_memory *memory, const rf_matcher *matcher, int phrase_count,
                    rf_snippet_hit **hit, int *count);

/*
** The same for a row without a table: `marks` has all but columns, hits and phrases,
** which are those of the program. Where nothing matches, the head of the first
** indexed column that is not empty is shown; nothing where the row has no text.
*/
int rf_snippet_of_row(rf_program *program, const rf_row *row, const rf_snippet *marks,
                      rf_text *text, bool *shown);

#endif
