internal import AppStoreModels
internal import Encodings
public import Purchases

/// Removes customers, as privacy laws require. Every engine implements it.
public protocol CustomerEraser: Sendable {
    /// Removes everything about the customers with any of these identities, completely or not at all. The removal is
    /// durable when this method returns. It removes:
    ///
    /// - the statements about their transactions, subscriptions and app, and their receipts,
    /// - the ledger entries about their transactions, including those that a consumer has not read. Positions are not
    ///   reused, and no consumer gets an error. A signed document can state a transaction under another original transaction
    ///   id too. If the purchase with that id is not erased, the entries about the transaction stay, without
    ///   ``EarlierPurchases``, and belong to that purchase,
    /// - requests for consumption information about them,
    /// - the App Store's answers that it does not know their transactions (``UnknownTransaction``),
    /// - the caller's users of their purchases (``UserClaim``), and the records of verified receipts,
    /// - processed notifications whose stored text contains one of their identities. Other notifications stay with
    ///   their id, type and date,
    /// - the given quarantined records. An engine cannot find out whose they are.
    ///
    /// Without hashes, documents that arrive later are stored again. With hashes, every later write leaves out what is about
    /// the erased identities (``ErasedIdentities``), and counts it in ``AppliedFacts/erased``.
    ///
    /// Rows that name one of the given identities are removed even if no customer has it, so a call can be repeated.
    /// - Parameters:
    ///   - identities: the identities, for example all of a `Customer`.
    ///   - scope: the app and the environment.
    ///   - quarantined: the keys of the quarantined records to remove.
    ///   - leavingHashes: whether a ``LeftHash`` stays of each identity of the customers, and of each given one, whose kind
    ///     leaves one. The secret is one that the store has, or a new one.
    /// - Throws: ``TransactionStoreError``.
    func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows

    /// The current result of ``erase(_:in:quarantined:leavingHashes:)`` with the same arguments. The call changes nothing.
    ///
    /// An engine runs the same removal in a database transaction and takes it back, so the two agree.
    /// - Throws: ``TransactionStoreError``.
    func rowsToErase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]], leavingHashes: Bool
    ) async throws -> ErasedRows

    /// Removes the hashes that erasures left of these identities, and returns their number. Documents about the
    /// identities are stored again.
    /// - Throws: ``TransactionStoreError``.
    func removeLeftHashes(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> Int64
}

extension CustomerEraser {
    /// Removes customers without leaving hashes; see ``erase(_:in:quarantined:leavingHashes:)``.
    public func erase(
        _ identities: [CustomerIdentity], in scope: StoreScope, quarantined: [[UInt8]]
    ) async throws -> ErasedRows {
        try await erase(identities, in: scope, quarantined: quarantined, leavingHashes: false)
    }
}

/// The numbers of rows that ``CustomerEraser/erase(_:in:quarantined:leavingHashes:)`` removed. A transaction has a row
/// for each kind of document that states it.
public struct ErasedRows: Hashable, Sendable {
    /// All identities of the erased customers. A given identity that no customer has does not count.
    public var identities: Int64 = 0
    /// One for each transaction and kind of document.
    public var transactions: Int64 = 0
    /// One for each subscription and kind of document.
    public var renewalInfos: Int64 = 0
    /// One for each customer and kind of document.
    public var appTransactions: Int64 = 0
    /// The newest app receipt and the newest transaction receipt (iOS 6) of each customer.
    public var receipts: Int64 = 0
    /// Notifications whose stored text contains one of the identities. They count as new if they arrive again.
    public var notifications: Int64 = 0
    /// Entries about transactions of the purchases. Those that stay for a purchase that is not erased do not count.
    public var ledgerEntries: Int64 = 0
    /// Requests for consumption information about the purchases, open or closed.
    public var consumptionTasks: Int64 = 0
    /// The App Store's answers that it does not know a transaction of the purchases.
    public var unknownTransactions: Int64 = 0
    /// Users of the identities. A user of several purchases counts for each (``UserClaim/key``).
    public var userClaims: Int64 = 0
    /// Receipts that a migration has verified. A later migration verifies them again.
    public var verifiedReceipts: Int64 = 0
    /// Those of the given quarantined records that the store had.
    public var quarantined: Int64 = 0
    /// The number of hashes that stay in their place and that the store did not have.
    public var leftHashes: Int64 = 0

    /// A result without rows: all numbers are 0.
    public init() {}
}

/// Identities to look for in stored documents.
public struct MentionedIdentities: Sendable {
    /// In lower case, because an account token is the same in both cases.
    private let values: Set<[UInt8]>

    /// - Parameter identities: compared without regard to their kind, and to upper or lower case of ASCII letters.
    public init(_ identities: some Sequence<CustomerIdentity>) {
        values = Set(identities.map { $0.value.utf8.map(Self.lowercased) })
    }

    /// Whether the text of a document contains one of the identities as a word, also within a JWS. Takes time linear in
    /// the size of the text.
    public func areNamed(in document: [UInt8]) -> Bool {
        DocumentWords.contain(document) { values.contains($0.map(Self.lowercased)) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// The words of a stored document, also those within a JWS.
enum DocumentWords {
    /// How many levels of nested JWS are decoded. Apple's notifications have one level.
    private static let depth = 3

    /// Whether one of the words meets a condition. Takes time linear in the size of the text.
    static func contain(_ document: [UInt8], where isMeant: (ArraySlice<UInt8>) -> Bool) -> Bool {
        contain(document, depth: depth, where: isMeant)
    }

    private static func contain(_ document: [UInt8], depth: Int, where isMeant: (ArraySlice<UInt8>) -> Bool) -> Bool {
        document.split { !isOfWord($0) }.contains { word in
            if isMeant(word) { return true }
            let parts = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard depth > 0, parts.count == 3,
                let payload = try? Base64.decodeLeniently(Array(parts[1]).span)
            else { return false }
            return contain(payload, depth: depth - 1, where: isMeant)
        }
    }

    /// Whether a byte can be part of an id, a UUID or a JWS.
    private static func isOfWord(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-_.".utf8.contains(byte)
    }
}
