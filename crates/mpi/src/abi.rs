//! The calls of the standard ABI (MPI 5.0, chapter "Application Binary Interface") used by a fleet,
//! looked up by name in a library opened at run time.

use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};

type Handle = *mut c_void;

/// Values defined by the standard.
const COMM_WORLD: usize = 0x101;
const ERRORS_RETURN: usize = 0x142;
const BYTE: usize = 0x247;
const ANY_SOURCE: c_int = -1;
const ANY_TAG: c_int = -2;
const THREAD_SERIALIZED: c_int = 2048;
const SUCCESS: c_int = 0;
/// Maximum length of a text returned by a call, `MPI_MAX_LIBRARY_VERSION_STRING`, plus its end.
const TEXT_MAX: usize = 8192 + 1;
/// The tag of all messages.
const TAG: c_int = 19;

/// `MPI_Status` of the standard.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct MpiStatus {
    source: c_int,
    tag: c_int,
    error: c_int,
    internal: [c_int; 5],
}

/// A message that can be received.
pub struct PendingMessage {
    pub from: u32,
    pub bytes: usize,
    status: MpiStatus,
}

/// Bytes being sent. They belong to the library until it reports that they are sent.
pub struct Sending {
    request: Handle,
    bytes: Box<[u8]>,
}

// SAFETY: the request is a handle that any thread may use, as the library was started so that calls
// may come from any, one at a time; it is used with `&mut`.
unsafe impl Send for Sending {}

impl Sending {
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }
}

macro_rules! calls {
    ($($name:ident: $symbol:literal, fn($($argument:ty),*);)*) => {
        /// The calls, with their library.
        pub struct Abi {
            $($name: unsafe extern "C" fn($($argument),*) -> c_int,)*
            /// Never closed: MPI leaves threads and handlers behind.
            library: ManuallyDrop<Library>,
            path: PathBuf,
        }

        impl Abi {
            /// # Safety
            /// The library's calls of these names must be those of the standard.
            unsafe fn look_up(
                library: Library,
                path: &Path,
                prefix: &str,
            ) -> Result<Self, libloading::Error> {
                $(
                    let name = format!("{prefix}{}\0", $symbol);
                    // SAFETY: the caller vouches for what is behind the name.
                    let $name = *unsafe { library.get(name.as_bytes()) }?;
                )*
                Ok(Self { $($name,)* library: ManuallyDrop::new(library), path: path.to_owned() })
            }
        }
    };
}

calls! {
    get_library_version: "Get_library_version", fn(*mut c_char, *mut c_int);
    init_thread: "Init_thread", fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    set_errhandler: "Comm_set_errhandler", fn(Handle, Handle);
    comm_rank: "Comm_rank", fn(Handle, *mut c_int);
    comm_size: "Comm_size", fn(Handle, *mut c_int);
    isend: "Isend", fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    test: "Test", fn(*mut Handle, *mut c_int, *mut MpiStatus);
    iprobe: "Iprobe", fn(c_int, c_int, Handle, *mut c_int, *mut MpiStatus);
    get_count: "Get_count", fn(*const MpiStatus, Handle, *mut c_int);
    recv: "Recv", fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut MpiStatus);
    error_string: "Error_string", fn(c_int, *mut c_char, *mut c_int);
    abort: "Abort", fn(Handle, c_int);
    finalize: "Finalize", fn();
}

/// Result of a call, or the library's text about its failure.
pub type MpiResult<T> = Result<T, String>;

impl Abi {
    /// Opens a library whose calls start with `prefix`: `MPI_` for one with the standard ABI.
    pub fn open(path: &Path, prefix: &str) -> Result<Self, libloading::Error> {
        // SAFETY: opening runs the library's own initialisers. It is MPI itself, or the shim that
        // this program had made of MPI and that only this user can write.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
        // SAFETY: a library of that name has the standard's calls, and the shim has ours.
        unsafe { Self::look_up(library, path, prefix) }
    }

