/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ctfiles: names of a container, from the files that its engine keeps on this host: docker, containerd with a kubelet or
 * nerdctl, CRI-O, podman of root, and the names of logs that a kubelet makes. No socket is asked.
 *
 * A file counts only if root or the caller owns it and all directories on the way, and nobody else may write there
 * (sys/safepath.h): whoever can, may call a container what he likes. Of logs' directories only the last is asked. It must be a
 * regular one of at most 4 MiB. Reading may take as long as its file system does: an errand's runner should.
 */
#ifndef FR_CTFILES_H
#define FR_CTFILES_H

#include "base/text/ctnames.h"

/*
 * What the files say of the container with this id, where names lacks it; of its pod, if names has its uid. root: "", or in
 * tests a directory that has the files. 0 even if nothing is known; else something may be missing: -EACCES: for lack of a right
 * to read it; -ENOMEM; -EMFILE, -EIO...: a file that is there could not be read.
 */
int fr_ctfiles_names(const char *root, const char *id, struct fr_ctnames *names);

#endif
