// SPDX-License-Identifier: MIT
/*
 * A disk in real time, as a plugin of nbdkit: its model says when a request is done, and the answer waits until then.
 * What is stored lies in memory. Parameters: model=hdd or ssd, size=BYTES.
 *
 * hdd: the first gigabytes of a desktop disk of 256 GB, 7,200 turns a minute. One arm does one thing after another. A seek
 *   takes 1 ms, and up to 15 more by the root of its distance; then the place has to come round, so that what goes on
 *   where the heads are costs its transfer alone. 120 MB pass below them a second. After a read they stay and read on.
 *   Writes are done as soon as they lie in the disk's cache, from which the arm takes them in the order of their places:
 *   when it has nothing else to do, when half the cache is full, and all of them at a flush, which holds up what comes
 *   later, as on a SATA bus. A write that finds the cache full waits for room. FUA is a flush, by nbdkit.
 *
 * ssd: a SATA SSD. 450 MB/s, each way; 60 to 100 us until it answers, to as many requests at once as nbdkit has threads.
 *   A flush takes 0.8 ms from when all is written that lies in its cache. Discards are free.
 */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

#define NS_PER_S 1000000000LL
#define PAGE 4096LL
#define MIB (1LL << 20)
#define CACHE_BYTES (64 * MIB)
#define SPIN_NS 50000	/* sleeping ends this much earlier: a processor may wake up late */

static int64_t size_bytes;
static uint8_t *content;
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t larger(int64_t one, int64_t other) { return one > other ? one : other; }
static int64_t smaller(int64_t one, int64_t other) { return one < other ? one : other; }

/*
 * The hard disk. Its clock counts bytes that pass below the heads, so that the time modulo a track is the place on the
 * track that is there now, and no rounding makes a sequential request miss it by a turn.
 */
#define BYTES_PER_S 120000000LL
#define MS (BYTES_PER_S / 1000)
#define TRACK (BYTES_PER_S * 60 / 7200)
#define LEAST_SEEK (1 * MS)
#define FULL_SEEK (15 * MS)
#define SPAN 256e9
#define READ_ON (4 * MIB)	/* so far the heads read ahead, and so much is remembered of what was read */
#define PIECE (MIB / 2)		/* written from the cache at a time */
#define LINGER (50 * MS)	/* the arm begins to write when nothing came for so long */

static int64_t head;		/* where it is */
static int64_t busy_until;	/* by what the arm has begun */
static int reading;		/* whether it reads on behind what it read last */
static int64_t known_from, known_to;	/* read, and remembered */
static uint64_t *dirty_map;	/* a bit for a page in the cache */
static int64_t pages, dirty;
static int64_t write_from;	/* when the arm may write what is in the cache, if it has time */

static int is_dirty(int64_t page) { return dirty_map[page / 64] >> page % 64 & 1; }

/* The first page in the cache at or after this one; there is one at or before the last page. */
static int64_t next_dirty(int64_t page)
{
	int64_t word = page / 64;
	uint64_t bits = dirty_map[word] & ~0ULL << page % 64;

	while (!bits) {
		word = (word + 1) % (pages / 64 + 1);
		bits = dirty_map[word];
	}
	return word * 64 + __builtin_ctzll(bits);
}

/* When the arm is through with these bytes. */
static int64_t moved(int64_t begin, int64_t place, int64_t length)
{
	int64_t distance = llabs(place - head), turn;

	if (distance >= TRACK)
		begin += LEAST_SEEK + (int64_t)(FULL_SEEK * sqrt(distance / SPAN));
	turn = (place - begin) % TRACK;
	head = place + length;
	return begin + (turn < 0 ? turn + TRACK : turn) + length;
}

/* Writes the next piece, after all places the first one again. */
static void write_piece(int64_t begin)
{
	int64_t first = next_dirty(head / PAGE % pages), page = first;

	for (; page < pages && page < first + PIECE / PAGE && is_dirty(page); page++)
		dirty_map[page / 64] &= ~(1ULL << page % 64);
	dirty -= page - first;
	if (reading)
		known_to += smaller(READ_ON, larger(0, begin - busy_until));
	reading = 0;
	busy_until = moved(begin, first * PAGE, (page - first) * PAGE);
}

