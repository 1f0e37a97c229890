import Foundation
import Migration
import TestCompression
import TestSupport
import Testing

@Suite("compressed inputs")
struct CompressionTests {
    private static func lines(_ count: Int) -> [UInt8] {
        Array((0..<count).map { "{\"user\":\($0),\"receipt\":\"\(Made.receipt($0))\"}\n" }.joined().utf8)
    }

    private static func describe(_ reading: Reading) -> [String] {
        reading.records.map { "\($0.place.unit) \($0.place.number) \($0.place.byteOffset) \($0.payload)" }
    }

    @Test(
        "an input is decompressed, for any chunks and number of members",
        arguments: CompressionFormat.allCases)
    func decompressed(_ compression: CompressionFormat) throws {
        let content = Self.lines(30)
        let expected = Self.describe(Reading([.bytes(content, name: "dump")]))
        let half = content.count / 2
        let members =
            compression.compressed(Array(content[..<half])) + compression.compressed([])
            + compression.compressed(Array(content[half...]))
        for chunkSize in [1, 2, 17, 1_000, InputLimits.chunkSize] {
            for bytes in [compression.compressed(content), members, members + [0, 0, 0]] {
                let reading = Reading([.bytes(bytes, name: "dump\(compression.suffix)")], chunkSize: chunkSize)
                #expect(Self.describe(reading) == expected)
                #expect(reading.errors.isEmpty)
            }
        }
    }

    @Test("the output of the programs is read", arguments: CompressionFormat.allCases)
    func programs(_ compression: CompressionFormat) throws {
        let digits = try #require(Data(base64Encoded: compression.digits))
        let ids = Reading([.bytes([UInt8](digits), name: "ids.txt\(compression.suffix)")])
        #expect(ids.kinds == (0..<40).map { "id \(1_000_000_000_000 + $0)" })
    }

    @Test("a gzip stream may have blocks of any size")
    func blocks() {
        let content = Self.lines(30)
        let reading = Reading([.bytes(CompressionFormat.gzipMember(content, blockSize: 700), name: "dump")])
        #expect(Self.describe(reading) == Self.describe(Reading([.bytes(content, name: "dump")])))
    }

    @Test("frames that zstd skips are skipped, also before the data")
    func skippedFrames() {
        let skipped: [UInt8] = [0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
        let content = Self.lines(3)
        let reading = Reading([.bytes(skipped + CompressionFormat.zstdFrame(content) + skipped, name: "dump.zst")])
        #expect(Self.describe(reading) == Self.describe(Reading([.bytes(content, name: "dump")])))
    }

    @Test("a text that begins as bzip2 data does is a text")
    func notCompressed() {
        #expect(
            Reading("BZh9 is no receipt", options: InputOptions(format: .lines)).originals == ["BZh9 is no receipt"])
    }

    @Test("the format is that of the name without the suffix of the compression", arguments: CompressionFormat.allCases)
    func name(_ compression: CompressionFormat) throws {
        let folder = try TemporaryFolder()
        let table = Array("id,receipt\n1,\(Made.receipt(1))\n".utf8)
        let path = try folder.write("table.csv\(compression.suffix)", compression.compressed(table))
        let reading = Reading([.path(path)])
        #expect(reading.receipts == [Made.receipt(1)])
        #expect(reading.records.first?.place.unit == .row && reading.records.first?.place.number == 2)
        #expect(reading.records.first?.place.input == path)
    }

