/*
** `unicode61` and `ascii`. A window of 64 bytes of the text is made lower case and
** sorted into bits: which bytes are ASCII token characters, and which are not
** ASCII. A token of ASCII then costs a few operations on the bits, whatever its
** length, and is handed on where it stands in the window.
**
** A byte that is not ASCII is read as FTS5 reads it: any lead byte takes all the
** continuation bytes that follow, a continuation byte alone is the character of
** its own number, and what is no character is U+FFFD. The `ascii` tokenizer takes
** such bytes as token characters without a look.
*/
#include "pure/unicode61.h"

#include <string.h>

#include "pure/unicode_tables.h"

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

#define WINDOW 64
#define LONGEST_CHARACTER 4
#define REPLACEMENT 0xFFFDu
#define DEFAULT_CATEGORIES "L* N* Co"

struct rf_unicode61 {
  const rf_memory *memory;
  bool ascii;                 /* the tokenizer of that name */
  bool usual;                 /* token characters in ASCII are letters and digits */
  int level;                  /* remove_diacritics */
  bool token[128];            /* ASCII token characters */
  bool category[RF_CATEGORY_COUNT];
  uint32_t *exception;        /* characters whose category does not decide, ascending */
  int exceptions;
  int exception_room;
  char *folded;               /* the token, where it is not as in the text */
  int folded_room;
};

/* ---- characters -------------------------------------------------------------- */

/* Reads the character at *at, as FTS5 does, and moves on behind it. */
static uint32_t read_character(const unsigned char *text, int bytes, int *at){
  const unsigned char lead = text[(*at)++];
  uint32_t c = lead;
  if( lead < 0xC0 ) return c;
  c = lead < 0xE0 ? lead & 0x1F : lead < 0xF0 ? lead & 0x0F : lead < 0xF8 ? lead & 0x07
    : lead < 0xFC ? lead & 0x03 : lead < 0xFE ? lead & 0x01 : 0;
  while( *at < bytes && (text[*at] & 0xC0) == 0x80 ) c = (c << 6) + (text[(*at)++] & 0x3F);
  if( c < 0x80 || (c & 0xFFFFF800u) == 0xD800 || (c & 0xFFFFFFFEu) == 0xFFFE ) c = REPLACEMENT;
  return c;
}

int rf_write_character(char *out, uint32_t c){
  if( c < 0x80 ){
    out[0] = (char)c;
    return 1;
  }
  if( c < 0x800 ){
    out[0] = (char)(0xC0 + ((c >> 6) & 0x1F));
    out[1] = (char)(0x80 + (c & 0x3F));
    return 2;
  }
  if( c < 0x10000 ){
    out[0] = (char)(0xE0 + ((c >> 12) & 0x0F));
    out[1] = (char)(0x80 + ((c >> 6) & 0x3F));
    out[2] = (char)(0x80 + (c & 0x3F));
    return 3;
  }
  out[0] = (char)(0xF0 + ((c >> 18) & 0x07));
  out[1] = (char)(0x80 + ((c >> 12) & 0x3F));
  out[2] = (char)(0x80 + ((c >> 6) & 0x3F));
  out[3] = (char)(0x80 + (c & 0x3F));
  return 4;
}

/* What is known of a character; above the tables there are categories alone. */
static rf_character character_of(uint32_t c){
  rf_character found = {0, 0, 0, {0, 0, 0}};
  if( c < RF_CHARACTER_LIMIT ){
    const unsigned page = character_page[c / RF_CHARACTER_PAGE];
    return character[page_kind[page * RF_CHARACTER_PAGE + c % RF_CHARACTER_PAGE]];
  }
  for(size_t i = 0; i < sizeof(category_range) / sizeof(category_range[0]); i++){
    if( c >= category_range[i].first && c <= category_range[i].last ){
      found.category = category_range[i].category;
    }
  }
  return found;
}

static bool is_exception(const rf_unicode61 *t, uint32_t c){
  int low = 0, high = t->exceptions;
  while( low < high ){
    const int middle = low + (high - low) / 2;
    if( t->exception[middle] == c ) return true;
    if( t->exception[middle] < c ) low = middle + 1;
    else high = middle;
  }
  return false;
}

