/*
** A needle is searched for as it stands. Why that finds every token that holds it:
** `unicode61` and `ascii` make a token of adjacent characters, and an ASCII letter
** or digit in it of the same character in the text, but for special characters
** (special.h). The words around those, up to the next ASCII separator on either
** side, are tokenized, and their tokens are searched.
**
** Of a stored text, what is searched may still be JSON (RFC 8259). A run of letters
** and digits in a decoded string stands in it as it is, unless one of them, or a
** special character next to them, was written as the escape of its number. JSON
** within a JSON string has the same escapes, with each backslash doubled.
*/
#include "pure/candidate.h"

#include <string.h>

#include "pure/special.h"

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

/* ---- words with special characters ------------------------------------------------ */

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
  if( at < from ){
    at = rf_find_special(hay->text, hay->bytes, from, limit);
    if( from == 0 && (at >= 0 || limit == hay->bytes) ) hay->special = at;
  }
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
    at = end < limit ? rf_find_special(hay->text, hay->bytes, end, limit) : -1;
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

/* The character of the escape whose `u` is at `at`, -1 where it is none. */
static int escaped_character(const char *text, int bytes, int at){
  int c = 0;
  if( bytes - at < 5 ) return -1;
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

/*
** The place of the next `u` behind a backslash, `bytes` where there is none. Each
** backslash counts, also one that another one escapes.
*/
static int next_escape(const char *text, int bytes, int at){
#if defined(__SSE2__)
  const __m128i backslash = _mm_set1_epi8('\\'), letter = _mm_set1_epi8('u');
  for(; at + 17 <= bytes; at += 16){
    const __m128i first = _mm_loadu_si128((const __m128i *)(text + at));
    const __m128i second = _mm_loadu_si128((const __m128i *)(text + at + 1));
    const int mask = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(first, backslash),
                                                     _mm_cmpeq_epi8(second, letter)));
    if( mask ) return at + __builtin_ctz((unsigned)mask) + 1;
  }
#endif
  for(; at + 1 < bytes; at++){
    if( text[at] == '\\' && text[at + 1] == 'u' ) return at + 1;
  }
  return bytes;
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
