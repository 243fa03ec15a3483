//! The few elements of SVG that pictures are made of.

use std::fmt::Write as _;

use units::printable;

/// Where a text stands in relation to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    Middle,
    End,
}

/// A drawing under construction. Places are pixels from the upper left.
#[derive(Debug)]
pub struct Drawing {
    text: String,
}

impl Drawing {
    /// An empty white page.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let title = escaped(title);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" role=\"img\">\n\
             <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        Self { text }
    }

    /// A straight line.
    pub fn line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        colour: &str,
        width: f64,
        is_dashed: bool,
    ) {
        let dashes = if is_dashed {
            " stroke-dasharray=\"6 4\""
        } else {
            ""
        };
        self.push(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" \
             stroke-width=\"{width}\"{dashes}/>",
            from.0, from.1, to.0, to.1
        ));
    }

    /// A line through places.
    pub fn path(&mut self, places: &[(f64, f64)], colour: &str, width: f64) {
        let points: Vec<String> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        self.push(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"/>",
            points.join(" ")
        ));
    }

    /// A filled rectangle between two corners, upper left and lower right.
    pub fn area(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, opacity: f64) {
        self.push(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\"/>",
            from.0,
            from.1,
            (to.0 - from.0).max(0.0),
            (to.1 - from.1).max(0.0)
        ));
    }

    /// A point.
    pub fn dot(&mut self, place: (f64, f64), colour: &str) {
        self.push(format_args!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
            place.0, place.1
        ));
    }

    pub fn text(&mut self, place: (f64, f64), anchor: Anchor, size: u32, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        self.push(format_args!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"#222222\">{}</text>",
            place.0,
            place.1,
            escaped(text)
        ));
    }

    /// A text that is read from below, its middle at a place.
    pub fn upright(&mut self, (x, y): (f64, f64), size: u32, text: &str) {
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" \
             fill=\"#222222\" transform=\"rotate(-90 {x:.1} {y:.1})\">{}</text>",
            escaped(text)
        ));
    }

    /// The whole drawing.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{element}").expect("writing to a string");
    }
}

/// Text that cannot be taken for markup.
fn escaped(text: &str) -> String {
    printable(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_their_element() {
        let mut drawing = Drawing::new(10.0, 10.0, "a < b & c");
        drawing.text((0.0, 0.0), Anchor::Start, 12, "</text><script>\u{7}");
        let text = drawing.finish();
        assert!(text.contains("<title>a &lt; b &amp; c</title>"), "{text}");
        assert!(
            text.contains("&lt;/text&gt;&lt;script&gt;?</text>"),
            "{text}"
        );
    }
}
