/*
** Snippets: which window of a row shows its hits best, and that window with marks.
**
** The procedure is the one of snippet() in SQLite 3.54, so that a host with an
** older FTS5, or without an index, shows the same.
**
** A window has a number of tokens. Each hit suggests two: one with the hits that
** follow it in its middle, and one that begins with its sentence, where that begins
** earlier. A window has 1000 points for each phrase that has a hit in it and 1 for
** each further hit; the beginning of a sentence has 100 more, of the column 120.
** The first window of the most points is shown. A sentence begins with the column,
** or behind '.' or ':' and blanks.
**
** Three consequences of that procedure look odd, and are kept:
**   - With 0 tokens only sentences have points. Where the best one begins a column,
**     or there is none, the column is shown up to its last hit, else two ellipses.
**   - Every piece that is copied ends at a NUL byte: of "a NUL b" as one piece "a"
**     is shown. A snippet never holds a NUL.
**   - A hit behind the end of its column (an index that does not belong to its
**     text) is an error in the last column, and elsewhere ends the look at it.
*/
#include <stdlib.h>
#include <string.h>

#include "pure/snippet.h"

/* Tokens, or hits looked at, between two calls of poll(). */
#define POLL_STEPS 100000

#define PHRASE_POINTS 1000
#define SENTENCE_POINTS 100
#define COLUMN_POINTS 120

/* Hits of one column: from `first` up to, not including, `end`. */
typedef struct Range {
  int first;
  int end;
} Range;

/* The search for the best window. */
typedef struct Search {
  const rf_memory *memory;
  const rf_snippet *snippet;
  int steps;                        /* since the last poll() */
  /* the column that is looked at: */
  const rf_snippet_column *column;
  Range hits;
  int *sentence;                    /* first tokens of its sentences, ascending */
  int sentences;
  int room;
  int token;                        /* the next one */
  /* for each phrase the number of the last window in which it was seen: */
  int64_t *seen;
  int64_t windows;
  /* the best so far: */
  const rf_snippet_column *best;
  int start;
  int64_t points;
} Search;

static int poll(const rf_snippet *snippet, int *steps, int more){
  *steps += more;
  if( *steps < POLL_STEPS ) return RF_OK;
  *steps = 0;
  return snippet->poll(snippet->poll_context);
}

/* The first hit from `low` on that has at least this column and token. */
static int seek(const rf_snippet *snippet, int low, int64_t column, int64_t token){
  int high = snippet->hit_count;
  while( low < high ){
    const int middle = low + (high - low) / 2;
    const rf_snippet_hit *hit = &snippet->hit[middle];
    if( hit->column < column || (hit->column == column && hit->token < token) ){
      low = middle + 1;
    }else{
      high = middle;
    }
  }
  return low;
}

static Range hits_of(const rf_snippet *snippet, const rf_snippet_column *column){
  const int first = seek(snippet, 0, column->number, 0);
  return (Range){first, seek(snippet, first, (int64_t)column->number + 1, 0)};
}

/* A byte of a text that a tokenizer named, which may be wrong. */
static int within(const rf_snippet_column *column, int byte){
  return byte < 0 ? 0 : byte > column->bytes ? column->bytes : byte;
}

/* ---- sentences ------------------------------------------------------------- */

static bool begins_sentence(const rf_snippet_column *column, int start){
  const char *text = column->text;
  int at = start;
  while( at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\n'
                    || text[at - 1] == '\r') ) at--;
  return at > 0 && at < start && (text[at - 1] == '.' || text[at - 1] == ':');
}

static int sentence_token(
  void *context, int flags, const char *token, int bytes, int start, int end
){
  Search *s = context;
  (void)token;
  (void)bytes;
  (void)end;
  if( flags & RF_TOKEN_COLOCATED ) return RF_OK;
  /* Sentences behind the last hit do not count. */
  if( s->token > s->snippet->hit[s->hits.end - 1].token ) return RF_DONE;
  if( s->token == 0 || begins_sentence(s->column, within(s->column, start)) ){
    void *block = s->sentence;
    int rc = rf_grow(s->memory, &block, &s->room, s->sentences + 1, sizeof(int));
    s->sentence = block;
    if( rc != RF_OK ) return rc;
    s->sentence[s->sentences++] = s->token;
  }
  s->token++;
  return poll(s->snippet, &s->steps, 1);
}

