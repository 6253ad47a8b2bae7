/* Times and durations as text. */
#include "base/encode.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"

#define NS_PER_S 1000000000LL

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t format_seconds(char out[TIME_SIZE], int64_t wall_ns)
{
	time_t seconds = floor_div(wall_ns, NS_PER_S);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	return wall_ns - seconds * NS_PER_S;
}

void time_format(char out[TIME_SIZE], int64_t wall_ns)
{
	format_seconds(out, wall_ns);
	memcpy(out + strlen(out), "Z", 2);
}

void time_format_micro(char out[TIME_SIZE], int64_t wall_ns)
{
	int64_t rest = format_seconds(out, wall_ns);
	size_t used = strlen(out);

	snprintf(out + used, TIME_SIZE - used, ".%06dZ", (int)(rest / 1000));
}

/* Exactly `digits` digits that make a number from low to high, then the byte `after` (0: none). */
static bool take_digits(const char **at, int digits, int low, int high, char after, int *ret)
{
	const char *s = *at;
	int value = 0;

	for (; digits; digits--, s++) {
		if (*s < '0' || *s > '9')
			return false;
		value = value * 10 + (*s - '0');
	}
	if (value < low || value > high)
		return false;
	if (after && *s++ != after && !(after == 'T' && s[-1] == 't'))
		return false;
	*at = s;
	*ret = value;
	return true;
}

static bool take_fraction(const char **at, int64_t *ret_ns)
{
	const char *s = *at;
	int64_t unit = NS_PER_S, ns = 0;

	if (*s == '.') {
		const char *digits = ++s;

		for (; *s >= '0' && *s <= '9'; s++) {
			unit /= 10;
			ns += (*s - '0') * unit;
		}
		if (s == digits)
			return false;
	}
	*at = s;
	*ret_ns = ns;
	return true;
}

static bool take_offset(const char **at, int *ret_s)
{
	const char *s = *at;
	int sign, hours, minutes;

	if (*s == 'Z' || *s == 'z') {
		*at = s + 1;
		*ret_s = 0;
		return true;
	}
	if (*s != '+' && *s != '-')
		return false;
	sign = *s++ == '-' ? -1 : 1;
	if (!take_digits(&s, 2, 0, 23, ':', &hours) || !take_digits(&s, 2, 0, 59, 0, &minutes))
		return false;
	*at = s;
	*ret_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

/* timegm() takes 31 February for 3 March and says so in its argument; RFC 3339 has no such day. */
static bool seconds_of(struct tm tm, time_t *ret_seconds)
{
	int day = tm.tm_mday;

	*ret_seconds = timegm(&tm);
	return tm.tm_mday == day;
}

int time_parse(const char *text, int64_t *ret_wall_ns)
{
	struct tm tm = {0};
	int64_t fraction, ns;
	time_t seconds;
	int offset;

	if (!take_digits(&text, 4, 0, 9999, '-', &tm.tm_year) ||
	    !take_digits(&text, 2, 1, 12, '-', &tm.tm_mon) ||
	    !take_digits(&text, 2, 1, 31, 'T', &tm.tm_mday) ||
	    !take_digits(&text, 2, 0, 23, ':', &tm.tm_hour) ||
	    !take_digits(&text, 2, 0, 59, ':', &tm.tm_min) ||
	    !take_digits(&text, 2, 0, 59, 0, &tm.tm_sec) || !take_fraction(&text, &fraction) ||
	    !take_offset(&text, &offset) || *text)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	if (!seconds_of(tm, &seconds) || __builtin_mul_overflow(seconds - offset, NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, fraction, &ns))
		return -1;
	*ret_wall_ns = ns;
	return 0;
}

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	/* a name that another begins with comes after it */
	{"ns", 1},       {"us", 1000},    {"\xc2\xb5s", 1000},  {"\xce\xbcs", 1000},
	{"ms", 1000000}, {"s", NS_PER_S}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
};

static int64_t take_unit(const char **at)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(*at, units[i].name, n))
			continue;
		*at += n;
		return units[i].ns;
	}
	return 0;
}

/* "1.5h": digits, perhaps a fraction, a unit. */
static bool take_term(const char **at, int64_t *ret_ns)
{
	const char *s = *at;
	int64_t whole = 0, part = 0, part_unit = 1, unit, ns;
	bool any = false;

	for (; *s >= '0' && *s <= '9'; s++, any = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *s - '0', &whole))
			return false;
	if (*s == '.') {
		for (s++; *s >= '0' && *s <= '9'; s++, any = true) {
			if (part_unit >= 1000000000000000) /* finer than a nanosecond of an hour */
				continue;
			part = part * 10 + (*s - '0');
			part_unit *= 10;
		}
	}
	unit = any ? take_unit(&s) : 0;
	if (!unit || __builtin_mul_overflow(whole, unit, &ns))
		return false;
	/* 10^15 times an hour's 3.6 * 10^12 ns needs more than 64 bits */
	if (__builtin_add_overflow(ns, (int64_t)((__int128)part * unit / part_unit), &ns))
		return false;
	*at = s;
	*ret_ns = ns;
	return true;
}

int duration_parse(const char *text, int64_t *ret_ns)
{
	bool negative = *text == '-';
	int64_t sum = 0, term;

	if (*text == '-' || *text == '+')
		text++;
	if (strcmp(text, "0") == 0) {
		*ret_ns = 0;
		return 0;
	}
	do {
		if (!take_term(&text, &term) || __builtin_add_overflow(sum, term, &sum))
			return -1;
	} while (*text);
	*ret_ns = negative ? -sum : sum;
	return 0;
}

#define MINUTE 60LL
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

/* As kubectl shortens an age: below so many seconds, this unit and that much finer one. */
static const struct {
	int64_t below, unit;
	char name;
	int64_t fine;
	char fine_name;
} forms[] = {
	{2 * MINUTE, 1, 's', 0, 0},    {10 * MINUTE, MINUTE, 'm', 1, 's'},
	{3 * HOUR, MINUTE, 'm', 0, 0}, {8 * HOUR, HOUR, 'h', MINUTE, 'm'},
	{2 * DAY, HOUR, 'h', 0, 0},    {8 * DAY, DAY, 'd', HOUR, 'h'},
	{2 * YEAR, DAY, 'd', 0, 0},    {8 * YEAR, YEAR, 'y', DAY, 'd'},
	{INT64_MAX, YEAR, 'y', 0, 0},
};

int64_t time_between(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (!__builtin_sub_overflow(to_ns, from_ns, &ns))
		return ns;
	return to_ns > from_ns ? INT64_MAX : INT64_MIN;
}

void duration_format(char out[TIME_SIZE], int64_t ns)
{
	int64_t s = ns > 0 ? ns / NS_PER_S : 0;
	size_t i = 0;
	int64_t fine;

	while (s >= forms[i].below)
		i++;
	fine = forms[i].fine ? s % forms[i].unit / forms[i].fine : 0;
	if (fine)
		snprintf(out, TIME_SIZE, "%lld%c%lld%c", (long long)(s / forms[i].unit),
			 forms[i].name, (long long)fine, forms[i].fine_name);
	else
		snprintf(out, TIME_SIZE, "%lld%c", (long long)(s / forms[i].unit), forms[i].name);
}
