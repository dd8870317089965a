//! `Gate`: who may read. The server shows what its user may read, so other web pages and other users of the machine may not.
//!
//! A web page can make a browser send requests to this machine, under any name that it lets point here (DNS rebinding). So the
//! Host must be this machine's own, and the Origin too. A process of another user can connect, but does not know the token.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, Method, StatusCode, Uri};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::params::{Params, TOKEN};

/// The name that a URL without a port leaves out.
const HTTP_PORT: u16 = 80;

/// Checks requests before anything answers them.
#[derive(Debug)]
pub struct Gate {
    token: AccessToken,
    /// A token that admits the first request that has it, and no other.
    once: Mutex<Option<AccessToken>>,
    port: u16,
    /// The names of this machine that a browser may use.
    hosts: Vec<String>,
}

/// A random text that only who starts the server knows.
#[derive(Clone)]
pub struct AccessToken(String);

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken")
    }
}

impl AccessToken {
    /// A random token; `None` if the system has no random numbers.
    pub fn random() -> Option<AccessToken> {
        let mut bytes = [0; 24];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(AccessToken(URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The text of the token, for the printed address.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether a text is the token. The comparison of digests takes as long for every text.
    fn is(&self, text: &str) -> bool {
        let digest_of = |text: &str| digest(&SHA256, text.as_bytes());
        digest_of(&self.0).as_ref() == digest_of(text).as_ref()
    }
}

/// How a request has shown its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenPlace {
    /// It needs none: it asks whether the server lives.
    Public,
    /// In a header or a cookie.
    Known,
    /// In the address. A browser should now keep it as a cookie.
    InAddress,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Denial {
    /// It is neither GET nor HEAD.
    Method,
    /// It is for another host.
    Host,
    /// Another web page sent it.
    Origin,
    /// It has no token, or another one.
    Token,
}

impl Denial {
    /// All reasons, in the order of the checks.
    pub const ALL: [Denial; 4] = [Denial::Method, Denial::Host, Denial::Origin, Denial::Token];

    /// Its name in the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Denial::Method => "method",
            Denial::Host => "host",
            Denial::Origin => "origin",
            Denial::Token => "token",
        }
    }

    /// The code of the answer.
    pub fn code(self) -> StatusCode {
        match self {
            Denial::Method => StatusCode::METHOD_NOT_ALLOWED,
            Denial::Host | Denial::Origin => StatusCode::FORBIDDEN,
            Denial::Token => StatusCode::UNAUTHORIZED,
        }
    }

    /// The text of the answer.
    pub fn words(self) -> &'static str {
        match self {
            Denial::Method => "error: this server only reads: use GET or HEAD\n",
            Denial::Host => {
                "error: the Host header names another server\nhint: use the printed address\n"
            }
            Denial::Origin => {
                "error: another web page sent this request\nhint: type the address instead of following a link\n"
            }
            Denial::Token => {
                "error: the token is missing or wrong\nhint: open the address that kubectl spy serve printed, \
                 or send the header Authorization: Bearer TOKEN\n"
            }
        }
    }
}

impl Gate {
    /// The gate of a server at this address.
    pub fn new(token: AccessToken, address: SocketAddr) -> Gate {
        let port = address.port();
        let ip = match address.ip() {
            std::net::IpAddr::V4(ip) => ip.to_string(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), ip];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if port == HTTP_PORT {
            hosts.extend(names);
        }
        Gate {
            token,
            once: Mutex::default(),
            port,
            hosts,
        }
    }

    /// Also admits the first request with this token in its address. The answer keeps the other token as a cookie.
    #[must_use]
    pub fn admitting_once(self, token: AccessToken) -> Gate {
        Gate {
            once: Mutex::new(Some(token)),
            ..self
        }
    }

    /// Whether a text is the token that admits once. It is gone then.
    fn takes_once(&self, text: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.take_if(|token| token.is(text)).is_some()
    }

