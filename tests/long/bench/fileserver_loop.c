/* The file-server mix as a plain loop: the same calls as fileserver_worker.py, one process, nothing counted but loops.

   fileserver_loop DIRECTORY FILES MEAN_FILE MEAN_APPEND SECONDS
   The directories and four fifths of the files exist; file sizes are gamma-distributed with shape 1.5. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { IO_BYTES = 1 << 20, WIDTH = 20 };

static char directory[4096], content[2 * IO_BYTES], buffer[IO_BYTES];
static long files, depth;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(long result) {
    if (result < 0) {
        perror("fileserver_loop");
        exit(1);
    }
}

static const char *path_of(long number) {
    static char path[8192];
    char parts[256] = "";
    long digits[16], rest = number / WIDTH;
    int length = 0;
    for (int i = 0; i < depth; i++, rest /= WIDTH) digits[i] = rest % WIDTH;
    for (int i = depth - 1; i >= 0; i--) length += sprintf(parts + length, "%02ld/", digits[i]);
    snprintf(path, sizeof path, "%s/%sfile-%08ld", directory, parts, number);
    return path;
}

/* Gamma with shape 1.5 is half a squared normal plus an exponential. */
static long size_of(double mean) {
    double u = 1 - drand48(), v = drand48(), w = 1 - drand48();
    double normal = sqrt(-2 * log(u)) * cos(2 * M_PI * v);
    return (long)((normal * normal / 2 - log(w)) * mean / 1.5) + 1;
}

static void write_whole(int descriptor, long size, long offset) {
    while (size > 0) {
        ssize_t written = write(descriptor, content + offset, size < IO_BYTES ? size : IO_BYTES);
        check(written);
        size -= written;
    }
}

static long take(long *list, long *count) {
    long at = lrand48() % *count, number = list[at];
    list[at] = list[--*count];
    return number;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    snprintf(directory, sizeof directory, "%s", arguments[1]);
    files = atol(arguments[2]);
    double mean_file = atof(arguments[3]), mean_append = atof(arguments[4]), seconds = atof(arguments[5]);
    depth = (long)ceil(log(files) / log(WIDTH)) - 1;
    for (size_t i = 0; i < sizeof content; i++) content[i] = lrand48();
    long *present = malloc(files * sizeof *present), *absent = malloc(files * sizeof *absent);
    long presents = 0, absents = 0, operations = 0;
    for (long number = 0; number < files; number++)
        if (number % 5 < 4) present[presents++] = number;
        else absent[absents++] = number;
    double began = now();
    struct stat status;
    while (now() - began < seconds) {
        long number = take(absent, &absents);
        int descriptor = open(path_of(number), O_CREAT | O_EXCL | O_WRONLY, 0644);
        check(descriptor);
        write_whole(descriptor, size_of(mean_file), lrand48() % IO_BYTES);
        close(descriptor);
        present[presents++] = number;
        check(descriptor = open(path_of(present[lrand48() % presents]), O_WRONLY | O_APPEND));
        write_whole(descriptor, 1 + lrand48() % (long)(2 * mean_append - 1), lrand48() % IO_BYTES);
        close(descriptor);
        check(descriptor = open(path_of(present[lrand48() % presents]), O_RDONLY));
        while (read(descriptor, buffer, IO_BYTES) > 0) continue;
        close(descriptor);
        number = take(present, &presents);
        check(unlink(path_of(number)));
        absent[absents++] = number;
        check(stat(path_of(present[lrand48() % presents]), &status));
        operations += 11;
    }
    printf("%.1f\n", operations / (now() - began));
    return 0;
}
