//! Class loading is work of the virtual machine: its time is apart from that of the method that waits for it.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use anyhow::{Context, Result, ensure};
use instrument_names::id_map::{IdMap, gz};
use instrument_rewriter::class_file::mutf8;
use instrument_rewriter::region::Region;
use instrument_tests::agent::{self, option, run};
use instrument_tests::{jre, subject};
use instrument_trace::{LinkKind, Profile, TreeConsumer, TreeNode};

/// Names of the methods by id.
fn names(profile: &Profile) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for map in &profile.copies[&1].id_maps {
        for entry in IdMap::parse(&gz::decompress(map, 1 << 24).unwrap()).unwrap().iter() {
            let class = mutf8::escape(entry.class);
            names.insert(entry.id, format!("{class}.{}", mutf8::escape(entry.method.name)));
        }
    }
    names
}

/// The nodes of a profile's threads, each with the name of its caller.
fn nodes(profile: &Profile) -> Vec<(String, String, TreeNode)> {
    let names = names(profile);
    let kinds: HashMap<_, _> = profile.links.iter().map(|link| (link.number, link.kind)).collect();
    let name = |consumer| match consumer {
        TreeConsumer::Method(id) => names[&id].clone(),
        TreeConsumer::Link(number) => format!("{:?}", kinds[&number]),
        TreeConsumer::Deeper => "deeper".to_owned(),
    };
    let trees = profile.threads.iter().filter_map(|thread| thread.tree.as_ref());
    let all = trees.flat_map(|tree| {
        let caller = |node: &TreeNode| tree.node(node.parent).map(|above| name(above.consumer));
        tree.nodes.iter().map(move |node| (caller(node).unwrap_or_default(), *node)).collect::<Vec<_>>()
    });
    all.map(|(caller, node)| (caller, name(node.consumer), node)).collect()
}

#[test]
fn the_time_of_class_loading_is_apart_from_the_method() -> Result<()> {
    let work = tempfile::tempdir()?;
    let path = agent::compile(&["Loads.java"], 8, work.path())?.display().to_string();
    for jre in jre::all()?.into_iter().filter(|jre| jre.version > 8) {
        let case = format!("Java {}", jre.version);
        let agent = option("out=loads.iprof,timing=auto")?;
        let outcome = run(&jre, &["-Xcheck:jni", &agent, "-cp", &path, "Loads", &path])?;
        ensure!(outcome.code == Some(0) && outcome.stdout == "done 5\n", "{case}: {}", outcome.stderr);
        assert_eq!(outcome.stderr, "", "{case}");
        let file = outcome.folder.path().join("loads.iprof");
        let profile = Profile::parse(&fs::read(&file)?)?;
        assert_eq!((&profile.damage[..], &profile.imbalances()[..]), (&[][..], &[][..]), "{case}");
        ensure!(
            profile
                .threads
                .iter()
                .all(|thread| thread.methods.values().all(|m| m.unmatched + m.closes.unclosed == 0))
        );

        let nodes = nodes(&profile);
        let find = |caller: &str, callee: &str| {
            let found = nodes.iter().find(|(above, below, _)| above == caller && below == callee);
            found.map(|(_, _, node)| node).with_context(|| format!("{case}: no {callee} below {caller}"))
        };
        let loading = format!("{:?}", LinkKind::ClassLoading);
        // Class.forName asks the loaders of the JDK, and one that is asked for several classes at once.
        for method in ["Loads.byName", "Loads.parallel"] {
            let (whole, apart) = (find("Loads.main", method)?, find(method, &loading)?);
            assert_eq!((whole.entries, apart.entries >= 300), (1, true), "{case}: {method}");
            ensure!(apart.ns * 2 > whole.ns, "{case}: {method}: {} of {} ns are apart", apart.ns, whole.ns);
        }
        // A loader with its own loadClass is the program; what it defines is not.
        assert_eq!(find("Loads.own", "Loads$Own.loadClass")?.entries, 300, "{case}");
        ensure!(find("Loads$Own.loadClass", &loading)?.entries >= 300, "{case}");
        assert_eq!(find(&loading, "Loads$Parallel.findClass")?.entries, 300, "{case}");
        // Each initializer waits for the class that the next one belongs to.
        for (caller, callee) in [
            ("Loads.chain", "Loads$First.<clinit>"),
            ("Loads$First.<clinit>", "Loads$Second.<clinit>"),
            ("Loads$First.<clinit>", "Loads$Base.<clinit>"),
            ("Loads$Second.<clinit>", "Loads$Third.<init>"),
        ] {
            assert_eq!(find(caller, callee)?.entries, 1, "{case}: {callee}");
            find(caller, &loading)?;
        }
        find("Loads.concat", &format!("{:?}", LinkKind::DynamicLinking))?;

        let tree = subject::call()?
            .args(["--quiet", "xtree", "--prune", "0", "--width", "200"])
            .arg(&file)
            .output()?;
        let tree = String::from_utf8(tree.stdout)?;
        ensure!(
            tree.contains("(class loading)") && tree.contains("(invokedynamic linking)"),
            "{case}: {tree}"
        );
    }
    Ok(())
}

