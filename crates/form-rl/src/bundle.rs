//! Named arrays and a description in one safetensors file, written atomically and with a checksum.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use safetensors::tensor::{Dtype, View};
use safetensors::{SafeTensorError, SafeTensors};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Error, Result};

/// The tensor with the checksum of all others and of the metadata.
const CHECKSUM: &str = "crc32";

/// The contents of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bundle {
    arrays: BTreeMap<String, Array>,
    metadata: HashMap<String, String>,
    is_checked: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Array {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Array {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Bundle {
    /// Adds numbers of this shape.
    pub(crate) fn put_shaped(&mut self, name: &str, shape: &[usize], numbers: &[f32]) {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.insert(name, Dtype::F32, shape, bytes.collect());
    }

    /// Adds numbers in a row.
    pub(crate) fn put_numbers(&mut self, name: &str, numbers: &[f32]) {
        self.put_shaped(name, &[numbers.len()], numbers);
    }

    /// Adds numbers of double precision.
    pub(crate) fn put_doubles(&mut self, name: &str, numbers: &[f64]) {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
        self.insert(name, Dtype::F64, &[numbers.len()], bytes.collect());
    }

    /// Adds bytes.
    pub(crate) fn put_bytes(&mut self, name: &str, bytes: Vec<u8>) {
        self.insert(name, Dtype::U8, &[bytes.len()], bytes);
    }

    /// Adds counts.
    pub(crate) fn put_counts(&mut self, name: &str, counts: &[u64]) {
        let bytes = counts.iter().flat_map(|count| count.to_le_bytes());
        self.insert(name, Dtype::U64, &[counts.len()], bytes.collect());
    }

    fn insert(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        let shape = shape.to_vec();
        let array = Array {
            dtype,
            shape,
            bytes,
        };
        self.arrays.insert(name.to_owned(), array);
    }

    fn array(&self, name: &str, dtype: Dtype) -> Result<&Array, String> {
        let array = (self.arrays.get(name)).ok_or_else(|| format!("no tensor `{name}`"))?;
        match array.dtype == dtype {
            true => Ok(array),
            false => Err(format!(
                "tensor `{name}` is of {:?}, not {dtype:?}",
                array.dtype
            )),
        }
    }

    /// The names of all arrays with this prefix, without it.
    pub(crate) fn names<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        (self.arrays.keys()).filter_map(move |name| name.strip_prefix(start))
    }

    /// The shape of an array.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(&self.arrays.get(name)?.shape)
    }

    /// Reads numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Vec<f32>, String> {
        let (numbers, _) = self.array(name, Dtype::F32)?.bytes.as_chunks::<4>();
        Ok(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
    }

    /// Reads numbers of double precision.
    pub(crate) fn doubles(&self, name: &str) -> Result<Vec<f64>, String> {
        let (numbers, _) = self.array(name, Dtype::F64)?.bytes.as_chunks::<8>();
        Ok(numbers.iter().map(|n| f64::from_le_bytes(*n)).collect())
    }

    /// Reads bytes.
    pub(crate) fn bytes(&self, name: &str) -> Result<&[u8], String> {
        Ok(&self.array(name, Dtype::U8)?.bytes)
    }

    /// Reads counts.
    pub(crate) fn counts(&self, name: &str) -> Result<Vec<u64>, String> {
        let (counts, _) = self.array(name, Dtype::U64)?.bytes.as_chunks::<8>();
        Ok(counts.iter().map(|n| u64::from_le_bytes(*n)).collect())
    }

    fn checksum(&self) -> Vec<u8> {
        let mut hasher = crc32fast::Hasher::new();
        // The entries of the metadata are in any order, in the file and here.
        let metadata: BTreeMap<&String, &String> = self.metadata.iter().collect();
        for (key, text) in metadata {
            hasher.update(key.as_bytes());
            hasher.update(text.as_bytes());
        }
        for (name, array) in &self.arrays {
            let shape = format!("{name} {:?} {:?}", array.dtype, array.shape);
            hasher.update(shape.as_bytes());
            hasher.update(&array.bytes);
        }
        hasher.finalize().to_le_bytes().into()
    }

    /// The bytes of a file with all arrays, and a description in the metadata under `key`.
    pub(crate) fn into_bytes<T: Serialize>(
        mut self,
        key: &str,
        description: &T,
    ) -> Result<Vec<u8>, SafeTensorError> {
        let text = serde_json::to_string(description).map_err(SafeTensorError::JsonError)?;
        self.metadata.insert(key.to_owned(), text);
        let checksum = self.checksum();
        self.insert(CHECKSUM, Dtype::U32, &[1], checksum);
        safetensors::serialize(&self.arrays, Some(self.metadata))
    }

    /// Writes these bytes. An existing file is replaced once the new one is complete.
    pub(crate) fn write<T: Serialize>(self, path: &Path, key: &str, description: &T) -> Result<()> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        // A pipe or device would be replaced by a file.
        refuse_pipes(path).map_err(io)?;
        let file = self.into_bytes(key, description);
        let file = file.map_err(|source| Error::Damaged {
            path: path.to_owned(),
            source,
        })?;
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".partial-");
        // The same permissions as other new files, not those of temporary files.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut partial = builder.tempfile_in(folder).map_err(io)?;
        partial.write_all(&file).map_err(io)?;
        partial.as_file().sync_all().map_err(io)?;
        partial.persist(path).map_err(|error| io(error.error))?;
        // Syncs the folder, so that the rename survives a power failure; not every file system supports it.
        if let Ok(folder) = fs::File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Reads a file, and rejects it if it has a checksum that is wrong.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let io = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        // Reading a device or a pipe may never end.
        refuse_pipes(path).map_err(io)?;
        Self::from_bytes(path, &fs::read(path).map_err(io)?)
    }

    /// Reads the bytes of a file; `path` is for errors.
    pub(crate) fn from_bytes(path: &Path, file: &[u8]) -> Result<Self> {
        let damaged = |source| Error::Damaged {
            path: path.to_owned(),
            source,
        };
        let (_, header) = SafeTensors::read_metadata(file).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(file).map_err(damaged)?;
        let mut bundle = Self {
            metadata: header.metadata().clone().unwrap_or_default(),
            ..Self::default()
        };
        for (name, view) in tensors.iter() {
            bundle.insert(name, view.dtype(), view.shape(), view.data().to_vec());
        }
        if let Some(checksum) = bundle.arrays.remove(CHECKSUM) {
            if checksum.bytes != bundle.checksum() {
                return Err(Error::Mismatch {
                    path: path.to_owned(),
                    problem: "damaged: the checksum is not that of the contents".to_owned(),
                });
            }
            bundle.is_checked = true;
        }
        Ok(bundle)
    }

    /// Whether it was read from a file with a checksum.
    pub(crate) fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// The description in the metadata under `key`.
    pub(crate) fn description<T: DeserializeOwned>(&self, path: &Path, key: &str) -> Result<T> {
        let mismatch = |problem: String| Error::Mismatch {
            path: path.to_owned(),
            problem,
        };
        let text = (self.metadata.get(key))
            .ok_or_else(|| mismatch(format!("its metadata has no `{key}`")))?;
        serde_json::from_str(text)
            .map_err(|error| mismatch(format!("`{key}` in its metadata: {error}")))
    }
}

/// Rejects a path that exists and is neither a file nor a folder.
fn refuse_pipes(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path).map(|found| found.file_type());
    match kind.is_ok_and(|kind| !kind.is_file() && !kind.is_dir()) {
        true => Err(io::Error::other("a pipe or a device, not a file")),
        false => Ok(()),
    }
}
