#!/usr/bin/env bash
# Plays real clients against the proxy and the mock upstream: the official Python SDKs.
#
#     cargo build --release && tests/clients/run.sh [PATH_TO_SECATEUR]
#
# Needs python3 with venv and a package index; nothing is left behind.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-$here/../../target/release/secateur}
work=$(mktemp -d)
trap 'kill "${server:-0}" "${mock:-0}" 2>/dev/null || true; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" -q install openai anthropic

# The first request is turned away twice, so that the SDKs' own retries are seen to work through the proxy.
cat >"$work/script.jsonl" <<'JSON'
{"contains": "turn me away, please", "times": 1, "status": 429, "retry_after": 0}
{"contains": "turn me away, please", "times": 1, "status": 500}
{"contains": "turn me away, if", "times": 1, "status": 429, "retry_after": 0}
{"contains": "turn me away, if", "times": 1, "status": 500}
JSON
"$binary" mock --listen 127.0.0.1:18899 --script "$work/script.jsonl" 2>"$work/mock.log" & mock=$!
cat >"$work/secateur.toml" <<'TOML'
listen = "127.0.0.1:18890"
admin_listen = "127.0.0.1:18891"
[upstream]
url = "http://127.0.0.1:18899"
[pruning]
pruning_threshold = 6000
trigger_every_n_tokens = 500
keep_recent_tokens = 500
keep_recent_messages = 3
TOML
"$binary" serve --config "$work/secateur.toml" 2>"$work/serve.log" & server=$!
for _ in $(seq 100); do "$binary" health --admin 127.0.0.1:18891 >/dev/null 2>&1 && break; sleep 0.05; done
"$work/venv/bin/python" "$here/sdks.py" http://127.0.0.1:18890 http://127.0.0.1:18891
