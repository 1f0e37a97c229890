package import HTTPTypes

/// The client of a request that came through proxies, as `X-Forwarded-For` or `Forwarded` (RFC 7239) states it.
///
/// Each proxy appends the address of its peer; a client can invent everything before it. So the list is read from its end. The
/// first address that is not a trusted proxy is the client.
package enum ForwardedAddress: Equatable {
    case client(IPAddress)
    /// No header states a client: the request is a proxy's own, or comes from one of the trusted networks.
    case onlyProxies
    /// A header contains something other than addresses, or the two headers state different clients. Most proxies set
    /// one header and pass the other on unchanged, so a client can cause this.
    case unclear

    /// The maximum length of a list of proxies.
    private static let maximumHops = 32

    /// - Parameters:
    ///   - fields: the header of a request that came from a trusted proxy.
    ///   - trusted: the networks of the proxies.
    package init(_ fields: HTTPFields, trusted: [IPNetwork]) {
        let listed = Self.list(fields, named: Self.forwardedFor).map { Self.last(of: $0, trusted) { Self.address($0) } }
        let stated = Self.list(fields, named: Self.forwarded).map { Self.last(of: $0, trusted) { Self.node($0) } }
        switch (listed, stated) {
        case (let listed?, let stated?): self = listed == stated ? listed : .unclear
        case (let one?, nil), (nil, let one?): self = one
        case (nil, nil): self = .onlyProxies
        }
    }

    package var client: IPAddress? { if case .client(let address) = self { address } else { nil } }

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

    /// The last address that is not a trusted proxy's.
    private static func last(
        of elements: [Substring], _ trusted: [IPNetwork], _ read: (Substring) -> IPAddress?
    ) -> ForwardedAddress {
        for element in elements.reversed().prefix(maximumHops) {
            guard let address = read(element) else { return .unclear }
            if !trusted.contains(where: { $0.contains(address) }) { return .client(address) }
        }
        return elements.count > maximumHops ? .unclear : .onlyProxies
    }

    /// The `for` of an element of `Forwarded`: `for=192.0.2.1;proto=https`, `For="[2001:db8::1]:4711"`. Nil for a name
    /// in place of an address (`unknown`, `_hidden`).
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
