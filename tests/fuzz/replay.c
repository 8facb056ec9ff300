/*
** A main() for the fuzz drivers where there is no libFuzzer: runs the files of a
** corpus, then mutations of them, always the same for one seed.
**
**   driver [--runs N] [--seed N] [--dict FILE] [--artifact FILE] PATH...
**   driver --minimize FILE
**
** A mutation replaces, inserts, repeats, moves or drops bytes, takes a piece of
** another file, or a word of the dictionary (in libFuzzer's format, without names).
** An input that ends the process is left in the artifact file. --minimize makes such
** a file smaller as long as it still ends the process.
*/
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

#define LONGEST 4096

typedef struct Bytes {
  uint8_t *data;
  size_t size;
} Bytes;

typedef struct List {
  Bytes *item;
  size_t count;
} List;

/* ---- files --------------------------------------------------------------------- */

static void add(List *list, const uint8_t *data, size_t size){
  uint8_t *copy = malloc(size + 1);
  list->item = realloc(list->item, (list->count + 1) * sizeof(Bytes));
  if( copy == 0 || list->item == 0 ) abort();
  memcpy(copy, data, size);
  list->item[list->count++] = (Bytes){copy, size};
}

static void list_free(List *list){
  for(size_t i = 0; i < list->count; i++) free(list->item[i].data);
  free(list->item);
}

static void add_file(List *list, const char *path){
  static uint8_t room[1 << 20];
  FILE *file = fopen(path, "rb");
  size_t size;
  if( file == 0 ) host_fail("cannot read %s", path);
  size = fread(room, 1, sizeof(room), file);
  fclose(file);
  add(list, room, size);
}

