/*
** Tokenizers of the host's FTS5, as the pure layer wants them.
**
** xFindTokenizer() serves every host: it finds tokenizers of the first kind and,
** through FTS5's own adapter, those that were registered with
** xCreateTokenizer_v2(). Only their locale argument is out of reach, and that is
** for tables made with locale=1. It fills a structure of ours, so no pointer
** into FTS5's registry is kept.
*/
#include <string.h>

#include "rf.h"

/* The callback and the flags of the pure layer are those of FTS5. */
_Static_assert(RF_TOKENIZE_QUERY == FTS5_TOKENIZE_QUERY, "flag");
_Static_assert(RF_TOKENIZE_PREFIX == FTS5_TOKENIZE_PREFIX, "flag");
_Static_assert(RF_TOKENIZE_DOCUMENT == FTS5_TOKENIZE_DOCUMENT, "flag");
_Static_assert(RF_TOKENIZE_AUX == FTS5_TOKENIZE_AUX, "flag");
_Static_assert(RF_TOKEN_COLOCATED == FTS5_TOKEN_COLOCATED, "flag");
_Static_assert(RF_OK == SQLITE_OK && RF_ERROR == SQLITE_ERROR && RF_NOMEM == SQLITE_NOMEM
               && RF_TOOBIG == SQLITE_TOOBIG && RF_INTERRUPT == SQLITE_INTERRUPT
               && RF_DONE == SQLITE_DONE && RF_CORRUPT == SQLITE_CORRUPT_VTAB, "status");

typedef struct HostTokenizer {
  fts5_tokenizer methods;
  Fts5Tokenizer *instance;
} HostTokenizer;

static int tokenize(
  void *context, int flags, const char *text, int bytes, void *callback_context,
  rf_token_callback callback
){
  const HostTokenizer *host = context;
  int rc = host->methods.xTokenize(host->instance, callback_context, flags, text, bytes,
                                   callback);
  /* A callback may end the text early with SQLITE_DONE. */
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int rf_tokenizer_open(
  fts5_api *api, const rf_spec *spec, rf_tokenizer *tokenizer, rf_error *error
){
  const char *name = spec->tokenizer_count > 0 ? spec->tokenizer[0] : 0;
  const char *shown = name ? name : "the default one";
  /* xCreate does not change its arguments, but is declared as though it might. */
  const char **arguments = spec->tokenizer_count > 1 ? (const char **)&spec->tokenizer[1] : 0;
  HostTokenizer *host = sqlite3_malloc64(sizeof(*host));
  void *context = 0;
  int rc;
  memset(tokenizer, 0, sizeof(*tokenizer));
  if( host == 0 ) return SQLITE_NOMEM;
  memset(host, 0, sizeof(*host));
  rc = api->xFindTokenizer(api, name, &context, &host->methods);
  if( rc != SQLITE_OK ){
    sqlite3_snprintf(sizeof(error->message), error->message,
                     "no such tokenizer: %.200s; register it on this connection first", shown);
    rc = SQLITE_ERROR;
  }else{
    rc = host->methods.xCreate(context, arguments,
                               spec->tokenizer_count > 1 ? spec->tokenizer_count - 1 : 0,
                               &host->instance);
    if( rc != SQLITE_OK && rc != SQLITE_NOMEM ){
      host->instance = 0;
      sqlite3_snprintf(sizeof(error->message), error->message,
                       "error in the constructor of tokenizer %.200s; check its arguments", shown);
    }
  }
  if( rc != SQLITE_OK ){
    sqlite3_free(host);
    return rc;
  }
  tokenizer->context = host;
  tokenizer->tokenize = tokenize;
  return SQLITE_OK;
}

void rf_tokenizer_close(rf_tokenizer *tokenizer){
  HostTokenizer *host = tokenizer->context;
  if( host ){
    host->methods.xDelete(host->instance);
    sqlite3_free(host);
    tokenizer->context = 0;
  }
}