/// Where there are no times, there is nothing to take them from; regions of code alone leave the JDK as it is.
#[test]
fn counts_have_no_class_loading() -> Result<()> {
    let work = tempfile::tempdir()?;
    let path = agent::compile(&["Loads.java"], 8, work.path())?.display().to_string();
    for jre in jre::all()?.into_iter().filter(|jre| jre.version > 8) {
        let outcome = run(&jre, &[&option("out=loads.iprof,record=counts")?, "-cp", &path, "Loads", &path])?;
        let profile = Profile::parse(&fs::read(outcome.folder.path().join("loads.iprof"))?)?;
        ensure!(profile.links.is_empty() && profile.imbalances().is_empty(), "{:?}", profile.links);
    }
    Ok(())
}

/// Its frames are no calls in a trace either, and code regions with large numbers are recorded beside it.
#[test]
fn counts_and_code_regions_are_as_without_it() -> Result<()> {
    let work = tempfile::tempdir()?;
    let path = agent::compile(&["Loads.java"], 8, work.path())?.display().to_string();
    let regions = ["Loads#byName", "Loads#own", "Loads#parallel", "Loads#chain"];
    let large =
        regions.iter().filter(|name| Region::parse(name).is_ok_and(|region| region.number >> 30 != 0));
    ensure!(large.count() > 0, "none of the regions has a large number");
    let option_of = |record: &str| {
        let regions: String = regions.iter().map(|region| format!(",region={region}")).collect();
        option(&format!("out=loads.iprof,record={record},transform=method-events{regions}"))
    };
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let mut expected: Option<BTreeMap<String, [u64; 6]>> = None;
    for record in ["counts", "tree", "trace"] {
        let outcome = run(&jre, &[&option_of(record)?, "-cp", &path, "Loads", &path])?;
        ensure!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{record}: {}", outcome.stderr);
        let profile = Profile::parse(&fs::read(outcome.folder.path().join("loads.iprof"))?)?;
        assert_eq!(profile.links.is_empty(), record == "counts", "{record}");
        let passages: Vec<u64> = profile.regions.iter().map(|region| region.passages).collect();
        assert_eq!(passages, [1; 4], "{record}: {:?}", profile.regions);
        let rows = subject::profile(outcome.folder.path())?.into_iter().map(|m| {
            ensure!(m.unclosed + m.unmatched == 0, "{record}: {m:?}");
            Ok((m.name, [m.entries, m.exits, m.unwinds, m.aborted, m.unmatched, m.open]))
        });
        let methods: BTreeMap<_, _> = rows.collect::<Result<_>>()?;
        assert_eq!(*expected.get_or_insert_with(|| methods.clone()), methods, "{record}");
    }
    Ok(())
}

#[test]
fn nothing_outside_of_a_root_has_class_loading() -> Result<()> {
    let work = tempfile::tempdir()?;
    let path = agent::compile(&["Loads.java"], 8, work.path())?.display().to_string();
    let jre = jre::all()?.pop().context("a virtual machine")?;
    let agent = option("out=loads.iprof,root=Loads#chain")?;
    let outcome = run(&jre, &[&agent, "-cp", &path, "Loads", &path])?;
    ensure!(outcome.code == Some(0), "{}", outcome.stderr);
    let profile = Profile::parse(&fs::read(outcome.folder.path().join("loads.iprof"))?)?;
    assert_eq!(profile.imbalances(), []);
    let nodes = nodes(&profile);
    let outermost: Vec<_> = nodes.iter().filter(|node| node.0.is_empty()).map(|node| &node.1).collect();
    assert_eq!(outermost, ["Loads.chain"], "{nodes:?}");
    let loading = format!("{:?}", LinkKind::ClassLoading);
    ensure!(nodes.iter().any(|node| node.0 == "Loads.chain" && node.1 == loading), "{nodes:?}");
    Ok(())
}
