//! One version of one object: its body, which may be packed, and the cells of the server's table that its text carries.

use std::fmt;
use std::sync::Arc;

use super::packing::Packing;
use crate::object::{Doc, ObjectRef, ParseError, ResourceVersion, Value};

/// One version of one object: its identity and its text, shared and immutable.
#[derive(Clone)]
pub struct Version {
    /// The object, uid included.
    pub object: Arc<ObjectRef>,
    /// Its `metadata.resourceVersion`.
    pub version: ResourceVersion,
    /// The object's JSON, `apiVersion` and `kind` included.
    pub body: Body,
}

impl Version {
    /// Parses the object; a version from a watch is parsed already. Only the start of a listed item was read
    /// before, so this call also checks that the whole text has the same type.
    pub fn doc(&self) -> Result<Doc, ParseError> {
        self.doc_after(None)
    }

    /// Like [`Version::doc`], and faster the more the text has in common with `previous`.
    pub fn doc_after(&self, previous: Option<&Doc>) -> Result<Doc, ParseError> {
        let doc = match (self.body.read(), previous) {
            (Some(doc), _) => return Ok(doc.clone()),
            (None, Some(previous)) => Doc::parse_after(self.body.clone(), previous)?,
            (None, None) => Doc::parse(self.body.clone())?,
        };
        if self.object.has_type_of(doc.root()) {
            Ok(doc)
        } else {
            Err(ParseError::TwoTypes)
        }
    }

    /// Whether both hold the same state of one object, even if they come from two histories.
    pub(crate) fn is_same(self: &Arc<Version>, other: &Arc<Version>) -> bool {
        let is_equal = || self.version == other.version && self.body == other.body;
        Arc::ptr_eq(self, other) || is_equal()
    }

    pub(crate) fn kept(self, packer: Option<&mut Packer>) -> Arc<Version> {
        Arc::new(match packer {
            Some(packer) => self.packed(packer, None),
            None => self,
        })
    }

    /// This version without the tape of its parsed text, which is larger than the text.
    pub(crate) fn without_tape(&self) -> Version {
        Version {
            body: self.body.without_tape(),
            ..self.clone()
        }
    }

    /// This version with the packed text of the one that a store keeps, if it is parsed and that one is packed.
    pub(crate) fn with_packed(self: Arc<Version>, kept: &Version) -> Arc<Version> {
        match self.body.with_packed(&kept.body) {
            Some(body) => Arc::new(Version {
                body,
                ..Version::clone(&self)
            }),
            None => self,
        }
    }

    /// This version with a packed body. `before` is the body of the object's last version.
    pub(crate) fn packed(&self, packer: &mut Packer, before: Option<&Body>) -> Version {
        Version {
            body: packer.pack(&self.body, before),
            ..self.clone()
        }
    }
}

/// Prints no text, because it may be a Secret's.
impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Version")
            .field("object", &self.object)
            .field("version", &self.version)
            .field("body", &self.body)
            .finish()
    }
}

/// An object's JSON, shared and immutable: plain, parsed, or packed.
///
/// A namespace of ten thousand Pods is 50 MB of JSON. A view needs one object at a time: the version before
/// the one that has just arrived. Listings are sorted by name, so the Pods of one controller are neighbours
/// with almost equal texts. Each is stored as its difference from one of them, the base: 300 bytes instead of
/// 4,700.
#[derive(Clone)]
pub struct Body(BodyText);

#[derive(Clone)]
enum BodyText {
    Plain(Arc<str>),
    Read {
        doc: Doc,
        /// The same text as the store has it, if that is packed.
        packed: Option<Box<PackedText>>,
    },
    Packed(PackedText),
}

#[derive(Clone)]
struct PackedText {
    /// The difference of the text from `base`, packed as [`Packing::of`] says.
    bytes: Arc<[u8]>,
    /// The length of the text.
    len: usize,
    base: Arc<str>,
}

impl Body {
    /// The text.
    pub fn text(&self) -> Arc<str> {
        match &self.0 {
            BodyText::Plain(text) => text.clone(),
            BodyText::Read { doc, .. } => doc.shared_text(),
            BodyText::Packed(PackedText { bytes, len, base }) => {
                let text = Packing::of(*len, base).unpack(bytes, *len, base);
                text.expect("the text was packed with this base")
            }
        }
    }

