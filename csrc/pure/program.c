/*
** A row goes through up to three stages, each slower and surer than the one
** before: the prefilter searches it for needles, windows are tokenized around
** what it found, and the whole row is tokenized where those cannot decide.
**
** The host's `unicode61` and `ascii` are replaced by our own, after both have
** given the same tokens for a text with everything in it: a host may have
** registered another tokenizer under such a name.
*/
#include "pure/program.h"

#include <stdio.h>
#include <string.h>

#define POLL_BYTES 1000000

/* ---- our own tokenizers ------------------------------------------------------- */

/*
** Letters, digits and signs of ASCII; what folds to ASCII, with and without marks;
** marks inside, before and after letters; letters of scripts without case; private
** use; signs; NUL; bytes that are no UTF-8.
*/
static const char everything[] =
  "The quick-brown_fox's 2.5% @#x \t\n\x01\x7F [A{b}|c]~`^ \0Z"
  " \xC3\x89\x63ole \xC3\x9F \xC5\xBF \xE2\x84\xAA\xE2\x84\xAB \xE1\xBB\x87\xE1\xBB\x99 \xC4\xB0"
  " e\xCC\x81x \xCC\x81y z\xCD\x85z \xCE\xA3\xCE\xBF\xCF\x82 \xD0\x96 \xE6\xBC\xA2\xE5\xAD\x97"
  " \xE0\xB8\x81\xE0\xB8\xB4\xE0\xB8\x99 \xE0\xA4\xB9\xE0\xA4\xBF \xF0\x9F\x98\x80"
  " \xEE\x80\x80 \xF0\x90\x90\x80 \xF3\xB0\x80\x80 \xE2\x80\x8B\xE2\x80\x9Cq\xE2\x80\x9D"
  " \xB5\xFF\xC0\x80 a\xE2\x82 b\xED\xA0\x80 c\xEF\xBF\xBE \xF8\x88\x80\x80\x80 d";

typedef struct Digest {
  uint64_t hash;
  int tokens;
} Digest;

static void add_bytes(Digest *digest, const void *bytes, size_t count){
  const unsigned char *at = bytes;
  for(size_t i = 0; i < count; i++) digest->hash = (digest->hash ^ at[i]) * 1099511628211u;
}

static int digest_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Digest *digest = context;
  const int numbers[] = {flags, bytes, start, end};
  digest->tokens++;
  add_bytes(digest, numbers, sizeof(numbers));
  add_bytes(digest, token, (size_t)bytes);
  return RF_OK;
}

static int digest_of(const rf_tokenizer *tokenizer, Digest *digest){
  *digest = (Digest){14695981039346656037u, 0};
  return tokenizer->tokenize(tokenizer->context, RF_TOKENIZE_DOCUMENT, everything,
                             (int)sizeof(everything) - 1, digest, digest_token);
}

static int is_equal(const rf_tokenizer *host, rf_unicode61 *own, bool *equal){
  const rf_tokenizer ours = {own, rf_unicode61_tokenize};
  Digest theirs, digest;
  int rc = digest_of(host, &theirs);
  if( rc == RF_OK ) rc = digest_of(&ours, &digest);
  *equal = rc == RF_OK && theirs.tokens == digest.tokens && theirs.hash == digest.hash;
  return rc;
}

/* Opens our own tokenizer for a spec; *own is NULL where we have none. */
static int open_own(const rf_memory *memory, const rf_spec *spec, rf_unicode61 **own){
  const bool named = spec->tokenizer_count > 0;
  int rc = rf_unicode61_new(memory, named ? spec->tokenizer[0] : "unicode61",
                            named ? spec->tokenizer_count - 1 : 0, spec->tokenizer + named, own);
  return rc == RF_NOMEM ? rc : RF_OK;
}

