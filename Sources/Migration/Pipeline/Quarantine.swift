import AppStoreModels
package import AppStoreServer
internal import Encodings
package import LegacyReceipts
import Purchases

/// Why a record was not migrated.
struct QuarantineReason: Sendable {
    /// The code: of a ``ReceiptError``, a ``RecordedReplyError`` or an ``InputProblem``, or one of this file.
    let code: String
    /// `notAReceipt`, `notGenuine`, or `notMigrated` for a valid record that a rule or filter excluded.
    let verdict: String
    /// A sentence for a person.
    let message: String

    private init(_ code: String, _ verdict: String, _ message: String) {
        self.code = code
        self.verdict = verdict
        self.message = message
    }

    init(_ error: ReceiptError) {
        self.init(error.code.rawValue, error.verdict.rawValue, error.message)
    }

    init(_ error: RecordedReplyError) {
        self.init(error.code.rawValue, ReceiptError.Verdict.notAReceipt.rawValue, error.message)
    }

    init(_ problem: InputProblem) {
        self.init(problem.code.rawValue, ReceiptError.Verdict.notAReceipt.rawValue, problem.message)
    }

    /// - Parameters:
    ///   - error: why the JWS was rejected.
    ///   - name: the kind of JWS, as the subject of a sentence.
    init(_ error: SignedDataError, _ name: String) {
        let code = error.code.rawValue
        self.init(
            "jws" + code.prefix(1).uppercased() + code.dropFirst(), error.verdict.rawValue,
            "\(name) is not valid. \(error.message)")
    }

    static let otherToken = QuarantineReason(
        "jwsOtherToken", ReceiptError.Verdict.notAReceipt.rawValue,
        "The JWS is not from the App Store: its header has no certificates (x5c).")
    static let otherPayload = QuarantineReason(
        "jwsOtherPayload", ReceiptError.Verdict.notAReceipt.rawValue,
        "The payload of the JWS is not a transaction, renewal info, app transaction or notification of the App Store.")
    static func malformedStoreKit2JSON(_ detail: String) -> QuarantineReason {
        QuarantineReason(
            "malformedStoreKit2JSON", ReceiptError.Verdict.notAReceipt.rawValue,
            "The StoreKit 2 JSON has a value that cannot be read: \(detail).")
    }
    static let nothingInside = QuarantineReason(RecordedReplyError(.nothingInside))
    static let otherStore = QuarantineReason(RecordedReplyError(.otherStore))
    static let bareTransactionId = QuarantineReason(
        "bareTransactionId", "notMigrated",
        "The record is a bare transaction id: only the App Store Server API has the purchase.")
    static let unknownTransactionId = QuarantineReason(
        "unknownTransactionId", "notMigrated",
        "The record is a bare transaction id, and the App Store Server API does not know it for any of the queried apps."
    )
    static let recordedNotAccepted = QuarantineReason(
        "recordedNotAccepted", "notMigrated", "The record is an unsigned document, and --signed-only excludes it.")

    static let notFiled = QuarantineReason(
        "notFiled", "notMigrated",
        """
        A store files purchases by app and environment, and the document states no bundle id, no known environment, or no \
        usable transaction id for at least one of its purchases.
        """)

    /// The same with what a recorded document does not state.
    static func notFiled(of mapping: RecordedMapping) -> QuarantineReason {
        let rows = mapping.transactions.map(\.payload)
        var missing: [String] = []
        if mapping.lacksBundleId {
            missing.append("no bundle id (--bundle-id-column names a column with it, --default-bundle-id states it)")
        }
        if mapping.lacksEnvironment {
            missing.append(
                "no known environment (--environment-column names a column with it, --default-environment states it)")
        }
        if rows.contains(where: { !$0.hasDecimalIds }) {
            missing.append("no usable transaction id (they are decimal numbers)")
        }
        if missing.isEmpty, mapping.isWithoutPurchases, mapping.appTransaction?.payload.statesDownload == false {
            return QuarantineReason(
                "notFiled", "notMigrated",
                "The document states no purchase, and neither the date nor the version of the first download.")
        }
        guard !missing.isEmpty else { return .notFiled }
        return QuarantineReason(
            "notFiled", "notMigrated",
            """
            A store files purchases by app and environment, and the document states \(missing.joined(separator: ", and ")) \
            for at least one of its purchases.
            """)
    }

