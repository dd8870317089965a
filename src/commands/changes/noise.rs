//! `--show-noise` and `--show-managed-fields`.

use std::collections::BTreeSet;

use clap::ValueEnum;

use crate::diff::Noise;

/// The flags about noise.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct NoiseArgs {
    /// Also show noise: all of it, or only these classes, for example heartbeat,order (default: hidden
    /// and counted)
    #[arg(
        long,
        value_enum,
        value_name = "CLASS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "all",
        value_delimiter = ','
    )]
    show_noise: Vec<Class>,
    /// Also show changes of metadata.managedFields (default: hidden and counted)
    #[arg(long)]
    show_managed_fields: bool,
}

/// The values of `--show-noise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Class {
    /// Everything
    All,
    /// Counters of the server: resourceVersion, generation, observedGeneration
    Version,
    /// metadata.managedFields: the record of who wrote which field
    #[value(name = "managedFields")]
    ManagedFields,
    /// Probe times, heartbeat times and renewed leases
    Heartbeat,
    /// A new order of items in a list whose order has no meaning
    Order,
    /// Another spelling of the same quantity, time or number
    Equivalent,
}

impl NoiseArgs {
    /// The classes of noise to show.
    pub(super) fn shown(&self) -> BTreeSet<Noise> {
        let classes = self.show_noise.iter().flat_map(|class| class.noise());
        let managed = self.show_managed_fields.then_some(Noise::ManagedFields);
        classes.copied().chain(managed).collect()
    }
}

impl Class {
    fn noise(self) -> &'static [Noise] {
        match self {
            Class::All => &Noise::ALL,
            Class::Version => &[Noise::Version],
            Class::ManagedFields => &[Noise::ManagedFields],
            Class::Heartbeat => &[Noise::Heartbeat],
            Class::Order => &[Noise::Order],
            Class::Equivalent => &[Noise::Equivalent],
        }
    }
}
