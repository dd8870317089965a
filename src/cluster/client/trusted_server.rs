//! `TrustedServer`: accepts a server certificate that the kubeconfig itself names as trusted.
//!
//! A self-signed server certificate is often its own `certificate-authority`. Go accepts it, because it is one of the roots. webpki
//! refuses it with `CaUsedAsEndEntity` if it may sign others, as those of most tools may.

use std::sync::Arc;

use kube::Config;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};

use crate::cluster::kubeconfig::ConfigError;

/// Checks certificates as usual, but also accepts one of the roots as that of the server.
#[derive(Debug)]
struct TrustedServer {
    usual: Arc<WebPkiServerVerifier>,
    roots: Vec<CertificateDer<'static>>,
}

/// Makes the client accept a server whose certificate is one of the roots of `config`, if it has roots of its own.
pub(super) fn accept_roots(tls: &mut ClientConfig, config: &Config) -> Result<(), ConfigError> {
    let Some(roots) = &config.root_cert else {
        return Ok(());
    };
    if config.accept_invalid_certs || config.root_cert_file.is_some() || roots.is_empty() {
        return Ok(());
    }
    let roots = roots.iter().map(|root| CertificateDer::from(root.clone()));
    let roots: Vec<CertificateDer<'static>> = roots.collect();
    let mut store = RootCertStore::empty();
    for root in &roots {
        store.add(root.clone()).map_err(|error| invalid(&error))?;
    }
    let provider = tls.crypto_provider().clone();
    let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider).build();
    let usual = usual.map_err(|error| invalid(&error))?;
    let verifier = Arc::new(TrustedServer { usual, roots });
    tls.dangerous().set_certificate_verifier(verifier);
    Ok(())
}

fn invalid(error: &dyn std::error::Error) -> ConfigError {
    ConfigError::invalid(format!("TLS settings of the kubeconfig: {error}"))
}

/// Whether the only fault is that the certificate may sign others. webpki checks its dates before.
fn is_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error else {
        return false;
    };
    cause.downcast_ref::<webpki::Error>() == Some(&webpki::Error::CaUsedAsEndEntity)
}

impl ServerCertVerifier for TrustedServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let usual = &self.usual;
        match usual.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(error) if is_authority(&error) && self.roots.contains(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}
