/*
** Out of memory: each case of a file of SQL runs with its first allocation failing,
** then with its second, and so on until nothing fails any more; once with a single
** failure and once with all allocations failing from there on. Each time
**
**   - the answer is the right one or SQLITE_NOMEM,
**   - the same connection then gives the right answer,
**   - and once it is closed no byte is held that was not held before.
**
** A case may have statements that warm the connection up before. Loading the
** library goes through the same, and the file of the library itself where --library
** names it, since SQLite unloads a file whose entry point fails.
**
**   oom [--library FILE] [--dense N] [--sparse N] [--only WORD] CASES DATABASE
**
** --sparse leaves out all but each N-th allocation, after the first --dense ones.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

typedef struct Case {
  char *name;
  char *warm;
  char *run;
} Case;

typedef struct Options {
  const char *library;
  const char *cases;
  const char *database;
  const char *only;
  long dense;
  long sparse;
} Options;

/* ---- the file of cases ------------------------------------------------------ */

static char *read_file(const char *path){
  FILE *file = fopen(path, "rb");
  char *text;
  long size = -1;
  if( file && fseek(file, 0, SEEK_END) == 0 ) size = ftell(file);
  if( size < 0 || fseek(file, 0, SEEK_SET) != 0 ) host_fail("cannot read %s", path);
  text = malloc((size_t)size + 1);
  if( text == 0 || fread(text, 1, (size_t)size, file) != (size_t)size ){
    host_fail("cannot read %s", path);
  }
  text[size] = 0;
  fclose(file);
  return text;
}

/* Cuts the text at its lines `--@ word`; *name is the rest of such a line. */
static char *next_part(char **at, char **word, char **name){
  char *begin = *at, *end, *line;
  if( strncmp(begin, "--@ ", 4) != 0 ) return 0;
  *word = begin + 4;
  line = strchr(begin, '\n');
  if( line == 0 ) host_fail("a part without a line of its own");
  *line = 0;
  *name = strchr(*word, ' ');
  if( *name ) *(*name)++ = 0;
  begin = line + 1;
  end = strstr(begin, "--@ ");
  *at = end ? end : begin + strlen(begin);
  if( end ) end[-1] = 0;
  return begin;
}

/* ---- one case --------------------------------------------------------------- */

