//! A client of a Ceph cluster: its settings, its connection, and commands to the monitors.

use std::ffi::{CStr, CString, c_char};
use std::ptr::{NonNull, null, null_mut};

use super::raw::{Functions, Handle};
use super::{RadosError, check};

/// Ceph's release that the library belongs to, such as `16.2.15`; where it doesn't tell, the version of its interface.
pub fn version(functions: &Functions) -> String {
    if let Some(ceph_version) = functions.ceph_version {
        // SAFETY: no arguments, and it returns a string that is never freed.
        let version = unsafe { ceph_version() };
        if !version.is_null() {
            // SAFETY: as above.
            return unsafe { CStr::from_ptr(version) }.to_string_lossy().into_owned();
        }
    }
    let (mut major, mut minor, mut extra) = (0, 0, 0);
    // SAFETY: three valid addresses to write to.
    unsafe { (functions.rados_version)(&mut major, &mut minor, &mut extra) };
    format!("interface {major}.{minor}.{extra}")
}

/// A client that shuts down when dropped. librados' handles may be used from several threads at once.
pub struct Cluster {
    functions: &'static Functions,
    raw: NonNull<std::ffi::c_void>,
}

// SAFETY: a rados_t is a reference-counted client that locks by itself.
unsafe impl Send for Cluster {}
// SAFETY: as above.
unsafe impl Sync for Cluster {}

impl Cluster {
    /// A client that is not connected yet. `entity` is the whole CephX name, such as `client.bench`.
    pub fn new(functions: &'static Functions, entity: &str) -> Result<Self, RadosError> {
        let name = c_string("rados_create2", entity)?;
        let mut raw: Handle = null_mut();
        // SAFETY: valid strings that outlive the call, and an address for the handle.
        let code = unsafe { (functions.rados_create2)(&mut raw, c"ceph".as_ptr(), name.as_ptr(), 0) };
        check(|| format!("rados_create2 as {entity}"), code)?;
        let raw = NonNull::new(raw).expect("librados gives a handle when it gives no error");
        Ok(Self { functions, raw })
    }

    /// Reads a ceph.conf.
    pub fn read_conf(&self, path: &str) -> Result<(), RadosError> {
        let call = || format!("rados_conf_read_file {path}");
        let path = c_string("rados_conf_read_file", path)?;
        // SAFETY: a live handle and a valid string.
        let code = unsafe { (self.functions.rados_conf_read_file)(self.raw.as_ptr(), path.as_ptr()) };
        check(call, code).map(drop)
    }

    /// Sets an option. The error never holds the value: it may be a secret.
    pub fn set(&self, option: &str, value: &str) -> Result<(), RadosError> {
        let name = c_string("rados_conf_set", option)?;
        let value = c_string("rados_conf_set", value)?;
        // SAFETY: a live handle and valid strings.
        let code = unsafe { (self.functions.rados_conf_set)(self.raw.as_ptr(), name.as_ptr(), value.as_ptr()) };
        check(|| format!("rados_conf_set {option}"), code).map(drop)
    }

    /// What an option is now; None for one that this librados doesn't know, or that is longer than 4 KiB.
    pub fn get(&self, option: &str) -> Option<String> {
        let name = CString::new(option).ok()?;
        let mut value = [0_u8; 4096];
        // SAFETY: a live handle, a valid string, and a buffer with its length.
        let code = unsafe {
            (self.functions.rados_conf_get)(self.raw.as_ptr(), name.as_ptr(), value.as_mut_ptr().cast(), value.len())
        };
        if code < 0 {
            return None;
        }
        CStr::from_bytes_until_nul(&value).ok().map(|value| value.to_string_lossy().into_owned())
    }

    /// Connects; blocks at most for `client_mount_timeout`.
    pub fn connect(&self) -> Result<(), RadosError> {
        // SAFETY: a live handle.
        check(|| "rados_connect".into(), unsafe { (self.functions.rados_connect)(self.raw.as_ptr()) }).map(drop)
    }

    /// Sends a command, as JSON, to the monitors and returns what they answer; blocks at most for `rados_mon_op_timeout`.
    pub fn mon_command(&self, command: &str) -> Result<Vec<u8>, RadosError> {
        let text = c_string("rados_mon_command", command)?;
        let (mut output, mut output_length) = (null_mut::<c_char>(), 0);
        let (mut status, mut status_length) = (null_mut::<c_char>(), 0);
        // SAFETY: a live handle, one valid string, no input, and addresses for two buffers that librados allocates.
        let code = unsafe {
            (self.functions.rados_mon_command)(
                self.raw.as_ptr(),
                [text.as_ptr()].as_ptr(),
                1,
                null(),
                0,
                &mut output,
                &mut output_length,
                &mut status,
                &mut status_length,
            )
        };
        let output = self.take_buffer(output, output_length);
        let status = self.take_buffer(status, status_length);
        let call = || format!("monitor command {command}: {}", String::from_utf8_lossy(&status).trim());
        check(call, code)?;
        Ok(output)
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.functions
    }

    pub(super) fn raw(&self) -> Handle {
        self.raw.as_ptr()
    }

    /// Copies a buffer that librados allocated, and gives it back.
    fn take_buffer(&self, buffer: *mut c_char, length: usize) -> Vec<u8> {
        if buffer.is_null() {
            return Vec::new();
        }
        // SAFETY: librados said that `length` bytes are there, and it is freed once, after the copy.
        unsafe {
            let copy = std::slice::from_raw_parts(buffer.cast::<u8>(), length).to_vec();
            (self.functions.rados_buffer_free)(buffer);
            copy
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // SAFETY: the handle's last use: what was made from it holds an Arc of this.
        unsafe { (self.functions.rados_shutdown)(self.raw.as_ptr()) };
    }
}

/// A text for C; one with a NUL inside is refused as C itself would an invalid argument.
pub(super) fn c_string(call: &str, text: &str) -> Result<CString, RadosError> {
    CString::new(text).map_err(|_| RadosError { call: call.into(), errno: libc::EINVAL })
}
