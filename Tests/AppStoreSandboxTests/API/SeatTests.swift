import AppStoreModels
import AppStoreSandbox
import AppStoreServer
import Testing

struct SeatTests {
    private static let missing = "00000000-0000-4000-8000-000000000000"

    private func buy(_ fields: String, in sandbox: RunningSandbox) async throws -> String {
        let answer = try await sandbox.post(
            "purchases", "{\"customer\": \"ada\", \"offer\": {\"type\": \"none\"}, \(fields)}")
        return try #require(answer["transactionId"]?.string)
    }

    @Test("A seat is claimed once for a request identifier, and no more are claimed than there are")
    func claims() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            let bought = try await buy("\"productId\": \"\(Sold.basic)\", \"seats\": 2", in: sandbox)
            let checking = try Checking()
            let payload = try await checking.transaction(
                try await client.getTransactionInfo(bought).signedTransactionInfo)
            #expect(payload.quantity == 2 && payload.multiSeatInfo?.invitationManagement == .developer)
            let request = ClaimSeatRequest(requestIdentifier: "a1b2c3d4-e5f6-4789-8abc-def012345678")
            let first = try #require(try await client.claimSeat(bought, request).seatClaimId)
            #expect(try await client.claimSeat(bought, request).seatClaimId == first)
            let app = try #require(payload.appTransactionId)
            let second = try await client.claimSeat(
                bought, ClaimSeatRequest(requestIdentifier: Self.missing, appTransactionId: app)
            ).seatClaimId
            let expected = GetSeatInfoResponse {
                $0.totalSeatCount = 2
                $0.availableSeatCount = 0
                $0.assignedSeatClaimIds = [first, second ?? ""]
            }
            #expect(try await client.getSeatInfo(bought) == expected)
            let third = ClaimSeatRequest(requestIdentifier: "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f")
            #expect(await apiError { _ = try await client.claimSeat(bought, third) }?.message == "No available seats.")
            try await client.associateSeat(
                bought, seatClaimId: first, AssociateSeatRequest(appTransactionId: app))
            try await client.unclaimSeat(bought, seatClaimId: first)
            #expect(try await client.getSeatInfo(bought).availableSeatCount == 1)
            #expect(
                await apiError { try await client.unclaimSeat(bought, seatClaimId: first) }?.message
                    == "Seat claim id not found.")
            let unknown = ClaimSeatRequest(requestIdentifier: Self.missing + "1", appTransactionId: "1")
            #expect(
                await apiError { _ = try await client.claimSeat(bought, unknown) }?.code == .invalidRequestIdentifier)
            let stranger = AssociateSeatRequest(appTransactionId: "1")
            #expect(
                await apiError {
                    try await client.associateSeat(bought, seatClaimId: second ?? "", stranger)
                }?.message == "App transaction id not found.")
            try await sandbox.post("subscriptions/\(bought)/unclaim-seats", "{\"claims\": [\"\(second ?? "")\"]}")
            #expect(try await client.getSeatInfo(bought).assignedSeatClaimIds == [])
            #expect(try await sandbox.notifications() == ["SUBSCRIBED/INITIAL_BUY", "UNCLAIM_SEATS"])
        }
    }

    @Test("After a renewal with fewer seats, the claims can exceed the seats, and no seat is available")
    func claimsExceedSeats() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            let bought = try await buy("\"productId\": \"\(Sold.basic)\", \"seats\": 3", in: sandbox)
            var expected = GetSeatInfoResponse {
                $0.totalSeatCount = 3
                $0.availableSeatCount = 0
                $0.assignedSeatClaimIds = []
            }
            for number in 1...3 {
                let request = ClaimSeatRequest(requestIdentifier: "a1b2c3d4-e5f6-4789-8abc-def01234567\(number)")
                let claim = try #require(try await client.claimSeat(bought, request).seatClaimId)
                expected.assignedSeatClaimIds?.append(claim)
            }
            try await sandbox.post("subscriptions/\(bought)/remove-seats", "{\"seats\": 2}")
            #expect(try await client.getSeatInfo(bought) == expected)
            try await sandbox.post("subscriptions/\(bought)/renew")
            expected.totalSeatCount = 1
            #expect(try await client.getSeatInfo(bought) == expected)
            let more = ClaimSeatRequest(requestIdentifier: Self.missing)
            #expect(await apiError { _ = try await client.claimSeat(bought, more) }?.message == "No available seats.")
        }
    }

    @Test("Send Consumption Information and Set App Account Token refuse an assigned purchase")
    func assigned() async throws {
        try await RunningSandbox.run { sandbox in
            let client = try sandbox.client()
            for product in [Sold.coins, Sold.basic] {
                let id = try await buy("\"productId\": \"\(product)\", \"ownership\": \"ASSIGNED\"", in: sandbox)
                let checking = try Checking()
                let payload = try await checking.transaction(
                    try await client.getTransactionInfo(id).signedTransactionInfo)
                #expect(payload.inAppOwnershipType == .assigned && payload.price == nil)
                let information = ConsumptionRequest(
                    customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false)
                let informationV1 = ConsumptionRequestV1(
                    customerConsented: true, sampleContentProvided: true, deliveryStatus: .delivered)
                let token = UpdateAppAccountTokenRequest(appAccountToken: Self.missing)
                for refusal in [
                    await apiError { try await client.sendConsumptionInformation(id, information) },
                    await apiError { try await client.sendConsumptionInformationV1(id, informationV1) },
                    await apiError { try await client.setAppAccountToken(id, token) },
                ] {
                    #expect(refusal?.message == "Invalid assigned transaction not supported.")
                }
            }
        }
    }

    @Test("Added seats are one more transaction of the period; none is upgraded, and seats count together")
    func addedSeats() throws {
        var shop = try Shop()
        let bought = try shop.engine.buy(
            SandboxOrder(customer: "ada", productId: Sold.basic, redemption: .withoutOffer, seats: 3), at: shop.now)
        shop.pass(Shop.minute)
        let added = try shop.engine.addSeats(2, to: bought.id, at: shop.now)
        try shop.engine.refundSeats(1, of: bought.id, at: shop.now)
        try shop.engine.removeSeats(4, from: bought.id, at: shop.now)
        #expect(
            shop.takeNotifications() == [
                "SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY", "REFUND/SEATS",
                "DID_CHANGE_RENEWAL_PREF/DECREASE_QUANTITY",
            ])
        for id in [bought.id, added.id] {
            let payload = try shop.engine.transaction(id).payload
            #expect(payload.additionalTransactionReason == .seatAddition && payload.isUpgraded == nil)
            #expect(payload.originalTransactionId == bought.id && payload.revocationDate == nil)
            #expect(payload.expiresDate == bought.payload.expiresDate)
        }
        #expect(try shop.engine.transaction(bought.id).payload.multiSeatInfo?.revokedSeatQuantity == 1)
        #expect(try shop.subscription(bought.id).status == .active)
        shop.pass(Shop.monthly)
        let renewed = try shop.engine.transaction(try shop.subscription(bought.id).transactionId)
        #expect(renewed.payload.quantity == 1 && renewed.payload.additionalTransactionReason == nil)
        #expect(renewed.id != bought.id && renewed.id != added.id)
    }

    @Test("An upgrade does not change a refunded transaction of its period; a reversal of the refund does")
    func refundBeforeUpgrade() throws {
        var shop = try Shop()
        let bought = try shop.engine.buy(
            SandboxOrder(customer: "ada", productId: Sold.basic, redemption: .withoutOffer, seats: 3), at: shop.now)
        let added = try shop.engine.addSeats(2, to: bought.id, at: shop.now)
        try shop.engine.refund(added.id, at: shop.now)
        shop.pass(Shop.minute)
        _ = try shop.engine.changePlan(bought.id, to: Sold.premium, at: shop.now)
        #expect(try shop.engine.transaction(bought.id).payload.isUpgraded == true)
        #expect(try shop.engine.transaction(added.id).payload.isUpgraded == nil)
        #expect(try shop.engine.transaction(added.id).payload.revocationDate == shop.now - Shop.minute)
        try shop.engine.reverseRefund(added.id, at: shop.now)
        #expect(try shop.engine.transaction(added.id).payload.isUpgraded == true)
        #expect(try shop.engine.transaction(added.id).payload.revocationDate == nil)
        #expect(try shop.subscription(bought.id).productId == Sold.premium)
    }

    @Test("A period with seats is revoked when each of its transactions is refunded, and back when one is")
    func refunds() throws {
        var shop = try Shop()
        let bought = try shop.engine.buy(
            SandboxOrder(customer: "ada", productId: Sold.basic, redemption: .withoutOffer, seats: 3), at: shop.now)
        let added = try shop.engine.addSeats(2, to: bought.id, at: shop.now)
        try shop.engine.refund(bought.id, at: shop.now)
        #expect(try shop.subscription(bought.id).status == .active)
        try shop.engine.refund(added.id, at: shop.now)
        #expect(try shop.subscription(bought.id).status == .revoked)
        try shop.engine.reverseRefund(added.id, at: shop.now)
        #expect(try shop.subscription(bought.id).status == .active)
    }
}
