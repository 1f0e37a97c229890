internal import AppStoreModels
internal import AppStoreServer

/// One request of the App Store Server API, without its transport.
struct APIRequest: Sendable {
    var method: String
    /// The parts of the path, percent-decoded.
    var path: [String]
    /// In order, names repeated as given, percent-decoded.
    var query: [(name: String, value: String)] = []
    /// The header field `Authorization`.
    var authorization: String?
    var body: [UInt8] = []

    func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }
    func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
}

/// One answer, without its transport.
struct APIResponse: Sendable {
    var status: Int
    /// JSON; empty for no body.
    var body: [UInt8] = []
    /// For status 429: the earliest next request, milliseconds since 1970 (Reference.md S3).
    var retryAfter: Int64?

    static func json(_ value: some Encodable) throws -> APIResponse {
        APIResponse(status: 200, body: try DeterministicJSON.encode(value))
    }

    static let empty = APIResponse(status: 200)
    /// Without a body, as Apple's (Reference.md S1).
    static let unauthorized = APIResponse(status: 401)
    static let noSuchPath = APIResponse(status: 404)
}

/// An error answer with Apple's error code.
struct APIRefusal: Error {
    let code: APIErrorCode
    var detail: String?

    init(_ code: APIErrorCode, _ detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// Apple's name for the error as a sentence, in the form of Apple's own messages: `Transaction id not found.`
    var message: String { detail ?? Self.sentence(code.name ?? "GeneralBadRequest") }

    var response: APIResponse {
        let body = JSONWriter.object {
            $0.member("errorCode", code.rawValue)
            $0.member("errorMessage", message)
        }
        return APIResponse(status: code.httpStatus, body: body)
    }

    private static func sentence(_ name: String) -> String {
        var words: [String] = []
        var previousIsCapital = false
        for letter in name {
            if letter.isUppercase, !previousIsCapital || words.isEmpty {
                words.append(String(letter))
            } else {
                words[words.count - 1].append(letter)
            }
            previousIsCapital = letter.isUppercase
        }
        let lower = words.enumerated().map {
            $0 > 0 && $1.dropFirst().contains(where: \.isLowercase) ? $1.lowercased() : $1
        }
        return lower.joined(separator: " ") + "."
    }
}
