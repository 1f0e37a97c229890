import Foundation
import NIOCore

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address equals the IPv4 address (RFC 4291, 2.5.5.2).
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// IPv4 is mapped to `::ffff:0:0/96`.
    private let bits: UInt128

    private init(bits: UInt128) { self.bits = bits }

    /// Parses an address without a port: the forms of RFC 4291, or four decimal numbers.
    package init?(_ text: some StringProtocol) {
        // NIO would look a scope (`fe80::1%eth0`) up among the interfaces.
        guard text.utf8.count <= 45, !text.utf8.contains(UInt8(ascii: "%")) else { return nil }
        self.init(try? SocketAddress(ipAddress: String(text), port: 0))
    }

    /// Nil for an address that is not an IP address.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): bits = 0xFFFF << 32 | UInt128(UInt32(bigEndian: address.address.sin_addr.s_addr))
        case .v6(let address):
            bits = withUnsafeBytes(of: address.address.sin6_addr) {
                UInt128(bigEndian: $0.loadUnaligned(as: UInt128.self))
            }
        case .unixDomainSocket, nil: return nil
        }
    }

    var isIPv4: Bool { bits >> 32 == 0xFFFF }

    /// The address that identifies a client: for IPv6 the /64 network, whose addresses belong to one client.
    var client: IPAddress { isIPv4 ? self : prefix(64) }

    /// The address with only its first `length` bits.
    fileprivate func prefix(_ length: Int) -> IPAddress { IPAddress(bits: bits & ~(UInt128.max >> length)) }

    package var description: String {
        if isIPv4 {
            return stride(from: 24, through: 0, by: -8).map { String(bits >> $0 & 0xFF) }.joined(separator: ".")
        }
        var packed = ByteBuffer()
        packed.writeInteger(bits)
        return (try? SocketAddress(packedIPAddress: packed, port: 0))?.ipAddress ?? ""
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
