//! A Spring Boot service under `instrument run`, as a new user starts it: REST, Spring JDBC, an embedded database, 200 requests.

use anyhow::{Result, ensure};
use instrument_tests::jre::{self, Jre};
use instrument_tests::spring::{self, Ended};
use instrument_tests::subject::{self, entries_of};
use instrument_tests::{agent, machine::Jdk};
use tempfile::TempDir;

const REQUESTS: usize = 200;

/// The oldest and the newest virtual machine on which it runs.
fn machines() -> Result<Vec<Jre>> {
    let mut found: Vec<_> = jre::all()?.into_iter().filter(|jre| jre.version >= 17).collect();
    ensure!(!found.is_empty(), "Java 17 or later is needed; this is {}", Jdk::default_kit()?.version);
    found.drain(1..found.len().max(2) - 1);
    Ok(found)
}

/// Runs the service with these options of `instrument run` and words for `java`.
fn serve(jre: &Jre, options: &[&str], words: &[&str]) -> Result<(TempDir, Ended)> {
    let folder = tempfile::tempdir()?;
    let mut command = subject::call()?;
    command.current_dir(folder.path()).arg("run").args(options).arg("--agent").arg(agent::library()?);
    command.arg("--").arg(jre.home.join("bin/java")).args(words).arg("-jar").arg(spring::jar()?);
    let ended = spring::drive(command, &[], REQUESTS)?;
    ensure!(ended.code == Some(128 + 15), "Java {}: {:?}: {}", jre.version, ended.code, ended.stderr);
    Ok((folder, ended))
}

#[test]
fn every_request_is_counted() -> Result<()> {
    for jre in machines()? {
        let threads: &[bool] = if jre.version >= 21 { &[false, true] } else { &[false] };
        for is_virtual in threads {
            let option = format!("-Dspring.threads.virtual.enabled={is_virtual}");
            let (folder, _) = serve(&jre, &[], &[&option])?;
            let methods = subject::profile(folder.path())?;
            for (method, calls) in [
                ("ShopController.items", 50),
                ("ShopController.order", 100),
                ("ShopController.receipt", 50),
                ("ShopService.price", 100),
                ("ItemRepository.findAll", 50),
                ("OrderRepository.save", 100),
                ("OrderRepository.findByCustomer", 150),
            ] {
                let name = format!("com.acme.shop.{method}");
                let counted = entries_of(&methods, &name);
                let fits = if method.ends_with("price") { counted >= calls } else { counted == calls };
                ensure!(fits, "Java {}, {option}: {name} {counted} times", jre.version);
            }
        }
    }
    Ok(())
}
