extension ForgedCase {
    private static let bought = ForgedInstant(2013, 9, 24, 22, 10, 4, milliseconds: 138)
    private static let boughtLater = ForgedInstant(2016, 11, 6, 8, 59, 59, milliseconds: 7)

    private static var sandboxReceipt: ForgedTransactionReceipt {
        .sandbox(product: Sample.apples, id: "1000000088116547", at: bought)
    }

    private static var productionReceipt: ForgedTransactionReceipt {
        .production(product: Sample.tree, pod: "35", serial: "0000535213977", at: bought)
    }

    private static func subscription(_ receipt: ForgedTransactionReceipt) -> ForgedTransactionReceipt {
        receipt.with {
            let pod = $0.transactionId.prefix(2)
            $0.productId = Sample.monthly
            $0.originalPurchaseDate = $0.purchaseDate.adding(months: -3)
            $0.transactionId = "\(pod)0000535231684"
            $0.originalTransactionId = "\(pod)0000535200001"
            $0.expiresDate = $0.purchaseDate.adding(months: 1)
            $0.webOrderLineItemId = "350000123456789"
        }
    }

    /// iOS 6 transaction receipts in the App Store's form.
    static func transactionCases() throws -> [ForgedCase] {
        try version2Cases() + version3Cases() + [version4Case()]
    }

    private static func version2Cases() throws -> [ForgedCase] {
        let version2 = try ForgedTransactionSignature.version2(at: bought)
        let late = productionReceipt.with {
            $0.purchaseDate = ForgedInstant(2015, 3, 8, 10, 0, 0)
            $0.originalPurchaseDate = ForgedInstant(2015, 3, 8, 9, 59, 59)
        }
        let bare = sandboxReceipt.with {
            $0.uniqueIdentifier = nil
            $0.uniqueVendorIdentifier = nil
            $0.signingStatus = nil
        }
        return [
            try transaction(
                "ios6-v2-sandbox", "A consumable in the sandbox, signature version 2.", sandboxReceipt, version2),
            try transaction(
                "ios6-v2-production", "A non-consumable in production, signature version 2: no environment is written.",
                productionReceipt, version2),
            try transaction(
                "ios6-v2-subscription", "A period of an auto-renewable subscription in production.",
                subscription(productionReceipt), version2),
            try transaction(
                "ios6-v2-late-leaf",
                "Bought in 2015, signed by the second leaf, in the first seconds of daylight saving time.",
                late, ForgedTransactionSignature.version2(at: late.purchaseDate)),
            try transaction("ios6-v2-few-keys", "No device identifiers and no signing status.", bare, version2),
        ]
    }

    private static func version3Cases() throws -> [ForgedCase] {
        let version3 = try ForgedTransactionSignature.version3()
        let production = productionReceipt.bought(at: boughtLater)
        let trial = subscription(production).with {
            $0.isTrialPeriod = true
            $0.isInIntroOfferPeriod = false
        }
        let cancelled = subscription(production).with {
            $0.cancellationDate = boughtLater.adding(days: 9)
            $0.cancellationReason = "1"
        }
        let sandbox = sandboxReceipt.bought(at: boughtLater)
        return [
            try transaction(
                "ios6-v3-production",
                "A non-consumable in production, signature version 3, in the last second of "
                    + "daylight saving time.", production, version3),
            try transaction("ios6-v3-sandbox", "A consumable in the sandbox, signature version 3.", sandbox, version3),
            try transaction("ios6-v3-trial", "A free trial, with the flags of 2017.", trial, version3),
            try transaction("ios6-v3-cancelled", "A refunded subscription.", cancelled, version3),
        ]
    }

    private static func version4Case() throws -> ForgedCase {
        try transaction(
            "ios6-v4-sandbox", "A consumable in the sandbox, signature version 4 (SHA-256), with the keys of 2023.",
            newestReceipt, ForgedTransactionSignature.version4())
    }

    /// A sandbox receipt with the keys, and the kind of transaction id, of 2023.
    private static var newestReceipt: ForgedTransactionReceipt {
        let date = ForgedInstant(2023, 11, 23, 5, 47, 37, milliseconds: 522)
        return .sandbox(product: Sample.apples, id: "2000000464401063", at: date).with {
            $0.uniqueIdentifier = "00007E57-000F06E0F06E001E"
            $0.appItemId = "612345678"
            $0.isTrialPeriod = false
            $0.isInIntroOfferPeriod = false
            $0.inAppOwnershipType = "PURCHASED"
        }
    }

