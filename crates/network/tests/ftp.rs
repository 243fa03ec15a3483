//! Files from and to a server of our own on loopback, which misbehaves on demand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use network::ftp::{FtpDirection, FtpOutcome, FtpPlan, transfer};
use network::socket::SocketOptions;
use network::url::Url;

/// What the server does.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Well,
    /// Does not know the newer commands.
    Old,
    /// Sends half of the file, and says that all is well.
    Short,
    /// Sends half of the file, and says so.
    Aborts,
    /// Wants another password.
    Locked,
    /// Goes away when it is asked for the file.
    Leaves,
    /// Says nothing when it is asked for the file.
    Silent,
    /// Keeps what was stored for good, unless its sender gives it up by a reset.
    Slow,
}

#[derive(Clone)]
struct Server {
    address: SocketAddr,
    /// What was stored, and what was said.
    stored: Arc<Mutex<Vec<u8>>>,
    heard: Arc<Mutex<Vec<String>>>,
}

const FILE_BYTES: usize = 300_000;

fn content() -> Vec<u8> {
    (0..FILE_BYTES).map(|it| (it * 7 % 251) as u8).collect()
}

impl Server {
    fn start(way: Way) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            stored: Arc::default(),
            heard: Arc::default(),
        };
        let own = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // What a client does to its connection is no failure of the server.
                let _ = own.serve(&stream.unwrap(), way);
            }
        });
        server
    }

    fn serve(&self, stream: &TcpStream, way: Way) -> std::io::Result<()> {
        let mut to = stream.try_clone()?;
        let mut data: Option<TcpListener> = None;
        to.write_all(b"220-hello\r\n220 ready\r\n")?;
        for line in BufReader::new(stream.try_clone()?).lines() {
            let line = line?;
            self.heard.lock().unwrap().push(line.clone());
            let word = line.split(' ').next().unwrap();
            let answer = match word {
                "USER" => "331 password?".to_owned(),
                "PASS" if way == Way::Locked => "530 not you".into(),
                "PASS" => "230-welcome\r\n here\r\n230 in".into(),
                "TYPE" => "200 binary".into(),
                "SIZE" if way == Way::Old => "502 what?".into(),
                "SIZE" if line.ends_with("/file") => format!("213 {FILE_BYTES}"),
                "SIZE" => "550 no such file".into(),
                "DELE" => "250 gone".into(),
                "EPSV" if way == Way::Old => "500 what?".into(),
                "EPSV" | "PASV" => {
                    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                    let port = listener.local_addr()?.port();
                    data = Some(listener);
                    match word {
                        "EPSV" => format!("229 here (|||{port}|)"),
                        // An address that is not to be believed.
                        _ => format!("227 here (192,0,2,1,{},{})", port >> 8, port & 255),
                    }
                }
                "RETR" | "STOR" if way == Way::Leaves => return Ok(()),
                "RETR" | "STOR" if way == Way::Silent => continue,
                "RETR" | "STOR" => {
                    to.write_all(b"150 coming\r\n")?;
                    let (mut stream, _) = data.take().unwrap().accept()?;
                    self.carry(&mut stream, word, way)?.to_owned()
                }
                _ => "500 what?".into(),
            };
            to.write_all(format!("{answer}\r\n").as_bytes())?;
        }
        Ok(())
    }

    fn carry(&self, data: &mut TcpStream, word: &str, way: Way) -> std::io::Result<&'static str> {
        if word == "STOR" && way == Way::Slow {
            let mut piece = [0; 1000];
            loop {
                match data.read(&mut piece) {
                    Ok(0) => return Err(std::io::ErrorKind::BrokenPipe.into()),
                    Ok(count) => self.stored.lock().unwrap().extend(&piece[..count]),
                    Err(_) => return Ok("426 broken off"),
                }
            }
        }
        if word == "STOR" {
            data.read_to_end(&mut self.stored.lock().unwrap())?;
            return Ok("226 done");
        }
        let is_half = way == Way::Short || way == Way::Aborts;
        let end = if is_half { FILE_BYTES / 2 } else { FILE_BYTES };
        data.write_all(&content()[..end])?;
        Ok(if way == Way::Aborts {
            "426 broken off"
        } else {
            "226 done"
        })
    }

    fn plan(&self, path: &str) -> FtpPlan {
        FtpPlan {
            file: Url::parse(&format!("ftp://{}{path}", self.address)).unwrap(),
            user: "anonymous".into(),
            password: "test@".into(),
            direction: FtpDirection::Retrieve,
            local: None,
            room: 1 << 30,
            extent: 0,
            is_durable: false,
            buffer: 10_000,
            socket: SocketOptions::default(),
            timeout: Duration::from_secs(30),
        }
    }
}

fn run(plan: &FtpPlan) -> FtpOutcome {
    transfer(plan, &|| false)
}

