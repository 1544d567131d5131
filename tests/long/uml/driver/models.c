// SPDX-License-Identifier: MIT
/*
 * The models: a conventional disk, a shingled one, a flash card and a SATA SSD.
 *
 * conventional: a desktop disk of 2015, 7,200 turns a minute, 8.5 ms for an average seek, 170 MB/s; the seek grows with
 *   the square root of the distance, of which random accesses have a mean of 0.53.
 *
 * shingled: the Seagate ST8000AS0002.
 * - 5,980 turns a minute, an average seek of 12 ms: its data sheet. 165 MB/s, which borg saw it write for hours:
 *   https://github.com/borgbackup/borg/issues/2252
 * - Writes that go on where one of the last ended pass the cache. All others go into it, in 21 ms for 1 MiB (46 MiB/s),
 *   with a stall of 0.3 s after 240 flushes: https://github.com/aicodix/smr, https://github.com/sssl/SMR-simulation
 * - The cache has room for 17 GiB of synchronous writes of 1 MiB, 23 of 2 MiB, 31 of 32 MiB (aicodix): as much as if it
 *   had 34 GiB, and a track of 1 MiB were left unfinished at each flush. How much room writes take between two flushes
 *   was not published; here they lie one after the other. Nor is it known where on the disk the cache lies: to go there
 *   from the data, or back, is an average seek.
 * - When it is full, the disk cleans two bands at a time, 0.5 s each: the rates beyond the cache by aicodix, 4 MiB/s in
 *   pieces of 2 MiB and 30 in pieces of 32. It cleans one after the other after a second without a request.
 *
 * card: a microSD card with allocation units of 4 MiB of which five are open, sequential and at random; 20.4 MB/s read,
 *   12 MB/s written in pieces of 512 KiB, 1.2 MB/s in pieces of 4 KiB: measured with flashbench,
 *   https://www.pctips.click/2020/04/toshiba-transmemory-u301-review.html. A read of 1 KiB takes 0.74 ms: README of
 *   flashbench. What is left of a unit when it is closed is copied at the rate of reading and writing one after the other.
 *
 * ssd: the SanDisk CloudSpeed Eco Gen. II of 1.92 TB by its data sheet: 530 and 460 MB/s, 76,000 random reads and 14,000
 *   random writes of 4 KiB a second. What it takes until it answers is that of the SATA bus and its controller.
 */
#include "models.h"

#define STREAMS 12
#define MOST_UNITS 64
#define NS_PER_US 1000ULL
#define NS_PER_S 1000000000ULL
#define MIB (1ULL << 20)
#define LEAST_SCATTERED (64ULL << 10)	/* a shorter write into the cache takes as long as this */
#define SAME_TRACKS (64 * MIB)		/* further ahead than this, what passes by takes more than a turn anyway */

struct unit {
	u64 number, end, written, used;
};

struct state {
	u64 at;				/* where the heads are: behind what was read or written last */
	u64 busy_until;
	u64 ends[STREAMS]; u32 next_end;	/* where the last writes ended */
	u64 tracks; int track;		/* begun in the cache; whether one is unfinished */
	int at_cache;			/* whether the heads are there */
	u64 *bytes;			/* in the cache, by band */
	u32 *queue, head, tail, bands;	/* bands with something in the cache, oldest first */
	struct unit units[MOST_UNITS]; u32 open; u64 clock;
};

struct kind {
	const char *name;
	u64 (*cost)(struct model *, enum operation, u64 offset, u64 length, u64 now_ns);
	struct figures usual;
};

#ifndef __KERNEL__
static u64 div64_u64(u64 a, u64 b) { return a / b; }

static u64 int_sqrt64(u64 of)
{
	u64 root = 0, bit;

	for (bit = 1ULL << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= of)
			root += bit;
	return root;
}
#endif

static u64 transfer_ns(u64 length, u64 bytes_per_s)
{
	return div64_u64(length * NS_PER_S, bytes_per_s);
}

/* Whether a write begins where one of the last ended. */
static int goes_on(struct model *model, u64 offset, u64 length)
{
	struct state *state = model->state;
	u32 i;

	for (i = 0; i < STREAMS; i++)
		if (state->ends[i] == offset)
			break;
	if (i < STREAMS) {
		state->ends[i] = offset + length;
		model->counters.gone_on++;
		return 1;
	}
	state->ends[state->next_end] = offset + length;
	state->next_end = (state->next_end + 1) % STREAMS;
	return 0;
}

/* The root of the distances between random places has a mean of 0.53. */
static u64 average_seek_ns(const struct figures *disk)
{
	return NS_PER_US * (disk->seek_us + (disk->full_seek_us - disk->seek_us) * 53 / 100);
}

/* To the cache, or back to the data. */
static u64 change_place(struct model *model, int to_cache)
{
	if (model->state->at_cache == to_cache)
		return 0;
	model->state->at_cache = to_cache;
	return average_seek_ns(&model->figures);
}

