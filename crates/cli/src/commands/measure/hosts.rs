//! The hosts that clients run on, and how a worker is started there.

use std::{process::Command, time::Duration};

use lab::Hosts;
use model::{Error, LostHost, Result, did_you_mean};
use spec::{ClientOptions, given_value, given_values};

/// The launchers by their names.
const PRESETS: [(&str, &str); 3] = [
    (
        "ssh",
        "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3 {host} storemark worker",
    ),
    (SLURM, "srun --quiet --overlap --unbuffered -w {host} -N1 -n1 storemark worker"),
    ("kubernetes", "kubectl exec -i {host} -- storemark worker"),
];
const SLURM: &str = "slurm";
/// The environment variable in which Slurm names the hosts of an allocation.
const NODES: &str = "SLURM_JOB_NODELIST";

/// The shortest limit: three times the interval between two signs of life of a worker.
const LEAST_LIMIT: Duration = Duration::from_secs(6);

/// Returns the hosts that `clients` asks for; `None` for this one.
pub(super) fn hosts(clients: &ClientOptions) -> Result<Option<Hosts>> {
    let (names, launch) = (given_values(&clients.hosts), given_value(&clients.launch));
    let go_on = given_value(&clients.lost_host) == Some(LostHost::GoOn);
    if names.is_empty() && launch.is_none() {
        let alone = [
            ("--lost-host", clients.lost_host.is_some()),
            ("--host-timeout", clients.host_timeout.is_some()),
        ];
        return match alone.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((name, _)) => Err(Error::usage(format!("{name} needs --hosts or --launch slurm"))),
        };
    }
    if cfg!(not(unix)) {
        return Err(Error::usage("--hosts needs a Unix system on the machine that it is typed on"));
    }
    let launch = launch.unwrap_or_else(|| "ssh".to_owned());
    let names = match names.as_slice() {
        [] if launch == SLURM => allocated()?,
        [] => return Err(Error::usage("--launch needs --hosts; only slurm knows hosts by itself")),
        _ => names,
    };
    names.iter().try_for_each(|name| check(name))?;
    if let Some(twice) = (1..names.len()).find(|n| names[..*n].contains(&names[*n])) {
        return Err(Error::usage(format!(
            "--hosts: {} is named twice; --processes N runs N clients on each host",
            names[twice]
        )));
    }
    let limit = given_value(&clients.host_timeout);
    if limit.is_some_and(|limit| limit < LEAST_LIMIT) {
        return Err(Error::usage(format!(
            "--host-timeout: accepted is {}s or more: a worker shows that it runs every few seconds",
            LEAST_LIMIT.as_secs()
        )));
    }
    Ok(Some(Hosts { names, launch: template(&launch)?, go_on, limit }))
}

/// Returns the command that a shell runs, with `{host}` in it.
fn template(launch: &str) -> Result<String> {
    let preset = PRESETS.iter().find(|(name, _)| *name == launch);
    match preset {
        Some((_, template)) => Ok((*template).to_owned()),
        None if launch.contains("{host}") => Ok(launch.to_owned()),
        None => {
            let hint = did_you_mean(launch, PRESETS.iter().map(|(name, _)| *name));
            Err(Error::usage(format!(
                "--launch {launch:?}{hint}: accepted are ssh, slurm, kubernetes, or a command with \
                 {{host}} in it, as in 'ssh {{host}} storemark worker'"
            )))
        }
    }
}

/// Refuses what a shell or a launcher would take for something else than a host.
fn check(name: &str) -> Result<()> {
    let accepted = |c: char| c.is_ascii_alphanumeric() || "._-:@%/[]".contains(c);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(accepted) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "--hosts {name:?}: a host is named by letters, digits and ._-:@%/[], and does not start with -"
    )))
}

/// Returns the hosts of the Slurm allocation that this process runs in.
fn allocated() -> Result<Vec<String>> {
    let nodes = std::env::var(NODES).map_err(|_| {
        Error::usage(format!(
            "--launch slurm needs --hosts, or an allocation of Slurm (salloc, sbatch): {NODES} is not \
             set"
        ))
    })?;
    let output = Command::new("scontrol").args(["show", "hostnames", &nodes]).output();
    let output = output.map_err(|e| Error::io("scontrol show hostnames", e))?;
    let names = String::from_utf8_lossy(&output.stdout);
    let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
    if names.is_empty() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it names no host");
        return Err(Error::failed(format!("scontrol show hostnames {nodes}: {said}")));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_is_a_preset_or_names_the_host() {
        assert!(template("ssh").unwrap().contains(" {host} storemark worker"));
        assert_eq!(template("on {host} x").unwrap(), "on {host} x");
        let said = template("slrum").unwrap_err().to_string();
        assert!(said.contains("slurm") && said.contains("{host}"), "{said}");
    }

    #[test]
    fn a_host_is_no_code_and_no_option() {
        for name in ["a", "me@n-1.cluster", "pod/x", "[fe80::1%eth0]"] {
            check(name).unwrap();
        }
        for name in ["", "-oProxyCommand=x", "a;b", "$(x)", "a b", "`x`"] {
            assert!(check(name).is_err(), "{name}");
        }
    }
}
