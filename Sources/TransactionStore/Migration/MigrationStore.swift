internal import LegacyReceipts
public import Purchases

/// Data that a migration stores in addition to facts: its progress, the caller's users, and the records that it could not migrate.
/// Every engine implements it.
///
/// Every method throws ``TransactionStoreError`` and nothing else.
public protocol MigrationStore: Sendable {
    /// Adds one step of a migration. It is durable when this method returns, and applied completely or not at all. The facts
    /// are applied like those of ``TransactionStore/apply(_:)``. Applying a step again changes nothing.
    /// - Throws: ``TransactionStoreError`` `invalidArgument` for a step that ``MigrationLimits/check(_:)`` rejects.
    func apply(_ step: MigrationStep) async throws -> AppliedFacts

    /// The progress of a migration; nil if the store has no checkpoint of it.
    /// - Parameter migration: ``MigrationCheckpoint/migration``.
    func checkpoint(of migration: String) async throws -> MigrationCheckpoint?

    /// The checkpoints of all migrations, ordered by ``MigrationCheckpoint/migration``; empty at the end.
    /// - Parameters:
    ///   - migration: the name of the last migration of the previous page; nil to start at the beginning.
    ///   - limit: 1 to 1,000. Other values are clamped to this range.
    func checkpoints(after migration: String?, limit: Int) async throws -> [MigrationCheckpoint]

    /// The receipts with these keys that a migration has verified, in any order. Unknown keys are left out.
    /// - Parameter keys: ``VerifiedReceipt/key``, any number.
    func verifiedReceipts(_ keys: [[UInt8]]) async throws -> [VerifiedReceipt]

    /// The users of customers, ordered by identity and then by ``UserClaim/key``.
    /// - Parameters:
    ///   - identities: those of any number of customers.
    ///   - scope: the app and the environment.
    func users(of identities: [CustomerIdentity], in scope: StoreScope) async throws -> [UserClaim]

    /// The records that were not migrated, ordered by ``QuarantinedRecord/key``; empty at the end.
    /// - Parameters:
    ///   - key: the key of the last record of the previous page; nil to start at the beginning.
    ///   - limit: 1 to 1,000. Other values are clamped to this range. A page may be shorter if its records are long.
    func quarantine(after key: [UInt8]?, limit: Int) async throws -> [QuarantinedRecord]

    /// Called after a migration or a merge that added facts. An engine can update the statistics of its query planner
    /// here. By default, this does nothing.
    /// - Throws: ``TransactionStoreError``, which does not make the migration fail.
    func migrationEnded() async throws
}

extension MigrationStore {
    /// Does nothing, for engines without statistics to update.
    public func migrationEnded() async throws {}
}

/// One step of a migration: the content of some consecutive records, and the position after them.
public struct MigrationStep: Sendable {
    /// The statements of the documents.
    public var facts: [FactSet]
    /// The caller's users that the records name.
    public var users: [UserClaim]
    /// The receipts that were verified.
    public var receipts: [VerifiedReceipt]
    /// The records and documents that were not migrated.
    public var quarantined: [QuarantinedRecord]
    /// Keys of quarantined records that are migrated now. They are removed before ``quarantined`` is added.
    public var released: [[UInt8]]
    /// Hashes that an erasure left in another store. They are added first, and what the store has about their identities
    /// is removed: a purchase alone if its customer has others that are not erased.
    public var leftHashes: [LeftHash]
    /// The position after the step; nil if the step is not part of a sequence.
    public var checkpoint: MigrationCheckpoint?

    /// Creates a step without checking it: ``MigrationLimits/check(_:)`` has the rules for its parts. The default of
    /// each part adds and removes nothing.
    public init(
        facts: [FactSet] = [], users: [UserClaim] = [], receipts: [VerifiedReceipt] = [],
        quarantined: [QuarantinedRecord] = [], released: [[UInt8]] = [], leftHashes: [LeftHash] = [],
        checkpoint: MigrationCheckpoint? = nil
    ) {
        self.facts = facts
        self.users = users
        self.receipts = receipts
        self.quarantined = quarantined
        self.released = released
        self.leftHashes = leftHashes
        self.checkpoint = checkpoint
    }
}

/// The progress of a migration. For each migration, a store keeps the checkpoint with the most records.
public struct MigrationCheckpoint: Hashable, Sendable {
    /// The name of the migration: the SHA-256 of its inputs and of the options that affect its result, in 64
    /// hexadecimal digits.
    public let migration: String
    /// The number of records before the position.
    public let records: Int64
    /// SHA-256 of these records, to detect that an input has changed; 32 bytes.
    public let digest: [UInt8]
    /// The counts of the migration so far. Only the migration can read them.
    public let state: [UInt8]

    /// Creates a checkpoint without checking it: ``MigrationLimits/check(_:)`` rejects an invalid one.
    public init(migration: String, records: Int64, digest: [UInt8], state: [UInt8]) {
        self.migration = migration
        self.records = records
        self.digest = digest
        self.state = state
    }
}

/// One of the caller's users, which a record names with a purchase.
public struct UserClaim: Hashable, Sendable {
    /// The app and the environment of the purchase.
    public let scope: StoreScope
    /// The purchase: an original transaction id, or an identity of the customer if the document has no purchase. It is
    /// meaningful (`CustomerIdentity.isMeaningful`).
    public let identity: CustomerIdentity
    /// The caller's id of the user, exactly as in the record.
    public let userId: String
    /// A JSON object with the columns that the caller wants to keep, names in order; empty if there are none.
    public let carried: String

