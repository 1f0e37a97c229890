import AppStoreModels
package import AppStoreServer
package import LegacyReceipts
package import Purchases

/// Reads one input as `migrate` reads a record, and resolves what its documents state. Nothing is stored.
package struct DocumentStatements: Sendable {
    private let migrator: RecordMigrator

    /// - Parameters:
    ///   - trust: the trust anchors for receipts.
    ///   - signedData: the trust anchors for JWS.
    ///   - date: the current time, in milliseconds since 1970-01-01T00:00:00Z. No recorded document is newer.
    /// - Throws: ``MigrationError`` for a certificate that cannot be read.
    package init(trust: TrustPolicy, signedData: SignedDataTrust, date: Int64) throws(MigrationError) {
        var options = MigrationOptions(trust: trust)
        options.signedDataTrust = signedData
        let filing = RecordMigrator.Filing(StoreMigration.Options(migration: options, date: date), date: date)
        migrator = try RecordMigrator(options, filing: filing)
    }

    /// The customers of the documents in an input (`Customer.all(resolving:)`). Empty if no document is trusted, or none names a
    /// purchase or an app.
    package func customers(in bytes: [UInt8]) -> [Customer] {
        let recognition = RecordReader().read(bytes[...], table: nil)
        let record = InputRecord(
            place: .none, original: bytes[...], length: bytes.count, carried: [], payload: recognition.payload)
        var output = BatchOutput()
        migrator.migrate(record, into: &output)
        return Customer.all(resolving: output.additions.facts)
    }
}
