/*
** A needle is searched for as it stands. Why that finds every token that holds it:
** `unicode61` and `ascii` make a token of adjacent characters, and an ASCII letter
** or digit in it of the same character in the text, but for special characters.
** Those are the characters outside ASCII that `unicode61` folds to ASCII letters
** (the long s, the Kelvin sign, letters with diacritics) and the combining marks
** that it drops from the middle of a token. In valid UTF-8 all of those begin with
** a byte C3 to C8, CC or E1, or are E2 84 xx; invalid UTF-8 is read into any
** character at all and counts as special. The words around special characters,
** up to the next ASCII separator on either side, are tokenized, and their tokens
** are searched.
**
** Of a stored text, what is searched may still be JSON (RFC 8259). A run of letters
** and digits in a decoded string stands in it as it is, unless one of them, or a
** special character next to them, was written as the escape of its number. JSON
** within a JSON string has the same escapes, with each backslash doubled.
*/
#include "pure/candidate.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

/* ---- special characters -------------------------------------------------------- */

/* The length of the character at `at`, 0 where it is special. */
static int plain_character(const unsigned char *at, int left){
  const unsigned char lead = at[0];
  int length;
  if( lead < 0x80 ) return 1;
  if( lead < 0xC2 || lead > 0xF4 ) return 0;
  if( (lead >= 0xC3 && lead <= 0xC8) || lead == 0xCC || lead == 0xE1 ) return 0;
  length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if( length > left ) return 0;
  for(int i = 1; i < length; i++){
    if( (at[i] & 0xC0) != 0x80 ) return 0;
  }
  if( lead == 0xE0 && at[1] < 0xA0 ) return 0;
  if( lead == 0xE2 && at[1] == 0x84 ) return 0;
  if( lead == 0xF0 && at[1] < 0x90 ) return 0;
  /* The tokenizer would read a further continuation byte into this character. */
  if( length < left && (at[length] & 0xC0) == 0x80 ) return 0;
  return length;
}

/* The first place >= `at` of a byte that is not ASCII, `bytes` where there is none. */
static int skip_ascii(const char *text, int bytes, int at){
#if defined(__SSE2__)
  for(; at + 64 <= bytes; at += 64){
    const __m128i *block = (const __m128i *)(text + at);
    const __m128i any = _mm_or_si128(
        _mm_or_si128(_mm_loadu_si128(block), _mm_loadu_si128(block + 1)),
        _mm_or_si128(_mm_loadu_si128(block + 2), _mm_loadu_si128(block + 3)));
    if( _mm_movemask_epi8(any) ) break;
  }
#else
  for(; at + 8 <= bytes; at += 8){
    uint64_t block;
    memcpy(&block, text + at, sizeof(block));
    if( block & 0x8080808080808080u ) break;
  }
#endif
  while( at < bytes && (unsigned char)text[at] < 0x80 ) at++;
  return at;
}

/*
** The first special character that begins within [at, limit) of a text, -1 where
** there is none.
*/
static int find_special(const char *text, int bytes, int at, int limit){
  while( (at = skip_ascii(text, limit, at)) < limit ){
    const int length = plain_character((const unsigned char *)text + at, bytes - at);
    if( length == 0 ) return at;
    at += length;
  }
  return -1;
}

/* The tokens of a word, which are searched one by one. */
typedef struct Word {
  const rf_search *search;
  const rf_needle *needle;
  int from;  /* tokens that begin before it do not count */
  int found; /* the start of the first token with the needle, or -1 */
} Word;

static int look_at_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Word *word = context;
  bool high;
  (void)flags;
  (void)end;
  if( start < word->from ) return RF_OK;
  if( word->search->find(word->needle, token, bytes, 0, &high) < 0 ) return RF_OK;
  word->found = start;
  return RF_DONE;
}

/*
** The first candidate >= `from` in the words with special characters that begin
** before `limit`; -1 where there is none.
*/
static int find_in_words(
  const rf_search *search, const rf_needle *needle, rf_hay *hay, int from, int limit
){
  int at = hay->special;
  if( at == RF_NOT_LOOKED ){
    at = hay->special = find_special(hay->text, hay->bytes, 0, hay->bytes);
  }
  if( at >= 0 && at < from ) at = find_special(hay->text, hay->bytes, from, limit);
  while( at >= 0 && at < limit ){
    Word word = {search, needle, 0, -1};
    int start = at, end = at + 1, rc;
    while( start > 0
        && !rf_unicode61_separates(search->tokenizer, (unsigned char)hay->text[start - 1]) ){
      start--;
    }
    while( end < hay->bytes
        && !rf_unicode61_separates(search->tokenizer, (unsigned char)hay->text[end]) ){
      end++;
    }
    word.from = from > start ? from - start : 0;
    rc = rf_unicode61_tokenize(search->tokenizer, RF_TOKENIZE_DOCUMENT, hay->text + start,
                               end - start, &word, look_at_token);
    /* Out of memory anything may be a candidate; whoever reads it will report it. */
    if( rc != RF_OK ) return from > start ? from : start;
    if( word.found >= 0 ) return start + word.found;
    at = end < limit ? find_special(hay->text, hay->bytes, end, limit) : -1;
  }
  return -1;
}

