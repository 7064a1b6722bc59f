//! `form show`: print or draw a machine.
