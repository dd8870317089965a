//! `Gate`: who may read. The server shows what its user may read, so other web pages and other users of the machine may not.
//!
//! A web page can make a browser send requests to this machine, under any name that it lets point here (DNS rebinding). So the
//! Host must be this machine's own, and the Origin too. A process of another user can connect, but does not know the token.
//!
//! With `--auth=kube`, each reader sends his own Kubernetes token. A browser sends it only to the name that its user has typed it
//! for, so any Host will do. The Origin must be that Host.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, Method, StatusCode, Uri};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::params::{Params, TOKEN};
use super::reader::{ReaderToken, WebReader};

/// The ports that a URL leaves out.
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// Checks requests before anything answers them.
#[derive(Debug)]
pub struct Gate {
    keys: GateKeys,
    /// `http` or `https`.
    scheme: &'static str,
}

/// What admits a request.
#[derive(Debug)]
enum GateKeys {
    /// A token that only the user who started the server knows.
    Own(OwnKeys),
    /// The Kubernetes token of any user of the cluster.
    Kube,
}

/// The keys of the user who started the server.
#[derive(Debug)]
struct OwnKeys {
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

/// How a request is admitted.
#[derive(Clone, Debug)]
pub enum Admitted {
    /// It needs no token: it asks whether the server lives.
    Public,
    /// It has the token of this reader, in a header or a cookie.
    Known(WebReader),
    /// It has the token of the owner in its address. A browser should now keep it as a cookie.
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
    /// It wants to read as somebody else.
    Impersonation,
    /// It has no token, or another one.
    Token,
}

impl Denial {
    /// All reasons, in the order of the checks.
    pub const ALL: [Denial; 5] = [
        Denial::Method,
        Denial::Host,
        Denial::Origin,
        Denial::Impersonation,
        Denial::Token,
    ];

    /// Its name in the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Denial::Method => "method",
            Denial::Host => "host",
            Denial::Origin => "origin",
            Denial::Impersonation => "impersonation",
            Denial::Token => "token",
        }
    }

    /// The code of the answer.
    pub fn code(self) -> StatusCode {
        match self {
            Denial::Method => StatusCode::METHOD_NOT_ALLOWED,
            Denial::Host | Denial::Origin | Denial::Impersonation => StatusCode::FORBIDDEN,
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
            Denial::Impersonation => {
                "error: this server impersonates nobody: every answer is for the sender of the token\n\
                 hint: leave out --as, --as-group and --as-uid, or ask the API server itself\n"
            }
            Denial::Token => {
                "error: the token is missing or wrong\nhint: open the address that kubectl spy serve printed, \
                 or send the header Authorization: Bearer TOKEN\n"
            }
        }
    }
}

impl Gate {
    /// The gate of a server at this address that answers only the user who started it.
    pub fn own(token: AccessToken, address: SocketAddr, scheme: &'static str) -> Gate {
        Gate {
            keys: GateKeys::Own(OwnKeys::new(token, address)),
            scheme,
        }
    }

    /// The gate of a server that answers each user of the cluster.
    pub fn kube(scheme: &'static str) -> Gate {
        Gate {
            keys: GateKeys::Kube,
            scheme,
        }
    }

    /// Also admits the first request with this token in its address. The answer keeps the other token as a cookie.
    #[must_use]
    pub fn admitting_once(mut self, token: AccessToken) -> Gate {
        if let GateKeys::Own(own) = &mut self.keys {
            own.once = Mutex::new(Some(token));
        }
        self
    }

    /// The cookie that keeps the token of the owner; `None` if each reader has a token of his own.
    pub fn cookie(&self) -> Option<String> {
        let GateKeys::Own(own) = &self.keys else {
            return None;
        };
        let (name, token) = (own.cookie_name(), own.token.text());
        let secure = if self.scheme == "https" {
            "; Secure"
        } else {
            ""
        };
        Some(format!(
            "{name}={token}; Path=/; HttpOnly; SameSite=Strict{secure}"
        ))
    }

