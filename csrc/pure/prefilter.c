/*
** The prefilter: each token of a query leaves a needle (needle.h) that must stand
** in a text for the token to come out of it. A row without the needles it needs
** is passed over at the speed of memory. Rare needles are looked for first, and
** of NOT the right side is not asked.
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
** Of a stored text, what is searched is what may still be JSON. A run of letters
** and digits in the decoded text stands in it as it is, unless a character was
** written as a number: any escape but those of single characters counts as all
** needles. JSON within a JSON string has the same escapes, each backslash doubled.
**
** `porter` changes at most the last byte of a word's own beginning, so its stems
** lose that byte. With any other tokenizer there is no filter. Neither is there
** where a token has no needle: a term with synonyms, or one without ASCII.
*/
#include "pure/prefilter.h"

#include <string.h>

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

/* Needles looked for in one phrase; the rarest ones are kept. */
#define PHRASE_NEEDLES 3

typedef struct PhraseNeedles {
  int count;
  rf_needle needle[PHRASE_NEEDLES]; /* rarest first */
} PhraseNeedles;

typedef enum Plain { UNKNOWN, PLAIN, SPECIAL } Plain;

struct rf_prefilter {
  rf_arena arena;
  const rf_query *query;
  rf_finder find;
  PhraseNeedles *phrase; /* by the phrase's number */
  int **order;           /* by the node's number: its children or phrases, rarest first */
  bool ascii;            /* the tokenizer looks at ASCII alone: every text is plain */
  const rf_columns *columns;
  unsigned char *plain;  /* what is known of the row's texts */
};

/* ---- needles --------------------------------------------------------------- */

static void add_phrase(PhraseNeedles *needles, const rf_phrase *phrase, int trim){
  for(int i = 0; i < phrase->term_count; i++){
    const rf_needle needle = rf_needle_of(&phrase->term[i], trim);
    int at = needles->count;
    if( needle.length == 0 ) continue;
    while( at > 0 && needles->needle[at - 1].rarity > needle.rarity ) at--;
    if( at == PHRASE_NEEDLES ) continue;
    if( needles->count < PHRASE_NEEDLES ) needles->count++;
    for(int j = needles->count - 1; j > at; j--) needles->needle[j] = needles->needle[j - 1];
    needles->needle[at] = needle;
  }
}

/* How often the rarest needle of a node is to be met; 1 for one without needles. */
static double rarity(const rf_prefilter *filter, const rf_node *node){
  double found = node->op == RF_OR ? 0.0 : 1.0;
  for(int i = 0; i < node->phrase_count; i++){
    const PhraseNeedles *needles = &filter->phrase[node->phrase[i]->index];
    if( needles->count > 0 && needles->needle[0].rarity < found ) found = needles->needle[0].rarity;
  }
  if( node->op == RF_NOT ) return rarity(filter, node->child[0]);
  for(int i = 0; i < node->child_count; i++){
    const double child = rarity(filter, node->child[i]);
    if( node->op == RF_OR ) found += child;
    else if( child < found ) found = child;
  }
  return found;
}

static double part_rarity(const rf_prefilter *filter, const rf_node *node, int part){
  const PhraseNeedles *needles;
  if( node->child_count > 0 ) return rarity(filter, node->child[part]);
  needles = &filter->phrase[node->phrase[part]->index];
  return needles->count > 0 ? needles->needle[0].rarity : 1.0;
}

/* Sorts the parts of a node, of which there are few. */
static int add_order(rf_prefilter *filter, const rf_node *node){
  const int count = node->child_count > 0 ? node->child_count : node->phrase_count;
  int *order = rf_arena_take(&filter->arena, sizeof(int) * (size_t)count);
  if( order == 0 ) return RF_NOMEM;
  for(int i = 0; i < count; i++){
    const double own = part_rarity(filter, node, i);
    int at = i;
    for(; at > 0 && part_rarity(filter, node, order[at - 1]) > own; at--) order[at] = order[at - 1];
    order[at] = i;
  }
  filter->order[node->index] = order;
  return RF_OK;
}

static int add_node(rf_prefilter *filter, const rf_node *node, int trim){
  int rc = RF_OK;
  for(int i = 0; i < node->phrase_count; i++){
    add_phrase(&filter->phrase[node->phrase[i]->index], node->phrase[i], trim);
  }
  for(int i = 0; rc == RF_OK && i < node->child_count; i++){
    rc = add_node(filter, node->child[i], trim);
  }
  return rc == RF_OK ? add_order(filter, node) : rc;
}

int rf_prefilter_new(
  const rf_memory *memory, const rf_query *query, const rf_columns *columns,
  rf_reasoning reasoning, rf_simd simd, rf_prefilter **prefilter
){
  rf_arena arena;
  rf_prefilter *made;
  *prefilter = 0;
  if( query->phrase_count > RF_PREFILTER_PHRASES ) return RF_OK;
  rf_arena_begin(&arena, memory);
  made = rf_arena_take(&arena, sizeof(*made));
  if( made == 0 ) return RF_NOMEM;
  made->arena = arena;
  made->query = query;
  made->columns = columns;
  made->ascii = reasoning.ascii;
  made->find = rf_finder_for(simd);
  made->phrase = rf_arena_take(&made->arena, sizeof(PhraseNeedles) * (size_t)query->phrase_count);
  made->order = rf_arena_take(&made->arena, sizeof(int *) * (size_t)query->node_count);
  made->plain = rf_arena_take(&made->arena, (size_t)columns->count);
  if( made->phrase == 0 || made->order == 0 || made->plain == 0
   || add_node(made, query->root, reasoning.trim) != RF_OK ){
    rf_prefilter_free(made);
    return RF_NOMEM;
  }
  *prefilter = made;
  return RF_OK;
}

