/*
** FTS5's tokenizers `unicode61` and `ascii`, byte for byte, and faster on ASCII.
*/
#ifndef RF_UNICODE61_H
#define RF_UNICODE61_H

#include <stdint.h>

#include "pure/query.h"

typedef struct rf_unicode61 rf_unicode61;

/*
** Opens "unicode61" or "ascii" with FTS5's arguments, pairs of a key and a value.
** RF_ERROR where the name is another one or FTS5 refuses an argument.
*/
int rf_unicode61_new(const rf_memory *memory, const char *name, int count,
                     const char *const *argument, rf_unicode61 **tokenizer);
void rf_unicode61_free(rf_unicode61 *tokenizer);

/* An rf_tokenizer's `tokenize`, whose context is the tokenizer. Not re-entrant. */
int rf_unicode61_tokenize(void *tokenizer, int flags, const char *text, int bytes,
                          void *context, rf_token_callback callback);

/* Whether it is `ascii`. */
bool rf_unicode61_is_ascii(const rf_unicode61 *tokenizer);

/*
** Whether an ASCII byte separates tokens. Before and after such a byte a text can
** be cut: the pieces have the tokens of the whole.
*/
bool rf_unicode61_separates(const rf_unicode61 *tokenizer, unsigned char byte);

/* Writes a character as UTF-8, four bytes at most, and returns how many it wrote. */
int rf_write_character(char *out, uint32_t c);

#endif
