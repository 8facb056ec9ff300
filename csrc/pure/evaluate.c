/*
** The evaluator. Each token of the row is looked up among the query's terms; a
** term of a phrase collects its places; at the end of the row phrases join the
** places of their terms, NEAR groups trim them, and operators combine leaves.
**
** Hits are those of FTS5's position lists. It walks an index and so meets a row
** only at the leaves whose terms all stand in it, in whatever column (a prefix:
** in the columns of the leaf). That gives a node three states: ABSENT (some term
** is not there), UNMATCHED (the terms are there, but not so that the leaf
** matches) and MATCHED. The states decide which hits of a matching row count:
**
**   - below an AND that did not match nothing counts,
**   - on the right of NOT nothing counts, as far as it is ABSENT or MATCHED (FTS5
**     does count it, in one row, where the left matches no row of the table),
**   - an UNMATCHED group `NEAR("a b" c)` keeps the hits of the phrases before
**     the first phrase that has none. FTS5 stops there, and its lists for the
**     later phrases are left over from an earlier row; here they are empty. Both
**     show only where the row matches by another leaf (OR, or the left of NOT).
*/
#include <string.h>

#include "pure/evaluate.h"

typedef enum State { ABSENT, UNMATCHED, MATCHED } State;

/* Places of one term of one phrase in the current row. */
typedef struct Slot {
  const rf_node *leaf;
  int64_t *place;
  int count;
  int room;
  bool prefix;
  bool seen;        /* whether the term stands in the row, in any column */
} Slot;

/* A slot that collects a term; terms shared by phrases have several. */
typedef struct Reference {
  Slot *slot;
  struct Reference *next;
} Reference;

/* A distinct term, exact or prefix, in an open-addressing table. */
typedef struct Entry {
  const char *bytes;
  int length;
  uint32_t hash;
  bool prefix;
  Reference *first;
} Entry;

/* A phrase in the current row. */
typedef struct Hits {
  const rf_phrase *phrase;
  Slot *slot;       /* its terms' slots, adjacent */
  int64_t *joined;  /* room for phrases of several terms, and for '^' */
  int room;
  int64_t *place;   /* the hits: in `joined` or in the slot itself */
  int count;
  bool alone;
} Hits;

struct rf_matcher {
  const rf_memory *memory;
  const rf_query *query;
  rf_arena arena;
  Slot *slot;            /* query->term_count */
  Hits *hits;            /* query->phrase_count */
  unsigned char *state;  /* query->node_count */
  Entry *table;
  uint32_t mask;         /* of the table, whose size is a power of two */
  int prefix_limit;      /* the longest prefix term */
  unsigned char *prefix_length; /* whether there is a prefix term of a length */
  bool starts[256];      /* whether a term begins with a byte */
  bool empty_term;
  int column;
  int64_t tokens;        /* in the columns before this one */
  int places;            /* of all slots */
  int column_tokens;
  /* room for NEAR, as many as the largest group has phrases */
  struct Reader *reader;
};

/* ---- the table of terms ---------------------------------------------------- */

#define HASH_SEED 2166136261u
static uint32_t hash_step(uint32_t hash, char byte){
  return (hash ^ (unsigned char)byte) * 16777619u;
}

/* Finds the entry of a term, or the free one where it belongs. */
static Entry *find(
  const rf_matcher *m, uint32_t hash, const char *bytes, int length, bool prefix
){
  uint32_t at = (hash ^ (prefix ? 0x9E3779B9u : 0)) & m->mask;
  for(;;){
    Entry *entry = &m->table[at];
    if( entry->first == 0 ) return entry;
    if( entry->hash == hash && entry->length == length && entry->prefix == prefix
     && (length == 0 || memcmp(entry->bytes, bytes, (size_t)length) == 0) ) return entry;
    at = (at + 1) & m->mask;
  }
}

