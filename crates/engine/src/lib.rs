//! The hot loop: users, pacing, driver, recorder.