/* A seek, half a turn and the transfer; what lies a little ahead passes by without a seek. */
static u64 heads(struct model *model, u64 offset, u64 length)
{
	const struct figures *disk = &model->figures;
	struct state *state = model->state;
	u64 from = state->at, ahead = offset - from, distance = offset > from ? offset - from : from - offset, root;
	u64 cost = transfer_ns(length, disk->bytes_per_s);

	state->at = offset + length;
	if (state->at_cache)
		return cost + change_place(model, 0) + NS_PER_US * disk->turn_us / 2;
	if (offset >= from && ahead < SAME_TRACKS) {
		u64 passing = transfer_ns(ahead, disk->bytes_per_s);

		if (passing < disk->turn_us * NS_PER_US)
			return cost + passing;
	}
	/* the root of a fraction of 2^20 is one of 2^10 */
	root = int_sqrt64(div64_u64(distance, div64_u64(disk->span_bytes, MIB)));
	return cost + NS_PER_US * (disk->seek_us + (((disk->full_seek_us - disk->seek_us) * root) >> 10) + disk->turn_us / 2);
}

static u64 conventional(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns)
{
	return heads(model, offset, length);
}

/* Cleans the oldest bands; how many there were. */
static u64 clean(struct model *model, u64 most)
{
	struct state *state = model->state;
	u64 done = 0;

	while (done < most && state->head != state->tail) {
		u32 band = state->queue[state->head];

		state->head = (state->head + 1) % (state->bands + 1);
		model->counters.cached_bytes -= state->bytes[band];
		state->bytes[band] = 0;
		done++;
	}
	return done;
}

static void clean_while_idle(struct model *model, u64 now_ns)
{
	const struct figures *disk = &model->figures;
	u64 since = model->state->busy_until + disk->idle_us * NS_PER_US;

	if (now_ns > since)
		model->counters.cleaned_idle += clean(model, div64_u64(now_ns - since, disk->clean_us * NS_PER_US));
}

static u64 into_cache(struct model *model, u64 offset, u64 length)
{
	const struct figures *disk = &model->figures;
	struct counters *counted = &model->counters;
	struct state *state = model->state;
	u32 band = div64_u64(offset, disk->band_bytes);
	u64 cost = transfer_ns(length > LEAST_SCATTERED ? length : LEAST_SCATTERED, disk->scattered_bytes_per_s);

	if (!state->bytes[band]) {
		state->queue[state->tail] = band;
		state->tail = (state->tail + 1) % (state->bands + 1);
	}
	if (!state->track) {
		state->track = 1;
		state->bytes[band] += disk->track_bytes;
		counted->cached_bytes += disk->track_bytes;
		if (disk->stall_every && ++state->tracks % disk->stall_every == 0) {
			cost += disk->stall_us * NS_PER_US;
			counted->stalls++;
		}
	}
	state->bytes[band] += length;
	counted->cached_bytes += length;
	if (counted->cached_bytes > disk->cache_bytes) {
		u64 bands = clean(model, 2);

		counted->cleaned += bands;
		cost += bands * disk->clean_us * NS_PER_US;
	}
	return cost;
}

static u64 shingled(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns)
{
	clean_while_idle(model, now_ns);
	if (op == OP_READ)
		return heads(model, offset, length);
	model->state->at = offset + length;
	if (goes_on(model, offset, length))
		return transfer_ns(length, model->figures.bytes_per_s) + change_place(model, 0);
	return into_cache(model, offset, length) + change_place(model, 1);
}

/* The unit with this number; the one that was used longest ago is closed if there is no more room. */
static struct unit *opened(struct model *model, u64 number, u64 *cost)
{
	const struct figures *disk = &model->figures;
	struct state *state = model->state;
	struct unit *unit, *oldest = state->units;
	u32 i;

	for (i = 0; i < state->open; i++) {
		unit = &state->units[i];
		if (unit->number == number)
			return unit;
		if (unit->used < oldest->used)
			oldest = unit;
	}
	if (state->open < disk->open_units) {
		oldest = &state->units[state->open++];
	} else {
		if (oldest->written < disk->unit_bytes)
			*cost += transfer_ns(disk->unit_bytes - oldest->written, disk->copied_bytes_per_s);
		model->counters.units_closed++;
	}
	*oldest = (struct unit){ .number = number };
	return oldest;
}

static u64 onto_card(struct model *model, u64 offset, u64 length)
{
	const struct figures *disk = &model->figures;
	u64 cost = 0;

	while (length) {
		u64 number = div64_u64(offset, disk->unit_bytes), within = offset - number * disk->unit_bytes;
		u64 part = length < disk->unit_bytes - within ? length : disk->unit_bytes - within;
		struct unit *unit = opened(model, number, &cost);

		if (unit->end == within)
			model->counters.gone_on++;
		else
			cost += disk->random_write_us * NS_PER_US;
		cost += transfer_ns(part, disk->write_bytes_per_s);
		unit->used = ++model->state->clock;
		unit->end = within + part;
		unit->written = unit->written + part < disk->unit_bytes ? unit->written + part : disk->unit_bytes;
		offset += part;
		length -= part;
	}
	return cost;
}

