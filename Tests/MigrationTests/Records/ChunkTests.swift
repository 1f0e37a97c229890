import Migration
import TestSupport
import Testing

@Suite("Chunks")
struct ChunkTests {
    private static let inputs: [(name: String, text: String, options: InputOptions)] = {
        let (a, b) = (Made.receipt(1, size: 90), Made.berReceipt(2, size: 80))
        let long = String(repeating: "y", count: 700)
        let ndjson =
            "\u{FEFF}{\"u\":\"é😀\",\"receipt\":\"\(a)\"}\r\n\r\n\"\(b)\"\n{]\n{\"u\":\"\(long)\"}\r\n\(Made.reply)"
        let wrapped =
            Made.wrapped(a, at: 20) + "\r\n\r\n" + Made.wrapped(b, at: 64) + "\n" + a + "\n12345\n" + long + "\n"
        let array =
            " [ {\"receipt\":\"\(a)\"},\n[1,{\"x\":\"]\\\\\\\"\"}],\"\(b)\" ,12, tru, \"\(long)\" ,\(Made.row) ]  [3]"
        let csv = "u;receipt;n\r\n\"a\r\n;\"\"b\";\(a);1\r\n\r\n2;\"\(b)\";\n3;\(long);\r\n\"4;\(a);1\r\n5;\(b);1"
        let object =
            "{\"at\":{\"x\":1} ,\n\"users\" : {\"u1\":{\"receipt\":\"\(a)\"},\"u2\" :{\"r\":[\"\(b)\"]},\"u3\":{\"y\":\"\(long)\"},"
            + "\"u4\":12,\"u5\":{\"receipt\":\"\(a)\"}}}\n{\"receipt\":\"\(b)\"} rest"
        var inputs: [(String, String, InputOptions)] = [
            ("document", "{\n \"status\": 0,\n \"receipt\": {\"bid\":\"b\"}\n}\n", .init()),
            ("property list", Made.propertyList, .init()),
            ("prose", "nothing here\nto see\n", .init()), ("empty", "", .init()), ("blank", "\r\n \n", .init()),
            ("sequence", "{\n\"receipt\":\"\(a)\"}\n{\n\"receipt\":\"\(b)\"}", .init()),
            ("row", "[\(Made.row),\(Made.row)]", .init()), ("truncated", "[\"\(a)\",\"\(b)", .init()),
        ]
        for limit in [InputLimits.recordSize, 699, 300] {
            inputs += [
                ("ndjson", ndjson, .init(maximumRecordSize: limit)),
                ("wrapped", wrapped, .init(maximumRecordSize: limit)),
            ]
            inputs += [
                ("array", array, .init(maximumRecordSize: limit)), ("csv", csv, .init(maximumRecordSize: limit)),
            ]
        }
        for columns in [[], ["users.*"]] {
            inputs.append(("object", object, .init(otherColumns: columns, maximumRecordSize: 400)))
        }
        for format in InputFormat.allCases where format != .csv {
            for (name, text) in [("ndjson", ndjson), ("wrapped", wrapped), ("array", array), ("csv", csv)] {
                inputs.append((name + " as " + format.rawValue, text, .init(format: format, maximumRecordSize: 600)))
            }
        }
        return inputs
    }()

    private static func describe(_ reading: Reading) -> [String] {
        reading.records.map { record in
            "\(record.place) @\(record.place.byteOffset) \(record.length) \(record.payload.kind) "
                + "\(record.payload.receiptText ?? "") \(record.carried) \(Array(record.original))"
        } + reading.errors.map(\.message) + ["\(reading.statistics)"]
    }

    @Test("the size of the chunks never changes a record, in any format and at any limit")
    func chunksDoNotMatter() {
        for input in Self.inputs {
            let expected = Self.describe(Reading(input.text, options: input.options))
            for chunkSize in [1, 2, 3, 7, 64, 1000] {
                let found = Self.describe(Reading(input.text, options: input.options, chunkSize: chunkSize))
                #expect(found == expected, "\(input.name), chunks of \(chunkSize)")
            }
        }
    }

    @Test("every byte but white space and separators is in a record")
    func nothingIsLost() {
        let separators: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0x2C, 0x5B, 0x5D, 0xEF, 0xBB, 0xBF]
        // A member of an object has more around it than its own bytes.
        for input in Self.inputs where !input.name.hasPrefix("csv") && input.name != "object" {
            let reading = Reading(input.text, options: input.options)
            guard reading.records.allSatisfy({ $0.original.count == $0.length }) else { continue }
            var covered = [Bool](repeating: false, count: input.text.utf8.count)
            for record in reading.records {
                for index in record.place.byteOffset..<(record.place.byteOffset + record.length) {
                    #expect(!covered[index], "\(input.name): byte \(index) is in two records")
                    covered[index] = true
                }
            }
            for (index, byte) in input.text.utf8.enumerated() where !covered[index] {
                #expect(separators.contains(byte), "\(input.name): byte \(index) is in no record")
            }
        }
    }

    @Test("any bytes at all are read without a trap, and nothing but separators is left out")
    func randomBytes() {
        var generator = SeededGenerator(seed: 42)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        let alphabet = Array("{}[]\",:;\n\r\t \\MIIeyJ01ab=.\u{FEFF}\0".utf8) + [0x30, 0x82, 0xFF]
        for _ in 0..<3000 {
            let bytes = (0..<random(120)).map { _ in alphabet[random(alphabet.count)] }
            let whole = Reading([.bytes(bytes, name: "x")])
            let pieces = Reading([.bytes(bytes, name: "x")], chunkSize: 1 + random(5))
            #expect(Self.describe(whole) == Self.describe(pieces))
        }
    }

    @Test("damaged inputs of every format are read alike in any chunks")
    func damaged() {
        var generator = SeededGenerator(seed: 7)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        for input in Self.inputs where !input.text.isEmpty {
            for _ in 0..<15 {
                var bytes = Array(input.text.utf8)
                for _ in 0..<(1 + random(3)) { bytes[random(bytes.count)] = UInt8(random(256)) }
                let whole = Reading([.bytes(bytes, name: "x")], options: input.options)
                let pieces = Reading([.bytes(bytes, name: "x")], options: input.options, chunkSize: 1 + random(9))
                #expect(Self.describe(whole) == Self.describe(pieces), "\(input.name)")
            }
        }
    }
}
