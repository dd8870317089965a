//! `version`: the versions of this program and of the API server.

use serde_json::{Value as Json, json};

use super::{CommandError, Context, Ended, Session};
use crate::cluster::platform;
use crate::diff::{Projection, Redactor};
use crate::object::Doc;
use crate::render::text::Text;
use crate::render::yaml::yaml;

/// Print the versions of this program and of the API server
#[derive(clap::Args, Debug)]
pub(crate) struct VersionArgs {
    /// Print only the version of this program, without asking a server
    #[arg(long)]
    client: bool,
    /// Choose the output format (default: a line for each version)
    #[arg(short, long, value_enum)]
    output: Option<VersionFormat>,
}

/// The formats for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VersionFormat {
    /// A JSON object with the fields of kubectl version
    Json,
    /// The same as YAML
    Yaml,
}

pub(crate) fn run(args: &VersionArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let Some(format) = args.output else {
        context.print(&[format!("Client Version: {CLIENT}")])?;
        if !args.client {
            let server = server(context)?;
            let version = server["gitVersion"].as_str().unwrap_or("unknown");
            context.print(&[format!("Server Version: {version}")])?;
        }
        return Ok(Ended::Answered);
    };
    let mut versions = json!({"clientVersion": {"gitVersion": CLIENT, "platform": platform()}});
    // Like kubectl, it prints what it knows before the error.
    let mut failed = None;
    if !args.client {
        match server(context) {
            Ok(server) => versions["serverVersion"] = server,
            Err(error) => failed = Some(error),
        }
    }
    context.print(format.lines(&versions))?;
    failed.map_or(Ok(Ended::Answered), Err)
}

impl VersionFormat {
    fn lines(self, versions: &Json) -> Vec<Text> {
        match self {
            VersionFormat::Json => {
                let text = format!("{versions:#}");
                text.lines().map(Text::data).collect()
            }
            VersionFormat::Yaml => {
                let doc = Doc::parse(versions.to_string());
                let doc = doc.expect("serde_json writes JSON");
                yaml(
                    Redactor::unchanged().shown(doc.root()),
                    &Projection::default(),
                )
            }
        }
    }
}

/// The version of this program.
const CLIENT: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// What the server answers.
fn server(context: &mut Context<'_>) -> Result<Json, CommandError> {
    context.block_on(async |context| Session::connect(context).await?.server_version().await)
}