/* Finds the sentences of a column that has hits. */
static int find_sentences(Search *s){
  const rf_snippet_column *column = s->column;
  int rc;
  s->sentences = 0;
  s->token = 0;
  /* Without a text there are none, and a column that fits is shown whole. */
  if( column->text == 0 || column->tokens <= s->snippet->tokens ) return RF_OK;
  rc = column->tokenizer->tokenize(column->tokenizer->context, RF_TOKENIZE_AUX, column->text,
                                   column->bytes, s, sentence_token);
  return rc == RF_DONE ? RF_OK : rc;
}

/* ---- windows --------------------------------------------------------------- */

/*
** The points of the window that begins at token `start`; `first` is the first hit
** from there on. *end is where the last hit in it ends, and 0 without one.
*/
static int64_t points_of(Search *s, int first, int start, int *end){
  const int64_t behind = (int64_t)start + s->snippet->tokens;
  int64_t points = 0;
  s->windows++;
  *end = 0;
  for(int i = first; i < s->hits.end && s->snippet->hit[i].token < behind; i++){
    const rf_snippet_hit *hit = &s->snippet->hit[i];
    points += s->seen[hit->phrase] == s->windows ? 1 : PHRASE_POINTS;
    s->seen[hit->phrase] = s->windows;
    *end = hit->token + hit->tokens;
    s->steps++;
  }
  return points;
}

/* Where a window begins that has the tokens from `first` to `end` in its middle. */
static int centred(const Search *s, int first, int end){
  const int tokens = s->snippet->tokens;
  int64_t start = first - ((int64_t)tokens - (end - first)) / 2;
  if( start + tokens > s->column->tokens ) start = (int64_t)s->column->tokens - tokens;
  return start < 0 ? 0 : (int)start;
}

static void suggest(Search *s, int start, int64_t points){
  if( points <= s->points ) return;
  s->points = points;
  s->start = start;
  s->best = s->column;
}

/* Looks at the windows of a column; RF_CORRUPT where a hit lies behind its end. */
static int look(Search *s){
  const rf_snippet_hit *hit = s->snippet->hit;
  int same = s->hits.first;  /* the first hit at the place of the current one */
  int inside = same;         /* the first hit of its sentence */
  int sentence = 0;
  for(int i = s->hits.first; i < s->hits.end; i++){
    const int token = hit[i].token;
    int64_t points;
    int end, rc;
    if( token > s->column->tokens ) return RF_CORRUPT;
    while( hit[same].token < token ) same++;
    points = points_of(s, same, token, &end);
    suggest(s, centred(s, token, end), points);
    if( s->sentences > 0 ){
      int start;
      while( sentence + 1 < s->sentences && s->sentence[sentence + 1] <= token ) sentence++;
      start = s->sentence[sentence];
      if( start < token ){
        while( hit[inside].token < start ) inside++;
        points = points_of(s, inside, start, &end);
        suggest(s, start, points + (start == 0 ? COLUMN_POINTS : SENTENCE_POINTS));
      }
    }
    rc = poll(s->snippet, &s->steps, 1);
    if( rc != RF_OK ) return rc;
  }
  return RF_OK;
}

static int find_best(Search *s){
  const rf_snippet *snippet = s->snippet;
  const size_t bytes = sizeof(int64_t) * (size_t)snippet->phrase_count;
  s->best = &snippet->column[0];
  if( snippet->hit_count == 0 ) return RF_OK;
  s->seen = s->memory->resize(s->memory->context, 0, bytes);
  if( s->seen == 0 ) return RF_NOMEM;
  memset(s->seen, 0, bytes);
  for(int i = 0; i < snippet->column_count; i++){
    int rc;
    s->column = &snippet->column[i];
    s->hits = hits_of(snippet, s->column);
    if( s->hits.first == s->hits.end ) continue;
    rc = find_sentences(s);
    if( rc == RF_OK ){
      rc = look(s);
      if( rc == RF_CORRUPT && i + 1 < snippet->column_count ) rc = RF_OK;
    }
    if( rc != RF_OK ) return rc;
  }
  return RF_OK;
}

/* ---- the text of a window ---------------------------------------------------- */

/* Copies a window. Hits that share a token are one run, with one pair of marks. */
typedef struct Writer {
  const rf_snippet *snippet;
  const rf_snippet_column *column;
  rf_text *out;
  int steps;
  int first, last;   /* tokens of the window; last < 0 stands for the whole column */
  int next, end;     /* hits that belong to no run yet */
  int run_first;     /* tokens of the run; -1 where there is none any more */
  int run_last;
  int token;         /* the next one */
  int copied;        /* up to this byte of the text */
  bool open;
} Writer;

