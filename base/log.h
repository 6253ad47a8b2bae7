/*
 * Log lines on stderr: `2026-11-29T17:46:46.123Z INFO placement: text`. Only the edge of a program
 * logs; lower case, no full stop, says what was being done and quotes the user's value.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);                         /* INFO when not called */
int log_level_parse(const char *name, enum log_level *ret_level); /* "debug"; -1 when unknown */
void log_at(enum log_level level, const char *area, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(area, ...) log_at(LOG_ERROR, area, __VA_ARGS__)
#define log_warn(area, ...)  log_at(LOG_WARN, area, __VA_ARGS__)
#define log_info(area, ...)  log_at(LOG_INFO, area, __VA_ARGS__)
#define log_debug(area, ...) log_at(LOG_DEBUG, area, __VA_ARGS__)

#endif