    @Test(
        "of damaged data the records before the damage are read, and the rest is a record that names the byte",
        arguments: CompressionFormat.allCases)
    func damaged(_ compression: CompressionFormat) throws {
        let first = compression.compressed(Self.lines(15))
        let whole = first + compression.compressed(Self.lines(15))
        var flipped = whole
        flipped[first.count + (whole.count - first.count) / 2] ^= 1
        let folder = try TemporaryFolder()
        for (name, bytes) in [
            ("cut", Array(whole.prefix(first.count + 1_000))), ("flipped", flipped),
            ("trailer", Array(whole.dropLast(3))), ("followed", whole + Array("text".utf8)),
        ] {
            let path = try folder.write("\(name).ndjson\(compression.suffix)", bytes)
            let good = try folder.write("\(name).good.b64", Made.receipt(99))
            let reading = Reading([.path(path), .path(good)])
            #expect(reading.errors.isEmpty, "\(name)")
            #expect(reading.receipts.prefix(15) == (0..<15).map { Made.receipt($0) }[...], "\(name)")
            #expect(reading.receipts.last == Made.receipt(99), "\(name)")
            let unreadable = reading.records.filter { $0.payload.kind == "unreadable" }
            #expect(unreadable.count == 1 && unreadable.first?.place.input == path, "\(name)")
            guard case .unrecognized(let problem)? = unreadable.first?.payload else { continue }
            let byte = problem.message.split(separator: " ").compactMap { Int($0.dropLast()) }.first
            #expect(
                problem.message.contains("is damaged \(compression) data at byte")
                    && byte.map { (first.count...bytes.count).contains($0) } == true, "\(problem.message)")
        }
    }

    @Test("damage within the blocks of gzip is found")
    func damagedBlock() throws {
        let whole = CompressionFormat.gzipMember(Self.lines(30), blockSize: 1_000)
        var badBlock = whole
        badBlock[10 + 5 + 1_000] = 7
        let reading = Reading([.bytes(badBlock, name: "dump.gz")])
        #expect(reading.receipts.first == Made.receipt(0))
        #expect(reading.errors.map(\.message).first?.contains("at byte 1016") == true, "\(reading.errors)")
    }

    @Test(
        "damaged standard input, and data without a record before the damage, are errors or records that name it",
        arguments: CompressionFormat.allCases)
    func nothing(_ compression: CompressionFormat) throws {
        let folder = try TemporaryFolder()
        let start = Array(compression.compressed([]).prefix(5))
        let path = try folder.write("empty", start)
        let reading = Reading([.path(path), .bytes(start, name: "-")])
        #expect(reading.kinds == ["unreadable"])
        #expect(reading.errors.map(\.input) == ["-"])
    }

    @Test("a stream that grows a thousandfold keeps to the limits of a record", arguments: CompressionFormat.allCases)
    func bomb(_ compression: CompressionFormat) throws {
        var content = [UInt8](repeating: 0x61, count: 4 << 20)
        content += Array("\n\(Made.receipt(1))\n".utf8)
        let reading = Reading(
            [.bytes(compression.compressed(content), name: "dump")],
            options: InputOptions(format: .lines, maximumRecordSize: 100_000))
        #expect(reading.kinds == ["tooLarge", "receipt"])
    }

    @Test("a zstd window of more than 128 MiB is refused with what to do")
    func window() {
        let content = Self.lines(2)
        let allowed = CompressionFormat.zstdFrame(content, windowLog: 27)
        #expect(Reading([.bytes(allowed, name: "dump")]).receipts.count == 2)
        let reading = Reading([.bytes(CompressionFormat.zstdFrame(content, windowLog: 28), name: "dump")])
        #expect(reading.records.isEmpty)
        #expect(reading.errors.first?.message.contains("zstd --long=31") == true, "\(reading.errors)")
    }
}

extension CompressionFormat {
    /// 40 lines of 13 digits, as gzip(1), bzip2(1) and zstd(1) write them.
    fileprivate var digits: String {
        switch self {
        case .gzip:
            """
            H4sIAAAAAAACA1XOsQHCQADDwD7TYBsC2X8x2j916i6voyvHhCs37s19uJv7cj/uOS9YgiVYgiVYgiVYgiVYgqVYiqVYiqVYiqVY\
            iqVYimVYhmVYhmVYhmVYhmVY9lx/jSSxFDACAAA=
            """
        case .bzip2:
            "QlpoOTFBWSZTWeJew8MAAI/IAAHQf+AgAGg1QB+9VJkElR/pKGgdSTaa389rH2dAAAGbbbbcYkkNa0gEGBBfffgIbQMzMpC22kLbVVVVVUV/F3JFOFCQ4l7Dww=="
        case .zstd: "KLUv/WQwAbUBAOLCBwmweWS7mzMpHAhQNBJ3OReNxF2uRSNxl2PRSNwljAEoqBDwDuDnED5BPhxxFvW6cR+sFIf6RiQ="
        }
    }
}