static void next_run(Writer *w){
  w->run_first = -1;
  w->run_last = -1;
  for(; w->next < w->end; w->next++){
    const rf_snippet_hit *hit = &w->snippet->hit[w->next];
    const int last = hit->token + hit->tokens - 1;
    if( w->run_first < 0 ){
      w->run_first = hit->token;
      w->run_last = last;
    }else if( hit->token > w->run_last ){
      return;
    }else if( last > w->run_last ){
      w->run_last = last;
    }
  }
}

static void put(Writer *w, const rf_snippet_mark *mark){
  rf_text_add(w->out, mark->text, (size_t)mark->bytes);
}

/* Copies the text up to a byte; all that is left where a tokenizer went back. */
static void copy(Writer *w, int to){
  const char *from = w->column->text + w->copied;
  const size_t bytes = (size_t)((to < w->copied ? w->column->bytes : to) - w->copied);
  const char *nul = bytes > 0 ? memchr(from, 0, bytes) : 0;
  rf_text_add(w->out, from, nul ? (size_t)(nul - from) : bytes);
  w->copied = to;
}

static void close_mark(Writer *w){
  put(w, &w->snippet->close);
  w->open = false;
}

static int window_token(
  void *context, int flags, const char *bytes, int length, int start, int end
){
  Writer *w = context;
  int token;
  (void)bytes;
  (void)length;
  if( flags & RF_TOKEN_COLOCATED ) return RF_OK;
  token = w->token++;
  if( w->last >= 0 ){
    if( token > w->last ) return RF_DONE;
    if( token < w->first ) return poll(w->snippet, &w->steps, 1);
  }
  start = within(w->column, start);
  end = within(w->column, end);
  /* What stands before the window's first token is shown at the column's beginning. */
  if( w->first > 0 && token == w->first ) w->copied = start;
  if( w->open && (token <= w->run_first || w->run_first < 0) && start > w->copied ){
    close_mark(w);
  }
  if( token == w->run_first && !w->open ){
    copy(w, start);
    put(w, &w->snippet->open);
    w->open = true;
  }
  if( token == w->run_last ){
    copy(w, end);
    next_run(w);
  }
  if( token == w->last ){
    if( w->open ){
      if( w->run_first >= 0 && token >= w->run_first ) copy(w, end);
      close_mark(w);
    }
    copy(w, end);
  }
  if( w->out->status != RF_OK ) return w->out->status;
  return poll(w->snippet, &w->steps, 1);
}

static int write_window(
  const rf_snippet *snippet, const rf_snippet_column *column, int start, rf_text *out
){
  const rf_tokenizer *tokenizer = column->tokenizer;
  const Range hits = hits_of(snippet, column);
  Writer w;
  int rc, tokens;
  memset(&w, 0, sizeof(w));
  w.snippet = snippet;
  w.column = column;
  w.out = out;
  w.first = start;
  w.last = start + snippet->tokens - 1;
  w.next = hits.first;
  w.end = hits.end;
  if( start > 0 ) put(&w, &snippet->ellipsis);
  do{
    next_run(&w);
  }while( w.run_first >= 0 && w.run_first < start );
  rc = tokenizer->tokenize(tokenizer->context, RF_TOKENIZE_AUX, column->text, column->bytes,
                           &w, window_token);
  if( rc != RF_OK && rc != RF_DONE ) return rc;
  if( w.open ) close_mark(&w);
  tokens = column->tokens < 0 ? w.token : column->tokens;
  if( w.last >= tokens - 1 ){
    copy(&w, column->bytes);
  }else{
    put(&w, &snippet->ellipsis);
  }
  return out->status;
}

int rf_snippet_make(
  const rf_memory *memory, const rf_snippet *snippet, rf_text *text, bool *shown
){
  Search s;
  int rc;
  memset(&s, 0, sizeof(s));
  s.memory = memory;
  s.snippet = snippet;
  *shown = false;
  rc = find_best(&s);
  memory->release(memory->context, s.seen);
  memory->release(memory->context, s.sentence);
  if( rc != RF_OK || s.best->text == 0 ) return rc;
  *shown = true;
  return write_window(snippet, s.best, s.start, text);
}

