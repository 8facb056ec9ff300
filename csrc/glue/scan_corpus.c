/*
** The mean length of a row needs the tokens of every row, which is the slow part
** of the first ranked scan. A connection remembers the totals of the sources that
** it scanned last, as long as nothing has changed.
**
** What may have changed is read from SQLite: for each schema its data version
** (commits by others), its schema cookie and its file, and for the connection
** the rows that it changed itself. Two kinds of change leave no mark there: a
** transaction of our own that is rolled back, which is why nothing is remembered
** while one is writing, and writes through an incremental blob handle, for which
** the application has to open a new connection.
*/
#include <string.h>

#include "glue/scan.h"

#define REMEMBERED 8

typedef struct Corpus {
  char *key;    /* the source and the spec */
  char *stamp;
  rf_totals totals;
} Corpus;

struct rf_corpora {
  Corpus corpus[REMEMBERED];
  int next; /* the one to be replaced next */
};

rf_corpora *rf_corpora_new(void){
  rf_corpora *corpora = sqlite3_malloc64(sizeof(*corpora));
  if( corpora ) memset(corpora, 0, sizeof(*corpora));
  return corpora;
}

static void forget(Corpus *corpus){
  sqlite3_free(corpus->key);
  sqlite3_free(corpus->stamp);
  memset(corpus, 0, sizeof(*corpus));
}

void rf_corpora_free(rf_corpora *corpora){
  if( corpora == 0 ) return;
  for(int i = 0; i < REMEMBERED; i++) forget(&corpora->corpus[i]);
  sqlite3_free(corpora);
}

/* Appends the integer that a pragma of a schema gives. */
static int add_pragma(sqlite3 *db, sqlite3_str *stamp, const char *schema, const char *pragma){
  sqlite3_stmt *statement = 0;
  char *sql = sqlite3_mprintf("PRAGMA \"%w\".%s", schema, pragma);
  int rc, rc_final;
  if( sql == 0 ) return SQLITE_NOMEM;
  rc = sqlite3_prepare_v2(db, sql, -1, &statement, 0);
  sqlite3_free(sql);
  if( rc == SQLITE_OK ){
    rc = sqlite3_step(statement);
    if( rc == SQLITE_ROW ){
      sqlite3_str_appendf(stamp, " %lld", sqlite3_column_int64(statement, 0));
      rc = SQLITE_OK;
    }else if( rc == SQLITE_DONE ){
      rc = SQLITE_OK;
    }
  }
  rc_final = sqlite3_finalize(statement);
  return rc == SQLITE_OK ? rc_final : rc;
}

static int add_schemas(sqlite3 *db, sqlite3_str *stamp){
  sqlite3_stmt *statement = 0;
  int rc = sqlite3_prepare_v2(db, "SELECT name, file FROM pragma_database_list", -1, &statement, 0);
  int rc_final;
  while( rc == SQLITE_OK ){
    const char *schema, *file;
    rc = sqlite3_step(statement);
    if( rc != SQLITE_ROW ) break;
    schema = (const char *)sqlite3_column_text(statement, 0);
    file = (const char *)sqlite3_column_text(statement, 1);
    if( schema == 0 ){
      rc = SQLITE_NOMEM;
      break;
    }
    sqlite3_str_appendf(stamp, "\n%Q %Q", schema, file);
    rc = add_pragma(db, stamp, schema, "data_version");
    if( rc == SQLITE_OK ) rc = add_pragma(db, stamp, schema, "schema_version");
  }
  if( rc == SQLITE_DONE ) rc = SQLITE_OK;
  rc_final = sqlite3_finalize(statement);
  return rc == SQLITE_OK ? rc_final : rc;
}

int rf_corpus_stamp(sqlite3 *db, char **stamp){
  sqlite3_str *text = sqlite3_str_new(db);
  int rc;
  sqlite3_str_appendf(text, "%lld", sqlite3_total_changes64(db));
  rc = add_schemas(db, text);
  if( rc == SQLITE_OK ) rc = sqlite3_str_errcode(text);
  *stamp = sqlite3_str_finish(text);
  if( rc == SQLITE_OK ) return *stamp ? SQLITE_OK : SQLITE_NOMEM;
  sqlite3_free(*stamp);
  *stamp = 0;
  /* A schema that cannot be read just now (busy, say) only costs the memory. */
  return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

static char *key_of(const rf_source *source, const rf_compiled *compiled){
  return sqlite3_mprintf("%Q.%Q %.*Q", source->schema, source->name, compiled->spec_bytes,
                         compiled->text);
}

int rf_corpus_find(
  const rf_corpora *corpora, const rf_source *source, const rf_compiled *compiled,
  const char *stamp, rf_totals *totals
){
  char *key = stamp ? key_of(source, compiled) : 0;
  int found = 0;
  for(int i = 0; key && i < REMEMBERED; i++){
    const Corpus *corpus = &corpora->corpus[i];
    if( corpus->key && strcmp(corpus->key, key) == 0 && strcmp(corpus->stamp, stamp) == 0 ){
      *totals = corpus->totals;
      found = 1;
    }
  }
  sqlite3_free(key);
  return found;
}

void rf_corpus_remember(
  rf_corpora *corpora, sqlite3 *db, const rf_source *source, const rf_compiled *compiled,
  const char *stamp, rf_totals totals
){
  Corpus made = {0, 0, totals};
  int place = corpora->next;
  if( stamp == 0 || sqlite3_txn_state(db, 0) == SQLITE_TXN_WRITE ) return;
  made.key = key_of(source, compiled);
  made.stamp = sqlite3_mprintf("%s", stamp);
  if( made.key == 0 || made.stamp == 0 ){
    forget(&made);
    return;
  }
  for(int i = 0; i < REMEMBERED; i++){
    if( corpora->corpus[i].key && strcmp(corpora->corpus[i].key, made.key) == 0 ) place = i;
  }
  forget(&corpora->corpus[place]);
  corpora->corpus[place] = made;
  if( place == corpora->next ) corpora->next = (corpora->next + 1) % REMEMBERED;
}
