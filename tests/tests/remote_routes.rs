//! What requests by HTTP are called: by the routes that frameworks have for them. Those of Spring MVC are in `spring.rs`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use instrument_tests::http::Programs;
use instrument_tests::machine::Run;
use instrument_tests::values::machines;
use instrument_tests::{jre, rmi, subject};

/// Methods of the program alone: requests are recorded, and their routes asked for, beside.
const OPTIONS: &str = "transform=method-events:remote-http,propagate=on,include=JerseyOrders*";

/// Requests of `JerseyOrders`, what it says of each, and the route.
const ORDERS: [(&str, &str, &str); 9] = [
    ("GET orders", "200 all", "GET /shop/api/orders"),
    ("GET orders/", "200 all", "GET /shop/api/orders"),
    ("GET orders/7", "200 order 7", "GET /shop/api/orders/{id}"),
    // Its method is there, and throws.
    ("GET orders/9", "409 ", "GET /shop/api/orders/{id}"),
    ("GET orders/7/items/3", "200 7 item 3", "GET /shop/api/orders/{id}/items/{item: [0-9]+}"),
    // What it asks for within the program is no request.
    ("GET batch", "200 batch 200", "GET /shop/api/batch"),
    // No method is for these.
    ("GET nothing/5", "404 ", "GET /shop/api/nothing/?"),
    ("GET orders/seven/8", "404 ", "GET /shop/api/orders/seven/?"),
    ("DELETE orders/7", "405 ", "DELETE /shop/api/orders/?"),
];

#[test]
fn requests_are_called_by_the_routes_of_jax_rs() -> Result<()> {
    let jakarta = |source: String| source.replace("javax.ws.rs", "jakarta.ws.rs");
    type Case = ([&'static str; 3], fn(String) -> String);
    let cases: [Case; 2] = [
        (["jersey-servlet-2", "tomcat-embed", "tomcat-annotations"], |source| source),
        (["jersey-servlet-3", "tomcat-embed-10", "tomcat-annotations-10"], jakarta),
    ];
    for (jre, (jars, change)) in jre::each(&machines()?, &cases) {
        let work = tempfile::tempdir()?;
        let programs = Programs::compile(work.path(), &["routes"], &jars, change)?;
        let mut java = programs.java(&jre, Some(OPTIONS), "orders", work.path())?;
        let output = java.arg("JerseyOrders").args(ORDERS.map(|(request, ..)| request)).capture()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success() && !errors.contains("instrument:"), "{errors}");
        let said = ORDERS.map(|(request, answer, _)| format!("{request}: {answer}\n")).concat();
        assert_eq!(String::from_utf8(output.stdout)?, said, "{}", jars[0]);

        let profile = rmi::profile(work.path(), "orders")?;
        let services =
            subject::call()?.args(["merge", "--report", "services", "--json"]).arg(profile).capture()?;
        let services: serde_json::Value = serde_json::from_slice(&services.stdout)?;
        let rows = services["rows"].as_array().context("rows")?.iter();
        let found: BTreeMap<_, _> =
            rows.map(|row| (row["method"].as_str(), row["matched"].as_u64())).collect();
        let mut expected = BTreeMap::new();
        for (.., route) in ORDERS {
            *expected.entry(Some(route)).or_insert(Some(0)).get_or_insert(0) += 1;
        }
        assert_eq!(found, expected, "{}, Java {}", jars[0], jre.version);
    }
    Ok(())
}
