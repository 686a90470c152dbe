//! A pool and a namespace of it, and the listing of what is there.

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ptr::{NonNull, null, null_mut};
use std::sync::Arc;

use super::cluster::{Cluster, c_string};
use super::raw::{Functions, Handle};
use super::{RadosError, check};

/// One namespace of one pool. Keeps the client alive.
pub struct IoContext {
    raw: NonNull<c_void>,
    cluster: Arc<Cluster>,
}

// SAFETY: operations on a rados_ioctx_t may come from several threads; only changing its namespace may not, and `new` alone does that.
unsafe impl Send for IoContext {}
// SAFETY: as above.
unsafe impl Sync for IoContext {}

impl IoContext {
    /// ENOENT when the pool isn't there.
    pub fn new(cluster: Arc<Cluster>, pool: &str, namespace: &str) -> Result<Self, RadosError> {
        let name = c_string("rados_ioctx_create", pool)?;
        let namespace = c_string("rados_ioctx_set_namespace", namespace)?;
        let mut raw: Handle = null_mut();
        // SAFETY: a live, connected client, a valid string, and an address for the handle.
        let code = unsafe { (cluster.functions().rados_ioctx_create)(cluster.raw(), name.as_ptr(), &mut raw) };
        check(|| format!("rados_ioctx_create {pool}"), code)?;
        let raw = NonNull::new(raw).expect("librados gives a handle when it gives no error");
        // SAFETY: the handle just made, which no other thread has yet, and a valid string.
        unsafe { (cluster.functions().rados_ioctx_set_namespace)(raw.as_ptr(), namespace.as_ptr()) };
        Ok(Self { raw, cluster })
    }

    /// Lists the objects of the namespace, in no order.
    pub fn list(&self) -> Result<Listing<'_>, RadosError> {
        let mut raw: Handle = null_mut();
        // SAFETY: a live handle and an address for another.
        let code = unsafe { (self.functions().rados_nobjects_list_open)(self.raw.as_ptr(), &mut raw) };
        check(|| "rados_nobjects_list_open".into(), code)?;
        let raw = NonNull::new(raw).expect("librados gives a handle when it gives no error");
        Ok(Listing { raw, functions: self.functions(), context: PhantomData })
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.cluster.functions()
    }

    pub(super) fn raw(&self) -> Handle {
        self.raw.as_ptr()
    }
}

impl Drop for IoContext {
    fn drop(&mut self) {
        // SAFETY: the handle's last use; the client is still alive.
        unsafe { (self.functions().rados_ioctx_destroy)(self.raw.as_ptr()) };
    }
}

/// The names of a namespace's objects. Each step may ask an OSD and blocks at most for `rados_osd_op_timeout`.
pub struct Listing<'a> {
    raw: NonNull<c_void>,
    functions: &'static Functions,
    context: PhantomData<&'a IoContext>,
}

impl Iterator for Listing<'_> {
    type Item = Result<Vec<u8>, RadosError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut name, mut length) = (null::<c_char>(), 0);
        // SAFETY: a live handle and addresses for what is wanted; key and namespace may be null.
        let code = unsafe {
            (self.functions.rados_nobjects_list_next2)(
                self.raw.as_ptr(),
                &mut name,
                null_mut(),
                null_mut(),
                &mut length,
                null_mut(),
                null_mut(),
            )
        };
        if code == -libc::ENOENT {
            return None;
        }
        // SAFETY: librados says that so many bytes are there until the next call; they are copied now.
        let copy = |_| unsafe { std::slice::from_raw_parts(name.cast::<u8>(), length).to_vec() };
        Some(check(|| "rados_nobjects_list_next2".into(), code).map(copy))
    }
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle's last use; the context is still borrowed.
        unsafe { (self.functions.rados_nobjects_list_close)(self.raw.as_ptr()) };
    }
}
