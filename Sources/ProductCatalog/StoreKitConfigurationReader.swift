import AppStoreModels
public import Foundation

/// Reads Xcode's StoreKit configuration files (`*.storekit`, JSON, major versions 1 to 4).
///
/// Unknown keys are ignored, because Xcode adds some with each version. Unknown types, periods and payment modes are
/// errors that name the element (`subscriptionGroups[0].subscriptions[2].recurringSubscriptionPeriod`). The file has no
/// term for non-renewing subscriptions; our own catalog provides it.
///
/// `internalID` is read as the App Store's number if it has only digits and more than eight characters, the length of
/// an identifier that Xcode generates.
public enum StoreKitConfigurationReader {
    /// The supported major versions.
    public static let majorVersions = 1...4

    /// The entries of one file: products, non-renewing subscriptions, then subscriptions by group.
    ///
    /// - Throws: ``CatalogError``.
    public static func entries(_ data: Data, file: String) throws(CatalogError) -> [CatalogEntry] {
        let configuration = try decode(data, file: file)
        var builder = StoreKitEntryBuilder(file: file)
        guard let version = configuration.version else {
            throw builder.error(.missingValue, "version", "a StoreKit configuration must have a version")
        }
        guard majorVersions.contains(version.major) else {
            throw builder.error(
                .unsupportedVersion, "version.major",
                "major version \(version.major) is not supported; supported are \(majorVersions.lowerBound) to "
                    + "\(majorVersions.upperBound)")
        }
        for (index, product) in (configuration.products ?? []).enumerated() {
            try builder.addProduct(product, at: "products[\(index)]")
        }
        for (index, product) in (configuration.nonRenewingSubscriptions ?? []).enumerated() {
            try builder.addNonRenewing(product, at: "nonRenewingSubscriptions[\(index)]")
        }
        for (index, group) in (configuration.subscriptionGroups ?? []).enumerated() {
            try builder.addGroup(group, at: "subscriptionGroups[\(index)]")
        }
        try CatalogText.requireUnique(builder.entries)
        return builder.entries
    }

    /// Whether a JSON text is a StoreKit configuration and not one of our catalogs: it has a key that only Xcode's
    /// files have.
    static func recognizes(_ data: Data) -> Bool {
        struct Probe: Decodable {
            struct Anything: Decodable {
                init(from decoder: any Decoder) {}
            }
            let subscriptionGroups: Anything?
            let nonRenewingSubscriptions: Anything?
            let settings: Anything?
        }
        guard let probe = try? JSONDecoder().decode(Probe.self, from: data) else { return false }
        return probe.subscriptionGroups != nil || probe.nonRenewingSubscriptions != nil || probe.settings != nil
    }

    private static func decode(_ data: Data, file: String) throws(CatalogError) -> StoreKitConfiguration {
        let whole = CatalogSource(file: file)
        guard data.count <= CatalogLimits.fileBytes else {
            throw CatalogError(.tooLarge, at: whole, "longer than \(CatalogLimits.fileBytes) bytes")
        }
        do {
            return try JSONDecoder().decode(StoreKitConfiguration.self, from: data)
        } catch let error as DecodingError {
            throw translate(error, file: file)
        } catch {
            throw CatalogError(.syntax, at: whole, "not readable as JSON")
        }
    }

    private static func translate(_ error: DecodingError, file: String) -> CatalogError {
        func place(_ path: [any CodingKey]) -> CatalogSource {
            var element = ""
            for key in path {
                if let index = key.intValue {
                    element += "[\(index)]"
                } else {
                    element += (element.isEmpty ? "" : ".") + key.stringValue
                }
            }
            return CatalogSource(file: file, element: element.isEmpty ? nil : element)
        }
        switch error {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            return CatalogError(.wrongType, at: place(context.codingPath), "expected a value of type \(type)")
        case .keyNotFound(let key, let context):
            return CatalogError(.missingValue, at: place(context.codingPath + [key]), "the value is missing")
        case .dataCorrupted(let context):
            let isSyntax = context.codingPath.isEmpty
            let reason = context.underlyingError.map { "\($0)" } ?? context.debugDescription
            return CatalogError(
                isSyntax ? .syntax : .wrongType, at: place(context.codingPath),
                isSyntax ? "not well-formed JSON: \(CatalogText.quoted(reason))" : "the value is out of bounds")
        @unknown default:
            return CatalogError(.syntax, at: place([]), "not readable as JSON")
        }
    }
}

struct StoreKitConfiguration: Decodable {
    struct Version: Decodable {
        let major: Int
    }

    struct Product: Decodable {
        let productID: String?
        let type: String?
        let displayPrice: String?
        let familyShareable: Bool?
        let internalID: String?
        let referenceName: String?
    }

    struct Group: Decodable {
        let id: String?
        let name: String?
        let subscriptions: [Subscription]?
    }

    struct Subscription: Decodable {
        let product: Product
        let terms: Terms

        init(from decoder: any Decoder) throws {
            product = try Product(from: decoder)
            terms = try Terms(from: decoder)
        }
    }

    /// What a subscription has beside the members of other products.
    struct Terms: Decodable {
        let recurringSubscriptionPeriod: String?
        let subscriptionGroupID: String?
        let groupNumber: Int?
        let introductoryOffer: Offer?
        let introductoryOffers: [Offer]?
        let adHocOffers: [Offer]?
        let codeOffers: [Offer]?
        let winbackOffers: [Offer]?
    }

    struct Offer: Decodable {
        let offerID: String?
        let referenceName: String?
        let paymentMode: String?
        let subscriptionPeriod: String?
        let numberOfPeriods: Int?
        let displayPrice: String?
    }

    let version: Version?
    let products: [Product]?
    let nonRenewingSubscriptions: [Product]?
    let subscriptionGroups: [Group]?
}