void rf_prefilter_free(rf_prefilter *prefilter){
  if( prefilter ){
    rf_arena arena = prefilter->arena; /* the filter stands in its own arena */
    rf_arena_end(&arena);
  }
}

const rf_needle *rf_prefilter_needles(const rf_prefilter *filter, int phrase, int *count){
  *count = filter->phrase[phrase].count;
  return filter->phrase[phrase].needle;
}

rf_finder rf_prefilter_finder(const rf_prefilter *filter){
  return filter->find;
}

bool rf_prefilter_covers(
  const rf_prefilter *filter, const rf_row *row, const rf_node *leaf, int column
){
  return row->text[column] && !filter->columns->unindexed[column] && rf_leaf_covers(leaf, column);
}

/* ---- plain texts -------------------------------------------------------------- */

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

/* Whether a text that may be JSON has an escape that can stand for any character. */
static bool has_wide_escape(const char *text, int bytes){
  const char *at = text, *end = text + bytes;
  while( at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') ) at++;
  if( at == end || (*at != '[' && *at != '{' && *at != '"') ) return false;
  for(;;){
    at = memchr(at, '\\', (size_t)(end - at));
    if( at == 0 || ++at == end ) return false;
    /* The character after a backslash may be a backslash that escapes the next one. */
    if( *at == 0 || strchr("\"\\/bfnrt", *at) == 0 ) return true;
  }
}

bool rf_prefilter_is_plain(rf_prefilter *filter, const rf_row *row, int column){
  unsigned char *known = &filter->plain[column];
  if( filter->ascii ) return true;
  if( *known == UNKNOWN ){
    *known = is_plain(row->text[column], row->bytes[column]) ? PLAIN : SPECIAL;
  }
  return *known == PLAIN;
}

/* ---- rows -------------------------------------------------------------------- */

/* The texts that are being asked about. */
typedef struct Texts {
  rf_prefilter *filter;
  const rf_row *row;
  bool stored;
} Texts;

static bool may_hold_all(const Texts *texts, int i){
  const rf_row *row = texts->row;
  if( !texts->stored ) return !rf_prefilter_is_plain(texts->filter, row, i);
  if( !texts->filter->ascii && !is_plain(row->text[i], row->bytes[i]) ) return true;
  return has_wide_escape(row->text[i], row->bytes[i]);
}

static bool counts(const Texts *texts, const rf_node *leaf, int i){
  if( texts->stored ) return texts->row->text[i] != 0;
  return rf_prefilter_covers(texts->filter, texts->row, leaf, i);
}

/* The cheap search goes first through all texts: mostly it decides. */
static bool has_needle(const Texts *texts, const rf_node *leaf, const rf_needle *needle){
  const rf_row *row = texts->row;
  for(int i = 0; i < row->count; i++){
    if( counts(texts, leaf, i)
     && texts->filter->find(needle, row->text[i], row->bytes[i], 0) >= 0 ) return true;
  }
  for(int i = 0; i < row->count; i++){
    if( counts(texts, leaf, i) && may_hold_all(texts, i) ) return true;
  }
  return false;
}

static bool may_have_phrase(const Texts *texts, const rf_node *leaf, const rf_phrase *phrase){
  const PhraseNeedles *needles = &texts->filter->phrase[phrase->index];
  for(int i = 0; i < needles->count; i++){
    if( !has_needle(texts, leaf, &needles->needle[i]) ) return false;
  }
  return true;
}

/* As deep as the tree is high, at most RF_DEPTH_LIMIT. */
static bool may_match(const Texts *texts, const rf_node *node){
  const int *order = texts->filter->order[node->index];
  switch( node->op ){
    case RF_NOTHING:
      return false;
    case RF_LEAF:
      for(int i = 0; i < node->phrase_count; i++){
        if( !may_have_phrase(texts, node, node->phrase[order[i]]) ) return false;
      }
      return true;
    case RF_AND:
      for(int i = 0; i < node->child_count; i++){
        if( !may_match(texts, node->child[order[i]]) ) return false;
      }
      return true;
    case RF_OR:
      for(int i = 0; i < node->child_count; i++){
        if( may_match(texts, node->child[i]) ) return true;
      }
      return false;
    case RF_NOT:
      return may_match(texts, node->child[0]);
  }
  return true;
}

static bool may_hit(const Texts *texts, const rf_node *node){
  if( node->op == RF_NOTHING ) return false;
  for(int i = 0; i < node->phrase_count; i++){
    if( may_have_phrase(texts, node, node->phrase[i]) ) return true;
  }
  for(int i = 0; i < node->child_count; i++){
    if( may_hit(texts, node->child[i]) ) return true;
  }
  return false;
}

static bool passes(const Texts *texts, rf_demand demand){
  const rf_node *root = texts->filter->query->root;
  return demand == RF_WHOLE_QUERY ? may_match(texts, root) : may_hit(texts, root);
}

bool rf_prefilter_passes(rf_prefilter *filter, const rf_row *row, rf_demand demand){
  const Texts texts = {filter, row, false};
  memset(filter->plain, UNKNOWN, (size_t)filter->columns->count);
  return passes(&texts, demand);
}

bool rf_prefilter_stored_passes(rf_prefilter *filter, const rf_row *stored, rf_demand demand){
  const Texts texts = {filter, stored, true};
  return passes(&texts, demand);
}
