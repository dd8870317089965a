//! Tests of kubeconfig files, flags and environments, and of the resulting clusters.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A directory that is removed at the end of the test.
pub(in crate::cluster) struct Files(PathBuf);

impl Files {
    pub(in crate::cluster) fn new(files: &[(&str, &str)]) -> Files {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "kubectl-spy-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let directory = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().expect("in the directory")).expect("writable");
            std::fs::write(path, text).expect("writable");
        }
        Files(directory)
    }

    fn ambient(&self) -> Ambient {
        Ambient {
            home: Some(self.0.clone()),
            ..Ambient::default()
        }
    }

    pub(in crate::cluster) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

const TWO: &str = r#"
apiVersion: v1
kind: Config
current-context: dev
clusters:
- {name: c1, cluster: {server: "https://c1.example.com:6443", tls-server-name: inner}}
- {name: c2, cluster: {server: "https://c2.example.com", insecure-skip-tls-verify: true}}
- {name: nowhere, cluster: {}}
users:
- {name: u1, user: {token: s3cret}}
- {name: both, user: {token: s3cret, username: me, password: s3cret}}
- {name: half, user: {client-certificate: /no/such.crt}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}}}
contexts:
- {name: dev, context: {cluster: c1, user: u1, namespace: shop}}
- {name: prod, context: {cluster: c2, user: u1}}
- {name: lost, context: {cluster: gone, user: u1}}
- {name: empty, context: {cluster: nowhere}}
- {name: anonymous, context: {cluster: c2, user: gone}}
- {name: both, context: {cluster: c2, user: both}}
- {name: half, context: {cluster: c2, user: half}}
- {name: plugin, context: {cluster: c2, user: plugin}}
"#;

fn flags(change: impl FnOnce(&mut Overrides)) -> Overrides {
    let mut overrides = Overrides::default();
    change(&mut overrides);
    overrides
}

/// `NAME NAMESPACE URL` of the cluster, or the error.
fn check(ambient: &Ambient, overrides: &Overrides) -> String {
    match ClusterConfig::load(ambient, overrides) {
        Ok(found) => format!(
            "{} {} {}",
            found.name, found.namespace, found.config.cluster_url
        ),
        Err(error) => error.to_string(),
    }
}

#[test]
fn contexts_are_chosen_and_overridden() {
    let files = Files::new(&[(".kube/config", TWO)]);
    let check = |change: fn(&mut Overrides)| check(&files.ambient(), &flags(change));
    assert_eq!(check(|_| ()), "dev shop https://c1.example.com:6443/");
    assert_eq!(
        check(|flags| flags.context = Some("prod".into())),
        "prod default https://c2.example.com/"
    );
    assert_eq!(
        check(|flags| flags.namespace = Some("other".into())),
        "dev other https://c1.example.com:6443/"
    );
    assert_eq!(
        check(|flags| flags.cluster = Some("c2".into())),
        "dev shop https://c2.example.com/"
    );
    assert_eq!(
        check(|flags| flags.server = Some("http://127.0.0.1:8001".into())),
        "dev shop http://127.0.0.1:8001/"
    );
    assert_eq!(
        check(|flags| flags.context = Some("anonymous".into())),
        "anonymous default https://c2.example.com/"
    );
}

