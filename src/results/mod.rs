//! From reports to figures, validity, verdicts and status. Pure.
