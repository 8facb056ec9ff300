/*
** Memory of the pure layer: the allocator that the host passes in, an arena
** that is freed as a whole, and a text that grows.
**
** Status codes have the numbers of SQLite's result codes, so that a code from
** the host's tokenizer passes through unchanged.
*/
#ifndef RF_MEMORY_H
#define RF_MEMORY_H

#include <stddef.h>

#define RF_OK 0
#define RF_ERROR 1
#define RF_NOMEM 7
#define RF_INTERRUPT 9
#define RF_TOOBIG 18
#define RF_DONE 101    /* from a callback: enough, and all is well */
#define RF_CORRUPT 267 /* as FTS5 says it: SQLITE_CORRUPT_VTAB */

/* resize() works as realloc() for bytes > 0; release() takes NULL. */
typedef struct rf_memory {
  void *context;
  void *(*resize)(void *context, void *block, size_t bytes);
  void (*release)(void *context, void *block);
} rf_memory;

/* That of the C library, for programs without SQLite. */
extern const rf_memory rf_heap_memory;

/*
** Makes room for at least `count` elements of `size` bytes in *block, which now
** has room for *room. Grows by doubling. RF_NOMEM leaves everything as it was.
*/
int rf_grow(const rf_memory *memory, void **block, int *room, int count, size_t size);

typedef struct rf_arena_block rf_arena_block;
typedef struct rf_arena {
  const rf_memory *memory;
  rf_arena_block *blocks; /* newest first */
  char *next;             /* free bytes of the newest block */
  size_t left;
  size_t taken;           /* bytes, since the beginning */
} rf_arena;

void rf_arena_begin(rf_arena *arena, const rf_memory *memory);
void rf_arena_end(rf_arena *arena);

/* `bytes` zeroed bytes, aligned to 8; NULL where there is no memory. */
void *rf_arena_take(rf_arena *arena, size_t bytes);

/* A copy of `bytes` bytes with a NUL behind it; NULL where there is no memory. */
char *rf_arena_copy(rf_arena *arena, const char *text, size_t bytes);

/* As rf_grow() for an array of the arena; the old array stays allocated. */
int rf_arena_grow(rf_arena *arena, void **block, int *room, int count, size_t size);

/*
** A text that grows. After a failed allocation `status` is RF_NOMEM and every
** further call does nothing, so that only the end needs a check.
*/
typedef struct rf_text {
  const rf_memory *memory;
  char *bytes;
  size_t length;
  size_t room;
  int status;
} rf_text;

void rf_text_begin(rf_text *text, const rf_memory *memory);
void rf_text_end(rf_text *text);
void rf_text_add(rf_text *text, const char *bytes, size_t length);
void rf_text_put(rf_text *text, const char *string);
void rf_text_number(rf_text *text, int number);

/* Adds `bytes` between double quotes, each double quote in it doubled. */
void rf_text_quoted(rf_text *text, const char *bytes, size_t length);

/* Adds a JSON string. What is not valid UTF-8 becomes U+FFFD. */
void rf_text_json(rf_text *text, const char *bytes, size_t length);

#endif
