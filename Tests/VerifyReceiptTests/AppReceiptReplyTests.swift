import AppStoreModels
import LegacyReceipts
import ReceiptForge
import TestSupport
import Testing
import VerifyReceipt

/// The reply to an app receipt (Reference.md V3).
@Suite struct AppReceiptReplyTests {
    private func reply(
        _ bytes: [UInt8], at environment: EndpointEnvironment = .production
    ) async throws -> ReadReply {
        try await testEndpoint().ask(body(bytes), at: environment)
    }

    @Test func theReceiptObjectHasTheKeysAndTypesOfTheReference() async throws {
        let reply = try await reply(appReceipt([month(0)]))
        #expect(reply.keys == ["status", "environment", "receipt", "latest_receipt_info", "latest_receipt"])
        #expect(reply.json["environment"]?.string == "Production")
        let receipt = try unwrap(reply.receipt)
        #expect(
            receipt.keys == [
                "receipt_type", "adam_id", "app_item_id", "bundle_id", "application_version", "download_id",
                "version_external_identifier", "receipt_creation_date", "receipt_creation_date_ms",
                "receipt_creation_date_pst", "request_date", "request_date_ms", "request_date_pst",
                "original_purchase_date", "original_purchase_date_ms", "original_purchase_date_pst",
                "original_application_version", "in_app",
            ])
        #expect(receipt["receipt_type"] == .string("Production"))
        #expect(receipt["adam_id"] == .integer(6_001_234_567))
        #expect(receipt["app_item_id"] == .integer(6_001_234_567))
        #expect(receipt["bundle_id"] == .string(bundleId))
        #expect(receipt["application_version"] == .string("3.4.1"))
        #expect(receipt["version_external_identifier"] == .integer(852_345_678))
        #expect(receipt["original_application_version"] == .string("1.2"))
        #expect(receipt["receipt_creation_date"] == .string("2024-03-15 10:20:30 Etc/GMT"))
        #expect(receipt["receipt_creation_date_ms"] == .string("1710498030000"))
        #expect(receipt["receipt_creation_date_pst"] == .string("2024-03-15 03:20:30 America/Los_Angeles"))
    }

    @Test func integersBeyondTwoToThe53AreExact() async throws {
        let bytes = try appReceipt { $0.downloadId = .max }
        let text = String(decoding: try await reply(bytes).reply.body, as: UTF8.self)
        #expect(text.contains(#""download_id":9223372036854775807"#))
    }

    @Test func theRequestDateIsTheTimeOfTheRequestInMilliseconds() async throws {
        let receipt = try unwrap(try await reply(appReceipt()).receipt)
        #expect(receipt.text("request_date_ms") == "1717243200789")
        #expect(receipt.text("request_date") == "2024-06-01 12:00:00 Etc/GMT")
        #expect(receipt.text("request_date_pst") == "2024-06-01 05:00:00 America/Los_Angeles")
    }

    @Test func receiptCreationDateIsAttribute12AndNot8() async throws {
        let bytes = try appReceipt { $0.keptCreationDate = .seconds(created.adding(months: -6)) }
        #expect(try await reply(bytes).receipt?.text("receipt_creation_date_ms") == "1710498030000")
    }

    @Test func sandboxReceiptsHaveZeros() async throws {
        let reply = try await reply(sandboxReceipt(), at: .sandbox)
        let receipt = try unwrap(reply.receipt)
        for key in ["adam_id", "app_item_id", "download_id", "version_external_identifier"] {
            #expect(receipt[key] == .integer(0), "\(key)")
        }
        #expect(receipt.text("original_application_version") == "1.0")
        #expect(receipt.text("original_purchase_date_ms") == "1375340400000")
        #expect(reply.json["environment"]?.string == "Sandbox")
    }

    @Test func membersMissingFromTheReceiptAreLeftOut() async throws {
        let bytes = try appReceipt {
            $0.receiptType = nil
            $0.downloadId = nil
            $0.versionExternalIdentifier = nil
            $0.originalPurchaseDate = .empty
            $0.originalApplicationVersion = ""
            $0.applicationVersion = nil
        }
        let receipt = try unwrap(try await reply(bytes).receipt)
        #expect(
            receipt.keys == [
                "adam_id", "app_item_id", "bundle_id", "download_id", "receipt_creation_date",
                "receipt_creation_date_ms", "receipt_creation_date_pst", "request_date", "request_date_ms",
                "request_date_pst", "in_app",
            ])
        // As in Apple's replies of 2020 and later; some clients need the key.
        #expect(receipt.members.filter { $0.value.isNull }.map(\.key) == ["download_id"])
    }

    @Test func volumePurchasesHaveAnExpirationDateAndPreordersTheirs() async throws {
        let bytes = try appReceipt {
            $0.receiptType = "ProductionVPP"
            $0.expirationDate = .seconds(created.adding(months: 12))
            $0.preorderDate = .seconds(created.adding(months: -15))
        }
        let receipt = try unwrap(try await reply(bytes).receipt)
        #expect(receipt.text("expiration_date") == "2025-03-15 10:20:30 Etc/GMT")
        #expect(receipt.text("expiration_date_ms") == "1742034030000")
        #expect(receipt.text("preorder_date_pst") == "2022-12-15 02:20:30 America/Los_Angeles")
    }

    @Test func inAppIsThereEvenWhenItIsEmpty() async throws {
        let reply = try await reply(appReceipt())
        #expect(reply.receipt?["in_app"] == .array([]))
        #expect(reply.keys == ["status", "environment", "receipt"])
    }

    @Test func inAppKeepsTheOrderOfTheEncoding() async throws {
        let purchases = [month(2), nonConsumable, month(0), consumable("77"), month(1)]
        let forged = ForgedAppReceipt.production(bundleId: bundleId, created: created).with { $0.purchases = purchases }
        let expected = forged.purchasesAsEncoded.compactMap(\.transactionId)
        let reply = try await reply(forged.signedData(.g5).encoded())
        #expect(reply.inApp.compactMap { $0.text("transaction_id") } == expected)
        // The order is neither that of the ids nor that of the purchases here, so it says something.
        #expect(expected != expected.sorted() && expected != purchases.compactMap(\.transactionId))
    }

    @Test func anAutoRenewableHasTheseMembersAllOfThemStrings() async throws {
        let reply = try await reply(appReceipt([month(1)]))
        let entry = try unwrap(reply.inApp.first)
        #expect(
            entry.keys == [
                "quantity", "product_id", "transaction_id", "original_transaction_id", "purchase_date",
                "purchase_date_ms", "purchase_date_pst", "original_purchase_date", "original_purchase_date_ms",
                "original_purchase_date_pst", "expires_date", "expires_date_ms", "expires_date_pst",
                "web_order_line_item_id", "is_trial_period", "is_in_intro_offer_period", "in_app_ownership_type",
            ])
        #expect(entry.members.allSatisfy { $0.value.string != nil })
        #expect(entry.text("quantity") == "1")
        #expect(entry.text("expires_date_ms") == "1710498030000")
        #expect(entry.text("web_order_line_item_id") == "530000612345679")
        #expect(entry.text("is_trial_period") == "false")
        #expect(entry.text("in_app_ownership_type") == "PURCHASED")
        // Only the two lists' own members differ, and nothing is known beyond the receipt.
        #expect(reply.latest?.first?.members == entry.members)
    }

    @Test func otherProductsHaveNoEndAndNoOrderLine() async throws {
        let reply = try await reply(appReceipt([consumable("77")]))
        #expect(
            reply.inApp.first?.keys == [
                "quantity", "product_id", "transaction_id", "original_transaction_id", "purchase_date",
                "purchase_date_ms", "purchase_date_pst", "original_purchase_date", "original_purchase_date_ms",
                "original_purchase_date_pst", "is_trial_period",
            ])
    }

    @Test func offersOwnershipAndCancellationAreShownWhereTheAttributesAre() async throws {
        let purchase = month(0).with {
            $0.isTrialPeriod = true
            $0.isInIntroOfferPeriod = nil
            $0.promotionalOfferId = "spring"
            $0.ownershipType = 1
            $0.cancellationDate = .seconds(created)
            $0.cancellationReason = 1
        }
        let entry = try unwrap(try await reply(appReceipt([purchase])).inApp.first)
        #expect(entry.text("is_trial_period") == "true")
        #expect(entry["is_in_intro_offer_period"] == nil)
        #expect(entry.text("promotional_offer_id") == "spring")
        #expect(entry.text("in_app_ownership_type") == "FAMILY_SHARED")
        #expect(entry.text("cancellation_date") == "2024-03-15 10:20:30 Etc/GMT")
        #expect(entry.text("cancellation_date_ms") == "1710498030000")
        #expect(entry.text("cancellation_date_pst") == "2024-03-15 03:20:30 America/Los_Angeles")
        #expect(entry.text("cancellation_reason") == "1")
    }

    @Test func anUnknownOwnershipIsNotGuessed() async throws {
        let entry = try await reply(appReceipt([month(0).with { $0.ownershipType = 7 }])).inApp.first
        #expect(entry?["in_app_ownership_type"] == nil)
    }

    @Test func fractionsOfASecondAreKept() async throws {
        let bytes = try appReceipt {
            $0.originalPurchaseDate = .milliseconds(ForgedInstant(milliseconds: 1_686_824_430_131))
        }
        let receipt = try unwrap(try await reply(bytes).receipt)
        #expect(receipt.text("original_purchase_date_ms")?.hasSuffix("131") == true)
        #expect(receipt.text("original_purchase_date") == "2023-06-15 10:20:30 Etc/GMT")
    }

    @Test func textIsEscaped() async throws {
        let bytes = try appReceipt([consumable("1").with { $0.productId = "a\"b\\c/é\u{1}" }])
        #expect(try await reply(bytes).inApp.first?.text("product_id") == "a\"b\\c/é\u{1}")
    }

    @Test func theFactsForLogsNameTheReceiptAndTheApp() async throws {
        let bytes = try appReceipt()
        let facts = try await reply(bytes).reply.facts
        #expect(facts.receiptName == String(Fingerprint(of: bytes).description.prefix(12)))
        #expect(facts.bundleId == bundleId && facts.reason == nil && facts.storeNanoseconds == nil)
        #expect(facts.verificationNanoseconds > 0 && !facts.storeFailed && facts.transactionsFromStore == 0)
    }

    // MARK: Members without a source

    @Test func nothingIsPresumedByDefault() async throws {
        let bare = month(0).with {
            $0.ownershipType = nil
            $0.isInIntroOfferPeriod = nil
        }
        let entry = try unwrap(try await reply(appReceipt([bare])).latest?.first)
        #expect(entry["in_app_ownership_type"] == nil && entry["is_in_intro_offer_period"] == nil)
    }

    @Test func presumedMembersFillOnlyMissingMembers() async throws {
        let endpoint = try testEndpoint { $0.presumedMembers = .all }
        let bare = month(0).with {
            $0.ownershipType = nil
            $0.isInIntroOfferPeriod = nil
        }
        let shared = month(1).with {
            $0.ownershipType = 1
            $0.isInIntroOfferPeriod = true
        }
        let reply = try await endpoint.ask(body(appReceipt([bare, shared, consumable("77")])))
        for list in [reply.inApp, reply.latest ?? []] {
            let entries = Dictionary(list.map { ($0.text("transaction_id") ?? "", $0) }) { one, _ in one }
            #expect(entries["530001234567000"]?.text("in_app_ownership_type") == "PURCHASED")
            #expect(entries["530001234567000"]?.text("is_in_intro_offer_period") == "false")
            #expect(entries["530001234568037"]?.text("in_app_ownership_type") == "FAMILY_SHARED")
            #expect(entries["530001234568037"]?.text("is_in_intro_offer_period") == "true")
            #expect(entries["77"]?.text("in_app_ownership_type") == "PURCHASED")
            #expect(entries["77"]?["is_in_intro_offer_period"] == nil)
        }
        #expect(reply.json["pending_renewal_info"] == .array([]))
    }

    @Test func presumedListsAreThereWithoutAnyPurchase() async throws {
        let reply = try await testEndpoint { $0.presumedMembers.lists = true }.ask(body(appReceipt()))
        #expect(reply.json["latest_receipt_info"] == .array([]))
        #expect(reply.json["pending_renewal_info"] == .array([]))
        #expect(reply.json["latest_receipt"] == nil)
    }

    @Test func presumedListsOmitMembersThatTheConfigurationLeavesOut() async throws {
        let endpoint = try testEndpoint {
            $0.presumedMembers.lists = true
            $0.latestTransactions = .withSubscriptions
        }
        let reply = try await endpoint.ask(body(appReceipt([consumable("8"), consumable("9")])))
        #expect(reply.json["latest_receipt_info"] == .array([]))
        #expect(reply.json["pending_renewal_info"] == .array([]))
        #expect(reply.json["latest_receipt"] == nil)
        #expect(reply.inApp.count == 2)
        let other = try await endpoint.ask(body(appReceipt([consumable("8"), month(0)])))
        #expect(other.latest?.count == 2 && other.json["latest_receipt"] != nil)
    }
}
