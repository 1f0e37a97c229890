import AppStoreModels
import Purchases

/// Finds every document in one object or row. It tries the object itself, if Apple or Unity wrote it, then columns with
/// known names, then columns with recognizable contents. Decides the handling of each column.
struct EnvelopeReader {
    private typealias Column = ObjectReader.Column

    /// A column and its recognized value.
    private struct Candidate {
        let index: Int
        let recognition: Recognition
    }

    private let object: ObjectReader
    /// Whether it is the body of a verifyReceipt request. The shared secret in it must not get into an output file.
    private let isRequest: Bool
    /// The handling of each column; nil until it is decided.
    private var fates: [MemberFate?]
    /// The handling of members inside the values of columns.
    private var inner: [MemberPath] = []
    private var documents: [InputDocument] = []
    /// How many of them are JSON in a text.
    private var documentsInText = 0
    /// The caller's own members beside the documents that are left out.
    private var besideLeftOut: [CarriedColumn] = []
    /// Values of named columns that may be receipts, or other text in the same alphabet.
    private var weak: [Candidate] = []
    /// The first column with an object that has a transaction id and no document. It counts if there is nothing else.
    private var idInside: Candidate?
    /// The first named column without a recognizable value, and why.
    private var failure: (index: Int, recognition: Recognition)?
    /// The contents of columns with a meaning that were read but not settled. Reading a column twice would double the work with each
    /// wrapper inside it.
    private var contents: [Int: InputPayload] = [:]
    /// How many columns can still be copied beside documents; negative if there are too many.
    private var columnsLeft: Int

    init(object: ObjectReader) {
        self.object = object
        isRequest = object.column("receipt-data") != nil
        columnsLeft = InputLimits.columnsBesideDocuments(ofValue: object.bytes.count)
        fates = Array(repeating: nil, count: object.columns.count)
    }

    /// - Parameter wanted: the only columns to read; empty for all.
    mutating func read(only wanted: [String] = []) throws(JSONReadingError) -> Recognition {
        if !wanted.isEmpty {
            let named = Set(wanted.compactMap { name in object.columns.firstIndex { $0.name == name } })
            let found = named.filter { object.columns[$0].kind == .string || !object.isReply }
            // "receipt" is also a member of a reply; the reply then contains more than that member.
            let isReplyNamed = named.subtracting(found).contains {
                WireVocabulary.reply.contains(object.columns[$0].name)
            }
            if found.isEmpty || isReplyNamed, try !takeOwn(), found.isEmpty {
                let names = wanted.joined(separator: " and no member ")
                return .unrecognized(.missingColumn, "The object has no member \(names).")
            }
            for index in found.sorted() where fates[index] == nil { examine(index, isNamed: true) }
            leaveOutOthers()
            return finish()
        }
        if !object.hasKeysAsColumn { _ = try takeOwn() }
        for index in object.columns.indices where fates[index] == nil && contents[index] == nil {
            examine(index, isNamed: false)
        }
        if documents.isEmpty, weak.isEmpty, !object.isOfOtherStore, object.isRow {
            try take(WireVocabulary.row, .readAsRows, at: .receipt, InputPayload.transactions)
        }
        return finish()
    }

    /// Reads the members in which keys are a column, for an object without the named columns. Nil if nothing in them is read.
    mutating func readInKeys() -> Recognition? {
        let leading = object.columns.indices.filter {
            object.hasKeysAsColumn || object.reader.inside(object.columns[$0].name).leadsToKeys
        }
        for index in leading { examine(index, isNamed: false) }
        guard !documents.isEmpty || !weak.isEmpty || idInside != nil else { return nil }
        leaveOutOthers(than: Set(leading))
        return finish()
    }

    // MARK: The object itself

    /// Reads the object itself, if it is a document, and settles the handling of its own columns.
    private mutating func takeOwn() throws(JSONReadingError) -> Bool {
        if object.isNotification {
            try take(WireVocabulary.notification, .readAsNotification, at: .document, InputPayload.notification)
            return true
        }
        if let store = object.column("Store"), store.kind == .string,
            let payload = object.columns.firstIndex(where: { $0.name == "Payload" })
        {
            takeUnity(store, payload)
            return true
        }
        if object.isReply {
            try take(WireVocabulary.reply, .readAsReply, at: .document, InputPayload.reply)
            return true
        }
        if object.isBareReceiptObject {
            try take(WireVocabulary.appReceipt, .readAsReply, at: .receipt) { receipt in
                .reply(.object(JSONObject(members: [.init(key: "receipt", value: receipt)])))
            }
            return true
        }
        if let kind = object.storeKit2Kind {
            try take(kind.memberNames, .readAsStoreKit2JSON, at: nil) { value in
                .storeKit2(value.object ?? JSONObject(members: []), kind)
            }
            return true
        }
        return false
    }

