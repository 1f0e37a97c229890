internal import Foundation

/// Base64 by RFC 4648, sections 4 and 5.
enum Base64 {
    /// The standard alphabet with padding.
    static func standard(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    /// The alphabet for URLs without padding, as JWS requires (RFC 7515, section 2).
    static func url(_ bytes: [UInt8]) -> String {
        standard(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Decodes standard base64. Line ends and other characters outside the alphabet are skipped.
    static func decodeLenient(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters).map { [UInt8]($0) }
    }
}
