/*
** The prefilter: each token of a query leaves a needle, ASCII letters and digits
** that must stand in a text, in either case, for the token to come out of it. A
** row without the needles it needs is passed over at the speed of memory.
**
** Why that is sound. The tokenizers `unicode61` and `ascii` make a token of
** adjacent characters, and an ASCII letter or digit in it of the same character
** in the text, but for some characters outside ASCII that `unicode61` folds to
** ASCII letters (the long s, the Kelvin sign, letters with diacritics) and
** combining marks that it drops from the middle of a token. In valid UTF-8 all
** of those begin with a byte C3 to C8, CC or E1, or are E2 84 xx. `unicode61`
** reads invalid UTF-8 into any character at all. So a text that is not plain,
** that holds such a byte or is not valid UTF-8, may hold every needle.
**
** `porter` changes at most the last byte of a word's own beginning, so its stems
** lose that byte. With any other tokenizer there is no filter. Neither is there
** where a token has no needle: a term with synonyms, or one without ASCII.
**
** Not for hosts that register another tokenizer under the name of one of these.
*/
#include "pure/prefilter.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

/* Needles looked for in one phrase; the longest ones are kept. */
#define PHRASE_NEEDLES 3

/* With more phrases than this, looking for each one costs more than tokenizing. */
#define PHRASE_LIMIT 24

typedef struct Needle {
  const char *bytes; /* lower case letters and digits */
  int length;
  int rare[2];       /* the places of its two rarest bytes, in order */
} Needle;

typedef struct PhraseNeedles {
  int count;
  Needle needle[PHRASE_NEEDLES];
} PhraseNeedles;

typedef enum Plain { UNKNOWN, PLAIN, SPECIAL } Plain;

struct rf_prefilter {
  rf_arena arena;
  const rf_query *query;
  PhraseNeedles *phrase; /* by the phrase's number */
  bool ascii;            /* the tokenizer looks at ASCII alone: every text is plain */
  int columns;
  unsigned char *plain;  /* what is known of the row's texts */
};

/* ---- needles --------------------------------------------------------------- */