static u64 card(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns)
{
	const struct figures *disk = &model->figures;

	if (op == OP_WRITE)
		return onto_card(model, offset, length);
	return disk->random_read_us * NS_PER_US + transfer_ns(length, disk->bytes_per_s);
}

/* Many requests are under way at once: each keeps it busy for its share. */
static u64 ssd(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns)
{
	const struct figures *disk = &model->figures;
	u64 rate = op == OP_WRITE ? disk->write_bytes_per_s : disk->bytes_per_s;
	u64 cost = transfer_ns(length, rate), random = disk->random_read_us * NS_PER_US;

	if (op == OP_WRITE)
		random = goes_on(model, offset, length) ? 0 : disk->random_write_us * NS_PER_US;
	return cost > random ? cost : random;
}

static const struct kind kinds[] = {
	{ "conventional", conventional, {
		.rotational = 1, .depth = 1, .bytes_per_s = 170000000, .seek_us = 1000, .full_seek_us = 15000, .turn_us = 8333,
	} },
	{ "shingled", shingled, {
		.rotational = 1, .depth = 1, .bytes_per_s = 165000000, .seek_us = 1500, .full_seek_us = 21500, .turn_us = 10033,
		.cache_bytes = 34ULL << 30, .track_bytes = MIB, .band_bytes = 30 * MIB, .scattered_bytes_per_s = 46 * MIB,
		.stall_every = 240, .stall_us = 300000, .clean_us = 500000, .idle_us = 1000000,
	} },
	{ "card", card, {
		.depth = 1, .bytes_per_s = 20400000, .write_bytes_per_s = 12000000, .flush_us = 1000, .random_read_us = 740,
		.random_write_us = 3070, .unit_bytes = 4 * MIB, .open_units = 5, .copied_bytes_per_s = 7500000,
	} },
	{ "ssd", ssd, {
		.depth = 32, .bytes_per_s = 530000000, .write_bytes_per_s = 460000000, .latency_us = 80, .random_read_us = 13,
		.random_write_us = 71,
	} },
	{ "memory", NULL, { .depth = 32 } },
};

struct name {
	const char *name;
	size_t at;
};

#define FIGURE(name) { #name, offsetof(struct figures, name) }
static const struct name names[] = {
	FIGURE(size_bytes), FIGURE(span_bytes), FIGURE(depth), FIGURE(bytes_per_s), FIGURE(write_bytes_per_s),
	FIGURE(flush_us), FIGURE(seek_us), FIGURE(full_seek_us), FIGURE(turn_us), FIGURE(cache_bytes),
	FIGURE(track_bytes), FIGURE(band_bytes), FIGURE(scattered_bytes_per_s), FIGURE(stall_every), FIGURE(stall_us),
	FIGURE(clean_us), FIGURE(idle_us), FIGURE(latency_us), FIGURE(random_read_us), FIGURE(random_write_us),
	FIGURE(unit_bytes), FIGURE(open_units), FIGURE(copied_bytes_per_s),
};

int model_kind(struct model *model, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name)) {
			model->kind = &kinds[i];
			model->figures = kinds[i].usual;
			return 0;
		}
	return -1;
}

int model_set(struct model *model, const char *name, u64 value)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name)) {
			*(u64 *)((char *)&model->figures + names[i].at) = value;
			return 0;
		}
	return -1;
}

int model_begin(struct model *model)
{
	struct figures *disk = &model->figures;
	struct state *state = zeroed(sizeof(*state));

	if (!disk->span_bytes)
		disk->span_bytes = disk->size_bytes;
	if (!state || disk->size_bytes < MIB || disk->span_bytes < disk->size_bytes || disk->open_units > MOST_UNITS)
		return -1;
	model->state = state;
	memset(state->ends, 0xff, sizeof(state->ends));
	if (!disk->band_bytes)
		return 0;
	state->bands = div64_u64(disk->size_bytes, disk->band_bytes) + 1;
	state->bytes = zeroed(state->bands * sizeof(u64));
	state->queue = zeroed((state->bands + 1) * sizeof(u32));
	return state->bytes && state->queue ? 0 : -1;
}

u64 model_cost(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns)
{
	u64 cost = 0;

	if (op == OP_READ)
		model->counters.reads++;
	if (op == OP_WRITE)
		model->counters.writes++;
	if (op == OP_FLUSH) {
		cost = model->figures.flush_us * NS_PER_US;
		model->state->track = 0;
	} else if (op != OP_DISCARD && model->kind->cost) {
		cost = model->kind->cost(model, op, offset, length, now_ns);
	}
	model->state->busy_until = now_ns + cost;
	model->counters.busy_ns += cost;
	return cost;
}
