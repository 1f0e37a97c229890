extension Int64 {
    /// The difference, limited to the bounds of `Int64`: a clock or a document with an extreme date must not cause a trap.
    package func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }

    /// The sum, limited to the bounds of `Int64`.
    package func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }
}

extension Duration {
    /// Whole nanoseconds, rounded toward zero and limited to the bounds of `Int64`.
    package var wholeNanoseconds: Int64 { whole(perSecond: 1_000_000_000) }

    /// Whole milliseconds, rounded toward zero and limited to the bounds of `Int64`.
    package var wholeMilliseconds: Int64 { whole(perSecond: 1_000) }

    private func whole(perSecond units: Int64) -> Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: units)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return scaled.addingSaturated(attoseconds / (1_000_000_000_000_000_000 / units))
    }
}
