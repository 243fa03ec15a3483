//! Runs as Parquet files, in a build that has them.

use bytes::Bytes;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use report::{csv_figures, parquet_figures};

use crate::forms::{fields, figures};
use crate::kinds::kinds;

/// What a reader of Parquet finds, cell by cell, is what the CSV says.
#[test]
fn every_kind_is_written_as_parquet_with_the_columns_of_the_csv() {
    for (kind, run, _) in kinds() {
        let bytes = parquet_figures(std::slice::from_ref(&run)).expect("a file");
        let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a file of Parquet");
        let text = csv_figures(&run);
        let mut lines = text.split_terminator("\r\n").map(fields);
        let header = lines.next().expect("a header");
        let mut count = 0;
        for (row, line) in reader.get_row_iter(None).expect("rows").zip(lines) {
            let row = row.expect("a row");
            let names: Vec<&String> = row.get_column_iter().map(|(name, _)| name).collect();
            assert_eq!(names, header.iter().collect::<Vec<_>>(), "{kind}");
            let cells = row.get_column_iter().map(|(_, field)| match field {
                Field::Null => String::new(),
                Field::Str(text) => text.clone(),
                Field::Double(value) => value.to_string(),
                Field::Long(value) => value.to_string(),
                Field::Bool(value) => value.to_string(),
                other => panic!("{kind}: {other:?}"),
            });
            assert_eq!(cells.collect::<Vec<_>>(), line, "{kind}");
            count += 1;
        }
        // The verdict is a line of its own.
        assert_eq!(count, 1 + figures(&run.tables()), "{kind}");
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.num_rows() as usize, count, "{kind}");
    }
}
