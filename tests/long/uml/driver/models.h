/* SPDX-License-Identifier: MIT */
/* What a request costs on a simulated disk. Compiles in the kernel, and outside of it for the tests. */
#ifndef MODELS_H
#define MODELS_H

#ifdef __KERNEL__
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#define zeroed(bytes) vzalloc(bytes)
#else
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define zeroed(bytes) calloc(1, bytes)
typedef uint64_t u64;
typedef uint32_t u32;
#endif

enum operation { OP_READ, OP_WRITE, OP_FLUSH, OP_DISCARD };

/* Everything that makes one disk different from another; each can be set by its name. */
struct figures {
	u64 size_bytes;
	u64 span_bytes;		/* of the disk that this is a part of: seeks are as short as they are there */
	u64 rotational, depth;
	u64 bytes_per_s, write_bytes_per_s;
	u64 flush_us;
	/* heads */
	u64 seek_us, full_seek_us, turn_us;
	/* shingles */
	u64 cache_bytes, track_bytes, band_bytes, scattered_bytes_per_s;
	u64 stall_every, stall_us, clean_us, idle_us;
	/* flash */
	u64 latency_us, random_read_us, random_write_us;
	u64 unit_bytes, open_units, copied_bytes_per_s;
};

struct counters {
	u64 reads, writes, gone_on, stalls, cleaned, cleaned_idle, units_closed, cached_bytes, busy_ns;
};

struct model {
	struct figures figures;
	struct counters counters;
	const struct kind *kind;
	struct state *state;
};

/* 0, or -1 where nothing is called that. */
int model_kind(struct model *model, const char *name);
int model_set(struct model *model, const char *name, u64 value);
/* Once all figures are set; 0, or -1 where they don't fit together or memory is short. */
int model_begin(struct model *model);
/* Nanoseconds that the disk is busy with a request that it takes up at this time, in nanoseconds too. */
u64 model_cost(struct model *model, enum operation op, u64 offset, u64 length, u64 now_ns);

#endif
