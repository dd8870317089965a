//! The API server's refusals of new objects, in fewer words: a quota without room, a webhook that cannot be called.

use crate::object::Quantity;

/// A refusal in few words; `None` if the message is none, or none that can be shortened.
pub fn short_refusal(message: &str) -> Option<String> {
    exceeded_quota(message).or_else(|| failed_webhook(message))
}

/// `exceeded quota small: pods needs 1, 0 free (2 of 2 used)`, from the message of the quota admission plugin
/// (`k8s.io/apiserver/pkg/admission/plugin/resourcequota`).
fn exceeded_quota(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("exceeded quota: ")?;
    let (name, rest) = rest.split_once(", requested: ")?;
    let (requested, rest) = rest.split_once(", used: ")?;
    let (used, limited) = rest.split_once(", limited: ")?;
    let of = |list: &str, resource: &str| {
        let mut entries = list
            .trim()
            .split(',')
            .filter_map(|entry| entry.split_once('='));
        let found = entries.find(|(key, _)| *key == resource);
        found.map(|(_, amount)| amount.to_owned())
    };
    let resources = requested
        .split(',')
        .filter_map(|entry| entry.split_once('='));
    let needs = resources.map(|(resource, amount)| {
        let used = of(used, resource)?;
        let limit = of(limited, resource)?;
        let free = Quantity::parse(&limit)?.minus(&Quantity::parse(&used)?)?;
        Some(format!(
            "{resource} needs {amount}, {free} free ({used} of {limit} used)"
        ))
    });
    let needs: Vec<String> = needs.collect::<Option<_>>()?;
    (!needs.is_empty()).then(|| format!("exceeded quota {name}: {}", needs.join("; ")))
}

/// The name of the quota in a refusal, whether that is shortened or not.
pub fn refusing_quota(refusal: &str) -> Option<&str> {
    let (_, rest) = refusal.split_once("exceeded quota")?;
    rest.trim_start_matches([':', ' '])
        .split([':', ',', ' '])
        .next()
        .filter(|name| !name.is_empty())
}

/// `webhook guard.example.com cannot be called: service shop/guard not found`, from the message of the webhook
/// admission plugins (`k8s.io/apiserver/pkg/admission/plugin/webhook`).
fn failed_webhook(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("failed calling webhook \"")?;
    let (name, rest) = rest.split_once("\": ")?;
    let why = rest
        .strip_prefix("failed to call webhook: ")
        .unwrap_or(rest);
    // `Post "https://guard.shop.svc:443/?timeout=10s": ` says only which Service it is.
    let request = why.strip_prefix("Post \"");
    let request = request.and_then(|request| request.split_once("\": "));
    let Some((url, why)) = request else {
        return Some(format!("webhook {name} cannot be called: {why}"));
    };
    // `https://NAME.NAMESPACE.svc:443/…`
    let host = url.strip_prefix("https://");
    let host = host.and_then(|rest| rest.split([':', '/']).next());
    let service = host.and_then(|host| host.strip_suffix(".svc")?.split_once('.'));
    let why = match service {
        Some((service, place)) => match why.strip_prefix(&format!("service \"{service}\" ")) {
            Some(rest) => format!("service {place}/{service} {rest}"),
            None => format!("service {place}/{service}: {why}"),
        },
        None => why.to_owned(),
    };
    Some(format!("webhook {name} cannot be called: {why}"))
}

/// The kind and the name of an object that a refused Pod names and that does not exist, from the messages of the admission
/// plugins `Priority` and `ServiceAccount`.
pub fn missing_object(refusal: &str) -> Option<[&str; 2]> {
    if let Some((_, rest)) = refusal.split_once("no PriorityClass with name ") {
        return Some(["PriorityClass", rest.split_once(" was found")?.0]);
    }
    let (_, rest) = refusal.split_once("error looking up service account ")?;
    let (_, name) = rest.split(':').next()?.split_once('/')?;
    Some(["ServiceAccount", name])
}

