/*
** Compares the searches of pure/needle.c with each instruction set that this
** processor has, and all of them with a search that looks at every place: where the
** needle stands first, and whether a byte outside ASCII was met. Texts stand at the
** very end of their memory, so that a sanitizer sees a search that reads on.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pure/needle.h"

#define TEXTS 50000
#define LONGEST 300

static unsigned long long state = 88172645463325252ull;

static unsigned next(unsigned below){
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % below;
}

static int stands_at(const rf_needle *needle, const char *text){
  for(int i = 0; i < needle->length; i++){
    const char c = text[i];
    if( (c >= 'A' && c <= 'Z' ? c + 32 : c) != needle->bytes[i] ) return 0;
  }
  return 1;
}

static int find(const rf_needle *needle, const char *text, int bytes, int from, bool *high){
  *high = false;
  for(int i = from; i + needle->length <= bytes; i++){
    if( (unsigned char)text[i + needle->rare[0]] >= 0x80 ) *high = true;
    if( stands_at(needle, text + i) ) return i;
  }
  return -1;
}

static int check(rf_simd simd, const rf_needle *needle, const char *text, int bytes, int from){
  const rf_finder finder = rf_finder_for(simd);
  bool expected_high, high;
  const int expected = find(needle, text, bytes, from, &expected_high);
  const int found = finder(needle, text, bytes, from, &high);
  /* Before a place that is found, blocks may have been looked at beyond it. */
  if( found == expected && (found >= 0 || high == expected_high) ) return 0;
  printf("%s: %d, not %d, for %.*s from %d in %d bytes\n", rf_simd_name(simd), found, expected,
         needle->length, needle->bytes, from, bytes);
  return 1;
}

int main(void){
  static const char letters[] = "abcxyz0189ABCXYZ -_\xC3\xA9[{@`";
  int failed = 0, searched = 0;
  for(int simd = RF_SCALAR; simd <= (int)RF_NEON; simd++){
    if( rf_finder_for((rf_simd)simd) == 0 || (simd == RF_AVX2 && rf_simd_best() != RF_AVX2) ) continue;
    printf("%s\n", rf_simd_name((rf_simd)simd));
    for(int i = 0; i < TEXTS && failed < 10; i++){
      char word[12];
      const int length = 1 + (int)next(sizeof(word)), bytes = (int)next(LONGEST);
      const int kinds = next(3) ? 3 : (int)sizeof(letters) - 1;
      char *text = malloc((size_t)bytes + (bytes == 0));
      rf_term term;
      rf_needle needle;
      if( text == 0 ) return 2;
      memset(&term, 0, sizeof(term));
      for(int j = 0; j < length; j++) word[j] = "abcxyz0189"[next(kinds == 3 ? 3 : 10)];
      term.bytes = word;
      term.length = length;
      needle = rf_needle_of(&term, 0);
      for(int j = 0; j < bytes; j++) text[j] = letters[next((unsigned)kinds)];
      if( bytes >= length && next(2) ) memcpy(text + next((unsigned)(bytes - length + 1)), word, (size_t)length);
      failed += check((rf_simd)simd, &needle, text, bytes, (int)next((unsigned)bytes + 1));
      searched++;
      free(text);
    }
  }
  printf("%d searches, %d wrong\n", searched, failed);
  return failed > 0;
}
