public import AppStoreModels

/// The seats of a multiseat subscription whose invitations the developer manages (App Store Server API 1.23; Reference.md
/// S2.1). Apple offers these endpoints in the sandbox only so far.
///
/// `transactionId` names a transaction of the purchaser, whose `multiSeatInfo.invitationManagement` is
/// `DEVELOPER`. The members of such a group get no transactions: the developer's server records who
/// has access. Apple publishes no numbers for the errors `NoAvailableSeatsError`, `SeatClaimIdNotFoundError` and
/// `AppTransactionIdNotFoundError`; ``AppStoreServerAPIError`` contains the number and the text that Apple sends.
extension AppStoreServerAPIClient {
    /// How many seats there are, how many can be claimed, and the claims.
    public func getSeatInfo(_ transactionId: String) async throws -> GetSeatInfoResponse {
        try await pipeline.call(.getSeatInfo, transactionId)
    }

    /// Claims a seat for one person. Save `requestIdentifier` before the call and use it again in a retry:
    /// Apple then returns the first claim and makes no second one.
    ///
    /// Apple refuses with `NoAvailableSeatsError` if all seats are claimed, and with `AppTransactionIdNotFoundError` if it
    /// does not know the app download.
    public func claimSeat(_ transactionId: String, _ request: ClaimSeatRequest) async throws -> ClaimSeatResponse {
        try await pipeline.call(.claimSeat, transactionId, body: request)
    }

    /// Ends a claim. Apple refuses with `SeatClaimIdNotFoundError` if the subscription has no such claim.
    public func unclaimSeat(_ transactionId: String, seatClaimId: String) async throws {
        try await pipeline.perform(.unclaimSeat, transactionId, seatClaimId)
    }

    /// Gives a claimed seat to an app download, where the claim was made without one. Apple refuses with
    /// `SeatClaimIdNotFoundError` or `AppTransactionIdNotFoundError`.
    public func associateSeat(
        _ transactionId: String, seatClaimId: String, _ request: AssociateSeatRequest
    ) async throws {
        try await pipeline.perform(.associateSeat, transactionId, seatClaimId, body: request)
    }
}
