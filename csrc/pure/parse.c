/*
** The parser of FTS5's query language.
**
**   query      := expr
**   expr       := expr AND expr | expr OR expr | expr NOT expr
**              |  colset ':' '(' expr ')' | '(' expr ')' | list
**   list       := filtered { filtered }                      implicit AND
**   filtered   := near | colset ':' near
**   near       := phrase | '^' phrase
**              |  NEAR '(' phrase { phrase } [ ',' NUMBER ] ')'
**   phrase     := STRING ['*'] { '+' STRING ['*'] }
**   colset     := ['-'] STRING | ['-'] '{' STRING { STRING } '}'
**
** NOT binds tightest, then AND, then OR; all associate to the left. A STRING is
** a bareword or stands between double quotes. A '(' after a string can only
** begin a NEAR group, so an implicit AND never joins a parenthesis.
**
** It is a shift-reduce parser with one symbol of look-ahead on a stack of
** RF_STACK_LIMIT symbols: FTS5's own parser is one, and its limit on nesting and
** its choice between several errors of a query follow from the stack and from
** the order in which symbols are reduced. So both hold here without counting,
** and nothing recurses. The first error ends the parse.
*/
#include <stdio.h>
#include <string.h>

#include "pure/query.h"

typedef enum Symbol {
  /* what the text holds; END is also the bottom of the stack */
  END, OR, AND, NOT, COLON, MINUS, OPEN_SET, CLOSE_SET, STRING, OPEN, CLOSE, CARET,
  COMMA, PLUS, STAR,
  /* what it is reduced to */
  COLSET, NAMES, EXPR, LIST, FILTERED, NEAR, PHRASES, DISTANCE, PHRASE, STARRED,
} Symbol;

typedef struct Item {
  Symbol symbol;
  int byte;    /* of the symbol in the query */
  int length;  /* of a symbol of the text */
  union {
    const rf_colset *set; /* COLSET, NAMES */
    rf_node *node;        /* EXPR, LIST, FILTERED, NEAR, PHRASES */
    rf_phrase *phrase;    /* PHRASE */
    int number;           /* DISTANCE, STARRED */
  } value;
} Item;

typedef struct Parser {
  rf_builder builder;
  const char *text;
  int bytes;
  int next;                        /* where the next symbol is looked for */
  bool accepted;
  int depth;                       /* symbols on the stack, the bottom not counted */
  Item stack[RF_STACK_LIMIT + 1];
  char *unquoted;                  /* room for one string */
} Parser;

/* ---- symbols of the text --------------------------------------------------- */

static bool is_bareword(char c){
  return (c & 0x80) != 0 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
      || (c >= 'a' && c <= 'z') || c == '_' || c == 0x1A;
}

/* Fails at a symbol; `length` 0 for the end of the query. */
static int syntax_error(Parser *p, const Item *at){
  const int length = at->length > 200 ? 200 : at->length;
  snprintf(p->builder.error->message, sizeof(p->builder.error->message),
           "syntax error near \"%.*s\" at byte %d", length, p->text + at->byte, at->byte);
  return RF_ERROR;
}

