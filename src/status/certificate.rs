//! The certificate of a TLS Secret: whether it can be read, and until when it is valid.
//!
//! Of `tls.key`, the public half is computed and compared with that of `tls.crt`. Nothing of the key goes anywhere else.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use rustls::InconsistentKeys;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::sign::CertifiedKey;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use webpki::{EndEntityCert, Error, KeyUsage};

use super::cause::Cause;
use super::cause_rule::CauseRule;
use super::verdict::Verdict;
use crate::object::Value;

/// The problem of a TLS Secret's certificate at a time. The first certificate counts: it is the server's own.
pub(super) fn problem(secret: Value<'_>, now: Timestamp) -> Option<Verdict> {
    let text = encoded(secret)?;
    let validity = match dates_of(&text) {
        CertificateDates::Known(validity) => validity,
        CertificateDates::Unknown => return None,
        CertificateDates::NeverValid => return Some(bad("the certificate ends before it begins")),
        CertificateDates::NoCertificate => return Some(bad("tls.crt is not a PEM certificate")),
    };
    if now > validity.not_after {
        let message = format!("the certificate expired at {}", validity.not_after);
        return Some(Verdict::failed("Expired", message).by(CauseRule::BadCertificate));
    }
    if now < validity.not_before {
        let message = format!(
            "the certificate is not valid before {}",
            validity.not_before
        );
        return Some(Verdict::in_progress("NotValidYet", message).by(CauseRule::BadCertificate));
    }
    key_problem(secret, first(&text)?)
}

fn bad(message: &str) -> Verdict {
    Verdict::failed("BadCertificate", message).by(CauseRule::BadCertificate)
}

/// When the state of a TLS Secret changes although the object does not.
pub(super) fn moments(secret: Value<'_>) -> Vec<Timestamp> {
    let Some(CertificateDates::Known(validity)) = encoded(secret).map(|text| dates_of(&text))
    else {
        return Vec::new();
    };
    let second = jiff::SignedDuration::from_secs(1);
    let ends = [validity.not_before, validity.not_after].into_iter();
    ends.filter_map(|end| end.checked_add(second).ok())
        .collect()
}

/// The base64 text of `tls.crt`; `None` for a Secret of another type.
fn encoded(secret: Value<'_>) -> Option<String> {
    let is_tls = secret.str_at(&["type"]).as_deref() == Some("kubernetes.io/tls");
    let text = secret.str_at(&["data", "tls.crt"]).filter(|_| is_tls)?;
    Some(text.into_owned())
}

/// From when until when a certificate is valid (RFC 5280, 4.1.2.5).
struct Validity {
    not_before: Timestamp,
    not_after: Timestamp,
}

/// What a text tells about the dates of its certificate.
enum CertificateDates {
    Known(Validity),
    /// It has a certificate that the library does not read, such as one of X.509 version 1. Servers may accept it.
    Unknown,
    /// It ends before it begins.
    NeverValid,
    NoCertificate,
}

/// The dates of the first certificate in base64 of PEM text.
fn dates_of(encoded: &str) -> CertificateDates {
    let Some(der) = first(encoded) else {
        return CertificateDates::NoCertificate;
    };
    match EndEntityCert::try_from(&der) {
        Ok(certificate) => Validity::dates(&certificate),
        Err(Error::UnsupportedCertVersion) => CertificateDates::Unknown,
        Err(_) => CertificateDates::NoCertificate,
    }
}

/// The first certificate in base64 of PEM text.
fn first(encoded: &str) -> Option<CertificateDer<'static>> {
    let pem = STANDARD.decode(encoded).ok()?;
    CertificateDer::from_pem_slice(&pem).ok()
}

/// The hosts that the certificate of a TLS Secret names.
#[derive(Debug)]
pub struct CertificateNames {
    der: CertificateDer<'static>,
    hosts: Vec<String>,
}

impl CertificateNames {
    /// Reads the subject alternative names; `None` for a Secret without a readable certificate.
    pub fn of(secret: Value<'_>) -> Option<CertificateNames> {
        let der = first(&encoded(secret)?)?;
        let certificate = EndEntityCert::try_from(&der).ok()?;
        let hosts = certificate.valid_dns_names().map(str::to_owned).collect();
        Some(CertificateNames { der, hosts })
    }

    /// Whether clients accept the certificate for a host. A wildcard stands for the left-most label alone (RFC 6125, 6.4.3).
    /// The host of an Ingress or a listener may be a wildcard, too.
    pub fn include(&self, host: &str) -> bool {
        if host.starts_with("*.") {
            let mut hosts = self.hosts.iter();
            return hosts.any(|name| name.eq_ignore_ascii_case(host));
        }
        let certificate = EndEntityCert::try_from(&self.der);
        let host = ServerName::try_from(host);
        // A host that is no host name is the API server's to refuse.
        let (Ok(certificate), Ok(host)) = (certificate, host) else {
            return true;
        };
        let valid = certificate.verify_is_valid_for_subject_name(&host);
        valid.is_ok()
    }
}

