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
        var members: [JSONObject.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(.init(key: name, value: value)) }
        }
        add("subscriptionGroupIdentifier", (group ?? transaction.subscriptionGroupIdentifier).map { .string($0) })
        add("originalTransactionId", transaction.originalTransactionId.map { .string($0) })
        add("status", item.status.map { .integer(Int64($0.rawValue)) })
        add("statusName", item.status.map { .string($0.name) })
        add("transaction", try AppStoreAnswer.json(transaction))
        if let jws = item.signedRenewalInfo {
            let renewal = try await verifier.verifiedRenewalInfo(jws, expecting: expectation, now: now).payload
            guard renewal.originalTransactionId == transaction.originalTransactionId else {
                throw AppStoreAnswerError(message: "The renewal info belongs to another subscription.")
            }
            add("renewalInfo", try AppStoreAnswer.json(renewal))
        }
        return .object(JSONObject(members: members))
    }

    /// One notification of a history, with the data that is signed inside it.
    ///
    /// - Throws: `SignedDataError`, or `AppStoreAnswerError` if there is no notification.
    func notification(_ signedPayload: String?, _ attempts: [SendAttemptItem]?) async throws -> JSONValue {
        let jws = try Self.present(signedPayload, "signedPayload")
        let verified = try await verifier.verifiedNotification(jws, expecting: expectation, now: now)
        var members = [
            JSONObject.Member(key: "notification", value: try AppStoreAnswer.json(verified.notification.payload))
        ]
        if let transaction = verified.transaction {
            members.append(.init(key: "transaction", value: try AppStoreAnswer.json(transaction.payload)))
        }
        if let renewal = verified.renewalInfo {
            members.append(.init(key: "renewalInfo", value: try AppStoreAnswer.json(renewal.payload)))
        }
        if let app = verified.appTransaction {
            members.append(.init(key: "appTransaction", value: try AppStoreAnswer.json(app.payload)))
        }
        members.append(.init(key: "sendAttempts", value: try AppStoreAnswer.json(attempts ?? [])))
        return .object(JSONObject(members: members))
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
