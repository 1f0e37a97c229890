import AppStoreModels

/// Finds the payload in the caller's own object: by the names of its members, then by what they hold.
struct EnvelopeReader {
    private typealias Column = ObjectReader.Column
    private typealias Candidate = ObjectReader.Candidate

    let object: ObjectReader

    func read() throws(JSONReadingError) -> Recognition {
        let named = object.columns.filter { ColumnNames.meaning(of: $0.name) == .receipt }
        let namedValues = named.map { Candidate($0, object.value(of: $0)) }
        let recognised = namedValues.filter(\.recognition.isRecognised)
        if !recognised.isEmpty { return resolve(recognised, others: unnamed(besides: named)) }

        let others = unnamed(besides: named)
        let strings = others.filter { $0.column.member.kind == .string }
        if !strings.isEmpty { return resolve(strings, others: others) }
        if object.isBareReceiptObject {
            let receipt = JSONObject(members: [.init(key: "receipt", value: try object.parsed())])
            return Recognition(.reply(.object(receipt)))
        }
        if object.isRow {
            return Recognition(
                .transactions(try object.parsed()),
                carried: object.carried { !WireVocabulary.row.contains($0.name) })
        }
        if !others.isEmpty { return resolve(others, others: []) }
        if let id = transactionID() { return object.envelope(id) }
        if let only = namedValues.first { return object.envelope(only) }
        return Recognition(
            .unrecognised(
                InputProblem(.unknownForm, "No member of the object holds anything in which purchases are stored.")))
    }

    /// Members whose value can be nothing but a payload, whatever they are called.
    private func unnamed(besides named: [Column]) -> [Candidate] {
        object.columns.compactMap { column in
            guard mayHoldPayload(column), !named.contains(where: { $0.name == column.name }) else { return nil }
            let candidate = Candidate(column, object.value(of: column))
            return candidate.recognition.isUnmistakable ? candidate : nil
        }
    }

    /// Looks at the first bytes only, so that an ordinary column costs nothing.
    private func mayHoldPayload(_ column: Column) -> Bool {
        switch column.member.kind {
        case .object, .array: return true
        case .string:
            let content = object.bytes[slice: column.member.content]
            guard content.count >= 16, let start = content.firstNonWhiteSpace() else { return false }
            let text = content[slice: start..<content.count]
            switch text[0] {
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: "-"), UInt8(ascii: "\\"):
                return true
            default: return StoredText.isUnmistakable(text)
            }
        case .null, .bool, .number: return false
        }
    }

    private func resolve(_ candidates: [Candidate], others: [Candidate]) -> Recognition {
        // One receipt in the caller's object, as nearly always.
        if candidates.count == 1, others.isEmpty { return object.envelope(candidates[0]) }
        let all = candidates + others.filter { other in !candidates.contains { $0.column.name == other.column.name } }
        if let pair = pair(candidates: candidates, all: all) { return pair }
        if let first = candidates.first, candidates.allSatisfy({ $0.recognition.payload == first.recognition.payload })
        {
            return object.envelope(first)
        }
        let names = candidates.prefix(8).map(\.column.name).joined(separator: ", ")
        return Recognition(
            .unrecognised(
                InputProblem(
                    .ambiguousColumns, "Several members hold different payloads (\(names)); name the one to use.")))
    }

    /// One receipt and one reply, at least one of them under a known name (or both found by content).
    private func pair(candidates: [Candidate], all: [Candidate]) -> Recognition? {
        let receipts = (candidates.contains { $0.receipt != nil } ? candidates : all).filter { $0.receipt != nil }
        let replies = (candidates.contains { $0.reply != nil } ? candidates : all).filter { $0.reply != nil }
        guard receipts.count == 1, replies.count == 1, let receipt = receipts[0].receipt, let reply = replies[0].reply
        else {
            return nil
        }
        let used = [receipts[0].column.name, replies[0].column.name]
        guard candidates.allSatisfy({ used.contains($0.column.name) }) else { return nil }
        return Recognition(
            .pair(receipt: receipt, reply: reply),
            carried: object.carried { !used.contains($0.name) && !object.isSecret($0, beside: receipts[0].column) })
    }

    /// The original id stands for the whole chain of a subscription, so it goes first.
    private func transactionID() -> Candidate? {
        for meaning in [ColumnNames.Meaning.originalTransactionID, .transactionID] {
            for column in object.columns where ColumnNames.meaning(of: column.name) == meaning {
                let candidate = Candidate(column, object.value(of: column))
                if case .transactionID = candidate.recognition.payload { return candidate }
            }
        }
        return nil
    }
}
