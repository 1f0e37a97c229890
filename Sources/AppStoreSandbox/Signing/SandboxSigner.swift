internal import AppStoreModels
internal import Foundation
internal import ReceiptForge

/// Signs the App Store's data with the test authority.
struct SandboxSigner: Sendable {
    let authority: TestSignedDataAuthority

    /// `signedTransactionInfo`, signed at `date`.
    func sign(_ payload: JWSTransactionDecodedPayload, at date: Int64) throws -> String {
        var payload = payload
        payload.signedDate = date
        return try sign(payload)
    }

    /// `signedRenewalInfo`, signed at `date`.
    func sign(_ payload: JWSRenewalInfoDecodedPayload, at date: Int64) throws -> String {
        var payload = payload
        payload.signedDate = date
        return try sign(payload)
    }

    /// `signedAppTransactionInfo`; its date of signing is called `receiptCreationDate`.
    func sign(_ payload: AppTransaction, at date: Int64) throws -> String {
        var payload = payload
        payload.receiptCreationDate = date
        return try sign(payload)
    }

    /// The `signedPayload` of a notification, with its nested JWS (Reference.md S5.4).
    func sign(_ event: SandboxEvent, _ configuration: SandboxConfiguration) throws -> String {
        let isProduction = configuration.environment == .production
        var data: NotificationData?
        if event.summary == nil {
            data = NotificationData(
                environment: configuration.environment, appAppleId: isProduction ? configuration.appAppleId : nil,
                bundleId: configuration.bundleId,
                bundleVersion: event.type == .test ? nil : configuration.bundleVersion,
                signedTransactionInfo: try event.transaction.map { try sign($0, at: event.date) },
                signedRenewalInfo: try event.renewalInfo.map { try sign($0, at: event.date) }, status: event.status,
                consumptionRequestReason: event.consumptionRequestReason)
        }
        let payload = ResponseBodyV2DecodedPayload(
            notificationType: event.type, subtype: event.subtype, notificationUUID: event.uuid, data: data,
            version: "2.0", signedDate: event.date, summary: event.summary,
            unclaimInfo: event.unclaimSeatIds.map { UnclaimInfo(unclaimSeatIds: $0) })
        return try authority.sign(payload: try SandboxJSON.encode(payload))
    }

    private func sign(_ payload: some JSONModel) throws -> String {
        var writer = JSONWriter(reservingCapacity: 1_024)
        payload.write(to: &writer)
        return try authority.sign(payload: writer.finish())
    }
}

/// Deterministic JSON.
enum SandboxJSON {
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }
}
