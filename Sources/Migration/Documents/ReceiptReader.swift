import AppStoreModels
import LegacyReceipts
import Purchases

/// Verifies stored receipts, and maps them.
struct ReceiptReader: Sendable {
    /// A receipt that is not migrated.
    struct Refused: Error {
        let kind: RecordKind
        let error: ReceiptError

        var reason: QuarantineReason { QuarantineReason(error) }
    }

    let limits: DecodingLimits
    private let verifier: ReceiptVerifier
    private let mapper: ReceiptMapper
    /// Whether the facts for a store are needed.
    private let isForStore: Bool

    /// - Throws: `ReceiptError` for a certificate of the policy that cannot be read.
    init(_ options: MigrationOptions, _ mapper: ReceiptMapper, isForStore: Bool) throws(ReceiptError) {
        limits = options.limits
        verifier = try ReceiptVerifier(trust: options.trust, limits: options.limits)
        self.mapper = mapper
        self.isForStore = isForStore
    }

    func read(_ stored: ArraySlice<UInt8>) throws(Refused) -> VerifiedContent {
        let container = try container(stored)
        return map(try verify(container), in: container)
    }

    func container(_ stored: ArraySlice<UInt8>) throws(Refused) -> ReceiptContainer {
        do throws(ReceiptError) {
            return try ReceiptContainer(stored: stored, limits: limits)
        } catch {
            throw Refused(kind: .notAReceipt, error: error)
        }
    }

    /// Verifies a receipt without mapping it.
    func verify(_ container: ReceiptContainer) throws(Refused) -> Verified<LegacyReceipt> {
        do throws(ReceiptError) {
            return try verifier.verify(container)
        } catch {
            throw Refused(kind: error.verdict == .notAReceipt ? .notAReceipt : container.kind, error: error)
        }
    }

    func map(_ receipt: Verified<LegacyReceipt>, in container: ReceiptContainer) -> VerifiedContent {
        let hash = Fingerprint(of: container.bytes)
        return VerifiedContent(
            kind: container.kind, mapped: mapper.map(receipt), sha256: hash.description,
            facts: isForStore ? FactSet(receipt, bytes: container.bytes, hash: hash) : nil, signed: nil)
    }

    /// The content of a receipt that was verified before.
    func decoded(_ container: ReceiptContainer) -> LegacyReceipt? {
        try? ReceiptDecoder(limits: limits).decode(container).payload
    }
}

extension ReceiptContainer {
    var kind: RecordKind {
        switch form {
        case .pkcs7: .appReceipt
        case .propertyList: .transactionReceipt
        }
    }
}