static bool is_needle_byte(char c){
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* How common a byte is in prose and code, in parts of 10,000. */
static int frequency(char c){
  static const short letter[26] = {
    650, 130, 280, 330, 1000, 200, 180, 380, 600, 20, 70, 360, 240,
    600, 620, 230, 15, 580, 620, 800, 260, 90, 130, 40, 140, 15,
  };
  static const short digit[10] = {80, 80, 60, 40, 35, 35, 30, 30, 30, 30};
  return c >= 'a' ? letter[c - 'a'] : digit[c - '0'];
}

static void choose_rare(Needle *needle){
  int first = 0, second = -1;
  for(int i = 1; i < needle->length; i++){
    if( frequency(needle->bytes[i]) < frequency(needle->bytes[first]) ){
      second = first;
      first = i;
    }else if( second < 0 || frequency(needle->bytes[i]) < frequency(needle->bytes[second]) ){
      second = i;
    }
  }
  if( second < 0 ) second = first;
  needle->rare[0] = first < second ? first : second;
  needle->rare[1] = first < second ? second : first;
}

/* The longest run of letters and digits in a term less its last `trim` bytes. */
static Needle needle_of(const rf_term *term, int trim){
  Needle needle = {term->bytes, 0, {0, 0}};
  const int end = term->length - trim;
  int start = 0;
  if( term->synonym ) return needle;
  for(int i = 0; i <= end; i++){
    if( i < end && is_needle_byte(term->bytes[i]) ) continue;
    if( i - start > needle.length ){
      needle.bytes = term->bytes + start;
      needle.length = i - start;
    }
    start = i + 1;
  }
  if( needle.length > 0 ) choose_rare(&needle);
  return needle;
}

static void add_phrase(PhraseNeedles *needles, const rf_phrase *phrase, int trim){
  for(int i = 0; i < phrase->term_count; i++){
    const Needle needle = needle_of(&phrase->term[i], trim);
    int at = needles->count;
    if( needle.length == 0 ) continue;
    while( at > 0 && needles->needle[at - 1].length < needle.length ) at--;
    if( at == PHRASE_NEEDLES ) continue;
    if( needles->count < PHRASE_NEEDLES ) needles->count++;
    for(int j = needles->count - 1; j > at; j--) needles->needle[j] = needles->needle[j - 1];
    needles->needle[at] = needle;
  }
}

static void add_node(rf_prefilter *filter, const rf_node *node, int trim){
  for(int i = 0; i < node->phrase_count; i++){
    add_phrase(&filter->phrase[node->phrase[i]->index], node->phrase[i], trim);
  }
  for(int i = 0; i < node->child_count; i++) add_node(filter, node->child[i], trim);
}

static bool is_name(const char *name, const char *lower){
  while( *lower && (*name == *lower || *name == *lower - ('a' - 'A')) ){
    name++;
    lower++;
  }
  return *name == 0 && *lower == 0;
}

int rf_prefilter_new(
  const rf_memory *memory, const rf_query *query, int columns, int tokenizer_count,
  const char *const *tokenizer, rf_prefilter **prefilter
){
  const char *name = tokenizer_count > 0 ? tokenizer[0] : "unicode61";
  const bool porter = is_name(name, "porter");
  rf_arena arena;
  rf_prefilter *made;
  *prefilter = 0;
  if( porter ) name = tokenizer_count > 1 ? tokenizer[1] : "unicode61";
  if( !is_name(name, "unicode61") && !is_name(name, "ascii") ) return RF_OK;
  if( query->phrase_count > PHRASE_LIMIT ) return RF_OK;
  rf_arena_begin(&arena, memory);
  made = rf_arena_take(&arena, sizeof(*made));
  if( made == 0 ) return RF_NOMEM;
  made->arena = arena;
  made->query = query;
  made->columns = columns;
  made->ascii = is_name(name, "ascii");
  made->phrase = rf_arena_take(&made->arena, sizeof(PhraseNeedles) * (size_t)query->phrase_count);
  made->plain = rf_arena_take(&made->arena, (size_t)columns);
  if( made->phrase == 0 || made->plain == 0 ){
    rf_prefilter_free(made);
    return RF_NOMEM;
  }
  add_node(made, query->root, porter ? 1 : 0);
  *prefilter = made;
  return RF_OK;
}

void rf_prefilter_free(rf_prefilter *prefilter){
  if( prefilter ){
    rf_arena arena = prefilter->arena; /* the filter stands in its own arena */
    rf_arena_end(&arena);
  }
}

/* ---- searching a text ------------------------------------------------------- */

static bool equals(const char *text, const Needle *needle){
  for(int i = 0; i < needle->length; i++){
    const char c = needle->bytes[i];
    if( text[i] != c && (c < 'a' || text[i] != c - ('a' - 'A')) ) return false;
  }
  return true;
}

static bool found_from(const char *text, int from, int end, const Needle *needle){
  const char rare = needle->bytes[needle->rare[0]];
  const char upper = rare >= 'a' ? (char)(rare - ('a' - 'A')) : rare;
  for(int i = from; i <= end; i++){
    const char c = text[i + needle->rare[0]];
    if( (c == rare || c == upper) && equals(text + i, needle) ) return true;
  }
  return false;
}

/*
** Whether a text holds a needle in either case. Sixteen places at a time are
** compared at the needle's two rarest bytes. Bit 5 is set in the text first,
** which makes letters lower and leaves digits as they are; other bytes that it
** turns into a letter or digit are sorted out by the comparison of the whole.
*/
static bool contains(const char *text, int bytes, const Needle *needle){
  const int end = bytes - needle->length; /* the last place where it can begin */
  int at = 0;
#if defined(__SSE2__)
  const __m128i bit = _mm_set1_epi8(0x20);
  const __m128i first = _mm_set1_epi8(needle->bytes[needle->rare[0]]);
  const __m128i second = _mm_set1_epi8(needle->bytes[needle->rare[1]]);
  for(; at + 15 <= end; at += 16){
    const __m128i a = _mm_loadu_si128((const __m128i *)(text + at + needle->rare[0]));
    const __m128i b = _mm_loadu_si128((const __m128i *)(text + at + needle->rare[1]));
    const __m128i both = _mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(a, bit), first),
                                       _mm_cmpeq_epi8(_mm_or_si128(b, bit), second));
    unsigned mask = (unsigned)_mm_movemask_epi8(both);
    while( mask ){
      if( equals(text + at + __builtin_ctz(mask), needle) ) return true;
      mask &= mask - 1;
    }
  }