static int read_symbol(Parser *p, Item *item){
  const char *text = p->text;
  int end;
  while( p->next < p->bytes && (text[p->next] == ' ' || text[p->next] == '\t'
      || text[p->next] == '\n' || text[p->next] == '\r') ) p->next++;
  memset(item, 0, sizeof(*item));
  item->symbol = END;
  item->byte = p->next;
  if( p->next >= p->bytes ) return RF_OK;
  end = p->next + 1;
  switch( text[p->next] ){
    case '(': item->symbol = OPEN; break;
    case ')': item->symbol = CLOSE; break;
    case '{': item->symbol = OPEN_SET; break;
    case '}': item->symbol = CLOSE_SET; break;
    case ':': item->symbol = COLON; break;
    case ',': item->symbol = COMMA; break;
    case '+': item->symbol = PLUS; break;
    case '*': item->symbol = STAR; break;
    case '-': item->symbol = MINUS; break;
    case '^': item->symbol = CARET; break;
    case '"':
      item->symbol = STRING;
      for(;;){
        if( end >= p->bytes ){
          snprintf(p->builder.error->message, sizeof(p->builder.error->message),
                   "unterminated string at byte %d", item->byte);
          return RF_ERROR;
        }
        if( text[end++] != '"' ) continue;
        if( end >= p->bytes || text[end] != '"' ) break;
        end++;
      }
      break;
    default:
      if( !is_bareword(text[p->next]) ){
        item->length = 1;
        return syntax_error(p, item);
      }
      item->symbol = STRING;
      while( end < p->bytes && is_bareword(text[end]) ) end++;
      if( end - p->next == 2 && memcmp(text + p->next, "OR", 2) == 0 ) item->symbol = OR;
      if( end - p->next == 3 && memcmp(text + p->next, "NOT", 3) == 0 ) item->symbol = NOT;
      if( end - p->next == 3 && memcmp(text + p->next, "AND", 3) == 0 ) item->symbol = AND;
      break;
  }
  item->length = end - p->next;
  p->next = end;
  return RF_OK;
}

/* Copies a string without its quotes to p->unquoted; returns its length. */
static int unquote(Parser *p, const Item *string){
  const char *text = p->text + string->byte;
  int length = 0;
  if( text[0] != '"' ){
    memcpy(p->unquoted, text, (size_t)string->length);
    return string->length;
  }
  for(int i = 1; i < string->length - 1; i++){
    p->unquoted[length++] = text[i];
    if( text[i] == '"' ) i++; /* a doubled quote */
  }
  return length;
}

/* ---- the stack ------------------------------------------------------------- */

static int push(Parser *p, const Item *item){
  if( p->depth >= RF_STACK_LIMIT ){
    snprintf(p->builder.error->message, sizeof(p->builder.error->message),
             "parser stack overflow at byte %d; nest the query less", item->byte);
    return RF_ERROR;
  }
  p->stack[++p->depth] = *item;
  return RF_OK;
}

/* Pushes a symbol that stands for nothing in the text. */
static int push_empty(Parser *p, Symbol symbol, int number, int byte){
  Item item;
  memset(&item, 0, sizeof(item));
  item.symbol = symbol;
  item.byte = byte;
  item.value.number = number;
  return push(p, &item);
}

/* The symbol `below` places under the top, END at and under the bottom. */
static Symbol under(const Parser *p, int below){
  return p->depth > below ? p->stack[p->depth - below].symbol : END;
}

static bool begins_expression(Symbol below){
  return below == END || below == OPEN || below == AND || below == OR || below == NOT;
}

/* A '(' of a NEAR group, as against one around an expression. */
static bool opens_near(const Parser *p, int below){
  return under(p, below) == OPEN && under(p, below + 1) == STRING;
}

/* ---- reductions ------------------------------------------------------------ */

/* colset := ['-'] STRING | ['-'] '{' names '}', of which `count` symbols are pushed */
static int reduce_colset(Parser *p, int count){
  Item *first = &p->stack[p->depth - count + 1];
  const bool others = first->symbol == MINUS;
  const Item *last = &p->stack[p->depth];
  const rf_colset *set = 0;
  int rc = RF_OK;
  if( last->symbol == STRING ){
    const int length = unquote(p, last);
    rc = rf_build_column(&p->builder, p->unquoted, length, last->byte, 0, &set);
  }else{
    set = p->stack[p->depth - 1].value.set;
  }
  if( rc == RF_OK && others ) rc = rf_build_others(&p->builder, set, &set);
  first->symbol = COLSET;
  first->value.set = set;
  p->depth -= count - 1;
  return rc;
}

/* names := [names] STRING */
static int reduce_names(Parser *p){
  Item *string = &p->stack[p->depth];
  const bool more = under(p, 1) == NAMES;
  const rf_colset *set = more ? string[-1].value.set : 0;
  const int length = unquote(p, string);
  int rc = rf_build_column(&p->builder, p->unquoted, length, string->byte, set, &set);
  if( more ) p->depth--;
  p->stack[p->depth].symbol = NAMES;
  p->stack[p->depth].value.set = set;
  return rc;
}