    static let contradictsSignedReceipt = QuarantineReason(
        "contradictsSignedReceipt", "notMigrated",
        "At least one row contradicts a receipt of the same record that Apple signed; these rows are not stored.")

    static func otherEnvironment(_ environment: String?) -> QuarantineReason {
        QuarantineReason(
            "otherEnvironment", "notMigrated",
            environment.map { "The record is from the environment \($0), which was not requested." }
                ?? "The record does not state its environment, and only certain environments were requested.")
    }

    static func otherBundleId(_ bundleId: String) -> QuarantineReason {
        QuarantineReason(
            "otherBundleId", "notMigrated",
            "The record is from the app \(bundleId), which was not requested.")
    }
}

extension InputRecord {
    /// Writes one line of `quarantine.ndjson`: the reason, the place, and the record's own bytes, as text if they are
    /// UTF-8, else as base64.
    ///
    /// - Parameters:
    ///   - reason: why it is quarantined.
    ///   - kind: the kind of the record.
    ///   - document: the document that is quarantined alone, because others of the record were migrated; nil for the
    ///     record.
    ///   - isMigrated: whether the record was migrated too, except for a document that has no meaning alone.
    ///   - roles: the roles that the caller gave to columns.
    ///   - writer: gets the line.
    func writeQuarantine(
        _ reason: QuarantineReason, kind: RecordKind, document: InputDocument? = nil, isMigrated: Bool = false,
        roles: ColumnRoles?, to writer: inout JSONWriter
    ) {
        let original = document.map { $0.original[...] } ?? self.original
        let length = document == nil ? self.length : original.count
        writer.beginObject()
        writer.member("reason", reason.code)
        writer.member("verdict", reason.verdict)
        writer.member("message", reason.message)
        writer.object("source") { writer in
            place.writeMembers(to: &writer)
            if place != .none { writer.member("byteOffset", place.byteOffset) }
            writer.member("length", length)
            var path = document.map { self.fullPath(of: $0) } ?? self.path
            if isMigrated, path.isEmpty { path = MemberPath.migrated }
            if !path.isEmpty { writer.member("path", path) }
            writer.member("kind", kind.rawValue)
            writer.member("sha256", Fingerprint(of: original).description)
        }
        writer.member("record", json: JSONWriter.carriedColumns(carried + (document?.carried ?? [])))
        if let roles, !roles.isEmpty { writer.object("roles") { roles.writeMembers(to: &$0) } }
        if document == nil, let table { writer.object("table") { table.writeMembers(to: &$0) } }
        if original.count < length { writer.member("originalIsCut", true) }
        if let text = String(validating: original, as: UTF8.self) {
            writer.member("original", text)
        } else {
            writer.member("originalBase64", Base64.encode(original))
        }
        writer.endObject()
        writer.newline()
    }

    /// The path of one of its documents. In a retry, the record can be a document that was quarantined alone, and then has
    /// a path too.
    private func fullPath(of document: InputDocument) -> String {
        let container = path == MemberPath.whole ? "" : path
        if document.path.isEmpty { return container.isEmpty ? MemberPath.whole : container }
        return container.isEmpty ? document.path : MemberPath.joined(container, document.path)
    }
}

extension RecordPlace {
    /// Writes `"input":…` and `"line"`, `"element"` or `"row"` into an object that is open.
    func writeMembers(to writer: inout JSONWriter) {
        guard self != .none else { return }
        writer.member("input", input)
        guard unit != .file else { return }
        writer.key(unit.rawValue)
        writer.integer(number)
    }
}

extension JSONWriter {
    /// The caller's own columns as a JSON object; empty if there are none.
    static func carriedColumns(_ columns: [CarriedColumn]) -> [UInt8] {
        guard !columns.isEmpty else { return [] }
        return JSONWriter.object { writer in
            for column in columns {
                writer.key(column.name)
                switch column.value {
                case .text(let text): writer.string(text)
                // Validated JSON has line breaks only between tokens, and an output line must not contain any.
                case .json(let json): writer.raw(json.utf8.filter { $0 != 0x0A && $0 != 0x0D })
                }
            }
        }
    }
}

extension SignedDataError {
    /// Whether the input is not a JWS of the App Store, or is one that is not genuine.
    package var verdict: ReceiptError.Verdict {
        switch code {
        case .tooLong, .notCompactSerialization, .invalidBase64, .malformedHeader, .malformedPayload: .notAReceipt
        default: .notGenuine
        }
    }
}
