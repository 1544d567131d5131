// SPDX-License-Identifier: MIT
/* What the disks hold, in sparse files of the host. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store.h"

/* All of the file, which is made; NULL where that fails. */
void *store_map(const char *path, unsigned long bytes)
{
	void *mapped = MAP_FAILED;
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (file >= 0 && ftruncate(file, bytes) == 0)
		mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (file >= 0)
		close(file);
	return mapped == MAP_FAILED ? NULL : mapped;
}

/* These bytes are zeros from now on, and take no room. */
void store_forget(void *at, unsigned long bytes)
{
	madvise(at, bytes, MADV_REMOVE);
}
