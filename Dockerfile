# syntax=docker/dockerfile:1
FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY config config
# The manifest names targets that are not part of the image: an empty file stands for each.
RUN mkdir -p tests/it tests/bench && touch tests/it/main.rs && echo 'fn main() {}' > tests/bench/proxy.rs \
    && cargo build --release --locked --bin secateur
# The final image is the binary, the libraries it names, the trusted roots and the example files. No shell.
RUN mkdir -p /image/usr/local/bin /image/etc/ssl/certs /image/etc/secateur \
    && cp target/release/secateur /image/usr/local/bin/ \
    && ldd target/release/secateur | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} /image \
    && cp -L /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && cp -r config /image/etc/secateur/examples \
    && echo 'secateur:x:10001:10001::/:/sbin/nologin' > /image/etc/passwd

FROM scratch
COPY --from=build /image /
# Only in here does it listen on all addresses: what is reachable is decided by the ports that are published.
ENV SECATEUR_LISTEN=0.0.0.0:8790 \
    SECATEUR_ADMIN_LISTEN=0.0.0.0:8791 \
    PATH=/usr/local/bin
EXPOSE 8790 8791
USER 10001
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["secateur", "health"]
ENTRYPOINT ["secateur"]
CMD ["serve"]
