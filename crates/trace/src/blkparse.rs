//! Writes a trace as the text that blkparse prints by default: a line `D` where a request is
//! issued, and one `C` where it completes, if the trace says when.
//!
//! Fields: major,minor, CPU, sequence, seconds, process, action, letters, sector + sectors, name.
//! Source: blkparse(1), "default output". CPU is 0, as recordings do not keep it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use crate::record::{RecordDetail, TraceOp, TraceRecord};

const SECTOR_BYTES: u64 = 512;

/// A completion not written yet, ordered by time.
type Completion = Reverse<(u64, u64, String)>;

/// Writes the text.
#[derive(Debug)]
pub struct BlkparseWriter<W> {
    output: W,
    sequence: u64,
    completions: BinaryHeap<Completion>,
}

impl<W: Write> BlkparseWriter<W> {
    pub const fn new(output: W) -> Self {
        Self {
            output,
            sequence: 0,
            completions: BinaryHeap::new(),
        }
    }

    /// Writes one request of a device, which is `major,minor` or any other name.
    ///
    /// # Errors
    ///
    /// If the output fails.
    pub fn write(
        &mut self,
        record: &TraceRecord,
        device: &str,
        detail: Option<RecordDetail>,
    ) -> io::Result<()> {
        self.complete(record.at)?;
        let process = detail.map_or(0, |it| it.process);
        let letters = match record.op {
            TraceOp::Read => "R",
            TraceOp::Write => "W",
            TraceOp::Trim => "D",
            TraceOp::Sync => "F",
        };
        let place = format!(
            "{letters:>3} {} + {}",
            record.offset / SECTOR_BYTES,
            record.length / SECTOR_BYTES
        );
        self.line(
            record.at,
            device,
            process,
            &format!("D {place} [{process}]"),
        )?;
        if let Some(took) = detail.and_then(|it| it.took) {
            let end = record.at.saturating_add(took);
            let text = format!("{device} {process} C {place} [0]");
            self.completions.push(Reverse((end, self.sequence, text)));
        }
        Ok(())
    }

    fn line(&mut self, at: u64, device: &str, process: u32, rest: &str) -> io::Result<()> {
        self.sequence += 1;
        let (seconds, nanos) = (at / 1_000_000_000, at % 1_000_000_000);
        writeln!(
            self.output,
            "{device:>7}  0 {:8} {seconds:5}.{nanos:09} {process:5}  {rest}",
            self.sequence
        )
    }

    /// Writes completions up to a time.
    fn complete(&mut self, until: u64) -> io::Result<()> {
        while let Some(Reverse((at, _, _))) = self.completions.peek()
            && *at <= until
        {
            let Some(Reverse((at, _, text))) = self.completions.pop() else {
                break;
            };
            let mut parts = text.splitn(3, ' ');
            let (device, process) = (parts.next(), parts.next());
            let process = process.and_then(|it| it.parse().ok()).unwrap_or(0);
            self.line(
                at,
                device.unwrap_or_default(),
                process,
                parts.next().unwrap_or_default(),
            )?;
        }
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    ///
    /// If the output fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.complete(u64::MAX)?;
        self.output.flush()?;
        Ok(self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_their_ends_stand_in_the_order_of_time() {
        let mut writer = BlkparseWriter::new(Vec::new());
        for (at, op, offset, took) in [
            (0, TraceOp::Read, 4096, Some(2_500)),
            (1_000, TraceOp::Write, 8192, None),
            (1_000_000_000, TraceOp::Sync, 0, Some(7)),
        ] {
            let record = TraceRecord {
                at,
                op,
                offset,
                length: if op.has_extent() { 4096 } else { 0 },
                file: 0,
            };
            let detail = RecordDetail { process: 3, took };
            writer
                .write(&record, "8,0", Some(detail))
                .expect("a vector");
        }
        let text = String::from_utf8(writer.finish().expect("a vector")).expect("text");
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|it| it.split_whitespace().collect())
            .collect();
        let expected = [
            "8,0 0 1 0.000000000 3 D R 8 + 8 [3]",
            "8,0 0 2 0.000001000 3 D W 16 + 8 [3]",
            "8,0 0 3 0.000002500 3 C R 8 + 8 [0]",
            "8,0 0 4 1.000000000 3 D F 0 + 0 [3]",
            "8,0 0 5 1.000000007 3 C F 0 + 0 [0]",
        ];
        let found: Vec<String> = lines.iter().map(|it| it.join(" ")).collect();
        assert_eq!(found, expected);
    }
}
