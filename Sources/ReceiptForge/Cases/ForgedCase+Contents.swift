extension ForgedCase {
    /// What a decoder can stumble over in the content of a genuine receipt.
    static func contentCases(largePurchaseCount: Int) throws -> [ForgedCase] {
        var cases = try contentDescriptions().map { name, shows, receipt in
            try app(name, shows, receipt, receipt.signedData(.g5))
        }
        cases += try fieldlessCases()
        if largePurchaseCount > 0 {
            let receipt = Sample.production((0..<Int64(largePurchaseCount)).map(manyPurchases))
            cases.append(
                try app(
                    "many-purchases", "A receipt of \(largePurchaseCount) purchases.", receipt, receipt.signedData(.g5),
                    isLarge: true))
        }
        return cases
    }

    private static func contentDescriptions() -> [(String, String, ForgedAppReceipt)] {
        let preorder = Sample.production().with { $0.preorderDate = .seconds(Sample.g5Date.adding(months: -16)) }
        let wide = Sample.production([
            Sample.renewal(0).with {
                $0.transactionId = "999999999999999999"
                $0.originalTransactionId = "9007199254740993"
                $0.webOrderLineItemId = .max
                $0.itemId = 9_007_199_254_740_993
            }
        ]).with {
            $0.appItemId = 9_007_199_254_740_995
            $0.downloadId = .max
            $0.versionExternalIdentifier = 4_294_967_297
        }
        let unicode = Sample.usual().with {
            $0.applicationVersion = "3.4 β — \"früh\" \\ 1"
            $0.purchases = [
                Sample.nonConsumable.with { $0.productId = "com.example.りんご.🍎.pomme_verte—é" }
            ]
        }
        let unknown = Sample.production([
            Sample.nonConsumable.with {
                $0.extra = [
                    ForgedAttribute(1723, value: DERWriter.utf8String("yet to come")),
                    ForgedAttribute(1799, version: 3, value: DERWriter.sequence(DERWriter.integer(1))),
                ]
            }
        ]).with {
            $0.extra = [
                ForgedAttribute(33, value: DERWriter.utf8String("yet to come")),
                ForgedAttribute(9_999, version: 2, value: [0xDE, 0xAD, 0xBE, 0xEF]),
                ForgedAttribute(70_000, value: []),
            ]
        }
        let opaque = Sample.usual().with {
            $0.opaqueValue = DERWriter.octetString(opaqueBytes("looks like a value", count: 14))
            $0.attribute6 = DERWriter.utf8String(String(repeating: "looks like a text ", count: 3))
            $0.attribute7 = DERWriter.sequence(DERWriter.integer(17), DERWriter.integer(1), DERWriter.octetString([]))
        }
        return [
            ("no-purchases", "A receipt without purchases.", Sample.production()),
            ("preorder", "A receipt of an app ordered before its release (attribute 32).", preorder),
            ("ids-beyond-2-53", "Ids that a double cannot hold.", wide),
            ("unicode", "Texts beyond ASCII, with quotes and backslashes.", unicode),
            ("unknown-attributes", "Attributes of types that nobody knows, which are kept as they are.", unknown),
            ("opaque-values-like-encodings", "Attributes 4, 6 and 7 that happen to look like ASN.1 values.", opaque),
        ]
    }

    private static func fieldlessCases() throws -> [ForgedCase] {
        let noDate = Sample.usual().with { $0.creationDate = .empty }
        let noBundle = Sample.usual().with { $0.bundleId = nil }
        let noVersion = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.originalApplicationVersion = nil
            $0.ageRating = ""
        }
        return [
            try app(
                "no-original-version",
                "A receipt without attribute 19, as before June 2013, and with an empty age rating.",
                noVersion, noVersion.signedData(.g1)),
            try app(
                "no-creation-date", "Signed content whose creation date (attribute 12) is empty.", noDate,
                noDate.signedData(.g5), .notAReceipt, "missingAttribute", openSSL: true),
            try app(
                "no-bundle-id", "Signed content without a bundle id (attribute 2).", noBundle, noBundle.signedData(.g5),
                .notAReceipt, "missingAttribute", openSSL: true),
        ]
    }

    private static func manyPurchases(_ number: Int64) -> ForgedPurchase {
        ForgedPurchase(
            .consumable, product: Sample.apples, id: String(530_002_000_000_000 + number * 7),
            at: Sample.g5Date.adding(minutes: -number)
        ).with {
            $0.itemId = 6_001_234_300
            $0.ownershipType = 0
        }
    }
}