static int add_term(rf_matcher *m, const rf_term *term, bool prefix, Slot *slot){
  uint32_t hash = HASH_SEED;
  Entry *entry;
  Reference *reference = rf_arena_take(&m->arena, sizeof(*reference));
  if( reference == 0 ) return RF_NOMEM;
  for(int i = 0; i < term->length; i++) hash = hash_step(hash, term->bytes[i]);
  entry = find(m, hash, term->bytes, term->length, prefix);
  entry->bytes = term->bytes;
  entry->length = term->length;
  entry->hash = hash;
  entry->prefix = prefix;
  reference->slot = slot;
  reference->next = entry->first;
  entry->first = reference;
  if( term->length == 0 ){
    m->empty_term = true;
  }else{
    m->starts[(unsigned char)term->bytes[0]] = true;
  }
  if( prefix ) m->prefix_length[term->length] = 1;
  return RF_OK;
}

/* Gives the phrases of a leaf their slots. A leaf without hope gets no terms. */
static int add_leaf(rf_matcher *m, const rf_node *leaf, int *slots){
  int rc = RF_OK;
  for(int i = 0; rc == RF_OK && i < leaf->phrase_count; i++){
    const rf_phrase *phrase = leaf->phrase[i];
    Hits *hits = &m->hits[phrase->index];
    hits->phrase = phrase;
    hits->slot = &m->slot[*slots];
    for(int j = 0; rc == RF_OK && j < phrase->term_count; j++){
      const rf_term *term = &phrase->term[j];
      const bool prefix = term->prefix;
      Slot *slot = &m->slot[(*slots)++];
      slot->leaf = leaf;
      slot->prefix = prefix;
      if( leaf->op == RF_NOTHING ) continue;
      for(; rc == RF_OK && term; term = term->synonym) rc = add_term(m, term, prefix, slot);
    }
  }
  return rc;
}

typedef struct Sizes {
  size_t terms;   /* synonyms included */
  int prefix;     /* the longest prefix term */
  int group;      /* phrases of the largest NEAR group */
} Sizes;

static void measure(const rf_node *node, Sizes *sizes){
  if( node->phrase_count > sizes->group ) sizes->group = node->phrase_count;
  for(int i = 0; i < node->phrase_count; i++){
    for(int j = 0; j < node->phrase[i]->term_count; j++){
      const rf_term *first = &node->phrase[i]->term[j];
      for(const rf_term *term = first; term; term = term->synonym){
        sizes->terms++;
        if( first->prefix && term->length > sizes->prefix ) sizes->prefix = term->length;
      }
    }
  }
  for(int i = 0; i < node->child_count; i++) measure(node->child[i], sizes);
}

static int add_node(rf_matcher *m, const rf_node *node, int *slots){
  int rc = add_leaf(m, node, slots);
  for(int i = 0; rc == RF_OK && i < node->child_count; i++){
    rc = add_node(m, node->child[i], slots);
  }
  return rc;
}

/* Reads one position list of a NEAR group, one place ahead. */
typedef struct Reader {
  Hits *hits;
  int64_t place;
  int64_t ahead;
  int next;      /* index of the place after `ahead` */
  int count;     /* length of the list before trimming */
  int64_t last;  /* the place that was kept last */
} Reader;

int rf_matcher_new(const rf_memory *memory, const rf_query *query, rf_matcher **matcher){
  Sizes sizes = {0, 0, 0};
  rf_arena arena;
  rf_matcher *m;
  size_t entries = 4;
  int slots = 0, rc;
  *matcher = 0;
  measure(query->root, &sizes);
  while( entries < sizes.terms * 2 ) entries *= 2;
  rf_arena_begin(&arena, memory);
  m = rf_arena_take(&arena, sizeof(*m));
  if( m == 0 ) return RF_NOMEM;
  m->arena = arena;
  m->memory = memory;
  m->query = query;
  m->mask = (uint32_t)(entries - 1);
  m->prefix_limit = sizes.prefix;
  m->slot = rf_arena_take(&m->arena, sizeof(Slot) * (size_t)query->term_count);
  m->hits = rf_arena_take(&m->arena, sizeof(Hits) * (size_t)query->phrase_count);
  m->state = rf_arena_take(&m->arena, (size_t)query->node_count);
  m->table = rf_arena_take(&m->arena, sizeof(Entry) * entries);
  m->prefix_length = rf_arena_take(&m->arena, (size_t)sizes.prefix + 1);
  m->reader = rf_arena_take(&m->arena, sizeof(Reader) * (size_t)sizes.group);
  rc = m->slot && m->hits && m->state && m->table && m->prefix_length && m->reader
     ? add_node(m, query->root, &slots) : RF_NOMEM;
  if( rc == RF_OK ){
    *matcher = m;
  }else{
    rf_matcher_free(m);
  }
  return rc;
}

