//! What the keys and values of labels may look like, with Kubernetes' words about those that may not.

/// What a name consists of.
pub(super) const NAME: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
/// What a prefix of a key consists of.
pub(super) const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
    must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
/// What a value consists of.
pub(super) const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for \
    validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// The most bytes of a name and of a value.
const LONGEST: usize = 63;
/// The most bytes of a prefix.
const LONGEST_PREFIX: usize = 253;

/// What is wrong with the key of a label, such as `app` or `example.com/app`.
pub(super) fn key_faults(key: &str) -> Vec<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let (prefix, name) = match parts[..] {
        [name] => (None, name),
        [prefix, name] => (Some(prefix), name),
        _ => {
            return vec![format!(
                "a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    let mut faults = Vec::new();
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            faults.push("prefix part must be non-empty".to_owned());
        } else {
            faults.extend(
                too_long(prefix, LONGEST_PREFIX).map(|fault| format!("prefix part {fault}")),
            );
            if !is_subdomain(prefix) {
                faults.push(format!("prefix part {SUBDOMAIN}"));
            }
        }
    }
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    }
    faults.extend(too_long(name, LONGEST).map(|fault| format!("name part {fault}")));
    if name.is_empty() || !is_name(name) {
        faults.push(format!("name part {NAME}"));
    }
    faults
}

/// What is wrong with the value of a label; `None` if it is valid.
pub(super) fn value_fault(value: &str) -> Option<String> {
    let is_invalid = !is_name(value);
    let faults = too_long(value, LONGEST).into_iter();
    let faults: Vec<String> = faults.chain(is_invalid.then(|| VALUE.to_owned())).collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

fn too_long(text: &str, longest: usize) -> Option<String> {
    (text.len() > longest).then(|| format!("must be no more than {longest} bytes"))
}

/// Whether a text is empty or consists of `[A-Za-z0-9._-]`, and is alphanumeric at both ends.
fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut ends = bytes.first().into_iter().chain(bytes.last());
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    ends.all(u8::is_ascii_alphanumeric) && bytes.iter().all(is_part)
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(|label| {
        let bytes = label.as_bytes();
        let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let ends = [bytes.first(), bytes.last()];
        ends.iter().all(|end| end.is_some_and(is_end))
            && bytes.iter().all(|byte| is_end(byte) || *byte == b'-')
    })
}