/* The host's tokenizer of a spec, with a message that says where the fault lies. */
static int open_host(
  const rf_host *host, const rf_spec *spec, rf_tokenizer *tokenizer, rf_error *error
){
  rf_error reason;
  int rc;
  reason.message[0] = 0;
  rc = host->open(host->context, spec, tokenizer, &reason);
  if( rc != RF_OK && reason.message[0] ){
    snprintf(error->message, sizeof(error->message), "spec: %.300s", reason.message);
  }
  return rc;
}

static bool is_porter(const char *name){
  static const char lower[] = "porter";
  size_t i = 0;
  while( lower[i] && (name[i] == lower[i] || name[i] == lower[i] - ('a' - 'A')) ) i++;
  return lower[i] == 0 && name[i] == 0;
}

/* `porter` works on the tokens of another tokenizer; that one is checked by itself. */
static int open_porter(rf_program *p, rf_error *error){
  rf_spec inner = *p->spec;
  rf_tokenizer tokenizer = {0, 0};
  bool equal = false;
  int rc;
  inner.tokenizer++;
  inner.tokenizer_count--;
  rc = open_own(p->memory, &inner, &p->bounds);
  if( rc != RF_OK || p->bounds == 0 ) return rc;
  rc = open_host(p->host, &inner, &tokenizer, error);
  if( rc == RF_OK ) rc = is_equal(&tokenizer, p->bounds, &equal);
  p->host->close(&tokenizer);
  if( !equal ){
    rf_unicode61_free(p->bounds);
    p->bounds = 0;
  }
  return rc;
}

static int open_tokenizer(rf_program *p, rf_error *error){
  const rf_spec *spec = p->spec;
  bool equal = true;
  int rc;
  if( p->host ){
    rc = open_host(p->host, spec, &p->tokenizer, error);
    if( rc != RF_OK ) return rc;
    if( spec->tokenizer_count > 0 && is_porter(spec->tokenizer[0]) ){
      return open_porter(p, error);
    }
  }
  rc = open_own(p->memory, spec, &p->bounds);
  if( rc == RF_OK && p->bounds && p->host ) rc = is_equal(&p->tokenizer, p->bounds, &equal);
  if( rc != RF_OK ) return rc;
  if( p->bounds && equal ){
    if( p->host ) p->host->close(&p->tokenizer);
    p->own = true;
    p->tokenizer = (rf_tokenizer){p->bounds, rf_unicode61_tokenize};
    return RF_OK;
  }
  rf_unicode61_free(p->bounds);
  p->bounds = 0;
  if( p->host ) return RF_OK;
  snprintf(error->message, sizeof(error->message),
           "spec: cannot open the tokenizer %.80s without SQLite; use unicode61 or ascii, with"
           " arguments that FTS5 takes", spec->tokenizer[0]);
  return RF_ERROR;
}

/* ---- making --------------------------------------------------------------------- */

static int read_piece(void *context, const char *text, int bytes);

static int fill(
  rf_program *p, const char *spec, int spec_bytes, const char *query, int query_bytes,
  rf_error *error
){
  int rc = rf_spec_parse(p->memory, spec, spec_bytes, &p->spec, error);
  if( rc == RF_ERROR ){
    const rf_error reason = *error;
    snprintf(error->message, sizeof(error->message), "spec: %.300s", reason.message);
  }
  if( rc == RF_OK ) rc = open_tokenizer(p, error);
  if( rc == RF_OK ){
    rc = rf_query_parse(p->memory, query, query_bytes, &p->spec->columns, &p->tokenizer, &p->query,
                        error);
  }
  if( rc == RF_OK ) rc = rf_matcher_new(p->memory, p->query, &p->matcher);
  if( rc == RF_OK && p->bounds ){
    const rf_search search = {rf_finder_for(rf_simd_best()), p->bounds};
    /* A tokenizer that is not our own is `porter`, whose stems differ at their end. */
    rc = rf_prefilter_new(p->memory, p->query, &p->spec->columns, search, p->own ? 0 : 1,
                          &p->prefilter);
  }
  if( rc != RF_OK ) return rc;
  p->windows = (rf_windows){p->query, p->prefilter, p->matcher, p->bounds, read_piece, p};
  return RF_OK;
}

