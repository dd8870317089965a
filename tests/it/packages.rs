//! What a release consists of: the krew manifest, the archives, and the metadata for cargo binstall.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn manifest() -> Value {
    serde_saphyr::from_str(&read("krew-manifest.yaml")).unwrap()
}

const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));

/// The systems and machines that krew supports.
const PAIRS: [(&str, &str); 10] = [
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
];

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).and_then(Value::as_str).unwrap_or("")
}

fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    let list = value.pointer(path).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// Which of krew's rules a manifest breaks: those of its validator
/// (<https://github.com/kubernetes-sigs/krew/blob/v0.5.0/internal/index/validation/validate.go>), of `validate-krew-manifest`, and
/// of the reviews (<https://krew.sigs.k8s.io/docs/developer-guide/develop/best-practices/>). `file` is the name of the file in an
/// index, without its extension.
fn faults(manifest: &Value, file: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, rule: &str| {
        if !holds {
            faults.push(rule.to_owned());
        }
    };
    let api = "krew.googlecontainertools.github.com/v1alpha2";
    check(text(manifest, "/apiVersion") == api, "apiVersion");
    check(text(manifest, "/kind") == "Plugin", "kind");
    let name = text(manifest, "/metadata/name");
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    check(!name.is_empty() && name.chars().all(is_word), "name");
    check(name == file, "file name");
    let is_kebab = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    check(
        name.chars().all(is_kebab) && !name.starts_with("kube"),
        "naming guide",
    );
    check(is_version(text(manifest, "/spec/version")), "version");
    let short = text(manifest, "/spec/shortDescription");
    check(
        !short.is_empty() && !short.contains('\n'),
        "shortDescription",
    );
    check(
        short.len() <= 50 && !short.ends_with('.'),
        "short shortDescription",
    );
    let about = text(manifest, "/spec/description");
    check(
        !about.is_empty() && about.lines().all(|line| line.len() <= 80),
        "description",
    );
    check(
        text(manifest, "/spec/homepage").starts_with("https://"),
        "homepage",
    );
    let platforms = list(manifest, "/spec/platforms");
    check(!platforms.is_empty(), "platforms");
    for platform in platforms {
        faults.extend(platform_faults(platform));
    }
    let selected: Vec<_> = platforms.iter().flat_map(pairs).collect();
    let distinct: BTreeSet<_> = selected.iter().collect();
    if distinct.len() < selected.len() {
        faults.push("selectors overlap".to_owned());
    }
    faults
}

/// Semantic versions with a leading `v`.
fn is_version(version: &str) -> bool {
    let Some(numbers) = version.strip_prefix('v') else {
        return false;
    };
    let core = numbers.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    let is_number = |part: &&str| {
        let is_padded = part.len() > 1 && part.starts_with('0');
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) && !is_padded
    };
    parts.len() == 3 && parts.iter().all(is_number)
}

/// The supported pairs that the selector of a platform matches.
fn pairs(platform: &Value) -> Vec<(&'static str, &'static str)> {
    let labels = platform.pointer("/selector/matchLabels");
    let wants = |key: &str, value: &str| {
        labels
            .and_then(|labels| labels.get(key))
            .is_none_or(|wanted| wanted == value)
    };
    let is_meant = |pair: &(&str, &str)| wants("os", pair.0) && wants("arch", pair.1);
    PAIRS.into_iter().filter(is_meant).collect()
}

fn platform_faults(platform: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, rule: &str| {
        if !holds {
            faults.push(rule.to_owned());
        }
    };
    let uri = text(platform, "/uri");
    check(uri.starts_with("https://"), "uri");
    check(
        [".tar.gz", ".zip"].iter().any(|end| uri.ends_with(end)),
        "archive format",
    );
    let sum = text(platform, "/sha256");
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    check(sum.len() == 64 && sum.bytes().all(is_hex), "sha256");
    let bin = text(platform, "/bin");
    check(!bin.is_empty(), "bin");
    let labels = platform.pointer("/selector/matchLabels");
    let labels = labels
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    check(!labels.is_empty(), "selector");
    check(
        labels.keys().all(|key| key == "os" || key == "arch"),
        "selector keys",
    );
    check(!pairs(platform).is_empty(), "selector matches nothing");
    let is_windows = labels.get("os").is_some_and(|os| os == "windows");
    check(
        is_windows == (bin.rsplit('.').next() == Some("exe")),
        "bin of Windows",
    );
    let files = list(platform, "/files");
    check(
        platform.get("files").is_none() || !files.is_empty(),
        "files",
    );
    let is_whole = |file: &Value| !text(file, "/from").is_empty() && !text(file, "/to").is_empty();
    check(files.iter().all(is_whole), "from and to");
    let is_licence = |file: &Value| {
        let name = text(file, "/from")
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_uppercase();
        matches!(
            name.as_str(),
            "LICENSE"
                | "LICENSES"
                | "COPYING"
                | "LICENSE.TXT"
                | "LICENSES.TXT"
                | "COPYING.TXT"
                | "LICENSE.MD"
                | "LICENSES.MD"
        )
    };
    check(files.iter().any(is_licence), "licence");
    faults
}

