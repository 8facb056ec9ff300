/*
** Special characters: those that `unicode61` may fold to ASCII letters (the long s,
** the Kelvin sign, letters with diacritics), the combining marks that it drops from
** the middle of a token, and what is not valid UTF-8, which it reads into any
** character at all. In valid UTF-8 they begin with a byte C3 to C8, CC or E1, or
** are E2 84 xx.
*/
#ifndef RF_SPECIAL_H
#define RF_SPECIAL_H

/*
** The first special character that begins within [at, limit) of a text, -1 where
** there is none. `at` is the start of a character; limit <= bytes.
*/
int rf_find_special(const char *text, int bytes, int at, int limit);

#endif
