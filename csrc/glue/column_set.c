/*
** A set of columns by zero-based number, as SQL names it in one text.
**
**   set     := numbers | exclusions
**   numbers    := NUMBER { SPACE NUMBER }       '0 1'    columns 0 and 1
**   exclusions := '-' NUMBER { SPACE '-' NUMBER }  '-2'     all but column 2
**
** Numbers are decimal digits; spaces are blanks, tabs and newlines, also around
** the list. The empty set, a column named twice, a column that the table does
** not have and a mixture of both forms are errors. A whole number is read as its
** digits.
*/
#include <string.h>

#include "rf.h"

static int is_space(char c){
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static int is_digit(char c){
  return c >= '0' && c <= '9';
}

/* Makes *message from sqlite3_mprintf's result and says which code to return. */
static int fail(char **message, char *text){
  *message = text;
  return text ? SQLITE_ERROR : SQLITE_NOMEM;
}

/*
** Reads the `bytes` bytes of `text` and notes in `named` each column's place in
** the text, -1 for those not named. *exclude tells the form, *count the numbers.
*/
static int read_numbers(
  const char *function, const char *text, int bytes, int columns,
  int *named, int *count, int *exclude, char **message
){
  int at = 0;
  *count = 0;
  *exclude = 0;
  for(;;){
    int start, minus = 0, number = 0;
    while( at < bytes && is_space(text[at]) ) at++;
    if( at >= bytes ) return SQLITE_OK;
    start = at;
    if( text[at] == '-' ){
      minus = 1;
      at++;
    }
    if( at >= bytes || !is_digit(text[at]) ){
      return fail(message, sqlite3_mprintf(
          "%s: columns: not a column number at byte %d; write zero-based numbers such as"
          " '0 1', or '-2' for all but column 2", function, start));
    }
    while( at < bytes && is_digit(text[at]) ){
      /* Past the last column the exact number no longer matters. */
      if( number < columns ) number = number * 10 + (text[at] - '0');
      at++;
    }
    if( at < bytes && !is_space(text[at]) ){
      return fail(message, sqlite3_mprintf(
          "%s: columns: unexpected character at byte %d; separate the column numbers by"
          " spaces", function, at));
    }
    if( number >= columns ){
      return fail(message, sqlite3_mprintf(
          "%s: columns: no column %.*s at byte %d; the table has columns 0 to %d",
          function, at - start - minus > 20 ? 20 : at - start - minus,
          text + start + minus, start, columns - 1));
    }
    if( *count > 0 && minus != *exclude ){
      return fail(message, sqlite3_mprintf(
          "%s: columns: numbers with and without '-' at byte %d; name either the columns"
          " of the set or those to leave out", function, start));
    }
    if( named[number] >= 0 ){
      return fail(message, sqlite3_mprintf(
          "%s: columns: column %d is named twice, again at byte %d",
          function, number, start));
    }
    *exclude = minus;
    named[number] = (*count)++;
  }
}

int rf_column_set_text(
  sqlite3_value *value, rf_column_set_digits *digits, const char **text, int *bytes
){
  sqlite3_int64 number;

  *text = 0;
  *bytes = 0;
  if( sqlite3_value_type(value) == SQLITE_TEXT ){
    *text = (const char *)sqlite3_value_text(value);
    if( *text == 0 ) return SQLITE_NOMEM;
    *bytes = sqlite3_value_bytes(value);
  }else if( rf_value_whole(value, &number) ){
    sqlite3_snprintf((int)sizeof(digits->text), digits->text, "%lld", number);
    *text = digits->text;
    *bytes = (int)strlen(digits->text);
  }
  return SQLITE_OK;
}

int rf_column_set_parse(
  const char *function, sqlite3_value *value, int columns,
  rf_column_set **set, char **message
){
  const sqlite3_uint64 room = (sqlite3_uint64)(columns > 0 ? columns : 0);
  rf_column_set_digits digits;
  const char *text;
  rf_column_set *made;
  int *column, *place;
  int bytes, count, exclude, rc;

  *set = 0;
  rc = rf_column_set_text(value, &digits, &text, &bytes);
  if( rc != SQLITE_OK ) return rc;
  if( text == 0 ){
    return fail(message, sqlite3_mprintf(
        "%s: columns must be a text of zero-based column numbers such as '0 1', or '-2'"
        " for all but column 2", function));
  }

  made = sqlite3_malloc64(sizeof(*made) + 2 * room * sizeof(int));
  if( made == 0 ) return SQLITE_NOMEM;
  column = (int *)&made[1];
  place = column + room;
  for(int i = 0; i < columns; i++) place[i] = -1;
  rc = read_numbers(function, text, bytes, columns, place, &count, &exclude, message);
  if( rc == SQLITE_OK && exclude ){
    /* The other columns, in the order of the table. */
    count = 0;
    for(int i = 0; i < columns; i++) place[i] = place[i] < 0 ? count++ : -1;
  }
  if( rc == SQLITE_OK && count == 0 ){
    rc = fail(message, sqlite3_mprintf(
        "%s: columns: the set is empty; name at least one column, such as '0'", function));
  }
  if( rc != SQLITE_OK ){
    sqlite3_free(made);
    return rc;
  }
  for(int i = 0; i < columns; i++){
    if( place[i] >= 0 ) column[place[i]] = i;
  }
  made->count = count;
  made->columns = columns;
  made->column = column;
  made->place = place;
  *set = made;
  return SQLITE_OK;
}