static int is_same(const host_answer *a, const host_answer *b){
  return a->rc == b->rc && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* SQLite copies a statement's message into the connection; without memory it drops it. */
static int lost_its_message(const host_answer *got, const host_answer *expected){
  static const char mark[] = "error: ";
  const char *error = strstr(got->text, mark), *right = strstr(expected->text, mark);
  return got->rc != SQLITE_OK && got->rc == expected->rc && error && right
      && error - got->text == right - expected->text
      && memcmp(got->text, expected->text, (size_t)(error - got->text)) == 0
      && strcmp(error + strlen(mark), sqlite3_errstr(got->rc)) == 0;
}

static void check(
  const char *name, const char *when, long number, int sticky, const host_answer *got,
  const host_answer *expected
){
  if( is_same(got, expected) ) return;
  host_fail("%s: allocation %ld%s: %s:\n%s(code %d)\nexpected:\n%s(code %d)", name, number,
            sticky ? " and all later ones" : "", when, got->text, got->rc, expected->text,
            expected->rc);
}

/* Has SQLite read the schema, which is its own affair, and runs the case's first part. */
static void warm_up(sqlite3 *db, const Case *one){
  host_answer answer;
  host_ask(db, "SELECT count(*) FROM sqlite_schema", &answer);
  host_answer_end(&answer);
  host_ask(db, one->warm ? one->warm : "", &answer);
  if( answer.rc != SQLITE_OK ) host_fail("%s: warming up: %s", one->name, answer.text);
  host_answer_end(&answer);
}

/* Runs a case once; returns whether an allocation failed. */
static int round_of(
  const Case *one, const char *database, long number, int sticky, const host_answer *expected
){
  sqlite3 *db = host_open(database);
  host_answer answer;
  int failed;
  warm_up(db, one);
  host_fail_allocation(number, sticky);
  host_ask(db, one->run, &answer);
  failed = host_failures() > 0;
  host_fail_allocation(0, 0);
  if( failed && answer.rc == SQLITE_NOMEM ){
    if( !strstr(answer.text, "error: out of memory") ){
      host_fail("%s: allocation %ld: out of memory, but: %s", one->name, number, answer.text);
    }
  }else if( !failed || !lost_its_message(&answer, expected) ){
    check(one->name, "the answer is", number, sticky, &answer, expected);
  }
  host_answer_end(&answer);
  host_ask(db, one->run, &answer);
  check(one->name, "afterwards the answer is", number, sticky, &answer, expected);
  host_answer_end(&answer);
  if( sqlite3_close(db) != SQLITE_OK ) host_fail("%s: a statement is left over", one->name);
  return failed;
}

static long step(const Options *options, long number){
  return number < options->dense ? 1 : options->sparse;
}

static void run_case(const Options *options, const Case *one){
  const sqlite3_int64 before = host_memory();
  sqlite3 *db = host_open(options->database);
  host_answer expected;
  long rounds = 0;
  warm_up(db, one);
  host_ask(db, one->run, &expected);
  if( expected.rc == SQLITE_NOMEM ) host_fail("%s: %s", one->name, expected.text);
  sqlite3_close(db);
  for(int sticky = 0; sticky <= 1; sticky++){
    long number = 1;
    while( round_of(one, options->database, number, sticky, &expected) ){
      if( host_memory() != before ){
        host_fail("%s: allocation %ld%s: %lld bytes are lost", one->name, number,
                  sticky ? " and all later ones" : "", (long long)(host_memory() - before));
      }
      number += step(options, number);
      rounds++;
    }
  }
  if( rounds == 0 ) host_fail("%s: allocates nothing", one->name);
  printf("%-28s %6ld rounds: %.40s\n", one->name, rounds,
         expected.text[0] ? strtok(expected.text, "\n") : "(no rows)");
  fflush(stdout);
  host_answer_end(&expected);
}

static int run_file(const Options *options){
  char *text = read_file(options->cases), *at = text, *word, *name, *part;
  Case one = {0, 0, 0};
  int count = 0;
  while( (part = next_part(&at, &word, &name)) != 0 ){
    if( strcmp(word, "setup") == 0 ){
      sqlite3 *db = host_open(options->database);
      host_answer answer;
      host_ask(db, part, &answer);
      if( answer.rc != SQLITE_OK ) host_fail("setup: %s", answer.text);
      host_answer_end(&answer);
      sqlite3_close(db);
    }else if( strcmp(word, "warm") == 0 ){
      one.warm = part;
    }else if( strcmp(word, "case") == 0 && name ){
      one.name = name;
      one.run = part;
      if( !options->only || strstr(name, options->only) ){
        run_case(options, &one);
        count++;
      }
      one.warm = 0;
    }else{
      host_fail("%s: what is '--@ %s'?", options->cases, word);
    }
  }
  free(text);
  return count;
}

/* ---- loading ---------------------------------------------------------------- */

static const char probe[] =
  "SELECT reasoning_match('lock', 'a lock'), reasoning_bm25(notes, '1') < 0"
  " FROM notes('lock') LIMIT 1";

/* The entry point or, with a file, sqlite3_load_extension(). */
static int load(sqlite3 *db, const char *file, char **message){
  if( file == 0 ) return host_load(db, message);
  return sqlite3_load_extension(db, file, 0, message);
}

static int load_round(const Options *options, const char *file, long number, int sticky){
  static const char prefix[] = "error during initialization: ";
  sqlite3 *db;
  host_answer answer;
  char *message = 0;
  int rc, failed;
  if( sqlite3_open(options->database, &db) != SQLITE_OK
   || sqlite3_enable_load_extension(db, 1) != SQLITE_OK
   || sqlite3_exec(db, "SELECT count(*) FROM notes", 0, 0, 0) != SQLITE_OK ){
    host_fail("loading: cannot open %s: %s", options->database, sqlite3_errmsg(db));
  }
  host_fail_allocation(number, sticky);
  rc = load(db, file, &message);
  failed = host_failures() > 0;
  host_fail_allocation(0, 0);
  if( rc != SQLITE_OK && (!failed || (rc != SQLITE_NOMEM && file == 0)) ){
    host_fail("loading: allocation %ld: code %d: %s", number, rc, message ? message : "");
  }
  if( rc != SQLITE_OK && message && strncmp(message, prefix, strlen(prefix)) != 0 ){
    host_fail("loading: allocation %ld: %s", number, message);
  }
  sqlite3_free(message);
  if( rc != SQLITE_OK ){
    /* What was registered must not lead into a library that is gone. */
    host_ask(db, probe, &answer);
    host_answer_end(&answer);
    rc = load(db, file, &message);
    if( rc != SQLITE_OK ) host_fail("loading again: %s", message ? message : sqlite3_errmsg(db));
  }
  host_ask(db, probe, &answer);
  if( answer.rc != SQLITE_OK || strcmp(answer.text, "1 | 1\n") != 0 ){
    host_fail("loading: allocation %ld: then: %s", number, answer.text);
  }
  host_answer_end(&answer);
  sqlite3_close(db);
  return failed;
}

static void run_loading(const Options *options, const char *file){
  const sqlite3_int64 before = host_memory();
  long rounds = 0;
  for(int sticky = 0; sticky <= 1; sticky++){
    long number = 1;
    while( load_round(options, file, number, sticky) ){
      if( host_memory() != before ){
        host_fail("loading: allocation %ld: %lld bytes are lost", number,
                  (long long)(host_memory() - before));
      }
      number += step(options, number);
      rounds++;
    }
  }
  printf("%-28s %6ld rounds\n", file ? "loading the file" : "loading", rounds);
}

/* ---- the whole --------------------------------------------------------------- */

int main(int count, char **arguments){
  Options options = {0, 0, 0, 0, 96, 1};
  int at = 1;
  for(; at + 1 < count && arguments[at][0] == '-'; at += 2){
    if( strcmp(arguments[at], "--library") == 0 ) options.library = arguments[at + 1];
    else if( strcmp(arguments[at], "--only") == 0 ) options.only = arguments[at + 1];
    else if( strcmp(arguments[at], "--dense") == 0 ) options.dense = atol(arguments[at + 1]);
    else if( strcmp(arguments[at], "--sparse") == 0 ) options.sparse = atol(arguments[at + 1]);
    else break;
  }
  if( count - at != 2 || options.sparse < 1 ){
    host_fail("usage: oom [--library FILE] [--dense N] [--sparse N] [--only WORD] CASES DATABASE");
  }
  options.cases = arguments[at];
  options.database = arguments[at + 1];
  host_begin();
  printf("SQLite %s\n", sqlite3_libversion());
  if( run_file(&options) == 0 ) host_fail("%s: no case", options.cases);
  if( !options.only ){
    run_loading(&options, 0);
    if( options.library ) run_loading(&options, options.library);
  }
  return 0;
}
