/*
** A search compares many places of the text at once with the needle's two rarest
** bytes; where both stand, the rest is compared. Bit 5 is set in the text first,
** which makes letters lower and leaves digits as they are; other bytes that it
** turns into a letter or digit are sorted out by the comparison of the whole.
**
** The last places of a text are searched with a block that overlaps the one
** before it, so that only texts shorter than a block go byte by byte.
*/
#include "pure/needle.h"

#include <stdint.h>

#if defined(__SSE2__)
#  include <immintrin.h>
#endif
#if defined(__ARM_NEON)
#  include <arm_neon.h>
#endif

/* ---- choosing --------------------------------------------------------------- */

static bool is_needle_byte(char c){
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* How common a byte is in prose and code, in parts of 10,000. */
static int frequency(char c){
  static const short letter[26] = {
    650, 130, 280, 330, 1000, 200, 180, 380, 600, 20, 70, 360, 240,
    600, 620, 230, 15, 580, 620, 800, 260, 90, 130, 40, 140, 15,
  };
  static const short digit[10] = {80, 80, 60, 40, 35, 35, 30, 30, 30, 30};
  return c >= 'a' ? letter[c - 'a'] : digit[c - '0'];
}

static void choose_rare(rf_needle *needle){
  int first = 0, second = -1;
  for(int i = 1; i < needle->length; i++){
    if( frequency(needle->bytes[i]) < frequency(needle->bytes[first]) ){
      second = first;
      first = i;
    }else if( second < 0 || frequency(needle->bytes[i]) < frequency(needle->bytes[second]) ){
      second = i;
    }
  }
  needle->rarity = frequency(needle->bytes[first]) / 10000.0;
  if( second < 0 ) second = first;
  else needle->rarity *= frequency(needle->bytes[second]) / 10000.0;
  needle->rare[0] = first < second ? first : second;
  needle->rare[1] = first < second ? second : first;
}

rf_needle rf_needle_of(const rf_term *term, int trim){
  rf_needle needle = {term->bytes, 0, {0, 0}, 1.0};
  const int end = term->length - trim;
  int start = 0;
  if( term->synonym ) return needle;
  for(int i = 0; i <= end; i++){
    if( i < end && is_needle_byte(term->bytes[i]) ) continue;
    if( i - start > needle.length ){
      needle.bytes = term->bytes + start;
      needle.length = i - start;
    }
    start = i + 1;
  }
  if( needle.length > 0 ) choose_rare(&needle);
  return needle;
}

/* ---- searching --------------------------------------------------------------- */

static bool equals(const char *text, const rf_needle *needle){
  for(int i = 0; i < needle->length; i++){
    const char c = needle->bytes[i];
    if( text[i] != c && (c < 'a' || text[i] != c - ('a' - 'A')) ) return false;
  }
  return true;
}

static int find_scalar(const rf_needle *needle, const char *text, int bytes, int from){
  const int end = bytes - needle->length; /* the last place where it can begin */
  const char rare = needle->bytes[needle->rare[0]];
  const char upper = rare >= 'a' ? (char)(rare - ('a' - 'A')) : rare;
  for(int i = from; i <= end; i++){
    const char c = text[i + needle->rare[0]];
    if( (c == rare || c == upper) && equals(text + i, needle) ) return i;
  }
  return -1;
}

/*
** The search by blocks of `WIDTH` places. MASK(at) is an expression for a mask
** with STEP bits a place, set where both rare bytes stand; MASK_TYPE and CTZ go
** with it.
*/
#define SEARCH_BLOCKS(WIDTH, STEP, MASK_TYPE, CTZ, MASK)                              \
  const int end = bytes - needle->length;                                            \
  int at = from;                                                                     \
  if( end - from + 1 < (WIDTH) ) return find_scalar(needle, text, bytes, from);      \
  for(;;){                                                                           \
    MASK_TYPE mask = MASK(at);                                                       \
    while( mask ){                                                                   \
      const int place = at + CTZ(mask) / (STEP);                                     \
      if( equals(text + place, needle) ) return place;                               \
      mask &= mask - 1;                                                              \
    }                                                                                \
    if( at + (WIDTH) > end ) return -1;                                              \
    at = at + 2 * (WIDTH) - 1 <= end ? at + (WIDTH) : end - (WIDTH) + 1;             \
  }

#if defined(__SSE2__)
static int find_sse2(const rf_needle *needle, const char *text, int bytes, int from){
  const __m128i bit = _mm_set1_epi8(0x20);
  const __m128i first = _mm_set1_epi8(needle->bytes[needle->rare[0]]);
  const __m128i second = _mm_set1_epi8(needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
#define MASK_SSE2(at) (unsigned)_mm_movemask_epi8(_mm_and_si128(                      \
    _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128((const __m128i *)(one + (at))), bit), \
                   first),                                                           \
    _mm_cmpeq_epi8(_mm_or_si128(_mm_loadu_si128((const __m128i *)(two + (at))), bit), \
                   second)))
  SEARCH_BLOCKS(16, 1, unsigned, __builtin_ctz, MASK_SSE2)
}

