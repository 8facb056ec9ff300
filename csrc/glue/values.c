/*
** SQL values as texts, and how a function ends with an error.
*/
#include <string.h>

#include "rf.h"

int rf_value_text(sqlite3_value *value, const char **text, int *bytes){
  *text = 0;
  *bytes = 0;
  if( sqlite3_value_type(value) == SQLITE_NULL ) return SQLITE_OK;
  *text = (const char *)sqlite3_value_text(value);
  *bytes = sqlite3_value_bytes(value);
  if( *text == 0 ){
    /* An empty blob has no address; otherwise the conversion ran out of memory. */
    if( sqlite3_value_type(value) != SQLITE_BLOB || *bytes != 0 ) return SQLITE_NOMEM;
    *text = "";
  }
  return SQLITE_OK;
}

void rf_result_error(sqlite3_context *context, int rc, char *message){
  if( rc == SQLITE_NOMEM ){
    sqlite3_result_error_nomem(context);
  }else if( message ){
    sqlite3_result_error(context, message, -1);
    if( rc != SQLITE_ERROR ) sqlite3_result_error_code(context, rc);
  }else{
    sqlite3_result_error_code(context, rc);
  }
  sqlite3_free(message);
}

int rf_value_whole(sqlite3_value *value, sqlite3_int64 *number){
  /* Beyond this a REAL stands for more than one integer. */
  const double exact = 9007199254740992.0;
  double real;

  *number = 0;
  switch( sqlite3_value_type(value) ){
    case SQLITE_INTEGER:
      *number = sqlite3_value_int64(value);
      return 1;
    case SQLITE_FLOAT:
      real = sqlite3_value_double(value);
      if( !(real >= -exact && real <= exact) ) return 0;
      *number = (sqlite3_int64)real;
      return (double)*number == real;
    default:
      return 0;
  }
}

void rf_put_int32(unsigned char *to, int number){
  const unsigned int bits = (unsigned int)number;
  for(int i = 0; i < 4; i++) to[i] = (unsigned char)(bits >> (8 * i));
}

int rf_values_read(int count, sqlite3_value **values, rf_values *read){
  int rc = SQLITE_OK;
  read->room = 0;
  read->text = read->usual_text;
  read->bytes = read->usual_bytes;
  if( count > RF_USUAL_VALUES ){
    read->room = sqlite3_malloc64((sqlite3_uint64)count * (sizeof(char *) + sizeof(int)));
    if( read->room == 0 ) return SQLITE_NOMEM;
    read->text = read->room;
    read->bytes = (int *)&read->text[count];
  }
  for(int i = 0; rc == SQLITE_OK && i < count; i++){
    rc = rf_value_text(values[i], &read->text[i], &read->bytes[i]);
  }
  return rc;
}

void rf_values_free(rf_values *read){
  sqlite3_free(read->room);
}
