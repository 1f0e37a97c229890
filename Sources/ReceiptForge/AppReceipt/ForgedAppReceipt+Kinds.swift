extension ForgedAppReceipt {
    /// The date that sandbox receipts give for the purchase of every app (Reference.md V3.2).
    static let sandboxOriginalPurchase = ForgedInstant(2013, 8, 1, 7)

    /// A receipt as iOS holds it for an app from the App Store.
    public static func production(bundleId: String, created: ForgedInstant) -> Self {
        common(bundleId: bundleId, created: created).with {
            $0.receiptType = "Production"
            $0.appItemId = 6_001_234_567
            $0.keptCreationDate = .seconds(created)
            $0.developerId = 512_345_678
            $0.downloadId = 503_412_345_678_901_234
            $0.versionExternalIdentifier = 852_345_678
            $0.originalPurchaseDate = .seconds(created.adding(months: -14))
            $0.originalApplicationVersion = "1.2"
        }
    }

    /// A receipt of the sandbox: TestFlight, App Review, sandbox accounts.
    public static func sandbox(bundleId: String, created: ForgedInstant) -> Self {
        common(bundleId: bundleId, created: created).with {
            $0.receiptType = "ProductionSandbox"
            $0.appItemId = 0
            $0.keptCreationDate = .empty
            $0.developerId = 0
            $0.downloadId = 0
            $0.versionExternalIdentifier = 0
            $0.originalPurchaseDate = .seconds(sandboxOriginalPurchase)
            $0.originalApplicationVersion = "1.0"
        }
    }

    /// A receipt of the Mac App Store: platform 2, no attribute 20, a MAC address of six bytes in the device hash.
    public static func mac(bundleId: String, created: ForgedInstant, guid: [UInt8]) -> Self {
        production(bundleId: bundleId, created: created).with {
            $0.platform = 2
            $0.hasAttribute20 = false
            $0.deviceModel = 1
            $0.osVersion = 20_100
            $0.deviceGuid = guid
        }
    }

    /// A receipt of Xcode's StoreKit testing: few attributes, by type, dates with an offset, no end in this millennium.
    public static func xcode(bundleId: String, created: ForgedInstant, offsetMinutes: Int64 = 60) -> Self {
        Self().with {
            $0.order = .byType
            $0.receiptType = "Xcode"
            $0.appItemId = 0
            $0.bundleId = bundleId
            $0.applicationVersion = "31"
            $0.opaqueValue = opaqueBytes("Xcode", count: 8)
            $0.opaqueValueVersion = 1
            $0.keptCreationDate = .empty
            $0.creationDate = .offset(created, minutes: offsetMinutes)
            $0.expirationDate = .offset(ForgedInstant(4001, 1, 1), minutes: 0)
        }
    }

    private static func common(bundleId: String, created: ForgedInstant) -> Self {
        let seed = "\(bundleId) \(created.milliseconds)"
        return Self().with {
            $0.bundleId = bundleId
            $0.applicationVersion = "3.4.1"
            $0.opaqueValue = opaqueBytes("4 \(seed)", count: 16)
            $0.deviceGuid = opaqueBytes("guid \(bundleId)", count: 16)
            $0.attribute6 = opaqueBytes("6 \(seed)", count: 64)
            $0.attribute7 = opaqueBytes("7 \(seed)", count: 57)
            $0.serviceBuild = "P256"
            $0.ageRating = "4+"
            $0.creationDate = .seconds(created)
            $0.osVersion = 150_101
            $0.deviceModel = 256
            $0.hasAttribute20 = true
            $0.platform = 3
        }
    }

    /// The message for this receipt in Apple's shape, signed by the test authority's leaf of a generation.
    public func signedData(_ generation: TestCertificateAuthority.Generation) throws -> ForgedSignedData {
        let chain = try TestCertificateAuthority.shared().chain(generation)
        return ForgedSignedData(content: content, chain: chain, digest: generation.digest)
    }

    /// The message in Xcode's shape: BER, one segment, one self-signed certificate, SHA-256.
    public func signedDataOfXcode() throws -> ForgedSignedData {
        let chain = [try TestCertificateAuthority.shared().xcode]
        return ForgedSignedData(content: content, chain: chain, digest: .sha256).with {
            $0.encoding = .ber(segmentLength: 1_000)
        }
    }
}
