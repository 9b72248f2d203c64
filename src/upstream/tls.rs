use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

/// TLS as every upstream gets it: the machine's trusted roots. They are read only when `needed`, since that takes
/// milliseconds that a proxy in front of plain HTTP need not wait for.
pub(super) fn config(needed: bool) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    if needed {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 {
            tracing::warn!(
                "no trusted root certificates found, so no https upstream can be reached; install the system's CA \
                 certificates or name a file in SSL_CERT_FILE"
            );
        }
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default protocol versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}
