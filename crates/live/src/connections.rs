//! The connections of a server, of which whoever is on this machine can open any number: so many at a time, and none that asks nothing.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// Connections at a time: fewer than the descriptors that any process may have. Who comes then waits until one ends.
pub(crate) const MOST: usize = 64;
/// The longest time in which a connection has to send the next request, whole.
pub(crate) const TO_ASK: Duration = Duration::from_secs(10);
/// How long nothing is accepted where the system has refused a connection: it may have no descriptor left.
const PAUSE: Duration = Duration::from_millis(200);

/// Answers requests for ever, over `most` connections at a time. One that has sent no request for `to_ask` is closed.
pub(crate) async fn serve(socket: TcpListener, router: Router, most: usize, to_ask: Duration) {
    let places = Arc::new(Semaphore::new(most));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(to_ask);
    // Nobody closes the semaphore.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match socket.accept().await {
            Ok((stream, _)) => {
                let connection =
                    http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
                tokio::spawn(async move {
                    // Whoever breaks it off gets no answer.
                    let _ = connection.await;
                    drop(place);
                });
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream};

    /// Longer than anything takes on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    /// Serves in a thread that ends with the tests.
    fn started(most: usize) -> SocketAddr {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let router = Router::new().fallback(|| async { "answer" });
            runtime.block_on(async {
                let socket = TcpListener::from_std(socket).unwrap();
                serve(socket, router, most, Duration::from_millis(300)).await;
            });
        });
        address
    }

    fn connected(address: SocketAddr, sends: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(sends.as_bytes()).unwrap();
        stream
    }

    const HALF: &str = "GET / HTTP/1.1\r\nHost: x\r\n";
    const WHOLE: &str = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

    #[test]
    fn who_asks_nothing_keeps_nobody_else_from_asking() {
        let address = started(4);
        let mut idle: Vec<_> = (0..6).flat_map(|_| ["", HALF]).map(|sent| connected(address, sent)).collect();
        let mut answer = String::new();
        connected(address, WHOLE).read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("answer"), "{answer}");
        for stream in &mut idle {
            // Closed, with or without a reason; else this fails when the time is over.
            stream.read_to_end(&mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn a_connection_may_ask_again() {
        let mut stream = connected(started(1), &format!("{HALF}\r\n{WHOLE}"));
        let mut answers = String::new();
        stream.read_to_string(&mut answers).unwrap();
        assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 2, "{answers}");
    }
}
