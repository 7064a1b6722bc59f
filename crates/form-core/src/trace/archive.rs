//! Gzipped files, with errors that say that the archive is damaged, and how.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::MultiGzDecoder;

/// The content of a gzipped file.
pub(super) struct Gunzip<R>(MultiGzDecoder<R>);

impl<R: BufRead> Gunzip<R> {
    /// Reads an archive of one or more members.
    pub(super) fn new(archive: R) -> Self {
        Self(MultiGzDecoder::new(archive))
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into).map_err(|error| match error.kind() {
            // An error of the disk, not of the archive.
            _ if error.raw_os_error().is_some() => error,
            kind @ ErrorKind::UnexpectedEof => {
                let problem = "the gzip archive is cut off, or something else follows its end";
                io::Error::new(kind, problem)
            }
            kind => io::Error::new(kind, format!("the gzip archive is damaged: {error}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzipped(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(archive: &[u8]) -> Result<String, String> {
        let mut text = String::new();
        let read = Gunzip::new(archive).read_to_string(&mut text);
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn damage_is_reported() {
        let (one, two) = (gzipped("one\n"), gzipped("two\n"));
        assert_eq!(read(&[&one[..], &two].concat()).unwrap(), "one\ntwo\n");
        for cut in [3, 12, one.len() - 9, one.len() - 1] {
            let message = read(&one[..cut]).unwrap_err();
            assert!(message.contains("archive is cut off"), "{cut}: {message}");
        }
        let message = read(&[&one[..], b"more"].concat()).unwrap_err();
        assert!(
            message.contains("something else follows its end"),
            "{message}"
        );
        let mut wrong = one.clone();
        wrong[one.len() - 6] ^= 1;
        let message = read(&wrong).unwrap_err();
        assert!(message.contains("archive is damaged: "), "{message}");
    }
}
