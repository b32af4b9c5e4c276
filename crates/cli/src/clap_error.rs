//! Errors of the command line's parser in one line.

use std::path::Path;

use clap::error::{ContextKind, ContextValue};

/// Returns clap's message without its usage block, with the nearest match if it found one.
pub(crate) fn one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let values = text
        .lines()
        .skip(1)
        .take_while(|line| !line.trim().is_empty() && !line.starts_with("Usage"))
        .map(str::trim);
    let mut line = values.fold(first, |line, more| format!("{line} {more}"));
    let suggested =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    for near in suggested.into_iter().filter_map(|kind| error.get(kind)) {
        let near = match near {
            ContextValue::String(near) => near.clone(),
            ContextValue::Strings(all) => all.join(", "),
            _ => continue,
        };
        line = format!("{line}: did you mean {near}?");
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && Path::new(word).exists()
    {
        line = format!("{line}; `storemark run {word}` measures what is there");
    }
    line
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, Command};

    use super::*;

    #[test]
    fn a_typo_is_answered_in_one_line() {
        let update = Arg::new("update").long("update").action(ArgAction::SetTrue);
        let command = Command::new("run").arg(update);
        let error = command.try_get_matches_from(["run", "--updat"]).unwrap_err();
        let line = one_line(&error);
        assert!(line.contains("did you mean --update?"), "{line}");
        assert!(!line.contains('\n'));
    }

    #[test]
    fn a_path_in_the_place_of_a_command_is_answered_with_one() {
        let command = || Command::new("storemark").subcommand(Command::new("run"));
        let line =
            |word| one_line(&command().try_get_matches_from(["storemark", word]).unwrap_err());
        assert!(line("Cargo.toml").contains("`storemark run Cargo.toml` measures"));
        assert!(!line("absent.db").contains("measures"));
    }
}
