/*
** Reads the arguments of an FTS5 table: columns with or without UNINDEXED, and
** the options `tokenize` and `prefix`. Anything else (content, detail, ...) says
** where or how an index is stored, and is an error here.
**
** The text goes through two readers, as in CREATE VIRTUAL TABLE: SQLite cuts it
** at commas outside quotes, comments and parentheses and drops what is empty;
** FTS5 then reads each argument, with blanks as the only space, quotes of four
** kinds, and names of options that may be cut short (`tok = porter`).
*/
#include "pure/spec.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_LIMIT 31

typedef struct Reader {
  rf_arena *arena;
  const char *text;
  int bytes;
  rf_error *error;
  /* what has been read: */
  int count, name_room, unindexed_room;
  const char **name;
  unsigned char *unindexed;
  int tokenizer_count, tokenizer_room;
  const char **tokenizer;
  bool has_tokenizer;
  int prefixes;
} Reader;

/* One argument, NUL-terminated, and where it begins in the spec. */
typedef struct Argument {
  char *text;
  int byte;
} Argument;

static int fail(Reader *r, const char *what, const char *text, int byte){
  snprintf(r->error->message, sizeof(r->error->message), "%s%.180s%s at byte %d",
           what, text ? text : "", text ? "\"" : "", byte);
  return RF_ERROR;
}

