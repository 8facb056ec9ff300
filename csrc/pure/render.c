/*
** Writes the tree of a query as JSON.
**
**   {"op":"and"|"or"|"not","children":[...]}
**   {"op":"near","distance":10,"columns":null|[0,...],"phrases":[...],
**    "text":"...","query":"..."}
**   {"op":"nothing"}
**
** and a phrase as
**
**   {"tokens":[["a"],["b","synonym"]],"words":["A","B"],"prefixes":[false,true],
**    "prefix":true,"initial":false,"index":0,"text":"\"a\" + \"b\""}
**
** "words" holds the piece of the query that each token was made of, "prefixes"
** whether a token stands for all that begin with it (FTS5 allows a star inside
** a phrase), "prefix" the same for the last token alone, "text" the phrase
** or group alone as an FTS5 query, and "query" the same with the column filter
** that this leaf has. A tree that can match nothing is cut
** down to {"op":"nothing"}, so the indexes of the phrases may have gaps.
*/
#include "pure/query.h"

/* Whether no row at all can match, whatever it holds. */
static bool is_nothing(const rf_node *node, const rf_columns *columns){
  switch( node->op ){
    case RF_NOTHING:
      return true;
    case RF_LEAF:
      for(int column = 0; column < columns->count; column++){
        if( !columns->unindexed[column] && rf_leaf_covers(node, column) ) return false;
      }
      return true;
    case RF_NOT:
      return is_nothing(node->child[0], columns);
    case RF_AND:
      for(int i = 0; i < node->child_count; i++){
        if( is_nothing(node->child[i], columns) ) return true;
      }
      return false;
    case RF_OR:
      for(int i = 0; i < node->child_count; i++){
        if( !is_nothing(node->child[i], columns) ) return false;
      }
      return true;
  }
  return true;
}

static void render_bool(rf_text *text, bool value){
  rf_text_put(text, value ? "true" : "false");
}

/* A phrase as FTS5 reads it: its strings quoted, joined by '+', with their stars. */
static void phrase_query(const rf_phrase *phrase, rf_text *query){
  if( phrase->initial ) rf_text_put(query, "^");
  for(const rf_string *string = phrase->strings; string; string = string->next){
    if( string != phrase->strings ) rf_text_put(query, " + ");
    rf_text_quoted(query, string->text, (size_t)string->length);
    if( string->star ) rf_text_put(query, "*");
  }
}

/* A phrase alone, as an FTS5 query in a JSON string. */
static void render_phrase_text(const rf_phrase *phrase, rf_text *text){
  rf_text query;
  rf_text_begin(&query, text->memory);
  phrase_query(phrase, &query);
  if( query.status != RF_OK ) text->status = query.status;
  rf_text_json(text, query.bytes, query.length);
  rf_text_end(&query);
}

static void render_phrase(const rf_phrase *phrase, rf_text *text){
  bool prefix = false;
  rf_text_put(text, "{\"tokens\":[");
  for(int i = 0; i < phrase->term_count; i++){
    const rf_term *term = &phrase->term[i];
    rf_text_put(text, i ? ",[" : "[");
    for(const rf_term *each = term; each; each = each->synonym){
      if( each != term ) rf_text_put(text, ",");
      rf_text_json(text, each->bytes, (size_t)each->length);
    }
    rf_text_put(text, "]");
    prefix = term->prefix;
  }
  rf_text_put(text, "],\"words\":[");
  for(int i = 0; i < phrase->term_count; i++){
    if( i ) rf_text_put(text, ",");
    rf_text_json(text, phrase->term[i].source, (size_t)phrase->term[i].source_length);
  }
  rf_text_put(text, "],\"prefixes\":[");
  for(int i = 0; i < phrase->term_count; i++){
    if( i ) rf_text_put(text, ",");
    render_bool(text, phrase->term[i].prefix);
  }
  rf_text_put(text, "],\"prefix\":");
  render_bool(text, prefix);
  rf_text_put(text, ",\"initial\":");
  render_bool(text, phrase->initial);
  rf_text_put(text, ",\"index\":");
  rf_text_number(text, phrase->index);
  rf_text_put(text, ",\"text\":");
  render_phrase_text(phrase, text);
  rf_text_put(text, "}");
}

