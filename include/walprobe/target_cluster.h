/* SPDX-License-Identifier: PostgreSQL */
/*
 * target_cluster.h - a throwaway PostgreSQL cluster per target.
 *
 * Floor: probe. Order of a command: wp_cluster_plan_prepare(), then for each target
 * wp_target_open() with plan.place as its mounts_on, then wp_cluster_plan_fit() over all targets
 * (all get the same sizes), then wp_target_cluster() for each; wp_cluster_start() when it is needed.
 * Threads: main thread only.
 */
#ifndef WALPROBE_TARGET_CLUSTER_H
#define WALPROBE_TARGET_CLUSTER_H

#include "walprobe/cluster.h"
#include "walprobe/run.h"
#include "walprobe/target.h"

struct wp_cluster_plan {
	/* set by the caller, borrowed */
	const char *bindir; /* --bindir; NULL: look for them */
	const char *run_as; /* --run-as; NULL: postgres, or ourselves when we are not root */
	const char *base;   /* --base; NULL: $TMPDIR, /tmp or /var/tmp */
	bool is_whole;      /* --whole */
	const char *const *settings; /* --set */
	size_t setting_count;
	int64_t clients_most;

	/* filled by wp_cluster_plan_prepare() and wp_cluster_plan_fit() */
	struct wp_user user;
	struct wp_pg_binaries binaries;
	char *place; /* where data, sockets and mounts of images lie */
	int64_t wal_bytes;
	int64_t shared_buffers_bytes;
};

/*
 * wp_cluster_plan_prepare - find user, programs and base, and check the settings. Before any target
 * is opened: what is wrong here is wrong for all of them.
 *
 * Returns: 0, or -code of wp_cluster_check_settings(), wp_user_find(), wp_pg_binaries_find(),
 * wp_cluster_base(). Release the plan either way.
 */
int wp_cluster_plan_prepare(struct wp_run *run, struct wp_cluster_plan *plan, struct wp_err *err);

/*
 * wp_cluster_plan_fit - make max_wal_size fit the target with the least space among those that are
 * open. A target without room for even the least is passed over: its own cluster will fail.
 */
void wp_cluster_plan_fit(struct wp_run *run, struct wp_cluster_plan *plan,
	const struct wp_target *targets, size_t count);

/*
 * wp_target_cluster - a cluster on an open target, not started; under --keep it is told how to
 * reach and remove it, and a file system on which fsync is lost is told of.
 *
 * out      wp_cluster_release() frees it; plan must live as long
 * Returns: 0 or -code (wp_cluster_create()), with the target's label in the message.
 */
int wp_target_cluster(struct wp_run *run, const struct wp_cluster_plan *plan,
	const struct wp_target *target, struct wp_cluster **out, struct wp_err *err);

/*
 * wp_target_cluster_record - rows of table "cluster" for what the started server shows of its
 * settings, and check "fsync-reaches-file" where it is known not to. A library that takes fsync away
 * is looked for in every server, by wp_ramp_plan().
 *
 * Returns: false when this target's figures must be left out of the ranking.
 */
bool wp_target_cluster_record(
	struct wp_run *run, const struct wp_target *target, const struct wp_cluster *cluster);

/* wp_cluster_plan_release - free what prepare filled; accepts a zeroed struct. */
void wp_cluster_plan_release(struct wp_cluster_plan *plan);

#endif
