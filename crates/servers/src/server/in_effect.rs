//! The settings of a table as read back, and the durability class that they give.

use model::{Durability, Error, Facet, Result, Settings};

use super::{
    dialect::{Dialect, ResultRow},
    host::Host,
    tls::TLS,
    variables::{Variables, add_asked},
    watch::{TIMEOUT, limit_in_effect},
};

/// Adds a setting that is fixed of a table, as read back, to the `settings`.
///
/// # Errors
///
/// Fails if these ask for another one.
pub(super) fn with_fixed<D: Dialect>(
    host: &Host<D>,
    (name, word): (&'static str, String),
    settings: &Settings,
) -> Result<Settings> {
    if let Some(asked) = settings.get(name).filter(|asked| *asked != word) {
        return Err(Error::usage(format!(
            "{name}={asked}: the table is {word}, which is fixed once it is made; a server \
             without {asked} may take another {name}"
        ))
        .at(&host.shown));
    }
    let mut settings = settings.clone();
    settings.set(name, word);
    Ok(settings)
}

/// Returns the class that the variables of a server give to a table.
pub(super) fn durability<D: Dialect>(variables: &Variables, settings: &Settings) -> Durability {
    let sync = ("sync", D::sync(variables));
    let class = D::CLASSES.iter().find(|class| class.settings.contains(&sync));
    match class {
        Some(class) if D::is_transactional(settings) => class.class,
        _ => Durability::None,
    }
}

/// Returns the settings of a table as read back, and the class that they give.
pub(super) fn in_effect<D: Dialect>(
    host: &Host<D>,
    facet: Facet,
    settings: &Settings,
) -> Result<(Settings, Durability)> {
    let variables = host.variables()?;
    let mut found = D::in_effect(facet, &variables, settings);
    found.set("sync", D::sync(&variables));
    add_asked(&mut found, settings);
    if facet == Facet::Blobs {
        found.set(TIMEOUT.name, limit_in_effect(settings));
    }
    Ok((found, durability::<D>(&variables, settings)))
}

/// Adds the encryption of the connections to an existing server to the settings in effect.
pub(super) fn with_tls<D: Dialect>(
    host: &Host<D>,
    asked: &Settings,
    mut found: Settings,
) -> Result<Settings> {
    let rows = host.control(|control| control.rows(D::ENCRYPTION))?;
    let version = rows.first().and_then(|row| row.text(1)).unwrap_or_default();
    let asked = asked.get(TLS.name).unwrap_or("on");
    found.set(TLS.name, if version.is_empty() { "off" } else { asked });
    found.set("tls_version", if version.is_empty() { "none" } else { version });
    Ok(found)
}