/* What the arm did by itself until now. */
static void catch_up(int64_t now)
{
	while (dirty && larger(busy_until, write_from) < now)
		write_piece(larger(busy_until, write_from));
	if (dirty <= CACHE_BYTES / 2 / PAGE)
		write_from = now + LINGER;
}

static int64_t hdd_read(int64_t now, int64_t place, int64_t length)
{
	int64_t page = place / PAGE, last = (place + length - 1) / PAGE, end = place + length, read_on;

	catch_up(now);
	while (page <= last && is_dirty(page))
		page++;
	if (page > last || (known_from <= place && end <= known_to))
		return now;
	read_on = reading ? larger(0, now - busy_until) : 0;
	if (reading && known_from <= place && place - known_to < TRACK && read_on < READ_ON) {
		busy_until += end - known_to;	/* it comes, or has passed already, without a seek */
		head = known_to = end;
		known_from = larger(known_from, end - READ_ON);
		return larger(busy_until, now);
	}
	if (known_from <= place && end <= known_to + smaller(read_on, READ_ON))
		return now;
	busy_until = moved(larger(busy_until, now), place, length);
	known_from = place;
	known_to = end;
	reading = 1;
	return busy_until;
}

static int64_t hdd_write(int64_t now, int64_t place, int64_t length)
{
	int64_t page, last = (place + length - 1) / PAGE;

	catch_up(now);
	for (page = place / PAGE; page <= last; page++) {
		dirty += !is_dirty(page);
		dirty_map[page / 64] |= 1ULL << page % 64;
	}
	if (dirty > CACHE_BYTES / 2 / PAGE)
		write_from = smaller(write_from, now);
	if (dirty <= CACHE_BYTES / PAGE)
		return now;
	while (dirty > CACHE_BYTES / PAGE)
		write_piece(larger(busy_until, now));
	return busy_until;
}

static int64_t hdd_flush(int64_t now)
{
	catch_up(now);
	while (dirty)
		write_piece(larger(busy_until, now));
	return larger(busy_until, now);
}

/* The SSD. Its clock counts nanoseconds. */
#define SSD_NS(bytes) ((bytes) * 20 / 9)
#define FLUSH_NS 800000

static int64_t read_until, written_until;

static int64_t latency_ns(int64_t place)
{
	return 60000 + place / PAGE * 7919 % 40001;
}

static int64_t ssd_read(int64_t now, int64_t place, int64_t length)
{
	read_until = larger(read_until, now) + SSD_NS(length);
	return read_until + latency_ns(place);
}

static int64_t ssd_write(int64_t now, int64_t place, int64_t length)
{
	written_until = larger(written_until, now) + SSD_NS(length);
	return larger(now + latency_ns(place), written_until - SSD_NS(CACHE_BYTES));
}

static int64_t ssd_flush(int64_t now)
{
	return larger(written_until, now) + FLUSH_NS;
}

static const struct model {
	const char *name;
	int64_t ticks_per_s;
	/* When it is done that comes now, in ticks. */
	int64_t (*read)(int64_t now, int64_t place, int64_t length);
	int64_t (*write)(int64_t now, int64_t place, int64_t length);
	int64_t (*flush)(int64_t now);
} models[] = {
	{ "hdd", BYTES_PER_S, hdd_read, hdd_write, hdd_flush },
	{ "ssd", NS_PER_S, ssd_read, ssd_write, ssd_flush },
}, *model = &models[0];

static int64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Ticks since the disk was made, or nanoseconds; in two steps, as their product would not fit into 64 bits. */
static int64_t converted(int64_t value, int64_t from_per_s, int64_t to_per_s)
{
	return value / from_per_s * to_per_s + value % from_per_s * to_per_s / from_per_s;
}

static int64_t now_ticks(void) { return converted(monotonic_ns(), NS_PER_S, model->ticks_per_s); }

