//! Tests command lines and the targets that they name.

use super::*;
use crate::cluster::client::Client;
use crate::cluster::discovery::Resolver;
use crate::cluster::kubeconfig::ClusterConfig;

fn filters(flags: &str) -> Filters {
    let value = |name: &str| {
        let flag = flags.split(' ').find_map(|flag| flag.strip_prefix(name));
        flag.map(str::to_owned)
    };
    Filters {
        labels: value("-l"),
        fields: value("-f"),
        namespaces: match value("-A") {
            Some(_) => Namespaces::All,
            None => Namespaces::One("shop".into()),
        },
    }
}

/// One `WORD[/NAME,NAME][@NAMESPACE]` for each type, or the error.
fn check(arguments: &str, flags: &str) -> String {
    let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    let found = match parse(&words, &filters(flags)) {
        Ok(found) => found,
        Err(error) => return error.to_string(),
    };
    let shown = found.asked.iter().map(|asked| {
        let names = match &asked.names {
            Names::All => String::new(),
            Names::Named(names) => format!("/{}", names.join(",")),
        };
        let namespace = asked.namespace.iter().map(|own| format!("@{own}"));
        format!("{}{names}{}", asked.word, namespace.collect::<String>())
    });
    let form = found.equivalent.iter().map(|form| format!("={form}"));
    shown.chain(form).collect::<Vec<_>>().join(" ")
}

#[test]
fn kubectls_forms_are_parsed() {
    for (arguments, expect) in [
        ("deploy/web", "deploy/web"),
        (
            "deploy/web svc/api deploy/b deploy/web",
            "deploy/web,b svc/api",
        ),
        ("deploy web", "deploy/web"),
        ("deploy web b web", "deploy/web,b"),
        ("deploy", "deploy"),
        ("deploy,svc", "deploy svc"),
        ("deploy,svc,deploy", "deploy svc"),
        ("deploy,svc web b", "deploy/web,b svc/web,b"),
        ("all", "all"),
        ("", "error: Required resource not specified."),
        (
            "deploy deploy/web",
            "error: there is no need to specify a resource type as a separate argument when passing arguments in resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource resource/<resource_name>'",
        ),
        (
            "a/b/c",
            "error: arguments in resource/name form may not have more than one slash",
        ),
        (
            "deploy/",
            "error: arguments in resource/name form must have a single resource and name",
        ),
        (
            "/web",
            "error: arguments in resource/name form must have a single resource and name",
        ),
        (
            "deploy, web",
            "error: arguments in resource/name form must have a single resource and name",
        ),
        (
            "a,b/c",
            "error: arguments in resource/name form must have a single resource and name",
        ),
    ] {
        assert_eq!(check(arguments, ""), expect, "{arguments}");
    }
}

#[test]
fn selectors_and_names_exclude_each_other() {
    assert_eq!(check("deploy", "-la=b"), "deploy");
    assert_eq!(check("deploy web", "-l"), "deploy/web");
    let name = "error: name cannot be provided when a selector is specified";
    assert_eq!(check("deploy web", "-la=b"), name);
    assert_eq!(check("deploy web", "-fa=b"), name);
    assert_eq!(
        check("deploy/web", "-la=b"),
        "error: selectors and the all flag cannot be used when passing resource/name arguments"
    );
}

#[test]
fn kubespys_form_is_parsed_with_its_equivalent() {
    for (arguments, expect) in [
        ("v1 Pod web", "Pod.v1./web =pod/web"),
        ("v1 Pod shop/web", "Pod.v1./web@shop =pod/web -n shop"),
        (
            "apps/v1 Deployment shop/web",
            "Deployment.v1.apps/web@shop =deployment.apps/web -n shop",
        ),
        (
            "autoscaling/v2beta1 HPA x",
            "HPA.v2beta1.autoscaling/x =hpa.autoscaling/x",
        ),
        ("v1 pod web", "v1/pod,web"),
        ("v Pod web", "v/Pod,web"),
        ("v1 Pod web more", "v1/Pod,web,more"),
        ("vpa Pod web", "vpa/Pod,web"),
    ] {
        assert_eq!(check(arguments, ""), expect, "{arguments}");
    }
}

/// One `RESOURCE@NAMESPACE:SELECTOR,SELECTOR` for each target, or the error.
async fn targets(arguments: &str, flags: &str) -> String {
    // Nothing listens on this port, so only words that need no request can be resolved.
    let config = ClusterConfig::plain("http://127.0.0.1:1", "test").expect("a URL");
    let resolver = Resolver::new(Client::new(config).await.expect("a client"));
    let words: Vec<String> = arguments.split_whitespace().map(str::to_owned).collect();
    let filters = filters(flags);
    let found = parse(&words, &filters).expect("valid");
    let targets = match found.resolve(&resolver, &filters).await {
        Ok(targets) => targets,
        Err(error) => return error.to_string(),
    };
    let shown = targets.iter().map(|target| {
        let objects = match &target.names {
            Names::All => target.fields.as_deref().unwrap_or("*").to_owned(),
            Names::Named(names) => names.join(" & "),
        };
        format!(
            "{}@{}:{}",
            target.resource.group_resource(),
            target.namespace.as_deref().unwrap_or("*"),
            objects
        )
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn targets_are_as_narrow_as_possible() {
    for (arguments, flags, expect) in [
        (
            "deploy/web deployments/b no/n1",
            "",
            "deployments.apps@shop:web deployments.apps@shop:b nodes@*:n1",
        ),
        ("deploy a b", "", "deployments.apps@shop:a & b"),
        ("deploy,Deployment", "", "deployments.apps@shop:*"),
        ("po", "-A", "pods@*:*"),
        ("po", "-fspec.nodeName=n1", "pods@shop:spec.nodeName=n1"),
        ("no", "-A", "nodes@*:*"),
        ("no n1", "-A", "nodes@*:n1"),
        ("po a=b,c", "", "pods@shop:a=b,c"),
        ("v1 Pod own/web", "-A", "pods@own:web"),
        (
            "po web",
            "-A",
            "error: a resource cannot be retrieved by name across all namespaces",
        ),
        ("all web", "", "error: you must specify only one resource"),
    ] {
        assert_eq!(
            targets(arguments, flags).await,
            expect,
            "{arguments} {flags}"
        );
    }
    let all = targets("all", "").await;
    assert_eq!(
        all,
        "pods@shop:* replicationcontrollers@shop:* services@shop:* daemonsets.apps@shop:* \
         deployments.apps@shop:* replicasets.apps@shop:* statefulsets.apps@shop:* \
         horizontalpodautoscalers.autoscaling@shop:* cronjobs.batch@shop:* jobs.batch@shop:*"
    );
    assert!(
        targets("widgets", "")
            .await
            .starts_with("The connection to the server 127.0.0.1:1 was refused")
    );
}