    /// Creates a claim without checking it: ``MigrationLimits/check(_:)`` rejects an identity that is not meaningful.
    /// - Parameters:
    ///   - scope: the app and the environment of the purchase.
    ///   - identity: an original transaction id, or an identity of the customer.
    ///   - userId: the caller's id of the user, exactly as in the record.
    ///   - carried: a JSON object, names in order; empty if no columns are kept. Another order gives another ``key``.
    public init(scope: StoreScope, identity: CustomerIdentity, userId: String, carried: String = "") {
        self.scope = scope
        self.identity = identity
        self.userId = userId
        self.carried = carried
    }

    /// SHA-256 of the user id and the carried columns, 32 bytes. A store has one claim for each scope, identity and key.
    public var key: [UInt8] {
        // The length marks where the first text ends, so that different pairs have different keys.
        Fingerprint(of: Array("\(userId.utf8.count):".utf8) + Array(userId.utf8) + Array(carried.utf8)).bytes
    }
}

/// A receipt that a migration has verified and whose facts the store has. It need not be verified again.
public struct VerifiedReceipt: Hashable, Sendable {
    /// SHA-256 of the trust policy and of the SHA-256 of the receipt without transport encoding, 32 bytes.
    public let key: [UInt8]
    /// The app and the environment that the receipt states.
    public let scope: StoreScope
    /// The kind of receipt.
    public let form: KnownReceipt.Form
    /// The identities that the receipt states, all of them meaningful (`CustomerIdentity.isMeaningful`).
    public let identities: [CustomerIdentity]

    /// Creates a receipt without checking it: ``MigrationLimits/check(_:)`` rejects a key that does not have 32 bytes,
    /// and identities that are not meaningful.
    public init(key: [UInt8], scope: StoreScope, form: KnownReceipt.Form, identities: [CustomerIdentity]) {
        self.key = key
        self.scope = scope
        self.form = form
        self.identities = identities
    }
}

/// A record, or one document of a record, that was not migrated.
public struct QuarantinedRecord: Hashable, Sendable {
    /// SHA-256 of ``line``, 32 bytes.
    public let key: [UInt8]
    /// A line of `quarantine.ndjson`: a JSON object with the reason, the place and the original bytes, without a line feed.
    public let line: [UInt8]

    /// Computes ``key`` from the line.
    /// - Parameter line: a JSON object without a line feed. It is not checked.
    public init(line: [UInt8]) {
        key = Fingerprint(of: line).bytes
        self.line = line
    }
}

/// The limits of the arguments of a ``MigrationStore``, which are the same for all engines.
public enum MigrationLimits {
    /// The number of records to read for `limit`: 1 to 1,000.
    public static func records(_ limit: Int) -> Int { max(1, min(limit, 1_000)) }
    /// A page of ``MigrationStore/quarantine(after:limit:)`` ends after this number of bytes, unless the first line alone is
    /// longer.
    public static let pageBytes = 16 * 1_024 * 1_024

    /// - Throws: ``TransactionStoreError`` `invalidArgument` for an invalid step: an identity that is not meaningful,
    ///   which no look-up finds; a key, a digest or a left hash that does not have 32 bytes; a checkpoint without a valid name, or with a
    ///   negative number of records.
    public static func check(_ step: MigrationStep) throws {
        guard step.users.allSatisfy(\.identity.isMeaningful) else {
            throw invalid("A user is named for an identity that is not meaningful.")
        }
        guard step.receipts.allSatisfy({ $0.identities.allSatisfy(\.isMeaningful) }) else {
            throw invalid("A verified receipt has an identity that is not meaningful.")
        }
        guard step.receipts.allSatisfy({ $0.key.count == 32 }) else {
            throw invalid("The key of a verified receipt has 32 bytes.")
        }
        guard step.leftHashes.allSatisfy({ $0.secret.count == 32 && $0.hash.count == 32 }) else {
            throw invalid("A left hash and its secret have 32 bytes each.")
        }
        guard let checkpoint = step.checkpoint else { return }
        guard checkpoint.migration.utf8.count == 64,
            checkpoint.migration.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else {
            throw invalid("The name of a migration has 64 hexadecimal digits.")
        }
        guard checkpoint.records >= 0, checkpoint.digest.count == 32 else {
            throw invalid("A checkpoint has at least 0 records and a digest of 32 bytes.")
        }
    }

    private static func invalid(_ message: String) -> TransactionStoreError {
        TransactionStoreError(.invalidArgument, message)
    }
}

/// A page of ``MigrationStore/quarantine(after:limit:)`` that an engine fills. Its limits are the same for all engines.
public struct QuarantinePage {
    /// The records added so far.
    public private(set) var records: [QuarantinedRecord] = []
    private let limit: Int
    private var bytes = 0

    /// - Parameter limit: the number of records that the caller requested.
    public init(limit: Int) { self.limit = MigrationLimits.records(limit) }

    /// Whether the page has room for a line of this number of bytes. The first line always has room.
    public func hasRoom(for count: Int) -> Bool {
        records.isEmpty || records.count < limit && count <= MigrationLimits.pageBytes - bytes
    }

    /// Adds the next record.
    public mutating func add(_ record: QuarantinedRecord) {
        records.append(record)
        bytes += record.line.count
    }
}
