package import HTTPTypes

/// The client of a request that proxies have handed on, as `X-Forwarded-For` or `Forwarded` (RFC 7239) states it.
///
/// Each proxy appends the address that it was connected from, and anything before that is the client's own invention. So the
/// list is read from its end, as far as the addresses are those of trusted proxies; the first other one is the client.
package enum ForwardedAddress {
    /// A longer list is no list of proxies.
    private static let maximumHops = 32

    /// - Parameters:
    ///   - fields: the header of a request that came from a trusted proxy.
    ///   - trusted: the networks of the proxies.
    /// - Returns: nil where no header states an address, or the two headers state different ones: most proxies set one and
    ///   hand the other on as the client has sent it.
    package static func client(_ fields: HTTPFields, trusted: [IPNetwork]) -> IPAddress? {
        let listed = list(fields, named: forwardedFor).map { client(of: $0, trusted) { address($0) } }
        let stated = list(fields, named: forwarded).map { client(of: $0, trusted) { node($0) } }
        switch (listed, stated) {
        case (let listed?, let stated?): return listed == stated ? listed : nil
        case (let address?, nil), (nil, let address?): return address
        case (nil, nil): return nil
        }
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")
    private static let forwarded = HTTPField.Name("Forwarded")

    /// The elements of all fields of the name, in their order; nil if there is no such field.
    private static func list(_ fields: HTTPFields, named name: HTTPField.Name?) -> [Substring]? {
        guard let name else { return nil }
        var elements: [Substring]?
        for field in fields where field.name == name {
            elements = (elements ?? []) + field.value.split(separator: ",", omittingEmptySubsequences: false)
        }
        return elements
    }

    private static func client(
        of elements: [Substring], _ trusted: [IPNetwork], _ read: (Substring) -> IPAddress?
    ) -> IPAddress? {
        for element in elements.reversed().prefix(maximumHops) {
            guard let address = read(element) else { return nil }
            if !trusted.contains(where: { $0.contains(address) }) { return address }
        }
        return nil
    }

    /// The `for` of an element of `Forwarded`: `for=192.0.2.1;proto=https`, `For="[2001:db8::1]:4711"`. A name in place of an
    /// address (`unknown`, `_hidden`) is none.
    private static func node(_ element: Substring) -> IPAddress? {
        for pair in element.split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, trimmed(parts[0]).lowercased() == "for" else { continue }
            var value = trimmed(parts[1])
            if value.hasPrefix("\""), value.hasSuffix("\""), value.count >= 2 { value = value.dropFirst().dropLast() }
            return address(value)
        }
        return nil
    }

    /// An address with or without a port.
    private static func address(_ text: Substring) -> IPAddress? {
        let text = trimmed(text)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return IPAddress(text[text.index(after: text.startIndex)..<end])
        }
        if let address = IPAddress(text) { return address }
        guard let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon else { return nil }
        return IPAddress(text[..<colon])
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
