/* Small files as a plain loop: the same calls as `tree_worker.py make`, and nothing counted.

   small_files_loop LIST DIRECTORY
   LIST has a line "SIZE PATH" for each file; a line "0 PATH/" is a directory. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POOL = 8 << 20, WRITE = 1 << 20 };

static char pool[POOL];

static void check(long result) {
    if (result < 0) {
        perror("small_files_loop");
        exit(1);
    }
}

static void create(const char *path, long size) {
    int descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    check(descriptor);
    while (size > 0) {
        long length = size < WRITE ? size : WRITE;
        ssize_t written = write(descriptor, pool + lrand48() % (POOL - length), length);
        check(written);
        size -= written;
    }
    close(descriptor);
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    FILE *list = fopen(arguments[1], "r");
    if (list == NULL) return 1;
    check(mkdir(arguments[2], 0755));
    check(chdir(arguments[2]));
    for (size_t i = 0; i < sizeof pool; i++) pool[i] = lrand48();
    static char path[4096];
    long size;
    while (fscanf(list, "%ld %4095[^\n]\n", &size, path) == 2)
        if (path[strlen(path) - 1] == '/') check(mkdir(path, 0755));
        else create(path, size);
    return 0;
}
