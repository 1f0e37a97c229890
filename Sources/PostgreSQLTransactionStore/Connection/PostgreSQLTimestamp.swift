/// Milliseconds as PostgreSQL's `timestamp with time zone`, which has whole microseconds: exact in its range.
package enum PostgreSQLTimestamp {
    package static let type = "TIMESTAMP WITH TIME ZONE"

    /// The dates that the type has, in milliseconds since 1970-01-01T00:00:00Z: from 4714-11-24 BC to the end of the year
    /// 294276 (MIN_TIMESTAMP and END_TIMESTAMP in PostgreSQL's datatype/timestamp.h). Dates out of it become `-infinity` or
    /// `infinity`, which compare as earlier or later than all others.
    package static let range: ClosedRange<Int64> = -210_866_803_200_000...9_224_318_015_999_999

    /// 2000-01-01T00:00:00Z in milliseconds since 1970-01-01T00:00:00Z.
    private static let epoch: Int64 = 946_684_800_000

    /// The value in binary format: microseconds since 2000-01-01T00:00:00Z (timestamptz_recv in PostgreSQL's timestamp.c).
    static func binary(_ milliseconds: Int64) -> Int64 {
        guard range.contains(milliseconds) else { return milliseconds < range.lowerBound ? .min : .max }
        return (milliseconds - epoch) * 1_000
    }

    /// SQL for the value of a `bigint` of milliseconds.
    ///
    /// `to_timestamp` and `x * interval '1 millisecond'` reckon in double precision, which is not exact after the year 2255.
    package static func sql(milliseconds: String) -> String {
        """
        CASE WHEN \(milliseconds) < \(range.lowerBound) THEN '-infinity' WHEN \(milliseconds) > \(range.upperBound) \
        THEN 'infinity' ELSE (timestamp 'epoch' + \(milliseconds) / 86400000 * interval '1 day' + \(milliseconds) % 86400000 \
        * interval '1 millisecond') AT TIME ZONE 'UTC' END
        """
    }
}
