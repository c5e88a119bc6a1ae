/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pager: what a command prints goes through the reader's pager, if it goes to a terminal.
 *
 *	command --pipe--> relay --pipe--> pager
 *			  relay --------> terminal	where the pager cannot run, or fails
 *
 * The relay keeps the last of what it has written, more than a pipe holds: what a pager that fails has not read is printed
 * without it, so a broken pager loses nothing. One that ends well was left by its reader.
 */
#ifndef FR_PAGER_H
#define FR_PAGER_H

/*
 * From now on, until the process ends, standard output goes through $FLIGHTREC_PAGER, $PAGER or less; standard error as well,
 * if it is a terminal too. Nothing changes if output is no terminal, if the pager is empty or cat, or if there is no process
 * left. Colours and the page's width stay those of the terminal.
 */
void fr_pager_begin(void);

#endif
