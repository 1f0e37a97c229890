import AppStoreModels
import Testing
import TransactionStore
import TransactionStoreConformance

/// What `FactEncoder` writes is read by a short way, all else by the reader of all of JSON. Which of the two reads a text
/// must make no difference.
@Suite("However the text of a stored fact is written, it is read as JSON is")
struct StoredTextTests {
    private static let texts = [
        #"{"originalTransactionId":"530000000000001","transactionId":"530000000000002","purchaseDate":1590969600000}"#,
        #"{"transactionId":"1","productId":"com.example.app.subscription.monthly","quantity":1,"isUpgraded":true}"#,
        #"{"transactionId":"1","type":"Auto-Renewable Subscription","isUpgraded":false,"price":-9990}"#,
        #"{"price":0,"transactionId":"","currency":"USD","revocationReason":1,"storefront":"Ω é"}"#,
        #"{"transactionId":"1","price":-9223372036854775808}"#, #"{"price":9223372036854775807,"quantity":-1}"#,
        #"{ "transactionId" : "1" , "price":5}"#,
        #"{"transactionId":"1","appAccountToken":null,"future":{"a":[1,"}"]},"price":5}"#,
        #"{"transactionId":"a\u0041\"b","offerIdentifier":"\\","commitmentInfo":{"commitmentPrice":9}}"#,
        "{}",
    ]

    private func read(_ text: [UInt8]) -> JWSTransactionDecodedPayload? {
        var assembler = CustomerAssembler(scope: StoreSamples.scope)
        let row = CustomerAssembler.Row(kind: 2, source: 2, signedDate: 1)
        do {
            try assembler.addIdentity(kind: 1, value: "1")
            try text.withUnsafeBufferPointer {
                try assembler.addTransaction(row, payload: $0, legacy: UnsafeBufferPointer(start: nil, count: 0))
            }
        } catch {
            return nil
        }
        return assembler.customer()?.transactions.first?.payload
    }

    private func parsed(_ text: [UInt8]) -> JWSTransactionDecodedPayload? {
        guard
            var payload: JWSTransactionDecodedPayload =
                try? text.withUnsafeBufferPointer({ try JSONValue.parse($0).decode() })
        else { return nil }
        payload.bundleId = StoreSamples.scope.bundleId
        payload.environment = StoreSamples.scope.environment
        return payload
    }

    @Test(arguments: texts) func asItIs(_ text: String) {
        #expect(read(Array(text.utf8)) != nil)
        #expect(read(Array(text.utf8)) == parsed(Array(text.utf8)))
    }

    @Test(arguments: texts) func withEachByteChangedTakenOutOrDoubled(_ text: String) {
        let original = Array(text.utf8)
        // Apple's dates may have fractions and exponents; what the store writes has none, and is damaged if it has.
        let others = Array("\"\\,:{}[]01-nt \n\u{0}".utf8) + [0x80, 0xC3, 0xFF]
        var accepted = 0
        for place in original.indices {
            var variants = others.map { other in
                var variant = original
                variant[place] = other
                return variant
            }
            variants.append(Array(original[..<place]))
            variants.append(Array(original[..<place] + original[(place + 1)...]))
            variants.append(Array(original[...place] + original[place...]))
            for variant in variants {
                let found = read(variant)
                if found != nil { accepted += 1 }
                #expect(found == parsed(variant), "\(String(decoding: variant, as: UTF8.self))")
            }
        }
        // Digits and letters may be others.
        #expect(accepted > 0 || text == "{}")
    }
}