    /// The object, if it is parsed already.
    pub(crate) fn read(&self) -> Option<&Doc> {
        match &self.0 {
            BodyText::Read { doc, .. } => Some(doc),
            BodyText::Plain(_) | BodyText::Packed(_) => None,
        }
    }

    /// The text without the tape of its parsed form, packed if the store has it packed.
    pub(crate) fn without_tape(&self) -> Body {
        match &self.0 {
            BodyText::Read {
                packed: Some(packed),
                ..
            } => Body(BodyText::Packed(PackedText::clone(packed))),
            BodyText::Read { doc, packed: None } => doc.shared_text().into(),
            BodyText::Plain(_) | BodyText::Packed(_) => self.clone(),
        }
    }

    /// The parsed form, which also knows the packed form of the same text; `None` if they are not these forms.
    pub(crate) fn with_packed(&self, packed: &Body) -> Option<Body> {
        let (BodyText::Read { doc, .. }, BodyText::Packed(packed)) = (&self.0, &packed.0) else {
            return None;
        };
        Some(Body(BodyText::Read {
            doc: doc.clone(),
            packed: Some(Box::new(packed.clone())),
        }))
    }

    /// Its bytes in memory, including the tape of a parsed text. A packed body counts without the base that
    /// it shares.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            BodyText::Plain(text) => text.len(),
            BodyText::Read { doc, .. } => doc.footprint(),
            BodyText::Packed(PackedText { bytes, .. }) => bytes.len(),
        }
    }

    pub(crate) fn is_packed(&self) -> bool {
        matches!(self.0, BodyText::Packed(_))
    }

    fn packed(text: &str, base: &Arc<str>) -> Body {
        Body(BodyText::Packed(PackedText {
            bytes: Packing::of(text.len(), base).pack(text, base).into(),
            len: text.len(),
            base: base.clone(),
        }))
    }

    /// The base of a packed body; `None` if it was packed without one, or is not packed.
    fn base(&self) -> Option<&Arc<str>> {
        match &self.0 {
            BodyText::Packed(PackedText { base, .. }) if !base.is_empty() => Some(base),
            BodyText::Packed(_) | BodyText::Plain(_) | BodyText::Read { .. } => None,
        }
    }

    /// Whether packing made it at least `times` times smaller.
    fn is_within(&self, times: usize) -> bool {
        match &self.0 {
            BodyText::Plain(_) | BodyText::Read { .. } => false,
            BodyText::Packed(PackedText { bytes, len, .. }) => {
                bytes.len().saturating_mul(times) <= *len
            }
        }
    }
}

/// Keeps the parsed form.
impl From<Doc> for Body {
    fn from(doc: Doc) -> Body {
        Body(BodyText::Read { doc, packed: None })
    }
}

impl From<Arc<str>> for Body {
    fn from(text: Arc<str>) -> Body {
        Body(BodyText::Plain(text))
    }
}

impl From<&str> for Body {
    fn from(text: &str) -> Body {
        Body(BodyText::Plain(text.into()))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Body {
        Body(BodyText::Plain(text.into()))
    }
}

impl From<Body> for Arc<str> {
    fn from(body: Body) -> Arc<str> {
        match body.0 {
            BodyText::Plain(text) => text,
            BodyText::Read { .. } | BodyText::Packed(_) => body.text(),
        }
    }
}

/// Compares the texts.
impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        self.text() == other.text()
    }
}

/// Leaves out the text, which may be a Secret's.
impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body")
            .field("bytes", &self.weight())
            .field("packed", &self.is_packed())
            .finish()
    }
}

/// No other base is tried if the packed body is at least this many times smaller than its text.
const GOOD: usize = 8;
/// Another base replaces one only if it makes the body at least this many times smaller. A base is stored in full, so it
/// pays only if many bodies share it.
const BETTER: usize = 2;

