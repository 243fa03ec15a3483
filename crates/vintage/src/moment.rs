//! Numbers, dates and times of day of the logs.

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

/// Hours, minutes and seconds.
pub type TimeOfDay = (u32, u32, u32);

/// A finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A time such as `14:33:10`.
pub(crate) fn time_of(text: &str) -> Option<TimeOfDay> {
    let mut parts = text.split(':').map(|part| part.parse::<u32>().ok());
    let time = (parts.next()??, parts.next()??, parts.next()??);
    let is_time = time.0 < 24 && time.1 < 60 && time.2 < 61 && parts.next().is_none();
    is_time.then_some(time)
}

/// A time such as `14:33:10`, printed.
pub(crate) fn clock_text((hours, minutes, seconds): TimeOfDay) -> String {
    format!("{hours:02}:{minutes:02}:{seconds:02}")
}

/// The time of day of a moment.
pub(crate) fn time_of_day(moment: &Zoned) -> TimeOfDay {
    let parts = [moment.hour(), moment.minute(), moment.second()];
    parts.map(|part| u32::from(part.unsigned_abs())).into()
}

/// Seconds since midnight.
pub(crate) const fn seconds_of_day((hours, minutes, seconds): TimeOfDay) -> u32 {
    hours * 3600 + minutes * 60 + seconds
}

/// Year, month and day of a date such as `May 21 1997`.
pub(crate) fn date_of(month: &str, day: &str, year: &str) -> Option<(i64, u32, u32)> {
    let date = Date::strptime("%b %d %Y", format!("{month} {day} {year}")).ok()?;
    let is_date = (1900..=9999).contains(&date.year());
    is_date.then(|| (date.year().into(), date.month() as u32, date.day() as u32))
}

/// Days since 1970 of a Gregorian date; none if invalid.
pub(crate) fn days_from_civil((year, month, day): (i64, u32, u32)) -> i64 {
    let date = Date::new(year as i16, month as i8, day as i8).unwrap_or_default();
    date.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24
}

/// Seconds since 1970 of a time such as `1997-05-21T14:33:10.120Z`.
pub(crate) fn rfc_3339_seconds(text: &str) -> Option<f64> {
    let moment: Timestamp = text.parse().ok()?;
    Some(moment.as_second() as f64 + f64::from(moment.subsec_nanosecond()) * 1e-9)
}
