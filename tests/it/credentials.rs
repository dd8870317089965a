//! Tests of credentials that no request can contain. The result is an error line, never a crash, and it never
//! shows the credential.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Ran, Spy};

/// A text that no output may contain.
const SECRET: &str = "s3cret-credential";

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("credentials-{name}"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs with a kubeconfig for this user and this server. The server is not running.
fn run(name: &str, (user, cluster): (&Value, &Value), args: &[&str]) -> Ran {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    });
    let path = file(name, &config.to_string());
    let spy = Spy::with_kubeconfig(&path).var("PATH", "/usr/bin:/bin");
    let ran = spy.run(&[&["changes", "cm", "--once"], args].concat());
    let shown = ran.transcript();
    assert!(!shown.contains(SECRET), "{name}: {shown}");
    assert_eq!(ran.status.code(), Some(1), "{name}: {shown}");
    ran
}

fn at(server: &str) -> Value {
    json!({"server": server, "insecure-skip-tls-verify": true})
}

/// The error for this user at a server that is not running.
fn error(name: &str, user: &Value, args: &[&str]) -> String {
    run(name, (user, &at("https://127.0.0.1:1")), args).stderr
}

/// A user with this shell script as credential plugin.
fn plugin(script: &str) -> Value {
    json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never",
        "command": "sh", "args": ["-c", script],
        "env": [{"name": "AWS_SECRET_ACCESS_KEY", "value": SECRET}, {"name": "PATH", "value": "/usr/bin:/bin"}],
    }})
}

fn header_error(header: &str, setting: &str) -> String {
    format!(
        "Unable to connect to the server: net/http: invalid header field value for \"{header}\"\n\
         hint: correct {setting}: remove the line break or control character\n"
    )
}

#[test]
fn a_token_with_a_line_break_is_an_error_line() {
    let token = format!("{SECRET}\n");
    let none = json!({});
    let authorization = |setting: &str| header_error("Authorization", setting);
    assert_eq!(
        error("token", &json!({"token": token}), &[]),
        authorization("the token of user \"u\"")
    );
    assert_eq!(
        error("flag", &none, &["--token", &token]),
        authorization("--token")
    );
    let print = format!("printf '{{\"status\":{{\"token\":\"{SECRET}\\\\n\"}}}}'");
    assert_eq!(
        error("plugin", &plugin(&print), &[]),
        authorization("the token that sh prints")
    );
    let path = file("token-in-two-lines", &format!("{SECRET}\nx\n"));
    assert_eq!(
        error("file", &json!({"tokenFile": path}), &[]),
        authorization(&format!("the token in {path}"))
    );
}

#[test]
fn a_final_line_break_in_a_token_file_is_dropped() {
    let path = file("token-file", &format!("{SECRET}\n"));
    let refused = "The connection to the server 127.0.0.1:1 was refused";
    let printed = error("good-file", &json!({"tokenFile": path}), &[]);
    assert!(printed.starts_with(refused), "{printed}");
}

#[test]
fn an_impersonated_user_must_fit_a_header() {
    let none = json!({});
    let breaks = "a\nb";
    for (args, header, setting) in [
        (&["--as", breaks][..], "Impersonate-User", "--as"),
        (
            &["--as", "a", "--as-uid", breaks],
            "Impersonate-Uid",
            "--as-uid",
        ),
        (
            &["--as", "a", "--as-group", breaks],
            "Impersonate-Group",
            "--as-group",
        ),
        (
            &["--as", "a", "--as-user-extra", "a b=c\nd"],
            "Impersonate-Extra-a%20b",
            "--as-user-extra",
        ),
    ] {
        assert_eq!(error("as", &none, args), header_error(header, setting));
    }
    let user = json!({"as": breaks});
    assert_eq!(
        error("as-user", &user, &[]),
        header_error("Impersonate-User", "`as` of user \"u\"")
    );
}

