/*
** Builds the tree of a query by FTS5's rules: what a string, a phrase, a NEAR
** group, an operator and a column set mean, and which empty strings vanish.
** The grammar itself is in parse.c.
*/
#include <stdio.h>
#include <string.h>

#include "pure/query.h"

/* ---- phrases --------------------------------------------------------------- */

typedef struct Tokenizing {
  rf_builder *builder;
  rf_arena *arena;
  rf_phrase *phrase;
  const char *text;
  int length;
  int status;
} Tokenizing;

/* Called for each token of a string; a token over the limit is cut, as in FTS5. */
static int add_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Tokenizing *to = context;
  rf_phrase *phrase = to->phrase;
  rf_term *term;
  if( to->status != RF_OK ) return to->status;
  if( ++to->builder->terms > RF_TERM_LIMIT ){
    rf_error *error = to->builder->error;
    snprintf(error->message, sizeof(error->message),
             "more than %d tokens at byte %d; shorten the query", RF_TERM_LIMIT,
             to->builder->byte);
    return to->status = RF_ERROR;
  }
  if( bytes > RF_TOKEN_LIMIT ) bytes = RF_TOKEN_LIMIT;
  if( bytes < 0 ) bytes = 0;
  if( (flags & RF_TOKEN_COLOCATED) && phrase->term_count > 0 ){
    rf_term **link = &phrase->term[phrase->term_count - 1].synonym;
    while( *link ) link = &(*link)->synonym;
    term = rf_arena_take(to->arena, sizeof(*term));
    *link = term;
  }else{
    void *terms = phrase->term;
    to->status = rf_arena_grow(to->arena, &terms, &phrase->term_room,
                               phrase->term_count + 1, sizeof(rf_term));
    if( to->status != RF_OK ) return to->status;
    phrase->term = terms;
    term = &phrase->term[phrase->term_count++];
    memset(term, 0, sizeof(*term));
  }
  if( term ){
    term->bytes = rf_arena_copy(to->arena, token, (size_t)bytes);
    term->length = bytes;
    if( start >= 0 && end >= start && end <= to->length ){
      term->source = to->text + start;
      term->source_length = end - start;
    }
  }
  if( term == 0 || term->bytes == 0 ) to->status = RF_NOMEM;
  return to->status;
}

int rf_build_string(
  rf_builder *builder, const char *text, int length, bool star, rf_phrase **phrase
){
  rf_arena *arena = &builder->query->arena;
  Tokenizing to = {builder, arena, *phrase, 0, length, RF_OK};
  int flags = RF_TOKENIZE_QUERY | (star ? RF_TOKENIZE_PREFIX : 0);
  rf_string *string;
  int rc;

  if( to.phrase == 0 ) to.phrase = rf_arena_take(arena, sizeof(rf_phrase));
  string = rf_arena_take(arena, sizeof(*string));
  to.text = rf_arena_copy(arena, text, (size_t)length);
  if( to.phrase == 0 || string == 0 || to.text == 0 ) return RF_NOMEM;
  string->text = to.text;
  string->length = length;
  string->star = star;
  if( to.phrase->last_string ){
    to.phrase->last_string->next = string;
  }else{
    to.phrase->strings = string;
  }
  to.phrase->last_string = string;

  rc = builder->tokenizer->tokenize(builder->tokenizer->context, flags, to.text, length,
                                    &to, add_token);
  if( to.status != RF_OK ) return to.status;
  if( rc != RF_OK ) return rc;
  /*
  ** FTS5 sets the flag on the last token that the phrase has so far, also where
  ** this string added none: `a + ""*` is `a*`, and `a* + b` keeps its first star.
  */
  if( to.phrase->term_count > 0 ) to.phrase->term[to.phrase->term_count - 1].prefix = star;
  *phrase = to.phrase;
  return RF_OK;
}

