import AppStoreModels
import HTTPTypes
import HummingbirdCore

/// The requirements of HTTP for every request.
enum RequestRules {
    /// The answer to a request that breaks a rule, which closes the connection; nil for a valid request.
    static func refusal(of request: Request, isHTTP2: Bool) -> Answer? {
        if !isHTTP2, let (status, detail) = problem(of: request) { return .problem(status, detail, closes: true) }
        guard request.method == .connect else { return nil }
        return .problem(.methodNotAllowed, "This server is not a proxy and does not support CONNECT.", closes: true)
    }

    /// The fault of an HTTP/1 request; nil for a valid one.
    static func problem(of request: Request) -> (status: HTTPResponse.Status, detail: String)? {
        if let problem = hostProblem(request) { return (status: .badRequest, detail: problem) }
        guard hasUnknownTransferCoding(request) else { return nil }
        return (status: .notImplemented, detail: "The only Transfer-Encoding that this server reads is chunked.")
    }

    /// The answer to a body with a content coding; nil for any other.
    static func refusal(ofBodyOf request: Request) -> Answer? {
        problem(ofBodyOf: request).map { Answer.problem(.unsupportedMediaType, $0, closes: true) }
    }

    /// Why a body with a content coding gets 415 (RFC 9110, 15.5.16); nil for any other.
    static func problem(ofBodyOf request: Request) -> String? {
        guard let coding = request.headers.value(of: .contentEncoding), !coding.isEmpty,
            coding.lowercased() != "identity"
        else { return nil }
        return "The body has a Content-Encoding. Send it without one (identity)."
    }

    // MARK: Transfer-Encoding (RFC 9112, 6.1)

    /// The parser reads a body whose last coding is chunked, and does not undo any other coding.
    private static func hasUnknownTransferCoding(_ request: Request) -> Bool {
        guard let codings = request.headers.value(of: .transferEncoding) else { return false }
        return codings.split(separator: ",").contains { coding in
            let name = coding.drop(while: isWhiteSpace).prefix { !isWhiteSpace($0) }
            return !name.isEmpty && name.lowercased() != "chunked"
        }
    }

    private static func isWhiteSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

    // MARK: Host (RFC 9112, 3.2)

    /// The codec uses the first `Host` as the authority and leaves further ones in the fields.
    private static func hostProblem(_ request: Request) -> String? {
        guard let authority = request.head.authority else { return "A request of HTTP/1.1 needs the header Host." }
        if let host, request.headers.contains(host) { return "The request has more than one header Host." }
        return authority.utf8.allSatisfy(isOfAuthority) ? nil : "The header Host is not a valid host."
    }

    private static let host = HTTPField.Name("Host")

    /// Whether a byte is allowed in a host and port (RFC 3986, 3.2.2 and 3.2.3).
    private static func isOfAuthority(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "-._~%!$&'()*+,;=:[]".utf8.contains(byte)
    }
}
