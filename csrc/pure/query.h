/*
** A query in FTS5's language as a tree, and how it is made from text.
**
** The tree is the one that FTS5 itself would evaluate: strings are tokenized,
** strings without tokens are eliminated by FTS5's rules, column sets stand at
** the leaves. It is not changed after rf_query_parse().
*/
#ifndef RF_QUERY_H
#define RF_QUERY_H

#include <stdbool.h>

#include "pure/memory.h"

/* FTS5's own limits. */
#define RF_DEPTH_LIMIT 256        /* height of the tree */
#define RF_STACK_LIMIT 99         /* symbols on the stack of FTS5's parser */
#define RF_TOKEN_LIMIT 32768      /* bytes of a token that are compared */
#define RF_NEAR_DEFAULT 10

/* Limits of our own, where FTS5 has none but memory. */
#define RF_QUERY_LIMIT 1000000                 /* bytes of a query */
#define RF_TERM_LIMIT 65536                    /* its terms, synonyms included */
#define RF_MEMORY_LIMIT ((size_t)32 << 20)     /* bytes of its tree */

/* Flags and callback of FTS5's xTokenize. */
#define RF_TOKENIZE_QUERY 0x0001
#define RF_TOKENIZE_PREFIX 0x0002
#define RF_TOKENIZE_DOCUMENT 0x0004
#define RF_TOKENIZE_AUX 0x0008
#define RF_TOKEN_COLOCATED 0x0001

typedef int (*rf_token_callback)(
  void *context, int flags, const char *token, int bytes, int start, int end
);

typedef struct rf_tokenizer {
  void *context;
  int (*tokenize)(void *context, int flags, const char *text, int bytes,
                  void *callback_context, rf_token_callback callback);
} rf_tokenizer;

/* The columns of the table; an unindexed one can be named, and holds no token. */
typedef struct rf_columns {
  int count;
  const char *const *name; /* NUL-terminated */
  const unsigned char *unindexed;
} rf_columns;

/* A set of columns, ascending, without duplicates; never changed once made. */
typedef struct rf_colset {
  int count;
  int room;
  int column[];
} rf_colset;

/* One token of a phrase, or one that stands at the same place (a synonym). */
typedef struct rf_term rf_term;
struct rf_term {
  const char *bytes;
  int length;
  bool prefix;          /* of the first of its place; holds for the synonyms too */
  const char *source;   /* the piece of the string that the tokenizer made it of */
  int source_length;
  rf_term *synonym;
};

/* One string of a phrase as written, without its quotes; strings join by '+'. */
typedef struct rf_string rf_string;
struct rf_string {
  const char *text;
  int length;
  bool star;
  rf_string *next;
};

typedef struct rf_phrase {
  int term_count;
  int term_room;
  rf_term *term;
  bool initial;         /* '^': must begin a column */
  int index;            /* FTS5's number of the phrase */
  rf_string *strings;
  rf_string *last_string;
} rf_phrase;

typedef enum rf_operator {
  RF_LEAF,
  RF_NOTHING, /* a leaf that matches no row; keeps its phrases for their numbers */
  RF_AND,
  RF_OR,
  RF_NOT,     /* two children */
} rf_operator;

typedef struct rf_node rf_node;
struct rf_node {
  rf_operator op;
  int height;              /* 0 for a leaf */
  int index;               /* of the node, in order of the text */
  /* a leaf: */
  int phrase_count;        /* more than one: NEAR */
  int phrase_room;
  rf_phrase **phrase;
  int distance;
  const rf_colset *columns; /* NULL for all */
  /* others: */
  int child_count;
  int child_room;
  rf_node **child;
};

typedef struct rf_query {
  rf_arena arena;
  rf_node *root;
  int node_count;
  int phrase_count;
  int term_count;          /* places of all phrases, synonyms not counted */
} rf_query;

/* What is wrong, without the name of the SQL function; empty out of memory. */
typedef struct rf_error {
  char message[320];
} rf_error;

/*
** Parses a query. `bytes` is its length; it ends earlier at a NUL byte, as in
** FTS5. On RF_OK the caller owns *query and frees it with rf_query_free(). Any
** other status is RF_NOMEM, RF_ERROR with a message, or the tokenizer's own code.
*/
int rf_query_parse(const rf_memory *memory, const char *text, int bytes,
                   const rf_columns *columns, const rf_tokenizer *tokenizer,
                   rf_query **query, rf_error *error);
void rf_query_free(rf_query *query);

/*
** Adds the tree as JSON to `text`; see the documentation of reasoning_parse()
** for its form.
*/
void rf_query_render(const rf_query *query, const rf_columns *columns, rf_text *text);

/* Whether a leaf can have a hit in a column. */
bool rf_leaf_covers(const rf_node *leaf, int column);

/* ---- building, for the parser --------------------------------------------- */

typedef struct rf_builder {
  rf_query *query;
  const rf_columns *columns;
  const rf_tokenizer *tokenizer;
  rf_error *error;
  int byte;             /* where the query is being read, for messages */
  int terms;            /* so far, synonyms included */
} rf_builder;

/* Fails where the tree takes more memory than a query may. */
int rf_build_check(const rf_builder *builder);

/* Appends the tokens of a string to *phrase, made where it is NULL. */
int rf_build_string(rf_builder *builder, const char *text, int length, bool star,
                    rf_phrase **phrase);

/* Appends a phrase to a leaf, made where *leaf is NULL. */
int rf_build_near(rf_builder *builder, rf_phrase *phrase, rf_node **leaf);

/* Settles a leaf: one with an empty phrase becomes RF_NOTHING. */
void rf_build_leaf(rf_node *leaf);

/* Joins two trees into *joined; `byte` is where the operator's right side ends. */
int rf_build_operator(rf_builder *builder, rf_operator op, rf_node *left,
                      rf_node *right, int byte, rf_node **joined);
int rf_build_implicit_and(rf_builder *builder, rf_node *left, rf_node *right,
                          int byte, rf_node **joined);

/* Column sets: by name, all others, and their effect on a tree. */
int rf_build_column(rf_builder *builder, const char *name, int length, int byte,
                    const rf_colset *set, const rf_colset **made);
int rf_build_others(rf_builder *builder, const rf_colset *set, const rf_colset **made);
int rf_build_filter(rf_builder *builder, rf_node *node, const rf_colset *set);

/* Numbers nodes and phrases in order of the text. */
void rf_build_finish(rf_builder *builder, rf_node *root);

#endif
