import AppStoreModels
import Purchases

/// The purchase that the columns beside a document state in the form of a row of `latest_receipt_info`. The columns are the
/// caller's own, so it counts only if no document of the record states the purchase.
struct RowBeside {
    let transactionId: String
    let object: JSONObject
    private let productId: String
    private let hasOriginalId: Bool
    private let hasExpiry: Bool

    private static let id = "transaction_id"

    /// Nil if the columns are no such row, or a purchase of another store.
    /// - Parameter columns: the columns beside the document; those of the containers around it come first.
    init?(_ columns: [CarriedColumn]) {
        guard columns.count > 1,
            let id = columns.last(where: { $0.name == Self.id || $0.name.hasSuffix(".transaction_id") }),
            let transactionId = id.content, Self.isId(transactionId)
        else { return nil }
        let container = id.name.dropLast(Self.id.count)
        var names: Set<String> = []
        var members: [JSONObject.Member] = []
        var product: String?
        for column in columns where column.name.hasPrefix(container) {
            let name = String(column.name.dropFirst(container.count))
            guard let value = column.stated, names.insert(name).inserted else { continue }
            members.append(JSONObject.Member(key: name, value: value))
            if name == "product_id" { product = column.content }
        }
        guard let product, !OtherStore.isNamed(in: JSONObject(members: members)) else { return nil }
        self.transactionId = transactionId
        productId = product
        hasOriginalId = names.contains("original_transaction_id")
        hasExpiry = names.contains { $0.hasPrefix("expires_date") }
        object = JSONObject(members: members.filter { WireVocabulary.row.contains($0.key) })
    }

    /// Whether the purchase may be a period of one of these subscriptions.
    func mayContinue(_ subscriptions: StatedSubscriptions) -> Bool {
        subscriptions.mayContinue(inRowOf: productId, hasOriginalId: hasOriginalId, hasExpiry: hasExpiry)
    }

    private static func isId(_ text: String) -> Bool {
        text.utf8.count <= InputLimits.transactionIDDigits && text.utf8.allSatisfy(\.isDigit)
    }
}

/// A document beside which the columns can be a row.
struct PlaceOfRow {
    /// The columns beside the document alone.
    let carried: [CarriedColumn]
    /// The app and the environment that the document states.
    let bundleId: String?
    let environment: Environment?
    /// The place of the document in the record; nil if it is inside another one.
    let path: String?
}

extension RowBeside {
    /// The row as a document of its own.
    func document(_ beside: PlaceOfRow) -> InputDocument {
        InputDocument(payload: .transactions(.object(object)), path: "", carried: beside.carried, text: [])
    }
}

extension PlaceOfRow {
    /// The app and the environment that the document states.
    var scope: RecordScope {
        RecordScope(
            bundleId: bundleId, environment: environment, name: path.flatMap { $0.isEmpty ? nil : $0 } ?? "receipt")
    }
}

extension CarriedColumn {
    /// The value, if it is one of a row; nil for words in place of null, objects and arrays.
    fileprivate var stated: JSONValue? {
        guard content != nil else { return nil }
        switch value {
        case .text(let text): return .string(text)
        case .json(let json): return try? JSONValue.parse(Array(json.utf8))
        }
    }
}
