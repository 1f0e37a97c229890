/// Advice for an input that is not a receipt but is recognized.
enum Advice {
    static func about(_ bytes: [UInt8]) -> String? {
        let text = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        if text.starts(with: "eyJ".utf8), text.contains(UInt8(ascii: ".")) {
            return "This looks like a JWS that was cut or changed: it needs three parts with two periods between them."
        }
        // A property list begins with a brace too; JSON continues with a quoted name and a colon.
        if text.starts(with: "[".utf8) || (text.first == UInt8(ascii: "{") && text.contains(UInt8(ascii: ":"))) {
            return "The input is JSON, but contains no document of the App Store."
        }
        return nil
    }
}