    /// Reads the columns with these names as one document.
    ///
    /// - Parameters:
    ///   - names: the names of the columns.
    ///   - fate: how the summary counts them.
    ///   - place: where the reader of the document reads on; nil for StoreKit 2 JSON.
    ///   - payload: makes the document from the object of the columns.
    private mutating func take(
        _ names: Set<String>, _ fate: MemberFate, at place: PassedOverValues.Place?,
        _ payload: (JSONValue) -> InputPayload
    ) throws(JSONReadingError) {
        for (index, column) in object.columns.enumerated() where names.contains(column.name) {
            // The receipt of the request, beside the reply.
            switch (column.name, object.kind(column.name)) {
            case ("receipt", .string?), ("receipt-data", .string?), ("receipt-data", .object?),
                ("receipt-data", .array?):
                continue
            default: break
            }
            fates[index] = WireVocabulary.request.contains(column.name) ? .ignored : fate
        }
        let value = try object.parsed { fates[$0] == fate }
        documents.append(InputDocument(payload: payload(value), path: "", carried: [], text: []))
        if let place { addPassedOver(in: value, place) }
    }

    /// Adds the documents that stand in a place where Apple puts none. For example, the caller wrote a receipt into a row.
    private mutating func addPassedOver(in document: JSONValue, _ place: PassedOverValues.Place) {
        for value in PassedOverValues(in: document, place).values {
            let recognition = object.reader.inside(value.path).read(text: value.text[...], depth: object.depth + 1)
            guard recognition.isRecognized, recognition.isUnmistakable, !recognition.isWeak else {
                if value.text.withUnsafeBufferPointer({ DocumentTraces.arePresent(in: $0) }) {
                    inner.append(MemberPath(value.path, .looksLikeDocument))
                }
                continue
            }
            inner += recognition.membersOfRecord.map { $0.inside(value.path) }
            let found = recognition.payload.documents
            guard takeColumns(recognition.carried, beside: found) else { return }
            var inside = ColumnsOfContainer(value.path)
            let carried = inside(recognition.carried)
            documents += found.map { document in
                document.inside(value.path, beside: carried + inside(document.carried))
            }
        }
    }

    private mutating func takeUnity(_ store: Column, _ payload: Int) {
        for (index, column) in object.columns.enumerated() where WireVocabulary.unity.contains(column.name) {
            fates[index] = .ignored
        }
        let name = String(decoding: object.stringBytes(store), as: UTF8.self).lowercased()
        let column = object.columns[payload]
        if name.contains("google") || name.contains("amazon") || OtherStore.isStore(object.content(of: store)) {
            fates[payload] = .otherStore
            return documents.append(
                InputDocument(
                    payload: .unrecognized(Self.otherStore), path: "Payload", carried: [],
                    text: object.text(of: column)))
        }
        fates[payload] = nil
        examine(payload, isNamed: true)
    }

    // MARK: Columns

    /// Examines one column: whether it contains documents, and if not, whether it is copied to the output.
    private mutating func examine(_ index: Int, isNamed: Bool) {
        let column = object.columns[index]
        let isNamed = isNamed || column.meaning?.mayBeReceipt == true
        if isRequest, column.name != "receipt-data", WireVocabulary.request.contains(column.name) {
            fates[index] = .ignored
            return
        }
        guard isNamed || object.mayContainPayload(column) else { return }
        let recognition = object.value(of: column)
        guard recognition.isUnmistakable && (isNamed || !recognition.isWeak) || (isNamed && recognition.isRecognized)
        else {
            if column.meaning != nil { contents[index] = recognition.payload }
            let isID = column.kind != .number && !recognition.isWeak && recognition.payload.isTransactionID
            // The values of keys are like records: each id counts, and a damaged document is quarantined alone.
            if object.hasKeysAsColumn, isID || recognition.members.contains(where: { $0.fate == .notRecognized }) {
                return add(Candidate(index: index, recognition: recognition))
            }
            if object.hasKeysAsColumn, recognition.isWithoutColumn, hasContentElsewhere(column) {
                fates[index] = .looksLikeDocument
            }
            if isID, idInside == nil { idInside = Candidate(index: index, recognition: recognition) }
            if isNamed, failure == nil { failure = (index, recognition) }
            if isNamed, case .unrecognized(let problem) = recognition.payload, problem.code == .empty {
                fates[index] = .empty
            }
            return
        }
        // A text beside a row does not replace the row, unless what it contains is signed.
        if recognition.isInText, object.isRow, !recognition.payload.documents.contains(where: { $0.payload.isSigned }) {
            fates[index] = .looksLikeDocument
            return
        }
        if isNamed, recognition.isWeak {
            contents[index] = recognition.payload
            weak.append(Candidate(index: index, recognition: recognition))
        } else {
            add(Candidate(index: index, recognition: recognition))
        }
    }