#[test]
fn errors_have_kubectls_messages() {
    let files = Files::new(&[(".kube/config", TWO)]);
    let check = |change: fn(&mut Overrides)| check(&files.ambient(), &flags(change));
    assert_eq!(
        check(|flags| flags.context = Some("nope".into())),
        "error: context \"nope\" does not exist"
    );
    assert_eq!(
        check(|flags| flags.cluster = Some("nope".into())),
        "error: cluster \"nope\" does not exist"
    );
    assert_eq!(
        check(|flags| flags.user = Some("nope".into())),
        "error: auth info \"nope\" does not exist"
    );
    assert_eq!(
        check(|flags| flags.context = Some("lost".into())),
        "error: cluster \"gone\" does not exist"
    );
    assert_eq!(
        check(|flags| flags.context = Some("empty".into())),
        "error: no server found for cluster \"nowhere\""
    );
    assert_eq!(
        check(|flags| flags.context = Some("both".into())),
        "error: more than one authentication method found for both; found [token basicAuth], only one is allowed"
    );
    assert_eq!(
        check(|flags| flags.context = Some("plugin".into())),
        "error: interactiveMode must be specified for plugin to use exec authentication plugin"
    );
    assert_eq!(
        check(|flags| flags.context = Some("half".into())),
        "Error in configuration: \n* client-key-data or client-key must be specified for half to use the clientCert authentication method.\n\
         * unable to read client-cert /no/such.crt for half due to open /no/such.crt: no such file or directory"
    );
    assert_eq!(
        check(|flags| flags.impersonate.groups = vec!["g".to_owned()]),
        "error: requesting uid, groups or user-extra for u1 without impersonating a user"
    );
    assert_eq!(
        check(|flags| flags.kubeconfig = Some("/no/such".into())),
        "error: stat /no/such: no such file or directory"
    );
}

#[test]
fn missing_files_of_a_list_are_skipped_and_the_first_value_counts() {
    let first = "current-context: ''\nclusters: [{name: c1, cluster: {server: 'https://first'}}]\n";
    let files = Files::new(&[
        ("a", first),
        ("b", TWO),
        ("bad", "token: s3cret\nnot: [yaml"),
    ]);
    let list = |names: &[&str]| Ambient {
        kubeconfig: Some(
            std::env::join_paths(names.iter().map(|name| files.path(name))).expect("paths"),
        ),
        ..files.ambient()
    };
    let none = Overrides::default();
    assert_eq!(
        check(&list(&["missing", "a", "b"]), &none),
        "dev shop https://first/"
    );
    assert_eq!(
        check(&list(&["b", "a"]), &none),
        "dev shop https://c1.example.com:6443/"
    );
    assert_eq!(
        check(&list(&["missing"]), &none),
        "localhost:8080 default http://localhost:8080/"
    );
    let bad = files.path("bad");
    let error = check(&list(&["bad"]), &none);
    assert!(
        error.starts_with(&format!(
            "error: error loading config file \"{}\": yaml: line ",
            bad.display()
        )),
        "{error}"
    );
    assert!(!error.contains("s3cret"), "{error}");
    let only = flags(|flags| flags.kubeconfig = Some(files.path("b").into()));
    assert_eq!(
        check(&list(&["a"]), &only),
        "dev shop https://c1.example.com:6443/"
    );
}

#[test]
fn a_server_needs_no_context() {
    let nothing = Ambient::default();
    let check = |change: fn(&mut Overrides)| check(&nothing, &flags(change));
    assert_eq!(
        check(|flags| flags.server = Some("127.0.0.1:6443".into())),
        "127.0.0.1:6443 default http://127.0.0.1:6443/"
    );
    assert_eq!(
        check(|flags| {
            flags.server = Some("127.0.0.1:6443".into());
            flags.insecure_skip_tls_verify = true;
        }),
        "127.0.0.1:6443 default https://127.0.0.1:6443/"
    );
    assert_eq!(
        check(|flags| flags.server = Some("https://me:s3cret@[::1]:6443/k8s/clusters/c-1".into())),
        "[::1]:6443 default https://me:s3cret@[::1]:6443/k8s/clusters/c-1"
    );
    assert_eq!(
        check(|flags| flags.server = Some("ftp://x".into())),
        "error: host must be a URL or a host:port pair: \"ftp://x\""
    );
}

fn headers(found: &ClusterConfig) -> Vec<String> {
    let headers = found.config.headers.iter();
    headers
        .map(|(name, value)| format!("{name}: {}", value.to_str().expect("ASCII")))
        .collect()
}

