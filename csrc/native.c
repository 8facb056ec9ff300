/*
** The C functions that other programs than SQLite call by name: Python, through
** cffi's ABI mode. They touch no SQLite, and have no tokenizers but our own.
*/
#include "native.h"

#include <stdlib.h>
#include <string.h>

#include "pure/bm25.h"
#include "pure/snippet.h"

#ifndef RF_VERSION
#  define RF_VERSION "unknown"
#endif

const char *reasoning_fts_version(void){
  return RF_VERSION;
}

void reasoning_fts_bm25(
  int64_t rows,
  double average_tokens,
  int32_t phrases,
  const int64_t *document_frequencies,
  double *idf,
  int64_t count,
  const double *frequencies,
  const double *tokens,
  double *ranks
){
  for(int32_t i = 0; i < phrases; i++){
    idf[i] = rf_bm25_idf(rows, document_frequencies[i]);
  }
  for(int64_t i = 0; i < count; i++){
    ranks[i] = rf_bm25_rank(phrases, idf, frequencies, tokens[i], average_tokens);
    if( phrases > 0 ) frequencies += phrases;
  }
}

/* ---- queries --------------------------------------------------------------------- */

_Static_assert(sizeof(rf_error) == REASONING_FTS_MESSAGE, "message");

struct reasoning_fts_query {
  rf_program *program;
  char text[]; /* the spec, then the query */
};

int32_t reasoning_fts_query_open(
  const char *spec, int32_t spec_bytes, const char *text, int32_t bytes,
  reasoning_fts_query **query, char *message
){
  reasoning_fts_query *made = malloc(sizeof(*made) + (size_t)spec_bytes + (size_t)bytes + 1);
  rf_error error;
  int rc;
  *query = 0;
  message[0] = 0;
  if( made == 0 ) return RF_NOMEM;
  if( spec_bytes > 0 ) memcpy(made->text, spec, (size_t)spec_bytes);
  if( bytes > 0 ) memcpy(made->text + spec_bytes, text, (size_t)bytes);
  made->text[spec_bytes + bytes] = 0;
  rc = rf_program_new(&rf_heap_memory, 0, made->text, spec_bytes, made->text + spec_bytes, bytes,
                      &made->program, &error);
  if( rc == RF_OK ){
    *query = made;
  }else{
    memcpy(message, error.message, sizeof(error.message));
    free(made);
  }
  return rc;
}

void reasoning_fts_query_close(reasoning_fts_query *query){
  if( query == 0 ) return;
  rf_program_free(query->program);
  free(query);
}

int32_t reasoning_fts_query_match(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  int32_t *matches
){
  const rf_row row = {count, text, bytes};
  bool found;
  int rc;
  *matches = 0;
  if( count != query->program->spec->columns.count ) return RF_ERROR;
  rc = rf_program_match(query->program, &row, false, &found);
  if( rc == RF_OK ) *matches = found;
  return rc;
}

/* Hands a text over; an empty one is NULL. */
static int32_t give(rf_text *text, char **bytes, int64_t *size){
  const int status = text->status;
  *bytes = 0;
  *size = 0;
  if( status == RF_OK ){
    *bytes = text->bytes;
    *size = (int64_t)text->length;
  }else{
    rf_text_end(text);
  }
  return status;
}

int32_t reasoning_fts_query_parse(const reasoning_fts_query *query, char **json, int64_t *bytes){
  rf_text text;
  rf_text_begin(&text, &rf_heap_memory);
  rf_query_render(query->program->query, &query->program->spec->columns, &text);
  return give(&text, json, bytes);
}

static int add_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  rf_text *text = context;
  const int32_t numbers[] = {start, end, bytes};
  (void)flags;
  rf_text_add(text, (const char *)numbers, sizeof(numbers));
  rf_text_add(text, token, (size_t)bytes);
  return text->status;
}

int32_t reasoning_fts_query_tokenize(
  const reasoning_fts_query *query, const char *text, int32_t bytes, char **tokens, int64_t *size
){
  const rf_tokenizer *tokenizer = &query->program->tokenizer;
  rf_text out;
  int rc;
  rf_text_begin(&out, &rf_heap_memory);
  rc = tokenizer->tokenize(tokenizer->context, RF_TOKENIZE_DOCUMENT, text, bytes, &out, add_token);
  if( rc != RF_OK ) out.status = rc;
  return give(&out, tokens, size);
}

static int never(void *context){
  (void)context;
  return RF_OK;
}

int32_t reasoning_fts_query_snippet(
  reasoning_fts_query *query, int32_t count, const char *const *text, const int32_t *bytes,
  const char *const *marks, int32_t tokens, char **snippet, int64_t *size
){
  const rf_row row = {count, text, bytes};
  rf_snippet wanted;
  rf_text out;
  bool shown;
  memset(&wanted, 0, sizeof(wanted));
  *snippet = 0;
  *size = 0;
  if( count != query->program->spec->columns.count ) return RF_ERROR;
  wanted.open = (rf_snippet_mark){marks[0], (int)strlen(marks[0])};
  wanted.close = (rf_snippet_mark){marks[1], (int)strlen(marks[1])};
  wanted.ellipsis = (rf_snippet_mark){marks[2], (int)strlen(marks[2])};
  wanted.tokens = tokens < 0 ? 0 : tokens > RF_SNIPPET_TOKENS ? RF_SNIPPET_TOKENS : tokens;
  wanted.poll = never;
  rf_text_begin(&out, &rf_heap_memory);
  {
    const int rc = rf_snippet_of_row(query->program, &row, &wanted, &out, &shown);
    if( rc != RF_OK ) out.status = rc;
  }
  return give(&out, snippet, size);
}

void reasoning_fts_free(void *freed){
  free(freed);
}
