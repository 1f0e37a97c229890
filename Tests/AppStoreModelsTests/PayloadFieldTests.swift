import AppStoreModels
import Foundation
import Testing

@Suite("Each field of a payload survives everything that the field table does")
struct PayloadFieldTests {
    @Test func transactionFieldsSurvive() throws { try expectFieldsSurvive(Sample.transaction) }
    @Test func renewalInfoFieldsSurvive() throws { try expectFieldsSurvive(Sample.renewalInfo) }
    @Test func appTransactionFieldsSurvive() throws { try expectFieldsSurvive(Sample.appTransaction) }

    @Test func theTablesHaveEveryDeclaredProperty() {
        #expect(properties(of: JWSTransactionDecodedPayload()) == names(JWSTransactionDecodedPayload.self))
        #expect(properties(of: JWSRenewalInfoDecodedPayload()) == names(JWSRenewalInfoDecodedPayload.self))
        #expect(properties(of: AppTransaction()) == names(AppTransaction.self))
    }

    /// The SQL for `FactRow.revokes` in PostgreSQL depends on it.
    @Test func noObjectAndNoArrayIsWrittenBeforeTheRevocationDate() throws {
        let text = String(decoding: written(Sample.transaction), as: UTF8.self)
        let end = try #require(text.firstRange(of: #""revocationDate":"#)).lowerBound
        #expect(text.contains(#""items":["#))
        #expect(!text[..<end].dropFirst().contains { "{[".contains($0) })
    }

    @Test func unknownMembersSurviveBesideKnownOnes() throws {
        for json in [
            #"{"price":5,"future":{"a":[1,{}]},"currency":"EUR","also":null}"#, #"{"future":true}"#,
            #"{ "future" : 1.50, "price" : 5 }"#, #"{"transactionId":"é","future":"\u00e9"}"#,
        ] {
            // Digit by digit, which the decoder of Foundation does not keep.
            let model: JWSTransactionDecodedPayload = try JSONValue.parse(Array(json.utf8)).decode()
            #expect(!model.unknownMembers.isEmpty)
            #expect(try readWritten(Array(json.utf8)) == model, "\(json)")
            #expect(try readWritten(written(model)) == model, "\(json)")
            var cleared = model
            for field in TransactionField.allCases { cleared.clear(field) }
            #expect(cleared.unknownMembers == model.unknownMembers)
        }
    }

    @Test func membersInAnyOrderAreRead() throws {
        let members = try #require(
            JSONSerialization.jsonObject(with: Data(written(Sample.transaction))) as? [String: Any])
        let parts = try TransactionField.allCases.reversed().map { field in
            let name = "\(field.name)"
            let value = try #require(members[name])
            let text = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed])
            return "\"\(name)\":" + String(decoding: text, as: UTF8.self)
        }
        #expect(try readWritten(Array("{\(parts.joined(separator: ","))}".utf8)) == Sample.transaction)
    }

    @Test func theLastOfTwoMembersWithOneNameCounts() throws {
        let model: JWSTransactionDecodedPayload = try readWritten(Array(#"{"price":1,"quantity":2,"price":3}"#.utf8))
        let expected = JWSTransactionDecodedPayload {
            $0.quantity = 2
            $0.price = 3
        }
        #expect(model == expected)
    }

    @Test func aClosureSetsTheMembersOfANewValue() {
        let model = JWSTransactionDecodedPayload {
            $0.price = 3
            $0.multiSeatInfo = TransactionMultiSeatInfo { $0.revokedSeatQuantity = 2 }
        }
        #expect(written(model) == Array(#"{"price":3,"multiSeatInfo":{"revokedSeatQuantity":2}}"#.utf8))
        #expect(throws: CancellationError.self) {
            try JWSTransactionDecodedPayload { _ in throw CancellationError() }
        }
    }

    @Test(arguments: ["", "{", "[]", "null", "{}x", #"{"price":1,}"#, #"{"price":"1"}"#, #"{"quantity":2147483648}"#])
    func damagedTextIsRefused(_ text: String) {
        #expect(throws: PayloadReadingError.self) {
            let _: JWSTransactionDecodedPayload = try readWritten(Array(text.utf8))
        }
    }

    @Test func payloadsShareLongTextsOfOneFieldAndKeepOthersApart() throws {
        var texts = CommonTexts()
        func read(_ text: String) throws -> JWSTransactionDecodedPayload {
            try Array(text.utf8).withUnsafeBufferPointer {
                try JWSTransactionDecodedPayload(written: $0, texts: &texts)
            }
        }
        let (one, other) = ("com.example.legacy.monthly", "com.example.legacy.yearly!")
        for _ in 0..<2 {
            #expect(try read(#"{"bundleId":"\#(other)","productId":"\#(one)"}"#).productId == one)
            #expect(try read(#"{"bundleId":"\#(one)","productId":"\#(other)"}"#).productId == other)
        }
    }

    // MARK: Checks

    /// Takes each field of a payload with all fields alone.
    private func expectFieldsSurvive<Model: Payload & Equatable>(_ full: Model) throws {
        var count = 0
        for field in Model.Field.allCases {
            let name = "\(field.name)"
            var alone = full
            for other in Model.Field.allCases where other != field { alone.clear(other) }

            let json = written(alone)
            let members = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
            #expect(members.map { Array($0.keys) } == [name], "the writer writes something else for \(name)")
            #expect(try decode(String(decoding: json, as: UTF8.self)) == alone, "the decoder loses \(name)")
            #expect(
                try JSONDecoder().decode(Model.self, from: JSONEncoder().encode(alone)) == alone,
                "the encoder loses \(name)")
            #expect(try readWritten(json) == alone, "the stored form loses \(name)")

            alone.clear(field)
            #expect(alone == Model(), "\(name) cannot be cleared")
            count += 1
        }
        #expect(count == names(Model.self).count)
    }

    private func names<Model: Payload>(_: Model.Type) -> Set<String> {
        Set(Model.Field.allCases.map { "\($0.name)" })
    }

    private func properties(of value: Any) -> Set<String> {
        let labels = Mirror(reflecting: value).children.compactMap(\.label).filter { $0 != "unknownMembers" }
        // What few transactions have is kept apart.
        return Set(
            labels.map { label in
                guard label.hasPrefix("rare") else { return label }
                return label.dropFirst(4).prefix(1).lowercased() + label.dropFirst(5)
            })
    }

    private func decode<Model: Decodable>(_ json: String) throws -> Model {
        try JSONDecoder().decode(Model.self, from: Data(json.utf8))
    }

    private func readWritten<Model: Payload>(_ json: [UInt8]) throws -> Model {
        var texts = CommonTexts()
        return try json.withUnsafeBufferPointer { try Model(written: $0, texts: &texts) }
    }
}

extension Payload {
    /// Removes the value of a field.
    fileprivate mutating func clear(_ field: Field) {
        var visitor = Clearing(field: field.rawValue)
        visit(&visitor)
    }
}

private struct Clearing: PayloadVisitor {
    let field: UInt8

    mutating func member<Value: PayloadValue>(
        _ name: StaticString, _ field: some PayloadField, _ value: inout Value?
    ) {
        if field.rawValue == self.field { value = nil }
    }
}
