import AppStoreModels
import Foundation
import Testing

@Suite struct PayloadCodingTests {
    private func expectSameJSON<Payload: Equatable & JSONModel>(_ payload: Payload) throws {
        let fast = written(payload)
        let slow = try JSONEncoder().encode(payload)
        #expect(try canonical(fast) == canonical(slow))
        #expect(try JSONDecoder().decode(Payload.self, from: Data(fast)) == payload)
        #expect(try JSONDecoder().decode(Payload.self, from: slow) == payload)
    }

    @Test("write(to:) and Codable agree, and read back, for payloads with every field")
    func fullPayloads() throws {
        try expectSameJSON(Sample.transaction)
        try expectSameJSON(Sample.renewalInfo)
        try expectSameJSON(Sample.appTransaction)
    }

    @Test("An empty payload is an empty object")
    func emptyPayloads() throws {
        try expectSameJSON(JWSTransactionDecodedPayload())
        try expectSameJSON(JWSRenewalInfoDecodedPayload())
        try expectSameJSON(AppTransaction())
        #expect(writtenText(JWSTransactionDecodedPayload()) == "{}")
        #expect(writtenText(JWSRenewalInfoDecodedPayload()) == "{}")
        #expect(writtenText(AppTransaction()) == "{}")
        #expect(try JSONEncoder().encode(ResponseBodyV2DecodedPayload()) == Data("{}".utf8))
    }

    @Test("A notification reads back what was encoded")
    func notification() throws {
        let json = try JSONEncoder().encode(Sample.notification)
        #expect(try JSONDecoder().decode(ResponseBodyV2DecodedPayload.self, from: json) == Sample.notification)
    }

    @Test("The JSON is the one expected, to the letter")
    func exactText() {
        let transaction = JWSTransactionDecodedPayload {
            $0.transactionId = "2000000123"
            $0.purchaseDate = 1_697_680_122_257
            $0.quantity = 1
            $0.type = .nonConsumable
            $0.revocationReason = .issueWithinApp
            $0.isUpgraded = true
            $0.price = 10_990
            $0.commitmentInfo = TransactionCommitmentInfo { $0.billingPeriodNumber = 1 }
        }
        let expected =
            #"{"transactionId":"2000000123","purchaseDate":1697680122257,"quantity":1,"type":"Non-Consumable","#
            + #""revocationReason":1,"isUpgraded":true,"price":10990,"commitmentInfo":{"billingPeriodNumber":1}}"#
        #expect(writtenText(transaction) == expected)
    }

    @Test("The member names are those of Apple's documentation")
    func memberNames() throws {
        #expect(try memberPaths(written(Sample.transaction)) == AppleMemberNames.transaction)
        #expect(try memberPaths(written(Sample.renewalInfo)) == AppleMemberNames.renewalInfo)
        #expect(try memberPaths(written(Sample.appTransaction)) == AppleMemberNames.appTransaction)
        #expect(try memberPaths(JSONEncoder().encode(Sample.notification)) == AppleMemberNames.notification)
    }

    // MARK: Reading

    @Test(
        "Fractions of a millisecond are cut off toward zero (Xcode sends them)",
        arguments: [
            ("1697680122257.447", 1_697_680_122_257), ("1697680122257.999", 1_697_680_122_257), ("-0.9", 0),
            ("-1.9", -1),
            ("-62135769600000", -62_135_769_600_000), ("1.697680122257e12", 1_697_680_122_257),
            ("9007199254740993", 9_007_199_254_740_993), ("9223372036854775807", Int64.max),
            ("-9223372036854775808", Int64.min), ("0", 0),
        ])
    func fractionalDates(json: String, expected: Int64) throws {
        let transaction = try decode(JWSTransactionDecodedPayload.self, "{\"purchaseDate\":\(json)}")
        #expect(transaction.purchaseDate == expected)
    }

    @Test(
        "A date that is no number, or does not fit, is an error and not a guess",
        arguments: ["\"1697680122257\"", "true", "{}", "[1]", "9223372036854775808", "1e30", "-1e19"])
    func wrongDates(json: String) {
        #expect(throws: DecodingError.self) {
            try decode(JWSTransactionDecodedPayload.self, "{\"expiresDate\":\(json)}")
        }
        #expect(throws: DecodingError.self) {
            try decode(JWSRenewalInfoDecodedPayload.self, "{\"renewalDate\":\(json)}")
        }
        #expect(throws: DecodingError.self) { try decode(AppTransaction.self, "{\"preorderDate\":\(json)}") }
    }

    @Test("Every date of every payload takes fractions")
    func everyDateTakesFractions() throws {
        try expectFractionsAccepted(Sample.transaction)
        try expectFractionsAccepted(Sample.renewalInfo)
        try expectFractionsAccepted(Sample.appTransaction)
        try expectFractionsAccepted(Sample.notification)
    }

    /// Adds half a millisecond, away from zero, to every member with "Date" in its name.
    private func expectFractionsAccepted<Payload: Codable & Equatable>(_ payload: Payload) throws {
        let text = String(decoding: try JSONEncoder().encode(payload), as: UTF8.self)
        let fractional = text.replacing(/Date":(-?[0-9]+)/) { "Date\":\($0.output.1).5" }
        #expect(fractional != text)
        #expect(try decode(Payload.self, fractional) == payload)
    }

    @Test("null counts as absent, for every member")
    func nulls() throws {
        try expectNullsAccepted(Sample.transaction, JWSTransactionDecodedPayload())
        try expectNullsAccepted(Sample.renewalInfo, JWSRenewalInfoDecodedPayload())
        try expectNullsAccepted(Sample.appTransaction, AppTransaction())
        try expectNullsAccepted(Sample.notification, ResponseBodyV2DecodedPayload())
    }

    private func expectNullsAccepted<Payload: Codable & Equatable>(_ full: Payload, _ empty: Payload) throws {
        let json = try JSONEncoder().encode(full)
        let members = try #require(JSONSerialization.jsonObject(with: json) as? [String: Any])
        let nulls = try JSONSerialization.data(withJSONObject: members.mapValues { _ in NSNull() })
        #expect(try JSONDecoder().decode(Payload.self, from: nulls) == empty)
    }

    @Test(
        "A member of a wrong type, or an integer out of range, is an error",
        arguments: [
            #"{"quantity":2147483648}"#, #"{"quantity":"1"}"#, #"{"price":9223372036854775808}"#, #"{"isUpgraded":1}"#,
            #"{"type":1}"#, #"{"offerType":"1"}"#, #"{"transactionId":1}"#, #"{"commitmentInfo":[]}"#, "[]", "null",
        ])
    func wrongTypes(json: String) {
        #expect(throws: DecodingError.self) { try decode(JWSTransactionDecodedPayload.self, json) }
    }

    @Test("The text of appAccountToken is kept to the letter")
    func tokenText() throws {
        let token = "7E3FB204-2ab7-4B57-9C8E-0f60f2D3E1A0"
        let transaction = try decode(JWSTransactionDecodedPayload.self, "{\"appAccountToken\":\"\(token)\"}")
        #expect(transaction.appAccountToken == token)
        #expect(writtenText(transaction) == "{\"appAccountToken\":\"\(token)\"}")
    }
}
