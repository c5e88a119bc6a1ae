# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A static function's name is its file's alone, so that a backtrace or a profile can be read: no two files of user/ have the same."""
import collections
import glob
import re
import sys

HEAD = re.compile(r"^static (?:inline |__attribute__\(\([^\n]*?\)\) )*(?:const )?(?:struct |enum |union )?\w+(?: const)?[ *]+(\w+)\(", re.M)


def main():
    files = collections.defaultdict(set)
    for path in sorted(glob.glob("user/**/*.[ch]", recursive=True)):
        with open(path, encoding="utf-8") as f:
            for name in HEAD.findall(f.read()):
                files[name].add(path)
    if len(files) < 1000:
        sys.exit(f"only {len(files)} static functions were found")
    bad = {name: paths for name, paths in files.items() if len(paths) > 1}
    for name, paths in sorted(bad.items()):
        print(f"{name}() is in {', '.join(sorted(paths))}: give each its file's noun")
    sys.exit(bool(bad))


main()
