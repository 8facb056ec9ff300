/*
** Blocks of 64 bytes are sorted into bits. UTF-8 is valid where continuation bytes
** stand just where the lead bytes before them ask for some, which is a comparison
** of two words of bits; special characters show by their first byte or two.
*/
#include "pure/special.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

#define BLOCK 64

/* The length of the character at `at`, 0 where it is special. */
static int plain_character(const unsigned char *at, int left){
  const unsigned char lead = at[0];
  int length;
  if( lead < 0x80 ) return 1;
  if( lead < 0xC2 || lead > 0xF4 ) return 0;
  if( (lead >= 0xC3 && lead <= 0xC8) || lead == 0xCC || lead == 0xE1 ) return 0;
  length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if( length > left ) return 0;
  for(int i = 1; i < length; i++){
    if( (at[i] & 0xC0) != 0x80 ) return 0;
  }
  if( lead == 0xE0 && at[1] < 0xA0 ) return 0;
  if( lead == 0xE2 && at[1] == 0x84 ) return 0;
  if( lead == 0xF0 && at[1] < 0x90 ) return 0;
  /* The tokenizer would read a further continuation byte into this character. */
  if( length < left && (at[length] & 0xC0) == 0x80 ) return 0;
  return length;
}

#if defined(__SSE2__)
/* A bit for each byte of a block that is greater than `low` and less than `high`, as
** signed numbers: there 0x80 is the least and 0xFF is -1. */
static uint64_t between(const __m128i *bytes, int low, int high){
  const __m128i above = _mm_set1_epi8((char)low), below = _mm_set1_epi8((char)high);
  uint64_t bits = 0;
  for(int i = 0; i < 4; i++){
    const __m128i in = _mm_and_si128(_mm_cmpgt_epi8(bytes[i], above),
                                     _mm_cmplt_epi8(bytes[i], below));
    bits |= (uint64_t)(unsigned)_mm_movemask_epi8(in) << (16 * i);
  }
  return bits;
}

static uint64_t less(const __m128i *bytes, int high){
  const __m128i below = _mm_set1_epi8((char)high);
  uint64_t bits = 0;
  for(int i = 0; i < 4; i++){
    bits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(bytes[i], below)) << (16 * i);
  }
  return bits;
}

static uint64_t equal(const __m128i *bytes, int value){
  const __m128i wanted = _mm_set1_epi8((char)value);
  uint64_t bits = 0;
  for(int i = 0; i < 4; i++){
    bits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes[i], wanted)) << (16 * i);
  }
  return bits;
}

static void load(const char *text, __m128i *bytes){
  for(int i = 0; i < 4; i++) bytes[i] = _mm_loadu_si128((const __m128i *)(text + 16 * i));
}

/*
** How many bytes of the block at `text`, which begins a character and has a byte
** behind it, hold whole characters of which none is special; 0 where one may be.
*/
static int plain_bytes(const char *text){
  __m128i bytes[4], next[4];
  uint64_t continuation, lead, three, four, special, expected, within = ~(uint64_t)0;
  int whole = BLOCK;
  load(text, bytes);
  if( less(bytes, 0) == 0 ) return BLOCK;
  load(text + 1, next);
  continuation = less(bytes, 0xC0);
  lead = less(bytes, 0) & ~continuation;
  three = between(bytes, 0xDF, 0);
  four = between(bytes, 0xEF, 0);
  special = (between(bytes, 0xBF, 0xC9) & ~equal(bytes, 0xC2)) | equal(bytes, 0xCC)
          | equal(bytes, 0xE1) | between(bytes, 0xF4, 0) | (equal(bytes, 0xE2) & equal(next, 0x84))
          /* Numbers written with more bytes than they need. */
          | (equal(bytes, 0xE0) & less(next, 0xA0)) | (equal(bytes, 0xF0) & less(next, 0x90));
  expected = (lead << 1) | (three << 2) | (four << 3);
  if( lead ){
    const int last = BLOCK - 1 - __builtin_clzll(lead);
    const int length = 2 + (int)((three >> last) & 1) + (int)((four >> last) & 1);
    if( last + length > BLOCK ){
      whole = last;
      within >>= BLOCK - 1 - last; /* where it begins, one before it may be cut short */
    }
  }
  return (special | (expected ^ continuation)) & within ? 0 : whole;
}
#endif

/* Moves on over whole blocks without special characters. */
static int skip_plain(const char *text, int limit, int at){
#if defined(__SSE2__)
  while( at + BLOCK < limit ){
    const int plain = plain_bytes(text + at);
    if( plain == 0 ) break;
    at += plain;
  }
#else
  for(; at + 8 <= limit; at += 8){
    unsigned all = 0;
    for(int i = 0; i < 8; i++) all |= (unsigned char)text[at + i];
    if( all >= 0x80 ) break;
  }
#endif
  return at;
}

int rf_find_special(const char *text, int bytes, int at, int limit){
  while( at < limit ){
    int stop;
    at = skip_plain(text, limit, at);
    /* The block that may hold one, or the rest, goes character by character. */
    stop = limit - at < BLOCK ? limit : at + BLOCK;
    while( at < stop ){
      const int length = plain_character((const unsigned char *)text + at, bytes - at);
      if( length == 0 ) return at;
      at += length;
    }
  }
  return -1;
}
