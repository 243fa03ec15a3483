//! All figures of a run as an Apache Parquet file: the columns of the CSV, with types, for data
//! frames and query engines. Plain encoding without compression, which every reader knows.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use results::Run;
use units::LeftOut;

use crate::columns::{COLUMNS, ColumnCells, FigureLine, for_each_line};

/// This build has Parquet files.
pub const PARQUET_LEFT_OUT: Option<LeftOut> = None;
/// The level of definition of a value that may be absent, and is there.
const PRESENT: i16 = 1;

/// A row for each figure of each run.
///
/// # Errors
/// When the library refuses a value, which it does for none that a run holds.
pub fn parquet_figures(runs: &[Run]) -> Result<Vec<u8>, ParquetError> {
    let fields = COLUMNS.iter().map(|(name, cells)| field(name, cells));
    let fields = fields.collect::<Result<Vec<TypePtr>, _>>()?;
    let schema = Type::group_type_builder("figures").with_fields(fields);
    let schema = Arc::new(schema.build()?);
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties)?;
    let mut group = file.next_row_group()?;
    for (_, cells) in &COLUMNS {
        write_column(&mut group, cells, runs)?;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

fn field(name: &str, cells: &ColumnCells) -> Result<TypePtr, ParquetError> {
    let (physical, repetition) = match cells {
        ColumnCells::Text(_) => (Physical::BYTE_ARRAY, Repetition::REQUIRED),
        ColumnCells::Number(_) => (Physical::DOUBLE, Repetition::OPTIONAL),
        ColumnCells::Whole(_) => (Physical::INT64, Repetition::OPTIONAL),
        ColumnCells::Flag(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
    };
    let text = matches!(cells, ColumnCells::Text(_)).then_some(LogicalType::String);
    let built = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(text);
    Ok(Arc::new(built.build()?))
}

fn write_column<W: std::io::Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &ColumnCells,
    runs: &[Run],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    match cells {
        ColumnCells::Text(of) => {
            let values = column_of(runs, |it| of(it).into_bytes().into());
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)?;
        }
        ColumnCells::Number(of) => {
            let values = column_of(runs, |it| Some(of(it)).filter(|value| value.is_finite()));
            let (present, levels) = divided(&values);
            column
                .typed::<DoubleType>()
                .write_batch(&present, Some(&levels), None)?;
        }
        ColumnCells::Whole(of) => {
            let (present, levels) = divided(&column_of(runs, of));
            column
                .typed::<Int64Type>()
                .write_batch(&present, Some(&levels), None)?;
        }
        ColumnCells::Flag(of) => {
            let values = column_of(runs, of);
            column
                .typed::<BoolType>()
                .write_batch(&values, None, None)?;
        }
    }
    column.close()
}

fn column_of<T>(runs: &[Run], of: impl Fn(&FigureLine<'_>) -> T) -> Vec<T> {
    let mut values = Vec::new();
    for run in runs {
        for_each_line(run, |line| values.push(of(line)));
    }
    values
}

/// The values that are there, and for each place whether it has one.
fn divided<T: Copy>(values: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    let levels = values
        .iter()
        .map(|it| if it.is_some() { PRESENT } else { 0 });
    (values.iter().flatten().copied().collect(), levels.collect())
}
