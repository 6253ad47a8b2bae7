/*
 * Memory: allocation that does not fail (out of memory ends the process: a control plane that
 * runs on half-made state is worse than one that restarts), cleanup attributes, arenas.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));

#define xnew0(type)                   ((type *)xcalloc(1, sizeof(type)))
#define ARRAY_LEN(a)                  (sizeof(a) / sizeof((a)[0]))
#define container_of(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

/* Makes room for one more element; n is the count in use, cap the capacity. */
#define GROW(array, n, cap)                                                                        \
	((n) < (cap) ? (void)0                                                                     \
		     : (void)((cap) = (cap) ? (cap)*2 : 8,                                         \
			      (array) = xrealloc((array), (cap), sizeof(*(array)))))

/* auto_free(fn) before a local pointer calls fn(pointer) when the scope ends, NULL included. */
#define DEFINE_CLEANUP(type, fn)                                                                   \
	static inline void fn##_p(type **p)                                                        \
	{                                                                                          \
		fn(*p);                                                                            \
	}
#define auto_free(fn) __attribute__((cleanup(fn##_p)))

static inline void xfree_p(void *p)
{
	free(*(void **)p);
}
#define auto_xfree __attribute__((cleanup(xfree_p)))

/* Hands a pointer out of a scope that would free it. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__auto_type take_ptr_ = (p);                                                       \
		(p) = NULL;                                                                        \
		take_ptr_;                                                                         \
	})

/* An arena: many small allocations that end together. Zeroed, aligned to 16 bytes. */
struct arena {
	struct arena_block *blocks;
};

void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
char *arena_strdup(struct arena *a, const char *s); /* NULL stays NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_finish(struct arena *a); /* frees all, leaves it empty */

#define arena_new(a, type)      ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (n)))

#endif
