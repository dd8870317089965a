//! Tests of the objects that manifests name.

use std::fmt::Write;

use super::read::Manifest;
use super::{ManifestResolver, ResolvedTargets};
use crate::cluster::{Names, Resolver, Target, TypePlace};
use crate::commands::ManifestArgs;
use crate::commands::{CommandError, FileArgs, ObjectArgs};
use crate::watch::documents_by_line;

fn manifests(text: &str) -> Vec<Manifest> {
    let (documents, faults) = documents_by_line(text);
    assert!(faults.first().is_empty(), "{text}");
    let manifest = |(line, doc)| Manifest {
        path: "m.yaml".to_owned(),
        line,
        doc,
    };
    documents.into_iter().map(manifest).collect()
}

/// The targets of a text in the namespace `shop`, which may come from `-n`.
async fn named((text, labels): (&str, &str), flags: &str) -> Result<Vec<Target>, CommandError> {
    let resolver = ManifestResolver {
        types: &Resolver::of(TypePlace::File, Vec::new()),
        namespace: "shop".into(),
        is_given: flags == "-n shop",
        everywhere: flags == "-A",
        labels: labels.parse().unwrap(),
        verb: "changes",
    };
    let ResolvedTargets { targets, errors } = resolver.targets(&manifests(text)).await?;
    errors.into_iter().next().map_or(Ok(targets), Err)
}

async fn check(text: &str, flags: &str) -> String {
    match named((text, ""), flags).await {
        Ok(targets) => targets.iter().map(line).collect(),
        Err(error) => lines(&error),
    }
}

fn line(target: &Target) -> String {
    let place = target.namespace.as_deref().unwrap_or("-");
    let Names::Named(names) = &target.names else {
        panic!("{target:?}");
    };
    let resource = &target.resource;
    let (version, plural) = (resource.api_version(), &resource.plural);
    format!("{version}/{plural} {place} {}\n", names.join(","))
}

fn lines(error: &CommandError) -> String {
    let mut text = format!("{error}\n");
    for hint in error.hints() {
        writeln!(text, "hint: {hint}").unwrap();
    }
    text
}

const CHART: &str = "\
---
# Source: chart/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: data}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
# nothing
---
apiVersion: v1
kind: Namespace
metadata: {name: data, namespace: ignored}
";

#[tokio::test]
async fn each_object_is_named_once() {
    insta::assert_snapshot!(check(CHART, "").await, @"
    apps/v1/deployments shop web
    v1/configmaps shop a,c
    v1/configmaps data b
    v1/namespaces - data
    ");
    insta::assert_snapshot!(check(r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"p"}}]}"#, "").await, @"v1/pods shop p");
}

#[tokio::test]
async fn labels_choose_manifests() {
    let targets = named((CHART, "app=web"), "").await.unwrap();
    assert_eq!(
        targets.iter().map(line).collect::<String>(),
        "apps/v1/deployments shop web\n"
    );
}

