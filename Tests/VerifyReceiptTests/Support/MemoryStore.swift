import AppStoreModels
import Foundation
import Purchases
import SQLiteTransactionStore
import TestSupport
import TransactionStore

/// The stores that a test runs against: the one below, and the real embedded engine.
enum StoreKind: String, CaseIterable, Sendable {
    case memory
    case sqlite

    /// A new store, gone with its files afterwards.
    func withStore<Result>(_ body: (any TransactionStore) async throws -> Result) async throws -> Result {
        guard self == .sqlite else { return try await body(MemoryStore()) }
        let folder = try TemporaryFolder()
        let store = try SQLiteTransactionStore.open(path: folder.file("store.sqlite"))
        let result = try await body(store)
        try await store.close()
        return result
    }
}

/// A store in memory: it keeps every set of facts and joins those that share an identity on request.
actor MemoryStore: TransactionStore {
    private var sets: [FactSet] = []
    private(set) var lookUps = 0
    var setCount: Int { sets.count }

    /// Forgets everything but these.
    func replace(with sets: [FactSet]) { self.sets = sets }

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        self.sets += sets
        return AppliedFacts()
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        lookUps += 1
        var known = Set(identities)
        var found: [FactSet] = []
        var left = sets.filter { $0.scope == scope }
        while let index = left.firstIndex(where: { !known.isDisjoint(with: $0.identities) }) {
            let set = left.remove(at: index)
            known.formUnion(set.identities)
            found.append(set)
        }
        guard !found.isEmpty else { return nil }
        return try Self.customer(found, scope)
    }

    private static func customer(_ sets: [FactSet], _ scope: StoreScope) throws -> Customer? {
        var assembler = CustomerAssembler(scope: scope)
        var encoder = FactEncoder()
        func row(_ origin: FactOrigin) -> CustomerAssembler.Row {
            origin.documentBytes.withUnsafeBufferPointer {
                CustomerAssembler.Row(
                    kind: Int64(origin.kind.rawValue), source: origin.source.code, signedDate: origin.signedDate,
                    document: $0)
            }
        }
        for identity in sets.flatMap(\.identities) {
            try assembler.addIdentity(kind: Int64(identity.kind.rawValue), value: identity.value)
        }
        for fact in sets.flatMap(\.transactions) {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer { payload in
                try encoder.legacy.bytes.withUnsafeBufferPointer {
                    try assembler.addTransaction(row(fact.origin), payload: payload, legacy: $0)
                }
            }
        }
        for fact in sets.flatMap(\.renewalInfos).sorted(by: { $0.origin.signedDate < $1.origin.signedDate }) {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer {
                try assembler.addRenewalInfo(row(fact.origin), payload: $0)
            }
        }
        for fact in sets.compactMap(\.appTransaction) {
            encoder.encode(fact)
            try encoder.payload.bytes.withUnsafeBufferPointer { payload in
                try encoder.legacy.bytes.withUnsafeBufferPointer {
                    try assembler.addAppTransaction(row(fact.origin), payload: payload, legacy: $0)
                }
            }
        }
        for receipt in sets.compactMap(\.receipt) {
            try assembler.addReceipt(
                form: Int64(receipt.form.rawValue), signedDate: receipt.signedDate, bytes: receipt.bytes)
        }
        return assembler.customer()
    }

    func hasProcessed(notificationUUID: String) async throws -> Bool { false }

    func counts() async throws -> StoreCounts {
        StoreCounts(
            transactions: Int64(sets.flatMap(\.transactions).count), renewalInfos: 0, appTransactions: 0,
            customers: 0, receipts: Int64(sets.compactMap(\.receipt).count), notifications: 0)
    }

    func checkReadiness() async throws {}
    func close() async throws {}
}

/// A store with configured failures, and otherwise without customers.
struct FailingStore: TransactionStore {
    var applying: (any Error & Sendable)?
    var reading: (any Error & Sendable)?

    func apply(_ sets: [FactSet]) async throws -> AppliedFacts {
        if let applying { throw applying }
        return AppliedFacts()
    }

    func customer(_ identities: [CustomerIdentity], in scope: StoreScope) async throws -> Customer? {
        if let reading { throw reading }
        return nil
    }

    func hasProcessed(notificationUUID: String) async throws -> Bool { false }
    func counts() async throws -> StoreCounts {
        StoreCounts(
            transactions: 0, renewalInfos: 0, appTransactions: 0, customers: 0, receipts: 0, notifications: 0)
    }
    func checkReadiness() async throws {}
    func close() async throws {}
}