#endif
  return found_from(text, at, end, needle);
}

/* The length of the harmless character at `at`, 0 where the text is not plain. */
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

static bool is_plain(const char *text, int bytes){
  const unsigned char *at = (const unsigned char *)text;
  int i = 0;
  while( i < bytes ){
    int length;
#if defined(__SSE2__)
    while( i + 16 <= bytes ){
      const __m128i block = _mm_loadu_si128((const __m128i *)(text + i));
      const unsigned mask = (unsigned)_mm_movemask_epi8(block);
      if( mask ){
        i += __builtin_ctz(mask);
        break;
      }
      i += 16;
    }
    if( i >= bytes ) break;
#endif
    length = plain_character(at + i, bytes - i);
    if( length == 0 ) return false;
    i += length;
  }
  return true;
}

/* ---- rows -------------------------------------------------------------------- */

static bool column_may_hold_all(rf_prefilter *filter, const rf_row *row, int column){
  unsigned char *known = &filter->plain[column];
  if( filter->ascii ) return false;
  if( *known == UNKNOWN ){
    *known = is_plain(row->text[column], row->bytes[column]) ? PLAIN : SPECIAL;
  }
  return *known == SPECIAL;
}

/* The cheap search goes first through all columns: mostly it decides. */
static bool needle_in(
  rf_prefilter *filter, const rf_row *row, const rf_node *leaf, const Needle *needle
){
  for(int i = 0; i < row->count; i++){
    if( row->text[i] && rf_leaf_covers(leaf, i)
     && contains(row->text[i], row->bytes[i], needle) ) return true;
  }
  for(int i = 0; i < row->count; i++){
    if( row->text[i] && rf_leaf_covers(leaf, i)
     && column_may_hold_all(filter, row, i) ) return true;
  }
  return false;
}

static bool phrase_may_hit(
  rf_prefilter *filter, const rf_row *row, const rf_node *leaf, const rf_phrase *phrase
){
  const PhraseNeedles *needles = &filter->phrase[phrase->index];
  for(int i = 0; i < needles->count; i++){
    if( !needle_in(filter, row, leaf, &needles->needle[i]) ) return false;
  }
  return true;
}

/* As deep as the tree is high, at most RF_DEPTH_LIMIT. */
static bool may_match(rf_prefilter *filter, const rf_row *row, const rf_node *node){
  switch( node->op ){
    case RF_NOTHING:
      return false;
    case RF_LEAF:
      for(int i = 0; i < node->phrase_count; i++){
        if( !phrase_may_hit(filter, row, node, node->phrase[i]) ) return false;
      }
      return true;
    case RF_AND:
      for(int i = 0; i < node->child_count; i++){
        if( !may_match(filter, row, node->child[i]) ) return false;
      }
      return true;
    case RF_OR:
      for(int i = 0; i < node->child_count; i++){
        if( may_match(filter, row, node->child[i]) ) return true;
      }
      return false;
    case RF_NOT:
      return may_match(filter, row, node->child[0]);
  }
  return true;
}

static bool may_hit(rf_prefilter *filter, const rf_row *row, const rf_node *node){
  if( node->op == RF_NOTHING ) return false;
  for(int i = 0; i < node->phrase_count; i++){
    if( phrase_may_hit(filter, row, node, node->phrase[i]) ) return true;
  }
  for(int i = 0; i < node->child_count; i++){
    if( may_hit(filter, row, node->child[i]) ) return true;
  }
  return false;
}

bool rf_prefilter_may_match(rf_prefilter *filter, const rf_row *row){
  memset(filter->plain, UNKNOWN, (size_t)filter->columns);
  return may_match(filter, row, filter->query->root);
}

bool rf_prefilter_may_hit(rf_prefilter *filter, const rf_row *row){
  memset(filter->plain, UNKNOWN, (size_t)filter->columns);
  return may_hit(filter, row, filter->query->root);
}