int rf_build_near(rf_builder *builder, rf_phrase *phrase, rf_node **leaf){
  rf_arena *arena = &builder->query->arena;
  rf_node *node = *leaf;
  void *phrases;
  int rc;
  if( node == 0 ){
    node = rf_arena_take(arena, sizeof(*node));
    if( node == 0 ) return RF_NOMEM;
    node->op = RF_LEAF;
    node->distance = RF_NEAR_DEFAULT;
    *leaf = node;
  }
  /* A group drops its empty phrases as long as it has another one. */
  if( node->phrase_count > 0 ){
    if( phrase->term_count == 0 ) return RF_OK;
    if( node->phrase[node->phrase_count - 1]->term_count == 0 ) node->phrase_count--;
  }
  phrases = node->phrase;
  rc = rf_arena_grow(arena, &phrases, &node->phrase_room, node->phrase_count + 1,
                     sizeof(rf_phrase *));
  if( rc != RF_OK ) return rc;
  node->phrase = phrases;
  node->phrase[node->phrase_count++] = phrase;
  return RF_OK;
}

void rf_build_leaf(rf_node *leaf){
  for(int i = 0; i < leaf->phrase_count; i++){
    if( leaf->phrase[i]->term_count == 0 ) leaf->op = RF_NOTHING;
  }
}

/* ---- operators ------------------------------------------------------------- */

static int add_child(rf_arena *arena, rf_node *parent, rf_node *child){
  void *children = parent->child;
  int rc = rf_arena_grow(arena, &children, &parent->child_room, parent->child_count + 1,
                         sizeof(rf_node *));
  if( rc != RF_OK ) return rc;
  parent->child = children;
  parent->child[parent->child_count++] = child;
  if( parent->height < child->height + 1 ) parent->height = child->height + 1;
  return RF_OK;
}

/* AND and OR take in the children of a child of their own kind, as in FTS5. */
static int add_operand(rf_arena *arena, rf_node *parent, rf_node *operand){
  int rc = RF_OK;
  if( parent->op == RF_NOT || operand->op != parent->op ){
    return add_child(arena, parent, operand);
  }
  for(int i = 0; rc == RF_OK && i < operand->child_count; i++){
    rc = add_child(arena, parent, operand->child[i]);
  }
  return rc;
}

int rf_build_operator(
  rf_builder *builder, rf_operator op, rf_node *left, rf_node *right, int byte,
  rf_node **joined
){
  rf_arena *arena = &builder->query->arena;
  rf_node *node;
  int rc = RF_OK;
  if( op != RF_NOT && left->op == op ){
    node = left; /* grows in place: a long chain stays linear */
  }else{
    node = rf_arena_take(arena, sizeof(*node));
    if( node == 0 ) return RF_NOMEM;
    node->op = op;
    rc = add_child(arena, node, left);
  }
  if( rc == RF_OK ) rc = add_operand(arena, node, right);
  if( rc == RF_OK && node->height > RF_DEPTH_LIMIT ){
    snprintf(builder->error->message, sizeof(builder->error->message),
             "expression tree is too large (maximum depth %d) at byte %d",
             RF_DEPTH_LIMIT, byte);
    rc = RF_ERROR;
  }
  *joined = node;
  return rc;
}

int rf_build_implicit_and(
  rf_builder *builder, rf_node *left, rf_node *right, int byte, rf_node **joined
){
  rf_node **last = left->op == RF_AND ? &left->child[left->child_count - 1] : &left;
  if( right->op == RF_NOTHING ){
    /* Unlike with AND, a string without tokens has no effect here. */
    *joined = left;
    return RF_OK;
  }
  if( (*last)->op == RF_NOTHING ){
    *last = right;
    *joined = left;
    return RF_OK;
  }
  return rf_build_operator(builder, RF_AND, left, right, byte, joined);
}

/* ---- column sets ----------------------------------------------------------- */

static rf_colset *new_colset(rf_arena *arena, int room){
  rf_colset *set = rf_arena_take(arena, sizeof(rf_colset) + (size_t)room * sizeof(int));
  if( set ) set->room = room;
  return set;
}

