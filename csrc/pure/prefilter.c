/*
** The prefilter: each token of a query leaves a needle (needle.h) that must stand
** in a text for the token to come out of it. A row without the needles it needs
** is passed over at the speed of memory. Rare needles are looked for first, and
** of NOT the right side is not asked.
**
** candidate.c says why that is sound for `unicode61` and `ascii`. `porter` changes
** at most the last byte of a word's own beginning, so its stems lose that byte.
** With any other tokenizer there is no filter. Neither is there where a token has
** no needle: a term with synonyms, or one without ASCII.
*/
#include "pure/prefilter.h"

#include <string.h>

#include "pure/pair.h"

/* Needles looked for in one phrase; the rarest ones are kept. */
#define PHRASE_NEEDLES 3

typedef struct PhraseNeedles {
  int count;
  rf_needle needle[PHRASE_NEEDLES]; /* rarest first */
  rf_pair pair;                     /* the adjacent two with the rarest first one */
} PhraseNeedles;

struct rf_prefilter {
  rf_arena arena;
  const rf_query *query;
  rf_search search;
  PhraseNeedles *phrase; /* by the phrase's number */
  int **order;           /* by the node's number: its children or phrases, rarest first */
  const rf_columns *columns;
  rf_hay *hay;           /* the texts of the current row */
  char *unescaped;       /* room for one of them without its escapes */
  int room;
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

/* Of a phrase of several terms, the two to look for in stored texts, if there are any. */
static void add_pair(PhraseNeedles *needles, const rf_phrase *phrase, int trim){
  for(int i = 0; i + 1 < phrase->term_count; i++){
    const rf_pair pair = {
      rf_needle_of(&phrase->term[i], trim), rf_needle_of(&phrase->term[i + 1], trim),
    };
    if( pair.first.length == 0 || pair.second.length == 0 ) continue;
    if( needles->pair.first.length == 0 || pair.first.rarity < needles->pair.first.rarity ){
      needles->pair = pair;
    }
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
    add_pair(&filter->phrase[node->phrase[i]->index], node->phrase[i], trim);
  }
  for(int i = 0; rc == RF_OK && i < node->child_count; i++){
    rc = add_node(filter, node->child[i], trim);
  }
  return rc == RF_OK ? add_order(filter, node) : rc;
}

int rf_prefilter_new(
  const rf_memory *memory, const rf_query *query, const rf_columns *columns,
  rf_search search, int trim, rf_prefilter **prefilter
){
  const int texts = columns->count > RF_STORED_LIMIT ? columns->count : RF_STORED_LIMIT;
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
  made->search = search;
  made->phrase = rf_arena_take(&made->arena, sizeof(PhraseNeedles) * (size_t)query->phrase_count);
  made->order = rf_arena_take(&made->arena, sizeof(int *) * (size_t)query->node_count);
  made->hay = rf_arena_take(&made->arena, sizeof(rf_hay) * (size_t)texts);
  if( made->phrase == 0 || made->order == 0 || made->hay == 0
   || add_node(made, query->root, trim) != RF_OK ){
    rf_prefilter_free(made);
    return RF_NOMEM;
  }
  *prefilter = made;
  return RF_OK;
}

void rf_prefilter_free(rf_prefilter *prefilter){
  if( prefilter ){
    rf_arena arena = prefilter->arena; /* the filter stands in its own arena */
    arena.memory->release(arena.memory->context, prefilter->unescaped);
    rf_arena_end(&arena);
  }
}

const rf_needle *rf_prefilter_needles(const rf_prefilter *filter, int phrase, int *count){
  *count = filter->phrase[phrase].count;
  return filter->phrase[phrase].needle;
}

bool rf_prefilter_covers(
  const rf_prefilter *filter, const rf_row *row, const rf_node *leaf, int column
){
  return row->text[column] && !filter->columns->unindexed[column] && rf_leaf_covers(leaf, column);
}

int rf_prefilter_candidate(rf_prefilter *filter, int column, const rf_needle *needle, int from){
  return rf_candidate(&filter->search, needle, &filter->hay[column], from);
}

/* ---- rows -------------------------------------------------------------------- */

/* The texts that are being asked about. */
typedef struct Texts {
  rf_prefilter *filter;
  const rf_row *row;
  bool stored;
} Texts;

static bool counts(const Texts *texts, const rf_node *leaf, int i){
  if( texts->stored ) return texts->row->text[i] != 0;
  return rf_prefilter_covers(texts->filter, texts->row, leaf, i);
}

/*
** Whether the letters that a JSON text hides in its escapes may hold a needle. Out
** of memory they may; whoever decodes the text will report it.
*/
static bool may_hide(rf_prefilter *filter, const rf_needle *needle, const rf_hay *hay){
  const rf_hidden hidden = rf_hidden_in(hay->text, hay->bytes);
  void *room = filter->unescaped;
  rf_hay shown;
  if( hidden != RF_HIDES_LETTERS ) return hidden == RF_HIDES_ESCAPES;
  if( rf_grow(filter->arena.memory, &room, &filter->room, hay->bytes, 1) != RF_OK ) return true;
  filter->unescaped = room;
  shown = (rf_hay){room, rf_unescape(hay->text, hay->bytes, room), RF_NOT_LOOKED};
  return rf_candidate(&filter->search, needle, &shown, 0) >= 0;
}

static bool has_needle(const Texts *texts, const rf_node *leaf, const rf_needle *needle){
  rf_prefilter *filter = texts->filter;
  for(int i = 0; i < texts->row->count; i++){
    rf_hay *hay = &filter->hay[i];
    if( !counts(texts, leaf, i) ) continue;
    if( rf_candidate(&filter->search, needle, hay, 0) >= 0 ) return true;
    if( texts->stored && rf_may_be_json(hay->text, hay->bytes)
     && may_hide(filter, needle, hay) ) return true;
  }
  return false;
}

/*
** Two words that are adjacent in the decoded text are so in one of the stored texts, or
** stand at the ends of two.
*/
static bool may_have_pair(const Texts *texts, const rf_pair *pair){
  rf_prefilter *filter = texts->filter;
  for(int i = 0; i < texts->row->count; i++){
    if( texts->row->text[i] == 0 ) continue;
    if( rf_pair_may_stand(&filter->search, pair, &filter->hay[i]) ) return true;
  }
  return false;
}

static bool may_have_phrase(const Texts *texts, const rf_node *leaf, const rf_phrase *phrase){
  const PhraseNeedles *needles = &texts->filter->phrase[phrase->index];
  for(int i = 0; i < needles->count; i++){
    if( !has_needle(texts, leaf, &needles->needle[i]) ) return false;
  }
  return !texts->stored || needles->pair.first.length == 0 || may_have_pair(texts, &needles->pair);
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

static bool passes(rf_prefilter *filter, const rf_row *row, bool stored, rf_demand demand){
  const Texts texts = {filter, row, stored};
  const rf_node *root = filter->query->root;
  for(int i = 0; i < row->count; i++){
    filter->hay[i] = (rf_hay){row->text[i], row->bytes[i], RF_NOT_LOOKED};
  }
  return demand == RF_WHOLE_QUERY ? may_match(&texts, root) : may_hit(&texts, root);
}

bool rf_prefilter_passes(rf_prefilter *filter, const rf_row *row, rf_demand demand){
  return passes(filter, row, false, demand);
}

bool rf_prefilter_stored_passes(rf_prefilter *filter, const rf_row *stored, rf_demand demand){
  return passes(filter, stored, true, demand);
}
