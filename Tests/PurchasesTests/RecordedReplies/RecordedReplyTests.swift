import AppStoreModels
import ProductCatalog
import Purchases
import TestSupport
import Testing

enum RecordedSupport {
    static func map(_ json: String, catalog: ProductCatalog? = nil) throws -> RecordedMapping {
        ReceiptMapper(catalog: catalog).map(try RecordedReply(json: Array(json.utf8)))
    }

    static func error(_ json: String) -> RecordedReplyError? {
        do throws(RecordedReplyError) {
            _ = try RecordedReply(json: Array(json.utf8))
            return nil
        } catch {
            return error
        }
    }

    static func row(_ id: String?, original: String = "1", product: String = "p", _ more: String = "") -> String {
        let transaction = id.map { "\"transaction_id\":\"\($0)\"," } ?? ""
        let rest = more.isEmpty ? "" : ",\(more)"
        return "{\(transaction)\"original_transaction_id\":\"\(original)\",\"product_id\":\"\(product)\"\(rest)}"
    }
}

@Suite struct RecordedReplyTests {
    typealias Support = RecordedSupport

    @Test func everyKeyOfARowIsCarriedWithItsName() throws {
        let row = Support.row(
            "20", original: "10",
            """
            "quantity":"2","purchase_date_ms":"1000","original_purchase_date":"1970-01-01 00:00:02 Etc/GMT",
            "expires_date_ms":3000,"web_order_line_item_id":"77","is_trial_period":"true",
            "is_in_intro_offer_period":"false","in_app_ownership_type":"FAMILY_SHARED","app_account_token":"t",
            "subscription_group_identifier":"5","offer_code_ref_name":"code"
            """)
        let mapped = try Support.map("{\"status\":0,\"environment\":\"Production\",\"latest_receipt_info\":[\(row)]}")
        let transaction = mapped.transactions[0]
        let expected = JWSTransactionDecodedPayload {
            $0.originalTransactionId = "10"
            $0.transactionId = "20"
            $0.webOrderLineItemId = "77"
            $0.productId = "p"
            $0.subscriptionGroupIdentifier = "5"
            $0.purchaseDate = 1000
            $0.originalPurchaseDate = 2000
            $0.expiresDate = 3000
            $0.quantity = 2
            $0.type = .autoRenewableSubscription
            $0.appAccountToken = "t"
            $0.inAppOwnershipType = .familyShared
            $0.offerType = .offerCode
            $0.offerIdentifier = "code"
            $0.offerDiscountType = .freeTrial
            $0.environment = .production
            $0.transactionReason = .renewal
        }
        #expect(transaction.payload == expected)
        #expect(transaction.standing == .recorded)
        func key(_ name: String) -> Provenance { .recordedReply(RecordedKey(object: "latest_receipt_info", key: name)) }
        #expect(transaction.provenance[.purchaseDate] == key("purchase_date_ms"))
        #expect(transaction.provenance[.originalPurchaseDate] == key("original_purchase_date"))
        #expect(transaction.provenance[.offerIdentifier] == key("offer_code_ref_name"))
        #expect(transaction.provenance[.environment] == .recordedReply(RecordedKey(key: "environment")))
        #expect(transaction.provenance[.type] == .inferred(.expiresDateMeansAutoRenewable))
        #expect(transaction.provenance.entries.allSatisfy { !$0.provenance.isSigned })
        #expect(key("x").text == "recorded reply latest_receipt_info.x")
    }

    @Test func listsAreMergedPerTransactionAndTheNewerStateWins() throws {
        let old = Support.row(
            "1",
            "\"quantity\":\"1\",\"is_trial_period\":\"true\",\"cancellation_date_ms\":\"9\",\"expires_date_ms\":\"5\"")
        let new = Support.row("1", "\"is_trial_period\":\"false\",\"expires_date_ms\":\"6\"")
        let mapped = try Support.map(
            """
            {"status":0,"receipt":{"bundle_id":"b","in_app":[\(old),\(Support.row("2"))]},
             "latest_receipt_info":[\(Support.row("3")),\(new)]}
            """)
        #expect(mapped.transactions.map(\.payload.transactionId) == ["1", "2", "3"])
        let first = mapped.transactions[0]
        #expect(first.notes == [.mergedRows])
        #expect(first.payload.expiresDate == 6 && first.payload.offerType == nil)
        // Apple's database has the last word on cancellations.
        #expect(first.payload.revocationDate == nil)
        #expect(first.payload.quantity == 1)
        #expect(first.provenance[.quantity] == .recordedReply(RecordedKey(object: "receipt.in_app", key: "quantity")))
        #expect(mapped.transactions.allSatisfy { $0.payload.bundleId == "b" })
    }

