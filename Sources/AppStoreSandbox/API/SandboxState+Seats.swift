internal import AppStoreModels
internal import AppStoreServer

/// The seat endpoints (Reference.md S2.1). Apple offers them in the sandbox only. Their errors have no published number; they
/// are answered with 4000000 and their name, as others of that kind.
extension SandboxState {
    /// Get Seat Info.
    func seatInfo(_ id: String) throws -> APIResponse {
        let (subscription, seats) = try seats(id)
        let total = engine.seatCount(of: subscription)
        return try .json(
            GetSeatInfoResponse(
                totalSeatCount: Int32(clamping: total),
                availableSeatCount: Int32(clamping: max(0, total - seats.claims.count)),
                assignedSeatClaimIds: seats.claims.map(\.id)))
    }

    /// Claim Seat.
    mutating func claimSeat(_ id: String, _ request: APIRequest) throws -> APIResponse {
        let (subscription, _) = try seats(id)
        let body = try object(request)
        guard let identifier = body["requestIdentifier"]?.string, let uuid = UUIDText(identifier) else {
            throw APIRefusal(.invalidRequestIdentifier)
        }
        let app = try body["appTransactionId"].flatMap { $0.isNull ? nil : try appTransactionId($0) }
        let claim = engine.claimSeat(
            of: subscription.originalTransactionId, requestIdentifier: uuid.text, appTransactionId: app)
        guard let claim else { throw APIRefusal(.generalBadRequest, "No available seats.") }
        return try .json(ClaimSeatResponse(seatClaimId: claim))
    }

    /// Unclaim Seat.
    mutating func unclaimSeat(_ id: String, claim: String) throws -> APIResponse {
        try changeClaim(id, claim) { $0.remove(at: $1) }
    }

    /// Associate Seat.
    mutating func associateSeat(_ id: String, claim: String, _ request: APIRequest) throws -> APIResponse {
        let app = try appTransactionId(try object(request)["appTransactionId"])
        return try changeClaim(id, claim) { $0[$1].appTransactionId = app }
    }

    private mutating func changeClaim(
        _ id: String, _ claim: String, _ change: (inout [SandboxSubscription.Seats.Claim], Int) -> Void
    ) throws -> APIResponse {
        let (subscription, known) = try seats(id)
        var seats = known
        guard let place = seats.claims.firstIndex(where: { $0.id == claim.lowercased() }) else {
            throw APIRefusal(.generalBadRequest, "Seat claim id not found.")
        }
        change(&seats.claims, place)
        engine.update(subscription.originalTransactionId) { $0.seats = seats }
        return .empty
    }

    private func seats(_ id: String) throws -> (SandboxSubscription, SandboxSubscription.Seats) {
        let transaction = try transaction(id)
        guard let subscription = engine.subscriptions[transaction.originalId], let seats = subscription.seats,
            !subscription.hasEnded
        else { throw APIRefusal(.generalBadRequest, "The transaction is of no active subscription with seats.") }
        return (subscription, seats)
    }

    private func appTransactionId(_ value: JSONValue?) throws -> String {
        guard let id = value?.string, engine.customer(anyTransactionId: id)?.appTransactionId == id else {
            throw APIRefusal(.generalBadRequest, "App transaction id not found.")
        }
        return id
    }
}
