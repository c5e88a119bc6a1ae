/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hotplug: CPUs that come and go while a recorder lives.
 *
 * A CPU that comes online gets its rings (once: it keeps them and their history while it is away) and a new sampling event,
 * since the one that was open when it went offline stays dead. A writer process needs nothing: fr_dump() looks for rings it
 * does not know yet. Sources: the kernel's uevents; where those are refused, a look at /sys every few seconds.
 */
#ifndef FR_HOTPLUG_H
#define FR_HOTPLUG_H

struct fr_daemon;
struct fr_hotplug; /* opaque */

/*
 * Watch for CPUs from now on, after adding those that came while no recorder lived (for an adopted session). Needs CAP_BPF and
 * CAP_PERFMON for its whole life; open it before seccomp forbids socket(). 0 or -errno with a message.
 */
int fr_hotplug_new(struct fr_daemon *d, struct fr_hotplug **out);
void fr_hotplug_free(struct fr_hotplug *h); /* NULL is fine */

#endif