    @Test func anUpgradeIsNoRevocation() throws {
        let row = Support.row(
            "1",
            "\"is_upgraded\":\"true\",\"cancellation_date_ms\":\"9\",\"cancellation_reason\":\"0\",\"expires_date_ms\":\"99\""
        )
        let payload = try Support.map("{\"latest_receipt_info\":[\(row)]}").transactions[0].payload
        #expect(payload.isUpgraded == true && payload.revocationDate == nil && payload.revocationReason == nil)
    }

    /// As in a production reply of 2020 (Reference.md V3.5).
    @Test(arguments: [false, true])
    func onlyTheRenewalThatWasChargedAheadIsUpgraded(isReversed: Bool) throws {
        func date(_ hour: Int) -> Int { 1_590_000_000_000 + hour * 3_600_000 }
        func row(_ id: String, _ product: String, _ start: Int, _ end: Int, _ more: String = "") -> String {
            let dates = "\"purchase_date_ms\":\"\(date(start))\",\"expires_date_ms\":\"\(date(end))\""
            return Support.row(id, original: "10", product: product, dates + more)
        }
        let ended =
            ",\"is_upgraded\":\"true\",\"cancellation_reason\":\"0\",\"cancellation_date_ms\":\"\(date(749))\""
        var rows = [
            row("10", "month", 24, 744), row("11", "month", 744, 1464, ended), row("12", "year", 741, 9501),
        ]
        if isReversed { rows.reverse() }
        let mapped = try Support.map("{\"status\":0,\"latest_receipt_info\":[\(rows.joined(separator: ","))]}")
        let upgraded = mapped.transactions.filter { $0.payload.isUpgraded == true }
        #expect(upgraded.map(\.payload.transactionId) == ["11"])
        #expect(mapped.transactions.allSatisfy { $0.payload.revocationDate == nil })
    }

    @Test func theAppTransactionComesFromTheReceiptObject() throws {
        let mapped = try Support.map(
            """
            {"status":0,"receipt":{"receipt_type":"ProductionVPP","adam_id":42,"app_item_id":42,"bundle_id":"b",
             "application_version":"7","version_external_identifier":"9","receipt_creation_date_ms":"1000",
             "original_purchase_date":"1970-01-01 00:00:02 Etc/GMT","original_application_version":"1",
             "request_date_ms":"5000","in_app":[]}}
            """)
        #expect(mapped.transactions.isEmpty && mapped.recordedAt == 5000)
        let expected = AppTransaction {
            $0.receiptType = .production
            $0.appAppleId = 42
            $0.bundleId = "b"
            $0.applicationVersion = "7"
            $0.versionExternalIdentifier = 9
            $0.receiptCreationDate = 1000
            $0.originalPurchaseDate = 2000
            $0.originalApplicationVersion = "1"
        }
        #expect(mapped.appTransaction?.payload == expected)
        #expect(mapped.appTransaction?.legacy.receiptType == "ProductionVPP")
        #expect(mapped.appTransaction?.legacy.expirationDate == nil)
        #expect(mapped.appTransaction?.standing == .recorded)
        #expect(mapped.environment == .production)
    }

