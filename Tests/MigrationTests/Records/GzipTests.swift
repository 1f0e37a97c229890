import Foundation
import Migration
import TestSupport
import Testing

@Suite("gzip")
struct GzipTests {
    /// 40 lines of 13 digits, as gzip(1) writes them.
    private static let digits = """
        H4sIAAAAAAACA1XOsQHCQADDwD7TYBsC2X8x2j916i6voyvHhCs37s19uJv7cj/uOS9YgiVYgiVYgiVYgiVYgqVYiqVYiqVYiqVYiqVYimVYhmVYhmVYhmVY\
        hmVY9lx/jSSxFDACAAA=
        """

    /// A gzip stream with blocks that are not compressed (RFC 1952; RFC 1951, 3.2.4).
    private static func gzip(_ content: [UInt8], blockSize: Int = 60_000) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255]
        var rest = content[...]
        repeat {
            let block = rest.prefix(blockSize)
            rest = rest.dropFirst(blockSize)
            let length = UInt16(block.count)
            bytes.append(rest.isEmpty ? 1 : 0)
            for word in [length, ~length] { bytes += [UInt8(word & 255), UInt8(word >> 8)] }
            bytes += block
        } while !rest.isEmpty
        for number in [checksum(content), UInt32(content.count)] {
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return bytes
    }

    /// CRC-32 (RFC 1952, 8).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }

    private static func lines(_ count: Int) -> [UInt8] {
        Array((0..<count).map { "{\"user\":\($0),\"receipt\":\"\(Made.receipt($0))\"}\n" }.joined().utf8)
    }

    private static func describe(_ reading: Reading) -> [String] {
        reading.records.map { "\($0.place.position) \($0.place.byteOffset) \($0.payload)" }
    }

    @Test("an input is decompressed, whatever its chunks and however many streams follow each other")
    func decompressed() throws {
        let content = Self.lines(30)
        let expected = Self.describe(Reading([.bytes(content, name: "dump")]))
        let half = content.count / 2
        let streams =
            Self.gzip(Array(content[..<half]), blockSize: 700) + Self.gzip([]) + Self.gzip(Array(content[half...]))
        for chunkSize in [1, 2, 17, 1_000, InputLimits.chunkSize] {
            for bytes in [Self.gzip(content), streams, streams + [0, 0, 0]] {
                let reading = Reading([.bytes(bytes, name: "dump.gz")], chunkSize: chunkSize)
                #expect(Self.describe(reading) == expected)
                #expect(reading.errors.isEmpty)
            }
        }
        let digits = try #require(Data(base64Encoded: Self.digits))
        let ids = Reading([.bytes([UInt8](digits), name: "ids.txt.gz")])
        #expect(ids.kinds == (0..<40).map { "id \(1_000_000_000_000 + $0)" })
    }

    @Test("the format is that of the name without .gz")
    func name() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("table.csv.gz", Self.gzip(Array("id,receipt\n1,\(Made.receipt(1))\n".utf8)))
        let reading = Reading([.path(path)])
        #expect(reading.receipts == [Made.receipt(1)])
        #expect(reading.records.first?.place.position == .row(2))
        #expect(reading.records.first?.place.input == path)
    }

    @Test("of damaged data the records before the damage are read, and the rest is a record that names the byte")
    func damaged() throws {
        let whole = Self.gzip(Self.lines(30), blockSize: 1_000)
        var flipped = whole
        flipped[whole.count / 2] ^= 1
        var badBlock = whole
        badBlock[10 + 5 + 1_000] = 7
        let folder = try TemporaryFolder()
        for (name, bytes) in [
            ("cut", Array(whole.prefix(whole.count / 2))), ("checksum", flipped), ("block", badBlock),
            ("trailer", Array(whole.dropLast(3))), ("followed", whole + Array("text".utf8)),
        ] {
            let path = try folder.write("\(name).ndjson.gz", bytes)
            let good = try folder.write("\(name).good.b64", Made.receipt(99))
            let reading = Reading([.path(path), .path(good)])
            #expect(reading.errors.isEmpty, "\(name)")
            #expect(reading.receipts.first == Made.receipt(0), "\(name)")
            #expect(reading.receipts.last == Made.receipt(99), "\(name)")
            let unreadable = reading.records.filter { $0.payload.kind == "unreadable" }
            #expect(unreadable.count == 1 && unreadable.first?.place.input == path, "\(name)")
            guard case .unrecognized(let problem)? = unreadable.first?.payload else { continue }
            #expect(problem.message.contains("is damaged gzip data at byte"), "\(problem.message)")
        }
    }

    @Test("damaged standard input, and data without a record before the damage, are errors or records that name it")
    func nothing() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("empty.gz", [0x1F, 0x8B])
        let reading = Reading([.path(path), .bytes([0x1F, 0x8B, 9], name: "-")])
        #expect(reading.kinds == ["unreadable"])
        #expect(reading.errors.map(\.input) == ["-"])
    }

    @Test("a stream that grows a thousandfold keeps to the limits of a record")
    func bomb() throws {
        var content = [UInt8](repeating: 0x61, count: 4 << 20)
        content += Array("\n\(Made.receipt(1))\n".utf8)
        let reading = Reading(
            [.bytes(Self.gzip(content), name: "dump.gz")],
            options: InputOptions(format: .lines, maximumRecordSize: 100_000))
        #expect(reading.kinds == ["tooLarge", "receipt"])
    }
}
