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
#if defined(__aarch64__)
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

static int find_scalar(
  const rf_needle *needle, const char *text, int bytes, int from, bool *high
){
  const int end = bytes - needle->length; /* the last place where it can begin */
  const char rare = needle->bytes[needle->rare[0]];
  const char upper = rare >= 'a' ? (char)(rare - ('a' - 'A')) : rare;
  unsigned all = 0;
  int place = -1;
  for(int i = from; place < 0 && i <= end; i++){
    const char c = text[i + needle->rare[0]];
    all |= (unsigned char)c;
    if( (c == rare || c == upper) && equals(text + i, needle) ) place = i;
  }
  *high = all >= 0x80;
  return place;
}

/*
** The search by blocks of `WIDTH` places. BLOCK(at) loads what stands at the first
** rare byte, HIGH(all) is whether bytes that were loaded are not ASCII, and
** MASK(block, at) a mask with STEP bits a place, set where both rare bytes stand.
*/
#define SEARCH_BLOCKS(WIDTH, STEP, MASK_TYPE, CTZ, BLOCK, OR, HIGH, MASK)             \
  const int end = bytes - needle->length;                                            \
  int at = from, place = -1;                                                         \
  if( end - from + 1 < (WIDTH) ) return find_scalar(needle, text, bytes, from, high); \
  for(;;){                                                                           \
    MASK_TYPE mask = MASK(BLOCK(at), at);                                            \
    all = OR(all, BLOCK(at));                                                        \
    while( mask ){                                                                   \
      const int candidate = at + CTZ(mask) / (STEP);                                 \
      if( equals(text + candidate, needle) ){                                        \
        place = candidate;                                                           \
        break;                                                                       \
      }                                                                              \
      mask &= mask - 1;                                                              \
    }                                                                                \
    if( place >= 0 || at + (WIDTH) > end ) break;                                    \
    at = at + 2 * (WIDTH) - 1 <= end ? at + (WIDTH) : end - (WIDTH) + 1;             \
  }                                                                                  \
  *high = HIGH(all);                                                                 \
  return place;

#if defined(__SSE2__)
static int find_sse2(
  const rf_needle *needle, const char *text, int bytes, int from, bool *high
){
  const __m128i bit = _mm_set1_epi8(0x20);
  const __m128i first = _mm_set1_epi8(needle->bytes[needle->rare[0]]);
  const __m128i second = _mm_set1_epi8(needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
  __m128i all = _mm_setzero_si128();
#define LOAD_SSE2(from) _mm_loadu_si128((const __m128i *)(from))
#define BLOCK_SSE2(at) LOAD_SSE2(one + (at))
#define HIGH_SSE2(all) (_mm_movemask_epi8(all) != 0)
#define MASK_SSE2(block, at) (unsigned)_mm_movemask_epi8(_mm_and_si128(  \
    _mm_cmpeq_epi8(_mm_or_si128(block, bit), first),                    \
    _mm_cmpeq_epi8(_mm_or_si128(LOAD_SSE2(two + (at)), bit), second)))
  SEARCH_BLOCKS(16, 1, unsigned, __builtin_ctz, BLOCK_SSE2, _mm_or_si128, HIGH_SSE2, MASK_SSE2)
}

__attribute__((target("avx2")))
static int find_avx2(
  const rf_needle *needle, const char *text, int bytes, int from, bool *high
){
  const __m256i bit = _mm256_set1_epi8(0x20);
  const __m256i first = _mm256_set1_epi8(needle->bytes[needle->rare[0]]);
  const __m256i second = _mm256_set1_epi8(needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
  __m256i all = _mm256_setzero_si256();
#define LOAD_AVX2(from) _mm256_loadu_si256((const __m256i *)(from))
#define BLOCK_AVX2(at) LOAD_AVX2(one + (at))
#define HIGH_AVX2(all) (_mm256_movemask_epi8(all) != 0)
#define MASK_AVX2(block, at) (unsigned)_mm256_movemask_epi8(_mm256_and_si256(  \
    _mm256_cmpeq_epi8(_mm256_or_si256(block, bit), first),                    \
    _mm256_cmpeq_epi8(_mm256_or_si256(LOAD_AVX2(two + (at)), bit), second)))
  SEARCH_BLOCKS(32, 1, unsigned, __builtin_ctz, BLOCK_AVX2, _mm256_or_si256, HIGH_AVX2, MASK_AVX2)
}
#endif

#if defined(__aarch64__)
/* Four bits a place: the usual substitute for a mask of one bit a byte. */
static uint64_t mask_neon(uint8x16_t a, uint8x16_t b, uint8x16_t first, uint8x16_t second){
  const uint8x16_t bit = vdupq_n_u8(0x20);
  const uint8x16_t both = vandq_u8(vceqq_u8(vorrq_u8(a, bit), first),
                                   vceqq_u8(vorrq_u8(b, bit), second));
  const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(both), 4);
  /* One bit of each four, so that `mask &= mask - 1` passes on to the next place. */
  return vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & 0x1111111111111111u;
}

static int find_neon(
  const rf_needle *needle, const char *text, int bytes, int from, bool *high
){
  const uint8x16_t first = vdupq_n_u8((uint8_t)needle->bytes[needle->rare[0]]);
  const uint8x16_t second = vdupq_n_u8((uint8_t)needle->bytes[needle->rare[1]]);
  const char *one = text + needle->rare[0], *two = text + needle->rare[1];
  uint8x16_t all = vdupq_n_u8(0);
#define LOAD_NEON(from) vld1q_u8((const uint8_t *)(from))
#define BLOCK_NEON(at) LOAD_NEON(one + (at))
#define HIGH_NEON(all) (vmaxvq_u8(all) >= 0x80)
#define MASK_NEON(block, at) mask_neon(block, LOAD_NEON(two + (at)), first, second)
  SEARCH_BLOCKS(16, 4, uint64_t, __builtin_ctzll, BLOCK_NEON, vorrq_u8, HIGH_NEON, MASK_NEON)
}
#endif

/* ---- instruction sets ---------------------------------------------------------- */

rf_simd rf_simd_best(void){
#if defined(__SSE2__)
  return __builtin_cpu_supports("avx2") ? RF_AVX2 : RF_SSE2;
#elif defined(__aarch64__)
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
#if defined(__aarch64__)
    case RF_NEON: return find_neon;
#endif
    default: return 0;
  }
}
