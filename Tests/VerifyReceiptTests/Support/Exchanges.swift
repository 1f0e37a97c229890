import AppStoreModels
import ForgedTrust
import Foundation
import LegacyReceipts
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// An endpoint that trusts the test authority.
func testEndpoint(
    store: (any TransactionStore)? = nil, _ change: (inout EndpointConfiguration) throws -> Void = { _ in }
) throws -> VerifyReceiptEndpoint {
    var configuration = EndpointConfiguration(trust: try forgedTrust())
    // Other tests keep the disk and the processor busy.
    configuration.learningLimit = .seconds(60)
    try change(&configuration)
    return try VerifyReceiptEndpoint(configuration: configuration, store: store)
}

func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

/// A request's body; further members as JSON text.
func body(_ bytes: [UInt8], password: String? = nil, _ more: String = "") -> [UInt8] {
    body(text: base64(bytes), password: password, more)
}

func body(text: String, password: String? = nil, _ more: String = "") -> [UInt8] {
    let secret = password.map { #","password":"\#($0)""# } ?? ""
    return Array(#"{"receipt-data":"\#(text)"\#(secret)\#(more)}"#.utf8)
}

/// 2024-06-01T12:00:00.789Z.
let requestDate: Int64 = 1_717_243_200_789

/// A reply, read back.
struct ReadReply {
    let reply: VerifyReceiptReply
    let json: JSONValue

    init(_ reply: VerifyReceiptReply) throws {
        self.reply = reply
        json = try JSONValue.parse(reply.body)
        // The number in the body is the one that logs and metrics get.
        #expect(json["status"]?.integer == Int64(reply.status))
    }

    var status: Int { reply.status }
    var receipt: JSONObject? { json["receipt"]?.object }
    var inApp: [JSONObject] { receipt?["in_app"]?.array?.compactMap(\.object) ?? [] }
    var latest: [JSONObject]? { json["latest_receipt_info"]?.array?.compactMap(\.object) }
    var pending: [JSONObject]? { json["pending_renewal_info"]?.array?.compactMap(\.object) }
    var keys: Set<String> { Set(json.object?.members.map(\.key) ?? []) }
    func latest(_ id: String) -> JSONObject? { latest?.first { $0["transaction_id"]?.string == id } }
}

extension JSONObject {
    var keys: [String] { members.map(\.key) }
    func text(_ key: String) -> String? { self[key]?.string }
}

extension VerifyReceiptEndpoint {
    func ask(
        _ body: [UInt8], at environment: EndpointEnvironment = .production, now: Int64 = requestDate
    ) async throws -> ReadReply {
        try ReadReply(await reply(to: body, at: environment, now: now))
    }
}

// MARK: Samples

let bundleId = "com.example.orchard"
let created = ForgedInstant(2024, 3, 15, 10, 20, 30)
let monthly = "com.example.orchard.premium.monthly"
let tree = "com.example.orchard.tree.golden"

/// The n-th month, from 0, of a subscription that began two months before the receipt.
func month(_ number: Int64, product: String = monthly) -> ForgedPurchase {
    ForgedPurchase(
        .autoRenewable, product: product, id: String(530_001_234_567_000 + number * 1_037),
        at: created.adding(months: number - 2), originalId: "530001234567000", originallyAt: created.adding(months: -2)
    ).with {
        $0.expiresDate = .seconds(created.adding(months: number - 1))
        $0.webOrderLineItemId = 530_000_612_345_678 + number
        $0.isInIntroOfferPeriod = false
        $0.ownershipType = 0
    }
}

let nonConsumable = ForgedPurchase(
    .nonConsumable, product: tree, id: "530001234500001", at: created.adding(days: -40)
).with { $0.ownershipType = 0 }

func consumable(_ id: String) -> ForgedPurchase {
    ForgedPurchase(.consumable, product: "com.example.orchard.apples", id: id, at: created.adding(days: -3))
}

func appReceipt(
    _ purchases: [ForgedPurchase] = [], at date: ForgedInstant = created,
    _ change: (inout ForgedAppReceipt) -> Void = { _ in }
) throws -> [UInt8] {
    try ForgedAppReceipt.production(bundleId: bundleId, created: date).with {
        $0.purchases = purchases
        change(&$0)
    }.signedData(.g5).encoded()
}

func sandboxReceipt(
    _ purchases: [ForgedPurchase] = [], _ change: (inout ForgedAppReceipt) -> Void = { _ in }
) throws -> [UInt8] {
    try ForgedAppReceipt.sandbox(bundleId: bundleId, created: created).with {
        $0.purchases = purchases
        change(&$0)
    }.signedData(.g5).encoded()
}

/// One byte of the signature is another.
func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    bytes[bytes.count - 9] ^= 1
    return bytes
}

extension VerifyReceiptEndpoint {
    /// The facts of a receipt, as a store gets them.
    static func facts(of bytes: [UInt8]) throws -> FactSet {
        let verifier = try ReceiptVerifier(trust: forgedTrust())
        return try unwrap(FactSet(try verifier.verify(stored: bytes), bytes: bytes))
    }
}
