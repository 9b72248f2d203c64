#!/usr/bin/env bash
# Plays real agents against the proxy and the mock upstream: Codex and Claude Code, each at a task of ten tool calls.
#
#     cargo build --release && tests/clients/agents.sh [PATH_TO_SECATEUR]
#
# Needs node with npm, a package index and python3; nothing is left behind. An agent that cannot be installed or started
# on this machine is said to be left out, and is no failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-$here/../../target/release/secateur}
calls=10
work=$(mktemp -d)
mkdir "$work/home" "$work/codex" "$work/task"
trap 'stop_all; rm -rf "$work" 2>/dev/null || { sleep 1; rm -rf "$work"; }' EXIT

server= mock=
stop_all() {
    for process in $server $mock; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || true; done
    server= mock=
}

# Starts the mock with a script and the proxy with a threshold: start NAME SCRIPT THRESHOLD
start() {
    stop_all
    cat >"$work/secateur.toml" <<TOML
listen = "127.0.0.1:18990"
admin_listen = "127.0.0.1:18991"
[upstream]
url = "http://127.0.0.1:18992"
[pruning]
pruning_threshold = $3
trigger_every_n_tokens = 500
keep_recent_tokens = 500
keep_recent_messages = 3
TOML
    timeout 300 "$binary" mock --listen 127.0.0.1:18992 --script "$2" 2>"$work/$1.mock.log" & mock=$!
    timeout 300 "$binary" serve --config "$work/secateur.toml" 2>"$work/$1.serve.log" & server=$!
    for _ in $(seq 100); do "$binary" health --admin 127.0.0.1:18991 >/dev/null 2>&1 && return; sleep 0.05; done
    echo "$1: the proxy did not start"; cat "$work/$1".*.log; exit 1
}

# The environment in which both agents run: nothing of this user's, and no traffic but to the proxy.
alone() {
    (cd "$work/task" && env -i PATH="$PATH" HOME="$work/home" TERM=dumb LANG=C.UTF-8 TMPDIR="$work" \
        CODEX_HOME="$work/codex" SECATEUR_TEST_KEY=sk-test \
        ANTHROPIC_BASE_URL=http://127.0.0.1:18990 ANTHROPIC_API_KEY=sk-ant-test IS_SANDBOX=1 CLAUDE_CODE_TMPDIR="$work" \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1 DISABLE_ERROR_REPORTING=1 \
        NO_PROXY=127.0.0.1 timeout -k 5 "$@" </dev/null)
}
codex() {
    alone 120 "$work/npm/bin/codex" exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox "$1"
}
claude() {
    # Newer models are sent system messages within the conversation (a beta), which the mock refuses.
    alone 120 "$work/npm/bin/claude" -p --dangerously-skip-permissions --model "${CLAUDE_MODEL:-claude-sonnet-4-5}" "$1"
}
cat >"$work/codex/config.toml" <<'TOML'
model = "gpt-5-codex"
model_provider = "secateur"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.secateur]
name = "secateur"
base_url = "http://127.0.0.1:18990/v1"
wire_api = "responses"
env_key = "SECATEUR_TEST_KEY"
TOML

# What is to be read, and the model's part. It goes on only once the output of the call before is really there, and
# thinks before each answer: both agents send that back.
for n in $(seq "$calls"); do
    for line in $(seq 70); do echo "$n:$line the value of record $((n * 1000 + line)) is $((line * 7919 % 997))"; done
    echo "the end of part $n."
done | awk -v dir="$work/task" 'BEGIN { n = 1 } { print > (dir "/part" n ".txt") } /^the end/ { n++ }'
call_of() { # AGENT N
    if [ "$1" = codex ]; then
        echo "{\"name\": \"exec_command\", \"arguments\": {\"cmd\": \"cat part$2.txt\"}}"
    elif [ $(($2 % 2)) = 0 ]; then
        echo "{\"name\": \"Read\", \"arguments\": {\"file_path\": \"$work/task/part$2.txt\"}}"
    else
        echo "{\"name\": \"Bash\", \"arguments\": {\"command\": \"cat part$2.txt\", \"description\": \"Read part $2\"}}"
    fi
}
script() { # AGENT free|bound
    local as='"thinking": true'
    if [ "$2" = bound ]; then as="$as, \"bind_thinking\": true"; fi
    echo "{\"contains\": \"the end of part $calls.\", $as, \"text\": \"All $calls parts are read.\"}"
    for n in $(seq $((calls - 1)) -1 1); do
        echo "{\"contains\": \"the end of part $n.\", $as, \"tool_calls\": [$(call_of "$1" $((n + 1)))]}"
    done
    echo "{\"contains\": \"Read all parts\", $as, \"tool_calls\": [$(call_of "$1" 1)]}"
}

