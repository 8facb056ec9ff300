/*
** Growing arrays, an arena and growing texts over the host's allocator.
*/
#include "pure/memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST 2048
#define ARENA_LARGEST ((size_t)1 << 20)

/* What has to be aligned. SQLite's allocator gives 8 bytes, max_align_t may want 16. */
typedef union Aligned {
  int64_t integer;
  double number;
  void *pointer;
} Aligned;

struct rf_arena_block {
  rf_arena_block *older;
  Aligned bytes[];
};

/* The next size for an array that must hold `count`; 0 where that is too much. */
static int next_room(int room, int count, size_t size){
  int wanted = room < 4 ? 4 : room;
  while( wanted < count ){
    if( wanted > INT_MAX / 2 ) return 0;
    wanted *= 2;
  }
  if( (size_t)wanted > (SIZE_MAX / 4) / size ) return 0;
  return wanted;
}

static void *heap_resize(void *context, void *block, size_t bytes){
  (void)context;
  return realloc(block, bytes);
}

static void heap_release(void *context, void *block){
  (void)context;
  free(block);
}

const rf_memory rf_heap_memory = {0, heap_resize, heap_release};

int rf_grow(const rf_memory *memory, void **block, int *room, int count, size_t size){
  int wanted;
  void *grown;
  if( count <= *room ) return RF_OK;
  wanted = next_room(*room, count, size);
  if( wanted == 0 ) return RF_NOMEM;
  grown = memory->resize(memory->context, *block, (size_t)wanted * size);
  if( grown == 0 ) return RF_NOMEM;
  *block = grown;
  *room = wanted;
  return RF_OK;
}

void rf_arena_begin(rf_arena *arena, const rf_memory *memory){
  memset(arena, 0, sizeof(*arena));
  arena->memory = memory;
}

void rf_arena_end(rf_arena *arena){
  rf_arena_block *block = arena->blocks;
  while( block ){
    rf_arena_block *older = block->older;
    arena->memory->release(arena->memory->context, block);
    block = older;
  }
  arena->blocks = 0;
  arena->next = 0;
  arena->left = 0;
}

void *rf_arena_take(rf_arena *arena, size_t bytes){
  const size_t align = sizeof(Aligned);
  void *taken;
  if( bytes > SIZE_MAX / 4 ) return 0;
  bytes = (bytes + align - 1) / align * align;
  if( bytes > arena->left ){
    /* Blocks double with what the arena holds, so that their number stays small. */
    static const size_t header = sizeof(rf_arena_block);
    size_t size = ARENA_FIRST;
    rf_arena_block *block, *older;
    for(older = arena->blocks; older && size < ARENA_LARGEST; older = older->older) size *= 2;
    if( size < bytes ) size = bytes;
    block = arena->memory->resize(arena->memory->context, 0, header + size);
    if( block == 0 ) return 0;
    block->older = arena->blocks;
    arena->blocks = block;
    arena->next = (char *)block->bytes;
    arena->left = size;
  }
  taken = arena->next;
  arena->next += bytes;
  arena->left -= bytes;
  arena->taken += bytes;
  memset(taken, 0, bytes);
  return taken;
}

char *rf_arena_copy(rf_arena *arena, const char *text, size_t bytes){
  char *copy = rf_arena_take(arena, bytes + 1);
  if( copy && bytes ) memcpy(copy, text, bytes);
  return copy;
}

int rf_arena_grow(rf_arena *arena, void **block, int *room, int count, size_t size){
  int wanted;
  void *grown;
  if( count <= *room ) return RF_OK;
  wanted = next_room(*room, count, size);
  if( wanted == 0 ) return RF_NOMEM;
  grown = rf_arena_take(arena, (size_t)wanted * size);
  if( grown == 0 ) return RF_NOMEM;
  if( *room ) memcpy(grown, *block, (size_t)*room * size);
  *block = grown;
  *room = wanted;
  return RF_OK;
}

void rf_text_begin(rf_text *text, const rf_memory *memory){
  memset(text, 0, sizeof(*text));
  text->memory = memory;
}

void rf_text_end(rf_text *text){
  text->memory->release(text->memory->context, text->bytes);
  text->bytes = 0;
  text->length = text->room = 0;
}

void rf_text_add(rf_text *text, const char *bytes, size_t length){
  if( text->status != RF_OK || length == 0 ) return;
  if( length > text->room - text->length ){
    size_t room = text->room < 64 ? 64 : text->room;
    char *grown;
    while( room - text->length < length ){
      if( room > SIZE_MAX / 4 ){
        text->status = RF_NOMEM;
        return;
      }
      room *= 2;
    }
    grown = text->memory->resize(text->memory->context, text->bytes, room);
    if( grown == 0 ){
      text->status = RF_NOMEM;
      return;
    }
    text->bytes = grown;
    text->room = room;
  }
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
}

void rf_text_put(rf_text *text, const char *string){
  rf_text_add(text, string, strlen(string));
}

void rf_text_number(rf_text *text, int number){
  char digits[16];
  const int length = snprintf(digits, sizeof(digits), "%d", number);
  if( length > 0 ) rf_text_add(text, digits, (size_t)length);
}

void rf_text_quoted(rf_text *text, const char *bytes, size_t length){
  size_t start = 0;
  rf_text_put(text, "\"");
  for(size_t i = 0; i < length; i++){
    if( bytes[i] != '"' ) continue;
    rf_text_add(text, bytes + start, i + 1 - start);
    start = i; /* the quote is added once more with what follows it */
  }
  rf_text_add(text, bytes + start, length - start);
  rf_text_put(text, "\"");
}

/* The length of the valid UTF-8 character at `at`, 0 where there is none. */
static size_t character(const unsigned char *at, size_t left){
  const unsigned char lead = at[0];
  size_t length;
  unsigned long code;
  static const unsigned long least[5] = {0, 0, 0x80, 0x800, 0x10000};
  if( lead < 0x80 ) return 1;
  if( lead < 0xC2 || lead > 0xF4 ) return 0;
  length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if( length > left ) return 0;
  code = lead & (0x7Fu >> length);
  for(size_t i = 1; i < length; i++){
    if( (at[i] & 0xC0) != 0x80 ) return 0;
    code = (code << 6) | (at[i] & 0x3Fu);
  }
  if( code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ) return 0;
  return length;
}

void rf_text_json(rf_text *text, const char *bytes, size_t length){
  static const char hex[] = "0123456789abcdef";
  const unsigned char *at = (const unsigned char *)bytes;
  size_t i = 0;
  rf_text_put(text, "\"");
  while( i < length ){
    const size_t size = character(at + i, length - i);
    if( size == 0 ){
      rf_text_put(text, "\xEF\xBF\xBD");
      i++;
      continue;
    }
    if( at[i] == '"' || at[i] == '\\' ){
      const char escaped[2] = {'\\', bytes[i]};
      rf_text_add(text, escaped, 2);
    }else if( at[i] < 0x20 ){
      const char escaped[6] = {'\\', 'u', '0', '0', hex[at[i] >> 4], hex[at[i] & 15]};
      rf_text_add(text, escaped, 6);
    }else{
      rf_text_add(text, bytes + i, size);
    }
    i += size;
  }
  rf_text_put(text, "\"");
}