/// The name of the policy in a refusal, from the message of the policy admission plugin
/// (`k8s.io/apiserver/pkg/admission/plugin/policy/validating`).
pub fn refusing_policy(refusal: &str) -> Option<&str> {
    let (_, rest) = refusal.split_once("ValidatingAdmissionPolicy '")?;
    let (name, rest) = rest.split_once('\'')?;
    rest.contains(" denied request: ").then_some(name)
}

/// The name of the webhook in a shortened refusal: it cannot be called.
pub fn uncalled_webhook(refusal: &str) -> Option<&str> {
    let (name, _) = refusal
        .strip_prefix("webhook ")?
        .split_once(" cannot be called: ")?;
    Some(name)
}

/// The namespace and the name of the Service in a shortened refusal: its webhook cannot be called.
pub fn uncalled_service(refusal: &str) -> Option<[&str; 2]> {
    let (_, rest) = refusal.split_once(" cannot be called: service ")?;
    let (namespace, name) = rest.split([':', ' ']).next()?.split_once('/')?;
    Some([namespace, name])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_quota() {
        let message = "pods \"web-1\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2";
        let short = short_refusal(message).expect("a quota");
        assert_eq!(refusing_quota(&short), Some("small"));
        assert_eq!(refusing_quota(message), Some("small"));
        assert_eq!(refusing_quota("webhook small cannot be called"), None);
    }

    #[test]
    fn a_refusal_names_what_does_not_exist() {
        for (refusal, expect) in [
            (
                r#"pods "web-1" is forbidden: no PriorityClass with name high was found"#,
                Some(["PriorityClass", "high"]),
            ),
            (
                r#"pods "web-1" is forbidden: error looking up service account shop/robot: serviceaccount "robot" not found"#,
                Some(["ServiceAccount", "robot"]),
            ),
            (r#"pods "web-1" is forbidden: no room"#, None),
        ] {
            assert_eq!(missing_object(refusal), expect, "{refusal}");
        }
    }

    #[test]
    fn a_refusal_names_its_policy() {
        let message = "pods \"web-1\" is forbidden: ValidatingAdmissionPolicy 'no-latest' with binding 'all' denied request: no tag";
        assert_eq!(refusing_policy(message), Some("no-latest"));
        assert_eq!(refusing_policy("ValidatingAdmissionPolicy 'a'"), None);
    }

    #[test]
    fn a_refusal_names_the_service_of_its_webhook() {
        let refusal = "webhook a.b cannot be called: service shop/guard";
        for (refusal, expect) in [
            (format!("{refusal} not found"), Some(["shop", "guard"])),
            (format!("{refusal}: EOF"), Some(["shop", "guard"])),
            ("webhook a.b cannot be called: EOF".to_owned(), None),
        ] {
            assert_eq!(uncalled_service(&refusal), expect, "{refusal}");
        }
    }

    #[test]
    fn refusals_lose_their_ceremony() {
        for (message, expect) in [
            (
                r#"pods "web-1" is forbidden: exceeded quota: small, requested: pods=1,requests.cpu=700m, used: pods=2,requests.cpu=1400m, limited: pods=2,requests.cpu=2"#,
                "exceeded quota small: pods needs 1, 0 free (2 of 2 used); requests.cpu needs 700m, 600m free (1400m of 2 used)",
            ),
            (
                r#"Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://guard.shop.svc:443/?timeout=10s": service "guard" not found"#,
                "webhook guard.example.com cannot be called: service shop/guard not found",
            ),
            (
                r#"failed calling webhook "a.b": failed to call webhook: Post "https://guard.shop.svc:443/": context deadline exceeded"#,
                "webhook a.b cannot be called: service shop/guard: context deadline exceeded",
            ),
            (
                r#"failed calling webhook "a.b": failed to call webhook: Post "https://example.com/": EOF"#,
                "webhook a.b cannot be called: EOF",
            ),
            (
                r#"failed calling webhook "a.b": expected response.uid"#,
                "webhook a.b cannot be called: expected response.uid",
            ),
            ("exceeded quota: small, requested: pods=1", ""),
            (r#"admission webhook "a.b" denied the request: no"#, ""),
        ] {
            let short = short_refusal(message).unwrap_or_default();
            assert_eq!(short, expect, "{message}");
        }
    }
}
