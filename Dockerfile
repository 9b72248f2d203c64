# syntax=docker/dockerfile:1
FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY config config
# The manifest names targets that are not part of the image: an empty file stands for each.
RUN mkdir -p tests/it tests/bench && touch tests/it/main.rs tests/bench/proxy.rs \
    && cargo build --release --locked --bin secateur

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --no-install-recommends -y ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin secateur
COPY --from=build /build/target/release/secateur /usr/local/bin/secateur
COPY --from=build /build/config /etc/secateur/examples
# Only in here does it listen on all addresses: what is reachable is decided by the ports that are published.
ENV SECATEUR_LISTEN=0.0.0.0:8790 \
    SECATEUR_ADMIN_LISTEN=0.0.0.0:8791
EXPOSE 8790 8791
USER 10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["secateur", "health"]
ENTRYPOINT ["secateur"]
CMD ["serve"]
