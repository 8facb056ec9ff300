/*
** A phrase, or a NEAR group, can stand only where its rarest needle does. Around
** each such place as many tokens are read as a match could reach, and the matcher
** decides on those: a match depends on the tokens' distances alone, and a text
** can be cut at any ASCII separator.
**
** For `^`, which asks for the beginning of a text, for needles so common that there
** would be no gain, and where the pieces of a text come to more than the text
** itself, the answer is that the row has to be read whole.
*/
#include "pure/window.h"

#include <string.h>

/* Needles that stand in more than this share of all places are not followed. */
#define TOO_COMMON 0.01

/* Terms of a query; clearing the matcher for each piece costs as many steps. */
#define TERM_LIMIT 64

/* ---- pieces ------------------------------------------------------------------- */

/* How many tokens a match may reach before and behind the token with the needle. */
typedef struct Reach {
  int before;
  int behind;
} Reach;

static bool separates(const rf_windows *w, const char *text, int at){
  return rf_unicode61_separates(w->bounds, (unsigned char)text[at]);
}

/* Whether a byte alone makes sure that there is a token. */
static bool is_sure(const rf_windows *w, const char *text, int at){
  return (unsigned char)text[at] < 0x80 && !separates(w, text, at);
}

/*
** The start of a piece that holds at least `tokens` tokens before the one at `at`:
** between separators with an ASCII token character there is one or more.
*/
static int piece_start(const rf_windows *w, const char *text, int at, int tokens){
  bool sure = false;
  while( at > 0 && !separates(w, text, at - 1) ) at--;
  while( at > 0 && tokens > 0 ){
    at--;
    if( !separates(w, text, at) ){
      sure = sure || is_sure(w, text, at);
      if( sure && (at == 0 || separates(w, text, at - 1)) ){
        tokens--;
        sure = false;
      }
    }else{
      sure = false;
    }
  }
  return at;
}

static int piece_end(const rf_windows *w, const char *text, int bytes, int at, int tokens){
  bool sure = false;
  while( at < bytes && !separates(w, text, at) ) at++;
  while( at < bytes && tokens > 0 ){
    if( !separates(w, text, at) ){
      sure = sure || is_sure(w, text, at);
      if( sure && (at + 1 == bytes || separates(w, text, at + 1)) ){
        tokens--;
        sure = false;
      }
    }else{
      sure = false;
    }
    at++;
  }
  return at;
}

/* ---- what to follow ------------------------------------------------------------ */

/* A NEAR group, or one phrase by itself, and the needle that leads to it. */
typedef struct Target {
  const rf_node *leaf;
  const rf_phrase *phrase; /* NULL for the leaf as a whole */
  const rf_needle *needle;
  Reach reach;
} Target;

/* The rarest needle of a phrase, if it is better than the target's. */
static void take_needle(const rf_windows *w, const rf_phrase *phrase, Target *target){
  int count;
  const rf_needle *needles = rf_prefilter_needles(w->prefilter, phrase->index, &count);
  if( count > 0 && (target->needle == 0 || needles[0].rarity < target->needle->rarity) ){
    target->needle = &needles[0];
  }
}

/* False where there is nothing to follow, or no gain in it. */
static bool find_target(
  const rf_windows *w, const rf_node *leaf, const rf_phrase *phrase, Target *target
){
  int terms = 0;
  *target = (Target){leaf, phrase, 0, {0, 0}};
  if( w->query->term_count > TERM_LIMIT ) return false;
  for(int i = 0; i < leaf->phrase_count; i++){
    const rf_phrase *of = leaf->phrase[i];
    if( phrase && of != phrase ) continue;
    if( of->initial ) return false;
    if( of->term_count > terms ) terms = of->term_count;
    take_needle(w, of, target);
  }
  if( target->needle == 0 || target->needle->rarity > TOO_COMMON ) return false;
  target->reach = (Reach){terms, terms};
  if( phrase == 0 && leaf->phrase_count > 1 ){
    /* The first tokens of two phrases lie at most this far apart. */
    if( leaf->distance > TERM_LIMIT ) return false;
    target->reach.before += leaf->distance + terms;
    target->reach.behind += leaf->distance + terms;
  }
  return true;
}

/* ---- following ------------------------------------------------------------------- */

static int read_piece(
  const rf_windows *w, const Target *target, const rf_row *row, int column, int start, int end,
  bool *matches
){
  int rc;
  rf_matcher_begin(w->matcher);
  rf_matcher_column(w->matcher, column);
  rc = w->read(w->context, row->text[column] + start, end - start);
  if( rc != RF_OK ) return rc;
  return target->phrase ? rf_matcher_phrase(w->matcher, target->phrase, matches)
                        : rf_matcher_leaf(w->matcher, target->leaf, matches);
}

