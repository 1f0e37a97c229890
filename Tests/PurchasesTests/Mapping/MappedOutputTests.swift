import AppStoreModels
import LegacyReceipts
import Purchases
import TestSupport
import Testing

@Suite struct MappedOutputTests {
    typealias Support = MappingSupport

    @Test func aLineContainsTransactionProvenanceAndNotes() throws {
        let purchase = InAppPurchase(
            quantity: 1, productId: "p", transactionId: "2", originalTransactionId: "1", productType: .nonConsumable)
        var mapped = try Support.mapOne(purchase)
        var writer = JSONWriter()
        writer.beginObject()
        var provenance = ProvenanceText<TransactionField>()
        mapped.writeMembers(to: &writer, &provenance)
        writer.member("source", "here")
        writer.endObject()
        let line = try JSONValue.parse(writer.bytes)
        #expect(line.object?.members.map(\.key) == ["transaction", "provenance", "notes", "standing", "source"])
        #expect(line["transaction"]?["transactionId"] == .string("2"))
        #expect(line["provenance"]?["transactionId"] == .string("attribute 1703"))
        #expect(line["provenance"]?["transactionReason"] == .string("inferred: onlySubscriptionsRenew"))
        #expect(line["notes"] == .array([.string("restored")]))
        #expect(line["standing"] == .string("verifiedReceipt"))
    }

    @Test func provenanceThatIsRememberedIsTheSameAsProvenanceMadeAnew() throws {
        let purchases = [
            InAppPurchase(quantity: 1, productId: "p", transactionId: "1", originalTransactionId: "1"),
            InAppPurchase(quantity: 2, productId: "q", transactionId: "2", originalTransactionId: "2"),
            InAppPurchase(productId: "p", transactionId: "3", originalTransactionId: "1", productType: .consumable),
            InAppPurchase(quantity: 1, productId: "p", transactionId: "1", originalTransactionId: "1"),
        ]
        var remembered = ProvenanceText<TransactionField>()
        for purchase in purchases {
            let provenance = try Support.mapOne(purchase).provenance
            var (anew, again) = (JSONWriter(), JSONWriter())
            provenance.write(to: &anew)
            remembered.write(provenance, to: &again)
            #expect(anew.bytes == again.bytes)
        }
    }

    @Test func moreProvenancesThanAreRememberedAreAllWrittenRight() throws {
        // Every set of five optional attributes is a provenance of its own: 32, again and again in another order.
        let provenances = try (0..<32).map { set in
            try Support.mapOne(
                InAppPurchase(
                    quantity: set & 1 == 0 ? nil : 1, productId: "p", transactionId: "1",
                    purchaseDate: set & 2 == 0 ? nil : 1, originalPurchaseDate: set & 4 == 0 ? nil : 1,
                    productType: set & 8 == 0 ? nil : .consumable, isTrialPeriod: set & 16 == 0 ? nil : true)
            ).provenance
        }
        var remembered = ProvenanceText<TransactionField>()
        for step in [1, 3, 5, 7, 11] {
            for index in 0..<64 {
                let provenance = provenances[index * step % 32]
                var (anew, again) = (JSONWriter(), JSONWriter())
                provenance.write(to: &anew)
                remembered.write(provenance, to: &again)
                #expect(anew.bytes == again.bytes)
            }
        }
    }

    @Test func theAppTransactionIsWrittenTheSameWay() throws {
        var app = try unwrap(Support.map([]).appTransaction)
        var writer = JSONWriter()
        writer.beginObject()
        var provenance = ProvenanceText<AppTransactionField>()
        app.writeMembers(to: &writer, &provenance)
        writer.endObject()
        let line = try JSONValue.parse(writer.bytes)
        #expect(line["appTransaction"]?["appAppleId"] == .integer(42))
        #expect(line["provenance"]?["appAppleId"] == .string("attribute 1"))
    }

    @Test func eachFieldHasAProvenanceUnderItsOwnName() throws {
        try expectProvenance(TransactionField.self)
        try expectProvenance(RenewalInfoField.self)
        try expectProvenance(AppTransactionField.self)
    }

    private func expectProvenance<Field: PayloadField>(_: Field.Type) throws {
        for field in Field.allCases {
            var provenance = FieldProvenance<Field>()
            provenance.record(field, .signedAttribute(Int(field.rawValue) + 1))
            #expect(Field.allCases.filter { provenance.isPresent($0) } == [field])
            #expect(provenance[field] == .signedAttribute(Int(field.rawValue) + 1))
            var writer = JSONWriter()
            provenance.write(to: &writer)
            let expected = "{\"\(field.name)\":\"attribute \(field.rawValue + 1)\"}"
            #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
        }
    }

    @Test func fieldsAndRulesHaveDistinctNames() {
        #expect(Set(TransactionField.allCases.map { "\($0.name)" }).count == 36)
        #expect(Set(RenewalInfoField.allCases.map { "\($0.name)" }).count == 26)
        #expect(Set(AppTransactionField.allCases.map { "\($0.name)" }).count == 14)
        #expect(TransactionField.allCases.allSatisfy { "\($0.name)" == "\($0)" })
        #expect(RenewalInfoField.allCases.allSatisfy { "\($0.name)" == "\($0)" })
        #expect(AppTransactionField.allCases.allSatisfy { "\($0.name)" == "\($0)" })
        for rule in InferenceRule.allCases {
            #expect(Provenance.inferred(rule).text == "inferred: \(rule.name)")
        }
    }

    @Test func everyAttributeTextNamesItsNumber() {
        for number in Array(0...40) + Array(1700...1730) {
            #expect(Provenance.signedAttribute(number).text == "attribute \(number)")
        }
    }
}
