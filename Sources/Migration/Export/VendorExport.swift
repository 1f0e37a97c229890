internal import AppStoreModels
internal import Foundation
internal import Purchases
public import TransactionStore

/// Writes the file that a vendor of subscription services imports purchases from: the command
/// `legacy-receipts export --kind` as a library.
///
/// A row contains your user id, so it needs the user ids of `migrate --into`. A purchase or a receipt with several
/// users is left out and counted. Only the production environment is written.
public struct VendorExport: Sendable {
    /// A vendor whose import guide is public.
    public enum Vendor: String, Sendable, CaseIterable {
        /// RevenueCat, "Bulk Imports": `app_user_id` and `receipt`, the base64 app receipt.
        case revenuecat
        /// Adapty, "Importing historical data to Adapty": `user_id` and `apple_original_transaction_id`.
        case adapty

        var header: [String] {
            switch self {
            case .revenuecat: ["app_user_id", "receipt"]
            case .adapty: ["user_id", "apple_original_transaction_id"]
            }
        }
    }

    private let vendor: Vendor

    public init(_ vendor: Vendor) { self.vendor = vendor }

    /// Writes `VENDOR.csv`, and `VENDOR.json` with the counts, into a folder. Does not touch a file whose content is
    /// the same.
    ///
    /// - Parameters:
    ///   - store: the store, which is only read.
    ///   - folder: the path of the folder, which is created if it does not exist.
    /// - Throws: ``ExportError``, `TransactionStoreError` or `CancellationError`.
    public func run(
        _ store: any CustomerDirectory & MigrationStore, to folder: String
    ) async throws -> VendorExportSummary {
        let (table, manifest) = ("\(vendor.rawValue).csv", "\(vendor.rawValue).json")
        let folder = try OutputFolder(path: folder)
        if !folder.isMarked(by: manifest), let taken = folder.firstTaken(of: [table]) {
            throw ExportError(
                .outputConflict, path: taken, "\(taken) is not the file of an export. Choose another folder.")
        }
        let numbers = try folder.makeFile(manifest)
        let file = try folder.makeFile(table)
        try file.write(CSVField.row(vendor.header))
        var summary = VendorExportSummary(vendor: vendor)
        try await store.forEachPage { page in
            for (customer, users) in page {
                guard customer.scope.environment == .production else {
                    summary.otherEnvironments += 1
                    continue
                }
                for row in rows(customer, ExportedUsers(users), &summary) {
                    try file.write(CSVField.row(row))
                    summary.rows += 1
                }
            }
        }
        try numbers.write(summary.json)
        _ = try folder.complete(last: numbers, removing: [])
        return summary
    }

    private func rows(
        _ customer: Customer, _ users: ExportedUsers, _ summary: inout VendorExportSummary
    ) -> [[String]] {
        let userIds = users.users.compactMap(\.userId)
        switch vendor {
        case .revenuecat:
            guard let receipt = customer.newestAppReceipt else {
                summary.withoutReceipt += 1
                return []
            }
            guard let user = user(of: userIds, &summary) else { return [] }
            return [[user, Data(receipt.bytes).base64EncodedString()]]
        case .adapty:
            let purchases = Set(
                customer.transactions.compactMap { $0.payload.originalTransactionId ?? $0.payload.transactionId })
            return purchases.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.compactMap { purchase in
                let named = users.users.filter { $0.originalTransactionIds.contains(purchase) }.compactMap(\.userId)
                guard let user = user(of: named.isEmpty ? userIds : named, &summary) else { return nil }
                // "Values are not enclosed in quotes."
                guard [user, purchase].allSatisfy({ CSVField.row([$0]).count == $0.utf8.count + 2 }) else {
                    summary.notRepresentable += 1
                    return nil
                }
                return [user, purchase]
            }
        }
    }

    /// The single user; nil if there is none, or several.
    private func user(of userIds: [String], _ summary: inout VendorExportSummary) -> String? {
        if userIds.isEmpty { summary.withoutUser += 1 }
        if userIds.count > 1 { summary.withSeveralUsers += 1 }
        return userIds.count == 1 ? userIds.first : nil
    }
}

/// The counts of an export for a vendor: of customers for RevenueCat, and of purchases (original transaction ids) for
/// Adapty.
public struct VendorExportSummary: Hashable, Sendable {
    public let vendor: VendorExport.Vendor
    /// The rows of the file, without the header.
    public internal(set) var rows = 0
    /// Left out: no record names a user.
    public internal(set) var withoutUser = 0
    /// Left out: records name several users.
    public internal(set) var withSeveralUsers = 0
    /// Left out: the store has no app receipt.
    public internal(set) var withoutReceipt = 0
    /// Left out: the user id has a comma, a quotation mark or a line break, and the vendor's format has no quoting.
    public internal(set) var notRepresentable = 0
    /// Left out: customers of the sandbox and other environments.
    public internal(set) var otherEnvironments = 0

    init(vendor: VendorExport.Vendor) { self.vendor = vendor }

    /// The numbers by name.
    public var counts: [(name: String, count: Int)] {
        [
            ("rows", rows), ("withoutUser", withoutUser), ("withSeveralUsers", withSeveralUsers),
            ("withoutReceipt", withoutReceipt), ("notRepresentable", notRepresentable),
            ("otherEnvironments", otherEnvironments),
        ]
    }

    /// The numbers as a JSON object, with a line feed.
    public var json: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        writer.beginObject()
        writer.member("version", 1)
        writer.member("vendor", vendor.rawValue)
        for (name, count) in counts {
            writer.key(name)
            writer.integer(count)
        }
        writer.endObject()
        writer.newline()
        return writer.finish()
    }
}
