import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import TestTraits
import Testing

/// Apple's Python library as an independent check of both sides: the data that our forge signs, and the verdicts of our verifier.
@Suite(.computing, .enabled(if: PythonCheck.python != nil, "LEGACY_RECEIPTS_PYTHON is not set"))
struct SignedDataCheckTests {
    /// One line for the check, with our own verdict.
    @inline(never)
    private func line(
        _ kind: String, _ jws: String, _ authority: TestSignedDataAuthority = Signed.authority,
        expecting: SignedDataExpectation = Signed.sandbox
    ) async throws -> [String: any Sendable] {
        let verifier = try Signed.verifier(authority)
        let now = Int64(Date().timeIntervalSince1970) * 1000
        var line: [String: any Sendable] = [
            "kind": kind, "jws": jws, "root": Data(authority.rootCertificate).base64EncodedString(),
            "bundleId": expecting.bundleId ?? "", "appAppleId": expecting.appAppleId ?? 0,
            "environment": expecting.environments?.first?.rawValue ?? "",
        ]
        do {
            line["payload"] =
                switch kind {
                case "transaction":
                    try PythonCheck.json(
                        await verifier.verifiedTransaction(jws, expecting: expecting, now: now).payload)
                case "renewalInfo":
                    try PythonCheck.json(
                        await verifier.verifiedRenewalInfo(jws, expecting: expecting, now: now).payload)
                case "appTransaction":
                    try PythonCheck.json(
                        await verifier.verifiedAppTransaction(jws, expecting: expecting, now: now).payload)
                case "notification":
                    try PythonCheck.json(
                        await verifier.verifiedNotification(jws, expecting: expecting, now: now).notification.payload)
                default:
                    try PythonCheck.json(
                        await verifier.verifiedRealtimeRequest(jws, expecting: expecting, now: now).payload)
                }
            line["accepted"] = true
        } catch is SignedDataError {
            line["accepted"] = false
        }
        return line
    }

    @Test("Apple's library verifies what the forge signs with its root, all five kinds, and reads the same")
    func accepted() async throws {
        let production = try Signed.sign(
            Signed.appTransaction { ($0.receiptType, $0.applicationVersion) = (.production, "9") })
        let lines = [
            try await line("transaction", Signed.sign(Signed.transaction())),
            try await line("transaction", Signed.sign(Signed.transaction { $0.signedDate = nil })),
            try await line("renewalInfo", Signed.sign(Signed.renewalInfo())),
            try await line("appTransaction", Signed.sign(Signed.appTransaction())),
            try await line("appTransaction", production, expecting: Signed.production),
            try await line("notification", Signed.sign(Signed.notification())),
            try await line("realtimeRequest", Signed.sign(Signed.realtimeRequest())),
        ]
        #expect(lines.allSatisfy { $0["accepted"] as? Bool == true })
        let (status, output) = try PythonCheck.run("signed_data/verify_signed_data.py", lines)
        #expect(status == 0 && output.contains("agree: \(lines.count); disagree: 0"), "\(output)")
    }

    @Test("Apple's library rejects JWS that we reject as forged, expired or of another app")
    func refused() async throws {
        let transaction = try Signed.transaction()
        let forged = Signed.authority.signedPayload(transaction)
        var swapped = try JWSParts(try forged.text())
        swapped.payload = ForgedSignedPayload.base64URL(try Signed.transaction { $0.quantity = 2 })
        var flipped = try JWSParts(try forged.text())
        flipped.signatureBytes[7] ^= 4
        var texts = [
            swapped.text, flipped.text, try TestSignedDataAuthority.foreign().sign(payload: transaction),
            try TestSignedDataAuthority.foreign(impostor: true).sign(payload: transaction),
            try forged.with { $0.algorithm = "none" }.text(), try forged.with { $0.algorithm = "HS256" }.text(),
            try forged.with { $0.key = .signedDataDeveloper }.text(),
            try TestSignedDataAuthority.xcodeSignedPayload(transaction).text(),
            try Signed.sign(Signed.transaction { $0.bundleId = "com.example.other" }),
            try Signed.sign(Signed.transaction { $0.environment = .production }),
            try Signed.sign(Signed.transaction { $0.environment = Environment(rawValue: "Moon") }),
            try Signed.sign(Signed.transaction { $0.signedDate = 1_500_000_000_000 }),
            try Signed.sign(Signed.transaction { $0.signedDate = 2_200_000_000_000 }), "a.b.c", "",
        ]
        for count in [0, 1, 2, 4] {
            texts.append(try forged.with { $0.certificates = (0..<count).map { forged.certificates[$0 % 3] } }.text())
        }
        var lines: [[String: any Sendable]] = []
        for text in texts { lines.append(try await line("transaction", text)) }
        let changes: [SignedChainTests.Change] = [
            { leaf, _, _ in leaf.markers = [] }, { _, intermediate, _ in intermediate.markers = [] },
            { leaf, _, _ in leaf.brokenSignature = true },
            { _, intermediate, _ in intermediate.brokenSignature = true },
            { _, intermediate, _ in intermediate.basicConstraints = .endEntity },
            { _, _, root in root.basicConstraints = .certificateAuthority(pathLength: 0) },
            { leaf, _, _ in leaf.unknownCriticalExtension = true },
            { _, intermediate, _ in intermediate.keyUsage = .crlSign },
        ]
        for change in changes {
            let authority = try TestSignedDataAuthority.issued(change)
            lines.append(try await line("transaction", authority.sign(payload: transaction), authority))
        }
        #expect(lines.allSatisfy { $0["accepted"] as? Bool == false })
        let (status, output) = try PythonCheck.run("signed_data/verify_signed_data.py", lines)
        #expect(status == 0 && output.contains("agree: \(lines.count); disagree: 0"), "\(output)")
    }

    @Test("The check reports a wrong verdict and a wrong payload")
    func refusal() async throws {
        var verdict = try await line("transaction", Signed.sign(Signed.transaction()))
        verdict["accepted"] = false
        var payload = try await line("transaction", Signed.sign(Signed.transaction()))
        payload["payload"] = try PythonCheck.json(["transactionId": "1"])
        var forged = try await line(
            "transaction", TestSignedDataAuthority.foreign().sign(payload: Signed.transaction()))
        forged["accepted"] = true
        let (status, output) = try PythonCheck.run("signed_data/verify_signed_data.py", [verdict, payload, forged])
        #expect(status == 1 && output.contains("agree: 0; disagree: 3"), "\(output)")
        #expect(try PythonCheck.run("signed_data/verify_signed_data.py").status == 2)
    }
}
