use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

/// The command with nothing of this environment's own settings.
pub(crate) fn secateur(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// A proxy in a process of its own, and the addresses that it told.
pub(crate) struct Served {
    process: Child,
    /// What it said up to where it tells its addresses.
    pub(crate) told: String,
    rest: Option<JoinHandle<String>>,
}

impl Served {
    /// Starts it on free ports.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let free = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
        Self::run(&mut secateur(&[arguments, &free].concat()))
    }

    /// Starts a command that serves and tells its addresses.
    pub(crate) fn run(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().expect("the command was built");
        let mut lines = BufReader::new(process.stderr.take().expect("it is piped"));
        let (tell, told) = mpsc::channel();
        let rest = std::thread::spawn(move || {
            let mut said = String::new();
            while !(said.contains("sessions at http://") || said.contains("\"message\":\"serving\"")) {
                let read = lines.read_line(&mut said).expect("the log is text");
                assert!(read > 0, "it ended early: {said}");
            }
            tell.send(std::mem::take(&mut said)).expect("the test waits for it");
            for line in lines.lines() {
                said.push_str(&line.expect("the log is text"));
                said.push('\n');
            }
            said
        });
        Self { process, told: told.recv().expect("it tells where it serves"), rest: Some(rest) }
    }

    /// The address that it told behind these words.
    pub(crate) fn address_behind(&self, words: &str) -> String {
        let (_, rest) = self.told.split_once(words).unwrap_or_else(|| panic!("{}", self.told));
        rest.split_whitespace().next().expect("an address follows").to_owned()
    }

    /// Where clients connect.
    pub(crate) fn listen(&self) -> SocketAddr {
        self.socket_behind(&["serves at ", "\"listen\":\""])
    }

    /// Its admin port.
    pub(crate) fn admin(&self) -> SocketAddr {
        self.socket_behind(&["sessions at ", "\"admin\":\""])
    }

    fn socket_behind(&self, words: &[&str]) -> SocketAddr {
        let words = words.iter().find(|words| self.told.contains(**words)).expect("it told an address");
        let (_, rest) = self.told.split_once(words).expect("it was found");
        let address = rest.trim_start_matches("http://").split(['"', '\n', ' ']).next().unwrap_or_default();
        address.parse().expect("an address")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill is there").success());
    }

    /// Waits until it has ended: its exit code, and all that it said since it told its addresses.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.process.wait().expect("it is ours").code();
        let rest = self.rest.take().map(JoinHandle::join).expect("it ends once");
        (code, rest.expect("the log was read"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; one that passed has nothing left to end.
        drop(self.process.kill());
    }
}