    /// Whether a value without the named columns has a document, a row or an id in other ones.
    private func hasContentElsewhere(_ column: Column) -> Bool {
        let recognition = RecordReader().read(text: object.text(of: column), depth: object.depth + 1)
        return recognition.isRecognized && !recognition.isWeak
    }

    private mutating func add(_ candidate: Candidate) {
        let column = object.columns[candidate.index]
        let recognition = candidate.recognition
        let name = MemberPath.bounded(column.name)
        if recognition.members.isEmpty {
            fates[candidate.index] = recognition.payload.fate
        } else {
            let container = memberName(of: column)
            inner += recognition.members.map { $0.inside(container) }
            fates[candidate.index] = .some(.readAsReceipt)
            settledInside.insert(candidate.index)
        }
        var inside = ColumnsOfContainer(column.name)
        var carried = inside(recognition.carried)
        if object.hasKeysAsColumn {
            if documents.isEmpty { inner.append(MemberPath(RecordReader.keys, .carriedAlong)) }
            carried.append(CarriedColumn(name: RecordReader.keys, value: .text(column.name)))
        }
        let count = documents.count
        defer { if recognition.isInText { documentsInText += documents.count - count } }
        // The same receipt under two names counts once, unless columns beside it may name another user.
        if documents.count < 16, carried.isEmpty,
            documents.contains(where: { $0.payload.isReceipt && $0.payload == recognition.payload })
        {
            return
        }
        var found = recognition.payload.documents
        if !recognition.isRecognized {
            let text = object.text(of: column)
            found = [InputDocument(payload: recognition.payload, path: "", carried: [], text: text)]
        }
        guard takeColumns(carried, beside: found) else { return }
        documents += found.map { document in
            document.inside(name, beside: carried + inside(document.carried))
        }
    }

    /// Whether columns can be copied beside each of some documents.
    private mutating func takeColumns(_ columns: [CarriedColumn], beside found: [InputDocument]) -> Bool {
        columnsLeft -= InputLimits.columns(beside: found, columns)
        return columnsLeft >= 0
    }

    /// Whether there are too many documents with columns beside them.
    private func isOverfull(_ columns: [CarriedColumn]) -> Bool {
        guard columnsLeft >= 0 else { return true }
        let limit =
            object.depth == 0
            ? InputLimits.columnsBesideDocuments(ofRecord: object.bytes.count)
            : InputLimits.columnsBesideDocuments(ofValue: object.bytes.count)
        return documents.count > 1 && documents.count * columns.count > limit
    }

    /// The name of a column in the paths of members. Keys of the caller's own are no names.
    private func memberName(of column: Column) -> String {
        object.hasKeysAsColumn ? RecordReader.keys : MemberPath.bounded(column.name)
    }

    /// Columns whose members are handled one by one.
    private var settledInside: Set<Int> = []

    /// Omits documents in other columns than the requested one.
    ///
    /// - Parameter examined: the indices of columns that were examined.
    private mutating func leaveOutOthers(than examined: Set<Int> = []) {
        for (index, column) in object.columns.enumerated() where fates[index] == nil && !examined.contains(index) {
            if weak.contains(where: { $0.index == index }) || failure?.index == index { continue }
            if isRequest, column.name == "password" {
                fates[index] = .ignored
            } else if object.mayContainPayload(column) {
                let recognition = object.value(of: column)
                guard recognition.isUnmistakable else { continue }
                fates[index] = .leftOut
                besideLeftOut += recognition.carried.map { $0.inside(column.name) }
            }
        }
    }

    // MARK: The result

    private static let otherStore = InputProblem(.otherStore, "A purchase from a store other than Apple's.")