void rf_matcher_free(rf_matcher *m){
  rf_arena arena;
  if( m == 0 ) return;
  if( m->slot && m->hits ){
    for(int i = 0; i < m->query->term_count; i++){
      m->memory->release(m->memory->context, m->slot[i].place);
    }
    for(int i = 0; i < m->query->phrase_count; i++){
      m->memory->release(m->memory->context, m->hits[i].joined);
    }
  }
  arena = m->arena; /* the matcher stands in its own arena */
  rf_arena_end(&arena);
}

/* ---- tokens ---------------------------------------------------------------- */

void rf_matcher_begin(rf_matcher *m){
  for(int i = 0; i < m->query->term_count; i++){
    m->slot[i].count = 0;
    m->slot[i].seen = false;
  }
  m->tokens = 0;
  m->places = 0;
  m->column_tokens = 0;
  m->column = 0;
}

void rf_matcher_column(rf_matcher *m, int column){
  m->tokens += m->column_tokens;
  m->column_tokens = 0;
  m->column = column;
}

static int collect(rf_matcher *m, const Entry *entry){
  const int64_t place = RF_PLACE(m->column, m->column_tokens - 1);
  for(const Reference *to = entry->first; to; to = to->next){
    Slot *slot = to->slot;
    void *places = slot->place;
    int rc;
    slot->seen = true;
    /* Colocated tokens, and several synonyms, may hit one place more than once. */
    if( slot->count > 0 && slot->place[slot->count - 1] == place ) continue;
    if( !rf_leaf_covers(slot->leaf, m->column) ) continue;
    rc = rf_grow(m->memory, &places, &slot->room, slot->count + 1, sizeof(int64_t));
    slot->place = places;
    if( rc != RF_OK ) return rc;
    if( ++m->places > RF_PLACE_LIMIT ) return RF_TOOBIG;
    slot->place[slot->count++] = place;
  }
  return RF_OK;
}

int rf_matcher_token(
  void *matcher, int flags, const char *token, int bytes, int start, int end
){
  rf_matcher *m = matcher;
  uint32_t hash = HASH_SEED;
  const Entry *entry;
  int rc = RF_OK;
  (void)start;
  (void)end;
  if( (flags & RF_TOKEN_COLOCATED) == 0 || m->column_tokens == 0 ) m->column_tokens++;
  if( bytes > RF_TOKEN_LIMIT ) bytes = RF_TOKEN_LIMIT;
  if( !m->empty_term && (bytes <= 0 || !m->starts[(unsigned char)token[0]]) ) return RF_OK;
  for(int i = 0; ; i++){
    if( i <= m->prefix_limit && m->prefix_length[i] ){
      entry = find(m, hash, token, i, true);
      if( entry->first ) rc = collect(m, entry);
      if( rc != RF_OK ) return rc;
    }
    if( i >= bytes ) break;
    hash = hash_step(hash, token[i]);
  }
  entry = find(m, hash, token, bytes > 0 ? bytes : 0, false);
  return entry->first ? collect(m, entry) : RF_OK;
}

int64_t rf_matcher_tokens(const rf_matcher *m){
  return m->tokens + m->column_tokens;
}

/* ---- phrases and NEAR ------------------------------------------------------ */

