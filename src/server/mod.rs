//! The HTTP door.