    @Test(
        arguments: [
            (#""expiration_date_ms":"1742034030000","expiration_date":"x""#, 1_742_034_030_000, []),
            (#""expiration_date":"2025-03-15 10:20:30 Etc/GMT""#, 1_742_034_030_000, []),
            (#""expiration_date":"4001-01-01 00:00:00 Etc/GMT""#, 64_092_211_200_000, []),
            (#""expiration_date":null"#, nil, []), (#""expiration_date":"never""#, nil, [.valueOutOfRange]),
        ] as [(String, Int64?, [MappingNote])])
    func aReplyStatesWhenAVolumePurchaseExpires(members: String, expected: Int64?, notes: [MappingNote]) throws {
        let app = try Support.map(
            #"{"status":0,"receipt":{"receipt_type":"ProductionVPP","bundle_id":"b",\#(members),"in_app":[]}}"#
        ).appTransaction
        #expect(app?.legacy.expirationDate == expected && app?.notes == notes)
        #expect(app?.payload.bundleId == "b")
    }

    @Test func iOS6RepliesContainOnePurchaseAndMilliseconds() throws {
        let receipt = """
            {"bid":"com.example","bvrs":"1","product_id":"p","transaction_id":"1000000059630000","quantity":"1",
             "original_transaction_id":"1000000059630000","expires_date":"1354436154000",
             "expires_date_formatted":"2012-12-02 08:15:54 Etc/GMT","purchase_date_ms":"1354432554000"}
            """
        let mapped = try Support.map(
            "{\"status\":21006,\"receipt\":\(receipt),\"latest_expired_receipt_info\":\(receipt),\"auto_renew_status\":0,\"auto_renew_product_id\":\"q\",\"expiration_intent\":\"1\",\"is_in_billing_retry_period\":\"0\"}"
        )
        #expect(mapped.transactions.count == 1 && mapped.appTransaction == nil)
        let payload = mapped.transactions[0].payload
        #expect(payload.expiresDate == 1_354_436_154_000 && payload.bundleId == "com.example")
        // No environment is named; the id is one of the sandbox.
        #expect(payload.environment == .sandbox)
        #expect(mapped.transactions[0].provenance[.environment] == .inferred(.sandboxTransactionId))
        #expect(payload.inAppOwnershipType == .purchased)
        let info = try unwrap(mapped.renewalInfos.first)
        #expect(info.payload.autoRenewStatus == .off && info.payload.autoRenewProductId == "q")
        #expect(info.payload.expirationIntent == .cancelled && info.payload.isInBillingRetryPeriod == false)
        #expect(info.payload.originalTransactionId == "1000000059630000" && info.payload.productId == "p")
        #expect(
            info.provenance[.originalTransactionId]
                == .recordedReply(RecordedKey(object: "latest_expired_receipt_info", key: "original_transaction_id")))
    }

    @Test func aCancellationBesideTheRowsBelongsToTheLatestOne() throws {
        let mapped = try Support.map(
            """
            {"status":21006,"cancellation_date_ms":"15","cancellation_reason":"1",
             "receipt":\(Support.row("1", "\"expires_date_ms\":\"10\"")),
             "latest_expired_receipt_info":\(Support.row("2", "\"expires_date_ms\":\"20\""))}
            """)
        #expect(mapped.transactions.map(\.payload.revocationDate) == [nil, 15])
        #expect(mapped.transactions[1].payload.revocationReason == .issueWithinApp)
        #expect(mapped.transactions[1].provenance[.revocationDate].text == "recorded reply cancellation_date_ms")
    }

    @Test func notificationsAreReadInBothForms() throws {
        let flat = try Support.map(
            """
            {"notification_type":"CANCEL","environment":"PROD","auto_renew_status":"false","password":"secret",
             "auto_renew_product_id":"q","latest_receipt":"AA==","latest_receipt_info":\(Support.row("7", "\"bid\":\"b\""))}
            """)
        #expect(flat.kind == .notificationV1 && flat.environment == .production)
        #expect(flat.transactions[0].payload.bundleId == "b")
        #expect(
            flat.transactions[0].provenance[.transactionId].text == "notification V1 latest_receipt_info.transaction_id"
        )
        #expect(flat.renewalInfos.map(\.payload.autoRenewStatus) == [.off])
        #expect(flat.renewalInfos[0].payload.originalTransactionId == "1")
        #expect(flat.embeddedReceipts.map(\.key) == ["latest_receipt"])
        let unified = try Support.map(
            """
            {"notification_type":"RENEWAL","bid":"b","auto_renew_status":"true","unified_receipt":{"status":0,
             "environment":"Sandbox","latest_receipt":"BB==","latest_receipt_info":[\(Support.row("8")),\(Support.row("7"))],
             "pending_renewal_info":[{"auto_renew_status":"1","product_id":"p","original_transaction_id":"1"}]}}
            """)
        #expect(unified.transactions.map(\.payload.transactionId) == ["8", "7"])
        #expect(unified.environment == .sandbox && unified.transactions[0].payload.bundleId == "b")
        #expect(unified.renewalInfos.count == 1 && unified.renewalInfos[0].payload.autoRenewStatus == .on)
        #expect(unified.embeddedReceipts.map(\.text) == ["BB=="])
    }

    /// Apple wrote this text in notifications until January 2020 (Reference.md V8).
    @Test func aUnifiedReceiptWithTheStatusOKIsAccepted() throws {
        func notification(_ status: String) -> String {
            """
            {"notification_type":"DID_RECOVER",
             "unified_receipt":{"status":\(status),"latest_receipt_info":[\(Support.row("1"))]}}
            """
        }
        #expect(try Support.map(notification("\"OK\"")).transactions.map(\.payload.transactionId) == ["1"])
        #expect(Support.error(notification("\"Error\""))?.code == .badNumber)
        #expect(Support.error(notification("21003"))?.code == .statusNotAccepted)
    }

    /// Notifications of 2019 and 2020 state the app only in this purchase (Reference.md V8).
    @Test(arguments: ["latest_receipt_info", "latest_expired_receipt_info"])
    func theAppOfTheFlatPurchaseIsTheAppOfTheNotification(key: String) throws {
        let mapped = try Support.map(
            """
            {"notification_type":"DID_RECOVER","environment":"PROD","\(key)":\(Support.row("7", "\"bid\":\"b\"")),
             "unified_receipt":{"status":0,"latest_receipt_info":[\(Support.row("8", original: "2")),\(Support.row("7"))]}}
            """)
        #expect(mapped.bundleId == "b")
        #expect(mapped.transactions.map(\.payload.transactionId) == ["7", "8"])
        #expect(mapped.transactions.map(\.payload.bundleId) == ["b", "b"])
        #expect(mapped.transactions[1].provenance[.bundleId].text == "notification V1 \(key).bid")
    }

    @Test func theAppOfTheNotificationComesFirst() throws {
        let mapped = try Support.map(
            """
            {"notification_type":"DID_RECOVER","bid":"b","latest_receipt_info":\(Support.row("7", "\"bid\":\"c\"")),
             "unified_receipt":{"latest_receipt_info":[\(Support.row("8"))]}}
            """)
        #expect(mapped.transactions.map(\.payload.bundleId) == ["c", "b"])
    }

    @Test func rowsAloneAreReadAsAnArrayOrAsOne() throws {
        let two = try Support.map("[\(Support.row("1")),\(Support.row("2"))]")
        #expect(two.kind == .rows && two.transactions.count == 2)
        #expect(two.transactions[0].provenance[.transactionId].text == "recorded reply transaction_id")
        #expect(try Support.map(Support.row("1")).transactions.count == 1)
    }

    @Test func aRowWithoutTransactionIdKeepsItsMembers() throws {
        let mapped = try Support.map("[\(Support.row(nil, "\"purchase_date_ms\":\"5\""))]").transactions[0]
        #expect(mapped.payload.transactionId == nil && mapped.payload.originalTransactionId == "1")
        #expect(mapped.notes == [.missingTransactionId] && mapped.payload.transactionReason == nil)
    }

