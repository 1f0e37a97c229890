import AppStoreModels

/// Recognises one JSON object: something Apple or Unity wrote, or the caller's own object around it.
struct ObjectReader {
    struct Column {
        let name: String
        let member: JSONMember
    }

    let reader: RecordReader
    /// The text that `bytes` is (a part of).
    let text: ArraySlice<UInt8>
    let bytes: Bytes
    let depth: Int
    /// In the order of the text; of members with the same name only the last.
    let columns: [Column]

    /// Scans and validates the whole object.
    init(reader: RecordReader, text: ArraySlice<UInt8>, bytes: Bytes, depth: Int) throws(JSONReadingError) {
        self.reader = reader
        self.text = text
        self.bytes = bytes
        self.depth = depth
        var columns: [Column] = []
        columns.reserveCapacity(8)
        var scanner = try JSONMemberScanner(bytes)
        while let member = try scanner.next() {
            guard let key = member.key else { continue }
            columns.append(Column(name: scanner.text(key), member: member))
        }
        self.columns = Self.withoutDuplicates(columns)
    }

    private static func withoutDuplicates(_ columns: [Column]) -> [Column] {
        var last: [String: Int] = [:]
        if columns.count > 16 {
            last.reserveCapacity(columns.count)
            for (index, column) in columns.enumerated() { last[column.name] = index }
            return columns.enumerated().filter { last[$1.name] == $0 }.map(\.element)
        }
        func isLast(_ index: Int) -> Bool {
            for later in columns.indices.dropFirst(index + 1) where columns[later].name == columns[index].name {
                return false
            }
            return true
        }
        return columns.indices.allSatisfy(isLast) ? columns : columns.indices.filter(isLast).map { columns[$0] }
    }

    func column(_ name: String) -> Column? {
        columns.first { $0.name == name }
    }

    func kind(_ name: String) -> JSONKind? {
        column(name)?.member.kind
    }

    // MARK: Forms

    func read() throws(JSONReadingError) -> Recognition {
        if depth == 0, let wanted = reader.receiptColumn {
            // "receipt" is also a member of a reply, which is more than what that member holds.
            if let column = column(wanted), column.member.kind == .string || !isReply {
                return envelope(Candidate(column, value(of: column)))
            }
            if let known = try known() { return known }
            return Recognition(.unrecognised(InputProblem(.missingColumn, "The object has no member \(wanted).")))
        }
        if let known = try known() { return known }
        return try EnvelopeReader(object: self).read()
    }

    /// The forms that need no column: what Apple or Unity wrote as it is.
    private func known() throws(JSONReadingError) -> Recognition? {
        if kind("notification_type") == .string || kind("unified_receipt") == .object {
            return Recognition(
                .notification(try parsed()), carried: carried { !WireVocabulary.notification.contains($0.name) })
        }
        if let store = column("Store"), store.member.kind == .string, let payload = column("Payload") {
            return unity(store, payload)
        }
        return isReply ? try reply() : nil
    }

    private func unity(_ store: Column, _ payload: Column) -> Recognition {
        let carried = carried { !WireVocabulary.unity.contains($0.name) }
        let name = String(decoding: stringBytes(store), as: UTF8.self)
        if name.lowercased().contains("google") || name.lowercased().contains("amazon") {
            return Recognition(
                .unrecognised(InputProblem(.otherStore, "A purchase of another store than Apple's.")), carried: carried)
        }
        var recognised = value(of: payload).payload
        if case .receipt(let receipt, _) = recognised { recognised = .receipt(receipt, wrapping: .unity) }
        return Recognition(recognised, carried: carried)
    }

    // MARK: Replies

    /// Reference.md V2 to V4. A `status` alone could be anybody's, so then every other key has to be Apple's too.
    var isReply: Bool {
        for key in ["latest_receipt_info", "latest_expired_receipt_info", "pending_renewal_info"] {
            if let kind = kind(key), kind == .object || kind == .array { return true }
        }
        if let receipt = column("receipt") {
            if receipt.member.kind == .object { return isReceiptObject(receipt) }
            if receipt.member.kind == .array { return firstElementIsObject(receipt) }
            if receipt.member.kind == .string { return false }
        }
        return kind("status") == .number && columns.allSatisfy { WireVocabulary.reply.contains($0.name) }
    }

    private func isReceiptObject(_ column: Column) -> Bool {
        let slice = bytes[slice: column.member.value]
        do throws(JSONReadingError) {
            var scanner = try JSONMemberScanner(slice)
            var hasMark = false
            while let member = try scanner.next() {
                guard let key = member.key else { continue }
                let name = scanner.text(key)
                // A notification has `bid` too, and people keep it under any name.
                if WireVocabulary.notificationMarks.contains(name) { return false }
                hasMark = hasMark || WireVocabulary.receiptMarks.contains(name)
            }
            return hasMark
        } catch {}
        return false
    }

