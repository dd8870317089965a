//! Whether the private key of a TLS Secret belongs to its certificate.
//!
//! The public half of the key is computed and compared. Nothing of the key goes anywhere else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::object::Value;

use super::cause_rule::CauseRule;
use super::verdict::Verdict;

/// The problem of a TLS Secret with the private key of another certificate. A key that the library does not read may
/// belong to the certificate.
pub(super) fn problem(secret: Value<'_>, certificate: CertificateDer<'static>) -> Option<Verdict> {
    let key = STANDARD
        .decode(&*secret.str_at(&["data", "tls.key"])?)
        .ok()?;
    let key = PrivateKeyDer::from_pem_slice(&key).ok()?;
    let key = any_supported_type(&key).ok()?;
    let compared = CertifiedKey::new(vec![certificate], key).keys_match();
    let is_other = compared == Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch));
    is_other.then(|| {
        let message = "the private key in tls.key does not belong to the certificate in tls.crt";
        Verdict::failed("KeyMismatch", message).by(CauseRule::KeyMismatch)
    })
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;
    use crate::status::certificate::WILDCARD_CERTIFICATE;

    /// The private key of the certificate, in both forms.
    const KEY: &str = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR0hBZ0VBTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEJHMHdhd0lCQVFRZ01qc2FhM2hnZUtpZjRNcksKYXJ0NnVicVpuRzVmR3dBSlJoN1VTM1RyeDZHaFJBTkNBQVNoSit0SWUzM3d0Tzk1YWpwQTNHTys2MEg5OG9uMwptNjh3aERheWRyMTZ2TTJpbEhod2VicHpnSTlzT2x5L20rZHRHT1dXZ05zcHU1VDZmejdPeWp1YgotLS0tLUVORCBQUklWQVRFIEtFWS0tLS0tCg==";
    const KEY_SEC1: &str = "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSURJN0dtdDRZSGlvbitES3ltcTdlcm02bVp4dVh4c0FDVVllMUV0MDY4ZWhvQW9HQ0NxR1NNNDkKQXdFSG9VUURRZ0FFb1NmclNIdDk4TFR2ZVdvNlFOeGp2dXRCL2ZLSjk1dXZNSVEyc25hOWVyek5vcFI0Y0htNgpjNENQYkRwY3Y1dm5iUmpsbG9EYktidVUrbjgrenNvN213PT0KLS0tLS1FTkQgRUMgUFJJVkFURSBLRVktLS0tLQo=";

    /// The private key of another certificate.
    const OTHER_KEY: &str = "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JR0hBZ0VBTUJNR0J5cUdTTTQ5QWdFR0NDcUdTTTQ5QXdFSEJHMHdhd0lCQVFRZ2ZpWkExL0xnd3NUcGI2bGcKU1lMR1poQVRFdnl4eFd2QlBmM2I1SWk2NVg2aFJBTkNBQVRJMUpCdzZYTHZPa3ppVnp4ZjlhUy9TNGNraU1HdQp6OHBmOUFFL2hud1htbXJockhlVE8rNzhxSE90QWIzTEtMQWdYRXVoM2VxVFhsdnBKT3JGcjlLSwotLS0tLUVORCBQUklWQVRFIEtFWS0tLS0tCg==";

    #[test]
    fn the_private_key_must_belong_to_the_certificate() {
        for (key, is_problem) in [
            (KEY, false),
            (KEY_SEC1, false),
            (OTHER_KEY, true),
            // A word, the same in base64, and the start of a key.
            ("word", false),
            ("d29yZA==", false),
            (&OTHER_KEY[..200], false),
            ("", false),
        ] {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls","data":{{"tls.crt":"{WILDCARD_CERTIFICATE}","tls.key":"{key}"}}}}"#
            );
            let secret = Doc::parse(text).expect("a case is JSON");
            let now = "2026-12-01T00:00:00Z".parse().expect("a time");
            let found = crate::status::certificate::problem(secret.root(), now);
            let found = found.map(|verdict| format!("{}: {}", verdict.status, verdict.message));
            let problem =
                "Failed: the private key in tls.key does not belong to the certificate in tls.crt";
            assert_eq!(found.as_deref(), is_problem.then_some(problem), "{key}");
        }
    }
}
