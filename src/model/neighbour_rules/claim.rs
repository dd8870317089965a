//! A claim that names a volume which it cannot have.

use crate::graph::{Node, Tier};
use crate::status::{CauseRule, Finding, Status};

use crate::model::around::Around;
use crate::model::volume_fit;

/// The problem of an unbound claim that names a volume of another claim, or one that does not fit. A volume that is
/// reserved for the claim is not compared with it.
pub(in crate::model) fn unusable_volume(around: Around<'_>, claim: &Node) -> Vec<Finding> {
    Vec::from_iter(unusable_volume_of(around, claim))
}

fn unusable_volume_of(around: Around<'_>, claim: &Node) -> Option<Finding> {
    let object = around.object(&claim.uid)?;
    let is_waiting = object.needs >= Tier::Unwell && object.own.status() == Status::InProgress;
    let mut references = around.graph().references_of(&claim.uid).iter();
    let named = references.find(|found| found.relation.name == "volume" && is_waiting)?;
    let volume = around.graph().referenced(&named.target)?;
    // The problem of a volume explains the claim already.
    let is_well = around.object(&volume.uid)?.own.is_well();
    let doc = around
        .doc(&volume.uid)
        .filter(|_| is_well && around.is_there(&volume.uid))?;
    let own = around.doc(&claim.uid)?;
    let (doc, own) = (doc.root(), own.root());
    let name = &volume.object;
    if let Some(other) = volume_fit::other_claim(doc, own) {
        let text = format!("{name} is reserved for {other}");
        return Some(Finding::new(
            CauseRule::VolumeReserved,
            Status::Failed,
            text,
        ));
    }
    let misfits = volume_fit::misfits(doc, own);
    let is_reserved = doc.at(&["spec", "claimRef"]).is_some();
    (!misfits.is_empty() && !is_reserved).then(|| {
        let text = format!("{name} {}", volume_fit::words(&misfits));
        Finding::new(CauseRule::VolumeMismatch, Status::Failed, text)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::Read;

    /// A claim that waits for the volume `pv-1`, and that volume.
    fn objects(claim: &str, volume: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: shop}}, spec: {{volumeName: pv-1, storageClassName: fast, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 5Gi}}}}{claim}}}, status: {{phase: Pending}}}}
---
{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv-1}}, spec: {{{volume}}}, status: {{phase: Available}}}}"
        )
    }

    const FITS: &str =
        "storageClassName: fast, accessModes: [ReadWriteOnce], capacity: {storage: 5Gi}";

    /// Checks the reason of a claim with these fields for not having this volume: none, or one that makes it fail.
    fn check(claim: &str, volume: &str, expected: &str) {
        let objects = objects(claim, volume);
        for read in [Read::of(&objects), Read::for_status(&objects)] {
            let state = read.state("data");
            let found = state.lines().find(|line| line.starts_with("Volume"));
            assert_eq!(found.unwrap_or_default(), expected, "{volume}\n{state}");
            let is_failed = state.starts_with("Failed");
            assert_eq!(is_failed, !expected.is_empty(), "{state}");
        }
    }

    #[test]
    fn a_claim_names_the_claim_that_has_its_volume() {
        let own = "claimRef: {namespace: shop, name: data";
        let reserved = "VolumeReserved: persistentvolume/pv-1 is reserved for";
        for (volume, expected) in [
            (FITS.to_owned(), String::new()),
            (format!("{FITS}, {own}}}"), String::new()),
            (format!("{own}, uid: data}}"), String::new()),
            (
                format!("{own}, uid: before}}"),
                format!("{reserved} an earlier claim of the same name"),
            ),
            (
                format!("{FITS}, claimRef: {{namespace: prod, name: other}}"),
                format!("{reserved} claim prod/other"),
            ),
        ] {
            check("", &volume, &expected);
        }
    }

    #[test]
    fn a_claim_names_what_its_volume_has_and_what_it_asks_for() {
        let volume = |from: &str, to: &str| FITS.replace(from, to);
        for (claim, volume, expected) in [
            ("", volume("5Gi", "1Gi"), "1Gi; the claim asks for 5Gi"),
            ("", volume("5Gi", "10Gi"), ""),
            (
                "",
                volume("fast", "slow"),
                "storage class slow; the claim asks for storage class fast",
            ),
            (
                "",
                volume("storageClassName: fast, ", ""),
                "no storage class; the claim asks for storage class fast",
            ),
            (
                "",
                volume("Once", "Many"),
                "access mode ReadWriteMany; the claim asks for access mode ReadWriteOnce",
            ),
            ("", volume("Once", "Many, ReadWriteOnce"), ""),
            (
                ", volumeMode: Block",
                FITS.to_owned(),
                "volume mode Filesystem; the claim asks for volume mode Block",
            ),
            (
                "",
                volume("5Gi}", "1Gi}, volumeMode: Block"),
                "1Gi and volume mode Block; the claim asks for 5Gi and volume mode Filesystem",
            ),
            (
                ", volumeAttributesClassName: gold",
                FITS.to_owned(),
                "no attributes class; the claim asks for attributes class gold",
            ),
        ] {
            let has = "VolumeMismatch: persistentvolume/pv-1 has";
            let expected = if expected.is_empty() {
                String::new()
            } else {
                format!("{has} {expected}")
            };
            check(claim, &volume, &expected);
        }
    }

    #[test]
    fn a_bound_claim_is_well_whatever_its_volume_is_like() {
        let bound = objects("", "").replace("Pending", "Bound");
        assert_eq!(Read::of(&bound).state("data"), "Current");
    }

    #[test]
    fn a_claim_with_a_volume_waits_for_no_provisioner() {
        let class = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: example.com/disks}";
        let objects = objects("", "storageClassName: slow");
        let with_class = format!("{objects}\n---\n{class}");
        assert_eq!(
            Read::of(&with_class).state("data"),
            Read::of(&objects).state("data")
        );
    }

    /// The volume says what its problem is.
    #[test]
    fn a_released_volume_has_a_reason_of_its_own() {
        let volume = "claimRef: {namespace: shop, name: data, uid: before}";
        let released = objects("", volume).replace("Available", "Released");
        let expected = "FailedReference: volume persistentvolume/pv-1: its claim shop/data was replaced by a new one of the same name";
        let state = Read::for_status(&released).state("data");
        assert!(state.contains(expected), "{state}");
        assert!(!state.contains("VolumeReserved"), "{state}");
    }
}