    private mutating func finish() -> Recognition {
        var payload: InputPayload
        let otherStore = object.otherStoreMembers
        let isOfOtherStore = otherStore.nameOtherStore
        if !isOfOtherStore { settleWeak() }
        if isOfOtherStore {
            setAsideUnsigned()
            payload = .unrecognized(Self.otherStore)
        } else if documents.isEmpty, let id = transactionID() {
            payload = id
        } else if documents.isEmpty, otherStore.mayBeOfOtherStore {
            payload = .unrecognized(Self.otherStore)
        } else if documents.isEmpty, let idInside {
            add(idInside)
            payload = idInside.recognition.payload
        } else if let failure {
            if fates[failure.index] == nil { fates[failure.index] = documents.isEmpty ? .notRecognized : nil }
            payload = failure.recognition.payload
        } else {
            payload = .unrecognized(
                InputProblem(.unknownForm, "No member of the object contains a document with purchases."))
        }
        var carried = self.carried() + besideLeftOut
        guard !isOverfull(carried) else {
            return Recognition(.unrecognized(.tooManyColumns), carried: carried, members: members())
        }
        if documents.count == 1 {
            payload = documents[0].payload
            carried += documents[0].carried
        } else if documents.count > 1 {
            payload = .several(documents)
        }
        var recognition = Recognition(payload, carried: carried, members: members())
        recognition.isInText = !documents.isEmpty && documentsInText == documents.count
        return recognition
    }

    /// A weak candidate counts if there is nothing better, or if it is as long as a receipt.
    private mutating func settleWeak() {
        guard !weak.isEmpty else { return }
        let isAlone = documents.isEmpty
        let hasReceipt = weak.contains { $0.recognition.payload.isReceipt }
        for candidate in weak {
            // The first id counts, and only if there is no receipt.
            let counts =
                candidate.recognition.payload.isReceipt
                ? isAlone || object.content(of: object.columns[candidate.index]).count >= 256
                : isAlone && !hasReceipt && documents.isEmpty
            if counts { add(candidate) }
        }
    }

    /// For a purchase from another store, reads only documents that Apple signed.
    private mutating func setAsideUnsigned() {
        func setAside(_ fate: MemberFate) -> MemberFate {
            switch fate {
            case .readAsReply, .readAsRows, .readAsNotification, .readAsTransactionId, .readAsStoreKit2JSON:
                .otherStore
            default: fate
            }
        }
        fates = fates.map { $0.map(setAside) }
        inner = inner.map { MemberPath($0.path, setAside($0.fate)) }
        guard documents.contains(where: { $0.payload.isSigned }) else {
            documents = []
            return
        }
        documents = documents.map { document in
            guard !document.payload.isSigned else { return document }
            return InputDocument(
                payload: .unrecognized(Self.otherStore), path: document.path, carried: document.carried,
                text: document.original[...])
        }
    }

    /// The original id identifies the whole subscription, so it comes first.
    private mutating func transactionID() -> InputPayload? {
        for meaning in [ColumnNames.Meaning.originalTransactionID, .transactionID] {
            for (index, column) in object.columns.enumerated() where column.meaning == meaning {
                let payload = contents[index] ?? object.value(of: column).payload
                if case .transactionID = payload {
                    fates[index] = .readAsTransactionId
                    return payload
                }
            }
        }
        return nil
    }

    /// The columns that are copied to the output.
    private mutating func carried() -> [CarriedColumn] {
        // The values of other keys have nothing to do with a document.
        if object.hasKeysAsColumn { return [] }
        var columns: [CarriedColumn] = []
        columns.reserveCapacity(object.columns.count)
        for (index, column) in object.columns.enumerated() {
            switch fates[index] {
            case nil, .carriedAlong?, .looksLikeDocument?: break
            // Beside a document, an empty column is the caller's own. Without one, it is the reason.
            case .empty? where !documents.isEmpty: break
            default: continue
            }
            if let carried = object.carried(column) {
                columns.append(carried)
            } else {
                columns.append(object.carriedAsBase64(column))
                if fates[index] == nil { fates[index] = .carriedAsBase64 }
            }
        }
        return columns
    }

    private func members() -> [MemberPath] {
        var members: [MemberPath] = []
        members.reserveCapacity(object.columns.count + object.replaced.count + inner.count)
        for (index, column) in object.columns.enumerated() where !settledInside.contains(index) {
            var fate = fates[index] ?? (object.hasKeysAsColumn ? .ignored : .carriedAlong)
            let isOpen = fates[index] == nil || fate == .carriedAsBase64
            if isOpen, DocumentTraces.arePresent(in: object.content(of: column)) { fate = .looksLikeDocument }
            members.append(MemberPath(memberName(of: column), fate))
        }
        for column in object.replaced {
            let containsTraces = DocumentTraces.arePresent(in: object.content(of: column))
            members.append(MemberPath(memberName(of: column), containsTraces ? .looksLikeDocument : .ignored))
        }
        members += inner
        guard members.count > InputLimits.memberPaths else { return members }
        let rest = members.dropFirst(InputLimits.memberPaths).map { MemberPath("(other)", $0.fate) }
        return Array(members.prefix(InputLimits.memberPaths)) + rest
    }
}
