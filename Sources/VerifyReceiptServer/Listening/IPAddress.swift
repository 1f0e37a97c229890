import Foundation
import NIOCore

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address equals the IPv4 address (RFC 4291, 2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The high half of the 128 bits; IPv4 is mapped to `::ffff:0:0/96`.
    let high: UInt64
    let low: UInt64

    private static let mapped: UInt64 = 0xFFFF << 32

    private init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }

    private init(bytes: some Sequence<UInt8>) {
        var (high, low): (UInt64, UInt64) = (0, 0)
        for byte in bytes {
            high = high << 8 | low >> 56
            low = low << 8 | UInt64(byte)
        }
        (self.high, self.low) = (high, low)
    }

    private init(_ address: in_addr) {
        (high, low) = (0, Self.mapped | UInt64(UInt32(bigEndian: address.s_addr)))
    }

    private init(_ address: in6_addr) {
        var address = address
        self.init(bytes: withUnsafeBytes(of: &address) { Array($0) })
    }

    /// Parses an address without a port: the forms of RFC 4291, or four decimal numbers.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45 else { return nil }
        var (address4, address6) = (in_addr(), in6_addr())
        let text = String(text)
        if inet_pton(AF_INET, text, &address4) == 1 {
            self.init(address4)
        } else if inet_pton(AF_INET6, text, &address6) == 1 {
            self.init(address6)
        } else {
            return nil
        }
    }

    /// Nil for an address that is not an IP address.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): self.init(address.address.sin_addr)
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket, nil: return nil
        }
    }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The address that identifies a client: for IPv6 the /64 network, whose addresses belong to one client.
    var client: IPAddress { isIPv4 ? self : IPAddress(high, 0) }

    /// The address with only its first `length` bits.
    fileprivate func prefix(_ length: Int) -> IPAddress {
        IPAddress(
            high & Self.mask(length), low & Self.mask(length - 64))
    }

    private static func mask(_ length: Int) -> UInt64 {
        length <= 0 ? 0 : length >= 64 ? .max : ~(.max >> UInt64(length))
    }

    package var description: String {
        if isIPv4 {
            return stride(from: 24, through: 0, by: -8).map { String(low >> UInt64($0) & 0xFF) }.joined(separator: ".")
        }
        var address = in6_addr()
        withUnsafeMutableBytes(of: &address) { bytes in
            for index in 0..<8 {
                bytes[index] = UInt8(truncatingIfNeeded: high >> UInt64(56 - 8 * index))
                bytes[index + 8] = UInt8(truncatingIfNeeded: low >> UInt64(56 - 8 * index))
            }
        }
        var text = [CChar](repeating: 0, count: 64)
        guard inet_ntop(AF_INET6, &address, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A network in CIDR notation: `10.0.0.0/8`, `2001:db8::/32`; an address alone is a network of one.
public struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    private let base: IPAddress
    /// The length of the prefix, in the 128 bits.
    private let length: Int

    /// Nil if the text is not a network, or has bits after the prefix.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        let (offset, bits) = address.isIPv4 ? (96, 32) : (0, 128)
        var given = bits
        if parts.count == 2 {
            guard let number = Int(parts[1]), String(number) == parts[1], (0...bits).contains(number) else {
                return nil
            }
            given = number
        }
        length = offset + given
        base = address
        guard address.prefix(length) == address else { return nil }
    }

    package func contains(_ address: IPAddress) -> Bool { address.prefix(length) == base }

    public var description: String { "\(base)/\(base.isIPv4 ? length - 96 : length)" }
}