    @Test func stringsAndNumbersAreAcceptedForEachOther() throws {
        let row = """
            {"product_id":"p","transaction_id":1000000059630000,"original_transaction_id":99999999999999999999,
             "quantity":3,"is_trial_period":1,"is_in_intro_offer_period":false,"purchase_date_ms":1354432554000}
            """
        let payload = try Support.map("[\(row)]").transactions[0].payload
        #expect(payload.transactionId == "1000000059630000")
        #expect(payload.originalTransactionId == "99999999999999999999")
        #expect(payload.quantity == 3 && payload.offerDiscountType == .freeTrial)
    }

    @Test(arguments: ["true", "TRUE", "True", "t"], ["false", "FALSE", "False", "f"])
    func aFlagIsReadAsDatabasesAndSpreadsheetsWriteIt(yes: String, no: String) throws {
        let row = Support.row(
            "1", "\"expires_date_ms\":\"3000\",\"is_trial_period\":\"\(yes)\",\"is_in_intro_offer_period\":\"\(no)\"")
        let pending = [yes, no].map {
            "{\"auto_renew_status\":\"\($0)\",\"product_id\":\"p\",\"original_transaction_id\":\"1\"}"
        }
        for (info, status) in zip(pending, [AutoRenewStatus.on, .off]) {
            let mapped = try Support.map(
                "{\"status\":0,\"latest_receipt_info\":[\(row)],\"pending_renewal_info\":[\(info)]}")
            #expect(mapped.transactions.first?.payload.offerDiscountType == .freeTrial)
            #expect(mapped.renewalInfos.map(\.payload.autoRenewStatus) == [status])
        }
        let paid = try Support.map("[\(Support.row("1", "\"is_trial_period\":\"\(no)\""))]")
        #expect(paid.transactions.first?.payload.offerType == nil)
    }

    @Test func aContradictedEnvironmentIsTheSandbox() throws {
        let mapped = try Support.map(
            "{\"environment\":\"PROD\",\"latest_receipt_info\":[\(Support.row("1000000059630000")),\(Support.row("250000287737863"))]}"
        )
        #expect(mapped.transactions.map(\.payload.environment) == [.sandbox, .production])
        #expect(mapped.transactions[0].notes == [.environmentContradiction])
    }

    @Test(
        arguments: [
            ("PROD", .production), ("production", .production), ("PRODUCTION", .production), ("prod", .production),
            ("SANDBOX", .sandbox), ("sandbox", .sandbox),
        ] as [(String, Environment)])
    func anEnvironmentIsReadInAnyCase(text: String, environment: Environment) throws {
        let mapped = try Support.map("{\"environment\":\"\(text)\",\"latest_receipt_info\":[\(Support.row("1"))]}")
        #expect(mapped.transactions.map(\.payload.environment) == [environment] && mapped.notes.isEmpty)
    }

    @Test func anUnknownEnvironmentIsAbsentAndNoted() throws {
        let mapped = try Support.map("{\"environment\":\"Moon\",\"latest_receipt_info\":[\(Support.row("1"))]}")
        #expect(mapped.notes == [.unknownEnvironment] && mapped.transactions[0].payload.environment == nil)
    }

    @Test func ownershipDefaultsOnlyForRepliesBefore2021() throws {
        func ownership(_ requested: String) throws -> InAppOwnershipType? {
            let json =
                "{\"status\":0,\"receipt\":{\"bundle_id\":\"b\",\"request_date_ms\":\"\(requested)\",\"in_app\":[\(Support.row("1", "\"purchase_date_ms\":\"5\""))]}}"
            return try Support.map(json).transactions[0].payload.inAppOwnershipType
        }
        #expect(try ownership("1609459199999") == .purchased)
        #expect(try ownership("1609459200000") == nil)
    }

    @Test func onlyReplyNotificationOrRowsAreRecognized() {
        for json in [
            "{}", "[]x", "5", "\"text\"", "[5]", "[{}]", "{\"Store\":\"AppleAppStore\"}", "{\"receipt\":\"MII\"}",
        ] {
            let code = Support.error(json)?.code
            #expect(code == (json == "[]x" ? .notJSON : .notRecognized), "\(json)")
        }
        #expect(Support.error("[]")?.code == .nothingInside)
        #expect(Support.error("{\"status\":0}")?.code == .nothingInside)
        #expect(Support.error("{\"latest_receipt_info\":[]}")?.code == .nothingInside)
        #expect(Support.error("{]")?.offset == 1)
    }

    @Test(arguments: [21000, 21002, 21003, 21004, 21007, 21008, 21010, 21199, 1, -1])
    func otherStatusesVouchForNothing(status: Int) {
        let error = Support.error("{\"status\":\(status),\"latest_receipt_info\":[\(Support.row("1"))]}")
        #expect(error?.code == .statusNotAccepted && error?.status == Int64(status))
        #expect(error?.message.contains("\(status)") == true)
    }

    @Test(arguments: [
        ("\"purchase_date_ms\":\"soon\"", RecordedReplyError.Code.badDate, "purchase_date_ms"),
        ("\"purchase_date_ms\":\"9223372036854775807\"", .badDate, "purchase_date_ms"),
        ("\"expires_date\":\"2020-02-30 00:00:00 Etc/GMT\"", .badDate, "expires_date"),
        ("\"cancellation_date\":true", .badDate, "cancellation_date"),
        ("\"quantity\":\"many\"", .badNumber, "quantity"), ("\"quantity\":1.5", .badNumber, "quantity"),
        ("\"quantity\":{}", .wrongType, "quantity"), ("\"is_trial_period\":\"maybe\"", .badFlag, "is_trial_period"),
        ("\"is_trial_period\":[]", .wrongType, "is_trial_period"),
        ("\"web_order_line_item_id\":true", .wrongType, "web_order_line_item_id"),
    ])
    func aValueOfTheWrongFormIsNamed(member: String, code: RecordedReplyError.Code, key: String) {
        let error = Support.error("{\"latest_receipt_info\":[\(Support.row("1")),\(Support.row("2", member))]}")
        #expect(
            error?.code == code && error?.keyPath == "latest_receipt_info[1].\(key)", "\(String(describing: error))")
        #expect(error?.message.contains(key) == true)
    }

    @Test func aRowThatNothingNamesIsAnError() {
        let noId = Support.error("{\"receipt\":{\"in_app\":[{\"product_id\":\"p\"}]}}")
        #expect(noId?.code == .missingIdentifier && noId?.keyPath == "receipt.in_app[0].transaction_id")
        let noProduct = Support.error("{\"latest_receipt_info\":[{\"transaction_id\":\"1\"}]}")
        #expect(noProduct?.code == .missingIdentifier && noProduct?.keyPath == "latest_receipt_info[0].product_id")
        #expect(Support.error("{\"latest_receipt_info\":[5]}")?.keyPath == "latest_receipt_info[0]")
        #expect(Support.error("{\"latest_receipt_info\":\"x\"}")?.code == .wrongType)
    }

    @Test func theNumberOfPurchasesAndRenewalsIsBounded() throws {
        func list(_ count: Int, _ element: (Int) -> String) -> String {
            "[" + (0..<count).map(element).joined(separator: ",") + "]"
        }
        let maximum = RecordedReply.maximumPurchases
        for key in ["pending_renewal_info", "latest_receipt_info"] {
            let error = Support.error("{\"status\":0,\"\(key)\":\(list(maximum + 1) { _ in "{}" })}")
            #expect(error?.code == .tooManyPurchases && error?.keyPath == key)
        }
        func rows(_ first: Int, _ count: Int) -> String {
            list(count) { "{\"product_id\":\"p\",\"transaction_id\":\"\(first + $0)\"}" }
        }
        func reply(_ inReceipt: String, _ latest: String) -> String {
            "{\"receipt\":{\"in_app\":\(inReceipt)},\"latest_receipt_info\":\(latest)}"
        }
        let half = maximum / 2
        #expect(Support.error(reply(rows(1, half), rows(1 + half, half + 1)))?.code == .tooManyPurchases)
        let few = try RecordedReply(json: Array(reply(rows(1, 10), rows(1, 10)).utf8))
        #expect(ReceiptMapper().map(few).transactions.count == 10)
    }

    @Test func nullAndEmptyTextAreAbsent() throws {
        let row = Support.row(
            "1", "\"expires_date_ms\":\"\",\"expires_date\":null,\"quantity\":null,\"is_trial_period\":\"\"")
        let payload = try Support.map("[\(row)]").transactions[0].payload
        #expect(payload.expiresDate == nil && payload.quantity == nil && payload.offerType == nil)
    }
}