    private func firstElementIsObject(_ column: Column) -> Bool {
        let slice = bytes[slice: column.member.value]
        return slice.firstNonWhiteSpace(from: 1).map { slice[$0] == UInt8(ascii: "{") } ?? false
    }

    /// The reply; with the receipt that was sent beside it, if there is one, a pair.
    private func reply() throws(JSONReadingError) -> Recognition {
        let others = columns.filter {
            $0.member.kind == .string && ($0.name == "receipt" || !WireVocabulary.reply.contains($0.name))
        }
        let receipts = others.filter { ColumnNames.meaning(of: $0.name) == .receipt && receiptBytes(of: $0) != nil }
        let whole = try parsed()
        guard receipts.count == 1, let receipt = receiptBytes(of: receipts[0]), let object = whole.object else {
            return Recognition(.reply(whole), carried: carried { !WireVocabulary.reply.contains($0.name) })
        }
        let reply = JSONObject(members: object.members.filter { $0.key != receipts[0].name })
        return Recognition(
            .pair(receipt: receipt, reply: .object(reply)),
            carried: carried {
                $0.name != receipts[0].name && !WireVocabulary.reply.contains($0.name)
                    && !isSecret($0, beside: receipts[0])
            })
    }

    private func receiptBytes(of column: Column) -> ArraySlice<UInt8>? {
        if case .receipt(let bytes, _) = value(of: column).payload { bytes } else { nil }
    }

    /// A row of `latest_receipt_info` or an iOS 6 receipt object.
    var isRow: Bool {
        kind("product_id") == .string && (kind("transaction_id") == .string || kind("transaction_id") == .number)
    }

    /// Only the `receipt` of a reply; it is given as a reply that holds nothing else.
    var isBareReceiptObject: Bool {
        kind("in_app") == .array && (column("bundle_id") != nil || column("receipt_type") != nil)
    }

    // MARK: Values

    /// What the value of a member is.
    func value(of column: Column) -> Recognition {
        switch column.member.kind {
        case .string: reader.read(text: stringBytes(column), depth: depth + 1)
        case .object, .array: reader.read(text: slice(column.member.value), depth: depth + 1)
        case .number where StoredText.isTransactionID(bytes[slice: column.member.value]):
            Recognition(.transactionID(String(decoding: bytes[slice: column.member.value], as: UTF8.self)))
        case .null: Recognition(.unrecognised(InputProblem(.empty, "The column is null.")))
        case .number, .bool: Recognition(.unrecognised(InputProblem(.unknownForm, "The column holds no receipt.")))
        }
    }

    /// The string's bytes: a part of the record, or a copy when there are escapes to undo.
    func stringBytes(_ column: Column) -> ArraySlice<UInt8> {
        let content = column.member.content
        if column.member.hasEscapes { return JSONStringScan.unescaped(bytes[slice: content])[...] }
        return slice(content)
    }

    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        text[(text.startIndex + range.lowerBound)..<(text.startIndex + range.upperBound)]
    }

    func parsed() throws(JSONReadingError) -> JSONValue {
        try JSONValue.parse(bytes)
    }

    // MARK: Carried columns

    func carried(_ isOwn: (Column) -> Bool) -> [CarriedColumn] {
        columns.filter(isOwn).map { column in
            let value: CarriedColumn.Value
            if column.member.kind == .string {
                value = .text(String(decoding: stringBytes(column), as: UTF8.self))
            } else {
                value = .json(String(decoding: bytes[slice: column.member.value], as: UTF8.self))
            }
            return CarriedColumn(name: column.name, value: value)
        }
    }

    /// The shared secret of a request must not end up in an output file.
    func isSecret(_ column: Column, beside receipt: Column) -> Bool {
        column.name != receipt.name && WireVocabulary.request.contains(column.name)
    }

    func envelope(_ candidate: Candidate) -> Recognition {
        let chosen = candidate.column
        var payload = candidate.recognition.payload
        if chosen.name == "receipt-data", case .receipt(let bytes, .none) = payload {
            payload = .receipt(bytes, wrapping: .requestBody)
        }
        var carried = carried {
            $0.name != chosen.name && !(chosen.name == "receipt-data" && isSecret($0, beside: chosen))
        }
        carried += candidate.recognition.carried.map {
            CarriedColumn(name: chosen.name + "." + $0.name, value: $0.value)
        }
        return Recognition(payload, carried: carried)
    }

    /// A member and what its value was recognised as.
    struct Candidate {
        let column: Column
        let recognition: Recognition

        init(_ column: Column, _ recognition: Recognition) {
            self.column = column
            self.recognition = recognition
        }

        var receipt: ArraySlice<UInt8>? {
            if case .receipt(let bytes, _) = recognition.payload { bytes } else { nil }
        }

        var reply: JSONValue? {
            if case .reply(let reply) = recognition.payload { reply } else { nil }
        }
    }
}