/* phrase := [phrase '+'] STRING starred */
static int reduce_phrase(Parser *p){
  const bool star = p->stack[p->depth].value.number != 0;
  const Item *string = &p->stack[p->depth - 1];
  const bool more = under(p, 2) == PLUS;
  Item *result = &p->stack[p->depth - (more ? 3 : 1)];
  rf_phrase *phrase = more ? result->value.phrase : 0;
  const int length = unquote(p, string);
  int rc = rf_build_string(&p->builder, p->unquoted, length, star, &phrase);
  p->depth -= more ? 3 : 1;
  result->symbol = PHRASE;
  result->value.phrase = phrase;
  return rc;
}

/* near := phrase | '^' phrase; phrases := [phrases] phrase */
static int reduce_near(Parser *p){
  rf_phrase *phrase = p->stack[p->depth].value.phrase;
  const Symbol below = under(p, 1);
  const bool group = below == PHRASES || opens_near(p, 1);
  rf_node *leaf = below == PHRASES ? p->stack[p->depth - 1].value.node : 0;
  int rc = rf_build_near(&p->builder, phrase, &leaf);
  if( below == CARET ) phrase->initial = true;
  if( below == CARET || below == PHRASES ) p->depth--;
  p->stack[p->depth].symbol = group ? PHRASES : NEAR;
  p->stack[p->depth].value.node = leaf;
  return rc;
}

/* distance := [',' NUMBER]; the number still stands in the text */
static int read_distance(Parser *p, const Item *item, int *distance){
  int number = 0;
  if( item->length == 0 ){
    *distance = RF_NEAR_DEFAULT;
    return RF_OK;
  }
  for(int i = 0; i < item->length; i++){
    const char c = p->text[item->byte + i];
    if( c < '0' || c > '9' ){
      snprintf(p->builder.error->message, sizeof(p->builder.error->message),
               "expected integer, got \"%.*s\" at byte %d",
               item->length > 200 ? 200 : item->length, p->text + item->byte, item->byte);
      return RF_ERROR;
    }
    if( number < 214748363 ) number = number * 10 + (c - '0'); /* FTS5's cap */
  }
  *distance = number;
  return RF_OK;
}

/* near := NEAR '(' phrases distance ')' */
static int reduce_group(Parser *p){
  Item *name = &p->stack[p->depth - 4];
  rf_node *leaf = p->stack[p->depth - 2].value.node;
  int rc;
  if( name->length != 4 || memcmp(p->text + name->byte, "NEAR", 4) != 0 ){
    return syntax_error(p, name);
  }
  rc = read_distance(p, &p->stack[p->depth - 1], &leaf->distance);
  p->depth -= 4;
  name->symbol = NEAR;
  name->value.node = leaf;
  return rc;
}

/* filtered := near | colset ':' near */
static int reduce_filtered(Parser *p){
  rf_node *leaf = p->stack[p->depth].value.node;
  int rc = RF_OK;
  rf_build_leaf(leaf);
  if( under(p, 1) == COLON ){
    rc = rf_build_filter(&p->builder, leaf, p->stack[p->depth - 2].value.set);
    p->depth -= 2;
  }
  p->stack[p->depth].symbol = FILTERED;
  p->stack[p->depth].value.node = leaf;
  return rc;
}

/* list := [list] filtered */
static int reduce_list(Parser *p){
  rf_node *node = p->stack[p->depth].value.node;
  int rc = RF_OK;
  if( under(p, 1) == LIST ){
    rc = rf_build_implicit_and(&p->builder, p->stack[p->depth - 1].value.node, node,
                               p->next, &node);
    p->depth--;
  }
  p->stack[p->depth].symbol = LIST;
  p->stack[p->depth].value.node = node;
  return rc;
}

/* expr := expr AND expr, and so on */
static int reduce_operator(Parser *p, rf_operator op){
  rf_node *right = p->stack[p->depth].value.node;
  rf_node *node = p->stack[p->depth - 2].value.node;
  int rc = rf_build_operator(&p->builder, op, node, right, p->next, &node);
  p->depth -= 2;
  p->stack[p->depth].value.node = node;
  return rc;
}