    /// Transaction receipts in other styles, and receipts whose environment contradicts their ids.
    static func transactionStyleCases() throws -> [ForgedCase] {
        let version2 = try ForgedTransactionSignature.version2(at: bought)
        let outer = try PropertyListStyle.allCases.filter { $0 != .apple }.map { style in
            try transaction(
                "ios6-outer-\(kebab(style))", "The outer property list rewritten: \(words(style)).", sandboxReceipt,
                version2.with { $0.outerStyle = style })
        }
        let inner = try PropertyListStyle.allCases.filter { $0 != .apple }.map { style in
            try transaction(
                "ios6-inner-\(kebab(style))", "Signed over an inner property list in another form: \(words(style)).",
                productionReceipt, version2.with { $0.innerStyle = style })
        }
        let hidden = sandboxReceipt.with { $0.environment = nil }
        let hiddenWithPod = hidden.with { $0.pod = "35" }
        let renamed = sandboxReceipt.with { $0.environment = "Production" }
        let newer = sandboxReceipt.with {
            $0.transactionId = "2000000088116547"
            $0.originalTransactionId = "2000000088116547"
            $0.environment = nil
            $0.pod = nil
        }
        let opposite = productionReceipt.with { $0.environment = "Sandbox" }
        func contradiction(
            _ name: String, _ shows: String, _ receipt: ForgedTransactionReceipt
        ) throws -> ForgedCase {
            try transaction(
                name, shows, receipt, version2, .genuine, "environmentContradiction", environment: "Sandbox",
                contradiction: true)
        }
        return outer + inner + [
            try contradiction(
                "ios6-sandbox-without-environment",
                "A sandbox purchase whose unsigned environment line was deleted: it stays sandbox.", hidden),
            try contradiction(
                "ios6-sandbox-with-production-pod", "A sandbox purchase that claims a production pod.", hiddenWithPod),
            try contradiction("ios6-sandbox-says-production", "A sandbox purchase that says Production.", renamed),
            try contradiction(
                "ios6-newer-sandbox-without-environment",
                "A sandbox purchase of the newer kind of id (200…), unlabeled.",
                newer),
            try contradiction(
                "ios6-production-says-sandbox", "A production purchase that says Sandbox: never upgraded.", opposite),
        ]
    }

    private static func kebab(_ style: PropertyListStyle) -> String { style == .oneLine ? "one-line" : style.rawValue }

    private static func words(_ style: PropertyListStyle) -> String {
        switch style {
        case .apple: "as Apple writes it"
        case .unquoted: "four blanks, plain values unquoted"
        case .sorted: "keys by the alphabet"
        case .oneLine: "all on one line"
        case .xml: "an XML property list"
        }
    }

    // MARK: Wrong ones

    static func wrongTransactionCases() throws -> [ForgedCase] {
        try wrongSignatureCases() + wrongLeafCases() + unreadableTransactionCases()
    }

    private static func wrongSignatureCases() throws -> [ForgedCase] {
        let version2 = try ForgedTransactionSignature.version2(at: bought)
        let later = productionReceipt.bought(at: boughtLater)
        func wrong(
            _ name: String, _ shows: String, _ signature: ForgedTransactionSignature,
            _ receipt: ForgedTransactionReceipt = productionReceipt
        ) throws -> ForgedCase {
            try transaction(name, shows, receipt, signature, .notGenuine, "signatureMismatch")
        }
        let dearer = productionReceipt.with { $0.productId = Sample.yearly }
        return [
            try wrong(
                "ios6-flipped-signature-bit", "One bit of the signature is changed.",
                version2.with { $0.changeBlob = { blob in blob[40] ^= 1 } }),
            try wrong(
                "ios6-changed-purchase-info", "The product was exchanged after signing.",
                version2.with { $0.signsInstead = productionReceipt }, dearer),
            try wrong(
                "ios6-rewritten-purchase-info", "The signed property list was rewritten: same facts, other bytes.",
                version2.with { $0.innerStyleAfterSigning = .unquoted }),
            try wrong(
                "ios6-signed-without-version", "The signature covers the purchase-info and not the version byte.",
                version2.with { $0.signedPrefix = [] }),
            try wrong(
                "ios6-version-not-the-signed-one", "The blob states version 3, but version 2 was signed.",
                ForgedTransactionSignature.version3().with { $0.signedPrefix = [2] }, later),
            try wrong(
                "ios6-signed-by-other-key", "Another key signed; the genuine leaf is enclosed.",
                version2.with { $0.key = .foreignPurchaseReceipt }),
            try transaction(
                "ios6-v4-signed-with-sha1", "The blob states version 4, but the signature uses SHA-1.", newestReceipt,
                ForgedTransactionSignature.version4().with { $0.digest = .sha1 }, .notGenuine, "signatureMismatch"),
        ]
    }

