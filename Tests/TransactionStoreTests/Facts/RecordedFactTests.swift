import AppStoreModels
import LegacyReceipts
import Purchases
import Testing
import TransactionStore
import TransactionStoreConformance

@Suite("Facts of a recorded document")
struct RecordedFactTests {
    private static let reply = """
        {"status": 0, "environment": "Production",
         "receipt": {"receipt_type": "Production", "bundle_id": "com.example.app", "application_version": "3",
           "request_date_ms": "1600000000123", "receipt_creation_date_ms": "1590000000000",
           "in_app": []},
         "latest_receipt_info": [
           {"quantity": "1", "product_id": "monthly", "transaction_id": "2", "original_transaction_id": "1",
            "purchase_date_ms": "1590000000000", "expires_date_ms": "1592592000000", "is_trial_period": "false",
            "is_in_intro_offer_period": "false", "is_upgraded": "true", "cancellation_date_ms": "1591000000000",
            "cancellation_reason": "0", "subscription_group_identifier": "77",
            "app_account_token": "0b1f3d5e-0000-4000-8000-00000000000a"}],
         "pending_renewal_info": [
           {"auto_renew_product_id": "yearly", "product_id": "monthly", "original_transaction_id": "1",
            "auto_renew_status": "1"}]}
        """

    @Test func aReplyIsFiledAsItStatesIt() throws {
        let sets = [FactSet](recorded: try FactSupport.recorded(Self.reply))
        let set = try #require(sets.first)
        #expect(sets.count == 1)
        #expect(set.scope == StoreSamples.scope)
        // The account token is unsigned: it joins no customers.
        #expect(set.identities == [StoreSamples.original("1")])
        #expect(set.receipt == nil)
        let fact = try #require(set.transactions.first)
        #expect(fact.origin == FactOrigin(source: .recordedReply, signedDate: 1_600_000_000_123))
        #expect(fact.payload.subscriptionGroupIdentifier == "77")
        #expect(fact.payload.isUpgraded == true)
        #expect(fact.payload.type == nil)
        #expect(fact.legacy?.isTrialPeriod == false)
        #expect(fact.legacy?.isInIntroOfferPeriod == false)
        #expect(fact.legacy?.cancellationDate == 1_591_000_000_000)
        #expect(fact.legacy?.cancellationReason == 0)
        #expect(set.renewalInfos.map(\.payload.autoRenewProductId) == ["yearly"])
        #expect(set.appTransaction?.payload.applicationVersion == "3")
    }

