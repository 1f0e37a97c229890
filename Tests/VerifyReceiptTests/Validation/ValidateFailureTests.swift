import AppStoreModels
import LegacyReceipts
import Purchases
import ReceiptForge
import TestSupport
import Testing
import TransactionStore
import VerifyReceipt

/// `ok: false`: verdicts come with HTTP 200, temporary failures never as 6777017, other stores with an error of their own.
@Suite struct ValidateFailureTests {
    // MARK: Verdicts

    @Test func aForgedDocumentIs6777017() async throws {
        let receipt = try appReceipt([month(0)])
        let forged = try await validatingEndpoint().ask(validation: validation(of: damaged(receipt)))
        #expect(forged.code == 6_777_017 && forged.reply.httpStatus == 200)
        #expect(forged.data?["latest_receipt"] == .bool(false))
        for text in ["Zm9vYmFy", "no base64!", "MII"] {
            let transaction = #"{"type":"ios-appstore","appStoreReceipt":"\#(text)"}"#
            let answer = try await validatingEndpoint().ask(validation: validation(transaction: transaction))
            #expect(answer.code == 6_777_017 && answer.reply.httpStatus == 200)
        }
    }

    @Test func aReceiptOfAnotherAppIdIs6777017() async throws {
        let answer = try await validatingEndpoint { $0.apps[0].appleId = 1 }.ask(
            validation: validation(of: appReceipt()))
        #expect(answer.code == 6_777_017)
    }

    @Test func receiptsOfTheOtherEnvironmentGet6777017() async throws {
        let sandbox = try await validatingEndpoint().ask(validation: validation(of: sandboxReceipt()))
        #expect(sandbox.code == 6_777_017 && sandbox.message.contains("sandbox"))
        let production = try await validatingEndpoint().ask(validation: validation(of: appReceipt()), at: .sandbox)
        #expect(production.code == 6_777_017 && production.message.contains("sandbox"))
        #expect(try await validatingEndpoint().ask(validation: validation(of: sandboxReceipt()), at: .sandbox).isOK)
    }

    @Test func sandboxAtProductionAppliesToValidations() async throws {
        let answered = try await validatingEndpoint { $0.apps[0].sandboxAtProduction = .answered }
            .ask(validation: validation(of: sandboxReceipt([nonConsumable])))
        #expect(answered.isOK && answered.transaction?.text("receipt_type") == "ProductionSandbox")
    }

    @Test(arguments: [
        "{}", "null", "[]", #""receipt""#, #"{"type":"ios-appstore"}"#, #"{"type":"apple-sk2"}"#,
        #"{"type":"ios-appstore","appStoreReceipt":""}"#, #"{"type":"ios-appstore","appStoreReceipt":7}"#,
        #"{"type":"apple-sk2","appStoreReceipt":"Zm9vYmFy"}"#, #"{"type":7,"appStoreReceipt":"Zm9vYmFy"}"#,
    ])
    func aRequestWithoutADocumentIs6777016(_ transaction: String) async throws {
        let answer = try await validatingEndpoint().ask(validation: validation(transaction: transaction))
        #expect(answer.code == 6_777_016 && answer.reply.httpStatus == 200)
    }

    @Test func aSubscriptionThatIsOverIs6778003() async throws {
        let receipt = try appReceipt([month(2)])
        let request = validation(of: receipt, id: monthly, type: "paid subscription")
        let end = created.adding(months: 1).milliseconds
        #expect(try await validatingEndpoint().ask(validation: request, now: end - 1).isOK)
        let over = try await validatingEndpoint().ask(validation: request, now: end)
        #expect(over.code == 6_778_003 && over.reply.httpStatus == 200)
        #expect(over.data?["latest_receipt"] == .bool(false))
        let stored = try await validatingEndpoint(store: MemoryStore()).ask(validation: request, now: end)
        #expect(stored.code == 6_778_003 && stored.data?["latest_receipt"] == .bool(true))
        // Another type, or the application, is answered with the purchase.
        for other in [validation(of: receipt, id: monthly, type: "non consumable"), validation(of: receipt)] {
            let answer = try await validatingEndpoint().ask(validation: other, now: end)
            #expect(answer.isOK && answer.purchase(monthly)?["isExpired"] == .bool(true))
        }
    }

    @Test func aSubscriptionThatGoesOnWithAnotherProductIsNotOver() async throws {
        let yearly = "com.example.orchard.premium.yearly"
        let receipt = try appReceipt([
            month(2).with { $0.cancellationDate = .seconds(created.adding(days: 3)) },
            month(3, product: yearly).with {
                $0.purchaseDate = .seconds(created.adding(days: 3))
                $0.expiresDate = .seconds(created.adding(months: 12))
            },
        ])
        let answer = try await validatingEndpoint().ask(
            validation: validation(of: receipt, id: monthly, type: "paid subscription"))
        #expect(answer.isOK)
        #expect(answer.purchase(monthly)?["isExpired"] == .bool(true))
        #expect(answer.purchase(monthly)?.text("cancelationReason") == "System.Replaced")
        #expect(answer.purchase(yearly)?["isExpired"] == .bool(false))
    }

