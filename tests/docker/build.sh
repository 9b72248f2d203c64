#!/usr/bin/env bash
# Builds the image of the Dockerfile without a Docker daemon and without pulling anything, starts it, and checks that
# it is healthy and forwards. For machines that run Debian as root, such as a CI runner:
#
#     tests/docker/build.sh [WORK_FOLDER]
#
# The builder's base image is made from Debian's own packages (debootstrap), with this machine's Rust toolchain and
# crate cache copied in. On a machine with Docker, `docker build .` does the same from the public image.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
work=${1:-$(mktemp -d)}
mkdir -p "$work"
storage=(--root "$work/storage" --runroot "$work/run" --storage-driver vfs)
builder_name=docker.io/library/$(awk '/^FROM rust:/ {print $2}' "$repo/Dockerfile")

for tool in buildah debootstrap curl; do
  command -v $tool >/dev/null || missing+=" $tool"
done
if [ -n "${missing:-}" ]; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

b() { buildah "${storage[@]}" "$@"; }

# A base image: a fresh Debian, and whatever is copied in.
base_image() { # NAME PACKAGES [SOURCE TARGET]...
  local name=$1 packages=$2 root
  shift 2
  if b inspect --type image "$name" >/dev/null 2>&1; then return; fi
  root=$work/rootfs-$(echo "$name" | tr -c 'a-z0-9\n' -)
  [ -d "$root/bin" ] || debootstrap --variant=minbase ${packages:+--include="$packages"} bookworm "$root" >"$work/debootstrap.log"
  local container
  container=$(b from --pull-never scratch)
  b add -q "$container" "$root" / >/dev/null
  while [ $# -gt 0 ]; do b add -q "$container" "$1" "$2" >/dev/null; shift 2; done
  b config --env PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
  b commit -q "$container" "$name" >/dev/null
  b rm "$container" >/dev/null
}

toolchain=$(rustc --print sysroot)
cargo_home=${CARGO_HOME:-$HOME/.cargo}
cat >"$work/cargo-config.toml" <<'TOML'
[net]
offline = true
TOML
(cd "$repo" && cargo fetch --locked -q)
echo "== base image"
base_image "$builder_name" ca-certificates,gcc,libc6-dev "$toolchain" /usr/local/cargo "$cargo_home/registry" /root/.cargo/registry \
  "$work/cargo-config.toml" /root/.cargo/config.toml

echo "== build"
b bud --pull-never --isolation chroot -t secateur "$repo"

echo "== run"
container=$(b from --pull-never secateur)
user=$(b inspect --type image --format '{{.OCIv1.Config.User}}' secateur)
mount=$(b mount "$container")
echo "user: $user"
echo "image: $(du -sm "$mount" | cut -f1) MB unpacked, of which the binary: $(du -m "$mount/usr/local/bin/secateur" | cut -f1) MB"
started=$(date +%s%N)
b run --isolation chroot --user 10001 --env SECATEUR_LISTEN=127.0.0.1:18790 --env SECATEUR_ADMIN_LISTEN=127.0.0.1:18791 \
  "$container" -- secateur serve --upstream mock >"$work/serve.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 200); do
  curl -fsS -o /dev/null http://127.0.0.1:18791/readyz 2>/dev/null && break
  sleep 0.05
done
echo "ready after $((($(date +%s%N) - started) / 1000000)) ms"
b run --isolation chroot --user 10001 --env SECATEUR_ADMIN_LISTEN=127.0.0.1:18791 "$container" -- secateur health
curl -fsS http://127.0.0.1:18790/v1/chat/completions -H 'content-type: application/json' \
  -d '{"model":"mock","messages":[{"role":"user","content":"Hello"}]}' | grep -q '"usage"'
echo "the image builds, is healthy and forwards"
