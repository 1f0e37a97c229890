import AppStoreModels
import Foundation
import Testing

/// Foundation's decoder is the reference for the text: both must read the same from it. What the values mean is the same code
/// for both, so the tests state it.
@Suite struct JSONValueDecoderTests {
    private static func ours<Value: JSONModel>(_ json: String) throws -> Value {
        try JSONValue.parse(Array(json.utf8)).decode()
    }

    private static func foundations<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    private static func agree<Value: JSONModel>(on value: Value) throws {
        let json = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        let read: Value = try ours(json)
        #expect(read == value)
        let reference: Value = try foundations(json)
        #expect(read == reference)
    }

    @Test("Every payload with every member set, and without any")
    func payloads() throws {
        try Self.agree(on: Sample.transaction)
        try Self.agree(on: Sample.renewalInfo)
        try Self.agree(on: Sample.appTransaction)
        try Self.agree(on: Sample.notification)
        try Self.agree(on: JWSTransactionDecodedPayload { $0.transactionId = "1" })
        try Self.agree(on: ResponseBodyV2DecodedPayload())
        let empty: JWSTransactionDecodedPayload = try Self.ours("{}")
        #expect(empty == JWSTransactionDecodedPayload())
    }

    @Test("Members that are null count as absent, unknown ones are kept where the model keeps them")
    func nullAndUnknown() throws {
        let json = #"{"environment":null,"productId":"a","new":{"a":[1,-2.5,18446744073709551615,true,null,"x",{}]}}"#
        let read: DecodedRealtimeRequestBody = try Self.ours(json)
        let reference: DecodedRealtimeRequestBody = try Self.foundations(json)
        #expect(read == reference)
        #expect(read.environment == nil && read.unknownMembers.names == ["new"])
    }

    @Test(
        "Dates are cut toward zero, numbers are exact",
        arguments: [
            ("0", 0), ("-1", -1), ("1.0", 1), ("1e3", 1_000), ("0.1e1", 1), ("-1.9", -1),
            ("1697680122257.447", 1_697_680_122_257), ("-62135769600000", -62_135_769_600_000),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ] as [(String, Int64)])
    func numbers(text: String, expected: Int64) throws {
        let read: JWSTransactionDecodedPayload = try Self.ours("{\"signedDate\":\(text)}")
        let reference: JWSTransactionDecodedPayload = try Self.foundations("{\"signedDate\":\(text)}")
        #expect(read.signedDate == expected && reference.signedDate == expected)
    }

    @Test("Each member has the value of the property with its name")
    func valuesOfProperties() throws {
        try expectValuesOfProperties(Sample.transaction, structures: 3)
        try expectValuesOfProperties(Sample.renewalInfo, structures: 4)
        try expectValuesOfProperties(Sample.appTransaction, structures: 0)
    }

    /// Reading and writing use one table, so a wrong property in it survives both.
    /// - Parameters:
    ///   - payload: a payload with all members.
    ///   - structures: how many of them are objects or arrays, which are not compared.
    @inline(never)
    private func expectValuesOfProperties<Model: Payload>(_ payload: Model, structures: Int) throws {
        let object = try #require(try JSONValue.parse(written(payload)).object)
        var compared = 0
        for child in Mirror(reflecting: payload).children {
            guard let name = child.label, let value = Mirror(reflecting: child.value).children.first?.value else {
                continue
            }
            let raw: Any = (value as? any RawRepresentable)?.rawValue ?? value
            let expected: JSONValue
            switch raw {
            case let text as String: expected = .string(text)
            case let flag as Bool: expected = .bool(flag)
            case let number as Int64: expected = .integer(number)
            case let number as Int32: expected = .integer(Int64(number))
            default: continue
            }
            #expect(object[name] == expected, "\(name)")
            compared += 1
        }
        #expect(compared == Model.Field.allCases.count - structures)
    }

    @Test(
        "Values that Foundation rejects are rejected, and the member is named",
        arguments: [
            (#"{"quantity":"1"}"#, "quantity"), (#"{"quantity":1.5}"#, "quantity"),
            (#"{"quantity":2147483648}"#, "quantity"),
            (#"{"isUpgraded":1}"#, "isUpgraded"), (#"{"productId":1}"#, "productId"), (#"{"type":7}"#, "type"),
            (#"{"offerType":"1"}"#, "offerType"), (#"{"signedDate":1e30}"#, "signedDate"), (#"{"price":[]}"#, "price"),
            (#"{"advancedCommerceInfo":{"items":[{"SKU":"a"},{"SKU":1}]}}"#, "advancedCommerceInfo.items.1.SKU"),
            (#"{"commitmentInfo":[]}"#, "commitmentInfo"), ("[]", ""), ("1", ""),
        ])
    func refusals(json: String, path: String) throws {
        #expect(throws: DecodingError.self) {
            let _: JWSTransactionDecodedPayload = try Self.foundations(json)
        }
        #expect {
            let _: JWSTransactionDecodedPayload = try Self.ours(json)
        } throws: { error in
            let context: DecodingError.Context? =
                switch error as? DecodingError {
                case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                    .dataCorrupted(let context):
                    context
                default: nil
                }
            return context?.codingPath.map(\.stringValue).joined(separator: ".") == path
        }
    }

    @Test("Objects with two members of one name are known, small and large, at any depth")
    func uniqueNames() throws {
        func isUnique(_ json: String) throws -> Bool { try JSONValue.parse(Array(json.utf8)).hasUniqueNames }
        #expect(try isUnique(#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}"#))
        #expect(try !isUnique(#"{"a":1,"b":2,"a":1}"#))
        #expect(try !isUnique(#"{"a":1,"\u0061":1}"#))
        #expect(try !isUnique(#"[[{"b":{"a":1,"a":1}}]]"#))
        let many = (0..<100).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
        #expect(try isUnique("{\(many)}"))
        #expect(try !isUnique("{\(many),\"m50\":0}"))
    }
}
