/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "live/incident/inclog.h"
#include "live/recorder/control.h"
#include "live/recorder/endwatch.h"
#include "live/recorder/engine.h"
#include "live/recorder/governor.h"
#include "live/recorder/hotplug.h"
#include "live/recorder/modules.h"
#include "live/recorder/notify.h"
#include "live/recorder/sampling.h"
#include "live/recorder/saving.h"
#include "live/recorder/tidy.h"
#include "live/recorder/wallstep.h"
#include "live/session/admin.h"
#include "live/snapshot/store.h"
#include "sys/confine.h"

/* Only if it may be needed: it is another process, with another capability. */
static void start_admin(struct fr_daemon *d, struct fr_modules *m)
{
	int err = 0;

	if (fr_daemon_config(d)->budget || fr_sess_sample_hz(fr_daemon_sess(d)))
		err = fr_admin_start(&m->admin);
	if (err)
		fr_warn("cannot start the helper process: %s: there is no overhead governor, and CPUs that come back may "
			"not be sampled",
			strerror(-err));
}

/* A recorder is useful without these; the message has been printed. */
static void make_extras(struct fr_daemon *d, struct fr_modules *m)
{
	start_admin(d, m);
	if (fr_control_new(d, &m->ctl))
		m->ctl = NULL;
	if (fr_hotplug_new(d, &m->hotplug))
		m->hotplug = NULL;
	if (fr_governor_new(d, &m->governor))
		m->governor = NULL;
	if (fr_wallstep_new(d, &m->wallstep))
		m->wallstep = NULL;
	if (fr_sampling_new(d, &m->sampling))
		m->sampling = NULL;
	if (fr_saving_new(d, &m->saving))
		m->saving = NULL;
	if (fr_tidy_new(d, &m->tidy))
		m->tidy = NULL;
	if (fr_endwatch_new(d, &m->endwatch))
		m->endwatch = NULL;
}

static int open_store(struct fr_daemon *d, struct fr_modules *m)
{
	const struct fr_store_conf conf = fr_store_conf_of(fr_daemon_config(d));
	int err = fr_store_open(&conf, &m->store);

	if (err)
		fr_err_errno(err, "cannot look after the snapshots in %s", conf.dir);
	return err;
}

int fr_modules_new(struct fr_daemon *d, struct fr_modules *m)
{
	int err = open_store(d, m);

	err = err ?: fr_engine_new(d, &m->engine);
	err = err ?: fr_notify_new(d, &m->notify);
	if (err)
		return err;
	make_extras(d, m);
	return 0;
}

void fr_modules_free(struct fr_modules *m)
{
	fr_endwatch_free(m->endwatch);
	fr_tidy_free(m->tidy);
	fr_sampling_free(m->sampling);
	fr_governor_free(m->governor);
	fr_wallstep_free(m->wallstep);
	fr_hotplug_free(m->hotplug);
	fr_control_free(m->ctl);
	m->ctl = NULL;
	fr_admin_stop(m->admin);
	fr_engine_free(m->engine);
	fr_notify_free(m->notify);
	fr_store_close(m->store);
	fr_modules_save(m); /* last: the others may still have reported something */
}

bool fr_modules_save(struct fr_modules *m)
{
	bool saved = fr_saving_free(m->saving);

	m->saving = NULL;
	return saved;
}

int fr_modules_confine(struct fr_daemon *d, struct fr_modules *m)
{
	const struct fr_confine_conf conf = {
		.hook = fr_notify_wants_user(m->notify),
		.dir = fr_daemon_config(d)->dir,
	};

	int err = fr_sess_hold_progs(fr_daemon_sess(d));

	return err ?: fr_confine_main(&conf, NULL);
}

static void modules_say(int err, const char *what)
{
	if (err)
		fr_warn("reload: %s: %s: all else is in force: reload again", what, strerror(-err));
}

void fr_modules_change(struct fr_daemon *d, struct fr_modules *m)
{
	const struct fr_config *c = fr_daemon_config(d);
	const struct fr_store_conf conf = fr_store_conf_of(c);

	modules_say(fr_store_change(m->store, &conf), "where snapshots go, and how many are kept, stays as it was");
	modules_say(fr_notify_change(m->notify), "the hook stays as it was");
	fr_control_change(m->ctl);
	if (m->governor)
		modules_say(fr_governor_change(m->governor), "nobody keeps to the budget");
	if (m->saving)
		fr_saving_change(m->saving);
	if (m->tidy)
		fr_tidy_change(m->tidy);
}

void fr_modules_ready(struct fr_daemon *d, struct fr_modules *m)
{
	fr_tell_recorder(fr_daemon_sess(d), "begins");
	if (m->saving)
		fr_saving_start(m->saving);
	fr_notify_ready(m->notify, NULL);
}

void fr_modules_reloading(struct fr_modules *m, bool begins)
{
	if (begins)
		fr_notify_reloading(m->notify);
	else
		fr_notify_ready(m->notify, NULL);
}

void fr_modules_stopping(struct fr_modules *m)
{
	fr_notify_stopping(m->notify);
}
