package import AppStoreModels
internal import LegacyReceipts

/// Writes facts as the engines store them: Apple's JSON without the bundle id and the environment, which the scope of
/// the row states.
///
/// The same fact always gives the same bytes. Engines compare them to decide between two facts of the same date.
package struct FactEncoder {
    /// The JSON of the last fact.
    package private(set) var payload = JSONWriter(reservingCapacity: 1024)
    /// The JSON of its legacy fields; empty if it has none, never absent, so that rows can be compared.
    package private(set) var legacy = JSONWriter(reservingCapacity: 256)

    package init() {}

    package mutating func encode(_ fact: borrowing TransactionFact) {
        payload.removeAll()
        legacy.removeAll()
        if fact.payload.bundleId == nil, fact.payload.environment == nil {
            payload.model(fact.payload)
        } else {
            var value = fact.payload
            value.bundleId = nil
            value.environment = nil
            value.write(to: &payload)
        }
        if let fields = fact.legacy, fields != LegacyTransactionFields() { fields.write(to: &legacy) }
    }

    package mutating func encode(_ fact: borrowing RenewalInfoFact) {
        payload.removeAll()
        legacy.removeAll()
        var value = fact.payload
        value.environment = nil
        value.write(to: &payload)
    }

    package mutating func encode(_ fact: borrowing AppTransactionFact) {
        payload.removeAll()
        legacy.removeAll()
        var value = fact.payload
        value.bundleId = nil
        value.receiptType = nil
        value.write(to: &payload)
        if let fields = fact.legacy { fields.write(to: &legacy) }
    }
}

/// The member of a stored payload with the hash of its JWS, in older rows without a column for it (`FactRow.document`). The
/// bytes of such a row compare as less than those of a row without the member. So the new row replaces it when the document
/// arrives again.
package enum StoredSigningInput {
    private static let member = "signingInputSHA256"

    /// Removes the hash from the members of a stored payload. The store never added this member to unsigned documents, so there
    /// it belongs to the document.
    package static func take(from members: inout UnknownMembers, of origin: FactOrigin) -> FactOrigin {
        guard !members.isEmpty, origin.kind == .signedTransaction, let value = members.remove(member) else {
            return origin
        }
        return FactOrigin(
            source: origin.source, signedDate: origin.signedDate,
            document: origin.document ?? value.string.flatMap { Fingerprint(hex: $0) })
    }
}

extension LegacyTransactionFields {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("isTrialPeriod", isTrialPeriod)
        writer.member("isInIntroOfferPeriod", isInIntroOfferPeriod)
        writer.member("promotionalOfferId", promotionalOfferId)
        writer.member("offerCodeRefName", offerCodeRefName)
        writer.member("cancellationDate", cancellationDate)
        writer.member("cancellationReason", cancellationReason)
        writer.member("inAppOwnershipType", inAppOwnershipType)
        writer.member("itemId", itemId)
        writer.member("productType", productType)
        writer.endObject()
    }
}

extension LegacyAppTransactionFields {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("receiptType", receiptType)
        writer.member("expirationDate", expirationDate)
        writer.member("volumePurchaseDate", volumePurchaseDate)
        writer.member("volumePurchaseOrganization", volumePurchaseOrganization)
        writer.endObject()
    }
}