static bool is_token(const rf_unicode61 *t, uint32_t c, const rf_character *known){
  return t->category[known->category] != is_exception(t, c);
}

/* ---- arguments ----------------------------------------------------------------- */

static bool same_name(const char *name, const char *lower){
  while( *lower && (*name | ('A' <= *name && *name <= 'Z' ? 0x20 : 0)) == *lower ){
    name++;
    lower++;
  }
  return *name == 0 && *lower == 0;
}

/* Marks the categories that begin at `name`: two letters, or one and a star. */
static int add_category(rf_unicode61 *t, const char *name){
  bool found = name[0] == 'L' && name[1] == 'C'; /* a category that no character has */
  for(int i = 1; i < RF_CATEGORY_COUNT; i++){
    const char *known = &category_names[2 * (i - 1)];
    if( known[0] != name[0] || (name[1] != '*' && known[1] != name[1]) ) continue;
    t->category[i] = true;
    found = true;
  }
  t->category[0] = true;
  return found ? RF_OK : RF_ERROR;
}

static int set_categories(rf_unicode61 *t, const char *names){
  while( *names ){
    while( *names == ' ' || *names == '\t' ) names++;
    if( *names && add_category(t, names) != RF_OK ) return RF_ERROR;
    while( *names && *names != ' ' && *names != '\t' ) names++;
  }
  for(int i = 1; i < 128; i++) t->token[i] = t->category[ascii_category[i]];
  return RF_OK;
}

/* Keeps a character, in order; one that is there already is kept once more. */
static int add_exception(rf_unicode61 *t, uint32_t c){
  void *room = t->exception;
  int at;
  int rc = rf_grow(t->memory, &room, &t->exception_room, t->exceptions + 1, sizeof(uint32_t));
  t->exception = room;
  if( rc != RF_OK ) return rc;
  for(at = t->exceptions++; at > 0 && t->exception[at - 1] > c; at--){
    t->exception[at] = t->exception[at - 1];
  }
  t->exception[at] = c;
  return RF_OK;
}

/* Takes the characters of a text as token characters, or as separators. */
static int add_exceptions(rf_unicode61 *t, const char *characters, bool token){
  const unsigned char *text = (const unsigned char *)characters;
  const int bytes = (int)strlen(characters);
  int at = 0, rc = RF_OK;
  while( rc == RF_OK && at < bytes ){
    rf_character known;
    uint32_t c;
    if( t->ascii && text[at] >= 0x80 ){
      at++;
      continue;
    }
    c = read_character(text, bytes, &at);
    if( c < 0x80 ){
      t->token[c] = token;
      continue;
    }
    known = character_of(c);
    /* A second mention does not take the first one back. */
    if( t->category[known.category] != token && !known.diacritic ) rc = add_exception(t, c);
  }
  return rc;
}

static int set_argument(rf_unicode61 *t, const char *key, const char *value){
  if( same_name(key, "tokenchars") ) return add_exceptions(t, value, true);
  if( same_name(key, "separators") ) return add_exceptions(t, value, false);
  if( t->ascii ) return RF_ERROR;
  if( same_name(key, "categories") ) return RF_OK; /* set before all others */
  if( !same_name(key, "remove_diacritics") ) return RF_ERROR;
  if( value[0] < '0' || value[0] > '2' || value[1] != 0 ) return RF_ERROR;
  t->level = value[0] - '0';
  return RF_OK;
}

