//! Which runs can be compared, and both sides of a comparison in one model, as a page shows them.

use super::{CALLS, Change, Changed, Diff, Part};
use crate::arcs::FunctionId;
use crate::correction::Correction;
use crate::model::{Arcflow, Kind, NodeId, Resource};
use crate::report::interval::Verdict;
use crate::report::{Error, Options};
use crate::session;
use crate::uncertainty::accompanies;
use std::path::PathBuf;

/// How a run is read that is compared with others: threads and processes have other names in each.
pub fn run_of(file: PathBuf) -> session::Request {
    session::Request {
        files: vec![file],
        collapse: vec![Kind::Thread, Kind::Process],
        ..session::Request::default()
    }
}

/// Checks that runs have something in common that can be compared.
///
/// # Errors
/// They do not.
pub fn check_comparable<'a>(runs: impl Iterator<Item = &'a Arcflow>) -> Result<(), session::Error> {
    let names = |model: &Arcflow| model.resources().iter().map(|r| r.name.clone()).collect::<Vec<_>>();
    let runs: Vec<Vec<String>> = runs.map(names).collect();
    let is_common = |name: &String| runs.iter().all(|run| run.contains(name));
    if runs.iter().all(|run| !run.is_empty()) && !runs[0].iter().any(is_common) {
        let runs: Vec<String> = runs.iter().map(|run| run.join(", ")).collect();
        let runs = runs.join("; ");
        return Err(session::Error::Request(format!("these files do not measure the same: {runs}")));
    }
    Ok(())
}

/// The runs before and after, laid into one tree.
pub struct Sides {
    /// For everything that is compared a resource of its name, the mean of the runs after; and one with ` before` behind its name, the mean of
    /// those before. Calls are among them.
    pub model: Arcflow,
    /// How many runs are before, and after.
    pub runs: [usize; 2],
    /// Whether anything is known to differ.
    pub differs: bool,
    /// The resources after and before, by their numbers in the model.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// For every pair, of every context: see [`word`].
    pub(crate) contexts: Vec<Vec<u8>>,
    /// The same of every method.
    pub(crate) functions: Vec<Vec<u8>>,
}

impl Sides {
    /// Compares all that the runs have in common.
    ///
    /// # Errors
    /// The runs have no resource in common.
    pub fn new(before: &[Arcflow], after: &[Arcflow]) -> Result<Sides, Error> {
        let first = before.first().map_or(&[][..], |run| run.resources());
        let is_common = |resource: &&Resource| {
            before.iter().chain(after).all(|run| run.resources().contains(resource)) && !accompanies(resource)
        };
        let common = first.iter().filter(is_common).map(|resource| resource.name.clone());
        let names: Vec<String> = common.collect();
        let options = Options { resources: &names, ..Options::default() };
        let diff = Diff::new(before, after, &options)?;
        // Calls are the last to be chosen from.
        let shown: Vec<usize> = diff.shown.iter().copied().filter(|&r| r > 0).chain([0]).collect();
        let resource = |&r: &usize| {
            let Resource { name, unit } = diff.resources[r].clone();
            let name = if r == 0 { format!("{CALLS} compared") } else { name };
            let of_before = Resource { name: format!("{name} before"), unit: unit.clone() };
            [Resource { name, unit }, of_before]
        };
        let mut model = Arcflow::new(shown.iter().flat_map(resource).collect());
        model.origins.merge(&diff.all.origins);
        let corrections = before.iter().chain(after).map(|run| &run.correction);
        model.correction = corrections.fold(Correction::default(), |all, one| all.with(one));
        let mut contexts = vec![Vec::with_capacity(diff.all.nodes().len()); shown.len()];
        let mut base = vec![0.0; 2 * shown.len()];
        for (i, node) in diff.all.nodes().iter().enumerate() {
            let place = if i == 0 {
                Arcflow::ROOT
            } else {
                let consumer = model.consumer(diff.all.name(node.consumer));
                model.child(node.parent, node.kind, consumer)
            };
            let of = Changed::Context(NodeId(i as u32));
            for (k, &r) in shown.iter().enumerate() {
                let [own, cum] = [Part::Base, Part::Cum].map(|part| diff.difference(of, part, r));
                [base[2 * k], base[2 * k + 1]] = [own.after, own.before];
                contexts[k].push(word(own.verdict, cum.verdict));
            }
            model.add_base(place, &base);
            if i > 0 {
                let calls = diff.difference(of, Part::Base, 0);
                model.meet(place, calls.after.round() as u64);
            }
        }
        let functions = shown.iter().map(|&r| {
            let word_of = |id: u32| {
                let of = Changed::Method(FunctionId(id));
                let [own, cum] = [Part::Base, Part::Cum].map(|part| diff.difference(of, part, r).verdict);
                word(own, cum)
            };
            (0..diff.arcs.functions().len() as u32).map(word_of).collect::<Vec<u8>>()
        });
        let functions = functions.collect();
        let differs = |changes: Vec<Change>| changes.iter().any(|change| change.differs);
        Ok(Sides {
            differs: differs(diff.methods()) || differs(diff.contexts()),
            runs: diff.runs,
            pairs: (0..shown.len()).map(|k| [2 * k, 2 * k + 1]).collect(),
            contexts,
            functions,
            model,
        })
    }
}

/// What is known of a base and of a cum, in a byte: 0 equal, 1 within the errors or not known, 2 differs; cum four times that.
fn word(base: Verdict, cum: Verdict) -> u8 {
    let of = |verdict| match verdict {
        Verdict::Equal => 0,
        Verdict::WithinErrors | Verdict::Unknown => 1,
        Verdict::Differs => 2,
    };
    of(base) | of(cum) << 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::folded;

    fn run(text: &str) -> Arcflow {
        folded::read(text.as_bytes()).expect("folded stacks")
    }

    #[test]
    fn both_sides_are_in_one_tree() {
        let sides = Sides::new(&[run("a;b 5\na;c 1\n")], &[run("a;b 5\na;d 4\n")]).unwrap();
        let names: Vec<_> = sides.model.resources().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(&names[2..], ["calls compared", "calls compared before"]);
        let figures = |name: &str| {
            let id = sides.model.ids().find(|&id| sides.model.name(sides.model.node(id).consumer) == name);
            let id = id.expect("a context of that name");
            (sides.model.base(id)[..2].to_vec(), sides.contexts[0][id.0 as usize])
        };
        assert_eq!(figures("b"), (vec![5.0, 5.0], 0));
        assert_eq!((figures("c").0, figures("d").0), (vec![0.0, 1.0], vec![4.0, 0.0]));
        assert!(figures("c").1 > 0 && figures("d").1 > 0, "they are not the same");
        assert_eq!(sides.runs, [1, 1]);
    }
}
