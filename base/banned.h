/* Functions that have no safe use; the compiler refuses them everywhere. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison gets strtok sprintf vsprintf strcpy strcat strncpy strncat atoi atol atoll
#pragma GCC poison gmtime localtime ctime asctime tmpnam mktemp

#endif