int rf_program_new(
  const rf_memory *memory, const rf_host *host, const char *spec, int spec_bytes,
  const char *query, int query_bytes, rf_program **program, rf_error *error
){
  rf_program *p = memory->resize(memory->context, 0, sizeof(*p));
  int rc;
  *program = 0;
  error->message[0] = 0;
  if( p == 0 ) return RF_NOMEM;
  memset(p, 0, sizeof(*p));
  p->memory = memory;
  p->host = host;
  rc = fill(p, spec, spec_bytes, query, query_bytes, error);
  if( rc == RF_OK ){
    *program = p;
  }else{
    rf_program_free(p);
  }
  return rc;
}

void rf_program_free(rf_program *p){
  if( p == 0 ) return;
  rf_prefilter_free(p->prefilter);
  rf_matcher_free(p->matcher);
  rf_query_free(p->query);
  if( p->host && !p->own ) p->host->close(&p->tokenizer);
  rf_unicode61_free(p->bounds);
  rf_spec_free(p->spec);
  p->memory->release(p->memory->context, p);
}

/* ---- reading -------------------------------------------------------------------- */

/* Notes that `bytes` were read; asks the host now and then. */
static int poll(rf_program *p, int bytes){
  if( bytes < POLL_BYTES - p->polled ){
    p->polled += bytes;
    return RF_OK;
  }
  p->polled = 0;
  return p->host && p->host->interrupted(p->host->context) ? RF_INTERRUPT : RF_OK;
}

typedef struct Reading {
  rf_program *program;
  rf_token_callback callback;
  void *context;
  int read;     /* bytes of the text, so far */
} Reading;

/* For tokenizers whose texts cannot be cut: looks up at each token. */
static int polled_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Reading *reading = context;
  int rc = RF_OK;
  if( end - reading->read >= POLL_BYTES / 8 ){
    rc = poll(reading->program, end - reading->read);
    reading->read = end;
  }
  return rc == RF_OK ? reading->callback(reading->context, flags, token, bytes, start, end) : rc;
}

/* The end of a piece of about a megabyte that begins at `at`. */
static int piece_end(const rf_program *p, const char *text, int bytes, int at){
  if( bytes - at <= POLL_BYTES ) return bytes;
  for(at += POLL_BYTES; at < bytes; at++){
    if( rf_unicode61_separates(p->bounds, (unsigned char)text[at]) ) break;
  }
  return at;
}

/* Tokenizes a text, maybe in pieces: `start` and `end` of the tokens mean nothing. */
static int read_text(
  rf_program *p, const char *text, int bytes, rf_token_callback callback, void *context
){
  const rf_tokenizer *tokenizer = &p->tokenizer;
  int at = 0, rc = RF_OK;
  if( !p->bounds ){
    Reading reading = {p, callback, context, 0};
    return tokenizer->tokenize(tokenizer->context, RF_TOKENIZE_DOCUMENT, text, bytes, &reading,
                               polled_token);
  }
  do{
    const int end = piece_end(p, text, bytes, at);
    rc = tokenizer->tokenize(tokenizer->context, RF_TOKENIZE_DOCUMENT, text + at, end - at,
                             context, callback);
    if( rc == RF_OK ) rc = poll(p, end - at);
    at = end;
  }while( rc == RF_OK && at < bytes );
  return rc;
}

static int read_piece(void *context, const char *text, int bytes){
  rf_program *p = context;
  return read_text(p, text, bytes, rf_matcher_token, p->matcher);
}

int rf_program_read(rf_program *p, const rf_row *row){
  int rc = RF_OK;
  rf_matcher_begin(p->matcher);
  for(int i = 0; rc == RF_OK && i < row->count; i++){
    if( row->text[i] == 0 || p->spec->columns.unindexed[i] ) continue;
    rf_matcher_column(p->matcher, i);
    rc = read_piece(p, row->text[i], row->bytes[i]);
  }
  return rc;
}

