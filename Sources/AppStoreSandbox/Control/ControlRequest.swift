internal import AppStoreModels
internal import Foundation
internal import Purchases

/// The fields of a request of the control API. Every error names its field.
struct ControlRequest {
    let fields: JSONObject

    init(_ body: [UInt8]) throws {
        if body.isEmpty {
            fields = JSONObject(members: [])
            return
        }
        do {
            fields = try required(
                JSONValue.parse(body).object, .invalidRequest, "the body is not a JSON object")
        } catch let error as JSONReadingError {
            throw SandboxError(.invalidRequest, error.message)
        }
    }

    func text(_ name: String) throws -> String {
        try required(optionalText(name), .invalidRequest, "\(name): missing")
    }

    func optionalText(_ name: String) throws -> String? {
        try optional(name, "a string") { $0.string }
    }

    func optionalInteger(_ name: String) throws -> Int64? {
        try optional(name, "an integer") { $0.integer }
    }

    func integer(_ name: String) throws -> Int64 {
        try required(optionalInteger(name), .invalidRequest, "\(name): missing")
    }

    /// The required number of seats.
    func seats() throws -> Int32 { Int32(clamping: try integer("seats")) }

    func bool(_ name: String, default value: Bool) throws -> Bool {
        try optional(name, "true or false") { $0.bool } ?? value
    }

    func texts(_ name: String) throws -> [String] {
        let texts = try optional(name, "a list of strings") { value -> [String]? in
            guard let array = value.array else { return nil }
            let texts = array.compactMap(\.string)
            return texts.count == array.count ? texts : nil
        }
        return try required(texts, .invalidRequest, "\(name): missing")
    }

    private func optional<Value>(_ name: String, _ kind: String, _ read: (JSONValue) -> Value?) throws -> Value? {
        guard let value = fields[name], !value.isNull else { return nil }
        guard let read = read(value) else { throw SandboxError(.invalidRequest, "\(name): must be \(kind)") }
        return read
    }

    /// The fault in a request to add one.
    func fault() throws -> SandboxFault {
        var fault = SandboxFault(try SandboxFault.kind(try text("kind")))
        fault.count = try optionalInteger("count").map { Int(clamping: $0) }
        fault.share =
            try optional("share", "a number") { value in
                if case .number(let text) = value { return Double(text) }
                return value.integer.map { Double($0) }
            } ?? fault.share
        fault.path = try optionalText("path")
        fault.status = try optionalInteger("status").map { Int(clamping: $0) } ?? fault.status
        fault.code = try optionalInteger("code") ?? fault.code
        fault.retryAfter = try optionalInteger("retryAfter") ?? fault.retryAfter
        fault.delay = try optionalInteger("delay") ?? fault.delay
        try fault.check()
        return fault
    }

    /// The order in a request to buy.
    func order(wallClock: Int64?) throws -> SandboxOrder {
        var order = SandboxOrder(customer: try text("customer"), productId: try text("productId"))
        if let quantity = try optionalInteger("quantity") {
            order.quantity = try required(Int32(exactly: quantity), .invalidRequest, "quantity: must be 1 to 10")
        }
        order.seats = try optionalInteger("seats").map { Int32(clamping: $0) }
        if let ownership = try optionalText("ownership") {
            guard ["PURCHASED", "ASSIGNED"].contains(ownership) else {
                throw SandboxError(.invalidRequest, "ownership: must be PURCHASED or ASSIGNED")
            }
            order.isAssigned = ownership == "ASSIGNED"
        }
        order.appAccountToken = try optionalText("appAccountToken")
        order.wallClock = wallClock
        if let offer = fields["offer"], !offer.isNull {
            let fields = try required(offer.object, .invalidRequest, "offer: must be an object")
            order.redemption = try ControlRequest(fields: fields).redemption()
        }
        return order
    }

    private init(fields: JSONObject) { self.fields = fields }

    private func redemption() throws -> SandboxOrder.Redemption {
        switch try text("type") {
        case "none": return .withoutOffer
        case "introductory":
            return try optionalText("signature").map { .introductory(signedEligibility: $0) } ?? .automatic
        case "offer-code": return .offerCode(try text("identifier"))
        case "win-back": return .winBack(try text("identifier"))
        case "promotional":
            if let signature = try optionalText("signature") {
                return .promotionalV2(offerIdentifier: try text("identifier"), signature: signature)
            }
            let timestamp = try required(
                optionalInteger("timestamp"), .invalidRequest, "offer.timestamp: missing")
            return .promotionalV1(
                PromotionalOfferSignatureV1(
                    encodedSignature: try text("encodedSignature"), productId: try text("productId"),
                    nonce: try text("nonce"), timestamp: timestamp, keyId: try text("keyId"),
                    offerIdentifier: try text("identifier"), appAccountToken: try optionalText("appAccountToken")))
        default:
            throw SandboxError(
                .invalidRequest, "offer.type: must be introductory, promotional, offer-code, win-back or none")
        }
    }
}
