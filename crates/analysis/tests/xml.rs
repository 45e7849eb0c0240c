//! The XML trace: what is told, in which order, and that a schema validator which is not ours takes it, whatever names there are.

use instrument_analysis::export::xml::{Process, write};
use instrument_testing::{Life, ThreadFacts, Writer};
use instrument_trace::{JavaThread, Profile, Wait, WaitKind};

fn text(data: &[u8], classes: &dyn Fn(u32, u32) -> String) -> String {
    let profile = Profile::parse(data).unwrap();
    assert_eq!(profile.damage, []);
    let source = data.to_vec();
    let process =
        Process { source: &source, profile: &profile, name: "shop.jar", host: Some("ship"), classes };
    let mut out = Vec::new();
    write(&[process], &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn wait(kind: WaitKind, start: u64, end: u64) -> Wait {
    let wait = Wait {
        copy: 1,
        kind,
        thread: 2,
        start,
        end,
        monitor: 9,
        class: 2,
        context: 0,
        owner: 0,
        timeout: 0,
        timed_out: false,
    };
    if kind == WaitKind::Contended {
        Wait { owner: 1, ..wait }
    } else {
        Wait { timeout: 250, timed_out: true, ..wait }
    }
}

/// Two threads and a third of which only its figures are known; four objects; two collections; a contended monitor and a wait.
fn shop() -> Writer {
    let mut writer = Writer::new();
    writer.class_names(&[(1, "[I"), (2, "com.acme.Shop")]);
    let facts = ThreadFacts { start: 2_000, ..ThreadFacts::default() };
    writer.thread("main", &facts, 0, 0);
    writer.thread("raw", &ThreadFacts { start: 3_500, end: 9_000, ..facts }, 0, 0);
    let java = JavaThread {
        copy: 1,
        number: 1,
        ordinal: 1,
        name: "main".into(),
        group: "main".into(),
        ..JavaThread::default()
    };
    let worker = JavaThread {
        number: 2,
        ordinal: 0,
        start: 3_000,
        end: 8_000,
        starter: 1,
        name: "worker".into(),
        group: "pool".into(),
        group_parent: "main".into(),
        ..java.clone()
    };
    writer.java_threads(&[java, worker]);
    writer.collections(1, &[(5_000, 5_500), (7_000, 7_500)]);
    let life = Life { class: 1, thread: 1, bytes: 24, clock: 2_100, ..Life::default() };
    let lives = [
        Life { gone: Some(1), ..life },
        // Its number was taken before that of the first, its clock read after.
        Life { class: 2, thread: 2, bytes: 16, clock: 2_050, ..life },
        // The clock was read before the first collection ended, the number of collections after.
        Life { bytes: 40, born: 1, gone: Some(2), clock: 5_400, ..life },
        Life { thread: 77, born: 2, clock: 8_100, ..life },
    ];
    writer.objects(1, &lives);
    writer.waits(&[wait(WaitKind::Contended, 3_100, 4_100), wait(WaitKind::Waiting, 6_000, 256_006_001)]);
    writer
}

#[test]
fn events_come_in_the_order_of_time() {
    let classes =
        |_: u32, number: u32| if number == 1 { "[I".to_owned() } else { "com.acme.Shop".to_owned() };
    let told = text(&shop().finish(), &classes);
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<TRACE>
<node nodeId="n1" hostname="ship" time="0.001000000"/>
<processCreate processId="p1" nodeIdRef="n1" pid="1" name="shop.jar" time="0.001000000"/>
<agentCreate agentId="a1" processIdRef="p1" agentName="instrument" agentType="Profiler" version="0.1.0" time="0.001000000"/>
<traceStart traceId="t1" agentIdRef="a1" time="0.001000000"/>
<threadStart threadId="1" threadName="main" groupName="main" time="0.001000000"/>
<threadStart threadId="r2" threadName="raw" time="0.001001050"/>
<classDef classId="2" name="com.acme.Shop" time="0.001001050"/>
<objAlloc objId="2" classIdRef="2" threadIdRef="r2" size="16" isArray="false" time="0.001001050"/>
<classDef classId="1" name="int[]" time="0.001001100"/>
<objAlloc objId="1" classIdRef="1" threadIdRef="1" size="24" isArray="true" time="0.001001100"/>
<threadStart threadId="2" threadName="worker" groupName="pool" parentName="main" time="0.001002000"/>
<monContendedEnter threadIdRef="2" monitorId="9" classIdRef="2" ownerThreadIdRef="1" time="0.001002100"/>
<monContendedEntered threadIdRef="2" monitorId="9" classIdRef="2" time="0.001003100"/>
<gcStart time="0.001004000"/>
<objFree objIdRef="1" time="0.001004500"/>
<gcFinish usedObjects="1" usedObjSpace="16" time="0.001004500"/>
<objAlloc objId="3" classIdRef="1" threadIdRef="1" size="40" isArray="true" time="0.001004500"/>
<monWait threadIdRef="2" monitorId="9" classIdRef="2" timeout="250" time="0.001005000"/>
<gcStart time="0.001006000"/>
<objFree objIdRef="3" time="0.001006500"/>
<gcFinish usedObjects="1" usedObjSpace="16" time="0.001006500"/>
<threadEnd threadIdRef="2" time="0.001007000"/>
<objAlloc objId="4" classIdRef="1" size="24" isArray="true" time="0.001007100"/>
<threadEnd threadIdRef="r2" time="0.001008000"/>
<monWaited monitorId="9" classIdRef="2" timeout="256.000001" time="0.257005001"/>
<traceEnd traceIdRef="t1" time="0.257005001"/>
</TRACE>
"#;
    assert_eq!(told, expected);
}