/* expr := [colset ':'] '(' expr ')' */
static int reduce_parentheses(Parser *p){
  rf_node *node = p->stack[p->depth - 1].value.node;
  int rc = RF_OK;
  p->depth -= 2;
  if( under(p, 1) == COLON ){
    rc = rf_build_filter(&p->builder, node, p->stack[p->depth - 2].value.set);
    p->depth -= 2;
  }
  p->stack[p->depth].symbol = EXPR;
  p->stack[p->depth].value.node = node;
  return rc;
}

/* ---- the automaton --------------------------------------------------------- */

/* A string waits for what follows: a column's ':', a group's '(', a star. */
static int after_string(Parser *p, const Item *item, bool *shifted){
  const Symbol below = under(p, 1);
  const bool start = (begins_expression(below) && !opens_near(p, 1)) || below == LIST;
  *shifted = false;
  if( below == OPEN_SET || below == NAMES ) return reduce_names(p);
  if( below == MINUS ) return reduce_colset(p, 2);
  if( below == COMMA ){
    /* The distance is the number's place in the text. */
    p->stack[p->depth - 1] = p->stack[p->depth];
    p->stack[--p->depth].symbol = DISTANCE;
    return RF_OK;
  }
  if( start && item->symbol == COLON ) return reduce_colset(p, 1);
  if( item->symbol == STAR || (item->symbol == OPEN && (start || below == COLON)) ){
    *shifted = true;
    return push(p, item);
  }
  return push_empty(p, STARRED, 0, item->byte);
}

/* An expression waits for a tighter operator, its ')' or the end. */
static int after_expression(Parser *p, const Item *item, bool *shifted){
  const Symbol below = under(p, 1);
  const Symbol next = item->symbol;
  *shifted = false;
  if( below == NOT ) return reduce_operator(p, RF_NOT);
  if( next == NOT || (next == AND && below != AND)
   || (next == OR && (below == END || below == OPEN)) || (next == CLOSE && below == OPEN) ){
    *shifted = true;
    return push(p, item);
  }
  if( below == AND ) return reduce_operator(p, RF_AND);
  if( below == OR ) return reduce_operator(p, RF_OR);
  if( below == END && next == END ){
    *shifted = true;
    p->accepted = true;
    return RF_OK;
  }
  return syntax_error(p, item);
}

static bool begins_filtered(Symbol symbol){
  return symbol == STRING || symbol == OPEN_SET || symbol == MINUS || symbol == CARET;
}

/* Reduces as far as the next symbol asks for, then pushes it or refuses it. */
static int feed(Parser *p, const Item *item){
  const Symbol next = item->symbol;
  for(;;){
    bool shift = false, shifted = false;
    int rc = RF_OK;
    switch( under(p, 0) ){
      case END: case OR: case AND: case NOT:
        shift = begins_filtered(next) || next == OPEN;
        if( !shift ) return syntax_error(p, item);
        break;
      case OPEN:
        shift = next == STRING || (!opens_near(p, 0) && (begins_filtered(next) || next == OPEN));
        if( !shift ) return syntax_error(p, item);
        break;
      case COLON:
        /* In a list a column set holds for a phrase, never for a parenthesis. */
        shift = next == STRING || next == CARET
             || (next == OPEN && begins_expression(under(p, 2)));
        if( !shift ) return syntax_error(p, item);
        break;
      case CARET: case PLUS: case COMMA: case OPEN_SET:
        shift = next == STRING;
        if( !shift ) return syntax_error(p, item);
        break;
      case MINUS:
        shift = next == STRING || next == OPEN_SET;
        if( !shift ) return syntax_error(p, item);
        break;
      case COLSET:
        shift = next == COLON;
        if( !shift ) return syntax_error(p, item);
        break;
      case NAMES:
        shift = next == STRING || next == CLOSE_SET;
        if( !shift ) return syntax_error(p, item);
        break;
      case DISTANCE:
        shift = next == CLOSE;
        if( !shift ) return syntax_error(p, item);
        break;
      case CLOSE_SET:
        rc = reduce_colset(p, under(p, 3) == MINUS ? 4 : 3);
        break;
      case STRING:
        rc = after_string(p, item, &shifted);
        break;
      case STAR:
        p->stack[p->depth].symbol = STARRED;
        p->stack[p->depth].value.number = 1;
        break;
      case STARRED:
        rc = reduce_phrase(p);
        break;
      case PHRASE:
        shift = next == PLUS;
        if( !shift ) rc = reduce_near(p);
        break;
      case PHRASES:
        shift = next == STRING || next == COMMA;
        if( !shift ) rc = push_empty(p, DISTANCE, 0, item->byte);
        break;
      case NEAR:
        rc = reduce_filtered(p);
        break;
      case FILTERED:
        rc = reduce_list(p);
        break;
      case LIST:
        shift = begins_filtered(next);
        if( !shift ) p->stack[p->depth].symbol = EXPR;
        break;
      case CLOSE:
        rc = under(p, 1) == DISTANCE ? reduce_group(p) : reduce_parentheses(p);
        break;
      case EXPR:
        rc = after_expression(p, item, &shifted);
        break;
    }
    if( rc != RF_OK || shifted ) return rc;
    if( shift ) return push(p, item);
  }
}

