//! An error and its causes as one message. The libraries' own errors say their causes, often in plainer words than these have: what is
//! below one is not repeated.

use std::error::Error;

/// An error and its causes in one message, without repetitions.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = error.to_string();
    for cause in error.chain() {
        let said = cause.to_string();
        if !message.ends_with(&said) {
            message = format!("{message}: {said}");
        }
        if says_its_causes(cause) {
            break;
        }
    }
    message
}

fn says_its_causes(error: &(dyn Error + 'static)) -> bool {
    error.is::<form_core::Error>()
        || error.is::<form_learn::Error>()
        || error.is::<form_env::Error>()
        || error.is::<form_rl::Error>()
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;

    use super::*;

    #[test]
    fn causes_are_said_once() {
        let gone = || io::Error::other("it is gone");
        let said = |error: anyhow::Error| message(&error);
        assert_eq!(said(gone().into()), "it is gone");
        let failed = Err::<(), _>(gone()).context("cannot read a.form");
        assert_eq!(said(failed.unwrap_err()), "cannot read a.form: it is gone");
        let failed = Err::<(), _>(gone()).context("a.form: it is gone");
        assert_eq!(said(failed.unwrap_err()), "a.form: it is gone");
    }

    #[test]
    fn damaged_weights_keep_their_cause_and_say_it_in_plain_words() {
        let damaged = || form_rl::ReachAvoidPolicy::from_bytes("a.safetensors".as_ref(), b"");
        let error = damaged().unwrap_err();
        let cause = Error::source(&error)
            .expect("the error of the format")
            .to_string();
        let words = "a.safetensors: not a weights file: it is empty or cut short";
        assert!(!words.contains(&cause));
        assert_eq!(message(&error.into()), words);
        let within = damaged().context("cannot play").unwrap_err();
        assert_eq!(message(&within), format!("cannot play: {words}"));
    }
}
