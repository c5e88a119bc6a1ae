#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the tracepoints that are recorded by default (user/base/tp/rare.def) cost while redis and nginx serve, both at once: by
# the kernel's own statistics of BPF, of each tracepoint's events. As root: rare.sh [SECONDS]
set -eu
seconds=${1:-20}
fr=${FLIGHTREC:-build/flightrec}
name=rarecost-$$
dir=$(mktemp -d)
was=$(cat /proc/sys/kernel/bpf_stats_enabled)
trap '$fr stop -n $name >/dev/null 2>&1 || :; echo "$was" >/proc/sys/kernel/bpf_stats_enabled; kill $(cat "$dir"/*.pid) 2>/dev/null || :; rm -rf "$dir"' EXIT

redis-server --port 16379 --bind 127.0.0.1 --save "" --daemonize yes --pidfile "$dir/redis.pid" --dir "$dir" >/dev/null
mkdir "$dir/www"
head -c 4096 /dev/zero >"$dir/www/page"
cat >"$dir/nginx.conf" <<END
pid $dir/nginx.pid;
error_log $dir/nginx.log;
events {}
http { access_log off; server { listen 127.0.0.1:16380; root $dir/www; } }
END
nginx -c "$dir/nginx.conf"

$fr record -n $name -o "$dir" --unattended 2>/dev/null
id=$(for link in /sys/fs/bpf/flightrec/$name/link-tp-*; do bpftool -j link show pinned "$link"; done | jq -rs '.[0].prog_id')
echo 1 >/proc/sys/kernel/bpf_stats_enabled
ran() { bpftool -j prog show id "$id" | jq -r '"\(.run_cnt // 0) \(.run_time_ns // 0)"'; }
before=$(ran)
from=$(date +%s%N)
timeout "$seconds" redis-benchmark -p 16379 -q -l -c 20 -t set,get >/dev/null 2>&1 &
timeout "$seconds" python3 -S - <<'END' &
import socket
asked = b"GET /page HTTP/1.1\r\nHost: x\r\nConnection: %s\r\n\r\n"
while True:  # a connection for each ten pages
    with socket.create_connection(("127.0.0.1", 16380)) as s:
        for i in range(10):
            s.sendall(asked % (b"close" if i == 9 else b"keep-alive"))
            got = b""
            while len(got) < 4096 + 100:
                got += s.recv(65536)
END
wait || :
to=$(date +%s%N)
after=$(ran)
$fr dump -n $name -o "$dir/rare.flight" >/dev/null 2>&1
{
	$fr replay --json --tier rare "$dir/rare.flight" | jq -r .event
	$fr info --json "$dir/rare.flight" | jq -r '[.thinned, .unmatched] | map(to_entries) | add[] | "\(.key) \(.value)"'
} | awk -v run="$before $after" -v ns=$((to - from)) -v cpus="$(nproc)" '
	{ cnt[$1] += NF > 1 ? $2 : 1 }
	END {
		split(run, r)
		n = r[3] - r[1]; took = r[4] - r[2]
		each = n ? took / n : 0
		for (e in cnt)
			printf "%-45s %9d events %9.3f us a CPU-second\n", e, cnt[e], cnt[e] * each / 1e3 / (ns / 1e9 * cpus)
		printf "%-45s %9d runs   %9.3f us a CPU-second, %.0f ns each\n", "all", n, took / 1e3 / (ns / 1e9 * cpus), each
	}' | sort
