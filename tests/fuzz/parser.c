/*
** Fuzzes the parser: FTS5 takes the queries that the library takes, and refuses the
** others with the same kind of error; and what reasoning_parse() says of a query is
** JSON whose leaves are queries that mean themselves.
**
** Input: a spec, then the query.
*/
#include "fuzz.h"

#include <string.h>

/* The query, the spec, and a row of texts. */
#define VALUES 5

/* Each leaf's "query" is read back as just this leaf. */
static void check_leaves(const fuzz_spec *spec, int number, const host_answer *tree){
  const host_text values[] = {
    {spec->text, (int)strlen(spec->text)}, {tree->text, (int)tree->length - 1},
  };
  /* Bytes that are no UTF-8 do not survive JSON. */
  host_answer answer;
  if( strstr(tree->text, "\xEF\xBF\xBD") ) return;
  answer = fuzz_ask(
      "SELECT value FROM json_tree(?2) WHERE key = 'query'"
      " AND json_extract(reasoning_parse(?1, value), '$.query') IS NOT value",
      number, 2, values);
  if( answer.length > 0 ) fuzz_fail("a leaf that is not read back: %s", answer.text);
  host_answer_end(&answer);
}

/* The query's verdict on a row of texts, and the tree's, are FTS5's. */
static void check_query(const fuzz_spec *spec, int number, const host_text *values){
  host_answer ours, theirs, tree;
  theirs = fuzz_ask(
      spec->columns == 1 ? "DELETE FROM one%d; INSERT INTO one%d VALUES (?3)"
      : spec->columns == 2 ? "DELETE FROM one%d; INSERT INTO one%d VALUES (?3, ?4)"
      : "DELETE FROM one%d; INSERT INTO one%d VALUES (?3, ?4, ?5)", number, VALUES, values);
  host_answer_end(&theirs);
  theirs = fuzz_ask("SELECT count(*) FROM one%d WHERE one%d MATCH ?1", number, VALUES, values);
  ours = fuzz_ask(
      spec->columns == 1 ? "SELECT reasoning_match_columns(?2, ?1, ?3)"
      : spec->columns == 2 ? "SELECT reasoning_match_columns(?2, ?1, ?3, ?4)"
      : "SELECT reasoning_match_columns(?2, ?1, ?3, ?4, ?5)", number, VALUES, values);
  fuzz_compare("reasoning_match_columns", &ours, &theirs);
  tree = fuzz_ask("SELECT reasoning_parse(?2, ?1)", number, VALUES, values);
  if( (tree.rc == SQLITE_OK) != (ours.rc == SQLITE_OK) ){
    fuzz_fail("reasoning_parse: %s", tree.text);
  }
  if( tree.rc == SQLITE_OK ) check_leaves(spec, number, &tree);
  host_answer_end(&ours);
  host_answer_end(&theirs);
  host_answer_end(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size){
  const fuzz_spec *spec;
  host_text values[VALUES];
  int number;
  if( size < 1 || size > 100000 ) return 0;
  spec = fuzz_spec_of(data[0], &number);
  values[0] = (host_text){(const char *)data + 1, (int)size - 1};
  values[1] = (host_text){spec->text, (int)strlen(spec->text)};
  for(int i = 2; i < VALUES; i++) values[i] = (host_text){"one two", 7};
  if( values[0].length > 0 && values[0].bytes[0] == '*' ){
    /* FTS5 has commands of its own here, which are no queries. */
    host_answer ours = fuzz_ask("SELECT reasoning_match(?1, ?3)", number, VALUES, values);
    if( strcmp(fuzz_kind(&ours), "unknown special query") != 0 ) fuzz_fail("%s", ours.text);
    host_answer_end(&ours);
  }else{
    check_query(spec, number, values);
  }
  return 0;
}