/// Story: a file of any size was written until the disk was full.
#[test]
fn a_file_that_is_too_large_for_the_disk_is_not_begun_or_given_up() {
    let check = |way: Way, expected: &str| {
        let server = Server::start(way);
        let file = tempfile::tempfile().unwrap();
        let plan = FtpPlan {
            local: Some(file.try_clone().unwrap()),
            room: FILE_BYTES as u64 - 1,
            ..server.plan("/file")
        };
        let fault = run(&plan).fault.expect("no room");
        assert!(fault.contains(expected), "{fault}");
        assert!(file.metadata().unwrap().len() < FILE_BYTES as u64);
        let asked = server
            .heard
            .lock()
            .unwrap()
            .iter()
            .any(|it| it.starts_with("RETR"));
        assert_eq!(asked, way == Way::Old);
    };
    check(
        Way::Well,
        "has 300000 bytes, and the local directory has space for 299999",
    );
    check(Way::Old, "local file: no space left within the limit");
}

#[test]
fn a_file_is_retrieved_as_it_is() {
    for (way, window) in [(Way::Well, None), (Way::Old, Some(32 << 10))] {
        let server = Server::start(way);
        let folder = tempfile::tempdir().unwrap();
        let local = folder.path().join("f");
        let mut plan = server.plan("/file");
        plan.socket.window = window;
        plan.local = Some(std::fs::File::create_new(&local).unwrap());
        plan.extent = 100_000;
        let outcome = run(&plan);
        assert_eq!(outcome.fault, None);
        assert_eq!((outcome.bytes, outcome.allocations), (FILE_BYTES as u64, 3));
        assert!(outcome.elapsed >= outcome.transfer && outcome.elapsed >= outcome.round_trip);
        assert_eq!(std::fs::read(local).unwrap(), content());
    }
}

#[test]
fn a_file_is_stored_and_removed_again() {
    let server = Server::start(Way::Well);
    let mut plan = server.plan("/new");
    plan.direction = FtpDirection::Store(123_456);
    let outcome = run(&plan);
    assert_eq!(outcome.fault, None);
    assert_eq!(outcome.bytes, 123_456);
    assert_eq!(server.stored.lock().unwrap().len(), 123_456);
    assert_eq!(server.heard.lock().unwrap().last().unwrap(), "DELE /new");
}

#[test]
fn a_file_of_somebody_else_is_not_overwritten() {
    for (way, expected) in [
        (
            Way::Well,
            "it exists already and was not touched: choose a new name",
        ),
        (
            Way::Old,
            "SIZE: the server does not report whether it exists already",
        ),
    ] {
        let server = Server::start(way);
        let mut plan = server.plan("/file");
        plan.direction = FtpDirection::Store(10);
        assert_eq!(run(&plan).fault.as_deref(), Some(expected));
        let heard = server.heard.lock().unwrap();
        assert!(
            !heard
                .iter()
                .any(|it| it.starts_with("STOR") || it.starts_with("DELE"))
        );
    }
}

#[test]
fn what_fails_is_named() {
    let check = |way: Way, expected: &str| {
        let server = Server::start(way);
        let plan = FtpPlan {
            timeout: Duration::from_millis(150),
            ..server.plan("/file")
        };
        assert_eq!(run(&plan).fault.as_deref(), Some(expected));
    };
    check(Way::Short, "150000 bytes came, the server has 300000");
    check(Way::Aborts, "end of the transfer: 426 broken off");
    check(Way::Locked, "PASS: 530 not you");
    check(Way::Leaves, "RETR: connection closed");
    check(Way::Silent, "RETR: nothing within 150ms");
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = Server {
        address: gone,
        ..Server::start(Way::Well)
    };
    let fault = run(&server.plan("/file")).fault;
    assert_eq!(fault.as_deref(), Some("connect: Connection refused"));
}

#[test]
fn a_full_local_file_system_is_named() {
    let server = Server::start(Way::Well);
    let mut plan = server.plan("/file");
    plan.local = Some(
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap(),
    );
    let fault = run(&plan).fault.unwrap();
    assert_eq!(fault, "local file: No space left on device (os error 28)");
}

/// Story: a stop while a file was stored closed both connections, and the half of it stayed.
#[test]
fn a_file_that_is_stopped_half_way_is_removed_from_the_server() {
    let server = Server::start(Way::Slow);
    let mut plan = server.plan("/new");
    plan.direction = FtpDirection::Store(1 << 40);
    let stored = server.stored.clone();
    let outcome = transfer(&plan, &move || !stored.lock().unwrap().is_empty());
    assert_eq!((outcome.is_stopped, outcome.fault), (true, None));
    let heard = server.heard.lock().unwrap();
    assert_eq!(heard.last().unwrap(), "DELE /new");
}

#[test]
fn somebody_who_wants_an_end_gets_it() {
    let server = Server::start(Way::Silent);
    let outcome = transfer(&server.plan("/file"), &|| true);
    assert!(outcome.is_stopped);
    assert_eq!(outcome.fault, None);
}