/* Counts as the matcher does: not what stands at the place of another token. */
static int count_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  int64_t *tokens = context;
  (void)token;
  (void)bytes;
  (void)start;
  (void)end;
  if( (flags & RF_TOKEN_COLOCATED) == 0 || *tokens == 0 ) ++*tokens;
  return RF_OK;
}

int rf_program_count_text(rf_program *p, const char *text, int bytes, int64_t *tokens){
  *tokens = 0;
  return read_text(p, text, bytes, count_token, tokens);
}

int rf_program_count(rf_program *p, const rf_row *row, int64_t *tokens){
  int rc = RF_OK;
  *tokens = 0;
  for(int i = 0; rc == RF_OK && i < row->count; i++){
    int64_t column;
    if( row->text[i] == 0 || p->spec->columns.unindexed[i] ) continue;
    rc = rf_program_count_text(p, row->text[i], row->bytes[i], &column);
    *tokens += column;
  }
  return rc;
}

/* ---- asking --------------------------------------------------------------------- */

/*
** The prefilter and windows do not look up for an interrupt, so a row with a very
** long text is tokenized whole.
*/
static bool is_filtered(const rf_program *p, const rf_row *row){
  for(int i = 0; i < row->count; i++){
    if( row->text[i] && row->bytes[i] > POLL_BYTES ) return false;
  }
  return p->prefilter != 0;
}

int rf_program_match(rf_program *p, const rf_row *row, bool hits, bool *matches){
  int rc;
  *matches = false;
  if( is_filtered(p, row) ){
    rf_verdict verdict;
    if( !rf_prefilter_passes(p->prefilter, row, RF_WHOLE_QUERY) ) return RF_OK;
    if( !hits ){
      rc = rf_windows_match(&p->windows, row, &verdict);
      *matches = verdict == RF_YES;
      if( rc != RF_OK || verdict != RF_UNKNOWN ) return rc;
    }
  }
  rc = rf_program_read(p, row);
  return rc == RF_OK ? rf_matcher_finish(p->matcher, hits, matches) : rc;
}

/* What windows can say; *known tells whether that is all. */
static int ask_windows(
  rf_program *p, const rf_row *row, bool *alone, bool *matches, bool *known
){
  rf_verdict found[RF_PREFILTER_PHRASES], verdict;
  int rc = rf_windows_phrases(&p->windows, row, found);
  *known = rc == RF_OK;
  for(int i = 0; rc == RF_OK && i < p->query->phrase_count; i++){
    alone[i] = found[i] == RF_YES;
    *known = *known && found[i] != RF_UNKNOWN;
  }
  if( !*known ) return rc;
  rc = rf_windows_match(&p->windows, row, &verdict);
  *matches = verdict == RF_YES;
  *known = verdict != RF_UNKNOWN;
  return rc;
}

int rf_program_hits(rf_program *p, const rf_row *row, bool *alone, bool *matches){
  const int phrases = p->query->phrase_count;
  int rc;
  *matches = false;
  for(int i = 0; i < phrases; i++) alone[i] = false;
  if( is_filtered(p, row) ){
    bool known;
    if( !rf_prefilter_passes(p->prefilter, row, RF_ANY_PHRASE) ) return RF_OK;
    rc = ask_windows(p, row, alone, matches, &known);
    /* A match has to be read for its length and for all of its hits. */
    if( rc != RF_OK || (known && !*matches) ) return rc;
  }
  rc = rf_program_read(p, row);
  if( rc == RF_OK ) rc = rf_matcher_finish(p->matcher, true, matches);
  for(int i = 0; rc == RF_OK && i < phrases; i++) alone[i] = rf_matcher_alone(p->matcher, i);
  return rc;
}

bool rf_program_stored_passes(rf_program *p, const rf_row *stored, rf_demand demand){
  return !is_filtered(p, stored) || rf_prefilter_stored_passes(p->prefilter, stored, demand);
}