#[test]
fn the_error_of_a_plugin_has_its_stderr_but_not_its_environment() {
    let script = format!("echo {SECRET}; echo 'log in first' >&2; exit 7");
    assert_eq!(
        error("failing", &plugin(&script), &[]),
        "Unable to connect to the server: getting credentials: exec: executable sh failed with exit code 7: \
         log in first\n"
    );
}

#[test]
fn auth_providers_that_kubectl_removed_are_refused() {
    let provider = json!({"auth-provider": {"name": "gcp", "config": {"cmd-path": "/bin/echo", "cmd-args": "x"}}});
    assert_eq!(
        error("gcp", &provider, &[]),
        "error: no Auth Provider found for name \"gcp\"\n"
    );
}

#[test]
fn urls_are_shown_without_their_login() {
    let none = json!({});
    let hint = "it takes http:// or https:// with a host, or HOST:PORT";
    assert_eq!(
        error("server", &none, &["-s", &format!("ftp://u:{SECRET}@x")]),
        format!(
            "error: host must be a URL or a host:port pair: \"ftp://***@x\"\nhint: correct -s: {hint}\n"
        )
    );
    let proxied =
        json!({"server": "https://127.0.0.1:1", "proxy-url": format!("ftp://u:{SECRET}@p")});
    assert_eq!(
        run("proxy", (&none, &proxied), &[]).stderr,
        "error: invalid proxy URL: \"ftp://***@p\"\n\
         hint: correct the proxy-url of cluster \"c\": it takes http://, https:// or socks5:// with a host\n"
    );
    // The server is not running, and the error about that contains no login either.
    for (server, proxy) in [
        (format!("https://u:{SECRET}@127.0.0.1:1"), None),
        (
            "https://example.invalid".to_owned(),
            Some(format!("http://u:{SECRET}@127.0.0.1:1")),
        ),
        (
            "https://example.invalid".to_owned(),
            Some(format!("socks5://u:{SECRET}@127.0.0.1:1")),
        ),
    ] {
        let mut cluster = at(&server);
        if let Some(proxy) = proxy {
            cluster["proxy-url"] = json!(proxy);
        }
        let ran = run("unreachable", (&none, &cluster), &[]);
        assert!(ran.stderr.contains("onnect"), "{}", ran.transcript());
    }
    let manifest = format!("https://u:{SECRET}@example.com/a.yaml");
    let ran = Spy::alone().run(&["changes", "-f", &manifest, "-s", "http://127.0.0.1:1"]);
    assert!(
        ran.stderr
            .contains("https://***@example.com/a.yaml: URLs are not supported"),
        "{}",
        ran.transcript()
    );
    assert!(!ran.stderr.contains(SECRET));
}

#[test]
fn a_certificate_that_is_not_base64_is_named_by_its_field() {
    let user = json!({"client-certificate-data": "a.b", "client-key-data": SECRET});
    assert!(
        error("certificate", &user, &[])
            .contains("client-certificate-data of user \"u\": illegal base64 data")
    );
}

/// Settings that could make a library panic.
#[test]
fn strange_settings_end_in_an_error_line() {
    let none = json!({});
    let long = "x".repeat(70_000);
    let cases: [(Value, Vec<&str>); 8] = [
        (at("https://127.0.0.1:1"), vec!["-l", &long]),
        (
            at("https://127.0.0.1:1/prefix"),
            vec!["-l", &long[..32_000]],
        ),
        (
            at(&format!("https://127.0.0.1:1/{}", &long[..60_000])),
            vec![],
        ),
        (at("https://127.0.0.1:99999"), vec![]),
        (
            at("https://127.0.0.1:1"),
            vec!["--tls-server-name", "a b\n"],
        ),
        (at("https://127.0.0.1:1"), vec!["--tls-server-name", &long]),
        (at("https://[::1"), vec![]),
        (
            at("https://127.0.0.1:1?a=b#c"),
            vec!["--username", "a\nb:c", "--password", "\n"],
        ),
    ];
    for (cluster, args) in &cases {
        let ran = run("strange", (&none, cluster), args);
        assert!(
            !ran.stderr.is_empty() && ran.stderr.len() < 1000,
            "{}",
            ran.stderr
        );
    }
}