static char folded(char c){
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* ASCII letters compare without case, as column names do in SQLite. */
static bool same_name(const char *name, const char *text, int length){
  for(int i = 0; i < length; i++){
    if( name[i] == 0 || folded(name[i]) != folded(text[i]) ) return false;
  }
  return name[length] == 0;
}

int rf_build_column(
  rf_builder *builder, const char *name, int length, int byte, const rf_colset *set,
  const rf_colset **made
){
  const int count = set ? set->count : 0;
  rf_colset *grown;
  int column = 0, at = 0;
  while( column < builder->columns->count
      && !same_name(builder->columns->name[column], name, length) ) column++;
  if( column == builder->columns->count ){
    snprintf(builder->error->message, sizeof(builder->error->message),
             "no such column: %.*s at byte %d", length > 200 ? 200 : length, name, byte);
    return RF_ERROR;
  }
  while( at < count && set->column[at] < column ) at++;
  if( at < count && set->column[at] == column ){
    *made = set;
    return RF_OK;
  }
  if( set && count < set->room ){
    grown = (rf_colset *)set; /* which is still being made */
  }else{
    grown = new_colset(&builder->query->arena, set ? 2 * count : 1);
    if( grown == 0 ) return RF_NOMEM;
    for(int i = 0; i < count; i++) grown->column[i] = set->column[i];
  }
  for(int i = count; i > at; i--) grown->column[i] = grown->column[i - 1];
  grown->column[at] = column;
  grown->count = count + 1;
  *made = grown;
  return RF_OK;
}

int rf_build_others(rf_builder *builder, const rf_colset *set, const rf_colset **made){
  rf_colset *others = new_colset(&builder->query->arena, builder->columns->count);
  int at = 0;
  if( others == 0 ) return RF_NOMEM;
  for(int column = 0; column < builder->columns->count; column++){
    if( at < set->count && set->column[at] == column ){
      at++;
    }else{
      others->column[others->count++] = column;
    }
  }
  *made = others;
  return RF_OK;
}

static int intersect(
  rf_arena *arena, const rf_colset *a, const rf_colset *b, const rf_colset **made
){
  rf_colset *both = new_colset(arena, a->count < b->count ? a->count : b->count);
  int i = 0, j = 0;
  if( both == 0 ) return RF_NOMEM;
  while( i < a->count && j < b->count ){
    if( a->column[i] < b->column[j] ){
      i++;
    }else if( a->column[i] > b->column[j] ){
      j++;
    }else{
      both->column[both->count++] = a->column[i];
      i++;
      j++;
    }
  }
  *made = both;
  return RF_OK;
}

/* The tree is at most RF_DEPTH_LIMIT high, and so is this recursion. */
int rf_build_filter(rf_builder *builder, rf_node *node, const rf_colset *set){
  int rc = RF_OK;
  if( node->op == RF_LEAF ){
    if( node->columns == 0 ){
      /* FTS5 leaves an empty set here as it is: nothing matches either way. */
      node->columns = set;
      return RF_OK;
    }
    rc = intersect(&builder->query->arena, node->columns, set, &node->columns);
    if( rc == RF_OK && node->columns->count == 0 ) node->op = RF_NOTHING;
    return rc == RF_OK ? rf_build_check(builder) : rc;
  }
  for(int i = 0; rc == RF_OK && i < node->child_count; i++){
    rc = rf_build_filter(builder, node->child[i], set);
  }
  return rc;
}

bool rf_leaf_covers(const rf_node *leaf, int column){
  int low = 0, high;
  if( leaf->columns == 0 ) return true;
  high = leaf->columns->count;
  while( low < high ){
    const int middle = low + (high - low) / 2;
    if( leaf->columns->column[middle] == column ) return true;
    if( leaf->columns->column[middle] < column ){
      low = middle + 1;
    }else{
      high = middle;
    }
  }
  return false;
}

/* ---- the whole ------------------------------------------------------------- */

int rf_build_check(const rf_builder *builder){
  if( builder->query->arena.taken <= RF_MEMORY_LIMIT ) return RF_OK;
  snprintf(builder->error->message, sizeof(builder->error->message),
           "the query takes more than %d MB at byte %d; shorten it",
           (int)(RF_MEMORY_LIMIT >> 20), builder->byte);
  return RF_ERROR;
}

/*
** FTS5 numbers phrases in order of the text after elimination. The tree keeps
** that order, so a walk gives the numbers. As deep as the tree is high.
*/
static void number(rf_query *query, rf_node *node){
  node->index = query->node_count++;
  for(int i = 0; i < node->phrase_count; i++){
    node->phrase[i]->index = query->phrase_count++;
    query->term_count += node->phrase[i]->term_count;
  }
  for(int i = 0; i < node->child_count; i++) number(query, node->child[i]);
}

void rf_build_finish(rf_builder *builder, rf_node *root){
  builder->query->root = root;
  number(builder->query, root);
}

void rf_query_free(rf_query *query){
  if( query ){
    rf_arena arena = query->arena; /* the query itself stands in its arena */
    rf_arena_end(&arena);
  }
}
