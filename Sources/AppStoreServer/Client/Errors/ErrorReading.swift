internal import AppStoreModels
internal import Foundation

/// Reads the error in an answer (Reference.md S3).
enum ErrorReading {
    /// The maximum length of Apple's text, in characters.
    static let longestMessage = 1000

    /// The error of an answer. If the body has no error object, only the HTTP status is known.
    static func error(
        from response: APITransportResponse, endpoint: APIEndpoint, environment: Environment, now: Int64
    ) -> AppStoreServerAPIError {
        var error = AppStoreServerAPIError(
            reason: .unexpectedStatus, endpoint: endpoint, environment: environment, httpStatus: response.status)
        if case .object(let object)? = try? JSONValue.parse(response.body), let code = object["errorCode"]?.integer {
            error.reason = .refused
            error.code = APIErrorCode(rawValue: code)
            error.message = object["errorMessage"]?.string.map { String($0.prefix(longestMessage)) }
        }
        switch response.status {
        case 401: error.reason = .unauthorized
        case 429: error.reason = .rateLimited
        default: break
        }
        error.retryAfter = response.retryAfter.flatMap { retryAfter($0, now: now) }
        return error
    }

    /// `Retry-After` in milliseconds since 1970, which is the form that Apple sends.
    ///
    /// A smaller number means seconds from now, as in RFC 9110 section 10.2.3; it can only come from a proxy. Anything
    /// else is ignored.
    static func retryAfter(_ text: String, now: Int64) -> Int64? {
        let digits = text.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
        guard let number = Int64(digits), number >= 0 else { return nil }
        return number >= 1_000_000_000_000 ? number : now + min(number, 86_400) * 1000
    }
}
