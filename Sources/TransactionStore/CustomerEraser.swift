internal import AppStoreModels
internal import LegacyReceipts
public import Purchases

/// Removes customers, as privacy laws require. Every engine implements it.
public protocol CustomerEraser: Sendable {
    /// Removes everything about the customers with any of these identities, completely or not at all. The removal is
    /// durable when this method returns. It removes:
    ///
    /// - the statements about their transactions, subscriptions and app, and their receipts,
    /// - the ledger entries about their transactions, including those that a consumer has not read. Positions are not
    ///   reused, and no consumer gets an error,
    /// - requests for consumption information about them,
    /// - the App Store's answers that it does not know their transactions (``UnknownTransaction``),
    /// - the caller's users of their purchases (``UserClaim``), and the records of verified receipts,
    /// - processed notifications whose stored text contains one of their identities. Other notifications stay with
    ///   their id, type and date,
    /// - the given quarantined records. An engine cannot find out whose they are.
    ///
    /// Documents that arrive later are stored again.
    ///
    /// Rows that name one of the given identities are removed even if no customer has it, so a call can be repeated.
    /// - Parameters:
    ///   - identities: the identities, for example all of a `Customer`.
    ///   - scope: the app and the environment.
    ///   - quarantined: the keys of the quarantined records to remove.
    /// - Throws: ``TransactionStoreError``.
    func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]]
    ) async throws -> ErasedRows
}

/// The numbers of rows that ``CustomerEraser/erase(_:in:quarantined:)`` removed. A transaction has a row for each kind
/// of document that states it.
public struct ErasedRows: Hashable, Sendable {
    public var identities: Int64 = 0
    public var transactions: Int64 = 0
    public var renewalInfos: Int64 = 0
    public var appTransactions: Int64 = 0
    public var receipts: Int64 = 0
    public var notifications: Int64 = 0
    public var ledgerEntries: Int64 = 0
    public var consumptionTasks: Int64 = 0
    public var unknownTransactions: Int64 = 0
    public var userClaims: Int64 = 0
    public var verifiedReceipts: Int64 = 0
    public var quarantined: Int64 = 0

    public init() {}
}

/// Identities to look for in stored documents.
public struct MentionedIdentities: Sendable {
    /// In lower case, because an account token is the same in both cases.
    private let values: Set<[UInt8]>
    /// How many levels of nested JWS are decoded. Apple's notifications have one level.
    private static let depth = 3

    public init(_ identities: some Sequence<CustomerIdentity>) {
        values = Set(identities.map { $0.value.utf8.map(Self.lowercased) })
    }

    /// Whether the text of a document contains one of the identities as a word, also within a JWS. Takes time linear in
    /// the size of the text.
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

    /// Whether a byte can be part of an id, a UUID or a JWS.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