/// Packs bodies one after the other. It packs best when neighbours are similar.
#[derive(Debug)]
pub(crate) struct Packer {
    base: Arc<str>,
    last: Arc<str>,
}

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer {
            base: "".into(),
            last: "".into(),
        }
    }

    /// Packs a body. It keeps the base of `before`, the object's last version, if the result is small, or not much larger
    /// than before. A body that does not get smaller stays as it is.
    fn pack(&mut self, body: &Body, before: Option<&Body>) -> Body {
        let text = &match &body.0 {
            BodyText::Plain(_) | BodyText::Read { .. } => body.text(),
            BodyText::Packed(_) => return body.clone(),
        };
        let own = before.and_then(|before| {
            let packed = Body::packed(text, before.base()?);
            let is_near = packed.weight() <= before.weight().saturating_mul(BETTER);
            (packed.is_within(GOOD) || is_near).then_some(packed)
        });
        let packed = own.unwrap_or_else(|| self.next(text));
        if packed.is_within(1) {
            packed
        } else {
            body.clone()
        }
    }

    fn next(&mut self, text: &Arc<str>) -> Body {
        let packed = Body::packed(text, &self.base);
        let last = std::mem::replace(&mut self.last, text.clone());
        if packed.is_within(GOOD) {
            return packed;
        }
        let beside = Body::packed(text, &last);
        if beside.weight().saturating_mul(BETTER) > packed.weight() {
            return packed;
        }
        self.base = last;
        beside
    }
}

/// The field with the cells of the server's table (`kubectl get`). A source has one text for each object, which it stores,
/// packs and compares; so the cells are a field of that text. No object of an API server has a field of this name: field
/// names begin with a letter.
const FIELD: &str = "$printed";

/// The path of that field. Its changes are no changes of the object.
pub(crate) const PRINTED_PATH: &str = r#".["$printed"]"#;

/// The columns that are left out: `status` has its own, or their text changes without a new version.
const OWN: [&str; 8] = [
    "Name",
    "Namespace",
    "Ready",
    "Status",
    "Restarts",
    "Age",
    "IP",
    "Node",
];

/// A cell of the server's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedCell {
    /// The title of its column.
    pub column: Box<str>,
    /// Whether kubectl shows the column only with `-o wide`.
    pub is_wide: bool,
    /// Its text.
    pub text: Box<str>,
}

/// The cells of an object that are neither empty nor in a column of our own.
pub fn printed(object: Value<'_>) -> Box<[PrintedCell]> {
    let cells = object.get(FIELD).into_iter().flat_map(Value::items);
    let cell = |cell: Value<'_>| {
        let text = |name: &str| cell.str_at(&[name]).map(Box::from);
        Some(PrintedCell {
            column: text("column")?,
            is_wide: cell.bool_at(&["wide"]).unwrap_or(false),
            text: text("text")?,
        })
    };
    cells.filter_map(cell).collect()
}

