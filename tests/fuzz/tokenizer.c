/*
** Fuzzes the tokenizers `unicode61` and `ascii`: they take the arguments that FTS5's
** take, and give its tokens, with their places and flags. A text may be cut where the
** tokenizer says so, and a callback may end it early.
**
** Input: the name (an even byte: unicode61), then the arguments with GS between
** them, RS, and the text.
*/
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure/unicode61.h"

#define ARGUMENTS 8

/* Tokens as text, and where they are to end. */
typedef struct Tokens {
  char *text;
  size_t length, room;
  int offset;    /* of a piece in the text */
  int count;
  int limit;     /* after so many tokens `end` is returned; 0 for never */
  int end;
} Tokens;

static int add_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Tokens *tokens = context;
  char place[64];
  const int length = snprintf(place, sizeof(place), "\n%d-%d %d %d:", start + tokens->offset,
                              end + tokens->offset, flags, bytes);
  const size_t wanted = tokens->length + (size_t)length + (size_t)bytes + 1;
  if( wanted > tokens->room ){
    tokens->room = wanted * 2;
    tokens->text = realloc(tokens->text, tokens->room);
    if( tokens->text == 0 ) abort();
  }
  memcpy(tokens->text + tokens->length, place, (size_t)length);
  if( bytes ) memcpy(tokens->text + tokens->length + length, token, (size_t)bytes);
  tokens->length = wanted - 1;
  tokens->text[tokens->length] = 0;
  return ++tokens->count == tokens->limit ? tokens->end : RF_OK;
}

static void compare(const char *what, const Tokens *got, const Tokens *expected){
  if( got->length == expected->length
   && (got->length == 0 || memcmp(got->text, expected->text, got->length) == 0) ) return;
  fuzz_fail("%s: tokens:%s\nexpected:%s", what, got->text ? got->text : " none",
            expected->text ? expected->text : " none");
}

static fts5_api *find_api(void){
  static fts5_api *api;
  if( api == 0 ){
    sqlite3_stmt *statement = 0;
    int rc = sqlite3_prepare_v2(fuzz_connection(), "SELECT fts5(?1)", -1, &statement, 0);
    if( rc == SQLITE_OK ) rc = sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", 0);
    if( rc == SQLITE_OK ) rc = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if( rc != SQLITE_ROW || api == 0 ) host_fail("cannot find FTS5");
  }
  return api;
}

/* FTS5's own tokens; returns whether it takes the arguments. */
static int theirs(
  const char *name, int count, const char **arguments, host_text text, Tokens *tokens
){
  fts5_api *api = find_api();
  fts5_tokenizer methods;
  Fts5Tokenizer *tokenizer = 0;
  void *context;
  int rc = api->xFindTokenizer(api, name, &context, &methods);
  if( rc != SQLITE_OK ) host_fail("FTS5 has no %s", name);
  rc = methods.xCreate(context, arguments, count, &tokenizer);
  if( rc != SQLITE_OK ) return 0;
  rc = methods.xTokenize(tokenizer, tokens, FTS5_TOKENIZE_DOCUMENT, text.bytes, text.length,
                         add_token);
  if( rc != SQLITE_OK ) fuzz_fail("FTS5 ends with code %d", rc);
  methods.xDelete(tokenizer);
  return 1;
}

/* Older releases of FTS5 take categories of any first letter, as though not given. */
static int takes_any_category(void){
  static int known = -1;
  if( known < 0 ){
    const char *arguments[] = {"categories", "b"};
    Tokens none = {0};
    known = theirs("unicode61", 2, arguments, (host_text){"", 0}, &none);
  }
  return known;
}

/* Cuts the text at the first place from the middle on where it may be cut. */
static void check_pieces(rf_unicode61 *tokenizer, host_text text, const Tokens *expected){
  Tokens pieces = {0};
  int cut = text.length / 2;
  while( cut < text.length
      && !rf_unicode61_separates(tokenizer, (unsigned char)text.bytes[cut]) ) cut++;
  if( rf_unicode61_tokenize(tokenizer, 0, text.bytes, cut, &pieces, add_token) != RF_OK ){
    fuzz_fail("a piece fails");
  }
  pieces.offset = cut;
  if( rf_unicode61_tokenize(tokenizer, 0, text.bytes + cut, text.length - cut, &pieces, add_token)
      != RF_OK ) fuzz_fail("a piece fails");
  compare("cut in two", &pieces, expected);
  free(pieces.text);
}

/* What a callback returns ends the text, and is returned, but for RF_DONE. */
static void check_end(rf_unicode61 *tokenizer, host_text text, int count){
  for(int i = 0; i < 2 && count > 0; i++){
    Tokens some = {.limit = (count + 1) / 2, .end = i ? RF_DONE : RF_INTERRUPT};
    const int rc = rf_unicode61_tokenize(tokenizer, 0, text.bytes, text.length, &some, add_token);
    if( some.count != some.limit || rc != (i ? RF_OK : RF_INTERRUPT) ){
      fuzz_fail("ended at token %d of %d, with code %d", some.count, some.limit, rc);
    }
    free(some.text);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size){
  const char *at = (const char *)data + 1, *end = (const char *)data + size;
  const char *name = size > 0 && data[0] % 2 ? "ascii" : "unicode61";
  const char *arguments[ARGUMENTS];
  char *copies[ARGUMENTS];
  Tokens ours = {0}, expected = {0};
  host_text list, text;
  rf_unicode61 *tokenizer;
  int count = 0, taken, rc;
  if( size < 1 || size > 100000 ) return 0;
  list = fuzz_take(&at, end, FUZZ_RS);
  text = (host_text){at, (int)(end - at)};
  at = list.bytes;
  while( at < list.bytes + list.length && count < ARGUMENTS ){
    const host_text argument = fuzz_take(&at, list.bytes + list.length, FUZZ_GS);
    copies[count] = malloc((size_t)argument.length + 1);
    if( copies[count] == 0 ) abort();
    memcpy(copies[count], argument.bytes, (size_t)argument.length);
    copies[count][argument.length] = 0;
    arguments[count] = copies[count];
    count++;
  }
  taken = theirs(name, count, arguments, text, &expected);
  rc = rf_unicode61_new(&rf_heap_memory, name, count, arguments, &tokenizer);
  if( rc == RF_OK ? !taken : taken && !takes_any_category() ) fuzz_fail("%s: code %d, but FTS5 takes it: %d", name, rc, taken);
  if( rc == RF_OK ){
    rc = rf_unicode61_tokenize(tokenizer, 0, text.bytes, text.length, &ours, add_token);
    if( rc != RF_OK ) fuzz_fail("%s: code %d", name, rc);
    compare(name, &ours, &expected);
    check_pieces(tokenizer, text, &expected);
    check_end(tokenizer, text, ours.count);
    rf_unicode61_free(tokenizer);
  }
  free(ours.text);
  free(expected.text);
  for(int i = 0; i < count; i++) free(copies[i]);
  return 0;
}
