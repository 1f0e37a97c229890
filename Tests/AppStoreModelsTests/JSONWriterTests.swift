import AppStoreModels
import Foundation
import TestSupport
import Testing

@Suite struct JSONWriterTests {
    /// What a JSON parser that is not ours reads from a string that we wrote.
    private func readBack(_ json: [UInt8]) throws -> String {
        let value = try JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed)
        return try #require(value as? String)
    }

    @Test("Every scalar below U+0180 and the special ones read back, at every offset within a word")
    func strings() throws {
        let specials = (0..<0x180).compactMap { Unicode.Scalar(UInt32($0)) }.map(String.init)
        let others = [
            "\u{2028}", "\u{2029}", "😀", "👩‍👩‍👧", "\u{FFFF}", "\u{10FFFF}", "\r\n", "\\u0041", "//", "",
        ]
        for special in specials + others {
            for offset in 0...9 {
                let text = String(repeating: "a", count: offset) + special + "tail" + special
                let json = written { $0.string(text) }
                #expect(
                    try readBack(json).unicodeScalars.elementsEqual(text.unicodeScalars), "\(text.debugDescription)")
                #expect(json == written { $0.string(bytes: Array(text.utf8)) })
            }
        }
    }

    @Test("Texts of every length up to 300 bytes read back, plain and with bytes to escape anywhere")
    func lengths() throws {
        var random = SeededGenerator(seed: 11)
        for length in 0...300 {
            for density in [0, 30, 3] {
                let bytes = (0..<length).map { _ in
                    density > 0 && Int.random(in: 0..<density, using: &random) == 0
                        ? [0x00, 0x1F, 0x22, 0x5C, 0x0A].randomElement(using: &random) ?? 0
                        : UInt8.random(in: 0x20...0x7E, using: &random)
                }
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(try readBack(written { $0.string(text) }) == text)
                let list = written { writer in
                    writer.beginArray()
                    writer.string(text)
                    writer.string(bytes: bytes)
                    writer.endArray()
                }
                #expect(try JSONSerialization.jsonObject(with: Data(list)) as? [String] == [text, text])
            }
        }
    }

    @Test("U+FEFF is kept")
    func byteOrderMark() {
        // Not read back by JSONSerialization, which takes a leading U+FEFF of a string for a byte order mark.
        #expect(written { $0.string("\u{FEFF}a") } == [0x22, 0xEF, 0xBB, 0xBF, 0x61, 0x22])
        #expect(written { $0.string(bytes: [0xEF, 0xBB, 0xBF, 0x61]) } == [0x22, 0xEF, 0xBB, 0xBF, 0x61, 0x22])
    }

    @Test("Random bytes become a string that reads back as String(decoding:) repairs them")
    func illFormedUTF8() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let json = written { $0.string(bytes: bytes) }
            let expected = String(decoding: bytes, as: UTF8.self)
            #expect(try readBack(json).unicodeScalars.elementsEqual(expected.unicodeScalars), "\(bytes)")
        }
    }

    @Test("Only what RFC 8259 requires is escaped")
    func escapes() {
        #expect(
            writtenText { $0.string("\"\\/\u{8}\u{9}\n\u{C}\r\u{0}\u{1F}\u{7F}\u{2028}é") }
                == #""\"\\/\b\t\n\f\r\u0000\u001f"# + "\u{7F}\u{2028}é\"")
    }

    @Test(
        "Integers are written exactly",
        arguments: [
            0, 1, -1, 9, 10, -10, 99, 100, 1_697_680_122_257, 9_007_199_254_740_993, .max, .min, .max - 1, .min + 1,
        ])
    func integers(value: Int64) {
        #expect(writtenText { $0.integer(value) } == "\(value)")
    }

    @Test func integersOfOtherTypes() {
        #expect(writtenText { $0.integer(-5 as Int) } == "-5")
    }

    @Test(
        "Floating-point numbers read back as the same value",
        arguments: [
            0, -0.0, 1.5, 0.1, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -1e-7, 1e16, 123_456_789,
        ])
    func numbers(value: Double) throws {
        let json = written { $0.number(value) }
        let read = try #require(JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed) as? NSNumber)
        #expect(read.doubleValue == value)
    }

    @Test("Values without a JSON form are null", arguments: [Double.infinity, -.infinity, .nan])
    func notFinite(value: Double) {
        #expect(writtenText { $0.number(value) } == "null")
    }

    @Test("Commas stand between values and nowhere else")
    func commas() {
        let text = writtenText { writer in
            writer.beginArray()
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.endArray()
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.integer(1)
            writer.null()
            writer.boolean(true)
            writer.boolean(false)
            writer.number(0.5)
            writer.raw(Array("{\"r\":[]}".utf8))
            writer.string("s")
            writer.endArray()
            writer.key("b\n" as String)
            writer.beginObject()
            writer.key("c\"é")
            writer.string(bytes: Array("x".utf8))
            writer.endObject()
            writer.key("d")
            writer.null()
            writer.endObject()
            writer.endArray()
        }
        #expect(text == #"[{},[],{"a":[1,null,true,false,0.5,{"r":[]},"s"],"b\n":{"c\"é":"x"},"d":null}]"#)
    }

    @Test("A member without a value is left out with its comma")
    func absentMembers() {
        let text = writtenText { writer in
            writer.beginObject()
            writer.member("a", nil as String?)
            writer.member("b", nil as Int64?)
            writer.member("c", "x")
            writer.member("d", nil as Int32?)
            writer.member("e", nil as Bool?)
            writer.member("f", Int64.min)
            writer.member("g", nil as [String]?)
            writer.member("h", nil as Int?)
            writer.member("i", Int32.max)
            writer.member("j", false)
            writer.member("k", ["y", "z"])
            writer.member("l", [] as [String])
            writer.member("m", 7)
            writer.member("n", nil as Environment?)
            writer.member("o", Environment.xcode)
            writer.endObject()
        }
        #expect(
            text
                == #"{"c":"x","f":-9223372036854775808,"i":2147483647,"j":false,"k":["y","z"],"l":[],"m":7,"o":"Xcode"}"#
        )
    }

    @Test("The output does not depend on the reserved capacity, and is the same by every way of reading it")
    func room() {
        func write(_ writer: inout JSONWriter) {
            writer.beginArray()
            for length in 0...70 { writer.string(String(repeating: "x", count: length)) }
            for power in 0..<63 { writer.integer(Int64(1) << power) }
            writer.raw(Array("[1]".utf8))
            writer.raw("{}".utf8)
            writer.string("\"")
            writer.boolean(true)
            writer.null()
            writer.endArray()
            writer.newline()
            writer.verbatim(Array("a;b\r\n".utf8))
        }
        let numbers = (0..<63).map { String(Int64(1) << $0) }.joined(separator: ",")
        let strings = (0...70).map { "\"" + String(repeating: "x", count: $0) + "\"" }.joined(separator: ",")
        let expected = Array("[\(strings),\(numbers),[1],{},\"\\\"\",true,null]\na;b\r\n".utf8)
        for capacity in Array(0...64) + [expected.count - 1, expected.count, expected.count + 8, 10_000] {
            var writer = JSONWriter(reservingCapacity: capacity)
            write(&writer)
            #expect(writer.bytes == expected, "\(capacity)")
            #expect(writer.withBytes { Array($0) } == expected)
            let copy = writer
            writer.removeAll()
            #expect(writer.bytes.isEmpty)
            write(&writer)
            #expect(copy.finish() == expected)
            #expect(writer.finish() == expected)
        }
        #expect(JSONWriter().finish().isEmpty)
    }

    @Test("A returned buffer uses little more memory than it needs")
    func finishedRoom() {
        for capacity in [0, 100, 124, 126, 200, 1_000_000] {
            var writer = JSONWriter(reservingCapacity: capacity)
            writer.string(String(repeating: "x", count: 98))
            let bytes = writer.finish()
            #expect(bytes.count == 100)
            #expect(bytes.capacity < 200, "\(capacity)")
        }
    }

    @Test("Integers of every number of digits", arguments: 0..<19)
    func digits(count: Int) {
        let bound = (0..<count).reduce(Int64(1)) { power, _ in power * 10 }
        for value in [bound - 1, bound, bound + 1, bound &* 9] {
            #expect(writtenText { $0.integer(value) } == String(value))
        }
        #expect(writtenText { $0.integer(Int64.max) } == "9223372036854775807")
        #expect(writtenText { $0.integer(Int64.min) } == "-9223372036854775808")
    }

    @Test("Lines of NDJSON are independent, and a cleared writer begins anew")
    func lines() {
        var writer = JSONWriter()
        for value in 1...2 {
            writer.beginObject()
            writer.member("n", value)
            writer.endObject()
            writer.newline()
        }
        #expect(writer.bytes == Array("{\"n\":1}\n{\"n\":2}\n".utf8))
        writer.integer(1)
        writer.removeAll()
        writer.integer(2)
        #expect(writer.bytes == Array("2".utf8))
    }

    @Test("Indented JSON keeps the order of members, repeated names and the digits of numbers")
    func indented() throws {
        let value = try JSONValue.parse(Array(#"{"b":[1,{"price":0.10}],"a":{},"a":"x\ny","c":[]}"#.utf8))
        #expect(
            value.indented == """
                {
                  "b": [
                    1,
                    {
                      "price": 0.10
                    }
                  ],
                  "a": {},
                  "a": "x\\ny",
                  "c": []
                }
                """)
    }
}
