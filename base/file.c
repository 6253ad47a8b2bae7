/* Whole files and folders. Writes survive a crash of the machine: data first, then the name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/pki.h"
#include "base/strbuf.h"

static void fd_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define auto_fd __attribute__((cleanup(fd_close))) int

static int file_error(struct error *err, const char *verb, const char *path)
{
	enum error_code code = ERR_INTERNAL;

	if (errno == ENOENT || errno == ENOTDIR)
		code = ERR_NOT_FOUND;
	else if (errno == EACCES || errno == EPERM)
		code = ERR_FORBIDDEN;
	return error_set(err, code, "%s \"%s\": %s", verb, path, strerror(errno));
}

int file_read(const char *path, char **ret_bytes, size_t *ret_size, struct error *err)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	auto_strbuf text = {0};
	char piece[16384];
	ssize_t n;

	if (fd < 0)
		return file_error(err, "read", path);
	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_error(err, "read", path);
		strbuf_add(&text, piece, (size_t)n);
	}
	if (ret_size)
		*ret_size = text.size;
	*ret_bytes = strbuf_take(&text);
	return 0;
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* The rename is in the folder, so the folder is what must reach the disk. */
static int sync_parent(const char *path)
{
	auto_xfree char *parent = parent_of(path);
	auto_fd fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : fsync(fd);
}

static int fill_temporary(const char *temporary, const void *bytes, size_t n, unsigned mode)
{
	auto_fd fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0)
		return -1;
	/* The umask must not decide who can read a key. */
	return fchmod(fd, mode) < 0 || write_all(fd, bytes, n) < 0 || fsync(fd) < 0 ? -1 : 0;
}

int file_write(const char *path, const void *bytes, size_t n, unsigned mode, struct error *err)
{
	auto_xfree char *temporary = xasprintf("%s.%d.new", path, (int)getpid());

	unlink(temporary); /* of an earlier process with this id */
	if (fill_temporary(temporary, bytes, n, mode) < 0 || rename(temporary, path) < 0) {
		file_error(err, "write", path);
		unlink(temporary);
		return -1;
	}
	if (sync_parent(path) < 0)
		return file_error(err, "write", path);
	return 0;
}

static int make_one(const char *path, unsigned mode)
{
	struct stat st;

	if (mkdir(path, mode) == 0)
		return 0;
	if (errno != EEXIST)
		return -1;
	if (stat(path, &st) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		return -1;
	}
	return 0;
}

int dir_make(const char *path, unsigned mode, struct error *err)
{
	auto_xfree char *part = xstrdup(path);

	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (make_one(part, mode) < 0)
			return file_error(err, "make folder", part);
		*at = '/';
	}
	if (make_one(part, mode) < 0)
		return file_error(err, "make folder", path);
	return 0;
}
