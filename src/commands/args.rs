//! The flags that verbs share, in kubectl's spelling.

use std::path::PathBuf;

use clap::Args;

use super::ManifestArgs;
use crate::cluster::{Ambient, Credentials, Impersonate, Overrides};
use crate::env::{ColorChoice, Env};
use crate::render::style::{Look, Styles, Symbols};

/// kubectl's global flags. They are accepted anywhere after `spy`; `kubectl spy options` lists them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ClusterArgs {
    /// Path to the kubeconfig file to use
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kubeconfig: Option<String>,
    /// Path to the kuberc file, of which the credential plugin policy is honoured
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) kuberc: Option<String>,
    /// The name of the kubeconfig context to use
    #[arg(long, global = true)]
    pub(crate) context: Option<String>,
    /// The name of the kubeconfig cluster to use
    #[arg(long, global = true)]
    pub(crate) cluster: Option<String>,
    /// The name of the kubeconfig user to use
    #[arg(long, global = true)]
    pub(crate) user: Option<String>,
    /// The namespace to look in; the context's own by default
    #[arg(short, long, global = true)]
    pub(crate) namespace: Option<String>,
    /// The address and port of the API server
    #[arg(short, long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// Bearer token for authentication to the API server
    #[arg(long, global = true)]
    pub(crate) token: Option<String>,
    /// Username for basic authentication to the API server
    #[arg(long, global = true)]
    pub(crate) username: Option<String>,
    /// Password for basic authentication to the API server
    #[arg(long, global = true)]
    pub(crate) password: Option<String>,
    /// Username to impersonate
    #[arg(long = "as", global = true, value_name = "USER")]
    pub(crate) as_user: Option<String>,
    /// Group to impersonate; may be repeated
    #[arg(long, global = true, value_name = "GROUP")]
    pub(crate) as_group: Vec<String>,
    /// UID to impersonate
    #[arg(long, global = true, value_name = "UID")]
    pub(crate) as_uid: Option<String>,
    /// Extra user fields to impersonate, as KEY=VALUE; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) as_user_extra: Vec<String>,
    /// Path to a certificate file for the certificate authority
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) certificate_authority: Option<String>,
    /// Path to a client certificate file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_certificate: Option<String>,
    /// Path to a client key file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) client_key: Option<String>,
    /// Do not check the server's certificate; this makes the connection insecure
    #[arg(long, global = true)]
    pub(crate) insecure_skip_tls_verify: bool,
    /// The server name to check the server's certificate against
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// Do not ask for compressed responses
    #[arg(long, global = true)]
    pub(crate) disable_compression: bool,
    /// How long to wait for the answer to a single request (1s, 2m, 3h; 0 for ever); watches are not cut
    #[arg(long, global = true, value_name = "DURATION", default_value = "0")]
    pub(crate) request_timeout: String,
    /// Where schemas are kept between runs; ~/.kube/cache by default, nowhere if empty
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cache_dir: Option<String>,
}

impl ClusterArgs {
    /// Where answers are kept between runs; `None` for nowhere.
    pub(crate) fn cache_dir(&self, ambient: &Ambient) -> Option<PathBuf> {
        let given = self.cache_dir.as_ref().map(PathBuf::from);
        let dir = given.or_else(|| ambient.cache_dir());
        dir.filter(|dir| !dir.as_os_str().is_empty())
    }

    /// What the flags replace in the kubeconfig.
    pub(crate) fn overrides(&self) -> Overrides {
        let args = self.clone();
        Overrides {
            kubeconfig: args.kubeconfig.map(Into::into),
            kuberc: args.kuberc.map(Into::into),
            context: args.context,
            cluster: args.cluster,
            user: args.user,
            namespace: args.namespace,
            server: args.server,
            certificate_authority: args.certificate_authority,
            insecure_skip_tls_verify: args.insecure_skip_tls_verify,
            tls_server_name: args.tls_server_name,
            disable_compression: args.disable_compression,
            request_timeout: Some(args.request_timeout),
            credentials: Credentials {
                token: args.token,
                username: args.username,
                password: args.password,
                client_certificate: args.client_certificate,
                client_key: args.client_key,
            },
            impersonate: Impersonate {
                user: args.as_user,
                groups: args.as_group,
                uid: args.as_uid,
                extra: args.as_user_extra,
            },
        }
    }
}

/// How output looks.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct LookArgs {
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
    /// Use ASCII symbols only
    #[arg(long, global = true)]
    ascii: bool,
}

impl LookArgs {
    /// How standard output is drawn.
    pub(crate) fn stdout(self, env: &Env) -> Look {
        Look {
            width: env.size().map(|size| size.columns),
            styles: styles(env.color(self.color)),
            symbols: if self.ascii || env.ascii() {
                &Symbols::ASCII
            } else {
                &Symbols::UNICODE
            },
        }
    }

    /// How standard error is painted.
    pub(crate) fn stderr(self, env: &Env) -> Styles {
        styles(env.stderr_color(self.color))
    }
}

fn styles(color: bool) -> Styles {
    if color { Styles::ANSI } else { Styles::PLAIN }
}

/// Which objects a verb looks at.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ObjectArgs {
    /// The objects, in kubectl's forms: TYPE/NAME…, TYPE NAME…, TYPE
    #[arg(value_name = "TYPE/NAME")]
    pub(crate) objects: Vec<String>,
    /// Label selector: -l key1=value1,key2=value2
    #[arg(short = 'l', long)]
    pub(crate) selector: Option<String>,
    /// Field selector: --field-selector key1=value1,key2=value2
    #[arg(long)]
    pub(crate) field_selector: Option<String>,
    /// Look in all namespaces; wins over -n
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    #[command(flatten)]
    pub(crate) manifests: ManifestArgs,
    #[command(flatten)]
    pub(crate) source: FileArgs,
}

/// What a command is about, by its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The objects that `-f` or `-k` names. A TYPE beside them is an error.
    Manifests,
    /// The types and names on the command line.
    Words,
    /// No object and no type is named: everything, or an error. A selector alone selects among everything.
    Unnamed,
}

impl ObjectArgs {
    /// What the command is about: the only place that decides it.
    pub(crate) fn subject(&self) -> Subject {
        match () {
            () if self.manifests.are_given() => Subject::Manifests,
            () if self.objects.is_empty() => Subject::Unnamed,
            () => Subject::Words,
        }
    }

    /// Means these objects, if none are named.
    pub(crate) fn default_to(&mut self, objects: &[&str]) {
        if self.subject() == Subject::Unnamed && self.selector.is_none() {
            self.objects = objects.iter().map(|&object| object.to_owned()).collect();
        }
    }
}

/// A file in place of a cluster.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FileArgs {
    /// Read objects or watch events (YAML or JSON) from a file in place of a cluster; - is stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<String>,
    /// With --from: the time to take as now, in RFC 3339
    #[arg(long, value_name = "TIME", requires = "from")]
    pub(crate) now: Option<jiff::Timestamp>,
}

/// When a verb ends.
#[derive(Args, Clone, Debug)]
pub(crate) struct WatchArgs {
    /// Go on as things change, until Ctrl-C
    #[arg(short, long, default_value = "true", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", action = clap::ArgAction::Set, value_name = "true|false")]
    pub(crate) watch: bool,
    /// Show what is and end; the same as --watch=false
    #[arg(long)]
    pub(crate) once: bool,
}

impl WatchArgs {
    /// Whether to end once everything is shown.
    pub(crate) fn ends(&self) -> bool {
        self.once || !self.watch
    }
}