    /// The cookie that keeps the token. Cookies do not tell ports apart, so its name does.
    pub fn cookie(&self) -> String {
        let (name, token) = (self.cookie_name(), self.token.text());
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// Decides about a request.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<TokenPlace, Denial> {
        if *method != Method::GET && *method != Method::HEAD {
            return Err(Denial::Method);
        }
        self.check_host(uri, headers)?;
        self.check_origin(headers)?;
        if matches!(uri.path(), "/livez" | "/readyz") {
            return Ok(TokenPlace::Public);
        }
        let params = Params::of(uri);
        match params.first(TOKEN) {
            Some(token) if self.token.is(token) || self.takes_once(token) => {
                Ok(TokenPlace::InAddress)
            }
            _ if self.is_in_headers(headers) => Ok(TokenPlace::Known),
            Some(_) | None => Err(Denial::Token),
        }
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Denial> {
        let is_ours = |host: &str| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host));
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Denial::Host);
        };
        let in_address = uri.authority().is_none_or(|host| is_ours(host.as_str()));
        let in_header = host.to_str().is_ok_and(is_ours);
        (in_address && in_header).then_some(()).ok_or(Denial::Host)
    }

    /// A request of the user or of our own page has no Origin, or that of the page itself.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Denial> {
        let is_ours = |origin: &str| {
            let host = origin.strip_prefix("http://");
            host.is_some_and(|host| self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host)))
        };
        let from_page = headers.get_all(ORIGIN).iter();
        let mut origins = from_page.map(|origin| origin.to_str().is_ok_and(is_ours));
        let sites = headers.get_all("sec-fetch-site").iter();
        let mut sites = sites.map(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
        let is_ours = origins.all(|is_ours| is_ours) && sites.all(|is_ours| is_ours);
        is_ours.then_some(()).ok_or(Denial::Origin)
    }

    fn is_in_headers(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get_all(AUTHORIZATION).iter();
        let mut bearer = bearer.filter_map(|value| {
            let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut cookies = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| {
                let (of, token) = pair.trim().split_once('=')?;
                (of == name).then_some(token)
            });
        bearer.any(|token| self.token.is(token)) || cookies.any(|token| self.token.is(token))
    }

    fn cookie_name(&self) -> String {
        format!("spy-{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    fn gate() -> Gate {
        let token = AccessToken("right".to_owned());
        Gate::new(token, "127.0.0.1:7780".parse().expect("an address"))
    }

    /// The decision about `METHOD PATH` with these headers, one `Name: value` each.
    fn check(request: &str, headers: &[&str]) -> Result<TokenPlace, Denial> {
        let (method, uri) = request.split_once(' ').expect("a method and a path");
        let mut map = HeaderMap::new();
        for header in headers {
            let (name, value) = header.split_once(": ").expect("a header");
            map.append(
                name.parse::<HeaderName>().expect("a name"),
                HeaderValue::from_str(value).expect("a value"),
            );
        }
        let method = method.parse().expect("a method");
        gate().check(&method, &uri.parse().expect("a path"), &map)
    }

    const HERE: &str = "Host: 127.0.0.1:7780";
    const BEARER: &str = "Authorization: Bearer right";

    #[test]
    fn a_token_is_shown_in_three_ways() {
        for (request, headers, expect) in [
            ("GET /?t=right", &[HERE][..], Ok(TokenPlace::InAddress)),
            ("GET /?t=wrong", &[HERE], Err(Denial::Token)),
            ("GET /", &[HERE], Err(Denial::Token)),
            ("GET /", &[HERE, BEARER], Ok(TokenPlace::Known)),
            (
                "GET /",
                &[HERE, "Authorization: bearer right"],
                Ok(TokenPlace::Known),
            ),
            (
                "GET /",
                &[HERE, "Authorization: Basic right"],
                Err(Denial::Token),
            ),
            (
                "GET /",
                &[HERE, "Authorization: Bearer wrong"],
                Err(Denial::Token),
            ),
            (
                "GET /",
                &[HERE, "Authorization: Bearer"],
                Err(Denial::Token),
            ),
            (
                "GET /",
                &[HERE, "Cookie: a=b; spy-7780=right"],
                Ok(TokenPlace::Known),
            ),
            (
                "GET /",
                &[HERE, "Cookie: spy-7781=right"],
                Err(Denial::Token),
            ),
            (
                "GET /?t=wrong",
                &[HERE, "Cookie: spy-7780=right"],
                Ok(TokenPlace::Known),
            ),
            ("GET /livez", &[HERE], Ok(TokenPlace::Public)),
            ("GET /readyz", &[HERE], Ok(TokenPlace::Public)),
            ("GET /livez/x", &[HERE], Err(Denial::Token)),
        ] {
            assert_eq!(check(request, headers), expect, "{request} {headers:?}");
        }
    }

    #[test]
    fn only_this_machine_is_meant() {
        let (known, refused) = (Ok(TokenPlace::Known), Err(Denial::Host));
        for (host, expect) in [
            ("127.0.0.1:7780", known),
            ("localhost:7780", known),
            ("LOCALHOST:7780", known),
            ("localhost", refused),
            ("localhost:80", refused),
            ("evil.example:7780", refused),
            ("127.0.0.1:7780.evil.example", refused),
        ] {
            let header = format!("Host: {host}");
            assert_eq!(check("GET /", &[&header, BEARER]), expect, "{host}");
        }
        for (request, headers) in [
            ("GET /", &[HERE, "Host: evil.example", BEARER][..]),
            ("GET /", &[BEARER]),
            ("GET /livez", &["Host: evil.example:7780"]),
            ("GET http://evil.example/", &[HERE, BEARER]),
        ] {
            assert_eq!(check(request, headers), refused, "{request} {headers:?}");
        }
    }

    #[test]
    fn only_its_own_page_asks_and_it_only_reads() {
        let (known, refused) = (Ok(TokenPlace::Known), Err(Denial::Origin));
        for (header, expect) in [
            ("Origin: http://127.0.0.1:7780", known),
            ("Origin: https://127.0.0.1:7780", refused),
            ("Origin: http://evil.example", refused),
            ("Origin: null", refused),
            ("Sec-Fetch-Site: same-origin", known),
            ("Sec-Fetch-Site: none", known),
            ("Sec-Fetch-Site: same-site", refused),
            ("Sec-Fetch-Site: cross-site", refused),
        ] {
            assert_eq!(check("GET /", &[HERE, BEARER, header]), expect, "{header}");
        }
        for (method, expect) in [
            ("HEAD", known),
            ("POST", Err(Denial::Method)),
            ("DELETE", Err(Denial::Method)),
            ("OPTIONS", Err(Denial::Method)),
        ] {
            assert_eq!(check(&format!("{method} /"), &[HERE, BEARER]), expect);
        }
    }

    #[test]
    fn tokens_are_random_and_fit_an_address() {
        let one = AccessToken::random().expect("random numbers");
        let other = AccessToken::random().expect("random numbers");
        assert_ne!(one.text(), other.text());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        assert!(one.text().len() == 32 && one.text().chars().all(is_plain));
        assert_eq!(format!("{one:?}"), "AccessToken");
    }

    #[test]
    fn a_token_of_the_list_of_processes_admits_once() {
        let once = AccessToken("once".to_owned());
        let gate = gate().admitting_once(once);
        let ask = |address: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:7780"));
            gate.check(&Method::GET, &address.parse().expect("a path"), &headers)
        };
        assert_eq!(ask("/?t=other"), Err(Denial::Token));
        assert_eq!(ask("/?t=once"), Ok(TokenPlace::InAddress));
        assert_eq!(ask("/?t=once"), Err(Denial::Token));
        assert_eq!(ask("/?t=right"), Ok(TokenPlace::InAddress));
    }

    proptest! {
        /// No other host, and no other token, gets in.
        #[test]
        fn only_the_right_host_and_token_pass(host in "[a-z0-9.:\\[\\]-]{1,24}", token in "[ -~]{0,12}") {
            let header = format!("Authorization: Bearer {token}");
            let passed = check("GET /", &[&format!("Host: {host}"), &header]).is_ok();
            let is_ours = ["127.0.0.1:7780", "localhost:7780"].contains(&host.as_str());
            prop_assert_eq!(passed, is_ours && token.trim() == "right");
        }
    }
}
