/* UTF-8, by the table of well-formed byte sequences (Unicode 15, table 3-7). */
#include "base/encode.h"

#include <string.h>

size_t utf8_length(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (!n || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
		return 0;
	need = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < need)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (need > 1 && (p[1] < low || p[1] > high))
		return 0;
	for (size_t i = 2; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

bool utf8_valid(const char *s, size_t n)
{
	while (n) {
		size_t used;
		uint64_t eight;

		if (n >= sizeof(eight)) {
			memcpy(&eight, s, sizeof(eight));
			if (!(eight & 0x8080808080808080ULL)) {
				s += sizeof(eight);
				n -= sizeof(eight);
				continue;
			}
		}
		used = utf8_length(s, n);
		if (!used)
			return false;
		s += used;
		n -= used;
	}
	return true;
}

size_t utf8_cut(const char *s, size_t n)
{
	size_t start = n;

	while (start && n - start < 3 && ((unsigned char)s[start - 1] & 0xc0) == 0x80)
		start--;
	if (!start || (unsigned char)s[start - 1] < 0xc0)
		return n;
	return utf8_length(s + start - 1, n - start + 1) ? n : start - 1;
}

size_t utf8_encode(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}
