//! Figures for people and machines: tables and formats. Pure.