static int follow(
  const rf_windows *w, const Target *target, const rf_row *row, int column, rf_verdict *verdict
){
  const char *text = row->text[column];
  const int bytes = row->bytes[column];
  int spent = 0, at = 0;
  *verdict = RF_NO;
  while( (at = rf_prefilter_candidate(w->prefilter, column, target->needle, at)) >= 0 ){
    const int start = piece_start(w, text, at, target->reach.before);
    const int end = piece_end(w, text, bytes, at, target->reach.behind);
    bool matches;
    int rc;
    spent += end - start;
    if( spent > bytes ){
      *verdict = RF_UNKNOWN;
      return RF_OK;
    }
    rc = read_piece(w, target, row, column, start, end, &matches);
    if( rc != RF_OK ) return rc;
    if( matches ){
      *verdict = RF_YES;
      return RF_OK;
    }
    at++;
  }
  return RF_OK;
}

/* A leaf, or one phrase of it: YES in one column is enough. */
static int decide(
  const rf_windows *w, const rf_node *leaf, const rf_phrase *phrase, const rf_row *row,
  rf_verdict *verdict
){
  Target target;
  bool unknown = false;
  int rc;
  if( !find_target(w, leaf, phrase, &target) ){
    *verdict = RF_UNKNOWN;
    return RF_OK;
  }
  *verdict = RF_NO;
  for(int i = 0; i < row->count && *verdict != RF_YES; i++){
    if( !rf_prefilter_covers(w->prefilter, row, leaf, i) ) continue;
    rc = follow(w, &target, row, i, verdict);
    if( rc != RF_OK ) return rc;
    unknown = unknown || *verdict == RF_UNKNOWN;
  }
  if( *verdict != RF_YES ) *verdict = unknown ? RF_UNKNOWN : RF_NO;
  return RF_OK;
}

/* ---- the tree -------------------------------------------------------------------- */

/* As deep as the tree is high, at most RF_DEPTH_LIMIT. */
static int match(const rf_windows *w, const rf_node *node, const rf_row *row, rf_verdict *verdict){
  const rf_verdict decisive = node->op == RF_OR ? RF_YES : RF_NO;
  bool unknown = false;
  int rc = RF_OK;
  switch( node->op ){
    case RF_NOTHING:
      *verdict = RF_NO;
      return RF_OK;
    case RF_LEAF:
      return decide(w, node, 0, row, verdict);
    case RF_AND: case RF_OR:
      for(int i = 0; i < node->child_count; i++){
        rc = match(w, node->child[i], row, verdict);
        if( rc != RF_OK || *verdict == decisive ) return rc;
        unknown = unknown || *verdict == RF_UNKNOWN;
      }
      *verdict = unknown ? RF_UNKNOWN : decisive == RF_NO ? RF_YES : RF_NO;
      return RF_OK;
    case RF_NOT:
      rc = match(w, node->child[0], row, verdict);
      if( rc != RF_OK || *verdict == RF_NO ) return rc;
      unknown = *verdict == RF_UNKNOWN;
      rc = match(w, node->child[1], row, verdict);
      if( rc != RF_OK ) return rc;
      *verdict = *verdict == RF_YES ? RF_NO
               : unknown || *verdict == RF_UNKNOWN ? RF_UNKNOWN : RF_YES;
      return RF_OK;
  }
  *verdict = RF_UNKNOWN;
  return RF_OK;
}

int rf_windows_match(const rf_windows *w, const rf_row *row, rf_verdict *verdict){
  return match(w, w->query->root, row, verdict);
}

static int phrases(const rf_windows *w, const rf_node *node, const rf_row *row, rf_verdict *verdict){
  int rc = RF_OK;
  for(int i = 0; rc == RF_OK && i < node->phrase_count; i++){
    rf_verdict *of = &verdict[node->phrase[i]->index];
    if( node->op == RF_NOTHING ) *of = RF_NO;
    else rc = decide(w, node, node->phrase[i], row, of);
  }
  for(int i = 0; rc == RF_OK && i < node->child_count; i++){
    rc = phrases(w, node->child[i], row, verdict);
  }
  return rc;
}

int rf_windows_phrases(const rf_windows *w, const rf_row *row, rf_verdict *verdict){
  return phrases(w, w->query->root, row, verdict);
}
