import AppStoreModels
import AppStoreServer
import Crypto
import Foundation
import ReceiptForge

/// `verifiedTransaction` with a cached chain, compared with the floor: one P-256 verification plus the SHA-256 of the
/// same bytes.
struct SignedDataBenchmark {
    private static let calls = 2000
    private let authority = TestSignedDataAuthority.standard

    func run() async throws {
        let jws = try authority.sign(payload: Self.payload())
        let floor = try floor(jws)
        Figure(name: "floor, P-256 and SHA-256, \(jws.utf8.count) bytes", value: floor, unit: "µs").report()
        let verifier = try verifier()
        let warm = try await median { try await Self.verify(jws, by: verifier) }
        report("verify and decode a transaction, warm chain", warm, floor)
        // A new verifier each time.
        let cold = try await median(calls: 200) { try await Self.verify(jws, by: self.verifier()) }
        report("verify and decode a transaction, new chain", cold, floor)
        let other = try ForgedJWS.withForeignSignature(jws)
        let refused = try await median {
            do { try await Self.verify(other, by: verifier) } catch is SignedDataError {}
        }
        report("refuse a bad signature, warm chain", refused, floor)
    }

    private func report(_ name: String, _ value: Double, _ floor: Double) {
        Figure(name: name, value: value, unit: "µs", reference: "floor", ratio: value / floor).report()
    }

    private func verifier() throws -> SignedDataVerifier {
        try SignedDataVerifier(trust: SignedDataTrust(additionalRoots: [authority.rootCertificate]))
    }

    private static let expectation = SignedDataExpectation(
        bundleId: "com.example.benchmark", environments: [.production])

    @inline(never)
    private static func verify(_ jws: String, by verifier: SignedDataVerifier) async throws {
        let verified = try await verifier.verifiedTransaction(jws, expecting: expectation, now: 0)
        precondition(verified.payload.quantity == 1)
    }

    /// The members of a subscription renewal.
    private static func payload() throws -> [UInt8] {
        let date: Int64 = 1_748_736_000_000
        let payload = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "2000000000000001"
            $0.transactionId = "2000000000000002"
            $0.webOrderLineItemId = "2000000000000003"
            $0.bundleId = "com.example.benchmark"
            $0.productId = "com.example.benchmark.monthly"
            $0.subscriptionGroupIdentifier = "21000001"
            $0.purchaseDate = date
            $0.originalPurchaseDate = date
            $0.expiresDate = date
            $0.quantity = 1
            $0.type = .autoRenewableSubscription
            $0.appAccountToken = "7e3fb204-2ab7-4b57-9c8e-0f60f2d3e1a0"
            $0.inAppOwnershipType = .purchased
            $0.signedDate = date
            $0.environment = .production
            $0.storefront = "USA"
            $0.storefrontId = "143441"
            $0.transactionReason = .renewal
            $0.currency = "USD"
            $0.price = 4_990
            $0.appTransactionId = "700000000000001"
        }
        return [UInt8](try JSONEncoder().encode(payload))
    }

    /// Uses the same digest, curve and library as the verifier.
    private func floor(_ jws: String) throws -> Double {
        let input = Array(jws.utf8.prefix(upTo: jws.utf8.lastIndex(of: UInt8(ascii: ".")) ?? jws.utf8.endIndex))
        let key = P256.Signing.PrivateKey()
        let signature = try key.signature(for: SHA256.hash(data: input))
        let publicKey = key.publicKey
        return Clock.microseconds(calls: Self.calls) {
            let isValid = publicKey.isValidSignature(signature, for: SHA256.hash(data: input))
            precondition(isValid)
        }
    }

    /// Microseconds per call, as ``Clock`` measures them.
    private func median(
        calls: Int = calls, rounds: Int = 9, _ body: () async throws -> Void
    ) async throws -> Double {
        var results: [Double] = []
        for round in 0...rounds {
            let start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<calls { try await body() }
            let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
            if round > 0 { results.append(Double(nanoseconds) / 1000 / Double(calls)) }
        }
        return results.sorted()[results.count / 2]
    }
}

private enum ForgedJWS {
    /// The same text with the signature of another one.
    static func withForeignSignature(_ jws: String) throws -> String {
        let other = try TestSignedDataAuthority.standard.sign(payload: Array("{}".utf8))
        let head = jws.split(separator: ".").dropLast().joined(separator: ".")
        return "\(head).\(other.split(separator: ".").last ?? "")"
    }
}
