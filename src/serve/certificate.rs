//! `ServedCertificate`: the certificate of the server, which may be replaced while the server runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// The protocols that the server speaks over TLS, the preferred one first (RFC 7301).
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Why a certificate cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The file of the certificate has none.
    #[error("no PEM certificate in it")]
    NoCertificate,
    /// The file of the key has none.
    #[error("no PEM private key in it")]
    NoKey,
    /// rustls refuses the pair. The text is its own: `keys may not be consistent`.
    #[error("{0}")]
    Refused(String),
}

/// The texts of a certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificatePem {
    /// The certificate, and those of the authorities between it and a root.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

/// Leaves out the key.
impl fmt::Debug for CertificatePem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificatePem")
    }
}

impl CertificatePem {
    fn certified(&self) -> Result<Arc<CertifiedKey>, CertificateError> {
        let chain = CertificateDer::pem_slice_iter(&self.certificate);
        let chain: Vec<CertificateDer<'static>> = chain
            .collect::<Result<_, _>>()
            .map_err(|_| CertificateError::NoCertificate)?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| CertificateError::NoKey)?;
        let certified = CertifiedKey::from_der(chain, key, &default_provider());
        let certified = certified.map_err(|error| CertificateError::Refused(error.to_string()))?;
        Ok(Arc::new(certified))
    }
}

/// The certificate that new connections get.
#[derive(Debug)]
pub struct ServedCertificate(RwLock<Arc<CertifiedKey>>);

impl ServedCertificate {
    /// Fails if the key does not belong to the certificate.
    pub fn new(pem: &CertificatePem) -> Result<ServedCertificate, CertificateError> {
        Ok(ServedCertificate(RwLock::new(pem.certified()?)))
    }

    /// From now on, new connections get this certificate. After an error, they get the one before.
    pub fn replace(&self, pem: &CertificatePem) -> Result<(), CertificateError> {
        let certified = pem.certified()?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = certified;
        Ok(())
    }

    /// How connections are encrypted: TLS 1.2 or 1.3, then HTTP/2 or HTTP/1.1.
    pub fn tls(self: &Arc<Self>) -> Result<Arc<ServerConfig>, CertificateError> {
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder.map_err(|error| CertificateError::Refused(error.to_string()))?;
        let resolver: Arc<dyn ResolvesServerCert> = self.clone();
        let mut tls = builder.with_no_client_auth().with_cert_resolver(resolver);
        tls.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
        Ok(Arc::new(tls))
    }
}

impl ResolvesServerCert for ServedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(current.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two certificates for `localhost`, valid for a hundred years. They protect nothing: they were made for this test.
    const ONE: &[u8] = include_bytes!("testdata/one.crt");
    const ONE_KEY: &[u8] = include_bytes!("testdata/one.key");
    const OTHER: &[u8] = include_bytes!("testdata/other.crt");
    const OTHER_KEY: &[u8] = include_bytes!("testdata/other.key");

    fn pem(certificate: &[u8], key: &[u8]) -> CertificatePem {
        CertificatePem {
            certificate: certificate.to_vec(),
            key: key.to_vec(),
        }
    }

    fn served(certificate: &ServedCertificate) -> Vec<u8> {
        let current = certificate.0.read().expect("no panic");
        current.cert[0].to_vec()
    }

    #[test]
    fn a_certificate_has_its_own_key() {
        for (certificate, key, error) in [
            (ONE, ONE_KEY, None),
            (OTHER, OTHER_KEY, None),
            (b"".as_slice(), ONE_KEY, Some("no PEM certificate in it")),
            (ONE_KEY, ONE_KEY, Some("no PEM certificate in it")),
            (ONE, b"".as_slice(), Some("no PEM private key in it")),
            (ONE, ONE, Some("no PEM private key in it")),
            (
                ONE,
                OTHER_KEY,
                Some("keys may not be consistent: KeyMismatch"),
            ),
        ] {
            let made = ServedCertificate::new(&pem(certificate, key));
            assert_eq!(made.err().map(|error| error.to_string()).as_deref(), error);
        }
    }

    #[test]
    fn a_bad_certificate_replaces_none() {
        let certificate = ServedCertificate::new(&pem(ONE, ONE_KEY)).expect("a pair");
        let first = served(&certificate);
        assert!(certificate.replace(&pem(OTHER, ONE_KEY)).is_err());
        assert_eq!(served(&certificate), first);
        assert_eq!(certificate.replace(&pem(OTHER, OTHER_KEY)), Ok(()));
        assert_ne!(served(&certificate), first);
    }

    #[test]
    fn no_text_shows_the_key() {
        assert_eq!(format!("{:?}", pem(ONE, ONE_KEY)), "CertificatePem");
    }
}
