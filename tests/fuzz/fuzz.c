/*
** What the fuzz drivers share; see fuzz.h.
*/
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fuzz_spec specs[] = {
  {"a", "a, tokenize=x_unicode61", "a", 1},
  {"a, b, c", "a, b, c, tokenize=x_unicode61", "a, b, c", 3},
  {"a, b UNINDEXED, c, tokenize=porter", "a, b UNINDEXED, c, tokenize=x_porter", "a, c", 3},
  {"a, b, tokenize=ascii", "a, b, tokenize=x_ascii", "a, b", 2},
  {"a, b, tokenize=trigram", "a, b, tokenize=x_trigram", "a, b", 2},
  {"a, b, tokenize=\"unicode61 remove_diacritics 2 tokenchars '-_é'\"",
   "a, b, tokenize=\"x_unicode61 remove_diacritics 2 tokenchars '-_é'\"", "a, b", 2},
  {"a, b, tokenize='porter unicode61 remove_diacritics 0'",
   "a, b, tokenize='x_porter unicode61 remove_diacritics 0'", "a, b", 2},
  {"a, b, tokenize=\"unicode61 separators 'nü' categories 'L* N* Mn S*'\"",
   "a, b, tokenize=\"x_unicode61 separators 'nü' categories 'L* N* Mn S*'\"", "a, b", 2},
};
#define SPECS ((int)(sizeof(specs) / sizeof(specs[0])))

const fuzz_spec *fuzz_spec_of(uint8_t byte, int *number){
  *number = byte % SPECS;
  return &specs[*number];
}

_Noreturn void fuzz_fail(const char *format, ...){
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  abort();
}

/* ---- tokenizers that pass calls on ------------------------------------------- */

typedef struct Passing {
  fts5_tokenizer methods;
  void *context;
} Passing;

typedef struct Passed {
  const Passing *to;
  Fts5Tokenizer *instance;
} Passed;

static int passing_create(
  void *context, const char **arguments, int count, Fts5Tokenizer **made
){
  Passed *passed = malloc(sizeof(*passed));
  int rc;
  if( passed == 0 ) return SQLITE_NOMEM;
  passed->to = context;
  rc = passed->to->methods.xCreate(passed->to->context, arguments, count, &passed->instance);
  if( rc != SQLITE_OK ){
    free(passed);
    return rc;
  }
  *made = (Fts5Tokenizer *)passed;
  return SQLITE_OK;
}

static void passing_delete(Fts5Tokenizer *tokenizer){
  Passed *passed = (Passed *)tokenizer;
  passed->to->methods.xDelete(passed->instance);
  free(passed);
}

static int passing_tokenize(
  Fts5Tokenizer *tokenizer, void *context, int flags, const char *text, int bytes,
  int (*token)(void *, int, const char *, int, int, int)
){
  const Passed *passed = (Passed *)tokenizer;
  return passed->to->methods.xTokenize(passed->instance, context, flags, text, bytes, token);
}

static void add_twins(sqlite3 *db){
  static const char *const names[] = {"unicode61", "ascii", "porter", "trigram"};
  static Passing passing[sizeof(names) / sizeof(names[0])];
  sqlite3_stmt *statement = 0;
  fts5_api *api = 0;
  int rc = sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &statement, 0);
  if( rc == SQLITE_OK ) rc = sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", 0);
  if( rc == SQLITE_OK ) rc = sqlite3_step(statement) == SQLITE_ROW ? SQLITE_OK : SQLITE_ERROR;
  sqlite3_finalize(statement);
  for(size_t i = 0; rc == SQLITE_OK && i < sizeof(names) / sizeof(names[0]); i++){
    fts5_tokenizer methods = {passing_create, passing_delete, passing_tokenize};
    char twin[32];
    snprintf(twin, sizeof(twin), "x_%s", names[i]);
    rc = api->xFindTokenizer(api, names[i], &passing[i].context, &passing[i].methods);
    if( rc == SQLITE_OK ) rc = api->xCreateTokenizer(api, twin, &passing[i], &methods, 0);
  }
  if( rc != SQLITE_OK ) host_fail("cannot register tokenizers: %s", sqlite3_errmsg(db));
}

/* Older releases of FTS5 do not limit the height of a query's tree; the library does. */
static int is_unlimited(void){
  static int known = -1;
  if( known < 0 ){
    host_answer answer = fuzz_ask(
        "SELECT count(*) FROM one0 WHERE one0 MATCH 'x' || replace(hex(zeroblob(300)), '00',"
        " ' NOT x')", 0, 0, 0);
    known = answer.rc == SQLITE_OK;
    host_answer_end(&answer);
  }
  return known;
}

/* ---- the connection ----------------------------------------------------------- */

static void add_tables(sqlite3 *db){
  static const char columns[] = "a, b, c";
  for(int i = 0; i < SPECS; i++){
    char *sql = sqlite3_mprintf(
        "CREATE VIRTUAL TABLE one%d USING fts5(%s);"
        "CREATE VIRTUAL TABLE all%d USING fts5(%s);"
        "CREATE TABLE rows%d(id INTEGER PRIMARY KEY, %.*s)",
        i, specs[i].text, i, specs[i].text, i, 3 * specs[i].columns - 2, columns);
    if( sql == 0 || sqlite3_exec(db, sql, 0, 0, 0) != SQLITE_OK ){
      host_fail("cannot make the tables: %s", sqlite3_errmsg(db));
    }
    sqlite3_free(sql);
  }
}

sqlite3 *fuzz_connection(void){
  static sqlite3 *db;
  if( db == 0 ){
    host_begin();
    db = host_open(":memory:");
    add_twins(db);
    add_tables(db);
  }
  return db;
}

/* ---- asking --------------------------------------------------------------------- */

host_text fuzz_take(const char **at, const char *end, char separator){
  const char *begin = *at;
  const char *found = begin < end ? memchr(begin, separator, (size_t)(end - begin)) : 0;
  const host_text taken = {begin, (int)((found ? found : end) - begin)};
  *at = found ? found + 1 : end;
  return taken;
}

host_answer fuzz_ask(const char *sql, int number, int count, const host_text *values){
  sqlite3 *db = fuzz_connection();
  host_answer answer;
  char text[512];
  size_t length = 0;
  for(; *sql && length < sizeof(text) - 16; sql++){
    if( sql[0] == '%' && sql[1] == 'd' ){
      length += (size_t)snprintf(text + length, 12, "%d", number);
      sql++;
    }else{
      text[length++] = *sql;
    }
  }
  if( *sql ) host_fail("a statement is too long");
  text[length] = 0;
  host_ask_with(db, text, count, values, &answer);
  return answer;
}

const char *fuzz_kind(const host_answer *answer){
  static const char *const kinds[] = {
    "unterminated string", "no such column", "expected integer", "parser stack overflow",
    "tree is too large", "unknown special query", "syntax error",
  };
  if( answer->rc == SQLITE_OK ) return answer->text;
  for(size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++){
    if( strstr(answer->text, kinds[i]) ) return kinds[i];
  }
  return answer->text;
}

void fuzz_compare(const char *what, const host_answer *got, const host_answer *expected){
  if( strcmp(fuzz_kind(got), fuzz_kind(expected)) == 0 ) return;
  if( strcmp(fuzz_kind(got), "tree is too large") == 0 && is_unlimited() ) return;
  fuzz_fail("%s:\n%s\nexpected:\n%s", what, got->text, expected->text);
}