/* Whether the bytes that a search for a needle does not compare are all ASCII. */
static bool is_rest_ascii(const rf_needle *needle, const rf_hay *hay){
  const int tail = hay->bytes - needle->length + needle->rare[0] + 1;
  unsigned all = 0;
  for(int i = 0; i < needle->rare[0] && i < hay->bytes; i++) all |= (unsigned char)hay->text[i];
  for(int i = tail > 0 ? tail : 0; i < hay->bytes; i++) all |= (unsigned char)hay->text[i];
  return all < 0x80;
}

int rf_candidate(const rf_search *search, const rf_needle *needle, rf_hay *hay, int from){
  bool high;
  const int place = search->find(needle, hay->text, hay->bytes, from, &high);
  int other;
  if( hay->special == RF_NOT_LOOKED && place < 0 && from == 0 && !high
   && is_rest_ascii(needle, hay) ) hay->special = -1;
  if( hay->special == -1 || rf_unicode61_is_ascii(search->tokenizer) ) return place;
  other = find_in_words(search, needle, hay, from, place < 0 ? hay->bytes : place);
  return other >= 0 && (place < 0 || other < place) ? other : place;
}

/* ---- JSON --------------------------------------------------------------------------- */

/* The value of a hexadecimal digit, -1 for another character. */
static int digit_value(char c){
  const char lower = (char)(c | 0x20);
  if( c >= '0' && c <= '9' ) return c - '0';
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The character of an escape whose `u` is at `at`, -1 where it is none. */
static int escaped_character(const char *text, int bytes, int at){
  int c = 0;
  if( bytes - at < 5 || text[at] != 'u' ) return -1;
  for(int i = 1; i <= 4; i++){
    const int digit = digit_value(text[at + i]);
    if( digit < 0 ) return -1;
    c = c * 16 + digit;
  }
  return c;
}

/* Whether a character may be part of a needle, or of the text of one. */
static bool is_letter(int c){
  const int lower = c | 0x20;
  if( c < 0x80 ) return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
  /* Those that UTF-8 begins with C3 to C8, CC, E1 and E2 84. */
  return (c >= 0xC0 && c < 0x240) || (c >= 0x300 && c < 0x340) || (c >= 0x1000 && c < 0x2000)
      || (c >= 0x2100 && c < 0x2140);
}

bool rf_may_be_json(const char *text, int bytes){
  int at = 0;
  while( at < bytes && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')) ) at++;
  return at < bytes && (text[at] == '[' || text[at] == '{' || text[at] == '"');
}

/* The place behind the next backslash; each counts, also one that another escapes. */
static int next_escape(const char *text, int bytes, int at){
  const char *found = memchr(text + at, '\\', (size_t)(bytes - at));
  return found ? (int)(found - text) + 1 : bytes;
}

rf_hidden rf_hidden_in(const char *text, int bytes){
  rf_hidden hidden = RF_HIDES_NOTHING;
  int at = 0;
  while( (at = next_escape(text, bytes, at)) < bytes ){
    const int c = escaped_character(text, bytes, at);
    if( c == '\\' ) return RF_HIDES_ESCAPES;
    if( c >= 0 && is_letter(c) ) hidden = RF_HIDES_LETTERS;
  }
  return hidden;
}

int rf_unescape(const char *text, int bytes, char *out){
  int length = 0, at = 0;
  while( at < bytes ){
    const int next = next_escape(text, bytes, at);
    const int c = next < bytes ? escaped_character(text, bytes, next) : -1;
    memcpy(out + length, text + at, (size_t)(next - at));
    length += next - at;
    at = next;
    if( c < 0 ) continue;
    /* The backslashes go with the escape, for it joins what stands on both sides. */
    while( length > 0 && out[length - 1] == '\\' ) length--;
    length += rf_write_character(out + length, (uint32_t)c);
    at += 5;
  }
  return length;
}
