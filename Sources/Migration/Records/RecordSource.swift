/// One input.
package enum InputArgument: Sendable, Equatable {
    /// A file, or a folder whose files are read.
    case path(String)
    case standardInput
    /// Bytes in memory, with a name.
    case bytes([UInt8], name: String)
    /// The rows of a query on a database.
    case query(DatabaseQuery)

    /// "-" is standard input.
    package init(_ argument: String) {
        self = argument == "-" ? .standardInput : .path(argument)
    }

    /// The same input after the last row that an earlier run read, for a run that can be resumed.
    func continued(after position: QueryPosition?) -> InputArgument {
        guard case .query(var query) = self else { return self }
        query.position = position
        query.keepsPositions = true
        return .query(query)
    }

    /// The path of a file or folder.
    var path: String? {
        if case .path(let path) = self { path } else { nil }
    }
}

/// The progress of reading.
package struct InputStatistics: Sendable, Equatable {
    /// The number of files, pipes and so on that were opened; folders do not count.
    package var inputs = 0
    /// The number of bytes read.
    package var bytes = 0
    package var records = 0
    /// The number of empty lines and rows, which are not records.
    package var blankLines = 0
    /// The number of rows of SQL dumps and phpMyAdmin exports that are not records: their tables have no column for receipts, and
    /// they have no document.
    package var rowsOfOtherTables = 0
    /// The number of inputs without any record.
    package var emptyInputs = 0
    /// The number of inputs that are one JSON object, too long for a record, whose members are records.
    package var dividedInputs = 0
    /// The number of compressed inputs, whose files have fewer bytes than were read.
    package var compressedInputs = 0

    package init() {}
}