    @Test func anUnsignedDocumentJoinsNoCustomers() throws {
        let rows = """
            [{"product_id": "a", "transaction_id": "5", "original_transaction_id": "5", "bid": "com.example.one",
              "purchase_date_ms": "1000", "environment": "Production", "receipt_type": "Production"},
             {"product_id": "b", "transaction_id": "1000000028349996", "original_transaction_id": "1000000028349990",
              "bid": "com.example.two", "purchase_date_ms": "2000"},
             {"product_id": "b", "transaction_id": "1000000028349998", "original_transaction_id": "1000000028349991",
              "bid": "com.example.two", "purchase_date_ms": "2000"},
             {"product_id": "b", "transaction_id": "1000000028349999", "original_transaction_id": "1000000028349990",
              "bid": "com.example.two", "purchase_date_ms": "3000"}]
            """
        let sets = [FactSet](recorded: try FactSupport.recorded(rows))
        #expect(
            sets.map(\.identities) == [
                [StoreSamples.original("1000000028349990")], [StoreSamples.original("1000000028349991")],
            ])
        #expect(sets.map(\.transactions.count) == [2, 1])
    }

    @Test func aDocumentIsNotNewerThanItsImport() throws {
        let rows = """
            [{"product_id": "b", "transaction_id": "1000000028349996", "original_transaction_id": "1000000028349996",
              "bid": "com.example.two", "purchase_date_ms": "4000000000000"}]
            """
        let sets = [FactSet](recorded: try FactSupport.recorded(rows), importedAt: 1_700_000_000_000)
        #expect(sets.first?.transactions.first?.origin.signedDate == 1_700_000_000_000)
    }

    @Test("A document without a date is not one from before Family Sharing")
    func ownershipWithoutADate() throws {
        let cases: [(date: String, ownership: InAppOwnershipType?)] = [
            ("", nil), (#""request_date_ms": "1600000000123", "#, .purchased),
        ]
        for (date, ownership) in cases {
            let reply = """
                {"status": 0, "environment": "Production", "receipt": {\(date)"bundle_id": "com.example.app", "in_app": [
                  {"product_id": "a", "transaction_id": "5", "original_transaction_id": "5"}]}}
                """
            let sets = [FactSet](recorded: try FactSupport.recorded(reply))
            let transaction = try #require(Customer(resolving: sets)?.transactions.first)
            #expect(transaction.completed(type: nil, nil).payload.inAppOwnershipType == ownership)
        }
    }

    @Test("The date of a signed document decides whether a purchase is from before Family Sharing, not that of a row")
    func ownershipBesideARow() throws {
        let (in2019, in2023): (Int64, Int64) = (1_560_000_000_000, 1_690_000_000_000)
        for (date, ownership) in [(in2019, InAppOwnershipType.purchased), (in2023, nil)] {
            let receipt = Samples.fact("5", at: date)
            let row = Samples.fact("5", source: .recordedReply, at: in2019)
            let joined = try #require(try FactSupport.join(receipt, row))
            #expect(joined.completed(type: nil, nil).payload.inAppOwnershipType == ownership)
        }
    }

    @Test func aDocumentOfSeveralScopesIsSeveralSets() throws {
        let rows = """
            [{"product_id": "a", "transaction_id": "5", "original_transaction_id": "5", "bid": "com.example.one",
              "purchase_date_ms": "1000", "environment": "Production"},
             {"product_id": "a", "transaction_id": "1000000028349996", "original_transaction_id": "1000000028349996",
              "bid": "com.example.two", "purchase_date_ms": "2000"}]
            """
        let sets = [FactSet](recorded: try FactSupport.recorded(rows))
        // Nothing names the environment of the first row; the id of the second is one of the sandbox.
        #expect(sets.map(\.scope.bundleId) == ["com.example.two"])
        #expect(sets.first?.scope.environment == .sandbox)
        #expect(sets.first?.transactions.first?.origin.signedDate == 2000)
    }

    @Test func nothingIsFiledWithoutABundleId() throws {
        let reply = """
            {"status": 0, "environment": "Production", "latest_receipt_info": [
              {"product_id": "a", "transaction_id": "5", "original_transaction_id": "5"}]}
            """
        #expect([FactSet](recorded: try FactSupport.recorded(reply)).isEmpty)
    }

    private static let dates =
        #""receipt_creation_date_ms": "1590000000000", "original_purchase_date_ms": "1580000000000""#

    /// A reply to a receipt without purchases.
    private static func download(
        _ members: String = dates, environment: String = "Production"
    ) throws -> RecordedMapping {
        try FactSupport.recorded(
            """
            {"status": 0, "environment": "\(environment)", "receipt": {"bundle_id": "com.example.app",
              "original_application_version": "1.0", \(members), "in_app": []}}
            """)
    }

    @Test func aDownloadWithoutPurchasesIsFiled() throws {
        let sets = [FactSet](
            recorded: try Self.download(Self.dates + #", "request_date_ms": "1600000000123""#))
        let set = try #require(sets.first)
        #expect(sets.count == 1 && set.scope == StoreSamples.scope)
        #expect(set.transactions.isEmpty && set.renewalInfos.isEmpty && set.receipt == nil)
        let app = try #require(set.appTransaction)
        #expect(app.payload.originalApplicationVersion == "1.0")
        #expect(app.payload.originalPurchaseDate == 1_580_000_000_000)
        #expect(app.origin == FactOrigin(source: .recordedReply, signedDate: 1_600_000_000_123))
        #expect(set.identities.map(\.kind) == [.receiptDigest])
    }

    @Test func aReplyIsFiledWithItsReceiptType() throws {
        let reply = try FactSupport.recorded(
            """
            {"status": 0, "receipt": {"receipt_type": "ProductionVPP", "bundle_id": "com.example.app",
              "original_application_version": "1.0", "expiration_date_ms": "1742034030000", "in_app": []}}
            """)
        let set = try #require([FactSet](recorded: reply).first)
        var legacy = LegacyAppTransactionFields()
        legacy.receiptType = "ProductionVPP"
        legacy.expirationDate = 1_742_034_030_000
        #expect(set.appTransaction?.legacy == legacy && set.scope == StoreSamples.scope)
    }

    @Test func aDownloadIsFiledOnceForEachReceipt() throws {
        func identities(_ mapping: RecordedMapping, _ userId: String? = nil) -> [CustomerIdentity] {
            [FactSet](recorded: mapping, userId: userId).flatMap(\.identities)
        }
        let dates = Self.dates
        let first = identities(try Self.download(dates + #", "request_date_ms": "1600000000000""#))
        #expect(first.count == 1)
        // Apple received one receipt twice.
        #expect(identities(try Self.download(dates + #", "request_date_ms": "1610000000000""#), "u2") == first)
        #expect(identities(try Self.download(#""receipt_creation_date_ms": "1590000001000""#)) != first)
        // Many customers have this version.
        let undated = try Self.download(#""application_version": "3""#)
        #expect(identities(undated, "u1") == identities(undated, "u1"))
        #expect(identities(undated, "u1") != identities(undated, "u2"))
    }

    @Test func aReplyThatStatesNothingAboutTheDownloadIsNotFiled() throws {
        let reply = """
            {"status": 0, "environment": "Production", "receipt": {"bundle_id": "com.example.app",
              "receipt_type": "Production", "in_app": []}}
            """
        #expect([FactSet](recorded: try FactSupport.recorded(reply)).isEmpty)
        #expect([FactSet](recorded: try Self.download(environment: "Moon")).isEmpty)
        #expect(
            [FactSet](recorded: try Self.download(#""receipt_type": "Moon""#)).isEmpty)
    }

    @Test func maskedIdsAreNotFiled() throws {
        let reply = """
            {"status": 0, "environment": "Production", "receipt": {"bundle_id": "com.example.app",
              "receipt_type": "Production", "in_app": [
              {"product_id": "a", "transaction_id": "000000000000000", "original_transaction_id": "000000000000000"}]}}
            """
        #expect([FactSet](recorded: try FactSupport.recorded(reply)).isEmpty)
    }

    @Test func aNotificationOfVersionOneHasItsOwnSource() throws {
        let notification = """
            {"notification_type": "DID_RENEW", "environment": "PROD", "bid": "com.example.app",
             "unified_receipt": {"status": 0, "environment": "Production", "latest_receipt_info": [
               {"product_id": "a", "transaction_id": "6", "original_transaction_id": "5", "purchase_date_ms": "7"}]}}
            """
        let set = try #require([FactSet](recorded: try FactSupport.recorded(notification)).first)
        // Stored, so that nothing shows who wrote it.
        #expect(set.transactions.first?.origin == FactOrigin(source: .recordedNotificationV1, signedDate: 7))
        #expect(set.transactions.first?.origin.source.kind.isSigned == false)
        // The server that received it has checked the secret.
        let object = try #require(try JSONValue.parse(Array(notification.utf8)).object)
        let received = [FactSet](
            notificationV1: object, mapping: try FactSupport.recorded(notification), receipts: [], now: 0)
        #expect(received.first?.transactions.first?.origin.source == .notificationV1)
        // The hash of its JSON without white space, as for a stored reply.
        #expect(
            received.first?.transactions.first?.origin.document == Fingerprint(of: JSONValue.object(object).json))
    }

    @Test(
        "A received notification of version 1 is not newer than a day after the server's clock",
        arguments: [true, false])
    func futureNotification(isFuture: Bool) throws {
        let (now, day) = (Int64(1_700_000_000_000), Int64(86_400_000))
        let date = isFuture ? 4_000_000_000_000 : now + day
        let notification = """
            {"notification_type": "CANCEL", "environment": "PROD", "bid": "com.example.app", "cancellation_date_ms": "\(date)",
             "unified_receipt": {"status": 0, "environment": "Production", "latest_receipt_info": [
               {"product_id": "a", "transaction_id": "6", "original_transaction_id": "5", "purchase_date_ms": "7",
                "cancellation_date_ms": "\(date)"}]}}
            """
        let object = try #require(try JSONValue.parse(Array(notification.utf8)).object)
        let received = [FactSet](
            notificationV1: object, mapping: try FactSupport.recorded(notification), receipts: [], now: now)
        #expect(received.first?.transactions.first?.origin.signedDate == now + day)
        // The notification itself too, also if it states nothing about a purchase.
        let alone = [FactSet](notificationV1: object, mapping: nil, receipts: [], now: now)
        #expect([received, alone].map { $0.last?.notification?.signedDate } == [now + day, now + day])
    }

    @Test("The facts of a reply have the hash of the reply")
    func hash() throws {
        let hash = Fingerprint(of: [1])
        let sets = [FactSet](
            recorded: try FactSupport.recorded(Self.reply), importedAt: .max, userId: nil, document: hash)
        #expect(sets.flatMap(\.transactions).map(\.origin.document) == [hash])
        #expect(sets.flatMap(\.renewalInfos).map(\.origin.document) == [hash])
        #expect(sets.map { $0.appTransaction?.origin.document } == [hash])
    }
}
