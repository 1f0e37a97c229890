/// The format of an input.
public enum InputFormat: String, Sendable, CaseIterable {
    /// Detected for each file from its first bytes; the file name is only a hint.
    case auto
    /// One JSON value per line.
    case ndjson
    /// A table: CSV, TSV or the text of a database.
    case csv
    /// One JSON document: one record, or one per element of a top-level array.
    case json
    /// One receipt, JWS or transaction id per line, never joined.
    case lines
    /// The whole file is one record.
    case file
}

/// The caller's options for the inputs.
package struct InputOptions: Sendable {
    package var format: InputFormat
    /// The CSV columns or JSON members with the receipts; empty to detect them by name or content.
    package var receiptColumns: [String]
    /// Columns that a table must have beside them.
    package var otherColumns: [String]
    /// Whether the first records of NDJSON or JSON may lack a named column.
    package var columnsAppearLater = false
    /// Options of tables.
    package var table: TableOptions
    /// Records longer than this many bytes are not read, only reported. Default: ``InputLimits/recordSize``.
    package var maximumRecordSize: Int
    /// The maximum number of records to read; nil for all.
    package var maximumRecords: Int?

    var reader: RecordReader { RecordReader(receiptColumns: receiptColumns, namedColumns: otherColumns) }

    package init(
        format: InputFormat = .auto, receiptColumns: [String] = [], otherColumns: [String] = [],
        table: TableOptions = TableOptions(), maximumRecordSize: Int = InputLimits.recordSize,
        maximumRecords: Int? = nil
    ) {
        self.maximumRecords = maximumRecords
        self.format = format
        self.receiptColumns = receiptColumns
        self.otherColumns = otherColumns
        self.table = table
        self.maximumRecordSize = max(1, maximumRecordSize)
    }
}

/// The limits for inputs.
package enum InputLimits {
    /// The default maximum size of a record, in bytes. Apple's endpoint accepts bodies of 3 MiB (Reference.md C3); a
    /// reply can be larger.
    package static let recordSize = 16 << 20
    /// How many bytes of a record are kept if it is too large.
    package static let oversizeExcerpt = 64 << 10
    /// The highest value of `--max-size`, in bytes.
    package static let maximumSizeOfOption = 1 << 30
    /// Bytes per read.
    package static let chunkSize = 1 << 20
    /// How many bytes of an input are used to detect its format.
    package static let detectionWindow = 1 << 20
    /// A batch is closed at this many records …
    package static let batchRecords = 256
    /// … or this many bytes.
    package static let batchBytes = 2 << 20
    /// How many rows of a table are used to detect its columns.
    package static let detectionRows = 100
    /// The maximum number of columns of a table in a dump that does not name them. SQLite allows the most of all databases.
    package static let columnsOfTable = 32_767
    /// How many fields of a row are read besides twice those of the header.
    package static let superfluousFields = 10_000
    /// How often a payload can be wrapped, for example JSON in a JSON string in a column.
    package static let payloadNesting = 8
    /// How many JSON objects without an end a text may contain. What follows them in the text is not read.
    package static let openObjectsInText = 16
    /// The maximum bytes of a member's name in the summary.
    package static let memberNameBytes = 100
    /// The maximum number of column and member paths per record. The others count as `(other)`: in an array, once for each
    /// ``MemberFate``.
    package static let memberPaths = 1_000
    /// How many elements of an array that are no documents are kept one by one. The others are kept as one array, except ids as
    /// long as those of the App Store.
    package static let otherElements = 1_000
    /// How many columns can be beside the documents of a record, each column counted once for each document.
    static func columnsBesideDocuments(ofRecord bytes: Int) -> Int { 100_000 + 4 * bytes }
    /// The same for a value inside a record. There each document has a copy of the columns, and counts as twelve more, because four
    /// bytes can be a document. A thousand purchases of 400 bytes can each have 300 columns of their user.
    static func columnsBesideDocuments(ofValue bytes: Int) -> Int { 20_000 + bytes / 4 * 3 }
    /// How many columns documents count as, with columns that are copied beside each.
    static func columns(beside documents: [InputDocument], _ columns: [CarriedColumn]) -> Int {
        documents.reduce(0) { $0 + 12 + columns.count + $1.carried.count }
    }
    /// The maximum bytes of the columns in all lines of a record. In a store, of the user and the columns that are kept beside it,
    /// for all purchases and unverified receipts of a record.
    package static let columnsInLines = 64 << 20
    /// The maximum depth of folders inside folders.
    package static let folderDepth = 128
    /// The maximum number of digits of a transaction id; the longest seen has 18 (Reference.md V7.5).
    package static let transactionIDDigits = 20
}