/// Splits inputs into batches of records, in the order of the arguments. Its memory is bounded for inputs of any size. Only one
/// thread can use it; the batches can be processed on other threads.
package final class RecordSource {
    package private(set) var statistics = InputStatistics()
    private let options: InputOptions
    private let chunkSize: Int
    private let arguments: [InputArgument]
    private var nextArgument = 0
    private var folder: FolderWalk?
    private var current: OpenInput?
    private var pendingError: InputError?
    private var areFirstFilesChecked = false
    /// The first dump or export in which no table has the column of the receipts. In a folder with a file for each table, it can be
    /// in another one.
    private(set) var columnNotFound: InputError?
    /// Whether the caller reads other sources beside this one, which may have the column.
    var isOneOfSeveral = false
    /// The tables that the dumps of the folder define so far. Other inputs may be of another database.
    private var tables: DumpFramer.Tables = ([:], 0)
    /// The query that was opened last.
    private(set) var query: QueryStream?

    /// - Parameters:
    ///   - arguments: the inputs, in the order in which they are read.
    ///   - options: how the inputs are read.
    ///   - chunkSize: bytes per read. It does not affect the records.
    package init(
        _ arguments: [InputArgument], options: InputOptions = InputOptions(), chunkSize: Int = InputLimits.chunkSize
    ) {
        self.arguments = arguments
        self.options = options
        self.chunkSize = chunkSize
    }

    /// The next records, or nil when everything has been read.
    ///
    /// An unreadable file is a record with the problem ``InputProblem/Code/unreadable``.
    ///
    /// - Throws: ``InputError`` if standard input cannot be read, or the layout of an input cannot be detected. The records before
    ///   it have been returned. The next call continues with the next input.
    package func nextBatch() throws(InputError) -> InputBatch? {
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        var batch = BatchBuilder(options.reader)
        do throws(InputError) {
            try fill(&batch)
        } catch {
            closeInput()
            if batch.isEmpty { throw error }
            pendingError = error
        }
        return batch.isEmpty ? nil : batch.finish()
    }

    private func fill(_ batch: inout BatchBuilder) throws(InputError) {
        if let current { batch.begin(current.framer.context ?? current.context) }
        while !batch.isFull, options.maximumRecords.map({ statistics.records < $0 }) ?? true {
            guard let input = current else {
                switch try openNext() {
                case .input(let opened)?:
                    current = opened
                    batch.begin(opened.context)
                case .unreadable(let error)?: append(error, to: &batch)
                case nil:
                    guard statistics.records == 0, !isOneOfSeveral, let error = columnNotFound else { return }
                    columnNotFound = nil
                    throw error
                }
                continue
            }
            var hasRecord = false
            do throws(InputError) {
                hasRecord = try input.framer.next(from: input.buffer, into: &batch)
                if !hasRecord, let failure = input.buffer.failure { throw failure }
            } catch {
                guard input.isFile, error.concernsOneEntry else { throw error }
                append(error, at: input.buffer.offset, to: &batch)
            }
            if hasRecord {
                statistics.records += 1
                input.records += 1
            } else {
                closeInput()
            }
            statistics.bytes += input.buffer.offset - input.reported
            input.reported = input.buffer.offset
        }
    }

    /// Adds a record for an unreadable file.
    private func append(_ error: InputError, at offset: Int = 0, to batch: inout BatchBuilder) {
        batch.append(unreadable: error, at: offset)
        statistics.records += 1
    }

    private func closeInput() {
        guard let input = current else { return }
        current = nil
        statistics.blankLines += input.framer.blankLines
        statistics.rowsOfOtherTables += input.framer.rowsOfOtherTables
        if let dump = input.framer as? DumpFramer {
            tables = dump.tables
            columnNotFound = columnNotFound ?? dump.columnNotFound
        } else if let json = input.framer as? JSONFramer {
            columnNotFound = columnNotFound ?? json.columnNotFound
        }
        if input.records == 0 { statistics.emptyInputs += 1 }
    }

    private enum Opened {
        case input(OpenInput)
        /// An unreadable file, or part of a folder.
        case unreadable(InputError)
    }

    private func openNext() throws(InputError) -> Opened? {
        while true {
            switch folder?.next() {
            case .file(let path)?:
                try checkFirstFiles(from: path)
                do throws(InputError) {
                    return .input(try open(path))
                } catch {
                    guard error.concernsOneEntry else { throw error }
                    return .unreadable(error)
                }
            case .unreadable(let error)?: return .unreadable(error)
            case nil: folder = nil
            }
            guard nextArgument < arguments.count else { return nil }
            nextArgument += 1
            tables = ([:], 0)
            switch arguments[nextArgument - 1] {
            case .standardInput:
                return .input(try open(FileStream(descriptor: 0, name: "-"), name: "-"))
            case .bytes(let bytes, let name):
                return .input(try open(MemoryStream(bytes), name: name))
            case .query(let query): return .input(try open(query))
            case .path(let path):
                do throws(InputError) {
                    guard try SystemCalls.status(path).kind == .folder else {
                        try checkFirstFiles(from: path)
                        return .input(try open(path))
                    }
                    folder = try FolderWalk(root: path)
                } catch {
                    // It is one of several inputs, or has disappeared since the migration began.
                    guard error.concernsOneEntry else { throw error }
                    return .unreadable(error)
                }
            }
        }
    }

    /// Stops if the first files are JSON objects, one in each file, and none has a column that the caller names for receipts.
    /// As in NDJSON, one object alone may be incomplete. Objects without any document prove nothing.
    /// - Parameter first: the first file. The others are those that will be read after it.
    private func checkFirstFiles(from first: String) throws(InputError) {
        guard !areFirstFilesChecked else { return }
        areFirstFilesChecked = true
        guard !options.receiptColumns.isEmpty, !options.columnsAppearLater else { return }
        var (walk, argument) = (folder, nextArgument)
        var (path, count) = (Optional(first), 0)
        var names: [String]?
        var isDocumentElsewhere = false
        while let file = path, count < InputLimits.detectionRows {
            guard let object = ObjectWithoutColumns(file, options) else { return }
            count += 1
            names = names ?? object.names
            isDocumentElsewhere = isDocumentElsewhere || object.hasDocument
            switch walk?.next() {
            case .file(let next)?: path = next
            case .unreadable?: return
            case nil:
                walk = nil
                path = nil
                guard argument < arguments.count else { continue }
                // A later folder is not listed in advance.
                guard let next = arguments[argument].path, (try? SystemCalls.status(next))?.kind == .file else {
                    return
                }
                path = next
                argument += 1
            }
        }
        // Another source may have the column.
        guard let names, count > 1, isDocumentElsewhere, !isOneOfSeveral || count == InputLimits.detectionRows else {
            return
        }
        // The rest is not read either.
        (folder, nextArgument) = (nil, arguments.count)
        let missing = options.receiptColumns.joined(separator: " and no member ")
        throw InputError(
            code: .columnNotFound, input: first,
            message: """
                None of the first \(count) files has a member \(missing). The members of \(first) are: \
                \(TableDetector.list(names)). If the member first appears in a later file, add --columns-appear-later.
                """)
    }

    private func open(_ path: String) throws(InputError) -> OpenInput {
        let input = try open(FileStream(path: path, name: path), name: path)
        input.isFile = true
        return input
    }

    private func open(_ query: DatabaseQuery) throws(InputError) -> OpenInput {
        statistics.inputs += 1
        let name = query.database.name
        let stream = try QueryStream(query)
        self.query = stream
        let recordsBefore = (query.position?.row ?? 1) - 1
        let buffer = InputBuffer(
            stream, chunkSize: chunkSize, offset: query.position.map { $0.end - stream.headerLength } ?? 0)
        try buffer.fill(upTo: query.position == nil ? InputLimits.detectionWindow : stream.headerLength)
        var layout = TableLayout(dialect: QueryStream.dialect, columns: stream.columns)
        // Too few rows may follow a position to detect columns. The first run checked them.
        if query.position == nil {
            let head = Bytes(rebasing: buffer.window.prefix(InputLimits.detectionWindow))
            let detector = TableDetector(
                input: name, receiptColumns: options.receiptColumns, otherColumns: options.otherColumns,
                options: TableOptions(
                    dialect: layout.dialect.escape, delimiter: Unicode.Scalar(layout.dialect.delimiter)),
                isCertain: true)
            guard let table = try detector.detect(head, isWhole: buffer.isAtEnd) else {
                throw InputError(code: .noHeader, input: name, message: "The query has no columns.")
            }
            layout = table.layout
        }
        let table = TableDetector.Table(
            layout: layout, headerLength: stream.headerLength, headerRows: 1 + recordsBefore)
        statistics.records += recordsBefore
        let input = OpenInput(
            name: name, buffer: buffer, framing: .table(table), limit: options.maximumRecordSize,
            reader: options.reader)
        input.framer = TableFramer(
            limit: options.maximumRecordSize, dialect: layout.dialect, number: 1 + recordsBefore,
            keepsBlankRows: true)
        input.records = recordsBefore
        return input
    }

    private func open(_ stream: any ByteStream, name: String) throws(InputError) -> OpenInput {
        statistics.inputs += 1
        let (stream, compression) = try CompressedStream.unwrapping(stream, name: name)
        if compression != nil { statistics.compressedInputs += 1 }
        let buffer = InputBuffer(stream, chunkSize: chunkSize)
        // One byte more than the window (and a byte order mark) shows whether more follows.
        try buffer.fill(upTo: InputLimits.detectionWindow + 4)
        if buffer.window.starts(with: [0xEF, 0xBB, 0xBF]) { buffer.consume(3) }
        let isWhole = buffer.count <= InputLimits.detectionWindow
        var head: Bytes { Bytes(rebasing: buffer.window.prefix(InputLimits.detectionWindow)) }
        var beginning: Bytes?
        // Members after a long array show whether its object is the caller's own record.
        if !isWhole, JSONList(exportIn: head) != nil {
            try buffer.fill(upTo: options.maximumRecordSize)
            let length = max(InputLimits.detectionWindow, options.maximumRecordSize)
            beginning = Bytes(rebasing: buffer.window.prefix(length))
        }
        var contentName = name
        if let suffix = compression?.rawValue, name.hasSuffix(suffix) { contentName.removeLast(suffix.count) }
        let detector = FormatDetector(
            input: contentName, options: options, head: head, beginning: beginning ?? head, isWhole: isWhole)
        if let advice = FormatDetector.databaseAdvice(head, of: contentName) {
            throw InputError(code: .unreadable, input: name, message: advice)
        }
        if options.format != .file, detector.endsLinesWithCarriageReturns { buffer.replaceCarriageReturns() }
        var framing = try detector.detect()
        if let parts = try divided(buffer, framing) {
            if case .jsonSequence = parts { statistics.dividedInputs += 1 }
            framing = parts
        }
        return OpenInput(
            name: name, buffer: buffer, framing: framing, limit: options.maximumRecordSize, reader: options.reader,
            tables: tables)
    }

    /// The framing of an input that seems to be one record, and is a JSON object that is too long for one: its members are
    /// records, or the elements of its array. Nil for other inputs.
    private func divided(_ buffer: InputBuffer, _ framing: InputFraming) throws(InputError) -> InputFraming? {
        guard options.format == .auto || options.format == .json, let start = buffer.window.firstNonWhiteSpace(),
            buffer.window[start] == UInt8(ascii: "{")
        else { return nil }
        let limit = options.maximumRecordSize
        var isLine = false
        switch framing {
        case .file: break
        case .lines: isLine = true
        case .jsonElements, .jsonSequence, .jsonList, .jsonTables, .table, .dump: return nil
        }
        func beginning() -> Bytes { buffer.window[slice: start..<min(buffer.count, start + limit)] }
        // Lines are not read ahead.
        if isLine, beginning().position(of: 0x0A) != nil { return nil }
        try buffer.fill(upTo: start + limit + 1)
        let bytes = beginning()
        guard buffer.count > start + limit, !isLine || bytes.position(of: 0x0A) == nil else { return nil }
        if let list = JSONList(inLongObject: buffer.window[slice: 0..<(start + limit)]) { return .jsonList(list) }
        var division = ObjectDivision(options.reader)
        let entered = division.enter(JSONMemberEnd(first: UInt8(ascii: "{"), isNamed: false), of: bytes)
        return entered == nil ? nil : .jsonSequence
    }
}

