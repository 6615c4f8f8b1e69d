#!/bin/sh
# Starts the server of a working tree, loads it three times, and stops it: measure.sh TREE LABEL
#
# Writes the run files to the directory runs/LABEL. Set BENCHMARK to your definition, START to the command that starts your
# server, and URL to its address.
set -eu

tree=$1
label=$2
benchmark=${BENCHMARK:-examples/my-api.toml}
url=${URL:-http://127.0.0.1:8080/}
start=${START:-./start-server}

(cd "$tree" && exec sh -c "exec $start") >"$label.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT

tries=0
until curl --silent --output /dev/null "$url"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 100 ] || ! kill -0 "$server" 2>/dev/null; then
        echo "the server does not answer at $url" >&2
        cat "$label.log" >&2
        exit 4
    fi
    sleep 0.2
done

plimsoll run "$benchmark" --target "$url" --repeat 3 --label "$label" --out "runs/$label" --progress plain