static char folded(char c){
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether two names are the same, ASCII letters without case. */
static bool same(const char *a, const char *b){
  while( *a && folded(*a) == folded(*b) ){
    a++;
    b++;
  }
  return folded(*a) == folded(*b);
}

/* Whether `word`, or what there is of it, begins `option`. */
static bool abbreviates(const char *word, const char *option){
  while( *word && folded(*word) == folded(*option) ){
    word++;
    option++;
  }
  return *word == 0;
}

static bool is_bareword(char c){
  return (c & 0x80) != 0 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
      || (c >= 'a' && c <= 'z') || c == '_' || c == 0x1A;
}

static bool is_quote(char c){
  return c == '"' || c == '\'' || c == '[' || c == '`';
}

/* ---- an argument ----------------------------------------------------------- */

/*
** Takes a bareword or a quoted word from *at. *word is its text without quotes,
** NULL where there is no word; an open quote ends with the text, as in FTS5.
*/
static int take_word(Reader *r, const char **at, const char **word, bool *quoted){
  const char *in = *at;
  char *out, close;
  int length = 0;
  *word = 0;
  *quoted = false;
  if( !is_quote(*in) ){
    while( is_bareword(in[length]) ) length++;
    if( length == 0 ) return RF_OK;
    *at = in + length;
    *word = rf_arena_copy(r->arena, in, (size_t)length);
    return *word ? RF_OK : RF_NOMEM;
  }
  close = *in == '[' ? ']' : *in;
  in++;
  /* No longer than with the quotes that are doubled in it. */
  while( in[length] && (in[length] != close || in[length + 1] == close) ){
    length += in[length] == close ? 2 : 1;
  }
  out = rf_arena_take(r->arena, (size_t)length + 1);
  if( out == 0 ) return RF_NOMEM;
  length = 0;
  while( *in ){
    if( *in == close ){
      in++;
      if( *in != close ) break;
    }
    out[length++] = *in++;
  }
  *quoted = true;
  *at = in;
  *word = out;
  return RF_OK;
}

static const char *skip_blanks(const char *at){
  while( *at == ' ' ) at++;
  return at;
}

/* prefix = '2 3': only checked, since a prefix index changes no answer. */
static int read_prefix(Reader *r, const char *at, int byte){
  bool first = true;
  for(;;){
    int length = 0;
    at = skip_blanks(at);
    if( !first && *at == ',' ){
      at = skip_blanks(at + 1);
    }else if( *at == 0 ){
      return RF_OK;
    }
    if( *at < '0' || *at > '9' ) return fail(r, "malformed prefix=... directive", 0, byte);
    if( r->prefixes == PREFIX_LIMIT ) return fail(r, "too many prefix indexes (max 31)", 0, byte);
    while( *at >= '0' && *at <= '9' && length < 1000 ) length = length * 10 + (*at++ - '0');
    if( length <= 0 || length >= 1000 ){
      return fail(r, "prefix length out of range (max 999)", 0, byte);
    }
    r->prefixes++;
    first = false;
  }
}

/* tokenize = '...': words, or strings between single quotes. */
static int read_tokenize(Reader *r, const char *at, int byte){
  if( r->has_tokenizer ) return fail(r, "multiple tokenize=... directives", 0, byte);
  r->has_tokenizer = true;
  while( *at ){
    const char *word;
    void *words = r->tokenizer;
    bool quoted;
    int rc;
    at = skip_blanks(at);
    if( *at == '\'' ){
      /* take_word() would let an open string end with the text. */
      const char *end = at + 1;
      while( *end && (*end != '\'' || end[1] == '\'') ) end += *end == '\'' ? 2 : 1;
      if( *end == 0 ) return fail(r, "parse error in tokenize directive", 0, byte);
    }else if( !is_bareword(*at) ){
      return fail(r, "parse error in tokenize directive", 0, byte);
    }
    rc = take_word(r, &at, &word, &quoted);
    if( rc != RF_OK ) return rc;
    rc = rf_arena_grow(r->arena, &words, &r->tokenizer_room, r->tokenizer_count + 1,
                       sizeof(char *));
    if( rc != RF_OK ) return rc;
    r->tokenizer = words;
    r->tokenizer[r->tokenizer_count++] = word;
    at = skip_blanks(at);
  }
  return RF_OK;
}

static int read_option(Reader *r, const char *name, const char *value, int byte){
  static const char *const others[] = {
    "content", "contentless_delete", "contentless_unindexed", "content_rowid",
    "columnsize", "locale", "detail", "tokendata",
  };
  if( abbreviates(name, "prefix") ) return read_prefix(r, value, byte);
  if( abbreviates(name, "tokenize") ) return read_tokenize(r, value, byte);
  for(size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++){
    if( abbreviates(name, others[i]) ){
      return fail(r, "only columns, UNINDEXED, tokenize and prefix can be given, not \"",
                  others[i], byte);
    }
  }
  return fail(r, "unrecognized option: \"", name, byte);
}

static int read_column(Reader *r, const char *name, const char *option, int byte){
  void *names = r->name, *unindexed = r->unindexed;
  int rc;
  if( same(name, "rank") || same(name, "rowid") ){
    return fail(r, "reserved fts5 column name: \"", name, byte);
  }
  if( option && !same(option, "unindexed") ){
    return fail(r, "unrecognized column option: \"", option, byte);
  }
  for(int i = 0; i < r->count; i++){
    if( same(r->name[i], name) ) return fail(r, "duplicate column name: \"", name, byte);
  }
  if( r->count == RF_COLUMN_LIMIT ) return fail(r, "too many columns", 0, byte);
  rc = rf_arena_grow(r->arena, &names, &r->name_room, r->count + 1, sizeof(char *));
  r->name = names;
  if( rc != RF_OK ) return rc;
  rc = rf_arena_grow(r->arena, &unindexed, &r->unindexed_room, r->count + 1, 1);
  r->unindexed = unindexed;
  if( rc != RF_OK ) return rc;
  r->name[r->count] = name;
  r->unindexed[r->count++] = option != 0;
  return RF_OK;
}

static int read_argument(Reader *r, Argument argument){
  const char *at = argument.text;
  const char *first, *second = 0;
  bool quoted, option = false, ignored;
  int rc = take_word(r, &at, &first, &quoted);
  if( rc != RF_OK ) return rc;
  if( first == 0 ) return fail(r, "parse error in \"", argument.text, argument.byte);
  at = skip_blanks(at);
  if( *at == '=' && !quoted ){
    option = true;
    at = skip_blanks(at + 1);
  }
  if( *at ){
    rc = take_word(r, &at, &second, &ignored);
    if( rc != RF_OK ) return rc;
    if( second == 0 || *at ) return fail(r, "parse error in \"", argument.text, argument.byte);
  }
  if( option ) return read_option(r, first, second ? second : "", argument.byte);
  return read_column(r, first, second, argument.byte);
}

/* ---- the list of arguments -------------------------------------------------- */

/*
** The end of the SQL token or comment at `at`, of which quotes and comments are
** the ones that matter; *space tells whether it is blank or a comment. An open
** quote gives 0. Everything else is read byte by byte.
*/
static int skip_token(const Reader *r, int at, bool *space){
  const char *text = r->text;
  const char c = text[at];
  *space = c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
  if( c == '\'' || c == '"' || c == '`' ){
    for(at++; at < r->bytes; at++){
      if( text[at] != c ) continue;
      if( at + 1 >= r->bytes || text[at + 1] != c ) return at + 1;
      at++;
    }
    return 0;
  }
  if( c == '[' ){
    for(at++; at < r->bytes; at++){
      if( text[at] == ']' ) return at + 1;
    }
    return 0;
  }
  if( c == '-' && at + 1 < r->bytes && text[at + 1] == '-' ){
    *space = true;
    while( at < r->bytes && text[at] != '\n' ) at++;
    return at;
  }
  if( c == '/' && at + 1 < r->bytes && text[at + 1] == '*' ){
    *space = true;
    for(at += 2; at + 1 < r->bytes; at++){
      if( text[at] == '*' && text[at + 1] == '/' ) return at + 2;
    }
    return r->bytes;
  }
  return at + 1;
}

static int add_argument(Reader *r, int start, int end){
  Argument argument;
  if( start < 0 ) return RF_OK; /* nothing between two commas */
  argument.text = rf_arena_copy(r->arena, r->text + start, (size_t)(end - start));
  argument.byte = start;
  return argument.text ? read_argument(r, argument) : RF_NOMEM;
}

static int read_arguments(Reader *r){
  int start = -1, end = -1, depth = 0, at = 0, rc = RF_OK;
  while( rc == RF_OK && at < r->bytes ){
    bool space;
    const char c = r->text[at];
    const int next = skip_token(r, at, &space);
    if( next == 0 ) return fail(r, "unterminated quote", 0, at);
    if( c == 0 ) return fail(r, "NUL byte", 0, at);
    if( c == ')' && depth == 0 ) return fail(r, "unbalanced \")\"", 0, at);
    if( c == ',' && depth == 0 ){
      rc = add_argument(r, start, end);
      start = -1;
    }else if( !space ){
      if( c == '(' ) depth++;
      if( c == ')' ) depth--;
      if( start < 0 ) start = at;
      end = next;
    }
    at = next;
  }
  if( rc == RF_OK && depth > 0 ) return fail(r, "unbalanced \"(\"", 0, r->bytes);
  if( rc == RF_OK ) rc = add_argument(r, start, end);
  if( rc == RF_OK && r->count == 0 ) return fail(r, "no column is named", 0, 0);
  return rc;
}

int rf_spec_parse(
  const rf_memory *memory, const char *text, int bytes, rf_spec **spec, rf_error *error
){
  rf_arena arena;
  rf_spec *made;
  Reader r;
  int rc;
  *spec = 0;
  error->message[0] = 0;
  if( bytes > RF_SPEC_LIMIT ){
    snprintf(error->message, sizeof(error->message), "%d bytes; %d are the limit", bytes,
             RF_SPEC_LIMIT);
    return RF_ERROR;
  }
  rf_arena_begin(&arena, memory);
  made = rf_arena_take(&arena, sizeof(*made));
  if( made == 0 ) return RF_NOMEM;
  made->arena = arena;
  memset(&r, 0, sizeof(r));
  r.arena = &made->arena;
  r.text = text;
  r.bytes = bytes;
  r.error = error;
  rc = read_arguments(&r);
  if( rc != RF_OK ){
    rf_spec_free(made);
    return rc;
  }
  made->columns = (rf_columns){r.count, r.name, r.unindexed};
  made->tokenizer_count = r.tokenizer_count;
  made->tokenizer = r.tokenizer;
  *spec = made;
  return RF_OK;
}

void rf_spec_free(rf_spec *spec){
  if( spec ){
    rf_arena arena = spec->arena; /* the spec stands in its own arena */
    rf_arena_end(&arena);
  }
}
