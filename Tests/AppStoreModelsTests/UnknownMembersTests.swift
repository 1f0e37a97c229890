import AppStoreModels
import Foundation
import Testing

/// Apple adds members without notice: what this version does not know passes through it.
@Suite struct UnknownMembersTests {
    private static let added = #"{"big":18446744073709551615,"list":[1,{"deep":null},"x",true,-2.5],"no":false}"#

    /// The JSON with a member added to every object in it, and how many there are.
    private static func grown(_ json: [UInt8]) throws -> (json: [UInt8], objects: Int) {
        let text = String(decoding: json, as: UTF8.self)
        let grown = text.replacing("{", with: "{\"fromTheFuture\":\(added),").replacing(",}", with: "}")
        return (Array(grown.utf8), text.count { $0 == "{" })
    }

    /// Foundation is the reference for the content of the text.
    private static func check<Payload: JSONModel>(_ sample: Payload, objects expected: Int) throws {
        let (json, objects) = try grown(Array(JSONEncoder().encode(sample)))
        #expect(objects == expected)
        let own: Payload = try JSONValue.parse(json).decode()
        let foundations = try JSONDecoder().decode(Payload.self, from: Data(json))
        #expect(own == foundations)
        #expect(own != sample)
        #expect(try canonical(JSONEncoder().encode(own)) == canonical(json))
        #expect(try canonical(JSONEncoder().encode(foundations)) == canonical(json))
        #expect(try canonical(written(own)) == canonical(json))
    }

    @Test("Every payload keeps unknown members, at every depth")
    func keptEverywhere() throws {
        try Self.check(Sample.transaction, objects: 11)
        try Self.check(Sample.renewalInfo, objects: 9)
        try Self.check(Sample.appTransaction, objects: 1)
        try Self.check(Sample.notification, objects: 6)
    }

    @Test("Digits are kept one by one")
    func digitsAreExact() throws {
        let json = #"{"transactionId":"0","a":1.50,"b":-0,"c":123456789012345678901234567890,"d":1E400}"#
        let payload: JWSTransactionDecodedPayload = try JSONValue.parse(Array(json.utf8)).decode()
        #expect(payload.transactionId == "0")
        #expect(writtenText(payload) == json)
    }

    @Test("A number that another encoder cannot say is an error, not a guess")
    func numberBeyondDouble() throws {
        let payload: AppTransaction = try JSONValue.parse(Array(#"{"a":1E400}"#.utf8)).decode()
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(payload) }
    }

    @Test("Of members with the same name the last one counts, and equal members give equal text")
    func lastOfOneName() throws {
        let one: AppTransaction = try JSONValue.parse(Array(#"{"b":1,"a":2,"b":3}"#.utf8)).decode()
        let other: AppTransaction = try JSONValue.parse(Array(#"{"b":3,"a":2}"#.utf8)).decode()
        #expect(one == other)
        #expect(one.unknownMembers.names == ["a", "b"])
        #expect(writtenText(one) == #"{"a":2,"b":3}"#)
    }

    @Test("A known member that is null is absent and not unknown")
    func nullOfAKnownName() throws {
        let payload: AppTransaction = try JSONValue.parse(Array(#"{"bundleId":null,"new":null}"#.utf8)).decode()
        #expect(payload.unknownMembers.names == ["new"])
        #expect(writtenText(payload) == #"{"new":null}"#)
    }
}
