//! `ServeArgs`: the flags of `serve`.

use std::path::PathBuf;

use super::listen::ListenArgs;
use super::manifest::{PrintManifestArgs, PrintedServer};
use crate::commands::{MemoryArgs, ObjectArgs};

/// Show the state of clusters on a page in your browser, live
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// Types and objects to follow, as kubectl names them (default: every kind of the namespace)
    #[arg(value_name = "TYPE")]
    pub(super) objects: Vec<String>,
    /// Follow only objects with these labels, for example app=web
    #[arg(short = 'l', long)]
    pub(super) selector: Option<String>,
    /// Look in all namespaces, even if -n names one
    #[arg(short = 'A', long)]
    pub(super) all_namespaces: bool,
    #[command(flatten)]
    pub(super) listen: ListenArgs,
    /// Also answer the read API of Kubernetes, at the paths of the API server. The followed types are answered from memory
    #[arg(long, value_enum, value_name = "API")]
    pub(super) api: Option<ServedApi>,
    /// Open the page in your browser
    #[arg(long)]
    pub(super) open: bool,
    /// Read the configuration in this file: webhooks and Kafka. SIGHUP reads it again
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    #[command(flatten)]
    pub(super) manifest: PrintManifestArgs,
    #[command(flatten)]
    pub(super) memory: MemoryArgs,
}

/// Another API that the server answers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServedApi {
    /// Get, list and watch, as of an API server
    Kubernetes,
}

const EXAMPLES: &str = "Examples:
  kubectl spy serve                         what is not well in the namespace, as a page
  kubectl spy serve -A --open               the same of all namespaces, and open the page
  kubectl spy serve deploy,sts -n prod      two types of one namespace
  kubectl spy serve -A --contexts 'edge-*'  several clusters on one page
  kubectl spy serve po --all-contexts --api=kubernetes
                                            the same, with the API of each at /clusters/NAME
  kubectl spy serve -A -f serve.yaml        also send changes of state to webhooks
  kubectl spy serve -A -f serve.yaml --print-manifest --tls-secret spy-tls | kubectl apply -f -
                                            the same inside the cluster, for many readers
  curl -H \"Authorization: Bearer $TOKEN\" http://127.0.0.1:7780/spy/v1/status
                                            the records of status -o json";

impl ServeArgs {
    /// The selected objects.
    pub(super) fn objects(&self) -> ObjectArgs {
        ObjectArgs {
            objects: self.objects.clone(),
            selector: self.selector.clone(),
            all_namespaces: self.all_namespaces,
            ..ObjectArgs::default()
        }
    }

    /// The same server, for inside the cluster.
    pub(super) fn printed(&self) -> PrintedServer {
        let api = self.api;
        let api = api.map(|ServedApi::Kubernetes| "--api=kubernetes".to_owned());
        PrintedServer {
            objects: self.objects(),
            flags: api.into_iter().collect(),
            config: self.config.clone(),
        }
    }
}
