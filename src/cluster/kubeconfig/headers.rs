//! The headers that identify the user. Each is checked before a library gets it.

use std::path::Path;

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use kube::config::AuthInfo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::ExposeSecret;

use super::error::ConfigError;
use super::overrides::Overrides;
use super::proxy::basic_authorization;
use super::read;

/// The headers of a request.
pub(super) type Headers = Vec<(HeaderName, HeaderValue)>;

/// The origin of a user's header values, for messages.
pub(super) struct HeaderSource<'o> {
    pub(super) user_name: &'o str,
    pub(super) overrides: &'o Overrides,
}

impl HeaderSource<'_> {
    /// The flag if it is set, else the field of the kubeconfig's user.
    fn of(&self, flag: (&str, bool), field: &str) -> String {
        match flag {
            (name, true) => name.to_owned(),
            (_, false) => format!("{field} of user {:?}", self.user_name),
        }
    }
}

/// The `Authorization` header, if there is a password, a token or a token file. This takes their values out of
/// `user`. As in client-go, white space around the token in a file is ignored.
pub(super) fn authorization(
    user: &mut AuthInfo,
    origin: &HeaderSource<'_>,
) -> Result<Headers, ConfigError> {
    let login = user.username.take().zip(user.password.take());
    let (token, file) = (user.token.take(), user.token_file.take());
    if user.auth_provider.is_some() {
        return Ok(Headers::new());
    }
    if let Some((name, password)) = login {
        let value = basic_authorization(&name, password.expose_secret());
        let setting = format!("the password of user {:?}", origin.user_name);
        return Ok(vec![sensitive(&value, setting)?]);
    }
    let (token, setting) = if let Some(token) = token {
        let flag = origin.overrides.credentials.token.is_some();
        let setting = origin.of(("--token", flag), "the token");
        (token.expose_secret().to_owned(), setting)
    } else if let Some(path) = file {
        let content = read(Path::new(&path))?;
        let token = String::from_utf8_lossy(&content).trim().to_owned();
        (token, format!("the token in {path}"))
    } else {
        return Ok(Headers::new());
    };
    user.exec = None;
    Ok(vec![bearer(&token, setting)?])
}

pub(crate) fn bearer(
    token: &str,
    setting: String,
) -> Result<(HeaderName, HeaderValue), ConfigError> {
    sensitive(&format!("Bearer {token}"), setting)
}

fn sensitive(text: &str, setting: String) -> Result<(HeaderName, HeaderValue), ConfigError> {
    let mut value = value("Authorization", text, setting)?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}

/// The impersonation headers, as client-go writes them. This takes their values out of `user`.
pub(super) fn impersonation(
    user: &mut AuthInfo,
    origin: &HeaderSource<'_>,
) -> Result<Headers, ConfigError> {
    let flags = &origin.overrides.impersonate;
    let mut headers = Headers::new();
    let mut add = |name: &str, text: &str, setting: String| {
        let value = value(name, text, setting.clone())?;
        let name = HeaderName::try_from(name).map_err(|_| invalid(name, setting))?;
        headers.push((name, value));
        Ok::<_, ConfigError>(())
    };
    if let Some(name) = user.impersonate.take() {
        let setting = origin.of(("--as", flags.user.is_some()), "`as`");
        add("Impersonate-User", &name, setting)?;
    }
    if let Some(uid) = user.impersonate_uid.take() {
        let setting = origin.of(("--as-uid", flags.uid.is_some()), "`as-uid`");
        add("Impersonate-Uid", &uid, setting)?;
    }
    for group in user.impersonate_groups.take().into_iter().flatten() {
        let setting = origin.of(("--as-group", !flags.groups.is_empty()), "`as-groups`");
        add("Impersonate-Group", &group, setting)?;
    }
    for (key, values) in user.impersonate_user_extra.take().into_iter().flatten() {
        for text in values {
            let setting = origin.of(
                ("--as-user-extra", !flags.extra.is_empty()),
                "`as-user-extra`",
            );
            add(&extra_name(&key), &text, setting)?;
        }
    }
    Ok(headers)
}

/// All characters that no header name may have, and `%` itself.
const NO_HEADER: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'*')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The header name for a key, escaped as client-go does it (`headerKeyEscape`).
fn extra_name(key: &str) -> String {
    format!("Impersonate-Extra-{}", utf8_percent_encode(key, NO_HEADER))
}

fn value(name: &str, text: &str, setting: String) -> Result<HeaderValue, ConfigError> {
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| invalid(name, setting))
}

fn invalid(name: &str, setting: String) -> ConfigError {
    ConfigError::Header {
        name: name.to_owned(),
        setting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_keys_are_escaped_as_in_client_go() {
        for (key, name) in [
            ("FOO-bar.baz_123", "Impersonate-Extra-FOO-bar.baz_123"),
            ("foo%2f", "Impersonate-Extra-foo%252f"),
            (
                "example.com/a b\n",
                "Impersonate-Extra-example.com%2Fa%20b%0A",
            ),
            ("é", "Impersonate-Extra-%C3%A9"),
        ] {
            assert_eq!(extra_name(key), name);
            assert!(HeaderName::try_from(extra_name(key)).is_ok());
        }
    }
}