static bool is_alphanumeric(int c){
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int set_arguments(rf_unicode61 *t, int count, const char *const *argument){
  const char *categories = DEFAULT_CATEGORIES;
  int rc = count % 2 ? RF_ERROR : RF_OK;
  for(int i = 0; rc == RF_OK && !t->ascii && i < count; i += 2){
    if( same_name(argument[i], "categories") ) categories = argument[i + 1];
  }
  if( rc == RF_OK ) rc = set_categories(t, categories);
  for(int i = 0; rc == RF_OK && i < count; i += 2){
    rc = set_argument(t, argument[i], argument[i + 1]);
  }
  t->usual = true;
  for(int i = 0; i < 128; i++) t->usual = t->usual && t->token[i] == is_alphanumeric(i);
  return rc;
}

int rf_unicode61_new(
  const rf_memory *memory, const char *name, int count, const char *const *argument,
  rf_unicode61 **tokenizer
){
  const bool ascii = same_name(name, "ascii");
  rf_unicode61 *t;
  int rc;
  *tokenizer = 0;
  if( !ascii && !same_name(name, "unicode61") ) return RF_ERROR;
  t = memory->resize(memory->context, 0, sizeof(*t));
  if( t == 0 ) return RF_NOMEM;
  memset(t, 0, sizeof(*t));
  t->memory = memory;
  t->ascii = ascii;
  t->level = 1;
  rc = set_arguments(t, count, argument);
  if( rc == RF_OK ){
    *tokenizer = t;
  }else{
    rf_unicode61_free(t);
  }
  return rc;
}

void rf_unicode61_free(rf_unicode61 *t){
  const rf_memory *memory;
  if( t == 0 ) return;
  memory = t->memory;
  memory->release(memory->context, t->exception);
  memory->release(memory->context, t->folded);
  memory->release(memory->context, t);
}

bool rf_unicode61_is_ascii(const rf_unicode61 *t){
  return t->ascii;
}

bool rf_unicode61_separates(const rf_unicode61 *t, unsigned char byte){
  return byte < 0x80 && !t->token[byte];
}

/* ---- windows --------------------------------------------------------------------- */

/* Bit i tells of byte begin + i of the text; there are none behind its end. */
typedef struct Window {
  int begin;
  uint64_t token;   /* ASCII token characters, for `ascii` all others above too */
  uint64_t other;   /* bytes that are not ASCII and have to be looked at */
  char lower[WINDOW];
} Window;

#if defined(__SSE2__)
/* Bytes from `low` to `high`, both ASCII. */
static __m128i between(__m128i bytes, char low, char high){
  return _mm_and_si128(_mm_cmpgt_epi8(bytes, _mm_set1_epi8((char)(low - 1))),
                       _mm_cmplt_epi8(bytes, _mm_set1_epi8((char)(high + 1))));
}

/* Sorts 64 bytes, for the usual token characters. */
static void sort_usual(const unsigned char *text, Window *window){
  for(int i = 0; i < WINDOW; i += 16){
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(text + i));
    const __m128i upper = between(bytes, 'A', 'Z');
    const __m128i token = _mm_or_si128(_mm_or_si128(upper, between(bytes, 'a', 'z')),
                                       between(bytes, '0', '9'));
    const __m128i bit = _mm_and_si128(upper, _mm_set1_epi8(0x20));
    _mm_storeu_si128((__m128i *)(window->lower + i), _mm_or_si128(bytes, bit));
    window->token |= (uint64_t)(unsigned)_mm_movemask_epi8(token) << i;
    window->other |= (uint64_t)(unsigned)_mm_movemask_epi8(bytes) << i;
  }
}
#endif