    /// The text of the answer to a request that is refused.
    pub fn words(&self, denial: Denial) -> &'static str {
        match (&self.keys, denial) {
            (GateKeys::Kube, Denial::Token) => KUBE_TOKEN,
            (GateKeys::Kube | GateKeys::Own(_), denial) => denial.words(),
        }
    }

    /// The ways to send a token, for the header `WWW-Authenticate`.
    pub fn challenges(&self) -> &'static [&'static str] {
        match &self.keys {
            GateKeys::Own(_) => &["Bearer"],
            // A browser asks its user for a name and a password.
            GateKeys::Kube => &[
                "Bearer",
                "Basic realm=\"kubectl spy: your Kubernetes token is the password\"",
            ],
        }
    }

    /// Decides about a request.
    pub fn check(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Admitted, Denial> {
        if *method != Method::GET && *method != Method::HEAD {
            return Err(Denial::Method);
        }
        let host = host(uri, headers).ok_or(Denial::Host)?;
        if let GateKeys::Own(own) = &self.keys
            && !own.is_host(host)
        {
            return Err(Denial::Host);
        }
        self.check_origin(host, headers)?;
        // Without an error, the rights of the sender would pass for those of the other.
        if headers
            .keys()
            .any(|name| name.as_str().starts_with("impersonate-"))
        {
            return Err(Denial::Impersonation);
        }
        if matches!(uri.path(), "/livez" | "/readyz") {
            return Ok(Admitted::Public);
        }
        match &self.keys {
            GateKeys::Own(own) => own.admit(uri, headers),
            GateKeys::Kube => {
                let token = ReaderToken::of(headers).ok_or(Denial::Token)?;
                Ok(Admitted::Known(WebReader::User(token)))
            }
        }
    }

    /// A request of the user or of our own page has no Origin, or that of the page itself.
    fn check_origin(&self, host: &str, headers: &HeaderMap) -> Result<(), Denial> {
        let is_ours = |origin: &str| {
            let rest = origin.strip_prefix(self.scheme);
            let named = rest.and_then(|rest| rest.strip_prefix("://"));
            named.is_some_and(|named| match &self.keys {
                GateKeys::Own(own) => own.is_host(named),
                GateKeys::Kube => named.eq_ignore_ascii_case(host),
            })
        };
        let from_page = headers.get_all(ORIGIN).iter();
        let mut origins = from_page.map(|origin| origin.to_str().is_ok_and(is_ours));
        let sites = headers.get_all("sec-fetch-site").iter();
        let mut sites = sites.map(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
        let is_ours = origins.all(|is_ours| is_ours) && sites.all(|is_ours| is_ours);
        is_ours.then_some(()).ok_or(Denial::Origin)
    }
}

/// The text for a reader without a Kubernetes token.
const KUBE_TOKEN: &str = "error: You must be logged in to the server (Unauthorized)\n\
     hint: send your Kubernetes token in the header Authorization: Bearer TOKEN; in a browser, it is the password, and the name may be any\n";

/// The one host that a request is for. HTTP/2 has it in the address alone.
fn host<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    let in_address = uri.authority().map(http::uri::Authority::as_str);
    let mut hosts = headers.get_all(HOST).iter();
    let in_header = hosts.next().map(|host| host.to_str().ok());
    if hosts.next().is_some() {
        return None;
    }
    match (in_address, in_header) {
        (Some(host), None) | (None, Some(Some(host))) => Some(host),
        (Some(host), Some(Some(other))) => host.eq_ignore_ascii_case(other).then_some(host),
        (_, Some(None)) | (None, None) => None,
    }
}

impl OwnKeys {
    fn new(token: AccessToken, address: SocketAddr) -> OwnKeys {
        let port = address.port();
        let ip = match address.ip() {
            std::net::IpAddr::V4(ip) => ip.to_string(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), ip];
        let mut hosts: Vec<String> = names.iter().map(|name| format!("{name}:{port}")).collect();
        if matches!(port, HTTP_PORT | HTTPS_PORT) {
            hosts.extend(names);
        }
        OwnKeys {
            token,
            once: Mutex::default(),
            port,
            hosts,
        }
    }

    fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<Admitted, Denial> {
        let params = Params::of(uri);
        match params.first(TOKEN) {
            Some(token) if self.token.is(token) || self.takes_once(token) => {
                Ok(Admitted::InAddress)
            }
            _ if self.is_in_headers(headers) => Ok(Admitted::Known(WebReader::Owner)),
            Some(_) | None => Err(Denial::Token),
        }
    }

    /// Whether a text is the token that admits once. It is gone then.
    fn takes_once(&self, text: &str) -> bool {
        let mut once = self.once.lock().unwrap_or_else(PoisonError::into_inner);
        once.take_if(|token| token.is(text)).is_some()
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

    /// Cookies do not tell ports apart, so the name of ours does.
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
        Gate::own(token, "127.0.0.1:7780".parse().expect("an address"), "http")
    }

