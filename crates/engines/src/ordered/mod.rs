//! What engines share whose library keeps bytes in the order of their keys.

mod session;

use model::{Error, Key, KeyKind, Result};

use crate::refusal::wrong_kind;
pub(crate) use session::{Batch, Library, TransactionSession};

/// Copies `value` to the front of `into` if it fits, and returns its length.
#[inline]
pub(crate) fn copy(value: &[u8], into: &mut [u8]) -> usize {
    if let Some(front) = into.get_mut(..value.len()) {
        front.copy_from_slice(value);
    }
    value.len()
}

/// The bytes of `key`, in the order of the keys: an integer with its sign bit flipped, highest
/// byte first; a name as it is. An integer's bytes are put into `room`.
///
/// The key is matched by reference: copied whole, it would be read back before its parts are
/// written out, which waits for the end of the last value's copy.
#[inline]
pub(crate) fn bytes<'k>(key: &Key<'k>, held: KeyKind, room: &'k mut [u8; 8]) -> Result<&'k [u8]> {
    match held {
        KeyKind::Integers => match key {
            Key::Int(key) => {
                *room = (key ^ i64::MIN).to_be_bytes();
                Ok(room)
            }
            Key::Name(_) => Err(wrong_kind(*key, held)),
        },
        KeyKind::Names => match key {
            Key::Name(name) => Ok(name),
            Key::Int(_) => Err(wrong_kind(*key, held)),
        },
    }
}

pub(crate) fn key(bytes: &[u8], held: KeyKind) -> Result<Key<'_>> {
    match held {
        KeyKind::Names => Ok(Key::Name(bytes)),
        KeyKind::Integers => match bytes.try_into() {
            Ok(bytes) => Ok(Key::Int(i64::from_be_bytes(bytes) ^ i64::MIN)),
            Err(_) => {
                Err(Error::corrupt(format!("a key of {} bytes among the integers", bytes.len())))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn integers_keep_their_order_and_come_back(a in any::<i64>(), b in any::<i64>()) {
            let mut rooms = [[0; 8]; 2];
            let [room_a, room_b] = &mut rooms;
            let encoded_a = bytes(&Key::Int(a), KeyKind::Integers, room_a).unwrap();
            let encoded_b = bytes(&Key::Int(b), KeyKind::Integers, room_b).unwrap();
            prop_assert_eq!(encoded_a.cmp(encoded_b), a.cmp(&b));
            prop_assert_eq!(key(encoded_a, KeyKind::Integers).unwrap(), Key::Int(a));
        }
    }

    #[test]
    fn bytes_of_another_length_are_no_integer() {
        assert!(key(b"seven", KeyKind::Integers).is_err());
    }
}
