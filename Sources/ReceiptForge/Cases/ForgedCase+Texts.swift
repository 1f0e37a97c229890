extension ForgedCase {
    /// What happens to base64 on its way through clients and databases.
    static func textCases() throws -> [ForgedCase] {
        try soundTextCases() + brokenTextCases()
    }

    /// A receipt whose base64 needs padding and has both `+` and `/` in it, or the damage would not show.
    private static func textReceipt() throws -> (ForgedAppReceipt, ForgedSignedData) {
        for build in 0..<64 {
            let receipt = Sample.usual().with { $0.applicationVersion = "3.4." + String(repeating: "1", count: build) }
            let message = try receipt.signedData(.g5)
            let text = base64(try message.encoded())
            if text.last == UInt8(ascii: "="), text.contains(UInt8(ascii: "+")), text.contains(UInt8(ascii: "/")) {
                return (receipt, message)
            }
        }
        throw ForgeError.badDescription("no receipt whose base64 shows every kind of damage")
    }

    private static func soundTextCases() throws -> [ForgedCase] {
        let (receipt, message) = try textReceipt()
        func text(
            _ name: String, _ shows: String, _ change: ([UInt8]) -> [UInt8]
        ) throws -> ForgedCase {
            try app(
                name, shows, receipt, message, expect: { $0.strictBase64Refuses = true },
                text: { change(base64($0)) })
        }
        return [
            try text("base64-url-alphabet", "base64 in the URL-safe alphabet, still padded.") {
                $0.map {
                    $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
                }
            },
            try text("base64-no-padding", "base64 without its padding.") { $0.filter { $0 != UInt8(ascii: "=") } },
            try text("base64-lines", "base64 in lines of 64 that end in CR LF.") { lines($0, ending: "\r\n") },
            try text("base64-line-feeds", "base64 in lines of 64 that end in LF, the last one too.") {
                lines($0, ending: "\n") + [10]
            },
            try text("base64-escaped-slashes", "base64 with `\\/` for `/`, as JSON encoders write it.") {
                $0.flatMap { $0 == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), $0] : [$0] }
            },
            try text("base64-trailing-newline", "base64 with a line feed at the end.") { $0 + [10] },
        ]
    }

    private static func brokenTextCases() throws -> [ForgedCase] {
        let (receipt, message) = try textReceipt()
        func broken(
            _ name: String, _ shows: String, _ reason: String, _ change: ([UInt8]) -> [UInt8]
        ) throws -> ForgedCase {
            try app(
                name, shows, receipt, message, .notAReceipt, reason, openSSL: true, text: { change(base64($0)) })
        }
        return [
            try broken("base64-foreign-character", "base64 with a character of neither alphabet.", "invalidBase64") {
                var text = $0
                text[text.count / 2] = UInt8(ascii: "!")
                return text
            },
            try broken("base64-padding-inside", "base64 with padding in the middle.", "invalidBase64") {
                var text = $0
                text[text.count / 2] = UInt8(ascii: "=")
                return text
            },
            try broken("base64-cut", "base64 cut in the middle, as by a column that is too narrow.", "truncated") {
                Array($0.prefix(4_000))
            },
        ]
    }

    private static func lines(_ text: [UInt8], ending: String) -> [UInt8] {
        let lines = stride(from: 0, to: text.count, by: 64).map { text[$0..<min($0 + 64, text.count)] }
        return Array(lines.joined(separator: Array(ending.utf8)))
    }
}