static void wait_until(int64_t ticks)
{
	int64_t end = converted(ticks, model->ticks_per_s, NS_PER_S), early = end - SPIN_NS;
	struct timespec until = { early / NS_PER_S, early % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	while (monotonic_ns() < end)
		;
}

static int disk_config(const char *key, const char *value)
{
	size_t i;

	if (!strcmp(key, "size")) {
		size_bytes = nbdkit_parse_size(value);
		return size_bytes > 0 ? 0 : -1;
	}
	for (i = 0; !strcmp(key, "model") && i < sizeof(models) / sizeof(*models); i++)
		if (!strcmp(value, models[i].name)) {
			model = &models[i];
			return 0;
		}
	nbdkit_error("no such setting: %s=%s", key, value);
	return -1;
}

static int disk_get_ready(void)
{
	pages = (size_bytes + PAGE - 1) / PAGE;
	dirty_map = calloc(pages / 64 + 1, sizeof(*dirty_map));
	content = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!size_bytes || !dirty_map || content == MAP_FAILED) {
		nbdkit_error("no disk of %lld bytes", (long long)size_bytes);
		return -1;
	}
	madvise(content, size_bytes, MADV_NOHUGEPAGE);	/* a page that is written takes no more than that */
	prctl(PR_SET_TIMERSLACK, 1);	/* for all threads to come */
	return 0;
}

static void *disk_open(int readonly)
{
	(void)readonly;
	return NBDKIT_HANDLE_NOT_NEEDED;
}

static int64_t disk_get_size(void *handle)
{
	(void)handle;
	return size_bytes;
}

static int disk_is_rotational(void *handle)
{
	(void)handle;
	return model == &models[0];
}

static int disk_can_trim(void *handle)
{
	return !disk_is_rotational(handle);
}

/* All connections see the same content, and a flush is for all. */
static int disk_can_multi_conn(void *handle)
{
	(void)handle;
	return 1;
}

/* Reads as zeros from now on, and takes no memory. */
static void forget(uint64_t place, uint32_t length)
{
	uint64_t first = (place + PAGE - 1) / PAGE * PAGE, end = place + length, last = end / PAGE * PAGE;

	if (first >= last) {
		memset(content + place, 0, length);
		return;
	}
	memset(content + place, 0, first - place);
	memset(content + last, 0, end - last);
	madvise(content + first, last - first, MADV_DONTNEED);
}

static int disk_pread(void *handle, void *buffer, uint32_t length, uint64_t place, uint32_t flags)
{
	int64_t done;

	(void)handle, (void)flags;
	pthread_mutex_lock(&model_lock);
	done = model->read(now_ticks(), place, length);
	pthread_mutex_unlock(&model_lock);
	memcpy(buffer, content + place, length);
	wait_until(done);
	return 0;
}

static int disk_pwrite(void *handle, const void *buffer, uint32_t length, uint64_t place, uint32_t flags)
{
	int64_t done;

	(void)handle, (void)flags;
	pthread_mutex_lock(&model_lock);
	done = model->write(now_ticks(), place, length);
	pthread_mutex_unlock(&model_lock);
	if (length > PAGE && !*(const char *)buffer && !memcmp(buffer, (const char *)buffer + 1, length - 1))
		forget(place, length);	/* images are filled with zeros */
	else
		memcpy(content + place, buffer, length);
	wait_until(done);
	return 0;
}

static int disk_flush(void *handle, uint32_t flags)
{
	int64_t done;

	(void)handle, (void)flags;
	pthread_mutex_lock(&model_lock);
	done = model->flush(now_ticks());
	pthread_mutex_unlock(&model_lock);
	wait_until(done);
	return 0;
}

static int disk_trim(void *handle, uint32_t length, uint64_t place, uint32_t flags)
{
	(void)handle, (void)flags;
	forget(place, length);
	return 0;
}

static struct nbdkit_plugin plugin = {
	.name = "disk",
	.config = disk_config,
	.get_ready = disk_get_ready,
	.open = disk_open,
	.get_size = disk_get_size,
	.is_rotational = disk_is_rotational,
	.can_trim = disk_can_trim,
	.can_multi_conn = disk_can_multi_conn,
	.pread = disk_pread,
	.pwrite = disk_pwrite,
	.flush = disk_flush,
	.trim = disk_trim,
};

NBDKIT_REGISTER_PLUGIN(plugin)