    /// Makes all names global: Open MPI opens parts of itself that look for them there. Only done
    /// once this is known to be the library to start, since the names of two libraries would
    /// conflict.
    fn share_names(&self) -> MpiResult<()> {
        // SAFETY: as in `open`, and the library is open already.
        let shared = unsafe { Library::open(Some(&self.path), RTLD_NOW | RTLD_GLOBAL) };
        std::mem::forget(shared.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Version of the standard ABI in the library, major and minor; `None` for the shim.
    pub fn standard(&self) -> Option<(i32, i32)> {
        type GetVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the standard fixes the call's type; it writes two numbers, at any time.
        let code = unsafe {
            let call = self.library.get::<GetVersion>(b"MPI_Abi_get_version\0");
            (call.ok()?)(&raw mut major, &raw mut minor)
        };
        (code == SUCCESS).then_some((major, minor))
    }

    /// The library's name and version, first line only.
    pub fn version(&self) -> MpiResult<String> {
        self.text(|text, len| {
            // SAFETY: `text` has room for the longest text of the standard; the call is allowed
            // before the library is started.
            unsafe { (self.get_library_version)(text, len) }
        })
    }

    /// Starts the library, with errors returned. Later calls may come from any thread, one at a
    /// time.
    pub fn start(&self) -> MpiResult<()> {
        self.share_names()?;
        let mut given = 0;
        // SAFETY: the standard allows null for both arguments; `given` outlives the call.
        self.checked(unsafe {
            (self.init_thread)(
                ptr::null_mut(),
                ptr::null_mut(),
                THREAD_SERIALIZED,
                &raw mut given,
            )
        })?;
        if given < THREAD_SERIALIZED {
            return Err("it allows calls from one thread only".into());
        }
        // SAFETY: handles of the standard, after the start.
        self.checked(unsafe { (self.set_errhandler)(handle(COMM_WORLD), handle(ERRORS_RETURN)) })
    }

    pub fn rank(&self) -> MpiResult<u32> {
        let mut rank = 0;
        // SAFETY: a handle of the standard; `rank` outlives the call.
        self.checked(unsafe { (self.comm_rank)(handle(COMM_WORLD), &raw mut rank) })?;
        Ok(rank.unsigned_abs())
    }

    pub fn size(&self) -> MpiResult<u32> {
        let mut size = 0;
        // SAFETY: a handle of the standard; `size` outlives the call.
        self.checked(unsafe { (self.comm_size)(handle(COMM_WORLD), &raw mut size) })?;
        Ok(size.unsigned_abs())
    }

    /// Starts to send bytes.
    pub fn send(&self, to: u32, bytes: &[u8]) -> MpiResult<Sending> {
        let count = c_int::try_from(bytes.len()).map_err(|_| "more than 2 GiB".to_owned())?;
        let to = c_int::try_from(to).map_err(|error| error.to_string())?;
        let mut sending = Sending {
            request: ptr::null_mut(),
            bytes: bytes.into(),
        };
        // SAFETY: the bytes lie on the heap, where they stay until `is_sent` or for ever.
        self.checked(unsafe {
            (self.isend)(
                sending.bytes.as_ptr().cast(),
                count,
                handle(BYTE),
                to,
                TAG,
                handle(COMM_WORLD),
                &raw mut sending.request,
            )
        })?;
        Ok(sending)
    }

    /// Whether the library has finished sending.
    pub fn is_sent(&self, sending: &mut Sending) -> MpiResult<bool> {
        let (mut is_done, mut status) = (0, MpiStatus::default());
        // SAFETY: the request is one that `send` got and that was not done yet.
        let code =
            unsafe { (self.test)(&raw mut sending.request, &raw mut is_done, &raw mut status) };
        self.checked(code).map(|()| is_done != 0)
    }

    /// The message that can be received, if any.
    pub fn probe(&self) -> MpiResult<Option<PendingMessage>> {
        let (mut is_there, mut status) = (0, MpiStatus::default());
        // SAFETY: handles of the standard; what is written to outlives the call.
        self.checked(unsafe {
            (self.iprobe)(
                ANY_SOURCE,
                ANY_TAG,
                handle(COMM_WORLD),
                &raw mut is_there,
                &raw mut status,
            )
        })?;
        if is_there == 0 {
            return Ok(None);
        }
        let mut count = 0;
        // SAFETY: the status is that of the probe.
        self.checked(unsafe { (self.get_count)(&raw const status, handle(BYTE), &raw mut count) })?;
        Ok(Some(PendingMessage {
            from: status.source.unsigned_abs(),
            bytes: usize::try_from(count).map_err(|error| error.to_string())?,
            status,
        }))
    }

    /// Receives the message found by a probe.
    pub fn receive(&self, waiting: &PendingMessage) -> MpiResult<Vec<u8>> {
        let mut bytes = vec![0; waiting.bytes];
        let MpiStatus { source, tag, .. } = waiting.status;
        let mut status = MpiStatus::default();
        // SAFETY: the buffer has the length that the probe told, which fitted a `c_int`.
        self.checked(unsafe {
            (self.recv)(
                bytes.as_mut_ptr().cast(),
                waiting.bytes as c_int,
                handle(BYTE),
                source,
                tag,
                handle(COMM_WORLD),
                &raw mut status,
            )
        })?;
        Ok(bytes)
    }

    /// Aborts all ranks.
    pub fn abort(&self, code: i32) {
        // SAFETY: a handle of the standard, after the start.
        unsafe { (self.abort)(handle(COMM_WORLD), code) };
    }

    pub fn finish(&self) -> MpiResult<()> {
        // SAFETY: nothing is under way any more, and no call follows.
        self.checked(unsafe { (self.finalize)() })
    }

    fn checked(&self, code: c_int) -> MpiResult<()> {
        if code == SUCCESS {
            return Ok(());
        }
        let text = self.text(|text, len| {
            // SAFETY: `text` has room for the longest text of the standard.
            unsafe { (self.error_string)(code, text, len) }
        });
        Err(text.unwrap_or_else(|_| format!("error {code}")))
    }

    /// The first line of a text that a call writes.
    fn text(&self, call: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> MpiResult<String> {
        let mut text = vec![0_u8; TEXT_MAX];
        let mut len: c_int = 0;
        let code = call(text.as_mut_ptr().cast(), &raw mut len);
        if code != SUCCESS {
            return Err(format!("error {code}"));
        }
        text.truncate(usize::try_from(len).unwrap_or(0));
        let text = String::from_utf8_lossy(&text);
        let line = text.trim_end_matches('\0').lines().next().unwrap_or("");
        Ok(line.trim().to_owned())
    }
}

const fn handle(value: usize) -> Handle {
    ptr::without_provenance_mut(value)
}
