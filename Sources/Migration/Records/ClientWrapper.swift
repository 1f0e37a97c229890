/// The objects in which clients send a document to their server, and in which the App Store Server API answers. The summary
/// counts them. Documents are read under any name, so nothing else depends on them.
enum ClientWrapper: String, Sendable, Hashable, CaseIterable {
    case unity, requestBody, flutter, cordova, expo, reactNativeIAP, openIAP, capacitor, appStoreServerAPI

    /// The name of the member with the document, and of members that are beside it. The first form that fits counts.
    /// Documentation/Migrate.md has the same table.
    private static let forms: [(wrapper: ClientWrapper, document: String, beside: [String])] = [
        (.unity, "Payload", ["Store"]),
        (.requestBody, "receipt-data", []),
        (.flutter, "serverVerificationData", []),
        (.cordova, "appStoreReceipt", []),
        (.cordova, "transactionReceipt", ["appStoreReceipt"]),
        (.expo, "transactionReceipt", ["purchaseState"]),
        (.expo, "transactionReceipt", ["originalOrderId"]),
        (.reactNativeIAP, "transactionReceipt", []),
        (.reactNativeIAP, "jwsRepresentationIos", []),
        // Newer versions of react-native-iap, expo-iap and flutter_inapp_purchase send the same object.
        (.openIAP, "purchaseToken", ["productId", "isAutoRenewing"]),
        (.capacitor, "jwsRepresentation", ["productIdentifier"]),
        (.capacitor, "receipt", ["productIdentifier"]),
        (.cordova, "jwsRepresentation", ["type", "id"]),
        // Histories, orders and refunds; the statuses of subscriptions; notifications. The answers about one transaction and
        // about the app have no other member, so that their names are those of the documents.
        (.appStoreServerAPI, "signedTransactions", ["hasMore"]),
        (.appStoreServerAPI, "signedTransactions", ["status"]),
        (.appStoreServerAPI, "lastTransactions", []),
        (.appStoreServerAPI, "notificationHistory", []),
    ]

    /// The wrappers of the documents that were read in a record, each once.
    /// - Parameter members: the columns and members of the record.
    static func all(in members: [MemberPath]) -> Set<ClientWrapper> {
        var found: Set<ClientWrapper> = []
        let paths = Set(members.map(\.path))
        for member in members where member.fate.isRead {
            var container = ""
            for part in member.path.split(separator: ".", omittingEmptySubsequences: false) {
                let name = part.hasSuffix("[]") ? part.dropLast(2) : part
                let fitting = forms.first { form in
                    form.document == name && form.beside.allSatisfy { paths.contains(container + $0) }
                }
                if let fitting { found.insert(fitting.wrapper) }
                container += "\(part)."
            }
        }
        return found
    }
}