#[test]
fn the_krew_manifest_is_valid() {
    let manifest = manifest();
    assert_eq!(faults(&manifest, "spy"), Vec::<String>::new());
    assert_eq!(text(&manifest, "/spec/version"), VERSION);
    // Reviews want no examples in the description.
    assert!(!text(&manifest, "/spec/description").contains("kubectl spy"));
}

/// The faults of the manifest with another value at this path.
fn faults_with(path: &str, value: Value) -> String {
    let mut broken = manifest();
    *broken.pointer_mut(path).unwrap() = value;
    faults(&broken, "spy").join(", ")
}

#[test]
fn every_rule_about_a_plugin_finds_its_fault() {
    for (path, value, fault) in [
        ("/apiVersion", json!("v1"), "apiVersion"),
        ("/kind", json!("plugin"), "kind"),
        (
            "/metadata/name",
            json!("s p"),
            "name, file name, naming guide",
        ),
        (
            "/metadata/name",
            json!("kube-spy"),
            "file name, naming guide",
        ),
        ("/spec/version", json!("0.1.0"), "version"),
        ("/spec/version", json!("v0.1"), "version"),
        ("/spec/version", json!("v0.01.0"), "version"),
        ("/spec/shortDescription", json!(""), "shortDescription"),
        ("/spec/shortDescription", json!("a\nb"), "shortDescription"),
        (
            "/spec/shortDescription",
            json!("a".repeat(51)),
            "short shortDescription",
        ),
        ("/spec/description", json!("a".repeat(81)), "description"),
        ("/spec/homepage", json!(""), "homepage"),
        ("/spec/platforms", json!([]), "platforms"),
    ] {
        assert_eq!(faults_with(path, value), fault, "{path}");
    }
}

#[test]
fn every_rule_about_a_platform_finds_its_fault() {
    let first = "/spec/platforms/0";
    for (path, value, fault) in [
        ("/uri", json!("https://x/a.tar.xz"), "archive format"),
        ("/uri", json!("a.zip"), "uri"),
        ("/sha256", json!("A".repeat(64)), "sha256"),
        ("/sha256", json!("0".repeat(63)), "sha256"),
        ("/bin", json!(""), "bin"),
        ("/bin", json!("kubectl-spy.exe"), "bin of Windows"),
        (
            "/selector/matchLabels",
            json!({"os": "linux"}),
            "selectors overlap",
        ),
        (
            "/selector/matchLabels",
            json!({"os": "linux", "arch": "arm64"}),
            "selectors overlap",
        ),
        (
            "/selector/matchLabels",
            json!({"os": "linux", "arch": "x86_64"}),
            "selector matches nothing",
        ),
        (
            "/selector/matchLabels",
            json!({"os": "linux", "arch": "amd64", "libc": "musl"}),
            "selector keys",
        ),
        ("/files", json!([]), "files, licence"),
        ("/files", json!([{"from": "LICENSE"}]), "from and to"),
        (
            "/files",
            json!([{"from": "LICENSE-MIT", "to": "."}]),
            "licence",
        ),
    ] {
        assert_eq!(
            faults_with(&format!("{first}{path}"), value),
            fault,
            "{path}"
        );
    }
    assert!(
        faults_with(&format!("{first}/selector/matchLabels"), json!({})).starts_with("selector, ")
    );
}

/// The target of an archive's URL: `x86_64-unknown-linux-musl`.
fn target(uri: &str) -> &str {
    let archive = uri.rsplit('/').next().unwrap();
    let target = archive.strip_prefix("kubectl-spy-").unwrap();
    target.strip_suffix(".tar.gz").unwrap()
}

/// The manifest, the release and the metadata for cargo binstall name the same six archives.
#[test]
fn a_release_has_an_archive_for_each_platform() {
    let manifest = manifest();
    let uris = list(&manifest, "/spec/platforms")
        .iter()
        .map(|platform| text(platform, "/uri"));
    let uris: Vec<&str> = uris.collect();
    let release = read(".github/workflows/release.yml");
    let built = release.lines().filter_map(|line| {
        let (target, _) = line.trim().strip_prefix("- { target: ")?.split_once(',')?;
        Some(target)
    });
    let built: BTreeSet<&str> = built.collect();
    assert_eq!(built, uris.iter().map(|uri| target(uri)).collect());
    assert_eq!(built.len(), 6);
    let cargo = read("Cargo.toml");
    let setting = |name: &str| {
        let start = format!("{name} = \"");
        let value = cargo
            .lines()
            .find_map(|line| line.strip_prefix(&start)?.strip_suffix('"'));
        value.unwrap_or_else(|| panic!("Cargo.toml has no {name}"))
    };
    for uri in uris {
        let url = setting("pkg-url")
            .replace("{ repo }", setting("repository"))
            .replace("{ version }", env!("CARGO_PKG_VERSION"))
            .replace("{ target }", target(uri));
        assert_eq!(url, uri);
    }
    assert_eq!(setting("pkg-fmt"), "tgz");
    assert_eq!(setting("bin-dir"), "{ bin }{ binary-ext }");
}

