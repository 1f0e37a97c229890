package import AppStoreModels

/// Detects purchases from other stores, which exports of billing services contain in addition to Apple's.
package enum OtherStore {
    /// Whether a member of the object states that it is a purchase from another store.
    package static func isNamed(in object: JSONObject) -> Bool {
        var members = OtherStoreMembers()
        for member in object.members {
            let meaning = ColumnNames.meaning(of: member.key)
            switch member.value {
            case .string(let text): members.add(member.key, meaning, text: text.utf8)
            case .integer, .number: members.addNumber(member.key)
            case .object: members.addObject(member.key)
            default: break
            }
        }
        return members.nameOtherStore
    }

    /// Whether an id has the form of another store: `GPA.…` of Google, `sub_…` of Stripe and so on. Apple's are digits.
    package static func isID(_ text: some Collection<UInt8>) -> Bool {
        idBeginnings.contains { text.starts(with: $0) } || isGoogleToken(text)
    }

    /// Google's purchase token: a word, `.AO-J1` and a long word.
    private static func isGoogleToken(_ text: some Collection<UInt8>) -> Bool {
        guard text.count >= 60, let dot = text.firstIndex(of: UInt8(ascii: ".")),
            text[dot...].starts(with: googleTokenMark)
        else { return false }
        return text.allSatisfy { $0.isASCIIAlphanumeric || "-_.".utf8.contains($0) }
    }

    /// Whether the text is a receipt of the Windows Store: XML in the namespace of those.
    package static func isWindowsReceipt(_ text: some Collection<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "<") else { return false }
        let head = text.prefix(2_000)
        var start = head.startIndex
        while let found = head[start...].firstIndex(of: windowsNamespace[0]) {
            if head[found...].starts(with: windowsNamespace) { return true }
            start = head.index(after: found)
        }
        return false
    }

    static func isStripeID(_ text: some Collection<UInt8>) -> Bool {
        stripeIDBeginnings.contains { text.starts(with: $0) }
    }

    static func isStripeType(_ text: some Collection<UInt8>) -> Bool {
        stripeTypes.contains { text.elementsEqual($0) }
    }

    private static let googleTokenMark = Array(".AO-J1".utf8)
    private static let windowsNamespace = Array("schemas.microsoft.com/windows/2012/store/receipt".utf8)
    private static let stripeIDBeginnings = [
        "sub_", "in_", "pi_", "ch_", "cs_", "txn_", "si_", "evt_", "cus_", "re_", "py_",
    ].map { Array($0.utf8) }
    private static let stripeTypes = [
        "subscription", "subscription_item", "invoice", "payment_intent", "charge", "checkout.session",
        "balance_transaction", "event", "customer", "refund",
    ].map { Array($0.utf8) }

    /// Whether a name is that of another store, compared without case, blanks, hyphens, underscores and dots.
    package static func isStore(_ text: some Collection<UInt8>) -> Bool {
        text.count <= 40 && stores.contains(text.compactMap(ColumnNames.compared))
    }

    private static let idBeginnings = ["GPA.", "sub_", "in_", "pi_", "ch_", "cs_", "txn_", "si_"].map { Array($0.utf8) }

    private static let stores: Set<[UInt8]> = Set(
        [
            "playstore", "googleplay", "googleplaystore", "androidplaystore", "google", "googlestore", "android",
            "play",
            "stripe", "amazon",
            "amazonappstore", "amazonstore", "amazonapps", "paddle", "rcbilling", "promotional", "roku", "samsung",
            "galaxystore", "samsunggalaxystore", "huawei", "huaweiappgallery", "appgallery", "paypal", "braintree",
            "recurly", "chargebee", "microsoftstore", "windowsstore",
            // Names in Unity's wrappers; the fake store is that of its editor.
            "udp", "fake", "fakestore", "winrt", "tizenstore", "samsungapps", "xiaomimipay", "moolahappstore",
            "facebookstore",
        ].map { Array($0.utf8) })
}

