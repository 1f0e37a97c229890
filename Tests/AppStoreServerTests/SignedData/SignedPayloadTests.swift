import AppStoreModels
import AppStoreServer
import Crypto
import Foundation
import ReceiptForge
import Testing

@Suite("Data signed by the App Store is verified")
struct SignedPayloadTests {
    @Test("A transaction, with the evidence of its signature")
    func transaction() async throws {
        let bytes = try Signed.transaction()
        let verified = try await Signed.verifier().verifiedTransaction(
            Signed.sign(bytes), expecting: Signed.sandbox, now: Signed.now)
        #expect(try Signed.json(verified.payload) == bytes)
        #expect(verified.evidence.anchor == .additionalRoot)
        #expect(verified.evidence.leaf == Fingerprint(of: Signed.authority.leaf.der))
        #expect(verified.evidence.trustAnchor == Fingerprint(of: Signed.authority.rootCertificate))
        #expect(verified.evidence.digestAlgorithm == .sha256)
        #expect(verified.evidence.validationTime == Signed.date)
    }

    @Test("A renewal info, an app transaction, a realtime request")
    func others() async throws {
        let verifier = try Signed.verifier()
        let renewalInfo = try await verifier.verifiedRenewalInfo(
            Signed.sign(Signed.renewalInfo()), expecting: Signed.sandbox, now: Signed.now)
        #expect(renewalInfo.payload.autoRenewStatus == .on)
        let appTransaction = try await verifier.verifiedAppTransaction(
            Signed.sign(Signed.appTransaction()), expecting: Signed.sandbox, now: Signed.now)
        #expect(appTransaction.payload.originalApplicationVersion == "1.0")
        #expect(appTransaction.evidence.validationTime == Signed.date)
        let request = try await verifier.verifiedRealtimeRequest(
            Signed.sign(Signed.realtimeRequest()), expecting: Signed.sandbox, now: Signed.now)
        #expect(request.payload.userLocale == "en-US")
    }

    @Test("A payload without a date is checked at the current time")
    func withoutDate() async throws {
        let jws = try Signed.sign(Signed.transaction { $0.signedDate = nil })
        let verified = try await Signed.verifier().verifiedTransaction(
            jws, expecting: Signed.anything, now: Signed.date + 1)
        #expect(verified.evidence.validationTime == Signed.date + 1)
        #expect(try await Signed.refusal(of: jws, now: Signed.now)?.code == .certificateExpired)
    }

    @Test("Another app is refused, before another environment is")
    func otherApp() async throws {
        let jws = try Signed.sign(Signed.transaction())
        let other = SignedDataExpectation(bundleId: "com.example.other", environments: [.production])
        #expect(try await Signed.refusal(of: jws, expecting: other)?.code == .bundleIdMismatch)
        let nameless = try Signed.sign(Signed.transaction { $0.bundleId = nil })
        #expect(try await Signed.refusal(of: nameless, expecting: Signed.sandbox)?.code == .bundleIdMismatch)
    }

    @Test("Another environment is refused, an absent and an unknown one too")
    func otherEnvironment() async throws {
        for environment in [Environment.sandbox, Environment(rawValue: "Moon"), nil] {
            let jws = try Signed.sign(Signed.transaction { $0.environment = environment })
            #expect(try await Signed.refusal(of: jws, expecting: Signed.production)?.code == .environmentMismatch)
            #expect(try await Signed.refusal(of: jws, expecting: Signed.anything) == nil)
        }
    }

    @Test("The Apple ID is compared in production, where the payload has it", arguments: [nil, Int64(1)])
    func otherAppleId(appAppleId: Int64?) async throws {
        let verifier = try Signed.verifier()
        let production = try Signed.sign(
            Signed.appTransaction { ($0.appAppleId, $0.receiptType) = (appAppleId, .production) })
        await #expect {
            try await verifier.verifiedAppTransaction(production, expecting: Signed.production, now: Signed.now)
        } throws: {
            ($0 as? SignedDataError)?.code == .appAppleIdMismatch
        }
        let sandbox = try Signed.sign(Signed.appTransaction { $0.appAppleId = appAppleId })
        _ = try await verifier.verifiedAppTransaction(sandbox, expecting: Signed.sandbox, now: Signed.now)
        let request = try Signed.sign(
            Signed.realtimeRequest { ($0.appAppleId, $0.environment) = (appAppleId, .production) })
        await #expect {
            try await verifier.verifiedRealtimeRequest(request, expecting: Signed.production, now: Signed.now)
        } throws: {
            ($0 as? SignedDataError)?.code == .appAppleIdMismatch
        }
    }

    @Test("A member of a wrong type is named, and its value is not")
    func wrongType() async throws {
        let jws = try Signed.sign(Array(#"{"bundleId":"com.example.orchard","quantity":"seven"}"#.utf8))
        let error = try #require(try await Signed.refusal(of: jws))
        #expect(error.code == .malformedPayload && error.location == .payload)
        #expect(error.message.contains("quantity") && !error.message.contains("seven"))
    }

    @Test(
        "A payload that is not one object of unique members is refused",
        arguments: [
            "", "{", "[]", "null", "\"text\"", "{} {}", #"{"bundleId":"a","bundleId":"b"}"#,
            #"{"bundleId":"a","\u0062undleId":"a"}"#, #"{"advancedCommerceInfo":{"items":[{"SKU":"a","SKU":"b"}]}}"#,
            #"{"bundleId":"a"#, "{\"bundleId\":\"\u{7}\"}", #"{"quantity":1e99}"#, #"{"signedDate":1e30}"#,
        ])
    func malformedPayload(json: String) async throws {
        let error = try #require(try await Signed.refusal(of: Signed.sign(Array(json.utf8)), now: Signed.date))
        #expect(error.code == (json.isEmpty ? .notCompactSerialization : .malformedPayload))
    }

    @Test("JSON nested without end is refused without a trap", arguments: [65, 20_000])
    func deepPayload(depth: Int) async throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let json =
                "{\"unknown\":\(String(repeating: open, count: depth))0\(String(repeating: close, count: depth))}"
            #expect(try await Signed.refusal(of: Signed.sign(Array(json.utf8)))?.code == .malformedPayload)
        }
    }

    @Test("Unknown members and nesting within the limit are passed over")
    func unknownMembers() async throws {
        let depth = 60
        let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let jws = try Signed.sign(Array("{\"unknown\":\(deep),\"signedDate\":\(Signed.date).75}".utf8))
        let verified = try await Signed.verifier().verifiedTransaction(jws, expecting: Signed.anything, now: 0)
        #expect(verified.payload.signedDate == Signed.date)
    }
}
