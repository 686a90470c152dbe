//! The run's token, and proofs of knowing it: HMAC-SHA256 over nonces of both sides and what the sender claims. The token itself never
//! goes over a wire, and a proof is worth nothing on another connection.

use std::fmt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use rand::{TryRng, rngs::SysRng};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::Claim;

/// Shortest token: what 16 random bytes take in hexadecimal is twice that.
const MIN_TOKEN: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("read the token from {path}: {cause}")]
    Read { path: PathBuf, cause: std::io::Error },
    #[error("the token in {path} has {length} bytes, at least {MIN_TOKEN} are needed")]
    Short { path: PathBuf, length: usize },
    #[error("get random bytes from the system: {0}")]
    Random(String),
}

/// The secret that all clients of a run share.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Token {
    /// White space at the end does not belong to it.
    pub fn read(path: &Path) -> Result<Token, TokenError> {
        let mut bytes = std::fs::read(path).map_err(|cause| TokenError::Read { path: path.into(), cause })?;
        bytes.truncate(bytes.trim_ascii_end().len());
        if bytes.len() < MIN_TOKEN {
            return Err(TokenError::Short { path: path.into(), length: bytes.len() });
        }
        Ok(Token(bytes))
    }

    /// For a run that does not leave this process.
    pub fn random() -> Result<Token, TokenError> {
        Ok(Token(random_bytes()?.to_vec()))
    }

    /// The client's proof.
    pub fn prove_claim(&self, conductor: &Nonce, client: &Nonce, claim: &Claim) -> Proof {
        let claim = serde_json::to_vec(claim).expect("plain data is always JSON");
        self.prove(&[b"register", conductor.bytes(), client.bytes(), &claim])
    }

    /// The conductor's proof.
    pub fn prove_welcome(&self, conductor: &Nonce, client: &Nonce) -> Proof {
        self.prove(&[b"welcome", client.bytes(), conductor.bytes()])
    }

    /// A data connection's proof.
    pub fn prove_stream(&self, door: &Nonce, stream: u32) -> Proof {
        self.prove(&[b"stream", door.bytes(), &stream.to_be_bytes()])
    }

    fn prove(&self, parts: &[&[u8]]) -> Proof {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for part in parts {
            // With its length, so that no two lists of parts are the same bytes.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Proof(mac.finalize().into_bytes().into())
    }
}

/// 32 random bytes, used once.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Nonce(#[serde(with = "base64_bytes")] [u8; 32]);

impl Nonce {
    pub fn random() -> Result<Nonce, TokenError> {
        random_bytes().map(Nonce)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

fn random_bytes() -> Result<[u8; 32], TokenError> {
    let mut bytes = [0; 32];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
    Ok(bytes)
}

/// What only someone with the token can make.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Proof(#[serde(with = "base64_bytes")] [u8; 32]);

impl Proof {
    pub fn from_bytes(bytes: [u8; 32]) -> Proof {
        Proof(bytes)
    }

    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Takes the same time wherever they differ.
    pub fn is(&self, other: &Proof) -> bool {
        self.0.iter().zip(other.0).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
    }
}

mod base64_bytes {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::Deserialize;

    pub fn serialize<S: serde::Serializer>(bytes: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        bytes.try_into().map_err(|_| serde::de::Error::custom("not 32 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(client: u32) -> Claim {
        Claim {
            run: "r".into(),
            test: "t".into(),
            client,
            uid: "u".into(),
            advertise: None,
            task_digest: String::new(),
        }
    }

    #[test]
    fn a_proof_holds_for_its_token_nonces_and_claim_only() {
        let token = Token(b"0123456789abcdef".to_vec());
        let (a, b) = (Nonce([1; 32]), Nonce([2; 32]));
        let proof = token.prove_claim(&a, &b, &claim(1));
        assert!(proof.is(&token.prove_claim(&a, &b, &claim(1))));
        let other = Token(b"0123456789abcdeg".to_vec());
        for wrong in [
            other.prove_claim(&a, &b, &claim(1)),
            token.prove_claim(&b, &a, &claim(1)),
            token.prove_claim(&a, &b, &claim(2)),
            token.prove_welcome(&a, &b),
            token.prove_stream(&a, 1),
        ] {
            assert!(!proof.is(&wrong));
        }
    }

    #[test]
    fn a_token_is_read_without_its_newline_and_never_shown() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("token");
        std::fs::write(&path, "0123456789abcdef\n").expect("writable");
        let token = Token::read(&path).expect("long enough");
        assert_eq!(token.0, b"0123456789abcdef");
        assert!(!format!("{token:?}").contains("0123"));
        std::fs::write(&path, "0123456789abcde\n\n").expect("writable");
        let error = Token::read(&path).expect_err("too short").to_string();
        assert!(error.contains("15 bytes, at least 16"), "{error}");
    }
}