static char lower_of(unsigned char c){
  return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static void sort_any(const rf_unicode61 *t, const unsigned char *text, Window *window){
  for(int i = 0; i < WINDOW; i++){
    const unsigned char c = text[i];
    const uint64_t bit = (uint64_t)1 << i;
    if( c >= 0x80 ) window->other |= bit;
    else if( t->token[c] ) window->token |= bit;
    window->lower[i] = lower_of(c);
  }
}

/* Moves the window to begin at `at`, which is within the text. */
static void look(const rf_unicode61 *t, const unsigned char *text, int bytes, int at, Window *window){
  unsigned char tail[WINDOW];
  const unsigned char *from = text + at;
  window->begin = at;
  window->token = 0;
  window->other = 0;
  if( bytes - at < WINDOW ){
    /* NUL bytes, which separate, stand for what is behind the text. */
    memset(tail, 0, sizeof(tail));
    memcpy(tail, from, (size_t)(bytes - at));
    from = tail;
  }
#if defined(__SSE2__)
  if( t->usual ) sort_usual(from, window);
  else sort_any(t, from, window);
#else
  sort_any(t, from, window);
#endif
  if( t->ascii ){
    window->token |= window->other;
    window->other = 0;
  }
}

/* ---- tokens ------------------------------------------------------------------------ */

static int make_room(rf_unicode61 *t, int bytes){
  void *room = t->folded;
  int rc = rf_grow(t->memory, &room, &t->folded_room, bytes, 1);
  t->folded = room;
  return rc;
}

/* Adds an ASCII character, or what is left of another one, to the token being folded. */
static int fold_character(rf_unicode61 *t, uint32_t c, const rf_character *known, int *length){
  int rc = make_room(t, *length + LONGEST_CHARACTER);
  if( rc != RF_OK ) return rc;
  if( c < 0x80 ){
    t->folded[(*length)++] = lower_of((unsigned char)c);
  }else if( !(known->dropped & (1 << t->level)) ){
    *length += rf_write_character(&t->folded[*length], c + (uint32_t)known->fold[t->level]);
  }
  return RF_OK;
}

/*
** Hands on the token that begins at *at, if one does: of any length and any
** characters. *at moves on behind it and the character that ended it.
*/
static int one_token(
  rf_unicode61 *t, const unsigned char *text, int bytes, int *at, void *context,
  rf_token_callback callback
){
  const int start = *at;
  int end = start, length = 0, rc = RF_OK;
  while( rc == RF_OK && *at < bytes ){
    const unsigned char lead = text[*at];
    rf_character known = {0, 0, 0, {0, 0, 0}};
    uint32_t c = lead;
    if( lead < 0x80 ){
      if( !t->token[lead] ) break;
      (*at)++;
    }else if( t->ascii ){
      rc = make_room(t, length + 1);
      if( rc == RF_OK ) t->folded[length++] = (char)lead;
      end = ++*at;
      continue;
    }else{
      c = read_character(text, bytes, at);
      known = character_of(c);
      /* A mark goes on with a token, and begins none. */
      if( !is_token(t, c, &known) && !(end > start && known.diacritic) ) break;
    }
    rc = fold_character(t, c, &known, &length);
    end = *at;
  }
  if( rc != RF_OK || end == start ) return rc;
  return callback(context, 0, t->folded, length, start, end);
}

/* The bits below a place, which is at most 64. */
static uint64_t below(int place){
  return place >= WINDOW ? ~(uint64_t)0 : ((uint64_t)1 << place) - 1;
}

/*
** Hands on the tokens that are ASCII and end within the window, up to the first
** that does not. *at becomes the start of that one, or the end of the window, or
** the first byte that is not ASCII.
*/
static int window_tokens(
  const Window *window, int *at, void *context, rf_token_callback callback
){
  const int limit = window->other ? __builtin_ctzll(window->other) : WINDOW;
  const uint64_t token = window->token & below(limit) & ~below(*at - window->begin);
  /* A bit where a token begins, and one behind its end. */
  uint64_t edges = token ^ (token << 1);
  int rc = RF_OK;
  *at = window->begin + limit;
  while( rc == RF_OK && edges ){
    const int start = __builtin_ctzll(edges);
    int end;
    edges &= edges - 1;
    end = edges ? __builtin_ctzll(edges) : WINDOW;
    edges &= edges - 1;
    if( end >= limit ){
      *at = window->begin + start;
      break;
    }
    rc = callback(context, 0, window->lower + start, end - start, window->begin + start,
                  window->begin + end);
  }
  return rc;
}

int rf_unicode61_tokenize(
  void *tokenizer, int flags, const char *text, int bytes, void *context,
  rf_token_callback callback
){
  rf_unicode61 *t = tokenizer;
  Window window;
  int at = 0, rc = RF_OK;
  (void)flags;
  while( rc == RF_OK && at < bytes ){
    look(t, (const unsigned char *)text, bytes, at, &window);
    if( !(window.other & 1) ){
      const int before = at;
      rc = window_tokens(&window, &at, context, callback);
      /* A token that the window does not end is looked at again from its start. */
      if( at > before || rc != RF_OK ) continue;
    }
    rc = one_token(t, (const unsigned char *)text, bytes, &at, context, callback);
  }
  return rc == RF_DONE ? RF_OK : rc;
}
