package import AppStoreModels

/// Detects purchases from other stores, which exports of billing services contain beside Apple's.
package enum OtherStore {
    /// Whether a member of the object states that it is a purchase from another store.
    package static func isNamed(in object: JSONObject) -> Bool {
        var hasPackage = false
        var hasToken = false
        for member in object.members {
            guard let text = member.value.string, !text.isEmpty else { continue }
            switch ColumnNames.meaning(of: member.key) {
            case .store?: if isStore(Array(text.utf8)) { return true }
            case .originalTransactionID?, .transactionID?, .orderID?: if isID(Array(text.utf8)) { return true }
            case .packageName?: hasPackage = true
            case .purchaseToken?: hasToken = true
            case .receipt?, nil: break
            }
        }
        return hasPackage && hasToken
    }

    /// Whether an id has the form of another store: `GPA.…` of Google, `sub_…` of Stripe and so on. Apple's are digits.
    package static func isID(_ text: some Collection<UInt8>) -> Bool {
        idBeginnings.contains { text.starts(with: $0) }
    }

    /// Whether a name is that of another store, compared without case, blanks, hyphens, underscores and dots.
    package static func isStore(_ text: some Collection<UInt8>) -> Bool {
        guard text.count <= 40 else { return false }
        let name = text.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: " "): nil
            default: byte
            }
        }
        return stores.contains(name)
    }

    private static let idBeginnings = ["GPA.", "sub_", "in_", "pi_", "ch_", "cs_", "txn_", "si_"].map { Array($0.utf8) }

    private static let stores: Set<[UInt8]> = Set(
        [
            "playstore", "googleplay", "googleplaystore", "google", "googlestore", "android", "play", "stripe",
            "amazon",
            "amazonappstore", "amazonstore", "amazonapps", "paddle", "rcbilling", "promotional", "roku", "samsung",
            "galaxystore", "samsunggalaxystore", "huawei", "huaweiappgallery", "appgallery", "paypal", "braintree",
            "recurly", "chargebee", "microsoftstore",
        ].map { Array($0.utf8) })
}
