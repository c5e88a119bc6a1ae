/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* small FILE: write the small snapshot, to be damaged by hand. */
#include "files/small.h"

int main(int argc, char **argv)
{
	return argc != 2 || !small_write(argv[1]);
}
