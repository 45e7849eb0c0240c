//! What exports say of the processes that they are of.

use instrument_analysis::export::format::{ExportRequest, Format, Recorded};
use instrument_analysis::session::{Request, Session};
use instrument_testing::{Script, Writer};

/// In containers many processes have the number 1: of those that are one in the model, only what they have in common is said.
#[test]
fn processes_of_the_same_name_say_what_they_have_in_common() {
    let folder = tempfile::tempdir().unwrap();
    let exported = |hosts: &[&str]| {
        let write = |host: &&str| {
            let mut writer = Writer::new();
            writer.tree("main", &Script::new(1000).call(1, |s| s.wait(10)));
            writer.property("command", "Shop").property("host", host);
            let path = folder.path().join(format!("{host}.iprof"));
            writer.calibrated(0.0, 0.0).clocks(2000, 0);
            std::fs::write(&path, writer.finish()).unwrap();
            path
        };
        let request = Request { files: hosts.iter().map(write).collect(), ..Request::default() };
        let session = Session::read(&request).unwrap();
        let mut bytes = Vec::new();
        let export =
            ExportRequest { format: Format::OtlpProfiles, resource: None, flat: false, large: false };
        export.write(&Recorded { session: &session, request: &request }, &mut bytes).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        ["Shop", "process.pid", "host.name", "host-a", "host-b"].map(has)
    };
    assert_eq!(exported(&["host-a"]), [true, true, true, true, false]);
    assert_eq!(exported(&["host-a", "host-b"]), [true, true, false, false, false]);
}