/// The text of an object with these cells. The object is JSON, which is not checked here.
pub(crate) fn with_printed(object: &str, cells: &[PrintedCell]) -> String {
    let is_shown = |cell: &&PrintedCell| {
        let is_own = OWN.iter().any(|own| own.eq_ignore_ascii_case(&cell.column));
        !is_own && !cell.text.is_empty() && &*cell.text != "<none>"
    };
    let json = |cell: &PrintedCell| serde_json::json!({"column": cell.column, "wide": cell.is_wide, "text": cell.text});
    let cells: Vec<_> = cells.iter().filter(is_shown).map(json).collect();
    match object.trim_end().strip_suffix('}') {
        Some(rest) if !cells.is_empty() => {
            let cells = serde_json::Value::from(cells);
            format!("{rest},\"{FIELD}\":{cells}}}")
        }
        _ => object.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::object::Doc;

    fn pod(name: usize, team: &str) -> Body {
        let field = |at: usize| {
            let (name, value) = (at * 7919, at * team.len() * 104_729);
            format!("\"{team}_{name:x}\":{value:x}")
        };
        let env: Vec<String> = (0..40).map(field).collect();
        let env = env.join(",");
        format!(r#"{{"metadata":{{"name":"{team}-{name}"}},"env":[{env}]}}"#).into()
    }

    #[test]
    fn neighbours_are_packed_with_the_first_of_them() {
        let mut packer = Packer::new();
        let teams = ["auth", "billing"].map(|team| {
            let pods = (0..100).map(|name| pod(name, team));
            pods.map(|pod| (packer.pack(&pod, None), pod))
                .collect::<Vec<_>>()
        });
        for (packed, plain) in teams.iter().flatten() {
            assert!(packed == plain && packed.is_packed());
        }
        for pods in &teams {
            let small = |(packed, plain): &&(Body, Body)| packed.weight() * 10 < plain.weight();
            assert!(pods.iter().filter(small).count() >= 98);
        }
    }

    #[test]
    fn an_incompressible_body_stays_as_it_is() {
        let mut packer = Packer::new();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..20 {
            let text: String = std::iter::repeat_with(|| random.alphanumeric())
                .take(5000)
                .collect();
            let body = Body::from(text);
            let kept = packer.pack(&body, None);
            assert!(kept == body && kept.weight() <= body.weight());
            assert!(kept.base().is_none());
        }
    }

    #[test]
    fn a_version_is_packed_with_the_base_of_the_one_before() {
        let mut packer = Packer::new();
        let auth = [0, 1].map(|name| packer.pack(&pod(name, "auth"), None));
        let base = auth[1].base().cloned().expect("packed with the first");
        let other = [0, 1].map(|name| packer.pack(&pod(name, "billing"), None));
        let next = packer.pack(&pod(2, "auth"), Some(&auth[1]));
        assert!(Arc::ptr_eq(next.base().expect("a base"), &base));
        // A version that is twice as large may still have that base: a base of its own would be larger.
        let half: Body = auth[1]
            .text()
            .replacen("\"env\"", "\"x\":[1,2,3],\"env\"", 1)
            .into();
        let next = packer.pack(&half, Some(&auth[1]));
        assert!(Arc::ptr_eq(next.base().expect("a base"), &base));
        // A version with a very different text gets another base.
        let next = packer.pack(&pod(1, "billing"), Some(&auth[1]));
        assert!(next == pod(1, "billing") && next.weight() <= other[1].weight());
    }

    #[test]
    fn a_parsed_body_shares_the_packed_text_of_the_store() {
        let mut packer = Packer::new();
        let parsed =
            Body::from(Doc::parse(format!(r#"{{"x":"{}"}}"#, "x".repeat(500))).expect("JSON"));
        let kept = packer.pack(&parsed, None);
        let shared = parsed.with_packed(&kept).expect("parsed, and packed");
        assert!(shared.read().is_some());
        let block = |body: &Body| match &body.0 {
            BodyText::Packed(text) => text.bytes.clone(),
            BodyText::Plain(_) | BodyText::Read { .. } => Arc::from([]),
        };
        assert!(Arc::ptr_eq(&block(&shared.without_tape()), &block(&kept)));
        assert!(!parsed.without_tape().is_packed() && parsed.without_tape() == kept);
        assert!(kept.with_packed(&kept).is_none() && parsed.with_packed(&parsed).is_none());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(texts in prop::collection::vec("[ab]{0,40}|\\PC{0,80}", 1..20)) {
            let mut packer = Packer::new();
            let mut before: Option<Body> = None;
            for text in texts {
                let packed = packer.pack(&Body::from(text.clone()), before.as_ref());
                prop_assert_eq!(&*packed.text(), &*text);
                before = Some(packed);
            }
        }
    }

    fn cell(column: &str, text: &str) -> PrintedCell {
        PrintedCell {
            column: column.into(),
            is_wide: column == "Images",
            text: text.into(),
        }
    }

    #[test]
    fn an_object_carries_the_cells_that_status_has_no_column_for() {
        let cells = [
            cell("Name", "web"),
            cell("Up-to-date", "3"),
            cell("Images", "web:\"v1\""),
            cell("Selector", "<none>"),
            cell("AGE", "41d"),
        ];
        let text = with_printed(r#"{"kind":"Deployment"} "#, &cells);
        let doc = Doc::parse(text).expect("JSON");
        assert_eq!(*printed(doc.root()), [cells[1].clone(), cells[2].clone()]);
        assert_eq!(with_printed("{}", &cells[..1]), "{}");
        assert_eq!(with_printed("7", &cells), "7");
    }
}
