// SPDX-License-Identifier: MIT
/*
 * Simulated disks for User-Mode Linux: contents in sparse files of the host, service times from a model.
 *
 * simdisk.disks="KIND,name=NAME,file=PATH,size_bytes=8G,FIGURE=VALUE...;KIND,..." makes /dev/NAME of each; see models.c
 * for kinds and figures; model=NAME is what a SATA disk would be called. What each has done is in /sys/block/NAME/counters.
 */
#include <linux/bitmap.h>
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "models.h"
#include "store.h"

#define PAGE 4096

struct disk {
	struct model model;
	struct blk_mq_tag_set tags;
	struct gendisk *gendisk;
	spinlock_t lock;		/* of the model and the next */
	u64 free_ns;			/* when it is done with all that it was given */
	char *contents;
	char serial[DISK_NAME_LEN], called[41];
	bool discard;
};

struct command {
	struct hrtimer timer;
};

static char *disks;
module_param(disks, charp, 0444);

static void copy(struct disk *disk, struct request *request, bool write)
{
	struct req_iterator iterator;
	struct bio_vec vector;
	char *at = disk->contents + ((u64)blk_rq_pos(request) << SECTOR_SHIFT);

	rq_for_each_segment(vector, request, iterator) {
		char *memory = page_address(vector.bv_page) + vector.bv_offset;

		if (write)
			memcpy(at, memory, vector.bv_len);
		else
			memcpy(memory, at, vector.bv_len);
		at += vector.bv_len;
	}
}

static void forget(struct disk *disk, u64 offset, u64 length)
{
	u64 first = round_up(offset, PAGE), last = round_down(offset + length, PAGE);

	if (last > first)
		store_forget(disk->contents + first, last - first);
}

static enum operation transferred(struct disk *disk, struct request *request)
{
	u64 offset = (u64)blk_rq_pos(request) << SECTOR_SHIFT;

	switch (req_op(request)) {
	case REQ_OP_READ:
		copy(disk, request, false);
		return OP_READ;
	case REQ_OP_WRITE:
		copy(disk, request, true);
		return OP_WRITE;
	case REQ_OP_DISCARD:
		forget(disk, offset, blk_rq_bytes(request));
		return OP_DISCARD;
	default:
		return OP_FLUSH;
	}
}

static enum hrtimer_restart done(struct hrtimer *timer)
{
	struct command *command = container_of(timer, struct command, timer);

	blk_mq_end_request(blk_mq_rq_from_pdu(command), BLK_STS_OK);
	return HRTIMER_NORESTART;
}

/* The disk works on one request after the other, in the order in which it gets them. */
static blk_status_t queue(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *data)
{
	struct request *request = data->rq;
	struct disk *disk = request->q->queuedata;
	struct command *command = blk_mq_rq_to_pdu(request);
	u64 now, begin, wait;
	unsigned long flags;
	enum operation op;

	blk_mq_start_request(request);
	op = transferred(disk, request);
	spin_lock_irqsave(&disk->lock, flags);
	now = ktime_get_ns();
	begin = max(now, disk->free_ns);
	disk->free_ns = begin + model_cost(&disk->model, op, (u64)blk_rq_pos(request) << SECTOR_SHIFT,
					   blk_rq_bytes(request), begin);
	wait = disk->free_ns - now;
	spin_unlock_irqrestore(&disk->lock, flags);
	if (op == OP_READ || op == OP_WRITE)
		wait += disk->model.figures.latency_us * NSEC_PER_USEC;
	if (wait)
		hrtimer_start(&command->timer, ns_to_ktime(wait), HRTIMER_MODE_REL);
	else
		blk_mq_end_request(request, BLK_STS_OK);
	return BLK_STS_OK;
}

static int init_request(struct blk_mq_tag_set *tags, struct request *request, unsigned int context, unsigned int node)
{
	struct command *command = blk_mq_rq_to_pdu(request);

	hrtimer_init(&command->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	command->timer.function = done;
	return 0;
}

static const struct blk_mq_ops queue_operations = { .queue_rq = queue, .init_request = init_request };
static const struct block_device_operations operations = { .owner = THIS_MODULE };

static struct disk *disk_of(struct device *device)
{
	return dev_to_disk(device)->private_data;
}

static ssize_t counters_show(struct device *device, struct device_attribute *attribute, char *text)
{
	const struct counters *c = &disk_of(device)->model.counters;

	return sysfs_emit(text, "reads=%llu writes=%llu gone_on=%llu stalls=%llu cleaned=%llu cleaned_idle=%llu units_closed=%llu cached_bytes=%llu busy_ms=%llu\n",
			  c->reads, c->writes, c->gone_on, c->stalls, c->cleaned, c->cleaned_idle, c->units_closed,
			  c->cached_bytes, div64_u64(c->busy_ns, NSEC_PER_MSEC));
}
static DEVICE_ATTR_RO(counters);

static ssize_t serial_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%s\n", disk_of(device)->serial);
}
static DEVICE_ATTR_RO(serial);

