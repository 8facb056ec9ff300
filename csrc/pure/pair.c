/*
** Behind each candidate of the first word, what separates it from the next word is
** passed over: separators and, in JSON, the escapes of characters that separate. The
** next word has to hold the second needle. Wherever it is not certain what the text
** becomes, at the end of a string or of the text, at characters outside ASCII and at
** escapes of escapes, the answer is that the pair may stand there.
*/
#include "pure/pair.h"

typedef enum Next { NO_PAIR, MAYBE } Next;

static bool separates(const rf_search *search, char c){
  return rf_unicode61_separates(search->tokenizer, (unsigned char)c);
}

/* Whether all that an escape is made of, or stands for, separates tokens. */
static bool separates_escapes(const rf_search *search){
  static const char all[] = "\\\"/\n\t\r\b\f";
  bool all_separate = true;
  for(int i = 0; all[i]; i++) all_separate = all_separate && separates(search, all[i]);
  return all_separate;
}

/* Moves on behind the ASCII token characters at *at; false at another character. */
static bool skip_word(const rf_search *search, const rf_hay *hay, int *at){
  while( *at < hay->bytes && !separates(search, hay->text[*at]) ){
    if( (unsigned char)hay->text[*at] >= 0x80 ) return false;
    ++*at;
  }
  return true;
}

/* Moves on to the next word; false where it is not certain which one that is. */
static bool skip_separators(const rf_search *search, const rf_hay *hay, bool json, int *at){
  while( *at < hay->bytes && separates(search, hay->text[*at]) ){
    const char c = hay->text[*at];
    if( json && c == '"' ) return false;
    if( !json || c != '\\' ){
      ++*at;
      continue;
    }
    if( *at + 1 >= hay->bytes ) return false;
    switch( hay->text[*at + 1] ){
      case 'n': case 't': case 'r': case 'b': case 'f': case '/':
        *at += 2;
        break;
      default:
        return false;
    }
  }
  return *at < hay->bytes && (unsigned char)hay->text[*at] < 0x80;
}

/* What follows the word with the candidate at `at`. */
static Next look(
  const rf_search *search, const rf_pair *pair, const rf_hay *hay, bool json, int at
){
  bool high;
  int start;
  if( !skip_word(search, hay, &at) || !skip_separators(search, hay, json, &at) ) return MAYBE;
  start = at;
  if( !skip_word(search, hay, &at) ) return MAYBE;
  if( json && at < hay->bytes && hay->text[at] == '\\' ) return MAYBE;
  return search->find(&pair->second, hay->text + start, at - start, 0, &high) >= 0 ? MAYBE
                                                                                   : NO_PAIR;
}

bool rf_pair_may_stand(const rf_search *search, const rf_pair *pair, rf_hay *hay){
  const bool json = rf_may_be_json(hay->text, hay->bytes);
  int at = 0;
  if( json && (!separates_escapes(search)
               || rf_hidden_in(hay->text, hay->bytes) != RF_HIDES_NOTHING) ) return true;
  while( (at = rf_candidate(search, &pair->first, hay, at)) >= 0 ){
    if( look(search, pair, hay, json, at) == MAYBE ) return true;
    at++;
  }
  return false;
}