/// The store of a purchase, as the members of one object state it.
package struct OtherStoreMembers {
    private var isStated = false
    private var hasPackage = false
    private var hasToken = false
    private var hasNotificationNumber = false
    private var hasGoogleNotification = false
    private var hasStripeID = false
    private var hasStripeType = false
    private var hasAmazonReceipt = false
    private var hasAmazonMember = false
    private var hasRokuCustomer = false
    /// Members that a purchase of one store has together.
    private var parts: Parts = []

    private struct Parts: OptionSet {
        let rawValue: UInt16

        /// Of Samsung's verification without the name of the app, and of its SDK.
        static let samsungPayment = Parts(rawValue: 1 << 0)
        static let samsungItem = Parts(rawValue: 1 << 1)
        static let samsungPurchase = Parts(rawValue: 1 << 2)
        static let samsungAddress = Parts(rawValue: 1 << 3)
        /// Of the collection of a user in the Windows Store.
        static let windowsKind = Parts(rawValue: 1 << 4)
        static let windowsAcquisition = Parts(rawValue: 1 << 5)
        /// Of Roku's notification.
        static let rokuChannel = Parts(rawValue: 1 << 6)
        static let rokuType = Parts(rawValue: 1 << 7)
        static let rokuProduct = Parts(rawValue: 1 << 8)

        static let whole: [Parts] = [
            [.samsungPayment, .samsungItem], [.samsungPurchase, .samsungAddress], [.windowsKind, .windowsAcquisition],
            [.rokuChannel, .rokuType, .rokuProduct],
        ]
    }

    /// Whether a member has a value that only a subscription of Google or a notification of Paddle has.
    private var hasUnmistakableMember = false

    package init() {}

    /// Whether they state another store than Apple's.
    package var nameOtherStore: Bool {
        isStated || (hasStripeID && hasStripeType) || (hasToken && hasNotificationNumber)
            || (hasPackage && (hasToken || hasGoogleNotification))
    }

    /// Whether they are those of a purchase at another store by the names of several members. A caller's own members can have
    /// these names too, so this counts only for an object in which nothing else is found.
    package var mayBeOfOtherStore: Bool {
        (hasAmazonReceipt && hasAmazonMember) || (hasPackage && parts.contains(.samsungPayment)) || hasRokuCustomer
            || hasUnmistakableMember || Parts.whole.contains { parts.isSuperset(of: $0) }
    }

    package mutating func add(_ name: String, _ meaning: ColumnNames.Meaning?, text: some Collection<UInt8>) {
        guard !text.isEmpty else { return }
        switch meaning {
        case .store?: isStated = isStated || OtherStore.isStore(text)
        case .originalTransactionID?, .transactionID?, .orderID?: isStated = isStated || OtherStore.isID(text)
        case .packageName?: hasPackage = true
        case .purchaseToken?: hasToken = true
        case .receipt?: break
        case nil:
            switch name {
            case "kind": isStated = isStated || text.starts(with: Self.googleKind)
            case "id":
                hasStripeID = OtherStore.isStripeID(text)
                isStated = isStated || text.starts(with: Self.googleOrder)
            // Of the transaction of cordova-plugin-purchase.
            case "type": isStated = isStated || Self.cordovaTypes.contains { text.elementsEqual($0) }
            case "object": hasStripeType = OtherStore.isStripeType(text)
            case "receiptId": hasAmazonReceipt = text.count >= 20
            case "userId", "termSku", "sku", "appPackageName": hasAmazonMember = true
            case "productType":
                hasAmazonMember = hasAmazonMember || Self.amazonTypes.contains { text.elementsEqual($0) }
            case "paymentId": parts.insert(.samsungPayment)
            case "itemDesc": parts.insert(.samsungItem)
            case "mPurchaseId": parts.insert(.samsungPurchase)
            case "mVerifyUrl": parts.insert(.samsungAddress)
            case "productKind": parts.insert(.windowsKind)
            case "acquisitionType", "acquiredDate": parts.insert(.windowsAcquisition)
            case "channelId": parts.insert(.rokuChannel)
            case "transactionType": parts.insert(.rokuType)
            case "productCode": parts.insert(.rokuProduct)
            case "rokuCustomerId": hasRokuCustomer = true
            case "subscriptionState":
                hasUnmistakableMember = hasUnmistakableMember || text.starts(with: Self.googleState)
            case "latestOrderId":
                hasUnmistakableMember = hasUnmistakableMember || text.starts(with: Self.googleOrder)
            case "p_signature": hasUnmistakableMember = true
            default: break
            }
        }
    }

    package mutating func addNumber(_ name: String) {
        // Apple's are texts.
        if name == "notificationType" { hasNotificationNumber = true }
    }

    package mutating func addObject(_ name: String) {
        switch name {
        case "subscriptionNotification", "oneTimeProductNotification", "voidedPurchaseNotification":
            hasGoogleNotification = true
        default: break
        }
    }

    private static let googleKind = Array("androidpublisher#".utf8)
    private static let amazonTypes = ["CONSUMABLE", "ENTITLED", "SUBSCRIPTION"].map { Array($0.utf8) }
    private static let googleOrder = Array("GPA.".utf8)
    private static let googleState = Array("SUBSCRIPTION_STATE_".utf8)
    private static let cordovaTypes = ["android-playstore", "windows-store-transaction"].map { Array($0.utf8) }
}
