//! Stored forms of quantities: plain numbers whose unit is in the field's name.

/// A time as a whole number of nanoseconds.
pub(crate) mod nanos {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use units::Nanos;

    /// Writes the nanoseconds.
    pub(crate) fn serialize<S: Serializer>(time: &Nanos, serializer: S) -> Result<S::Ok, S::Error> {
        time.0.serialize(serializer)
    }

    /// Reads the nanoseconds.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Nanos, D::Error> {
        u64::deserialize(deserializer).map(Nanos)
    }
}
