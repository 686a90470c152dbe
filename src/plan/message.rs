//! Texts for the status, cut to what it holds: whoever compares with what the status says compares with the cut text.

/// Bytes of a message: a list of problems, or what others say, may be of any length.
pub const MAX_MESSAGE: usize = 1_000;

/// The beginning of a text, in at most so many bytes, with a mark where it was cut.
pub fn shortened(mut text: String, limit: usize) -> String {
    const MARK: &str = "…";
    if text.len() > limit {
        let end = (0..=limit - MARK.len()).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str(MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_characters() {
        assert_eq!(shortened("äöü".into(), 6), "äöü");
        assert_eq!(shortened("äöüß".into(), 6), "ä…");
    }
}
