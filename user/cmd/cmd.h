/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd: the commands. Each has a file and an option table of its own; argv[0] is "flightrec NAME". */
#ifndef FR_CMD_H
#define FR_CMD_H

#include "base/err.h"

/* All return an exit status, enum fr_exit. */
int fr_cmd_record(int argc, char **argv);
int fr_cmd_dump(int argc, char **argv);
int fr_cmd_status(int argc, char **argv);
int fr_cmd_profile(int argc, char **argv);
int fr_cmd_follow(int argc, char **argv);
int fr_cmd_watch(int argc, char **argv);
int fr_cmd_reload(int argc, char **argv);
int fr_cmd_mark(int argc, char **argv);
int fr_cmd_stop(int argc, char **argv);
int fr_cmd_tail(int argc, char **argv);
int fr_cmd_replay(int argc, char **argv);
int fr_cmd_report(int argc, char **argv);
int fr_cmd_stat(int argc, char **argv);
int fr_cmd_symbols(int argc, char **argv);
int fr_cmd_incidents(int argc, char **argv);
int fr_cmd_list(int argc, char **argv);
int fr_cmd_info(int argc, char **argv);
int fr_cmd_verify(int argc, char **argv);
int fr_cmd_events(int argc, char **argv);
int fr_cmd_export(int argc, char **argv);
int fr_cmd_view(int argc, char **argv);
int fr_cmd_top(int argc, char **argv);
int fr_cmd_cut(int argc, char **argv);
int fr_cmd_merge(int argc, char **argv);
int fr_cmd_recover(int argc, char **argv);
int fr_cmd_diff(int argc, char **argv);
int fr_cmd_doctor(int argc, char **argv);

#endif