/* ---- hits -------------------------------------------------------------------- */

static int order(const void *one, const void *other){
  const rf_snippet_hit *a = one, *b = other;
  if( a->column != b->column ) return a->column < b->column ? -1 : 1;
  if( a->token != b->token ) return a->token < b->token ? -1 : 1;
  return (a->phrase > b->phrase) - (a->phrase < b->phrase);
}

int rf_snippet_hits(
  const rf_memory *memory, const rf_matcher *matcher, int phrase_count,
  rf_snippet_hit **hit, int *count
){
  void *block = 0;
  int room = 0, total = 0, phrases = 0;
  *hit = 0;
  *count = 0;
  for(int phrase = 0; phrase < phrase_count; phrase++){
    int places, rc;
    const int64_t *place = rf_matcher_hits(matcher, phrase, &places);
    if( places == 0 ) continue;
    if( places > INT32_MAX - total ) return RF_NOMEM;
    rc = rf_grow(memory, &block, &room, total + places, sizeof(rf_snippet_hit));
    *hit = block;
    if( rc != RF_OK ) return rc;
    for(int i = 0; i < places; i++){
      (*hit)[total++] = (rf_snippet_hit){
        RF_PLACE_COLUMN(place[i]), RF_PLACE_TOKEN(place[i]), phrase,
        rf_matcher_phrase_tokens(matcher, phrase),
      };
    }
    phrases++;
  }
  /* The hits of one phrase are in order already. */
  if( phrases > 1 ) qsort(*hit, (size_t)total, sizeof(rf_snippet_hit), order);
  *count = total;
  return RF_OK;
}

/* ---- rows without a table ------------------------------------------------------ */

/* The columns of a row that matches, with the lengths of those that have hits. */
static int match_columns(
  rf_program *program, const rf_row *row, rf_snippet_column *columns, rf_snippet *snippet
){
  int rc = RF_OK;
  for(int i = 0; i < row->count; i++){
    columns[i] = (rf_snippet_column){i, row->text[i], row->bytes[i], -1, &program->tokenizer};
  }
  snippet->column = columns;
  snippet->column_count = row->count;
  for(int i = 0; rc == RF_OK && i < snippet->hit_count; i++){
    rf_snippet_column *column = &columns[snippet->hit[i].column];
    int64_t tokens;
    if( column->tokens >= 0 ) continue;
    rc = rf_program_count_text(program, column->text, column->bytes, &tokens);
    column->tokens = (int)tokens;
  }
  return rc;
}

/*
** The one column to show of a row in which nothing matches; false for a row without
** any text.
*/
static bool head_column(
  const rf_program *program, const rf_row *row, rf_snippet_column *column,
  rf_snippet *snippet
){
  bool text = false;
  snippet->column = column;
  snippet->column_count = 1;
  *column = (rf_snippet_column){0, "", 0, -1, &program->tokenizer};
  for(int i = 0; i < row->count; i++){
    if( row->text[i] == 0 ) continue;
    text = true;
    if( row->bytes[i] == 0 || program->spec->columns.unindexed[i] ) continue;
    column->text = row->text[i];
    column->bytes = row->bytes[i];
    break;
  }
  return text;
}

int rf_snippet_of_row(
  rf_program *program, const rf_row *row, const rf_snippet *marks, rf_text *text, bool *shown
){
  const rf_memory *memory = program->memory;
  rf_snippet snippet = *marks;
  rf_snippet_hit *hits = 0;
  rf_snippet_column *columns = memory->resize(memory->context, 0,
                                              sizeof(*columns) * (size_t)row->count);
  bool matches = false, any = true;
  int rc;
  *shown = false;
  if( columns == 0 ) return RF_NOMEM;
  snippet.phrase_count = program->query->phrase_count;
  rc = rf_program_match(program, row, true, &matches);
  if( rc == RF_OK && matches ){
    rc = rf_snippet_hits(memory, program->matcher, snippet.phrase_count, &hits,
                         &snippet.hit_count);
    snippet.hit = hits;
    if( rc == RF_OK ) rc = match_columns(program, row, columns, &snippet);
  }else if( rc == RF_OK ){
    any = head_column(program, row, columns, &snippet);
  }
  if( rc == RF_OK && any ) rc = rf_snippet_make(memory, &snippet, text, shown);
  memory->release(memory->context, hits);
  memory->release(memory->context, columns);
  return rc;
}