/* FTS5 takes a leading '*' for a command of its own and not for a query. */
static int refuse_command(const char *text, int bytes, rf_error *error){
  int start = 1, end;
  while( start < bytes && text[start] == ' ' ) start++;
  end = start;
  while( end < bytes && text[end] != ' ' ) end++;
  if( end - start > 200 ) end = start + 200;
  snprintf(error->message, sizeof(error->message),
           "unknown special query: %.*s at byte 0; a query cannot begin with '*'",
           end - start, text + start);
  return RF_ERROR;
}

static int parse(
  rf_query *query, const char *text, int bytes, const rf_columns *columns,
  const rf_tokenizer *tokenizer, rf_error *error
){
  Parser p;
  Item item;
  int rc = RF_OK;
  p.builder = (rf_builder){query, columns, tokenizer, error, 0, 0};
  p.text = text;
  p.bytes = bytes;
  p.next = 0;
  p.accepted = false;
  p.depth = 0;
  p.stack[0].symbol = END;
  p.unquoted = rf_arena_take(&query->arena, (size_t)bytes + 1);
  if( p.unquoted == 0 ) return RF_NOMEM;
  while( rc == RF_OK && !p.accepted ){
    rc = read_symbol(&p, &item);
    p.builder.byte = item.byte;
    if( rc == RF_OK ) rc = feed(&p, &item);
    if( rc == RF_OK ) rc = rf_build_check(&p.builder);
  }
  if( rc == RF_OK ) rf_build_finish(&p.builder, p.stack[1].value.node);
  return rc;
}

int rf_query_parse(
  const rf_memory *memory, const char *text, int bytes, const rf_columns *columns,
  const rf_tokenizer *tokenizer, rf_query **query, rf_error *error
){
  rf_arena arena;
  rf_query *made;
  const char *nul = bytes > 0 ? memchr(text, 0, (size_t)bytes) : 0;
  int rc;
  *query = 0;
  error->message[0] = 0;
  if( nul ) bytes = (int)(nul - text);
  if( bytes > RF_QUERY_LIMIT ){
    snprintf(error->message, sizeof(error->message),
             "the query has %d bytes; %d are the limit", bytes, RF_QUERY_LIMIT);
    return RF_ERROR;
  }
  if( bytes > 0 && text[0] == '*' ) return refuse_command(text, bytes, error);
  rf_arena_begin(&arena, memory);
  made = rf_arena_take(&arena, sizeof(*made));
  if( made == 0 ) return RF_NOMEM;
  made->arena = arena;
  rc = parse(made, text, bytes, columns, tokenizer, error);
  if( rc == RF_OK ){
    *query = made;
  }else{
    rf_query_free(made);
  }
  return rc;
}
