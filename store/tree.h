/* Ordered trees: libbsd's <sys/tree.h>, of which only macros are used. Include this. */
#ifndef STORE_TREE_H
#define STORE_TREE_H

#include <bsd/sys/tree.h>

/* Defines the functions behind RB_INSERT(), RB_NEXT() ..., private to the file. */
#define TREE_DEFINE(name, type, field, compare)                                                    \
	RB_PROTOTYPE_INTERNAL(name, type, field, compare, __attribute__((unused)) static)          \
	RB_GENERATE_INTERNAL(name, type, field, compare, __attribute__((unused)) static)

#endif