# Says how large the conversation is ("size"), or whether the task went as it should ("check CALLS BOUND").
cat >"$work/look.py" <<'PY'
import json, re, sys, urllib.request


def get(path):
    with urllib.request.urlopen("http://127.0.0.1:18991" + path, timeout=10) as answer:
        return answer.read().decode()


session = max(json.loads(get("/sessions"))["sessions"], key=lambda session: session["requests"])
if sys.argv[1] == "size":
    print(session["input_tokens"])
    sys.exit()
calls, bound = int(sys.argv[2]), sys.argv[3] == "bound"
metrics = get("/metrics")
refused = sum(int(n) for n in re.findall(r'secateur_upstream_answers_total\{status="400"\} (\d+)', metrics))
bypassed = re.findall(r'(secateur_requests_total\{format="(?!none).*outcome="bypassed".*) [1-9]', metrics)
stages = dict(re.findall(r'secateur_edits_total\{.*stage="(\w+)"\} (\d+)', metrics))
tokens = dict(re.findall(r'secateur_input_tokens_total\{format="(?!none).*side="(\w+)"\} (\d+)', metrics))
# One request for each call and one for the text: so no refusal reached the agent, which would have tried again or ended.
assert session["requests"] == calls + 1, session
assert session["prunes"] >= 1, session
assert not bypassed, bypassed
assert bound or not refused, f"{refused} requests were refused by the mock"
print(f"{session['requests']} requests, {session['prunes']} prunes {stages}, of the pruned requests' tokens "
      f"{tokens['before']} -> {tokens['after']}, last {session['input_tokens']}, {refused} refusals kept from the agent")
PY

failed() { # NAME WHY
    echo "$1: $2"
    tail -n 20 "$work/$1.out" "$work/$1".*.log 2>/dev/null
    exit 1
}

# Whether an agent is there to be played: have AGENT PACKAGE
have() {
    if timeout 240 npm install --prefix "$work/npm/$1" --no-audit --no-fund --loglevel=error "$2" >"$work/npm.log" 2>&1 &&
        version=$(alone 30 "$work/npm/$1/node_modules/.bin/$1" --version 2>>"$work/npm.log"); then
        mkdir -p "$work/npm/bin"
        ln -s "$work/npm/$1/node_modules/.bin/$1" "$work/npm/bin/$1"
    else
        echo "$1: left out, for it cannot be installed or started here:"
        tail -n 3 "$work/npm.log"
        return 1
    fi
}

# play AGENT [bound]: first one plain answer, which tells how large the agent's own instructions are; then the task.
play() {
    local agent=$1 bound=${2:-free} name=$1.${2:-free} size
    echo '{"text": "Hello."}' >"$work/hello.jsonl"
    start "$agent.hello" "$work/hello.jsonl" 1000000
    "$agent" "Say hello." >"$work/$agent.hello.out" 2>&1 || failed "$agent.hello" "exit status $?"
    size=$(python3 "$work/look.py" size)
    script "$agent" "$bound" >"$work/$name.jsonl"
    start "$name" "$work/$name.jsonl" $((size + 3000))
    "$agent" "Read all parts." >"$work/$name.out" 2>&1 || failed "$name" "exit status $?"
    grep -q "All $calls parts are read." "$work/$name.out" || failed "$name" "the text did not arrive"
    figures=$(python3 "$work/look.py" check "$calls" "$bound" 2>&1) || failed "$name" "$figures"
    echo "$agent ($version, thinking $bound): $size tokens of its own; $figures"
}
if have codex @openai/codex; then play codex; fi
if have claude @anthropic-ai/claude-code; then play claude; play claude bound; fi
