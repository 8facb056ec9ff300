/*
** The places of a text around which a token with a needle may stand.
*/
#ifndef RF_CANDIDATE_H
#define RF_CANDIDATE_H

#include "pure/needle.h"
#include "pure/unicode61.h"

/* A text that is searched, and what has been learned of it. */
typedef struct rf_hay {
  const char *text;
  int bytes;
  int special; /* its first special character: -1 for none, RF_NOT_LOOKED */
} rf_hay;
#define RF_NOT_LOOKED (-2)

/* How texts are searched. The tokenizer knows which characters fold to letters. */
typedef struct rf_search {
  rf_finder find;
  rf_unicode61 *tokenizer;
} rf_search;

/*
** The first place >= `from` of a candidate, -1 where there is none: every token
** that holds the needle begins at one, or has one inside.
*/
int rf_candidate(const rf_search *search, const rf_needle *needle, rf_hay *hay, int from);

/* Whether a text looks like JSON: an array, an object or a string. */
bool rf_may_be_json(const char *text, int bytes);

/* What the escapes of a JSON text may hide. */
typedef enum rf_hidden {
  RF_HIDES_NOTHING, /* no letter and no digit */
  RF_HIDES_LETTERS, /* some, which rf_unescape() shows */
  RF_HIDES_ESCAPES  /* other escapes */
} rf_hidden;
rf_hidden rf_hidden_in(const char *text, int bytes);

/*
** Writes a text with the characters that its escapes name in place of these, into
** room for as many bytes, and returns how many it wrote. Where the text is JSON
** within JSON, every token of the decoded strings stands in what is written or in
** the text itself.
*/
int rf_unescape(const char *text, int bytes, char *out);

#endif
