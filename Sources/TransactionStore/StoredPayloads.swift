internal import AppStoreModels
internal import Purchases

/// Reads what `FactEncoder` wrote.
enum StoredObject {
    static func corrupt(_ detail: String) -> TransactionStoreError {
        TransactionStoreError(.corrupt, "A stored fact cannot be read: \(detail)")
    }
}

extension Payload {
    /// - Parameters:
    ///   - bytes: the stored payload.
    ///   - texts: strings that the payloads of a customer share.
    init(stored bytes: UnsafeBufferPointer<UInt8>, texts: inout CommonTexts) throws {
        do {
            try self.init(written: bytes, texts: &texts)
        } catch {
            throw StoredObject.corrupt(error.detail)
        }
    }

    init(stored bytes: UnsafeBufferPointer<UInt8>) throws {
        var texts = CommonTexts()
        try self.init(stored: bytes, texts: &texts)
    }
}

/// Values that a store keeps with a payload, as a JSON object.
protocol StoredFields {
    init()

    /// Takes the values that the reader finds in one pass.
    mutating func take(from reader: inout PayloadReader) throws(PayloadReadingError)
}

extension StoredFields {
    init(stored bytes: UnsafeBufferPointer<UInt8>) throws {
        self.init()
        var reader = PayloadReader(bytes)
        do throws(PayloadReadingError) {
            while try reader.beginPass() { try take(from: &reader) }
        } catch {
            throw StoredObject.corrupt(error.detail)
        }
    }
}

extension LegacyTransactionFields: StoredFields {
    mutating func take(from reader: inout PayloadReader) throws(PayloadReadingError) {
        if try reader.take("isTrialPeriod") { isTrialPeriod = try reader.bool() }
        if try reader.take("isInIntroOfferPeriod") { isInIntroOfferPeriod = try reader.bool() }
        if try reader.take("promotionalOfferId") { promotionalOfferId = try reader.string() }
        if try reader.take("offerCodeRefName") { offerCodeRefName = try reader.string() }
        if try reader.take("cancellationDate") { cancellationDate = try reader.int64() }
        if try reader.take("cancellationReason") { cancellationReason = try reader.int64() }
        if try reader.take("inAppOwnershipType") {
            inAppOwnershipType = InAppOwnershipType(rawValue: try reader.string())
        }
        if try reader.take("itemId") { itemId = try reader.string() }
        if try reader.take("productType") { productType = try reader.int64() }
    }
}

extension LegacyAppTransactionFields: StoredFields {
    mutating func take(from reader: inout PayloadReader) throws(PayloadReadingError) {
        if try reader.take("receiptType") { receiptType = try reader.string() }
        if try reader.take("expirationDate") { expirationDate = try reader.int64() }
        if try reader.take("volumePurchaseDate") { volumePurchaseDate = try reader.int64() }
        if try reader.take("volumePurchaseOrganization") { volumePurchaseOrganization = try reader.string() }
    }
}

// The facts that the stored bytes state. The bytes of legacy fields are empty if there are none.

extension TransactionFact {
    /// - Parameter scope: the app and the environment, which the stored bytes do not state; nil if the caller does not know them.
    init(
        stored payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>, _ origin: FactOrigin,
        in scope: StoreScope?, texts: inout CommonTexts
    ) throws {
        var shared = SharedTransaction(try JWSTransactionDecodedPayload(stored: payload, texts: &texts))
        if let scope {
            shared.payload.bundleId = scope.bundleId
            shared.payload.environment = scope.environment
        }
        let origin = StoredSigningInput.take(from: &shared.payload.unknownMembers, of: origin)
        let fields = legacy.isEmpty ? nil : try LegacyTransactionFields(stored: legacy)
        self.init(shared, legacy: fields, origin: origin)
    }
}

extension RenewalInfoFact {
    init(stored payload: UnsafeBufferPointer<UInt8>, _ origin: FactOrigin) throws {
        var value = try JWSRenewalInfoDecodedPayload(stored: payload)
        let origin = StoredSigningInput.take(from: &value.unknownMembers, of: origin)
        self.init(payload: value, origin: origin)
    }
}

extension AppTransactionFact {
    init(
        stored payload: UnsafeBufferPointer<UInt8>, legacy: UnsafeBufferPointer<UInt8>, _ origin: FactOrigin
    ) throws {
        var value = try AppTransaction(stored: payload)
        let origin = StoredSigningInput.take(from: &value.unknownMembers, of: origin)
        let fields = legacy.isEmpty ? nil : try LegacyAppTransactionFields(stored: legacy)
        self.init(payload: value, legacy: fields, origin: origin)
    }
}