/// Runs the scripts of the release. They need GNU tools, as the machine has that publishes.
#[cfg(target_os = "linux")]
mod archives {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;
    use std::process::Command;

    use super::*;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-spy");

    /// A file in place of the program, which nobody runs: the program with its debugging symbols is large.
    fn stand_in() -> PathBuf {
        root().join("LICENSE")
    }

    fn directory(name: &str) -> PathBuf {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{name}"));
        let _not_there = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn run(command: &mut Command) -> String {
        let ran = command.output().unwrap();
        let (printed, error) = (ran.stdout, String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{command:?}: {error}");
        String::from_utf8(printed).unwrap()
    }

    fn package(target: &str, program: &Path, out: &Path) -> PathBuf {
        let script = root().join(".ci/package");
        run(Command::new(script).arg(target).arg(program).arg(out));
        out.join(format!("kubectl-spy-{target}.tar.gz"))
    }

    /// Unpacks an archive, and installs the files that a platform of the manifest names, as krew does.
    fn install(archive: &Path, platform: &Value, to: &Path) {
        // krew reads the format from the content.
        assert_eq!(fs::read(archive).unwrap()[..3], [0x1f, 0x8b, 0x08]);
        let listing = run(Command::new("tar").arg("-tvzf").arg(archive));
        for line in listing.lines() {
            assert!(line.starts_with(['d', '-']), "krew refuses {line}");
        }
        let unpacked = to.join("unpacked");
        fs::create_dir_all(&unpacked).unwrap();
        run(Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(&unpacked));
        let store = to.join("store");
        fs::create_dir_all(&store).unwrap();
        for file in list(platform, "/files") {
            assert_eq!(text(file, "/to"), ".");
            let from = unpacked.join(text(file, "/from"));
            fs::rename(&from, store.join(from.file_name().unwrap())).unwrap();
        }
    }

    #[test]
    fn the_archive_installs_as_krew_does_it() {
        let out = directory("install");
        let manifest = manifest();
        let platform = &list(&manifest, "/spec/platforms")[0];
        let archive = package(target(text(platform, "/uri")), Path::new(PROGRAM), &out);
        install(&archive, platform, &out);
        assert!(out.join("unpacked/man/kubectl-spy-status.1").is_file());
        let bin = out.join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(
            out.join("store").join(text(platform, "/bin")),
            bin.join("kubectl-spy"),
        )
        .unwrap();
        let version = |program: &Path| run(Command::new(program).args(["version", "--client"]));
        assert_eq!(
            version(&bin.join("kubectl-spy")),
            format!("Client Version: {VERSION}\n")
        );
        // kubectl runs this program to complete words; it finds the other one on the path.
        let complete = out.join("store/kubectl_complete-spy");
        assert_eq!(
            fs::metadata(&complete).unwrap().permissions().mode() & 0o777,
            0o755
        );
        let path = format!("{}:/usr/bin:/bin", bin.display());
        let offers = run(Command::new(&complete).arg("stat").env("PATH", path));
        assert!(offers.starts_with("status\t"), "{offers}");
    }

    #[test]
    fn krew_reads_the_checksums_of_a_release() {
        let out = directory("release");
        let committed = manifest();
        let platforms = list(&committed, "/spec/platforms");
        for platform in platforms {
            let archive = package(target(text(platform, "/uri")), &stand_in(), &out);
            install(
                &archive,
                platform,
                &out.join(target(text(platform, "/uri"))),
            );
        }
        run(Command::new(root().join(".ci/krew")).arg(&out));
        let released = fs::read_to_string(out.join("krew-manifest.yaml")).unwrap();
        assert_eq!(
            fs::read_to_string(out.join("krew-index/plugins/spy.yaml")).unwrap(),
            released
        );
        assert!(!released.contains("placeholder"), "{released}");
        let released: Value = serde_saphyr::from_str(&released).unwrap();
        assert_eq!(faults(&released, "spy"), Vec::<String>::new());
        let sums = fs::read_to_string(out.join("SHA256SUMS")).unwrap();
        let mut same = released.clone();
        for (at, platform) in list(&released, "/spec/platforms").iter().enumerate() {
            let archive = format!("kubectl-spy-{}.tar.gz", target(text(platform, "/uri")));
            let sum = run(Command::new("sha256sum").arg(out.join(&archive)));
            let sum = sum.split(' ').next().unwrap();
            assert_eq!(text(platform, "/sha256"), sum);
            assert!(sums.contains(&format!("{sum}  {archive}\n")), "{sums}");
            same["spec"]["platforms"][at]["sha256"] = platforms[at]["sha256"].clone();
        }
        assert_eq!(same, committed, "only the checksums differ");
    }

    #[test]
    fn a_release_without_an_archive_is_refused() {
        let out = directory("missing");
        package("x86_64-unknown-linux-musl", &stand_in(), &out);
        let ran = Command::new(root().join(".ci/krew"))
            .arg(&out)
            .output()
            .unwrap();
        let error = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(
            error,
            "error: the manifest names an archive that was not built\n"
        );
        assert!(!ran.status.success());
    }
}
