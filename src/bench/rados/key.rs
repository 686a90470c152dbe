//! The file that holds a client's CephX key: what sort of key it is, never the key itself. librados reads the file on its own; this looks
//! first, because librados tells neither what is wrong with a file nor keeps a key out of its log.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How a key file is to be given to librados.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFile {
    /// Holds the key alone: option `keyfile`.
    Key(KeyType),
    /// Holds sections of entities: option `keyring`.
    Keyring(KeyType),
}

/// The cipher that a key is for, from its first two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    Aes,
    /// Since Ceph 20; older libraries can't read it.
    Aes256k,
    Other(u16),
}

impl fmt::Display for KeyType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyType::Aes => formatter.write_str("aes"),
            KeyType::Aes256k => formatter.write_str("aes256k"),
            KeyType::Other(number) => write!(formatter, "number {number}"),
        }
    }
}

impl KeyFile {
    pub fn key_type(self) -> KeyType {
        match self {
            KeyFile::Key(key_type) | KeyFile::Keyring(key_type) => key_type,
        }
    }
}

/// Judges the text of a key file by its path: one whose name ends in `keyring` is a keyring. The error says what the file lacks.
pub fn judge(path: &str, text: &str, entity: &str) -> Result<KeyFile, String> {
    if !path.ends_with("keyring") {
        return key_type(text).map(KeyFile::Key);
    }
    let key = find(text, entity)?;
    key_type(key).map(KeyFile::Keyring)
}

/// The key in the entity's section.
fn find<'a>(text: &'a str, entity: &str) -> Result<&'a str, String> {
    let section = format!("[{entity}]");
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != section);
    if lines.next().is_none() {
        return Err(format!("it has no section {section}"));
    }
    lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| name.trim() == "key")
        .map(|(_, key)| key.trim())
        .ok_or_else(|| format!("its section {section} has no key"))
}

fn key_type(key: &str) -> Result<KeyType, String> {
    let key = key.trim();
    let not_a_key = || format!("its {} characters are no CephX key (base64 of a type, a time and a secret)", key.len());
    if key.is_empty() {
        return Err("it is empty".into());
    }
    let bytes = STANDARD.decode(key).map_err(|_| not_a_key())?;
    // Type, time of creation, length of the secret, secret.
    let [low, high, _, _, _, _, _, _, _, _, _, _, secret @ ..] = &bytes[..] else { return Err(not_a_key()) };
    if secret.is_empty() {
        return Err(not_a_key());
    }
    Ok(match u16::from_le_bytes([*low, *high]) {
        1 => KeyType::Aes,
        2 => KeyType::Aes256k,
        other => KeyType::Other(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u16, secret: usize) -> String {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend([0; 8]);
        bytes.extend((secret as u16).to_le_bytes());
        bytes.extend(vec![0x5a; secret]);
        STANDARD.encode(bytes)
    }

    #[test]
    fn keys_of_both_types() {
        assert_eq!(key(1, 16).len(), 40);
        assert_eq!(key(2, 32).len(), 60);
        let judged = |number, secret| judge("/secret/userKey", &format!("{}\n", key(number, secret)), "client.x");
        assert_eq!(judged(1, 16), Ok(KeyFile::Key(KeyType::Aes)));
        assert_eq!(judged(2, 32), Ok(KeyFile::Key(KeyType::Aes256k)));
        assert_eq!(judged(9, 32), Ok(KeyFile::Key(KeyType::Other(9))));
    }

    #[test]
    fn a_keyring_by_its_entity() {
        let text =
            format!("[client.a]\n  key = {}\n[client.b]\n\tkey={}\n\tcaps mon = \"allow r\"\n", key(1, 16), key(2, 32));
        let judged = |entity| judge("/etc/ceph/ceph.client.keyring", &text, entity);
        assert_eq!(judged("client.a"), Ok(KeyFile::Keyring(KeyType::Aes)));
        assert_eq!(judged("client.b"), Ok(KeyFile::Keyring(KeyType::Aes256k)));
        assert_eq!(judged("client.c"), Err("it has no section [client.c]".into()));
        assert_eq!(
            judge("keyring", "[client.a]\n[client.b]\nkey = x", "client.a"),
            Err("its section [client.a] has no key".into())
        );
    }

    #[test]
    fn what_is_no_key_is_refused_without_showing_it() {
        assert_eq!(judge("/k", "\n", "client.x"), Err("it is empty".into()));
        for text in ["not-base64-at-all!", "AAAA", "RkFLRQ=="] {
            let error = judge("/k", text, "client.x").expect_err("no key");
            assert!(error.contains(&format!("{} characters", text.len())) && !error.contains(text), "{error}");
        }
    }
}
