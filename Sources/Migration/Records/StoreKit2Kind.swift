import AppStoreModels

/// The kind of StoreKit 2 JSON without its signature, detected by its members.
package enum StoreKit2Kind: Sendable, Equatable {
    case transaction
    case renewalInfo
    case appTransaction

    /// - Parameter kind: the kind of the member with a name; nil if there is none.
    init?(_ kind: (String) -> JSONKind?) {
        func isText(_ name: String) -> Bool { kind(name) == .string }
        func isNumber(_ name: String) -> Bool { kind(name) == .number }
        // Some callers decoded ids to numbers.
        func isId(_ name: String) -> Bool {
            switch kind(name) {
            case .string?, .number?: true
            default: false
            }
        }
        if isId("transactionId"), isId("originalTransactionId"), isText("productId"), isNumber("purchaseDate") {
            self = .transaction
        } else if isId("originalTransactionId"), isNumber("autoRenewStatus"), kind("transactionId") == nil,
            isText("autoRenewProductId") || isText("productId")
        {
            self = .renewalInfo
        } else if isText("receiptType"), isText("bundleId"),
            isText("applicationVersion") || isText("originalApplicationVersion")
        {
            self = .appTransaction
        } else {
            return nil
        }
    }

    /// Apple's members of the payload. Others are the caller's own.
    var memberNames: Set<String> {
        switch self {
        case .transaction: Self.transactionNames
        case .renewalInfo: Self.renewalInfoNames
        case .appTransaction: Self.appTransactionNames
        }
    }

    private static let transactionNames = names(TransactionField.self)
        .union(JWSTransactionDecodedPayload.undocumentedNames)
    private static let renewalInfoNames = names(RenewalInfoField.self)
    private static let appTransactionNames = names(AppTransactionField.self).union(AppTransaction.undocumentedNames)

    private static func names<Field: PayloadField>(_: Field.Type) -> Set<String> {
        Set(Field.allCases.map { "\($0.name)" })
    }
}