/* The column set of a leaf as a filter, by name; nothing where all columns are in it. */
static void filter_query(const rf_node *leaf, const rf_columns *columns, rf_text *query){
  if( leaf->columns ){
    rf_text_put(query, "{");
    for(int i = 0; i < leaf->columns->count; i++){
      const char *name = columns->name[leaf->columns->column[i]];
      size_t length = 0;
      while( name[length] ) length++;
      if( i ) rf_text_put(query, " ");
      rf_text_quoted(query, name, length);
    }
    rf_text_put(query, "} : ");
  }
}

/* The phrase or the NEAR group of a leaf, without its column filter. */
static void body_query(const rf_node *leaf, rf_text *query){
  if( leaf->phrase_count == 1 ){
    phrase_query(leaf->phrase[0], query);
    return;
  }
  rf_text_put(query, "NEAR(");
  for(int i = 0; i < leaf->phrase_count; i++){
    if( i ) rf_text_put(query, " ");
    phrase_query(leaf->phrase[i], query);
  }
  rf_text_put(query, ", ");
  rf_text_number(query, leaf->distance);
  rf_text_put(query, ")");
}

static void render_leaf(const rf_node *leaf, const rf_columns *columns, rf_text *text){
  rf_text query, body;
  rf_text_put(text, "{\"op\":\"near\",\"distance\":");
  rf_text_number(text, leaf->distance);
  rf_text_put(text, ",\"columns\":");
  if( leaf->columns ){
    for(int i = 0; i < leaf->columns->count; i++){
      rf_text_put(text, i ? "," : "[");
      rf_text_number(text, leaf->columns->column[i]);
    }
    rf_text_put(text, "]");
  }else{
    rf_text_put(text, "null");
  }
  rf_text_put(text, ",\"phrases\":[");
  for(int i = 0; i < leaf->phrase_count; i++){
    if( i ) rf_text_put(text, ",");
    render_phrase(leaf->phrase[i], text);
  }
  rf_text_begin(&body, text->memory);
  body_query(leaf, &body);
  rf_text_begin(&query, text->memory);
  filter_query(leaf, columns, &query);
  body_query(leaf, &query);
  if( body.status != RF_OK ) text->status = body.status;
  if( query.status != RF_OK ) text->status = query.status;
  rf_text_put(text, "],\"text\":");
  rf_text_json(text, body.bytes, body.length);
  rf_text_put(text, ",\"query\":");
  rf_text_json(text, query.bytes, query.length);
  rf_text_end(&body);
  rf_text_end(&query);
  rf_text_put(text, "}");
}

/* As deep as the tree is high, at most RF_DEPTH_LIMIT. */
static void render(const rf_node *node, const rf_columns *columns, rf_text *text){
  const char *name = node->op == RF_AND ? "and" : node->op == RF_OR ? "or" : "not";
  const rf_node *only = 0;
  int count = 0;
  if( is_nothing(node, columns) ){
    rf_text_put(text, "{\"op\":\"nothing\"}");
    return;
  }
  if( node->op == RF_LEAF ){
    render_leaf(node, columns, text);
    return;
  }
  for(int i = 0; i < node->child_count; i++){
    if( is_nothing(node->child[i], columns) ) continue;
    only = node->child[i];
    count++;
  }
  if( count == 1 ){
    render(only, columns, text);
    return;
  }
  rf_text_put(text, "{\"op\":\"");
  rf_text_put(text, name);
  rf_text_put(text, "\",\"children\":[");
  count = 0;
  for(int i = 0; i < node->child_count; i++){
    if( is_nothing(node->child[i], columns) ) continue;
    if( count++ ) rf_text_put(text, ",");
    render(node->child[i], columns, text);
  }
  rf_text_put(text, "]}");
}

void rf_query_render(const rf_query *query, const rf_columns *columns, rf_text *text){
  render(query->root, columns, text);
}