    /// An admission in one word.
    fn word(admission: &Admitted) -> &'static str {
        match admission {
            Admitted::Public => "public",
            Admitted::Known(WebReader::Owner) => "owner",
            Admitted::Known(WebReader::User(_)) => "user",
            Admitted::InAddress => "in address",
        }
    }

    /// The decision about `METHOD PATH` with these headers, one `Name: value` each.
    fn check(request: &str, headers: &[&str]) -> Result<&'static str, Denial> {
        check_at(&gate(), request, headers)
    }

    fn check_at(gate: &Gate, request: &str, headers: &[&str]) -> Result<&'static str, Denial> {
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
        let admission = gate.check(&method, &uri.parse().expect("a path"), &map);
        admission.as_ref().map(word).map_err(|denial| *denial)
    }

    const HERE: &str = "Host: 127.0.0.1:7780";
    const BEARER: &str = "Authorization: Bearer right";

    #[test]
    fn a_token_is_shown_in_three_ways() {
        for (request, headers, expect) in [
            ("GET /?t=right", &[HERE][..], Ok("in address")),
            ("GET /?t=wrong", &[HERE], Err(Denial::Token)),
            ("GET /", &[HERE], Err(Denial::Token)),
            ("GET /", &[HERE, BEARER], Ok("owner")),
            ("GET /", &[HERE, "Authorization: bearer right"], Ok("owner")),
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
            ("GET /", &[HERE, "Cookie: a=b; spy-7780=right"], Ok("owner")),
            (
                "GET /",
                &[HERE, "Cookie: spy-7781=right"],
                Err(Denial::Token),
            ),
            (
                "GET /?t=wrong",
                &[HERE, "Cookie: spy-7780=right"],
                Ok("owner"),
            ),
            ("GET /livez", &[HERE], Ok("public")),
            ("GET /readyz", &[HERE], Ok("public")),
            ("GET /livez/x", &[HERE], Err(Denial::Token)),
        ] {
            assert_eq!(check(request, headers), expect, "{request} {headers:?}");
        }
    }

    #[test]
    fn only_this_machine_is_meant() {
        let (known, refused) = (Ok("owner"), Err(Denial::Host));
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
        let (known, refused) = (Ok("owner"), Err(Denial::Origin));
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
        for header in [
            "Impersonate-User: nobody",
            "impersonate-group: viewers",
            "Impersonate-Uid: 1",
            "Impersonate-Extra-scopes: view",
        ] {
            let admission = check("GET /api/v1/pods", &[HERE, BEARER, header]);
            assert_eq!(admission, Err(Denial::Impersonation), "{header}");
        }
    }

    #[test]
    fn users_of_the_cluster_come_with_a_token_and_from_the_page_itself() {
        let gate = Gate::kube("https");
        let host = "Host: spy.example";
        let bearer = "Authorization: Bearer theirs";
        let user = Ok("user");
        for (request, headers, expect) in [
            ("GET /", &[host, bearer][..], user),
            ("GET https://spy.example/", &[bearer], user),
            (
                "GET https://spy.example/",
                &["Host: other", bearer],
                Err(Denial::Host),
            ),
            ("GET /", &[bearer], Err(Denial::Host)),
            ("GET /", &[host, "Authorization: Basic YTp0aGVpcnM="], user),
            ("GET /", &[host], Err(Denial::Token)),
            ("GET /?t=theirs", &[host], Err(Denial::Token)),
            (
                "GET /",
                &[host, "Cookie: spy-7780=theirs"],
                Err(Denial::Token),
            ),
            ("GET /livez", &[host], Ok("public")),
            (
                "GET /",
                &[host, bearer, "Origin: https://spy.example"],
                user,
            ),
            (
                "GET /",
                &[host, bearer, "Origin: http://spy.example"],
                Err(Denial::Origin),
            ),
            (
                "GET /",
                &[host, bearer, "Origin: https://evil.example"],
                Err(Denial::Origin),
            ),
            (
                "GET /",
                &[host, bearer, "Sec-Fetch-Site: cross-site"],
                Err(Denial::Origin),
            ),
            ("POST /", &[host, bearer], Err(Denial::Method)),
        ] {
            assert_eq!(
                check_at(&gate, request, headers),
                expect,
                "{request} {headers:?}"
            );
        }
        assert_eq!(gate.cookie(), None);
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
            let admission = gate.check(&Method::GET, &address.parse().expect("a path"), &headers);
            admission.as_ref().map(word).map_err(|denial| *denial)
        };
        assert_eq!(ask("/?t=other"), Err(Denial::Token));
        assert_eq!(ask("/?t=once"), Ok("in address"));
        assert_eq!(ask("/?t=once"), Err(Denial::Token));
        assert_eq!(ask("/?t=right"), Ok("in address"));
    }

    proptest! {
        /// No other host, and no other token, gets in: also none that is almost right.
        #[test]
        fn only_the_right_host_and_token_pass(host in almost("127.0.0.1:7780"), token in almost("right")) {
            let header = format!("Authorization: Bearer {token}");
            let passed = check("GET /", &[&format!("Host: {host}"), &header]).is_ok();
            let is_ours = ["127.0.0.1:7780", "localhost:7780"].contains(&host.as_str());
            prop_assert_eq!(passed, is_ours && token.trim() == "right", "{} {}", host, token);
        }
    }

    /// A text, the same with a change, or any other.
    fn almost(text: &'static str) -> impl Strategy<Value = String> {
        let more = "[a-z0-9.:@\\[\\]-]{1,6}";
        prop_oneof![
            4 => Just(text.to_owned()),
            1 => more.prop_map(move |more| format!("{text}{more}")),
            1 => more.prop_map(move |more| format!("{more}{text}")),
            1 => (0..text.len()).prop_map(|end| text[..end].to_owned()),
            1 => (1..text.len()).prop_map(|start| text[start..].to_owned()),
            1 => (0..text.len(), "[a-z0-9.:]").prop_map(|(at, other)| format!("{}{other}{}", &text[..at], &text[at + 1..])),
            1 => Just(text.to_uppercase()),
            1 => more,
        ]
    }
}
