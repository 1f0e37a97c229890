import AppStoreModels
import AppStoreServer

/// A client of the App Store Server API with a verifier for its answers.
struct AppStoreSession: Sendable {
    let client: AppStoreServerAPIClient
    let verifier: SignedDataVerifier
    /// The app and the environment that signed data must have.
    let expectation: SignedDataExpectation
    /// The time of the start, in milliseconds since 1970.
    let now: Int64

    /// - Throws: `SignedDataError`, or `AppStoreAnswerError` if the answer has no such member.
    func transaction(_ jws: String?) async throws -> JSONValue {
        let jws = try Self.present(jws, "signedTransactionInfo")
        return try AppStoreAnswer.json(
            try await verifier.verifiedTransaction(jws, expecting: expectation, now: now).payload)
    }

    /// - Throws: `SignedDataError`, or `AppStoreAnswerError` if the answer has no such member.
    func appTransaction(_ jws: String?) async throws -> JSONValue {
        let jws = try Self.present(jws, "signedAppTransactionInfo")
        return try AppStoreAnswer.json(
            try await verifier.verifiedAppTransaction(jws, expecting: expectation, now: now).payload)
    }

    /// The genuine transactions of a list. The others are named in the answer and not shown.
    func add(_ list: [String], to rows: inout [JSONValue], of answer: inout AppStoreAnswer) async throws {
        for jws in list {
            let place = rows.count + answer.notGenuine.count + 1
            do {
                rows.append(try await transaction(jws))
            } catch {
                answer.notGenuine.append(try Self.refusal(of: "Transaction \(place)", error))
            }
        }
    }

    /// One subscription of a status answer. The renewal info does not name its app: it must be of the same subscription as
    /// the transaction, which does.
    ///
    /// - Throws: `SignedDataError`, `AppStoreAnswerError`.
    func subscription(_ item: LastTransactionsItem, group: String?) async throws -> JSONValue {
        let jws = try Self.present(item.signedTransactionInfo, "signedTransactionInfo")
        let transaction = try await verifier.verifiedTransaction(jws, expecting: expectation, now: now).payload
        var renewalInfo: JSONValue?
        if let jws = item.signedRenewalInfo {
            let renewal = try await verifier.verifiedRenewalInfo(jws, expecting: expectation, now: now).payload
            guard renewal.originalTransactionId == transaction.originalTransactionId else {
                throw AppStoreAnswerError(message: "The renewal info belongs to another subscription.")
            }
            renewalInfo = try AppStoreAnswer.json(renewal)
        }
        return .members([
            "subscriptionGroupIdentifier": (group ?? transaction.subscriptionGroupIdentifier)
                .map { JSONValue.string($0) },
            "originalTransactionId": transaction.originalTransactionId.map { JSONValue.string($0) },
            "status": item.status.map { JSONValue.integer(Int64($0.rawValue)) },
            "statusName": item.status.map { JSONValue.string($0.name) },
            "transaction": try AppStoreAnswer.json(transaction), "renewalInfo": renewalInfo,
        ])
    }

    /// One notification of a history, with the data that is signed inside it.
    ///
    /// - Throws: `SignedDataError`, or `AppStoreAnswerError` if there is no notification.
    func notification(_ signedPayload: String?, _ attempts: [SendAttemptItem]?) async throws -> JSONValue {
        let jws = try Self.present(signedPayload, "signedPayload")
        let verified = try await verifier.verifiedNotification(jws, expecting: expectation, now: now)
        return .members([
            "notification": try AppStoreAnswer.json(verified.notification.payload),
            "transaction": try verified.transaction.map { try AppStoreAnswer.json($0.payload) },
            "renewalInfo": try verified.renewalInfo.map { try AppStoreAnswer.json($0.payload) },
            "appTransaction": try verified.appTransaction.map { try AppStoreAnswer.json($0.payload) },
            "sendAttempts": try AppStoreAnswer.json(attempts ?? []),
            "lastSendAttemptResult": (attempts?.last?.sendAttemptResult).map { JSONValue.string($0.rawValue) },
        ])
    }

    /// Why a part of an answer is not shown, as a sentence.
    ///
    /// - Throws: the error, if it is about something else.
    static func refusal(of name: String, _ error: any Error) throws -> String {
        let message =
            switch error {
            case let error as SignedDataError: error.message
            case let error as AppStoreAnswerError: error.message
            default: throw error
            }
        return "\(name) is not genuine and is not shown: \(message)"
    }

    private static func present(_ jws: String?, _ name: String) throws -> String {
        guard let jws else { throw AppStoreAnswerError(message: "The answer has no \(name).") }
        return jws
    }
}

/// A part of an answer that is not what it must be, although its signatures are genuine, or that is missing.
struct AppStoreAnswerError: Error {
    /// One sentence.
    let message: String
}
