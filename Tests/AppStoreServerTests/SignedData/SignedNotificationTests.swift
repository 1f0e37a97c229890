import AppStoreModels
import AppStoreServer
import Foundation
import ReceiptForge
import Testing

@Suite("A notification is verified, and all that is signed inside of it")
struct SignedNotificationTests {
    @inline(never)
    private func refusal(
        expecting: SignedDataExpectation = Signed.sandbox,
        _ change: (inout ResponseBodyV2DecodedPayload) throws -> Void
    ) async throws -> SignedDataError? {
        do {
            _ = try await Signed.verifier().verifiedNotification(
                Signed.sign(Signed.notification(change)), expecting: expecting, now: Signed.now)
            return nil
        } catch let error as SignedDataError {
            return error
        }
    }

    @Test("With transaction and renewal info")
    func data() async throws {
        let verified = try await Signed.verifier().verifiedNotification(
            Signed.sign(Signed.notification()), expecting: Signed.sandbox, now: Signed.now)
        #expect(verified.notification.payload.notificationType == .didRenew)
        #expect(verified.transaction?.payload.transactionId == "2000000000000002")
        #expect(verified.renewalInfo?.payload.autoRenewStatus == .on)
        #expect(verified.appTransaction == nil)
        #expect(verified.transaction?.evidence.anchor == .additionalRoot)
    }

    @Test("A test notification has nothing inside")
    func test() async throws {
        let error = try await refusal {
            $0.notificationType = .test
            $0.data?.signedTransactionInfo = nil
            $0.data?.signedRenewalInfo = nil
        }
        #expect(error == nil)
    }

    @Test("With an app transaction")
    func appData() async throws {
        let payload = try Signed.notification {
            $0.data = nil
            $0.notificationType = .rescindConsent
            $0.appData = try AppData {
                $0.appAppleId = Signed.appAppleId
                $0.bundleId = Signed.bundleId
                $0.environment = .sandbox
                $0.signedAppTransactionInfo = try Signed.sign(Signed.appTransaction())
            }
        }
        let verified = try await Signed.verifier().verifiedNotification(
            Signed.sign(payload), expecting: Signed.sandbox, now: Signed.now)
        #expect(verified.appTransaction?.payload.appTransactionId == "700000000000001")
        #expect(verified.transaction == nil && verified.renewalInfo == nil)
    }

    @Test("A forged JWS inside is rejected, and the error names it")
    func forgedInside() async throws {
        let foreign = try TestSignedDataAuthority.foreign(impostor: true)
        let transaction = try await refusal {
            $0.data?.signedTransactionInfo = try foreign.sign(payload: Signed.transaction())
        }
        #expect(transaction?.code == .certificateSignatureMismatch)
        #expect(transaction?.member == "data.signedTransactionInfo")
        #expect(transaction?.message.contains("data.signedTransactionInfo") ?? false)
        let renewalInfo = try await refusal { $0.data?.signedRenewalInfo = "a.b.c" }
        #expect(renewalInfo?.member == "data.signedRenewalInfo" && renewalInfo?.code == .invalidBase64)
        let appTransaction = try await refusal {
            $0.data = nil
            $0.appData = try AppData {
                $0.appAppleId = Signed.appAppleId
                $0.bundleId = Signed.bundleId
                $0.environment = .sandbox
                $0.signedAppTransactionInfo = try foreign.sign(payload: Signed.appTransaction())
            }
        }
        #expect(appTransaction?.member == "appData.signedAppTransactionInfo")
    }

    @Test("The JWS in a notification belong to its app and environment")
    func otherInside() async throws {
        let app = try await refusal(expecting: Signed.anything) {
            $0.data?.signedTransactionInfo = try Signed.sign(Signed.transaction { $0.bundleId = "com.example.other" })
        }
        #expect(app?.code == .bundleIdMismatch && app?.member == "data.signedTransactionInfo")
        let environment = try await refusal(expecting: Signed.anything) {
            $0.data?.signedTransactionInfo = try Signed.sign(Signed.transaction { $0.environment = .production })
        }
        #expect(environment?.code == .environmentMismatch)
        let renewalInfo = try await refusal(expecting: Signed.anything) {
            $0.data?.signedRenewalInfo = try Signed.sign(Signed.renewalInfo { $0.environment = .production })
        }
        #expect(renewalInfo?.code == .environmentMismatch && renewalInfo?.member == "data.signedRenewalInfo")
    }

    @Test("Xcode's data inside of a notification of the App Store is refused")
    func xcodeInside() async throws {
        let verifier = try Signed.verifier(xcode: true)
        let payload = try Signed.notification {
            $0.data?.signedTransactionInfo = try TestSignedDataAuthority.xcodeSignedPayload(
                Signed.transaction { $0.environment = .xcode }
            ).text()
        }
        await #expect(throws: SignedDataError.self) {
            try await verifier.verifiedNotification(Signed.sign(payload), expecting: Signed.sandbox, now: Signed.now)
        }
    }

    @Test("App and environment are those of the one object that is there")
    func expectation() async throws {
        #expect(try await refusal { $0.data?.bundleId = "com.example.other" }?.code == .bundleIdMismatch)
        #expect(try await refusal { $0.data?.environment = .production }?.code == .environmentMismatch)
        let summary = Summary {
            $0.environment = .sandbox
            $0.bundleId = "com.example.other"
        }
        #expect(try await refusal { ($0.data, $0.summary) = (nil, summary) }?.code == .bundleIdMismatch)
        let none = try await refusal { $0.data = nil }
        #expect(none?.code == .bundleIdMismatch)
        #expect(try await refusal(expecting: Signed.anything) { $0.data = nil } == nil)
        let appleId = try await refusal(expecting: Signed.production) {
            $0.data = NotificationData {
                $0.environment = .production
                $0.appAppleId = 1
                $0.bundleId = Signed.bundleId
            }
        }
        #expect(appleId?.code == .appAppleIdMismatch)
    }

    @Test("The environment of an external purchase token is in its identifier")
    func externalPurchaseToken() async throws {
        for (id, isSandbox) in [
            ("SANDBOX_1", true), ("SANDBOX1", true), ("1_SANDBOX", false), ("1", false), (nil, false),
        ] {
            let token = ExternalPurchaseToken {
                $0.externalPurchaseId = id
                $0.appAppleId = Signed.appAppleId
                $0.bundleId = Signed.bundleId
            }
            let change: (inout ResponseBodyV2DecodedPayload) -> Void = {
                ($0.data, $0.externalPurchaseToken) = (nil, token)
            }
            #expect(
                try await refusal(expecting: Signed.sandbox, change)?.code == (isSandbox ? nil : .environmentMismatch))
            #expect(
                try await refusal(expecting: Signed.production, change)?.code
                    == (isSandbox ? .environmentMismatch : nil))
        }
    }
}