/* Joins the places of a phrase's terms: a hit is a run of adjacent places. */
static int join(rf_matcher *m, Hits *hits){
  const rf_phrase *phrase = hits->phrase;
  Slot *first = hits->slot;
  int next[8], *at = next;
  int rc = RF_OK;
  hits->count = 0;
  hits->alone = false;
  for(int i = 0; i < phrase->term_count; i++){
    if( hits->slot[i].count == 0 ) return RF_OK;
  }
  if( phrase->term_count == 0 ) return RF_OK;
  if( phrase->term_count == 1 && !phrase->initial ){
    hits->place = first->place;
    hits->count = first->count;
    hits->alone = true;
    return RF_OK;
  }
  if( phrase->term_count > (int)(sizeof(next) / sizeof(next[0])) ){
    at = m->memory->resize(m->memory->context, 0, sizeof(int) * (size_t)phrase->term_count);
    if( at == 0 ) return RF_NOMEM;
  }
  memset(at, 0, sizeof(int) * (size_t)phrase->term_count);
  for(int i = 0; rc == RF_OK && i < first->count; i++){
    const int64_t place = first->place[i];
    bool run = !phrase->initial || RF_PLACE_TOKEN(place) == 0;
    for(int j = 1; run && j < phrase->term_count; j++){
      const Slot *slot = &hits->slot[j];
      while( at[j] < slot->count && slot->place[at[j]] < place + j ) at[j]++;
      run = at[j] < slot->count && slot->place[at[j]] == place + j;
    }
    if( run ){
      void *joined = hits->joined;
      rc = rf_grow(m->memory, &joined, &hits->room, hits->count + 1, sizeof(int64_t));
      hits->joined = joined;
      if( rc == RF_OK ) hits->joined[hits->count++] = place;
    }
  }
  if( at != next ) m->memory->release(m->memory->context, at);
  hits->place = hits->joined;
  hits->alone = hits->count > 0;
  return rc;
}

#define NO_PLACE INT64_MAX

/* Moves on by one place; false at the end of the list. */
static bool advance(Reader *reader){
  reader->place = reader->ahead;
  reader->ahead = reader->next < reader->count ? reader->hits->place[reader->next++] : NO_PLACE;
  return reader->place != NO_PLACE;
}

/*
** Trims the hits of a group to those that stand close together, by FTS5's own
** procedure: it looks for one place of each phrase within a window that ends at
** the greatest of them, keeps them, and moves on the phrase whose next place is
** least. Kept places are written over the list, behind where it is being read.
** *any tells whether there were any.
*/
static int trim(rf_matcher *m, const rf_node *leaf, bool *any){
  int64_t compared = 0;
  const int count = leaf->phrase_count;
  Reader *readers = m->reader;
  for(int i = 0; i < count; i++){
    Hits *hits = &m->hits[leaf->phrase[i]->index];
    readers[i] = (Reader){hits, 0, 0, 0, hits->count, -1};
    (void)advance(&readers[i]);
    (void)advance(&readers[i]);
    hits->count = 0;
  }
  for(;;){
    int64_t greatest = readers[0].place;
    int move = 0;
    bool close;
    do{
      close = true;
      compared += count;
      if( compared > RF_NEAR_LIMIT ) return RF_TOOBIG;
      for(int i = 0; i < count; i++){
        const int64_t least = greatest - leaf->phrase[i]->term_count - leaf->distance;
        if( readers[i].place >= least && readers[i].place <= greatest ) continue;
        close = false;
        while( readers[i].place < least ){
          if( advance(&readers[i]) ) continue;
          *any = readers[0].hits->count > 0;
          return RF_OK;
        }
        if( readers[i].place > greatest ) greatest = readers[i].place;
      }
    }while( !close );
    for(int i = 0; i < count; i++){
      Reader *reader = &readers[i];
      if( reader->hits->count > 0 && reader->place == reader->last ) continue;
      reader->hits->place[reader->hits->count++] = reader->place;
      reader->last = reader->place;
    }
    for(int i = 1; i < count; i++){
      if( readers[i].ahead < readers[move].ahead ) move = i;
    }
    if( !advance(&readers[move]) ){
      *any = readers[0].hits->count > 0;
      return RF_OK;
    }
  }
}

/* Whether FTS5 would meet the row at this leaf. */
static bool is_met(const rf_matcher *m, const rf_node *leaf){
  if( leaf->op == RF_NOTHING ) return false;
  for(int i = 0; i < leaf->phrase_count; i++){
    const Hits *hits = &m->hits[leaf->phrase[i]->index];
    for(int j = 0; j < hits->phrase->term_count; j++){
      const Slot *slot = &hits->slot[j];
      if( slot->prefix ? slot->count == 0 : !slot->seen ) return false;
    }
  }
  return true;
}

static void clear_hits(rf_matcher *m, const rf_node *node){
  for(int i = 0; i < node->phrase_count; i++) m->hits[node->phrase[i]->index].count = 0;
  for(int i = 0; i < node->child_count; i++) clear_hits(m, node->child[i]);
}

