import LegacyReceipts
import ReceiptForge
import Testing

/// The device hash (Reference.md V5.2 and V7.4).
@Suite("Device hash")
struct DeviceTests {
    @Test("SHA-1 of device identifier, attribute 4, and attribute 2 with its tag and length", arguments: [16, 6])
    func match(count: Int) throws {
        let guid = (0..<count).map { UInt8($0 * 13) }
        let content = plainReceipt().with { $0.deviceGuid = guid }.content
        let receipt = try decode(message(content))
        let device = try #require(DeviceIdentifier(bytes: guid))
        #expect(throws: Never.self) { try receipt.checkDevice(device) }
        for index in 0..<count {
            var other = guid
            other[index] ^= 1
            let wrong = try #require(DeviceIdentifier(bytes: other))
            let error = expectRefusal(.deviceMismatch) { try receipt.checkDevice(wrong) }
            #expect(error?.verdict == .notGenuine)
        }
    }

    @Test("Every bit of the hash counts, and so does its length")
    func everyBit() throws {
        let forged = plainReceipt().with { $0.deviceGuid = [1, 2, 3, 4, 5, 6] }
        let device = try #require(DeviceIdentifier(bytes: [1, 2, 3, 4, 5, 6]))
        let others = forged.with { $0.hasDeviceHash = false }.attributes.map(\.encoded)
        func check(_ hash: [UInt8]) throws {
            try decode(others + [attribute(5, hash)]).checkDevice(device)
        }
        let hash = forged.deviceHash
        #expect(throws: Never.self) { try check(hash) }
        for bit in 0..<160 {
            var wrong = hash
            wrong[bit / 8] ^= 1 << UInt8(bit % 8)
            expectRefusal(.deviceMismatch) { try check(wrong) }
        }
        for wrong in [[], Array(hash.dropLast()), hash + [0], Array(hash[..<1])] {
            expectRefusal(.deviceMismatch) { try check(wrong) }
        }
    }

    @Test("A receipt without attribute 4 or 5 belongs to no device")
    func missing() throws {
        let device = try #require(DeviceIdentifier(bytes: [1, 2, 3, 4, 5, 6]))
        let no4 = expectRefusal(.missingAttribute) {
            try decode(leastAttributes + [attribute(5, Array(0..<20))]).checkDevice(device)
        }
        #expect(no4?.location == .attribute(4, purchase: nil))
        let no5 = expectRefusal(.missingAttribute) {
            try decode(leastAttributes + [attribute(4, [1])]).checkDevice(device)
        }
        #expect(no5?.location == .attribute(5, purchase: nil))
    }

    @Test("UUIDs and MAC addresses as text")
    func texts() {
        let uuid = DeviceIdentifier("68753A44-4D6F-1226-9C60-0050E4C00067")
        #expect(
            uuid?.bytes == [
                0x68, 0x75, 0x3A, 0x44, 0x4D, 0x6F, 0x12, 0x26, 0x9C, 0x60, 0x00, 0x50, 0xE4, 0xC0, 0x00, 0x67,
            ])
        #expect(DeviceIdentifier("68753a444d6f12269c600050e4c00067") == uuid)
        #expect(DeviceIdentifier("6c:40:08:b5:94:5e")?.bytes == [0x6C, 0x40, 0x08, 0xB5, 0x94, 0x5E])
        for text in [
            "", "6c:40:08:b5:94", "6c:40:08:b5:94:5e:00", "6c:40:08:b5:94:5g", "6c:40:08:b5:94:5", "６c4008b5945e",
        ] {
            #expect(DeviceIdentifier(text) == nil, "\(text)")
        }
        #expect(DeviceIdentifier(bytes: []) == nil)
        #expect(DeviceIdentifier(bytes: [UInt8](repeating: 0, count: 15)) == nil)
    }
}
