/*
** The time that unicode61 takes over a file: FTS5's own, called directly, and the
** library's, by turns; the tokens are counted and must be as many.
**
**   tokenizer FILE ROUNDS      prints a line a round: FTS5's and our own seconds
*/
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pure/unicode61.h"
#include "sqlite3.h"

static int count(void *context, int flags, const char *token, int bytes, int start, int end){
  (void)flags;
  (void)token;
  (void)bytes;
  (void)start;
  (void)end;
  ++*(long *)context;
  return SQLITE_OK;
}

static double now(void){
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static void fail(const char *what){
  fprintf(stderr, "error: %s\n", what);
  exit(1);
}

static fts5_api *api_of(sqlite3 *db){
  sqlite3_stmt *statement;
  fts5_api *api = 0;
  if( sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, 0) != SQLITE_OK ) fail("no FTS5");
  sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", 0);
  sqlite3_step(statement);
  sqlite3_finalize(statement);
  if( api == 0 ) fail("no FTS5");
  return api;
}

int main(int arguments, char **argument){
  FILE *file = arguments == 3 ? fopen(argument[1], "rb") : 0;
  fts5_tokenizer methods;
  Fts5Tokenizer *theirs;
  rf_unicode61 *own;
  sqlite3 *db;
  void *context;
  char *text;
  long bytes;
  if( file == 0 ) fail("usage: tokenizer FILE ROUNDS");
  fseek(file, 0, SEEK_END);
  bytes = ftell(file);
  rewind(file);
  text = malloc((size_t)bytes + 1);
  if( text == 0 || fread(text, 1, (size_t)bytes, file) != (size_t)bytes ) fail("cannot read");
  if( sqlite3_open(":memory:", &db) != SQLITE_OK ) fail("no SQLite");
  if( api_of(db)->xFindTokenizer(api_of(db), "unicode61", &context, &methods) != SQLITE_OK
   || methods.xCreate(context, 0, 0, &theirs) != SQLITE_OK
   || rf_unicode61_new(&rf_heap_memory, "unicode61", 0, 0, &own) != RF_OK ) fail("no tokenizer");
  for(int i = 0; i < atoi(argument[2]); i++){
    long their_tokens = 0, own_tokens = 0;
    const double begun = now();
    double middle;
    methods.xTokenize(theirs, &their_tokens, FTS5_TOKENIZE_DOCUMENT, text, (int)bytes, count);
    middle = now();
    rf_unicode61_tokenize(own, RF_TOKENIZE_DOCUMENT, text, (int)bytes, &own_tokens, count);
    printf("%.6f %.6f\n", middle - begun, now() - middle);
    if( their_tokens != own_tokens ) fail("the numbers of tokens differ");
  }
  rf_unicode61_free(own);
  methods.xDelete(theirs);
  sqlite3_close(db);
  fclose(file);
  free(text);
  return 0;
}
