//! Mode and time as bytes, for stores that know only bytes.

use model::Meta;

/// Encodes mode, seconds and nanoseconds, lowest byte first.
pub fn bytes(meta: Meta) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&meta.mode.to_le_bytes());
    bytes[4..12].copy_from_slice(&meta.seconds.to_le_bytes());
    bytes[12..].copy_from_slice(&meta.nanoseconds.to_le_bytes());
    bytes
}

/// Decodes the bytes of [`bytes`]; returns `None` for any other length.
pub fn from_bytes(bytes: &[u8]) -> Option<Meta> {
    let (mode, rest) = bytes.split_first_chunk()?;
    let (seconds, rest) = rest.split_first_chunk()?;
    Some(Meta {
        mode: u32::from_le_bytes(*mode),
        seconds: i64::from_le_bytes(*seconds),
        nanoseconds: u32::from_le_bytes(rest.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn mode_and_time_come_back(
            mode in any::<u32>(), seconds in any::<i64>(), nanoseconds in any::<u32>(),
        ) {
            let put = Meta { mode, seconds, nanoseconds };
            prop_assert_eq!(from_bytes(&bytes(put)), Some(put));
        }
    }

    #[test]
    fn bytes_of_another_length_are_none() {
        assert_eq!(from_bytes(&[0; 15]), None);
        assert_eq!(from_bytes(&[0; 17]), None);
    }
}
