extension ForgedCase {
    /// Every environment and every generation of certificates.
    static func environmentCases() throws -> [ForgedCase] {
        try appStoreCases() + volumePurchaseCases() + [macCase()] + xcodeCases()
    }

    private static func appStoreCases() throws -> [ForgedCase] {
        let usual = Sample.usual()
        let g1 = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.purchases = [
                ForgedPurchase(.consumable, product: Sample.apples, id: "290000689050510", at: Sample.g1Date).with {
                    $0.itemId = 1_484_453_738
                }
            ]
        }
        let original = ForgedAppReceipt.production(bundleId: Sample.bundleId, created: Sample.originalDate).with {
            $0.purchases = [
                ForgedPurchase(.nonConsumable, product: Sample.tree, id: "20000053112933", at: Sample.originalDate)
            ]
        }
        let sandbox = Sample.sandbox([Sample.sandboxSubscription])
        let oldSandbox = ForgedAppReceipt.sandbox(bundleId: Sample.bundleId, created: Sample.originalDate).with {
            $0.purchases = [
                ForgedPurchase(.nonConsumable, product: Sample.tree, id: "1000000088116547", at: Sample.originalDate)
            ]
        }
        let reminted = usual.with { $0.creationDate = .seconds(Sample.g5Date.adding(days: 47, hours: 3)) }
        return [
            try app(
                "production-sha256", "A receipt of the App Store as signed since 2023: SHA-256 throughout.", usual,
                usual.signedData(.g5)),
            try app(
                "production-sha1", "A receipt of the App Store as signed until 2023: SHA-1 throughout.", g1,
                g1.signedData(.g1)),
            try app(
                "production-2014", "A receipt signed by the first generation of certificates, which expired in 2015.",
                original, original.signedData(.original)),
            try app(
                "production-reminted",
                "A receipt that the App Store made anew: attribute 8 keeps the first date of creation, 12 has the last.",
                reminted, reminted.signedData(.g5)),
            try app(
                "sandbox-sha256", "A receipt of the sandbox: ids of zero, no date in attribute 8.", sandbox,
                sandbox.signedData(.g5)),
            try app(
                "sandbox-sha1", "A receipt of the sandbox of 2014, whose transaction ids begin with 100.", oldSandbox,
                oldSandbox.signedData(.original)),
        ]
    }

    private static func volumePurchaseCases() throws -> [ForgedCase] {
        let volume = Sample.usual().with {
            $0.receiptType = "ProductionVPP"
            $0.expirationDate = .seconds(Sample.g5Date.adding(months: 12))
        }
        let organization = volume.with {
            $0.volumePurchaseDate = .seconds(Sample.g5Date.adding(days: -3))
            $0.volumePurchaseOrganization = "Test Orchard School"
        }
        let sandbox = Sample.sandbox().with {
            $0.receiptType = "ProductionVPPSandbox"
            $0.expirationDate = .seconds(Sample.g5Date.adding(months: 1))
        }
        return [
            try app(
                "vpp-production", "A volume purchase (ProductionVPP) with its date of expiration in attribute 21.",
                volume, volume.signedData(.g5)),
            try app(
                "vpp-organization", "A volume purchase that names a date and the organisation (attributes 22 and 23).",
                organization, organization.signedData(.g5)),
            try app(
                "vpp-sandbox", "A volume purchase in the sandbox (ProductionVPPSandbox), which counts as sandbox.",
                sandbox, sandbox.signedData(.g5)),
        ]
    }

    private static func macCase() throws -> ForgedCase {
        let created = ForgedInstant(2020, 10, 8, 11, 17, 49, milliseconds: 131)
        let bought = ForgedInstant(2018, 1, 2, 3, 4, 5, milliseconds: 60)
        let guid: [UInt8] = [0x02, 0x00, 0x5E, 0x10, 0x20, 0x30]
        let receipt = ForgedAppReceipt.mac(bundleId: "com.example.orchard.mac", created: created, guid: guid).with {
            $0.keptCreationDate = .milliseconds(created)
            $0.originalPurchaseDate = .milliseconds(bought)
            $0.purchases = [
                ForgedPurchase(
                    .nonConsumable, product: Sample.tree, id: "290000712345678", at: created.adding(days: -9))
            ]
        }
        return try app(
            "mac",
            "A receipt of the Mac App Store: platform 2, fractional seconds in attributes 8 and 18, a device hash "
                + "of a known MAC address.", receipt, receipt.signedData(.g1))
    }

    private static func xcodeCases() throws -> [ForgedCase] {
        let receipt = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g1Date).with {
            $0.purchases = [Sample.xcodePurchase]
        }
        let later = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date, offsetMinutes: -330).with
        {
            $0.purchases = [
                Sample.xcodePurchase.with {
                    $0.transactionId = "7"
                    $0.originalTransactionId = "3"
                    $0.originalPurchaseDate = .offset(Sample.g1Date, minutes: 60)
                }
            ]
        }
        let empty = ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g1Date, offsetMinutes: 0)
        let algorithmNamed = try empty.signedDataOfXcode().with {
            $0.signers[0].signatureAlgorithm = .sha256WithRSA
        }
        let borrowed = try ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date).signedDataOfXcode()
            .with { $0.certificates += try TestCertificateAuthority.shared().chain(.g5).map(\.der) }
        func xcode(_ expected: inout ForgedExpectation) { expected.genuineForXcode = true }
        return [
            try app(
                "xcode",
                "A receipt of Xcode's StoreKit testing: BER, dates with an offset, one self-signed certificate.",
                receipt, receipt.signedDataOfXcode(), .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-renewed",
                "A later receipt of Xcode's StoreKit testing, which also has the original transaction.",
                later, later.signedDataOfXcode(), .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-empty",
                "A receipt of Xcode's StoreKit testing without purchases, signer algorithm sha256WithRSAEncryption.",
                empty,
                algorithmNamed, .notGenuine, "xcodeReceipt", expect: xcode),
            try app(
                "xcode-with-borrowed-chain",
                "A receipt of Xcode's StoreKit testing that carries the genuine chain beside its own certificate.",
                ForgedAppReceipt.xcode(bundleId: Sample.bundleId, created: Sample.g5Date), borrowed, .notGenuine,
                "untrustedRoot"),
        ]
    }
}
