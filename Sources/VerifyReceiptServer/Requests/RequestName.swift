import AppStoreModels
import HTTPTypes

/// The name of a request in logs and in the header `X-Request-Id`.
enum RequestName {
    static let header = HTTPField.Name("X-Request-Id")

    /// The client's own name, if it is 1 to 64 letters, digits, dots, hyphens and underscores, else a new one.
    static func of(_ request: HTTPRequest) -> String {
        if let header, let given = request.headerFields.value(of: header), isAcceptable(given) { return given }
        return Hexadecimal.text(.random(in: .min ... .max))
    }

    /// The trace id of the header `traceparent`: the second of its four parts, 32 hexadecimal digits in lower case (W3C Trace
    /// Context, 3.2.2). Nil if the header is missing or not valid. Versions after 00 may have more parts.
    static func traceId(of request: HTTPRequest) -> String? {
        guard let traceParent, let value = request.headerFields.value(of: traceParent), value.utf8.count <= 256
        else { return nil }
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0] != "00" || parts.count == 4, parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ Hexadecimal.isText($0, count: $1) }),
            parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return String(parts[1])
    }

    private static let traceParent = HTTPField.Name("traceparent")

    private static func isAcceptable(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIIAlphanumeric || "._-".utf8.contains($0) }
    }
}

/// Hexadecimal digits in lower case.
enum Hexadecimal {
    /// 16 digits.
    static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func isText(_ text: Substring, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}