/// An input that is being read.
private final class OpenInput {
    let buffer: InputBuffer
    let context: FrameContext
    var framer: any RecordFramer
    var records = 0
    var reported = 0
    /// Whether it is a file. If it cannot be read, the others still are.
    var isFile = false

    init(
        name: String, buffer: InputBuffer, framing: InputFraming, limit: Int, reader: RecordReader,
        tables: DumpFramer.Tables = ([:], 0)
    ) {
        self.buffer = buffer
        switch framing {
        case .file:
            framer = FileFramer(limit: limit)
            context = FrameContext(input: name, unit: .file, table: nil)
        case .lines(let joins):
            framer = LineFramer(limit: limit, joinsWrappedReceipts: joins)
            context = FrameContext(input: name, unit: .line, table: nil)
        case .jsonElements, .jsonSequence:
            let isArray = if case .jsonElements = framing { true } else { false }
            framer = JSONFramer(limit: limit, entersArrays: isArray, reader: reader)
            context = FrameContext(input: name, unit: .element, table: nil)
        case .jsonList(let list):
            buffer.consume(list.headerLength)
            framer = JSONFramer(limit: limit, entersArrays: false, list: list, reader: reader)
            context = FrameContext(input: name, unit: .element, table: nil)
        case .jsonTables(let tables):
            framer = JSONFramer(limit: limit, entersArrays: true, tables: tables, reader: reader)
            context = FrameContext(input: name, unit: .element, table: nil)
        case .dump(let dialect):
            framer = DumpFramer(
                input: name, dialect: dialect, receiptColumns: reader.receiptColumns, limit: limit, tables: tables)
            context = FrameContext(input: name, unit: .line, table: nil)
        case .table(let table):
            buffer.consume(table.headerLength)
            framer = TableFramer(
                limit: limit, dialect: table.layout.dialect, number: table.headerRows,
                header: RepeatedHeader(input: name, table: table.layout))
            context = FrameContext(input: name, unit: .row, table: table.layout)
        }
    }
}