    private static func wrongLeafCases() throws -> [ForgedCase] {
        let authority = try TestCertificateAuthority.shared()
        func version2(_ change: (inout CertificateDescription) -> Void, by issuer: ForgedCertificate?) throws
            -> ForgedTransactionSignature
        {
            let leaf = try TestCertificateAuthority.purchaseReceiptDescription(early: true).with(change)
                .issued(by: issuer)
            return ForgedTransactionSignature(certificate: leaf, version: 2)
        }
        let tooLate = productionReceipt.bought(at: boughtLater)
        let tooEarly = productionReceipt.bought(at: ForgedInstant(2009, 6, 1))
        func wrong(
            _ name: String, _ shows: String, _ reason: String, _ signature: ForgedTransactionSignature,
            _ receipt: ForgedTransactionReceipt = productionReceipt
        ) throws -> ForgedCase {
            try transaction(name, shows, receipt, signature, .notGenuine, reason)
        }
        return [
            try wrong(
                "ios6-unpinned-leaf", "A leaf of a foreign authority, with the right marker.", "untrustedLeaf",
                version2({ $0.key = .foreignPurchaseReceipt }, by: ForeignAuthority().certificates[2])),
            try wrong(
                "ios6-self-signed-leaf", "A leaf that signs itself, named as the genuine one.", "untrustedLeaf",
                version2({ $0.key = .foreignPurchaseReceipt }, by: nil)),
            try wrong(
                "ios6-leaf-without-marker", "A leaf of the true intermediate that lacks the marker 6.5.1.",
                "missingLeafMarker",
                version2(
                    {
                        $0.key = .foreignPurchaseReceipt
                        $0.serial = [0x7E, 0x57, 0x02]
                        $0.markers = []
                    }, by: authority.iTunesStoreIntermediate)),
            try wrong(
                "ios6-bought-after-leaf", "Bought after the leaf had expired.", "certificateExpired",
                .version2(at: tooLate.purchaseDate), tooLate),
            try wrong(
                "ios6-bought-before-leaf", "Bought before the leaf was valid.", "certificateNotYetValid",
                .version2(at: tooEarly.purchaseDate), tooEarly),
        ]
    }

    private static func unreadableTransactionCases() throws -> [ForgedCase] {
        let version2 = try ForgedTransactionSignature.version2(at: bought)
        func unreadable(
            _ name: String, _ shows: String, _ reason: String, _ change: (inout ForgedTransactionSignature) -> Void
        ) throws -> ForgedCase {
            try transaction(name, shows, productionReceipt, version2.with(change), .notAReceipt, reason)
        }
        return [
            try unreadable(
                "ios6-no-signature", "Only a purchase-info, as in samples that were never signed.", "missingKey"
            ) { $0.omitsSignature = true },
            try unreadable(
                "ios6-unknown-version", "The version byte of the signature is 5.", "malformedSignature"
            ) { $0.changeBlob = { $0[0] = 5 } },
            try unreadable(
                "ios6-signature-cut", "The certificate in the signature is cut off.", "malformedSignature"
            ) { $0.changeBlob = { $0.removeLast(100) } },
            try unreadable(
                "ios6-certificate-length-too-large", "The length of the certificate is four gigabytes.",
                "malformedSignature"
            ) { $0.changeBlob = { $0.replaceSubrange(129..<133, with: [0xFF, 0xFF, 0xFF, 0xFF]) } },
            try unreadable(
                "ios6-purchase-info-not-base64", "The purchase-info is no base64.", "malformedKey"
            ) { $0.purchaseInfoText = "this is *not* base64!" },
            try unreadable(
                "ios6-purchase-info-not-a-property-list", "The purchase-info is base64 of plain words.",
                "malformedPropertyList"
            ) { $0.changePurchaseInfo = { $0 = Array("plain words".utf8) } },
        ]
    }
}
