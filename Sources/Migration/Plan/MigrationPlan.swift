/// The expected result of a migration, measured on the first records of each source. ``MigrationPlanner`` creates it.
public struct MigrationPlan: Sendable {
    /// The engine of the store that the migration would fill. The raw value is its name.
    public enum StoreEngine: String, Sendable {
        /// A SQLite file.
        case sqlite = "SQLite"
        /// A PostgreSQL database.
        case postgreSQL = "PostgreSQL"
    }

    /// One source, as the caller named it.
    public struct Source: Sendable, Equatable {
        /// The path, or `-` for standard input.
        public let name: String
        /// Whether it is a query on a database.
        public let isQuery: Bool
        /// The records of the sample.
        public let sampledRecords: Int
        /// Whether the sample is the whole source.
        public let isWhole: Bool
        /// The bytes of the file, or of all files of the folder; nil for pipes and queries.
        public let bytes: Int?
        /// The estimated number of records. It is exact if the sample is the whole source, and if the database counts the rows of a
        /// query. Nil if the size is unknown or compressed, or if the database cannot count the rows in time.
        public let records: Int?
        /// The bytes that its sample adds to ``MigrationPlan/outputBytes``.
        public let outputBytes: Int
        /// The columns and members of the records, by path.
        public let columns: [Column]
        /// Whether it is one record, or one object that is too long for a record and is read by its members.
        let isOneValue: Bool

        /// The keys of an object that may be ids of users, as `--user-column` names them. The input is or contains this
        /// object, and the values of several keys contain documents under the same names. Nil if there is none.
        public var possibleUserKeys: String? {
            guard isOneValue else { return nil }
            var keys: [String: (container: String, keys: Set<Substring>)] = [:]
            for column in columns where column.fates.keys.contains(where: { MemberFate(rawValue: $0)?.isRead == true })
            {
                let names = column.path.split(separator: ".")
                for index in names.indices.dropLast() where !names[index].hasSuffix("]") {
                    let container = (names[..<index] + [RecordReader.keys[...]]).joined(separator: ".")
                    let path = ([container[...]] + names[(index + 1)...]).joined(separator: ".")
                    keys[path, default: (container, [])].keys.insert(names[index])
                }
            }
            let best = keys.values.max { ($0.keys.count, $1.container) < ($1.keys.count, $0.container) }
            return best.flatMap { $0.keys.count > 1 ? $0.container : nil }
        }
    }

    /// A column of a table or a member of an object.
    public struct Column: Sendable, Equatable {
        /// The reason why the column is read.
        public enum Cause: String, Sendable {
            /// An option names it.
            case option
            /// Its name is known.
            case name
            /// Its values are documents.
            case content
        }

        /// Names separated by full stops; `[]` is any element of an array.
        public let path: String
        /// The count of each ``MemberFate``, by raw value.
        public let fates: [String: Int]
        /// Whether it contains the caller's user id.
        public let isUser: Bool
        /// Whether `--carry` keeps it beside the user.
        public let isKept: Bool
        /// The data that it adds to documents that lack it; nil if none.
        public let role: DocumentColumns.Role?
        /// Why it is read; nil if it is not.
        public let cause: Cause?
    }

    /// A reason of the quarantine with one example.
    public struct Quarantine: Sendable, Equatable {
        /// The reason, as in the quarantine.
        public let reason: String
        /// A sentence for a person, about the example.
        public let message: String
        /// The number of records.
        public internal(set) var records = 0
        /// The number of documents whose records would be migrated with other documents.
        public internal(set) var documents = 0
        /// The place of the example, as text.
        public let place: String
        /// SHA-256 of the original bytes of the example, in hexadecimal digits, as in the quarantine.
        public let sha256: String
    }

    /// The sources in the order of reading.
    public internal(set) var sources: [Source] = []
    /// The counts, as a migration of the records of the sample alone has them.
    public internal(set) var summary = MigrationSummary()
    /// The reasons of the quarantine, the most frequent first.
    public internal(set) var quarantine: [Quarantine] = []
    /// How long it took to read and verify the sample on one core, in seconds.
    public internal(set) var seconds = 0.0
    /// The number of cores that the migration would use.
    public internal(set) var jobs = 1
    /// The engine of the store; nil for lines.
    public internal(set) var engine: StoreEngine?
    /// Bytes that the sample takes where it is written to: the lines, or the rows of a store with their entries in its indexes.
    /// Rows that repeat in the sample count once.
    public internal(set) var outputBytes = 0
    /// Only so many records would be read; nil for all.
    public internal(set) var limit: Int?

    /// Whether the numbers of records are exact, because the sample is all there is to read.
    public var isWhole: Bool { sources.allSatisfy(\.isWhole) || limit.map { summary.recordsRead >= $0 } == true }

    /// The number of records that the migration would read; an estimate unless ``isWhole``, nil if a size is unknown.
    public var records: Int? {
        var total = 0
        for source in sources {
            guard let records = source.records else { return isWhole ? summary.recordsRead : nil }
            let (sum, overflow) = total.addingReportingOverflow(records)
            guard !overflow else { return nil }
            total = sum
        }
        return limit.map { min($0, total) } ?? total
    }

    /// Records read and verified each second on one core; nil for an empty sample.
    public var recordsPerSecond: Double? {
        guard summary.recordsRead > 0, seconds > 0 else { return nil }
        return Double(summary.recordsRead) / seconds
    }

    /// The minimum time for reading and verifying all records on ``jobs`` cores, in seconds. Writing takes additional
    /// time.
    public var expectedSeconds: Double? {
        guard let records, let rate = recordsPerSecond else { return nil }
        return Double(records) / rate / Double(max(1, jobs))
    }

    /// The expected bytes of the output, if the rest of each source is like its sample. For a store, they include the tables
    /// without rows. It takes fewer bytes if the rest repeats purchases and receipts of the sample.
    public var expectedBytes: Double? {
        guard let records, summary.recordsRead > 0 else { return nil }
        var rest = records
        var bytes = Double(engine.map(StoreSizes.empty) ?? 0)
        for source in sources where source.sampledRecords > 0 {
            let count = min(source.records ?? source.sampledRecords, rest)
            rest -= count
            bytes += Double(source.outputBytes) * Double(count) / Double(source.sampledRecords)
        }
        return bytes
    }
}
