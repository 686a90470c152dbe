//! librados' C interface as far as the bench needs it: numbers, types and a table of functions found at run time. No ownership here,
//! and no call but those that open the library.

use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::sync::OnceLock;

/// What the dynamic linker is asked for. Ceph has kept this name since its first release.
pub const SONAME: &str = "librados.so.2";

/// Ends with ENOSPC or EDQUOT where librados would otherwise hold a write back until space is free, and lets removals through.
pub const OPERATION_FULL_TRY: c_int = 64;
pub const ALLOC_HINT_SEQUENTIAL_WRITE: u32 = 1;
pub const ALLOC_HINT_SEQUENTIAL_READ: u32 = 4;
pub const ALLOC_HINT_APPEND_ONLY: u32 = 16;
pub const ALLOC_HINT_IMMUTABLE: u32 = 32;

/// rados_t, rados_ioctx_t, rados_completion_t, rados_write_op_t, rados_list_ctx_t: all opaque.
pub type Handle = *mut c_void;
pub type Callback = unsafe extern "C" fn(completion: Handle, argument: *mut c_void);

/// Why librados can't be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum LibraryError {
    #[error(
        "{soname}, Ceph's client library, can't be opened ({cause}): install it (package librados2, or librados2 and ceph-common) \
         or use an image that has it"
    )]
    Missing { soname: String, cause: String },
    #[error("{soname} has no {symbol}: it is older than Ceph 15, and too old")]
    TooOld { soname: String, symbol: &'static str },
}

macro_rules! functions {
    (
        required { $($name:ident($($argument:ty),* $(,)?) $(-> $result:ty)?;)* }
        optional { $($optional_name:ident($($optional_argument:ty),* $(,)?) $(-> $optional_result:ty)?;)* }
    ) => {
        /// The functions, by their C names. Those that older libraries lack are options.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            $(pub $optional_name: Option<unsafe extern "C" fn($($optional_argument),*) $(-> $optional_result)?>,)*
            /// Ceph's release, such as `16.2.15`: a C++ function of the library beneath librados, `const char *ceph_version_to_str()`.
            pub ceph_version: Option<unsafe extern "C" fn() -> *const c_char>,
        }

        impl Functions {
            fn find(library: &libloading::Library, soname: &str) -> Result<Self, LibraryError> {
                // SAFETY: each name is looked up with the signature that rados/librados.h gives it.
                unsafe {
                    Ok(Self {
                        $($name: *library
                            .get(concat!(stringify!($name), "\0"))
                            .map_err(|_| LibraryError::TooOld { soname: soname.into(), symbol: stringify!($name) })?,)*
                        $($optional_name: library.get(concat!(stringify!($optional_name), "\0")).ok().map(|symbol| *symbol),)*
                        ceph_version: library.get("_Z19ceph_version_to_strv\0").ok().map(|symbol| *symbol),
                    })
                }
            }
        }
    };
}

functions! {
    required {
        rados_version(*mut c_int, *mut c_int, *mut c_int);
        rados_create2(*mut Handle, *const c_char, *const c_char, u64) -> c_int;
        rados_conf_read_file(Handle, *const c_char) -> c_int;
        rados_conf_set(Handle, *const c_char, *const c_char) -> c_int;
        rados_conf_get(Handle, *const c_char, *mut c_char, usize) -> c_int;
        rados_connect(Handle) -> c_int;
        rados_shutdown(Handle);
        rados_mon_command(
            Handle, *const *const c_char, usize, *const c_char, usize, *mut *mut c_char, *mut usize, *mut *mut c_char, *mut usize,
        ) -> c_int;
        rados_buffer_free(*mut c_char);
        rados_ioctx_create(Handle, *const c_char, *mut Handle) -> c_int;
        rados_ioctx_destroy(Handle);
        rados_ioctx_set_namespace(Handle, *const c_char);
        rados_aio_create_completion2(*mut c_void, Option<Callback>, *mut Handle) -> c_int;
        rados_aio_get_return_value(Handle) -> c_int;
        rados_aio_release(Handle);
        rados_aio_read(Handle, *const c_char, Handle, *mut c_char, usize, u64) -> c_int;
        rados_create_write_op() -> Handle;
        rados_release_write_op(Handle);
        rados_write_op_write(Handle, *const c_char, usize, u64);
        rados_write_op_remove(Handle);
        rados_aio_write_op_operate(Handle, Handle, Handle, *const c_char, *mut c_longlong, c_int) -> c_int;
        rados_nobjects_list_open(Handle, *mut Handle) -> c_int;
        rados_nobjects_list_next2(
            Handle, *mut *const c_char, *mut *const c_char, *mut *const c_char, *mut usize, *mut usize, *mut usize,
        ) -> c_int;
        rados_nobjects_list_close(Handle);
    }
    optional {
        // Without it BlueStore is not told that objects are written once, from their start to their end.
        rados_write_op_set_alloc_hint2(Handle, u64, u64, u32);
        // Without it an operation that outlives the round is left to its own timeout.
        rados_aio_cancel(Handle, Handle) -> c_int;
    }
}

/// Opens librados under its usual name, once in this process.
pub fn functions() -> Result<&'static Functions, LibraryError> {
    static OPENED: OnceLock<Result<&'static Functions, LibraryError>> = OnceLock::new();
    OPENED.get_or_init(|| open(SONAME)).clone()
}

/// Opens a library by name and finds what is needed in it.
pub fn open(soname: &str) -> Result<&'static Functions, LibraryError> {
    // SAFETY: librados' initialisers only set up its own tables; it has no precondition on the process.
    let library = unsafe { libloading::Library::new(soname) }
        .map_err(|error| LibraryError::Missing { soname: soname.into(), cause: error.to_string() })?;
    let functions = Functions::find(&library, soname)?;
    // Its threads may run as long as the process does, so it is never closed.
    std::mem::forget(library);
    Ok(Box::leak(Box::new(functions)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named_with_its_package() {
        let error = open("librados-of-nobody.so.2").err().expect("no such library").to_string();
        assert!(error.starts_with("librados-of-nobody.so.2, Ceph's client library, can't be opened"), "{error}");
        assert!(error.contains("package librados2"), "{error}");
    }

    #[test]
    fn a_library_without_the_functions_is_too_old() {
        let error = open("libc.so.6").err().expect("the C library is not librados");
        assert_eq!(error, LibraryError::TooOld { soname: "libc.so.6".into(), symbol: "rados_version" });
    }
}
