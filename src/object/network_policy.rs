//! What a `NetworkPolicy` restricts
//! (<https://kubernetes.io/docs/concepts/services-networking/network-policies/#the-networkpolicy-resource>).

use super::Value;

/// The directions of traffic, as `spec.policyTypes` and the fields of the rules name them.
const DIRECTIONS: [(&str, &str); 2] = [("Ingress", "ingress"), ("Egress", "egress")];

/// The directions of traffic that a policy restricts and allows something of: `ingress`, `egress`.
pub fn restricted(policy: Value<'_>) -> Vec<&'static str> {
    let mut directions = directions(policy);
    directions.retain(|direction| has_rules(policy, direction));
    directions
}

/// The directions of traffic of which a policy allows nothing. Another policy may allow some of it.
pub fn denied(policy: Value<'_>) -> Vec<&'static str> {
    let mut directions = directions(policy);
    directions.retain(|direction| !has_rules(policy, direction));
    directions
}

/// The directions that a policy is about. Without `policyTypes` it is about ingress, and about egress if it has rules for that.
fn directions(policy: Value<'_>) -> Vec<&'static str> {
    let mut types = policy.items_at(&["spec", "policyTypes"]).peekable();
    if types.peek().is_none() {
        let mut directions = vec!["ingress"];
        directions.extend(has_rules(policy, "egress").then_some("egress"));
        return directions;
    }
    let types: Vec<_> = types.filter_map(Value::as_str).collect();
    let named = DIRECTIONS.into_iter();
    let named = named.filter(|(name, _)| types.iter().any(|own| own == name));
    named.map(|(_, direction)| direction).collect()
}

fn has_rules(policy: Value<'_>, direction: &str) -> bool {
    policy.items_at(&["spec", direction]).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn a_policy_without_rules_for_a_direction_denies_it() {
        for (spec, denies, restricts) in [
            ("", "ingress", ""),
            (r#""ingress":[{}]"#, "", "ingress"),
            (r#""egress":[{}]"#, "ingress", "egress"),
            (r#""policyTypes":["Ingress"],"egress":[{}]"#, "ingress", ""),
            (r#""policyTypes":["Egress"],"ingress":[]"#, "egress", ""),
            (
                r#""policyTypes":["Egress","Ingress"]"#,
                "ingress egress",
                "",
            ),
            (
                r#""policyTypes":["Ingress","Egress"],"ingress":[{"from":[]}]"#,
                "egress",
                "ingress",
            ),
        ] {
            let doc = Doc::parse(format!(r#"{{"spec":{{{spec}}}}}"#)).expect("JSON");
            assert_eq!(denied(doc.root()).join(" "), denies, "{spec}");
            assert_eq!(restricted(doc.root()).join(" "), restricts, "{spec}");
        }
    }
}
