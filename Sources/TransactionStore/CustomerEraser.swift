internal import AppStoreModels
internal import LegacyReceipts
public import Purchases

/// Removes customers, as laws on personal data demand. Every engine implements it.
public protocol CustomerEraser: Sendable {
    /// Removes everything about the customers with any of these identities, or nothing; durable when it returns:
    ///
    /// - the statements about their transactions, subscriptions and app, and their receipts,
    /// - the entries of the ledger about their transactions, also those that a consumer has not read. Positions are not used
    ///   again, and no consumer gets an error,
    /// - requests for consumption information about them,
    /// - the caller's users of their purchases (``UserClaim``), and which receipts were verified,
    /// - processed notifications whose text names one of their identities. Of other notifications, the store keeps only the id,
    ///   the type and the date,
    /// - the given quarantined records, of which no engine can say whose they are.
    ///
    /// Documents that come later are stored again.
    ///
    /// What is about no known customer but names one of the given identities is removed too, so a call can be repeated.
    /// - Parameters:
    ///   - identities: the identities, for example all of a `Customer`.
    ///   - scope: the app and the environment.
    ///   - quarantined: keys of quarantined records.
    /// - Throws: ``TransactionStoreError``.
    func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]]
    ) async throws -> ErasedRows
}

/// The numbers of rows that ``CustomerEraser/erase(_:in:quarantined:)`` removed. A transaction that several kinds of documents state has a
/// row for each.
public struct ErasedRows: Hashable, Sendable {
    public var identities: Int64 = 0
    public var transactions: Int64 = 0
    public var renewalInfos: Int64 = 0
    public var appTransactions: Int64 = 0
    public var receipts: Int64 = 0
    public var notifications: Int64 = 0
    public var ledgerEntries: Int64 = 0
    public var consumptionTasks: Int64 = 0
    public var userClaims: Int64 = 0
    public var verifiedReceipts: Int64 = 0
    public var quarantined: Int64 = 0

    public init() {}
}

/// Identities to look for in stored documents.
public struct MentionedIdentities: Sendable {
    /// In lower case: an account token is the same in either.
    private let values: Set<[UInt8]>
    /// How many JWS within one another are opened. Apple's notifications have one level.
    private static let depth = 3

    public init(_ identities: some Sequence<CustomerIdentity>) {
        values = Set(identities.map { $0.value.utf8.map(Self.lowercased) })
    }

    /// Whether the text of a document has one of the identities as a word, also within a JWS. Linear in the size of the text.
    public func areNamed(in document: [UInt8]) -> Bool { areNamed(in: document, depth: Self.depth) }

    private func areNamed(in document: [UInt8], depth: Int) -> Bool {
        document.split { !Self.isOfWord($0) }.contains { word in
            if values.contains(word.map(Self.lowercased)) { return true }
            let parts = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard depth > 0, parts.count == 3,
                let payload = try? Base64.decodeLeniently(Array(parts[1]).span)
            else { return false }
            return areNamed(in: payload, depth: depth - 1)
        }
    }

    /// The characters of ids, of UUIDs and of a JWS.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