#[test]
fn errors_about_urls_name_the_setting_without_the_password() {
    let check = |ambient: &Ambient, change: &dyn Fn(&mut Overrides)| {
        let mut overrides = Overrides::default();
        change(&mut overrides);
        let error = ClusterConfig::load(ambient, &overrides).expect_err("refused");
        assert!(!format!("{error} {error:?}").contains("PASS"), "{error:?}");
        let ConfigError::Url { setting, .. } = &error else {
            panic!("{error:?}");
        };
        format!("{error} ({setting})")
    };
    let server = |text: &str| {
        let text = text.to_owned();
        check(&Ambient::default(), &move |flags| {
            flags.server = Some(text.clone());
        })
    };
    let host = "error: host must be a URL or a host:port pair:";
    assert_eq!(
        server("ftp://u:PASS@x"),
        format!("{host} \"ftp://***@x\" (-s)")
    );
    assert_eq!(server("http://a b"), format!("{host} \"http://a b\" (-s)"));
    assert_eq!(server("u:PASS@a\nb"), format!("{host} \"***@a\\nb\" (-s)"));
    let long = format!("https://x/{}", "y".repeat(5000));
    assert!(server(&long).len() < 300);
    let config = TWO.replace("https://c1.example.com:6443", "gopher://PASS@c1");
    let files = Files::new(&[(".kube/config", &config)]);
    assert_eq!(
        check(&files.ambient(), &|_| ()),
        format!("{host} \"gopher://***@c1\" (the server of cluster \"c1\")")
    );
    let proxy = Ambient {
        https_proxy: Some("gopher://u:PASS@proxy".to_owned()),
        ..Ambient::default()
    };
    assert_eq!(
        check(&proxy, &|flags| flags.server = Some("https://x".to_owned())),
        "error: invalid proxy URL: \"gopher://***@proxy\" (the variable HTTPS_PROXY)"
    );
    let config = TWO.replace("tls-server-name: inner", "proxy-url: \"ftp://u:PASS@p\"");
    let files = Files::new(&[(".kube/config", &config)]);
    assert_eq!(
        check(&files.ambient(), &|_| ()),
        "error: invalid proxy URL: \"ftp://***@p\" (the proxy-url of cluster \"c1\")"
    );
}

#[test]
fn white_space_around_a_token_in_a_file_is_ignored() {
    let files = Files::new(&[("token", " s3cret\r\n\n")]);
    let config = TWO.replace(
        "{token: s3cret}",
        &format!("{{tokenFile: {:?}}}", files.path("token")),
    );
    let kube = Files::new(&[(".kube/config", &config)]);
    let found = ClusterConfig::load(&kube.ambient(), &Overrides::default()).expect("valid");
    assert_eq!(headers(&found), ["authorization: Bearer s3cret"]);
}

#[test]
fn credentials_are_only_sent_over_tls() {
    let files = Files::new(&[(".kube/config", TWO)]);
    let load = |change: fn(&mut Overrides)| {
        ClusterConfig::load(&files.ambient(), &flags(change)).expect("valid")
    };
    let secure = load(|_| ());
    assert_eq!(headers(&secure), ["authorization: Bearer s3cret"]);
    assert!(secure.config.auth_info.token.is_none());
    assert_eq!(secure.config.tls_server_name.as_deref(), Some("inner"));
    assert!(!secure.config.default_retry);
    let clear = load(|flags| {
        flags.server = Some("http://c1.example.com".into());
        flags.impersonate.user = Some("jane".into());
        flags.impersonate.extra = vec!["a=1".to_owned(), "a=2".to_owned()];
    });
    assert!(clear.config.auth_info.token.is_none());
    assert_eq!(
        headers(&clear),
        [
            "impersonate-user: jane",
            "impersonate-extra-a: 1",
            "impersonate-extra-a: 2"
        ]
    );
    let moved = load(|flags| flags.server = Some("https://elsewhere".into()));
    assert_eq!(moved.config.tls_server_name, None);
    assert!(!format!("{secure:?}").contains("s3cret"));
}