/// `web.example.com, *.example.org`, or `no host`: clients look only at the subject alternative names (RFC 9525, 2).
impl fmt::Display for CertificateNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hosts.is_empty() {
            return f.write_str("no host (clients ignore its common name)");
        }
        f.write_str(&self.hosts.join(", "))
    }
}

/// The note of a certificate that is its own issuer.
pub(super) fn self_signed(secret: Value<'_>) -> Option<Cause> {
    let der = first(&encoded(secret)?)?;
    let certificate = EndEntityCert::try_from(&der).ok()?;
    let is_own_issuer = certificate.issuer() == certificate.subject();
    is_own_issuer.then(|| Cause::new(CauseRule::SelfSigned, "the certificate is self-signed"))
}

impl Validity {
    fn dates(certificate: &EndEntityCert<'_>) -> CertificateDates {
        // The library tells the dates only by refusing a certificate at the wrong time. It looks at them first.
        let error_at = |seconds| {
            let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
            let usage = KeyUsage::server_auth();
            certificate
                .verify_for_usage(&[], &[], &[], time, usage, None, None)
                .err()
        };
        let not_after = match error_at(u64::MAX) {
            Some(Error::CertExpired { not_after, .. }) => timestamp(not_after),
            Some(Error::InvalidCertValidity) => return CertificateDates::NeverValid,
            _ => None,
        };
        let not_before = match error_at(0) {
            Some(Error::CertNotValidYet { not_before, .. }) => timestamp(not_before),
            _ => Some(Timestamp::UNIX_EPOCH),
        };
        match (not_before, not_after) {
            (Some(not_before), Some(not_after)) => CertificateDates::Known(Validity {
                not_before,
                not_after,
            }),
            _ => CertificateDates::Unknown,
        }
    }
}

fn timestamp(time: UnixTime) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(time.as_secs()).ok()?).ok()
}

/// A certificate for web.example.com, valid from 2026-11-23 to 2027-11-23.
#[cfg(test)]
pub(crate) const CERTIFICATE_OF_WEB: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJqVENDQVRPZ0F3SUJBZ0lVT0VxaW14YnRoY012RmxGN1BRZjIxbDJkWHFnd0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RGQyVmlNQjRYRFRJMk1URXlNekEyTWpFek1Gb1hEVEkzTVRFeU16QTJNakV6TUZvdwpEakVNTUFvR0ExVUVBd3dEZDJWaU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRUtWYVo3TUFUCklmLzZlSS85a0FzbG1iQ3pETVdKLzVneFNEWFNaY0JKQm1sSlpqYXpTV1V2ME1TdjNZOHRMa2RlbHZoQlNCKzMKUDByQllvUCt3RmdacGFOdk1HMHdIUVlEVlIwT0JCWUVGTEdvaDhTdGRHTkdLVUFsOGtBdTZubHFHcGIzTUI4RwpBMVVkSXdRWU1CYUFGTEdvaDhTdGRHTkdLVUFsOGtBdTZubHFHcGIzTUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3CkdnWURWUjBSQkJNd0VZSVBkMlZpTG1WNFlXMXdiR1V1WTI5dE1Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRQ2sKNzZtMGJMaWlzbEZFYUE1djFXL2VxdTNqWkx2YmxPOXM1YWE5RitzOC9RSWdZUnB3MENnNTNRSkI0WFlSa3hjVwpwNDdPbzBpczd0dDNJMlkxSkgzenI4VT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

/// A certificate for *.example.com, valid from 2026-11-24 to 2036-11-21.
#[cfg(test)]
pub(super) const WILDCARD_CERTIFICATE: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJpakNDQVRHZ0F3SUJBZ0lVQ0kwQnV0Q05MazJ0UFE2TmpjM3ZFNWpFaXBrd0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RGQyVmlNQjRYRFRJMk1URXlOREV4TkRJek9Gb1hEVE0yTVRFeU1URXhOREl6T0ZvdwpEakVNTUFvR0ExVUVBd3dEZDJWaU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRW9TZnJTSHQ5CjhMVHZlV282UU54anZ1dEIvZktKOTV1dk1JUTJzbmE5ZXJ6Tm9wUjRjSG02YzRDUGJEcGN2NXZuYlJqbGxvRGIKS2J1VStuOCt6c283bTZOdE1Hc3dIUVlEVlIwT0JCWUVGTDd2SmFPenJrM21GOWQ3K00xVHl5QWRlOUo4TUI4RwpBMVVkSXdRWU1CYUFGTDd2SmFPenJrM21GOWQ3K00xVHl5QWRlOUo4TUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3CkdBWURWUjBSQkJFd0Q0SU5LaTVsZUdGdGNHeGxMbU52YlRBS0JnZ3Foa2pPUFFRREFnTkhBREJFQWlCSXV2WGEKVWY0S1BiUjN3Z0R2QUJ4R0NlZHJEUTRQeG01aStGTnI1bWt0c2dJZ1drQ0x5T25oV3hYU3g2Y1ZDa3YwVithTwo2Qnl2UzNhTlVPM3JVcjhQRjZNPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