static ssize_t model_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%s\n", ((struct disk *)dev_get_drvdata(device))->called);
}
static DEVICE_ATTR_RO(model);

static struct attribute *disk_attrs[] = { &dev_attr_counters.attr, &dev_attr_serial.attr, NULL };
ATTRIBUTE_GROUPS(disk);

/* Takes one word of a disk's description; 0, or -1 where it means nothing. */
static int take(struct disk *disk, char *word, char **file)
{
	char *value = strchr(word, '=');

	if (!value)
		return model_kind(&disk->model, word);
	*value++ = '\0';
	if (!strcmp(word, "file"))
		*file = value;
	else if (!strcmp(word, "name"))
		strscpy(disk->serial, value, sizeof(disk->serial));
	else if (!strcmp(word, "model"))
		strscpy(disk->called, value, sizeof(disk->called));
	else if (!strcmp(word, "discard"))
		disk->discard = true;
	else
		return model_set(&disk->model, word, memparse(value, NULL));
	return 0;
}

static void limit(struct disk *disk, struct request_queue *queue)
{
	blk_queue_logical_block_size(queue, 512);
	blk_queue_physical_block_size(queue, PAGE);
	blk_queue_max_hw_sectors(queue, 2048);
	blk_queue_max_segments(queue, 256);
	blk_queue_write_cache(queue, true, false);
	if (!disk->model.figures.rotational)
		blk_queue_flag_set(QUEUE_FLAG_NONROT, queue);
	if (disk->discard) {
		queue->limits.discard_granularity = PAGE;
		blk_queue_max_discard_sectors(queue, UINT_MAX >> SECTOR_SHIFT);
	}
}

/* One with a model name hangs on a port like a SATA disk. */
static struct device *port(struct disk *disk)
{
	static int ports;
	char name[16];
	struct device *device;

	if (!*disk->called)
		return NULL;
	snprintf(name, sizeof(name), "ata%d", ++ports);
	device = root_device_register(name);
	if (IS_ERR(device))
		return NULL;
	dev_set_drvdata(device, disk);
	if (device_create_file(device, &dev_attr_model))
		return NULL;
	return device;
}

static int make(char *text)
{
	struct disk *disk = kzalloc(sizeof(*disk), GFP_KERNEL);
	char *file = NULL, *word;
	int error;

	if (!disk)
		return -ENOMEM;
	while ((word = strsep(&text, ",")))
		if (take(disk, word, &file))
			return -EINVAL;
	if (!disk->model.kind || !file || !*disk->serial || model_begin(&disk->model))
		return -EINVAL;
	disk->contents = store_map(file, disk->model.figures.size_bytes);
	if (!disk->contents)
		return -EIO;
	spin_lock_init(&disk->lock);
	disk->tags = (struct blk_mq_tag_set){
		.ops = &queue_operations, .nr_hw_queues = 1, .queue_depth = disk->model.figures.depth,
		.numa_node = NUMA_NO_NODE, .cmd_size = sizeof(struct command),
		.flags = BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_BLOCKING,
	};
	error = blk_mq_alloc_tag_set(&disk->tags);
	if (error)
		return error;
	disk->gendisk = blk_mq_alloc_disk(&disk->tags, disk);
	if (IS_ERR(disk->gendisk))
		return PTR_ERR(disk->gendisk);
	strscpy(disk->gendisk->disk_name, disk->serial, DISK_NAME_LEN);
	disk->gendisk->fops = &operations;
	disk->gendisk->private_data = disk;
	limit(disk, disk->gendisk->queue);
	set_capacity(disk->gendisk, disk->model.figures.size_bytes >> SECTOR_SHIFT);
	return device_add_disk(port(disk), disk->gendisk, disk_groups);
}

/* What can't be made is told and left out; none is ever taken away. */
static int __init simdisk_init(void)
{
	char *text = kstrdup(disks ?: "", GFP_KERNEL), *one;

	while ((one = strsep(&text, ";")))
		if (*one && make(one))
			pr_err("simdisk: %s: not made\n", one);
	return 0;
}
device_initcall(simdisk_init);