#[test]
fn a_pod_finds_its_cluster() {
    let pem = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let files = Files::new(&[("token", "t"), ("ca.crt", pem), ("namespace", "shop\n")]);
    let ambient = Ambient {
        service_host: Some("fd00::1".into()),
        service_port: Some("443".into()),
        service_account: files.path(""),
        ..Ambient::default()
    };
    assert_eq!(
        check(&ambient, &Overrides::default()),
        "in-cluster shop https://[fd00::1]:443/"
    );
    let named = Ambient {
        pod_namespace: Some("own".into()),
        ..ambient.clone()
    };
    assert_eq!(
        check(&named, &Overrides::default()),
        "in-cluster own https://[fd00::1]:443/"
    );
    std::fs::write(files.path("ca.crt"), "").expect("a file");
    let path = files.path("ca.crt");
    assert_eq!(
        check(&ambient, &Overrides::default()),
        format!("error: unable to load root certificates of {path:?}: no PEM certificate in them")
    );
    let outside = Ambient {
        service_account: files.path("none"),
        ..ambient
    };
    assert_eq!(
        check(&outside, &Overrides::default()),
        "localhost:8080 default http://localhost:8080/"
    );
}

#[test]
fn the_users_policy_can_forbid_a_plugin() {
    let config = r#"
current-context: x
clusters: [{name: c, cluster: {server: "https://c"}}]
users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
"#;
    let rc = "apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\ncredentialPluginPolicy: DenyAll\n";
    let files = Files::new(&[(".kube/config", config), (".kube/kuberc", rc)]);
    let denied = "Unable to connect to the server: getting credentials: plugin \"aws\" not allowed: policy set to \"DenyAll\"";
    assert_eq!(check(&files.ambient(), &Overrides::default()), denied);
    let off = Ambient {
        kuberc: Some("off".into()),
        ..files.ambient()
    };
    assert_eq!(check(&off, &Overrides::default()), "x default https://c/");
    let token = flags(|flags| flags.credentials.token = Some("t".into()));
    assert_eq!(check(&files.ambient(), &token), "x default https://c/");
}

#[test]
fn kubeconfig_texts_must_not_name_files_or_plugins() {
    let check = |texts: &[&str]| match ClusterConfig::of_texts(texts, &Overrides::default()) {
        Ok(found) => format!("{} {} {}", found.name(), found.namespace(), found.server()),
        Err(error) => error.to_string(),
    };
    let user = |user: &str| {
        format!(
            "{{current-context: dev, contexts: [{{name: dev, context: {{cluster: c1, user: u1, namespace: shop}}}}],\
             clusters: [{{name: c1, cluster: {{server: \"https://c1.example.com:6443\"}}}}],\
             users: [{{name: u1, user: {user}}}]}}"
        )
    };
    let found = "dev shop c1.example.com:6443";
    assert_eq!(check(&[&user("{token: s3cret}")]), found);
    assert_eq!(check(&["current-context: ''", &user("{}")]), found);
    for wrong in [
        "{tokenFile: /dev/zero}",
        "{client-key: /dev/zero}",
        "{client-certificate: /dev/zero}",
        "{exec: {command: rm, apiVersion: client.authentication.k8s.io/v1beta1}}",
        "{auth-provider: {name: gcp, config: {cmd-path: rm}}}",
    ] {
        assert_eq!(
            check(&[&user(wrong)]),
            "error: a kubeconfig given as text must not name a file or a credential plugin",
            "{wrong}"
        );
    }
}

#[test]
fn certificates_are_found_among_other_blocks() {
    let pem = "subject\n-----BEGIN CERTIFICATE-----\naGVs\nbG8=\n-----END CERTIFICATE-----\n\
                   -----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n\
                   -----BEGIN CERTIFICATE-----\r\nAA==\r\n-----END CERTIFICATE-----\n";
    assert_eq!(certificates(pem), Some(vec![b"hello".to_vec(), vec![0]]));
}

#[test]
fn invalid_certificates_are_refused() {
    for pem in [
        "",
        "-----BEGIN CERTIFICATE-----\naGVs",
        "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----",
    ] {
        assert_eq!(certificates(pem), None, "{pem}");
    }
}
