internal import Foundation

/// Percent-encoding by RFC 3986 section 2.1 of all characters except the unreserved ones. It also encodes `+` and `/`,
/// because the tokens of the API may contain them.
enum PercentEncoding {
    private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

    static func encode(_ text: String) -> String {
        // Nil only for text that is not Unicode, and a Swift string always is.
        text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? ""
    }

    /// A text as one segment of a path; nil for texts that would change the path: empty, `.` and `..`.
    static func pathSegment(_ text: String) -> String? {
        text.isEmpty || text == "." || text == ".." ? nil : encode(text)
    }

    /// `?` and the parameters in order, including repeated names; empty if there are none.
    static func query(_ parameters: [(name: String, value: String)]) -> String {
        guard !parameters.isEmpty else { return "" }
        return "?" + parameters.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }
}
