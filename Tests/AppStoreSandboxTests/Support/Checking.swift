import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Foundation
import LegacyReceipts
import ReceiptForge

/// What is signed by the sandbox, verified with its root and no other.
struct Checking: Sendable {
    let verifier: SignedDataVerifier
    let expected = SignedDataExpectation(bundleId: "com.example.app", environments: [.sandbox])

    init() throws {
        verifier = try SignedDataVerifier(
            trust: SignedDataTrust(roots: [], additionalRoots: [TestSignedDataAuthority.standard.rootCertificate]))
    }

    @inline(never)
    func transaction(_ jws: String?) async throws -> JWSTransactionDecodedPayload {
        try await verifier.verifiedTransaction(jws ?? "", expecting: expected, now: 0).payload
    }

    @inline(never)
    func renewalInfo(_ jws: String?) async throws -> JWSRenewalInfoDecodedPayload {
        try await verifier.verifiedRenewalInfo(jws ?? "", expecting: expected, now: 0).payload
    }

    @inline(never)
    func appTransaction(_ jws: String?) async throws -> AppTransaction {
        try await verifier.verifiedAppTransaction(jws ?? "", expecting: expected, now: 0).payload
    }

    @inline(never)
    func notification(_ jws: String?) async throws -> VerifiedNotification {
        try await verifier.verifiedNotification(jws ?? "", expecting: expected, now: 0)
    }

    /// The transaction ids of a list of JWS.
    @inline(never)
    func ids(_ list: [String]?) async throws -> [String] {
        var ids: [String] = []
        for jws in list ?? [] { ids.append(try await transaction(jws).transactionId ?? "") }
        return ids
    }
}

/// Trust in the receipts of the sandbox, by the roots that it prints.
@inline(never)
func sandboxTrust() throws -> TrustPolicy {
    let roots = try SandboxRoots()
    func der(_ pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
        return Data(base64Encoded: lines.joined()).map { Array($0) } ?? []
    }
    return TrustPolicy(
        // Both in one file: neither verifier minds the other's.
        additionalRoots: [der(roots.receipts), der(roots.signedData)],
        additionalIntermediates: [der(roots.transactionReceiptIntermediate)])
}

/// The code with which a call of the API is refused.
@inline(never)
func apiError(_ call: () async throws -> Void) async -> AppStoreServerAPIError? {
    do {
        try await call()
        return nil
    } catch {
        return error as? AppStoreServerAPIError
    }
}
