//! A file's pages drawn on one line: `[OOoo  ] 5/9`.

use std::io::{self, IsTerminal};

use pagecache::Pages;

/// Characters for the pages where there is no terminal: as many as vmtouch has.
const WIDTH: u64 = 60;

/// How many characters may stand for the pages; leaves room for the counts behind them.
pub(super) fn width() -> u64 {
    let size = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal());
    size.map_or(WIDTH, |(columns, _)| u64::from(columns.0).saturating_sub(24).max(10))
}

/// Pages for one character.
pub(super) fn per_cell(pages: u64, width: u64) -> u64 {
    if pages <= width { 1 } else { pages / width + 1 }
}

/// Full, empty and partly filled cells. None: the system does not tell.
pub(super) fn draw(cells: Option<&[u64]>, per_cell: u64, pages: Pages) -> String {
    let Some(cells) = cells else { return format!("[?] ?/{}", pages.total) };
    let mut left = pages.total;
    let cell = |resident: &u64| {
        let whole = per_cell.min(left);
        left -= whole;
        match *resident {
            0 => ' ',
            some if some >= whole => 'O',
            _ => 'o',
        }
    };
    let drawn: String = cells.iter().map(cell).collect();
    format!("[{drawn}] {}/{}", cells.iter().sum::<u64>(), pages.total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_full_empty_or_between() {
        let pages = |total| Pages { total, ..Pages::default() };
        assert_eq!(draw(Some(&[1, 0, 1]), 1, pages(3)), "[O O] 2/3");
        assert_eq!(draw(Some(&[3, 1, 0, 2]), 3, pages(11)), "[Oo O] 6/11");
        assert_eq!(draw(Some(&[]), 1, pages(0)), "[] 0/0");
        assert_eq!(draw(None, 1, pages(7)), "[?] ?/7");
        assert_eq!((per_cell(60, 60), per_cell(61, 60), per_cell(256_000, 60)), (1, 2, 4267));
    }
}