#[tokio::test]
async fn a_namespace_other_than_that_of_n_is_an_error() {
    insta::assert_snapshot!(check(CHART, "-n shop").await, @r#"
    error: the namespace from the provided object "data" does not match the namespace "shop". You must pass '--namespace=data' to perform this operation.
    hint: check configmap/b in m.yaml, line 7
    "#);
    insta::assert_snapshot!(check(CHART, "-A").await, @r"
    error: a resource cannot be retrieved by name across all namespaces
    ");
}

#[tokio::test]
async fn the_error_of_a_document_without_an_object_has_its_place() {
    let mut said = String::new();
    for text in [
        "# a\n\nkind: Pod\nmetadata: {name: a}",
        "apiVersion: v1\nmetadata: {name: a}",
        "apiVersion: v1\nkind: Pod",
        "a: b\n---\n- 1\n",
        "{}\n\n[]\n 3",
        "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: load-}",
        "apiVersion: acme.io/v1\nkind: Gadget\nmetadata: {name: a, namespace: b}",
        "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}",
        "# nothing",
        "",
    ] {
        said += &check(text, "").await;
    }
    insta::assert_snapshot!(said, @r#"
    error: m.yaml: line 3: Object 'apiVersion' is missing
    error: m.yaml: line 1: Object 'Kind' is missing
    hint: this is no object; if it has the values of a Helm chart: helm template CHART -f FILE | kubectl spy … -f -
    error: m.yaml: line 1: resource name may not be empty
    error: m.yaml: line 1: Object 'Kind' is missing
    error: m.yaml: line 3: not an object
    hint: this is no object; if it has the values of a Helm chart: helm template CHART -f FILE | kubectl spy … -f -
    error: m.yaml: line 1: Object 'Kind' is missing
    error: m.yaml: line 4: not an object
    hint: this is no object; if it has the values of a Helm chart: helm template CHART -f FILE | kubectl spy … -f -
    error: m.yaml: line 1: from load-: cannot use generate name with changes
    hint: name the created object: TYPE/NAME
    error: resource mapping not found for name: "a" namespace: "b" from "m.yaml": no matches for kind "Gadget" in version "acme.io/v1"
    hint: ensure CRDs are installed first
    error: resource mapping not found for name: "a" namespace: "" from "m.yaml": no matches for kind "Deployment" in version "apps/v1beta1"
    hint: ensure CRDs are installed first
    error: no objects passed to changes
    error: no objects passed to changes
    "#);
}

#[tokio::test]
async fn a_kind_defined_by_another_manifest_is_known() {
    let text = "\
apiVersion: acme.io/v1
kind: Gadget
metadata: {name: a}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.acme.io}
spec: {group: acme.io, scope: Namespaced, names: {kind: Gadget, plural: gadgetry}}
";
    insta::assert_snapshot!(check(text, "").await, @"
    acme.io/v1/gadgetry shop a
    apiextensions.k8s.io/v1/customresourcedefinitions - gadgets.acme.io
    ");
}

#[tokio::test]
async fn too_many_objects_are_an_error() {
    let many = |count: usize| {
        let object =
            |at| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}}}}}\n---\n");
        (0..count).map(object).collect::<String>()
    };
    // A text that starts with a brace is JSON.
    let text = |count| format!("---\n{}", many(count));
    assert_eq!(named((&text(500), ""), "").await.unwrap().len(), 1);
    insta::assert_snapshot!(check(&text(501), "").await, @"
    error: the manifests name 501 objects, but the limit is 500
    hint: show their types instead: TYPE,TYPE with -l or -n
    ");
}

#[test]
fn flags_that_exclude_each_other_are_errors() {
    let given = |files: &[&str], kustomize: Option<&str>| ObjectArgs {
        manifests: ManifestArgs {
            filename: files.iter().map(|&file| file.to_owned()).collect(),
            recursive: false,
            kustomize: kustomize.map(str::to_owned),
        },
        ..ObjectArgs::default()
    };
    let named = |object: &str| ObjectArgs {
        objects: vec![object.to_owned()],
        ..given(&["a"], None)
    };
    let recursive = |mut args: ObjectArgs| {
        args.manifests.recursive = true;
        args
    };
    let said: String = [
        given(&["a"], None),
        named("deploy/web"),
        named("deploy"),
        given(&["a"], Some("b")),
        recursive(given(&[], Some("b"))),
        given(&["-", "-"], None),
        ObjectArgs {
            source: FileArgs {
                from: vec!["-".to_owned()],
                now: None,
            },
            ..given(&["-"], None)
        },
        ObjectArgs {
            field_selector: Some("spec.nodeName=a".to_owned()),
            ..given(&["a"], None)
        },
        given(&["https://example.com/web.yaml"], None),
    ]
    .iter()
    .map(|args| match super::check(args) {
        Ok(()) => "fine\n".to_owned(),
        Err(error) => lines(&error),
    })
    .collect();
    insta::assert_snapshot!(said, @"
    fine
    error: resource/name arguments cannot be provided when a path is specified
    error: when paths, URLs, or stdin is provided as input, you may not specify resource arguments as well
    error: only one of -f or -k can be specified
    error: the -k flag can't be used with -f or -R
    error: standard input cannot be used for multiple arguments
    error: standard input cannot be used for multiple arguments
    error: manifests name objects: --field-selector cannot be used with them
    error: https://example.com/web.yaml: URLs are not supported
    hint: fetch it first: curl -sSfL URL | kubectl spy … -f -
    ");
}
