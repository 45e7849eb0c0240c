//! Exports that have the whole stack of each context: how large they become is known before they are written.

use flate2::read::GzDecoder;
use instrument_analysis::export::format::{ExportRequest, Exportable, Format, Recorded};
use instrument_analysis::export::{Figure, folded, otlp_profiles, pprof, speedscope, tau};
use instrument_analysis::model::{Arcflow, Kind, Resource};
use instrument_analysis::session::{Error, Request, Session};
use std::cell::Cell;
use std::io::{self, Read, Write};

/// Two methods that call each other.
fn recursion(depth: usize) -> Arcflow {
    let mut model = Arcflow::new(vec![Resource { name: "wall".into(), unit: "ns".into() }]);
    let thread = model.consumer("main");
    let mut at = model.child(Arcflow::ROOT, Kind::Thread, thread);
    for name in ["a.B.run(I)V", "a.B.go()V"].iter().cycle().take(depth) {
        let consumer = model.consumer(name);
        at = model.child(at, Kind::Method, consumer);
        model.meet(at, 1);
        model.base_mut(at)[0] = 12_345.0;
    }
    model
}

/// Counts what is written.
struct Counted<'a>(&'a Cell<u64>);

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_estimate_is_near_to_what_is_written() {
    let (model, figure) = (recursion(800), Figure::Base(0));
    let written = |write: &dyn Fn(&mut Counted<'_>) -> io::Result<()>| {
        let count = Cell::new(0);
        write(&mut Counted(&count)).unwrap();
        count.get()
    };
    let tau_files = Cell::new(0);
    tau::write(&model, tau::Rows::Contexts, |_| Ok(Counted(&tau_files))).unwrap();
    for (format, estimated, written) in [
        ("folded", folded::size(&model, figure), written(&|out| folded::write(&model, figure, out))),
        (
            "speedscope",
            speedscope::size(&model, figure),
            written(&|out| speedscope::write(&model, figure, out)),
        ),
        (
            "otlp-profiles",
            otlp_profiles::size(&model),
            written(&|out| otlp_profiles::write(&model, &[], out)),
        ),
        ("pprof", pprof::size(&model), {
            let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
            pprof::write(&model, &[], &mut packed).unwrap();
            GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap() as u64
        }),
        ("tau", tau::size(&model), tau_files.get()),
    ] {
        let near = estimated * 10 > written * 8 && estimated * 8 < written * 10;
        assert!(near, "{format}: {estimated} were estimated, {written} written");
    }
}

/// 12,000 deep: 400 KB of text that would be 580 MB of folded stacks, and 74 MB of those of pprof.
#[test]
fn what_would_be_much_larger_than_the_profiles_is_refused() {
    const DEPTH: usize = 12_000;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep.txt");
    let mut text = String::from("@ main\n");
    (0..DEPTH).for_each(|at| text += &format!("{at} > a.B.run\n"));
    (0..DEPTH).for_each(|at| text += &format!("{} < a.B.run\n", DEPTH + at));
    std::fs::write(&file, text).unwrap();
    let request = Request { files: vec![file], ..Request::default() };
    let session = Session::read(&request).unwrap();
    let what = Recorded { session: &session, request: &request };
    let of = |format, large| ExportRequest { format, resource: None, flat: false, large };
    let refused = |result: Result<_, Error>| match result {
        Err(Error::Request(why)) => why,
        Err(other) => panic!("{other}"),
        Ok(_) => String::new(),
    };
    let count = Cell::new(0);
    let said = refused(of(Format::Folded, false).write(&what, &mut Counted(&count)));
    assert!(said.contains("about 577 MB") && said.contains("--large"), "{said}");
    let said = refused(of(Format::Pprof, false).write(&what, &mut Counted(&count)));
    assert!(said.contains("about 73 MB when it is unpacked"), "{said}");
    assert_eq!(count.get(), 0);
    assert_eq!(refused(of(Format::Folded, true).write(&what, &mut Counted(&count))), "");
    assert!((570_000_000..590_000_000).contains(&count.get()), "{}", count.get());
    let tau = |flat| {
        let request = ExportRequest { flat, ..of(Format::Tau, false) };
        refused(request.write_tau(&what as &dyn Exportable, |_| Ok(io::sink())).map(|()| Vec::new()))
    };
    assert!(tau(false).contains("--flat"), "{}", tau(false));
    assert_eq!(tau(true), "");
    // These grow with the number of contexts.
    for format in [Format::CallTree, Format::Chrome, Format::Firefox, Format::Perfetto] {
        count.set(0);
        assert_eq!(refused(of(format, false).write(&what, &mut Counted(&count))), "");
        assert!(count.get() < 400 * DEPTH as u64, "{}", count.get());
    }
    let said = of(Format::CallTree, false).write(&what, &mut Counted(&count)).unwrap();
    assert!(
        said[0].text.contains("nests 12001 contexts deep") && said[0].text.contains("--flat"),
        "{said:?}"
    );
}