    // MARK: Other stores

    @Test(arguments: [
        "android-playstore", "windows-store-transaction", "braintree", "iaptic", "test", "amazon-appstore",
    ])
    func transactionsOfOtherStoresGetANamedError(_ type: String) async throws {
        let transaction = #"{"type":"\#(type)","id":"GPA.1","purchaseToken":"t","appStoreReceipt":"Zm9v"}"#
        let answer = try await validatingEndpoint().ask(validation: validation(transaction: transaction))
        #expect(answer.code == 6_777_010 && answer.reply.httpStatus == 200)
        #expect(answer.message.contains(type) && answer.message.contains("App Store"))
    }

    @Test func unknownStoresAreNotRepeated() async throws {
        let answer = try await validatingEndpoint().ask(validation: validation(transaction: #"{"type":"s3cr3t"}"#))
        #expect(answer.code == 6_777_010 && !answer.message.contains("s3cr3t"))
        #expect(answer.reply.facts.reason?.contains("s3cr3t") == false)
    }

    // MARK: Not verdicts

    @Test(arguments: ["", "{", "[]", "7", #"{"id":"a","transaction":{"type":}}"#])
    func aMalformedBodyIsHTTP400(_ text: String) async throws {
        let answer = try await validatingEndpoint().ask(validation: Array(text.utf8))
        #expect(answer.reply.httpStatus == 400 && answer.code == 6_777_014)
    }

    @Test func theDepthOfARequestIsLimited() async throws {
        let deep = String(repeating: "[", count: 100_000)
        let answer = try await validatingEndpoint().ask(validation: validation(transaction: deep))
        #expect(answer.reply.httpStatus == 400)
    }

    @Test(arguments: [(TransactionStoreError.Code.unavailable, 503), (.corrupt, 500)])
    func aStoreThatFailsIsTemporaryAndNoVerdict(_ code: TransactionStoreError.Code, _ status: Int) async throws {
        let store = FailingStore(reading: TransactionStoreError(code, "on purpose"))
        let answer = try await validatingEndpoint(store: store).ask(validation: validation(of: appReceipt([month(0)])))
        #expect(answer.reply.httpStatus == status && answer.code == 6_777_014)
        #expect(!answer.message.contains("on purpose") && answer.reply.facts.reason?.contains("on purpose") == true)
        #expect(answer.reply.facts.storeFailed)
    }

    @Test func anAppStoreThatIsAwayIsTemporaryIfItIsRequired() async throws {
        let answer = try await validatingEndpoint(store: MemoryStore()) {
            $0.freshness = Freshness(source: .appStore, maximumAge: 3_600_000, isRequired: true)
            $0.customerRefresher = ValidateTests.AbsentAppStore()
        }.ask(validation: validation(of: appReceipt([month(0)])))
        #expect(answer.reply.httpStatus == 503 && answer.code == 6_777_014)
    }

    /// The store or the App Store may have the renewal, or the purchase.
    @Test func withoutTheStoreOrTheAppStoreNoProductIsRefused() async throws {
        let receipt = try appReceipt([month(0)])
        let over = validation(of: receipt, id: monthly, type: "paid subscription")
        let missing = validation(of: receipt, id: tree, type: "non consumable")
        let unreachableStore = try validatingEndpoint(
            store: FailingStore(reading: TransactionStoreError(.unavailable, "on purpose"))
        ) { $0.whenStoreFails = .receiptOnly }
        let unreachableAppStore = try validatingEndpoint(store: MemoryStore()) {
            $0.freshness = Freshness(source: .appStore, maximumAge: 3_600_000)
            $0.customerRefresher = ValidateTests.AbsentAppStore()
        }
        for request in [over, missing] {
            let verdict = try await validatingEndpoint(store: MemoryStore()).ask(validation: request)
            #expect(verdict.reply.httpStatus == 200 && !verdict.isOK)
            for endpoint in [unreachableStore, unreachableAppStore] {
                let answer = try await endpoint.ask(validation: request)
                #expect(answer.reply.httpStatus == 503 && answer.code == 6_777_014)
            }
        }
    }

    @Test func aFullServerIsTemporary() throws {
        let answer = try ReadValidation(VerifyReceiptEndpoint.validationUnavailable)
        #expect(answer.reply.httpStatus == 503 && answer.code == 6_777_014)
    }
}
