//! What librados' error numbers mean here: which key, pool, monitor or cap is at fault, and what would be right. Pure.

use crate::bench::errno;

use super::key::KeyType;

/// What is known when something fails.
#[derive(Clone, Debug)]
pub struct Situation {
    /// Such as `client.bench`.
    pub entity: String,
    pub key_file: String,
    pub key_type: KeyType,
    /// As librados has them; empty when none are given.
    pub monitors: String,
    pub connect_timeout_seconds: u64,
    pub op_timeout_seconds: u64,
    /// Ceph's release that the library belongs to.
    pub library_version: String,
    /// The cluster's, where it is known.
    pub cluster_version: Option<String>,
    pub pool: String,
    pub namespace: String,
}

impl Situation {
    /// Why connecting failed.
    pub fn connect(&self, number: i32) -> String {
        match (number, self.key_type) {
            // Libraries that can't read a key say either, whatever else could be wrong.
            (libc::EINVAL | libc::EIO, KeyType::Aes256k | KeyType::Other(_)) => self.unknown_key_type(),
            (libc::EINVAL, KeyType::Aes) => {
                format!(
                    "{}: librados takes the monitors ({}) for no addresses",
                    errno::text(number),
                    self.monitors_text()
                )
            }
            (libc::EACCES | libc::EPERM, _) => format!(
                "{}: the monitors don't accept {} with the key in {}: wrong or revoked key, no such user, or no mon cap \
                 (`allow r` is enough)",
                errno::text(number),
                self.entity,
                self.key_file
            ),
            (libc::ETIMEDOUT, _) => format!(
                "{}: no monitor of {} answered within {} s",
                errno::text(number),
                self.monitors_text(),
                self.connect_timeout_seconds
            ),
            (libc::ENOENT, _) if self.monitors.is_empty() => {
                format!("{}: no monitors are given (monHost, or a conf with mon_host)", errno::text(number))
            }
            _ => format!("{} (monitors {})", errno::text(number), self.monitors_text()),
        }
    }

    /// Why a pool couldn't be opened.
    pub fn pool(&self, number: i32) -> String {
        match number {
            libc::ENOENT => format!("{}: there is no pool {}", errno::text(number), self.pool),
            libc::ETIMEDOUT => {
                format!(
                    "{}: the monitors did not tell of it within {} s",
                    errno::text(number),
                    self.connect_timeout_seconds
                )
            }
            _ => errno::text(number),
        }
    }

    /// Why an operation on the pool's objects failed.
    pub fn operation(&self, number: i32) -> String {
        let text = errno::text(number);
        match self.meaning(number) {
            Some(meaning) => format!("{text}: {meaning}"),
            None => text,
        }
    }

    /// What an operation's error means, beyond its name.
    pub fn meaning(&self, number: i32) -> Option<String> {
        let pool = &self.pool;
        Some(match number {
            libc::EDQUOT => format!("pool {pool} is at its quota"),
            libc::ENOSPC => format!("pool {pool} is full, or an OSD that it uses is"),
            libc::EPERM | libc::EACCES => format!("{} needs the cap osd `{}`", self.entity, self.cap()),
            libc::ETIMEDOUT => format!(
                "no answer within {} s: an OSD hangs, or a placement group of pool {pool} is not active",
                self.op_timeout_seconds
            ),
            libc::ENOENT => "the pool or the object was removed meanwhile".into(),
            _ => return None,
        })
    }

    fn cap(&self) -> String {
        match self.namespace.as_str() {
            "" => format!("allow rw pool={}", self.pool),
            namespace => format!("allow rw pool={} namespace={namespace}", self.pool),
        }
    }

    fn unknown_key_type(&self) -> String {
        let cluster = match &self.cluster_version {
            Some(version) => format!(" (the cluster is {version})"),
            None => String::new(),
        };
        format!(
            "the key of {} is of type {}, which librados {} can't read{cluster}: use the cluster's own image, or a key of \
             `keyType: aes`",
            self.entity, self.key_type, self.library_version
        )
    }

    fn monitors_text(&self) -> &str {
        if self.monitors.is_empty() { "none" } else { &self.monitors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation() -> Situation {
        Situation {
            entity: "client.bench".into(),
            key_file: "/secret/userKey".into(),
            key_type: KeyType::Aes,
            monitors: "[v2:10.0.0.1:3300,v1:10.0.0.1:6789]".into(),
            connect_timeout_seconds: 30,
            op_timeout_seconds: 29,
            library_version: "20.2.1".into(),
            cluster_version: Some("20.2.4-0".into()),
            pool: "bench".into(),
            namespace: "run-1".into(),
        }
    }

    /// Case B3: both ways in which libraries fail on a key that they can't read.
    #[test]
    fn a_key_of_a_newer_type() {
        let newer = Situation { key_type: KeyType::Aes256k, ..situation() };
        for number in [libc::EINVAL, libc::EIO] {
            assert_eq!(
                newer.connect(number),
                "the key of client.bench is of type aes256k, which librados 20.2.1 can't read (the cluster is 20.2.4-0): \
                 use the cluster's own image, or a key of `keyType: aes`"
            );
        }
        // What is wrong with the key's content is not its type.
        assert!(newer.connect(libc::EACCES).contains("wrong or revoked key"));
    }

    #[test]
    fn the_same_number_with_an_old_key_is_not_blamed_on_its_type() {
        let said = situation().connect(libc::EINVAL);
        assert!(said.starts_with("Invalid argument (EINVAL)") && said.contains("10.0.0.1"), "{said}");
        assert!(!said.contains("keyType"), "{said}");
    }

    #[test]
    fn monitors_that_do_not_answer_are_named() {
        assert_eq!(
            situation().connect(libc::ETIMEDOUT),
            "Connection timed out (ETIMEDOUT): no monitor of [v2:10.0.0.1:3300,v1:10.0.0.1:6789] answered within 30 s"
        );
        let none = Situation { monitors: String::new(), ..situation() };
        assert!(none.connect(libc::ENOENT).contains("no monitors are given"));
    }

    #[test]
    fn a_pool_that_is_missing_full_or_forbidden_is_named() {
        assert_eq!(situation().pool(libc::ENOENT), "No such file or directory (ENOENT): there is no pool bench");
        assert!(situation().operation(libc::EDQUOT).ends_with("pool bench is at its quota"));
        assert!(situation().operation(libc::ENOSPC).contains("pool bench is full"));
        assert!(
            situation()
                .operation(libc::EPERM)
                .contains("client.bench needs the cap osd `allow rw pool=bench namespace=run-1`")
        );
        let whole = Situation { namespace: String::new(), ..situation() };
        assert!(whole.operation(libc::EPERM).ends_with("`allow rw pool=bench`"));
        assert!(situation().operation(libc::ETIMEDOUT).contains("within 29 s"));
    }
}