__attribute__((target("avx2")))
static int find_avx2(const rf_needle *needle, const char *text, int bytes, int from){
  const __m256i bit = _mm256_set1_epi8(0x20);
  const __m256i first = _mm256_set1_epi8(needle->bytes[needle->rare[0]]);
  const __m256i second = _mm256_set1_epi8(needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
#define MASK_AVX2(at) (unsigned)_mm256_movemask_epi8(_mm256_and_si256(                        \
    _mm256_cmpeq_epi8(                                                                       \
        _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(one + (at))), bit), first),     \
    _mm256_cmpeq_epi8(                                                                       \
        _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(two + (at))), bit), second)))
  SEARCH_BLOCKS(32, 1, unsigned, __builtin_ctz, MASK_AVX2)
}
#endif

#if defined(__ARM_NEON)
/* Four bits a place: the usual substitute for a mask of one bit a byte. */
static uint64_t mask_neon(
  const char *one, const char *two, uint8x16_t first, uint8x16_t second
){
  const uint8x16_t bit = vdupq_n_u8(0x20);
  const uint8x16_t a = vorrq_u8(vld1q_u8((const uint8_t *)one), bit);
  const uint8x16_t b = vorrq_u8(vld1q_u8((const uint8_t *)two), bit);
  const uint8x16_t both = vandq_u8(vceqq_u8(a, first), vceqq_u8(b, second));
  const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(both), 4);
  /* One bit of each four, so that `mask &= mask - 1` passes on to the next place. */
  return vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & 0x1111111111111111u;
}

static int find_neon(const rf_needle *needle, const char *text, int bytes, int from){
  const uint8x16_t first = vdupq_n_u8((uint8_t)needle->bytes[needle->rare[0]]);
  const uint8x16_t second = vdupq_n_u8((uint8_t)needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
#define MASK_NEON(at) mask_neon(one + (at), two + (at), first, second)
  SEARCH_BLOCKS(16, 4, uint64_t, __builtin_ctzll, MASK_NEON)
}
#endif

/* ---- instruction sets ---------------------------------------------------------- */

rf_simd rf_simd_best(void){
#if defined(__SSE2__)
  return __builtin_cpu_supports("avx2") ? RF_AVX2 : RF_SSE2;
#elif defined(__ARM_NEON)
  return RF_NEON;
#else
  return RF_SCALAR;
#endif
}

const char *rf_simd_name(rf_simd simd){
  static const char *const names[] = {"scalar", "sse2", "avx2", "neon"};
  return names[simd];
}

rf_finder rf_finder_for(rf_simd simd){
  switch( simd ){
    case RF_SCALAR: return find_scalar;
#if defined(__SSE2__)
    case RF_SSE2: return find_sse2;
    case RF_AVX2: return find_avx2;
#endif
#if defined(__ARM_NEON)
    case RF_NEON: return find_neon;
#endif
    default: return 0;
  }
}
