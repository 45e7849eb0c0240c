//! The rows of remote calls: of all profiles of an export together, for a call has two ends.

use super::batch::Cell;
use super::inputs::Input;
use super::place::Partition;
use super::schema::{REMOTE_CALLS, Table, UNMATCHED};
use super::{Files, Folder, Rows};
use crate::merge::Peer;
use crate::merge::processes;
use crate::session::{Error, ProfileFile};
use std::collections::BTreeMap;

/// Rows of a table, by partition.
type ByPartition<'a, W> = BTreeMap<&'a Partition, Rows<W>>;

/// Writes what is known of the calls between the processes of `inputs`, whose profiles are `profiles`. `all`: the
/// inputs of all partitions.
pub(super) fn rows<F: Folder>(
    all: &[Input],
    inputs: &[&Input],
    profiles: &[ProfileFile],
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    let tables = |table: &'static Table| -> ByPartition<'_, F::File> {
        all.iter().map(|input| (&input.partition, files.table(table, &input.partition))).collect()
    };
    let [mut calls, mut unmatched] = [&REMOTE_CALLS, &UNMATCHED].map(tables);
    let found = if profiles.is_empty() { None } else { Some(processes::services_of(profiles)?) };
    let (services, numbers) = found.unwrap_or_default();
    let addresses = &numbers.addresses;
    for (service, of) in &services.all {
        let [client, server] = [service.client, service.server];
        let Some(home) = [client, server].into_iter().find_map(party) else { continue };
        let (client, client_address) = ends(client, inputs, addresses);
        let (server, server_address) = ends(server, inputs, addresses);
        let row = [
            client,
            client_address,
            server,
            server_address,
            (&service.method).into(),
            of.made.into(),
            of.served.into(),
            of.matched.into(),
            of.failed.into(),
            of.client_ns.into(),
            of.client_max.into(),
            of.server_ns.into(),
            of.server_max.into(),
        ];
        push(&mut calls, inputs[home], &row, files)?;
    }
    for (&(process, is_made, reason, peer), &count) in &numbers.unmatched {
        let (peer, address) = ends(peer, inputs, addresses);
        let side = if is_made { "made" } else { "served" };
        let row =
            [Cell::Key(inputs[process].key), side.into(), reason.word().into(), peer, address, count.into()];
        push(&mut unmatched, inputs[process], &row, files)?;
    }
    for rows in calls.into_values().chain(unmatched.into_values()) {
        rows.finish(files)?;
    }
    Ok(())
}

fn push<F: Folder>(
    all: &mut ByPartition<'_, F::File>,
    home: &Input,
    row: &[Cell<'_>],
    files: &mut Files<'_, F>,
) -> Result<(), Error> {
    all.get_mut(&home.partition).map_or(Ok(()), |rows| rows.push(row, files))
}

fn party(peer: Peer) -> Option<usize> {
    if let Peer::Party(party) = peer { Some(party) } else { None }
}

/// The process, and the address if only that is known.
fn ends<'a>(peer: Peer, inputs: &[&Input], addresses: &'a [String]) -> (Cell<'static>, Cell<'a>) {
    match peer {
        Peer::Party(party) => (Cell::Key(inputs[party].key), Cell::Null),
        Peer::Address(at) => (Cell::Null, addresses.get(at).into()),
        Peer::Unknown => (Cell::Null, Cell::Null),
    }
}
