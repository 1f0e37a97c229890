internal import AppStoreTrust
internal import Crypto
internal import Encodings

/// The identifier of the device for which a receipt was made (Reference.md V5.2 and V7.4).
///
/// The app must send it to the server. On iOS it is the 16 bytes of `identifierForVendor`, on macOS the 6 bytes of the primary
/// network interface's MAC address.
public struct DeviceIdentifier: Hashable, Sendable {
    /// 16 bytes (iOS) or 6 bytes (macOS), in the order of the text form.
    public let bytes: [UInt8]

    /// - Parameter bytes: 16 bytes (iOS) or 6 bytes (macOS); nil for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 || bytes.count == 6 else { return nil }
        self.bytes = bytes
    }

    /// Reads a UUID such as `68753A44-4D6F-1226-9C60-0050E4C00067`, a MAC address such as `6c:40:08:b5:94:5e`, or the
    /// same digits without separators. Nil for anything else.
    public init?(_ text: String) {
        guard let bytes = [UInt8](hex: text.utf8, isSeparator: { ":-".utf8.contains($0) }) else { return nil }
        self.init(bytes: bytes)
    }
}

extension AppReceipt {
    /// Checks that the receipt was created for a device. Attribute 5 is the SHA-1 of the device identifier, attribute
    /// 4, and attribute 2 with its tag and length. The comparison takes constant time.
    ///
    /// - Throws: ``ReceiptError`` `missingAttribute` if the receipt has no hash, `deviceMismatch` if the hash is of
    ///   another device.
    public func checkDevice(_ device: DeviceIdentifier) throws(ReceiptError) {
        guard let opaqueValue else { throw ReceiptError(.missingAttribute, at: .attribute(4, purchase: nil)) }
        guard let sha1Hash else { throw ReceiptError(.missingAttribute, at: .attribute(5, purchase: nil)) }
        var hash = Insecure.SHA1()
        hash.update(data: device.bytes)
        hash.update(data: opaqueValue)
        hash.update(data: bundleIdEncoded)
        let expected = Array(hash.finalize())
        var difference = UInt8(expected.count == sha1Hash.count ? 0 : 1)
        for (left, right) in zip(expected, sha1Hash) { difference |= left ^ right }
        guard difference == 0 else { throw ReceiptError(.deviceMismatch, at: .attribute(5, purchase: nil)) }
    }
}
