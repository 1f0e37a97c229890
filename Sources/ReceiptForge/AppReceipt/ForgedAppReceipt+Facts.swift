extension ForgedAppReceipt {
    /// What a decoder must find, in the terms and JSON types of verifyReceipt's `receipt` (Reference.md V3.2): numbers for
    /// ids, strings for dates in milliseconds, `in_app` in encoded order.
    public var facts: ForgedJSON {
        .object(present: [
            ("receipt_type", receiptType.map { .string($0) }),
            ("adam_id", appItemId.map { .integer($0) }),
            ("app_item_id", appItemId.map { .integer($0) }),
            ("bundle_id", bundleId.map { .string($0) }),
            ("application_version", applicationVersion.map { .string($0) }),
            ("download_id", downloadId.map { .integer($0) }),
            ("version_external_identifier", versionExternalIdentifier.map { .integer($0) }),
            ("receipt_creation_date_ms", Self.milliseconds(creationDate)),
            ("original_purchase_date_ms", Self.milliseconds(originalPurchaseDate)),
            ("original_application_version", originalApplicationVersion.map { .string($0) }),
            ("expiration_date_ms", Self.milliseconds(expirationDate)),
            ("preorder_date_ms", Self.milliseconds(preorderDate)),
            ("in_app", .array(purchasesAsEncoded.map(\.facts))),
        ])
    }

    /// The attributes that verifyReceipt does not tell, by type: numbers, texts, dates in milliseconds as strings,
    /// plain bytes in hexadecimal.
    public var otherFacts: ForgedJSON {
        .object(present: [
            ("4", opaqueValue.map { .string(hexadecimal($0)) }),
            ("5", hasDeviceHash && bundleId != nil ? .string(hexadecimal(deviceHash)) : nil),
            ("6", attribute6.map { .string(hexadecimal($0)) }),
            ("7", attribute7.map { .string(hexadecimal($0)) }),
            ("8", Self.milliseconds(keptCreationDate)),
            ("9", serviceBuildNumber.map { .integer($0) }),
            ("10", ageRating.map { .string($0) }),
            ("11", developerId.map { .integer($0) }),
            ("13", osVersion.map { .integer($0) }),
            ("14", deviceModel.map { .integer($0) }),
            ("22", Self.milliseconds(volumePurchaseDate)),
            ("23", volumePurchaseOrganization.map { .string($0) }),
            ("25", platform.map { .integer($0) }),
        ])
    }

    private static func milliseconds(_ date: ForgedDate?) -> ForgedJSON? {
        date?.milliseconds.map { .string(String($0)) }
    }
}
