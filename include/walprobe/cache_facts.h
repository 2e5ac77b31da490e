/* SPDX-License-Identifier: PostgreSQL */
/*
 * cache_facts.h - what RAID controllers and drives say about their caches, as their tools print it.
 *
 * Floor: device (may include base, os, result). wp_cache_read() is pure: text in, facts out; it
 * takes what people save and paste: carriage returns, colours, prompts, quotes, several outputs in
 * one file, an end that is missing. What is not understood stays unsaid and never counts as good.
 * Of several statements about a battery the worst one stands: tools print "Optimal" beside "is
 * about to fail".
 * Threads: yes, with facts of one's own.
 */
#ifndef WALPROBE_CACHE_FACTS_H
#define WALPROBE_CACHE_FACTS_H

#include "walprobe/stack.h"

enum wp_answer {
	WP_UNSAID,
	WP_NO,
	WP_YES,
};

/* families of controllers; the tools of one family speak of the same hardware */
enum wp_raid_family {
	WP_RAID_NONE,
	WP_RAID_MEGARAID, /* MegaCli, storcli, perccli */
	WP_RAID_SMART,    /* ssacli, hpssacli, hpacucli */
	WP_RAID_ADAPTEC,  /* arcconf */
	WP_RAID_ARECA,    /* cli64 */
};

enum wp_write_policy {
	WP_POLICY_UNSAID,
	WP_POLICY_THROUGH,
	WP_POLICY_BACK,
	WP_POLICY_ALWAYS_BACK, /* whatever the battery's state is */
};

/* battery or capacitor, from good to bad */
enum wp_backup {
	WP_BACKUP_UNSAID,
	WP_BACKUP_GOOD,
	WP_BACKUP_ODD, /* it says something that we do not know */
	WP_BACKUP_LEARNING,
	WP_BACKUP_WORN, /* to be replaced, about to fail, low capacity */
	WP_BACKUP_FAILED,
	WP_BACKUP_MISSING,
};

/* write caches of the disks behind the controller, from good to bad */
enum wp_disk_cache {
	WP_DISK_CACHE_UNSAID,
	WP_DISK_CACHE_OFF,
	WP_DISK_CACHE_DEFAULT, /* as the disk likes it: usually on */
	WP_DISK_CACHE_ON,
};

struct wp_controller {
	enum wp_raid_family family;
	char *id;    /* "0": adapter, slot, controller number; NULL: unsaid */
	char *model; /* NULL: unsaid */
	enum wp_backup backup;
	char *backup_words; /* the worst statement as printed; NULL: none */
	enum wp_answer is_learning;
	enum wp_write_policy cache; /* of the controller as a whole, where it has one switch */
	char *cache_words;          /* "Temporarily Disabled"; NULL: none */
	enum wp_answer is_back_without_battery;
	enum wp_disk_cache disk_cache;
	int64_t volumes_said; /* how many volumes it says it has; -1: unsaid */
	/* The end of the output was seen, so that nothing worse can follow; WP_UNSAID: no such
	 * output was read, WP_NO: it stops early. */
	enum wp_answer is_volumes_whole;
	enum wp_answer is_backup_whole;
};

struct wp_volume {
	size_t controller; /* index */
	char *name;        /* "24", "0/0"; NULL: unsaid */
	char *device;      /* "sda"; NULL: unsaid */
	char *wwn;         /* hexadecimal digits; NULL: unsaid */
	int64_t target_id; /* -1: unsaid */
	char *raid_level;  /* as printed; these may be NULL */
	char *size;
	char *strip;
	char *state;
	int64_t drive_count; /* -1: unsaid */
	enum wp_write_policy default_policy;
	enum wp_write_policy current_policy;
	enum wp_answer is_back_without_battery;
	enum wp_disk_cache disk_cache;
};

/* one source's last word on one drive */
struct wp_drive_statement {
	char *device;       /* "sda"; NULL: unsaid */
	const char *source; /* static: "hdparm", "sdparm", "smartctl", "nvme", "cache_type",
	                       "queue/write_cache", "kernel log" */
	enum wp_answer is_cache_on;
	bool is_kernel_view; /* what the kernel believes, not what the drive says */
	bool is_flush_failing;
	bool is_refused; /* it was told to switch its cache off and did not */
};

struct wp_drive_counters {
	char *device;
	int64_t power_cycles;     /* -1: unsaid */
	int64_t unsafe_shutdowns; /* -1: unsaid */
};

/* zero-filled is empty */
struct wp_cache_facts {
	struct wp_controller *controllers;
	size_t controller_count;
	struct wp_volume *volumes;
	size_t volume_count;
	struct wp_drive_statement *statements;
	size_t statement_count;
	struct wp_drive_counters *counters;
	size_t counter_count;
	bool is_cut;   /* an output, or a part of it, ends before its end */
	bool is_saved; /* read from files: nothing was run here */
	char *unasked; /* why a controller under this place could not be asked, and what to do */
};

/*
 * wp_cache_read - add what text says to facts.
 *
 * device  what the text is about where it does not say ("sda"); may be NULL.
 * is_cut  the text is known to be incomplete.
 * Returns: how many statements were understood; 0: no output of a tool that is known.
 */
size_t wp_cache_read(struct wp_cache_facts *facts, const char *text, size_t length,
	const char *device, bool is_cut);

/* wp_cache_facts_release - free; accepts a zeroed struct. */
void wp_cache_facts_release(struct wp_cache_facts *facts);

/* wp_raid_family_name - "MegaRAID", "Smart Array", ...; "" for none. */
const char *wp_raid_family_name(enum wp_raid_family family);

/* wp_raid_family_of - the family whose controller presents this layer as one of its volumes;
 * WP_RAID_NONE for a plain disk, also for one that a RAID controller passes through. */
enum wp_raid_family wp_raid_family_of(const struct wp_layer *layer);

/* wp_volume_is_layer - true when the output names this block device, by its kernel name, its
 * world wide name, or the target id of a MegaRAID volume. */
bool wp_volume_is_layer(const struct wp_cache_facts *facts, const struct wp_volume *volume,
	const struct wp_layer *layer);

/* wp_drive_is_layer - true when a statement about device ("sda", "nvme0") is about this layer. */
bool wp_drive_is_layer(const char *device, const struct wp_layer *layer);

/*
 * wp_cache_ask - run the tools that know the disks under stack: the controller's own for RAID
 * volumes; hdparm, sdparm and smartctl, or nvme, for plain disks.
 *
 * Each program has limit_ns. Only root can ask, and virtual disks are not asked. A controller that
 * could not be asked leaves facts->unasked; a plain disk's missing tools leave nothing.
 * Returns: 0, or -WP_E_STOPPED.
 */
int wp_cache_ask(const struct wp_os *os, const struct wp_stack *stack, int64_t limit_ns,
	struct wp_cache_facts *facts, struct wp_err *err);

#endif