static int by_name(const void *a, const void *b){
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A file, or the files of a folder by name. */
static void add_path(List *list, const char *path){
  char *names[4096];
  size_t count = 0;
  struct dirent *entry;
  DIR *folder = opendir(path);
  if( folder == 0 ){
    add_file(list, path);
    return;
  }
  while( (entry = readdir(folder)) != 0 && count < sizeof(names) / sizeof(names[0]) ){
    if( entry->d_name[0] == '.' ) continue;
    names[count] = malloc(strlen(path) + strlen(entry->d_name) + 2);
    if( names[count] == 0 ) abort();
    sprintf(names[count++], "%s/%s", path, entry->d_name);
  }
  closedir(folder);
  qsort(names, count, sizeof(names[0]), by_name);
  for(size_t i = 0; i < count; i++){
    add_file(list, names[i]);
    free(names[i]);
  }
}

/* Lines of a word between double quotes, with \" \\ and \xNN in it. */
static void add_dictionary(List *list, const char *path){
  FILE *file = fopen(path, "r");
  char line[256];
  if( file == 0 ) host_fail("cannot read %s", path);
  while( fgets(line, sizeof(line), file) ){
    uint8_t word[sizeof(line)];
    size_t size = 0;
    if( line[0] != '"' ) continue;
    for(const char *at = line + 1; *at && *at != '"'; at++){
      unsigned code = (unsigned char)*at;
      if( *at == '\\' && at[1] == 'x' && sscanf(at + 2, "%2x", &code) == 1 ) at += 3;
      else if( *at == '\\' ) code = (unsigned char)*++at;
      word[size++] = (uint8_t)code;
    }
    add(list, word, size);
  }
  fclose(file);
}

/* ---- an input that ends the process ----------------------------------------------- */

static Bytes current;
static const char *artifact;

static void keep_current(void){
  FILE *file = artifact ? fopen(artifact, "wb") : 0;
  if( file == 0 ) return;
  fwrite(current.data, 1, current.size, file);
  fclose(file);
  fprintf(stderr, "the input is in %s\n", artifact);
}

static void aborted(int number){
  keep_current();
  signal(number, SIG_DFL);
  raise(number);
}

/* A sanitizer ends the process in its own way. */
void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static void run(const uint8_t *data, size_t size){
  /* A copy of its own size, so that a sanitizer sees a byte read behind it. */
  uint8_t *copy = malloc(size ? size : 1);
  if( copy == 0 ) abort();
  memcpy(copy, data, size);
  current = (Bytes){copy, size};
  LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

/* ---- mutations -------------------------------------------------------------------- */

static uint64_t state;

/* xorshift64*; a number below `limit`, which is not 0. */
static size_t draw(size_t limit){
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (size_t)((state * 2685821657736338717u) >> 33) % limit;
}

/* Puts bytes at a place of the input, over or between what is there. */
static void put(Bytes *input, size_t at, const uint8_t *data, size_t size, int over){
  uint8_t piece[LONGEST];
  if( size > LONGEST - input->size ) size = LONGEST - input->size;
  memcpy(piece, data, size);
  if( over && at + size <= input->size ){
    memcpy(input->data + at, piece, size);
    return;
  }
  memmove(input->data + at + size, input->data + at, input->size - at);
  memcpy(input->data + at, piece, size);
  input->size += size;
}

static void drop(Bytes *input, size_t at, size_t size){
  if( size > input->size - at ) size = input->size - at;
  memmove(input->data + at, input->data + at + size, input->size - at - size);
  input->size -= size;
}

static void mutate(Bytes *input, const List *corpus, const List *words){
  const size_t at = draw(input->size + 1);
  const size_t size = 1 + draw(draw(4) ? 4 : 64);
  uint8_t byte = (uint8_t)draw(256);
  const Bytes *other;
  size_t from;
  switch( draw(8) ){
    case 0:
      put(input, at, &byte, 1, 1);
      break;
    case 1:
      put(input, at, &byte, 1, 0);
      break;
    case 2:
      drop(input, at, size);
      break;
    case 3:
      if( at < input->size ) input->data[at] ^= (uint8_t)(1 << draw(8));
      break;
    case 4:
      if( at + size <= input->size ) put(input, draw(input->size + 1), input->data + at, size, 0);
      break;
    case 5:
      other = &corpus->item[draw(corpus->count)];
      if( other->size == 0 ) break;
      from = draw(other->size);
      put(input, at, other->data + from,
          size < other->size - from ? size : other->size - from, (int)draw(2));
      break;
    default:
      if( words->count == 0 ) break;
      other = &words->item[draw(words->count)];
      put(input, at, other->data, other->size, (int)draw(2));
      break;
  }
}

static void run_mutations(const List *corpus, const List *words, long runs, uint64_t seed){
  static uint8_t room[LONGEST];
  state = seed * 0x9E3779B97F4A7C15u + 1;
  for(long i = 0; i < runs; i++){
    const Bytes *chosen = &corpus->item[draw(corpus->count)];
    Bytes input = {room, chosen->size < LONGEST / 2 ? chosen->size : LONGEST / 2};
    memcpy(room, chosen->data, input.size);
    for(size_t count = 1 + draw(6); count > 0; count--) mutate(&input, corpus, words);
    run(input.data, input.size);
  }
}

/* ---- making an input smaller --------------------------------------------------------- */

static int ends_the_process(const Bytes *input){
  int status;
  pid_t child = fork();
  if( child == 0 ){
    artifact = 0;
    if( !freopen("/dev/null", "w", stderr) ) _exit(0);
    run(input->data, input->size);
    _exit(0);
  }
  if( child < 0 || waitpid(child, &status, 0) != child ) host_fail("cannot fork");
  return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void minimize(const char *path){
  List list = {0, 0};
  Bytes *input;
  add_file(&list, path);
  input = &list.item[0];
  if( !ends_the_process(input) ) host_fail("%s does not end the process", path);
  for(size_t size = input->size; size > 0; size /= 2){
    for(size_t at = 0; at + size <= input->size; ){
      uint8_t *before = malloc(input->size);
      const size_t length = input->size;
      if( before == 0 ) abort();
      memcpy(before, input->data, length);
      drop(input, at, size);
      if( !ends_the_process(input) ){
        memcpy(input->data, before, length);
        input->size = length;
        at += size;
      }
      free(before);
    }
  }
  artifact = path;
  current = *input;
  keep_current();
  list_free(&list);
}

int main(int count, char **arguments){
  List corpus = {0, 0}, words = {0, 0};
  unsigned long long seed = 1;
  long runs = 0;
  int at = 1;
  for(; at + 1 < count && arguments[at][0] == '-'; at += 2){
    const char *value = arguments[at + 1];
    if( strcmp(arguments[at], "--runs") == 0 ) runs = atol(value);
    else if( strcmp(arguments[at], "--seed") == 0 ) seed = strtoull(value, 0, 10);
    else if( strcmp(arguments[at], "--dict") == 0 ) add_dictionary(&words, value);
    else if( strcmp(arguments[at], "--artifact") == 0 ) artifact = value;
    else if( strcmp(arguments[at], "--minimize") == 0 ){
      minimize(value);
      return 0;
    }else{
      break;
    }
  }
  for(; at < count && arguments[at][0] != '-'; at++) add_path(&corpus, arguments[at]);
  if( at < count || corpus.count == 0 ){
    host_fail("usage: %s [--runs N] [--seed N] [--dict FILE] [--artifact FILE] PATH...\n"
              "       %s --minimize FILE", arguments[0], arguments[0]);
  }
  signal(SIGABRT, aborted);
  if( __sanitizer_set_death_callback ) __sanitizer_set_death_callback(keep_current);
  for(size_t i = 0; i < corpus.count; i++) run(corpus.item[i].data, corpus.item[i].size);
  run_mutations(&corpus, &words, runs, seed);
  printf("%zu files, %ld mutations\n", corpus.count, runs);
  list_free(&corpus);
  list_free(&words);
  return 0;
}
