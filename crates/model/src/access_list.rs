//! Access lists of files (POSIX ACLs): with one, the group's bits of a mode are a mask over all that it
//! names, and give the owner's group nothing.

/// The version of a list that Linux keeps in the attribute `system.posix_acl_access`.
const VERSION: u32 = 2;

// The tags of entries that decide what the group and named users may do.
const NAMED_USER: u16 = 0x02;
const OWNING_GROUP: u16 = 0x04;
const NAMED_GROUP: u16 = 0x08;
const MASK: u16 = 0x10;

const READ: u32 = 0o4;
const ALL: u32 = 0o7;

/// Returns the mode of a file as it is without its access list: it gives the owner's group and
/// others no more than the list does, and nothing that the list denies to anybody it names. `list`
/// is the value of the attribute `system.posix_acl_access`; if it cannot be read, the group gets
/// nothing.
pub fn mode_without_list(mode: u32, list: &[u8]) -> u32 {
    let Some(entries) = entries(list) else { return mode & !0o070 };
    let permitted = |tag| entries.iter().find(|entry| entry.0 == tag).map(|entry| entry.1);
    // If there is no mask, the list names nobody.
    let mask = permitted(MASK).unwrap_or(ALL);
    let group = permitted(OWNING_GROUP).unwrap_or(0) & mask & mode >> 3;
    let named = entries.iter().filter(|entry| [NAMED_USER, NAMED_GROUP].contains(&entry.0));
    // Who is named becomes one of the group or of the others. Whoever reads may execute.
    let least = named.fold(ALL, |least, entry| {
        let permitted = entry.1 & mask;
        least & (permitted | (permitted & READ) >> 2)
    });
    mode & !0o077 | (group & least) << 3 | mode & least
}

/// Returns the tag and the permissions of each entry (16 bits each, followed by a number of 32
/// bits), or `None` if this is not such a list.
fn entries(list: &[u8]) -> Option<Vec<(u16, u32)>> {
    let (version, entries) = list.split_first_chunk()?;
    let (entries, rest) = entries.as_chunks::<8>();
    let is_list = u32::from_le_bytes(*version) == VERSION && rest.is_empty();
    let read = |entry: &[u8; 8]| {
        let [tag, _, permitted, ..] = *entry;
        (u16::from(tag), u32::from(permitted) & ALL)
    };
    is_list.then(|| entries.iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: u16 = 0x01;
    const OTHERS: u16 = 0x20;

    fn list(entries: &[(u16, u16)]) -> Vec<u8> {
        let mut list = VERSION.to_le_bytes().to_vec();
        for (tag, permitted) in entries {
            list.extend(tag.to_le_bytes());
            list.extend(permitted.to_le_bytes());
            list.extend(u32::MAX.to_le_bytes());
        }
        list
    }

    #[test]
    fn nobody_gets_more_than_the_list_gives() {
        for (mode, named, group, mask, wanted) in [
            // 0600 with u:nobody:rw: the mask is rw, the group has nothing.
            (0o100_660, &[6][..], 0, 6, 0o100_600),
            (0o100_664, &[6], 4, 6, 0o100_644),
            // A named user who may do nothing is one of the others, or of the group.
            (0o100_644, &[0], 4, 4, 0o100_600),
            (0o100_664, &[6, 0], 6, 6, 0o100_600),
            (0o100_775, &[6], 7, 7, 0o100_775),
            (0o100_755, &[4], 5, 5, 0o100_755),
            (0o104_711, &[7], 1, 1, 0o104_711),
            (0o100_640, &[7], 7, 4, 0o100_640),
        ] {
            let mut entries = vec![(OWNER, 7), (OWNING_GROUP, group), (MASK, mask), (OTHERS, 7)];
            entries.extend(named.iter().map(|permitted| (NAMED_USER, *permitted)));
            assert_eq!(mode_without_list(mode, &list(&entries)), wanted, "{mode:o} {named:?}");
        }
    }

    #[test]
    fn a_list_that_names_nobody_is_the_mode() {
        let bare = list(&[(OWNER, 6), (OWNING_GROUP, 4), (OTHERS, 0)]);
        assert_eq!(mode_without_list(0o100_640, &bare), 0o100_640);
    }

    #[test]
    fn what_is_no_list_gives_the_group_nothing() {
        for torn in [&b""[..], b"abc", &[1, 0, 0, 0], &[2, 0, 0, 0, 4]] {
            assert_eq!(mode_without_list(0o100_664, torn), 0o100_604);
        }
    }
}
