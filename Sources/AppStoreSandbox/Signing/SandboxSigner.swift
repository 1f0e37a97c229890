internal import AppStoreModels
internal import AppStoreServer
internal import ReceiptForge

/// Signs the App Store's data with the test authority.
struct SandboxSigner: Sendable {
    let authority: TestSignedDataAuthority

    /// `signedTransactionInfo`, signed at `date`.
    func sign(_ payload: JWSTransactionDecodedPayload, at date: Int64) throws -> String {
        try sign(payload, at: date, \.signedDate)
    }

    /// `signedRenewalInfo`, signed at `date`.
    func sign(_ payload: JWSRenewalInfoDecodedPayload, at date: Int64) throws -> String {
        try sign(payload, at: date, \.signedDate)
    }

    /// `signedAppTransactionInfo`; its date of signing is called `receiptCreationDate`.
    func sign(_ payload: AppTransaction, at date: Int64) throws -> String {
        try sign(payload, at: date, \.receiptCreationDate)
    }

    /// The `signedPayload` of a notification, with its nested JWS (Reference.md S5.4).
    func sign(_ event: SandboxEvent, _ configuration: SandboxConfiguration) throws -> String {
        var data: NotificationData?
        if event.summary == nil {
            data = try NotificationData {
                $0.environment = configuration.environment
                $0.appAppleId = configuration.shownAppAppleId
                $0.bundleId = configuration.bundleId
                $0.bundleVersion = event.type == .test ? nil : configuration.bundleVersion
                $0.signedTransactionInfo = try event.transaction.map { try sign($0, at: event.date) }
                $0.signedRenewalInfo = try event.renewalInfo.map { try sign($0, at: event.date) }
                $0.status = event.status
                $0.consumptionRequestReason = event.consumptionRequestReason
            }
        }
        let payload = ResponseBodyV2DecodedPayload {
            $0.notificationType = event.type
            $0.subtype = event.subtype
            $0.notificationUUID = event.uuid
            $0.data = data
            $0.version = "2.0"
            $0.signedDate = event.date
            $0.summary = event.summary
            $0.unclaimInfo = event.unclaimSeatIds.map { ids in UnclaimInfo { $0.unclaimSeatIds = ids } }
        }
        return try authority.sign(payload: try DeterministicJSON.encode(payload))
    }

    private func sign<Payload: JSONModel>(
        _ payload: Payload, at date: Int64, _ dateOfSigning: WritableKeyPath<Payload, Int64?>
    ) throws -> String {
        var payload = payload
        payload[keyPath: dateOfSigning] = date
        var writer = JSONWriter(reservingCapacity: 1_024)
        payload.write(to: &writer)
        return try authority.sign(payload: writer.finish())
    }
}
