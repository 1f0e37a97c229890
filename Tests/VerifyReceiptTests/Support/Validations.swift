import AppStoreModels
import LegacyReceipts
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// An endpoint that validates for the sample app.
func validatingEndpoint(
    store: (any TransactionStore)? = nil, _ change: (inout EndpointConfiguration) throws -> Void = { _ in }
) throws -> VerifyReceiptEndpoint {
    try testEndpoint(store: store) {
        var app = AppConfiguration(bundleId: bundleId)
        app.answersValidations = true
        $0.apps = [app]
        try change(&$0)
    }
}

/// A request of the plugin. The transaction is JSON text.
func validation(
    id: String = bundleId, type: String = "application", transaction: String, _ more: String = ""
) -> [UInt8] {
    Array(#"{"id":"\#(id)","type":"\#(type)","transaction":\#(transaction)\#(more)}"#.utf8)
}

/// A request about an app receipt, as the plugin sends it.
func validation(
    of receipt: [UInt8], id: String = bundleId, type: String = "application", _ more: String = ""
) -> [UInt8] {
    let transaction = #"{"type":"ios-appstore","id":"\#(id)","appStoreReceipt":"\#(base64(receipt))"}"#
    return validation(id: id, type: type, transaction: transaction, more)
}

/// A request about a transaction of StoreKit 2, as the plugin sends it: its id is the product's.
func validation(ofSigned jws: String, id: String = bundleId, type: String = "application") -> [UInt8] {
    validation(
        id: id, type: type, transaction: #"{"type":"apple-sk2","id":"\#(monthly)","jwsRepresentation":"\#(jws)"}"#)
}

/// A request about an iOS 6 style receipt.
func validation(ofOld receipt: [UInt8], id: String = bundleId, type: String = "application") -> [UInt8] {
    let transaction = #"{"type":"ios-appstore","transactionReceipt":"\#(base64(receipt))"}"#
    return validation(id: id, type: type, transaction: transaction)
}

/// Takes one JWS for genuine.
struct KnownSignedTransaction: SignedTransactionVerifying {
    struct NotGenuine: Error {}

    static let jws = "eyJhbGciOiJFUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl-_"
    /// A month of the subscription of the test receipts.
    static let transaction = JWSTransactionDecodedPayload {
        $0.originalTransactionId = "530001234567000"
        $0.transactionId = "530001234569999"
        $0.webOrderLineItemId = "530000612345678"
        $0.bundleId = bundleId
        $0.productId = monthly
        $0.subscriptionGroupIdentifier = "20662382"
        $0.purchaseDate = created.milliseconds
        $0.originalPurchaseDate = created.adding(months: -2).milliseconds
        $0.expiresDate = created.adding(months: 1).milliseconds
        $0.quantity = 1
        $0.type = .autoRenewableSubscription
        $0.inAppOwnershipType = .purchased
        $0.signedDate = created.milliseconds
        $0.environment = .production
    }
    var payload: JWSTransactionDecodedPayload

    func verifiedTransaction(_ jws: [UInt8], now: Int64) async throws -> Verified<JWSTransactionDecodedPayload> {
        guard jws.elementsEqual(Self.jws.utf8) else { throw NotGenuine() }
        let none = Fingerprint(of: [UInt8]())
        return Verified(
            payload: payload,
            evidence: SignatureEvidence(
                anchor: .additionalRoot, leaf: none, trustAnchor: none, digestAlgorithm: .sha256, validationTime: now))
    }
}

/// An answer to the plugin, read back.
struct ReadValidation {
    let reply: ValidationReply
    let json: JSONValue

    init(_ reply: ValidationReply) throws {
        self.reply = reply
        json = try JSONValue.parse(reply.body)
        if json["ok"] == .bool(true) {
            // Without these the plugin refuses an answer.
            #expect(reply.code == 0 && reply.httpStatus == 200)
            #expect(data?["id"]?.string != nil && data?["transaction"]?.object != nil)
        } else {
            #expect(json["ok"] == .bool(false))
            #expect(json["code"]?.integer == Int64(reply.code) && reply.code != 0)
            #expect(json["status"]?.integer == Int64(reply.httpStatus))
            #expect(json["message"]?.string?.isEmpty == false)
            #expect(data?["latest_receipt"]?.bool != nil)
        }
    }

    var isOK: Bool { json["ok"] == .bool(true) }
    var code: Int { reply.code }
    var message: String { json["message"]?.string ?? "" }
    var data: JSONObject? { json["data"]?.object }
    var transaction: JSONObject? { data?["transaction"]?.object }
    var collection: [JSONObject] { data?["collection"]?.array?.compactMap(\.object) ?? [] }
    func purchase(_ id: String) -> JSONObject? { collection.first { $0.text("id") == id } }
}

extension VerifyReceiptEndpoint {
    func ask(
        validation body: [UInt8], at environment: EndpointEnvironment = .production, now: Int64 = requestDate
    ) async throws -> ReadValidation {
        try ReadValidation(await validate(body, at: environment, now: now))
    }
}