/*
** `hits` asks for every phrase, also where the leaf is already decided. A leaf
** of the third kind of the opening comment keeps what FTS5 would show.
*/
static int evaluate_leaf(rf_matcher *m, const rf_node *leaf, bool hits, State *state){
  const bool met = is_met(m, leaf);
  bool close = true;
  int failed = leaf->phrase_count;
  int rc = RF_OK;
  *state = ABSENT;
  if( !met && !hits ) return RF_OK;
  for(int i = 0; rc == RF_OK && i < leaf->phrase_count; i++){
    Hits *of = &m->hits[leaf->phrase[i]->index];
    rc = join(m, of);
    if( of->count == 0 && i < failed ){
      failed = i;
      if( !hits ) break;
    }
  }
  if( rc != RF_OK ) return rc;
  if( !met ){
    clear_hits(m, leaf);
    return RF_OK;
  }
  if( failed == leaf->phrase_count ){
    if( failed > 1 ) rc = trim(m, leaf, &close);
    if( rc != RF_OK ) return rc;
    if( close ){
      *state = MATCHED;
      return RF_OK;
    }
  }
  *state = UNMATCHED;
  for(int i = failed; i < leaf->phrase_count; i++) m->hits[leaf->phrase[i]->index].count = 0;
  return RF_OK;
}

/* ---- the tree -------------------------------------------------------------- */

/* As deep as the tree is high, at most RF_DEPTH_LIMIT. */
static int evaluate(rf_matcher *m, const rf_node *node, bool hits){
  State state = ABSENT;
  int rc = RF_OK;
  switch( node->op ){
    case RF_LEAF: case RF_NOTHING:
      rc = evaluate_leaf(m, node, hits, &state);
      break;
    case RF_AND:
      state = MATCHED;
      for(int i = 0; rc == RF_OK && i < node->child_count; i++){
        State child;
        if( !hits && state != MATCHED ) break;
        rc = evaluate(m, node->child[i], hits);
        child = m->state[node->child[i]->index];
        if( child < state ) state = child;
      }
      break;
    case RF_OR:
      for(int i = 0; rc == RF_OK && i < node->child_count; i++){
        State child;
        if( !hits && state == MATCHED ) break;
        rc = evaluate(m, node->child[i], hits);
        child = m->state[node->child[i]->index];
        if( child > state ) state = child;
      }
      break;
    case RF_NOT:
      rc = evaluate(m, node->child[0], hits);
      state = m->state[node->child[0]->index];
      if( rc == RF_OK && (hits || state == MATCHED) ){
        rc = evaluate(m, node->child[1], hits);
        if( m->state[node->child[1]->index] == MATCHED ) state = ABSENT;
      }
      break;
  }
  m->state[node->index] = (unsigned char)state;
  return rc;
}

/* Drops the hits that do not count, by the rules of the opening comment. */
static void expose(rf_matcher *m, const rf_node *node){
  const State state = m->state[node->index];
  if( state == ABSENT || (state == UNMATCHED && node->op == RF_AND) ){
    clear_hits(m, node);
    return;
  }
  for(int i = 0; i < node->child_count; i++) expose(m, node->child[i]);
}

int rf_matcher_finish(rf_matcher *m, bool hits, bool *matches){
  const rf_node *root = m->query->root;
  int rc = evaluate(m, root, hits);
  *matches = rc == RF_OK && m->state[root->index] == MATCHED;
  if( rc == RF_OK && hits ) expose(m, root);
  return rc;
}

int rf_matcher_leaf(rf_matcher *m, const rf_node *leaf, bool *matches){
  State state;
  int rc = evaluate_leaf(m, leaf, false, &state);
  *matches = rc == RF_OK && state == MATCHED;
  return rc;
}

int rf_matcher_phrase(rf_matcher *m, const rf_phrase *phrase, bool *matches){
  Hits *hits = &m->hits[phrase->index];
  int rc = join(m, hits);
  *matches = rc == RF_OK && hits->count > 0;
  return rc;
}

const int64_t *rf_matcher_hits(const rf_matcher *m, int phrase, int *count){
  *count = m->hits[phrase].count;
  return m->hits[phrase].place;
}

int rf_matcher_phrase_tokens(const rf_matcher *m, int phrase){
  return m->hits[phrase].phrase->term_count;
}

bool rf_matcher_alone(const rf_matcher *m, int phrase){
  return m->hits[phrase].alone;
}