/// The problem of a TLS Secret with the private key of another certificate. A key that the library does not read may
/// belong to the certificate.
fn key_problem(secret: Value<'_>, certificate: CertificateDer<'static>) -> Option<Verdict> {
    let key = STANDARD
        .decode(&*secret.str_at(&["data", "tls.key"])?)
        .ok()?;
    let key = PrivateKeyDer::from_pem_slice(&key).ok()?;
    let key = any_supported_type(&key).ok()?;
    let compared = CertifiedKey::new(vec![certificate], key).keys_match();
    let is_other = compared
        == Err(rustls::Error::InconsistentKeys(
            InconsistentKeys::KeyMismatch,
        ));
    is_other.then(|| {
        let message = "the private key in tls.key does not belong to the certificate in tls.crt";
        Verdict::failed("KeyMismatch", message).by(CauseRule::KeyMismatch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    use CERTIFICATE_OF_WEB as CERTIFICATE;

    /// A certificate that ends a day before it begins.
    const NEVER_VALID: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJXekNDQVFHZ0F3SUJBZ0lVZVlGQ2hqYmtILzJyM2w5RWVPaUloM3BmenVRd0NnWUlLb1pJemowRUF3SXcKRGpFTU1Bb0dBMVVFQXd3RGQyVmlNQjRYRFRJMk1URXlNekV5TVRVME5sb1hEVEkyTVRFeU1qRXlNVFUwTmxvdwpEakVNTUFvR0ExVUVBd3dEZDJWaU1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdBRVFOM2lYYTh3ClFrK1B1S2dldFhram1sdzB4SjBDNzYvSHg3Um1VQWJ0RFNFS3A0anBEY3QxRGNuM3VNb3A5VzNLZDVMUU5VbmUKWE5ldXBDTmF5ZmpJK0tNOU1Ec3dHZ1lEVlIwUkJCTXdFWUlQZDJWaUxtVjRZVzF3YkdVdVkyOXRNQjBHQTFVZApEZ1FXQkJTZml5ZVlsWnFneHpwSFhLOEduMkFPR21KVmpUQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQU5WTWhvCi9MaVJKOFZ3OHRFRTBHeDdkeVZsUGR0R240UTJGcmYwOVIzVWdRSWhBSW1KV3JESTNFRElXTzRHNHpXdUFWRzQKMkhoZi91b3hEUldBaE8xOEVsT0YKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";

    /// A certificate of X.509 version 1.
    const VERSION_1: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJGakNCdlFJVWZhMS9LdytJVHgrQ01qZkVramxQMVg0NVk2b3dDZ1lJS29aSXpqMEVBd0l3RGpFTU1Bb0cKQTFVRUF3d0RkMlZpTUI0WERUSTJNVEV5TXpFeE16RXhORm9YRFRJM01URXlNekV4TXpFeE5Gb3dEakVNTUFvRwpBMVVFQXd3RGQyVmlNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVRTjNpWGE4d1FrK1B1S2dlCnRYa2ptbHcweEowQzc2L0h4N1JtVUFidERTRUtwNGpwRGN0MURjbjN1TW9wOVczS2Q1TFFOVW5lWE5ldXBDTmEKeWZqSStEQUtCZ2dxaGtqT1BRUURBZ05JQURCRkFpQWNIZ0ViM0c2RlJIa0VxSFA2UmpOcDlTSnRrcklTeGpFawpNTnZBbG5RNHFBSWhBS1hqczZkdEQ3OHBWdktXVlhOQURGUnhhQ2ltRzJ0d3lDV0daTUpiYUhEUQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

    fn secret(kind: &str, certificate: &str) -> Doc {
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"Secret","type":"{kind}","data":{{"tls.crt":"{certificate}","tls.key":""}}}}"#
        );
        Doc::parse(text).expect("a case is JSON")
    }

    fn message(secret: &Doc, now: &str) -> String {
        let now = now.parse().expect("a time");
        problem(secret.root(), now).map_or_else(String::new, |verdict| {
            format!("{}: {}", verdict.status, verdict.message)
        })
    }

    #[test]
    fn a_certificate_is_judged_by_its_dates() {
        let tls = secret("kubernetes.io/tls", CERTIFICATE);
        assert_eq!(message(&tls, "2026-11-23T07:00:00Z"), "");
        assert_eq!(message(&tls, "2027-11-23T06:21:30Z"), "");
        assert_eq!(
            message(&tls, "2027-11-23T06:21:31Z"),
            "Failed: the certificate expired at 2027-11-23T06:21:30Z"
        );
        assert_eq!(
            message(&tls, "2026-11-22T00:00:00Z"),
            "InProgress: the certificate is not valid before 2026-11-23T06:21:30Z"
        );
        let moments: Vec<String> = moments(tls.root())
            .iter()
            .map(Timestamp::to_string)
            .collect();
        assert_eq!(moments, ["2026-11-23T06:21:31Z", "2027-11-23T06:21:31Z"]);
    }

    #[test]
    fn a_certificate_that_cannot_be_read_is_a_problem() {
        let unreadable = "Failed: tls.crt is not a PEM certificate";
        // Nothing, a word, the same in base64, and the start of a certificate.
        for certificate in ["", "word", "d29yZA==", &CERTIFICATE[..400]] {
            let tls = secret("kubernetes.io/tls", certificate);
            assert_eq!(
                message(&tls, "2026-11-23T07:00:00Z"),
                unreadable,
                "{certificate}"
            );
        }
        let never = secret("kubernetes.io/tls", NEVER_VALID);
        assert_eq!(
            message(&never, "2026-11-24T07:00:00Z"),
            "Failed: the certificate ends before it begins"
        );
        let version_1 = secret("kubernetes.io/tls", VERSION_1);
        assert_eq!(message(&version_1, "2026-11-24T07:00:00Z"), "");
        assert!(moments(version_1.root()).is_empty());
        let other = secret("Opaque", "word");
        assert_eq!(message(&other, "2026-11-23T07:00:00Z"), "");
    }

    /// A certificate with the common name web.example.com and no subject alternative names.
    const COMMON_NAME: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJpakNDQVMrZ0F3SUJBZ0lVVG1QVndHT0VzME1WKzVyUncycm1qbDVzZ0VZd0NnWUlLb1pJemowRUF3SXcKR2pFWU1CWUdBMVVFQXd3UGQyVmlMbVY0WVcxd2JHVXVZMjl0TUI0WERUSTJNVEV5TkRFeE5ESXpPRm9YRFRNMgpNVEV5TVRFeE5ESXpPRm93R2pFWU1CWUdBMVVFQXd3UGQyVmlMbVY0WVcxd2JHVXVZMjl0TUZrd0V3WUhLb1pJCnpqMENBUVlJS29aSXpqMERBUWNEUWdBRW9TZnJTSHQ5OExUdmVXbzZRTnhqdnV0Qi9mS0o5NXV2TUlRMnNuYTkKZXJ6Tm9wUjRjSG02YzRDUGJEcGN2NXZuYlJqbGxvRGJLYnVVK244K3pzbzdtNk5UTUZFd0hRWURWUjBPQkJZRQpGTDd2SmFPenJrM21GOWQ3K00xVHl5QWRlOUo4TUI4R0ExVWRJd1FZTUJhQUZMN3ZKYU96cmszbUY5ZDcrTTFUCnl5QWRlOUo4TUE4R0ExVWRFd0VCL3dRRk1BTUJBZjh3Q2dZSUtvWkl6ajBFQXdJRFNRQXdSZ0loQUlVZmE2bm0KUUFKajk4a0xoKzZRRVpqemxHd3RJT1BiWmNxK1d2Y0lHNjNlQWlFQWwxTFN0b0lTN3hKRWEvUDlwTDNLM1NqRgpJZFV3SENQN3NzN2NCTGZLY0RFPQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

    #[test]
    fn a_wildcard_stands_for_one_label() {
        let names = |certificate: &str| {
            let secret = secret("kubernetes.io/tls", certificate);
            CertificateNames::of(secret.root()).expect("a certificate")
        };
        let wildcard = names(WILDCARD_CERTIFICATE);
        for (host, is_included) in [
            ("a.example.com", true),
            ("A.Example.COM", true),
            ("*.example.com", true),
            ("example.com", false),
            ("a.b.example.com", false),
            ("*.b.example.com", false),
            ("a.example.org", false),
        ] {
            assert_eq!(wildcard.include(host), is_included, "{host}");
        }
        let common = names(COMMON_NAME);
        assert!(!common.include("web.example.com"));
        let expected = "no host (clients ignore its common name)";
        assert_eq!(common.to_string(), expected);
    }
}

#[cfg(test)]
mod key_tests {
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
