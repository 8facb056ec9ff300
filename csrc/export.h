/*
** What the library shows to the outside. Everything else is hidden
** (-fvisibility=hidden), so that two copies of the library in one process
** never bind to each other's symbols.
*/
#ifndef RF_EXPORT_H
#define RF_EXPORT_H

#if defined(_WIN32)
#  define RF_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#  define RF_EXPORT __attribute__((visibility("default")))
#else
#  define RF_EXPORT
#endif

#endif
