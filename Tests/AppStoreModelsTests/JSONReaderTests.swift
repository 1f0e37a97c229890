import AppStoreModels
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    private func failure(_ bytes: [UInt8]) -> JSONReadingError? {
        do throws(JSONReadingError) {
            _ = try JSONValue.parse(bytes)
            return nil
        } catch { return error }
    }

    private func failure(_ text: String) -> JSONReadingError? { failure(Array(text.utf8)) }

    /// Walks the text with the member scanner and returns the error, if any.
    private func scanFailure(_ bytes: [UInt8]) -> JSONReadingError? {
        bytes.withUnsafeBufferPointer { buffer in
            do throws(JSONReadingError) {
                var scanner = try JSONMemberScanner(buffer)
                while try scanner.next() != nil {}
                return nil
            } catch { return error }
        }
    }

    @Test("every kind of value is read")
    func kinds() throws {
        #expect(try parse("null") == .null)
        #expect(try parse(" true ") == .bool(true))
        #expect(try parse("false") == .bool(false))
        #expect(try parse("\"a\"") == .string("a"))
        #expect(try parse("[]") == .array([]))
        #expect(
            try parse("[1,[2],{}]") == .array([.integer(1), .array([.integer(2)]), .object(JSONObject(members: []))]))
        let object = try #require(try parse("{\"a\":1,\"b\":[null]}").object)
        #expect(object.members.map(\.key) == ["a", "b"])
        #expect(object["b"] == .array([.null]))
    }

    @Test("integers are exact in 64 bits, everything else keeps its text")
    func numbers() throws {
        #expect(try parse("0") == .integer(0))
        #expect(try parse("9007199254740993") == .integer(9_007_199_254_740_993))
        #expect(try parse("9223372036854775807") == .integer(.max))
        #expect(try parse("-9223372036854775808") == .integer(.min))
        #expect(try parse("9223372036854775808") == .number("9223372036854775808"))
        #expect(try parse("-9223372036854775809") == .number("-9223372036854775809"))
        #expect(try parse("99999999999999999999999") == .number("99999999999999999999999"))
        for text in ["-0", "1.0", "1e3", "-2.5E-7", "0.1", "1E+2"] { #expect(try parse(text) == .number(text)) }
    }

    @Test(
        "malformed numbers are refused",
        arguments: ["01", "-", "1.", ".5", "+1", "1e", "1e+", "0x10", "-01", "1..2", "NaN", "Infinity", "--1"])
    func malformedNumbers(text: String) {
        #expect(failure(text) != nil)
        #expect(scanFailure(Array("[\(text)]".utf8)) != nil)
    }

    @Test("escapes are undone")
    func escapes() throws {
        #expect(try parse(#""\"\\\/\b\f\n\r\t""#) == .string("\"\\/\u{8}\u{C}\n\r\t"))
        #expect(try parse(#""\u0041\u00e9\u20AC""#) == .string("Aé€"))
        #expect(try parse(#""\ud83d\uDE00""#) == .string("😀"))
        #expect(try parse(#""MII\/a\/b""#) == .string("MII/a/b"))
        #expect(try parse(#""\u0000""#) == .string("\u{0}"))
    }

    @Test(
        "a lone surrogate escape is an error at its backslash",
        arguments: [#""ab\ud800""#, #""ab\udc00""#, #""ab\ud800\n""#, #""ab\ud800\ud800""#, #""ab\ud83dxx""#])
    func loneSurrogates(text: String) {
        #expect(failure(text) == JSONReadingError(code: .loneSurrogate, offset: 3))
    }

    @Test("unknown and cut escapes are errors")
    func badEscapes() {
        #expect(failure(#""\x41""#)?.code == .invalidEscape)
        #expect(failure(#""\u12g4""#)?.code == .invalidEscape)
        #expect(failure(#""\u12"#)?.code == .unexpectedEnd)
        #expect(failure(#""\"#)?.code == .unexpectedEnd)
    }

    @Test(
        "invalid UTF-8 is an error that names the byte",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xFF],
        ] as [[UInt8]])
    func invalidUTF8(bytes: [UInt8]) {
        // At every distance from the eight-byte steps of the scanner.
        for padding in 0..<17 {
            let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + bytes + [0x22]
            #expect(failure(text) == JSONReadingError(code: .invalidUTF8, offset: 1 + padding))
            #expect(scanFailure([0x5B] + text + [0x5D]) == JSONReadingError(code: .invalidUTF8, offset: 2 + padding))
        }
    }

    @Test("valid UTF-8 of every length is read")
    func validUTF8() throws {
        for text in ["é", "€", "😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\u{D7FF}\u{E000}"] {
            for padding in 0..<9 {
                let string = String(repeating: "x", count: padding) + text
                #expect(try parse("\"\(string)\"") == .string(string))
            }
        }
    }

    @Test("a control character in a string is refused wherever it stands")
    func controlCharacters() {
        for byte in UInt8(0)..<0x20 {
            for padding in [0, 1, 7, 8, 9] {
                let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + [byte, 0x62, 0x22]
                #expect(failure(text) == JSONReadingError(code: .controlCharacter, offset: 1 + padding))
            }
        }
        #expect(failure([0x22, 0x7F, 0x22]) == nil)
    }

    @Test("in long strings too, what is special is found at every offset, the first of several")
    func specialBytesInLongStrings() {
        let plain = [0x22] + [UInt8](repeating: 0x61, count: 200) + [0x22]
        #expect(failure(plain) == nil)
        for offset in 1...200 {
            for byte in [0x00, 0x1F] as [UInt8] {
                var text = plain
                text[offset] = byte
                #expect(failure(text) == JSONReadingError(code: .controlCharacter, offset: offset))
                // A second one after it, and a quote, change nothing.
                if offset < 200 { text[200] = 0x01 }
                if offset < 199 { text[offset + 1] = 0x22 }
                #expect(failure(text) == JSONReadingError(code: .controlCharacter, offset: offset))
            }
            var closed = plain
            closed[offset] = 0x22
            #expect(failure(closed) == JSONReadingError(code: .trailingBytes, offset: offset + 1))
            var escaped = plain
            escaped[offset] = 0x5C
            let code: JSONReadingError.Code = offset == 200 ? .unexpectedEnd : .invalidEscape
            #expect(failure(escaped)?.code == code)
            var invalid = plain
            invalid[offset] = 0xFF
            #expect(failure(invalid) == JSONReadingError(code: .invalidUTF8, offset: offset))
        }
    }

    @Test(
        "the grammar is strict",
        arguments: [
            ("", JSONReadingError.Code.unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("{", .unexpectedEnd, 1),
            ("[1,]", .unexpectedByte, 3), ("{\"a\":1,}", .unexpectedByte, 7), ("[1 2]", .unexpectedByte, 3),
            ("{\"a\" 1}", .unexpectedByte, 5), ("{a:1}", .unexpectedByte, 1), ("[1}", .unexpectedByte, 2),
            ("{\"a\":1]", .unexpectedByte, 6), ("1 2", .trailingBytes, 2), ("{} x", .trailingBytes, 3),
            ("tru", .unexpectedEnd, 3), ("trux", .invalidLiteral, 0), ("'a'", .unexpectedByte, 0),
            ("\"a", .unexpectedEnd, 2), ("]", .unexpectedByte, 0), ("[", .unexpectedEnd, 1),
            ("/**/1", .unexpectedByte, 0),
            ("\u{FEFF}1", .unexpectedByte, 0), ("[1,,2]", .unexpectedByte, 3), ("{\"a\":}", .unexpectedByte, 5),
        ])
    func strictness(text: String, code: JSONReadingError.Code, offset: Int) {
        #expect(failure(text) == JSONReadingError(code: code, offset: offset))
    }

    @Test("nesting is bounded on both sides of the limit, and no depth overflows the stack")
    func depth() {
        let limit = JSONReadingLimits.maximumDepth
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            func nested(_ depth: Int) -> [UInt8] {
                Array((String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)).utf8)
            }
            #expect(failure(nested(limit)) == nil)
            #expect(scanFailure(nested(limit)) == nil)
            let expected = JSONReadingError(code: .tooDeep, offset: limit * open.utf8.count)
            #expect(failure(nested(limit + 1)) == expected)
            #expect(scanFailure(nested(limit + 1)) == expected)
            #expect(failure(nested(1_000_000)) == expected)
        }
    }

    @Test("brackets of mixed kinds close in order at every depth")
    func mixedNesting() {
        #expect(failure("[{\"a\":[{\"b\":[[],{}]}]}]") == nil)
        #expect(failure("[{\"a\":[{\"b\":[[},{}]}]}]")?.code == .unexpectedByte)
    }

    @Test("members keep their order and the last duplicate wins, in small and large objects")
    func duplicates() throws {
        for count in [2, 100] {
            let members = (0..<count).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
            let object = try #require(try parse("{\"k0\":\"first\",\(members),\"k1\":true}").object)
            #expect(object.members.count == count + 2)
            #expect(object.members.first?.value == .string("first"))
            #expect(object["k0"] == .integer(0))
            #expect(object["k1"] == .bool(true))
            #expect(object["absent"] == nil)
        }
    }

    @Test("errors of a slice count from its own first byte")
    func sliceOffsets() {
        let bytes = Array("xxxx[1,]".utf8)
        #expect(throws: JSONReadingError(code: .unexpectedByte, offset: 3)) { try JSONValue.parse(bytes[4...]) }
    }

    @Test("the scanner yields names, kinds and ranges without values")
    func scanner() throws {
        let text =
            #"{"user_id":"42", "re\u0063eipt" : "MII\/x","n":-1.5,"o":{"a":[1,{"b":"}"}]},"t":true,"z":null,"a":[ ]}"#
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { buffer in
            var scanner = try JSONMemberScanner(buffer)
            #expect(scanner.isObject)
            var seen: [String] = []
            while let member = try scanner.next() {
                let name = member.key.map { scanner.text($0) } ?? "?"
                let value = String(decoding: buffer[member.value], as: UTF8.self)
                seen.append("\(name) \(member.kind) \(member.hasEscapes) \(value)")
            }
            #expect(
                seen == [
                    #"user_id string false "42""#, #"receipt string true "MII\/x""#, "n number false -1.5",
                    #"o object false {"a":[1,{"b":"}"}]}"#, "t bool false true", "z null false null",
                    "a array false [ ]",
                ])
            #expect(try scanner.next() == nil)
        }
    }

    @Test("the scanner walks the elements of an array")
    func scannerArray() throws {
        let bytes = Array(#" [1, "two", {"three":3}] "#.utf8)
        try bytes.withUnsafeBufferPointer { buffer in
            var scanner = try JSONMemberScanner(buffer)
            #expect(!scanner.isObject)
            var strings: [String?] = []
            while let member = try scanner.next() {
                #expect(member.key == nil)
                strings.append(member.kind == .string ? String(decoding: bytes[member.content], as: UTF8.self) : nil)
            }
            #expect(strings == [nil, "two", nil])
        }
    }

    @Test("the scanner refuses scalars")
    func scannerScalar() {
        #expect(scanFailure(Array(" 1".utf8)) == JSONReadingError(code: .notAContainer, offset: 1))
    }

    @Test("scanner and parser agree on every damaged byte of a document")
    func scannerAgreesWithParser() throws {
        let document = Array(#"{"a":[1,-2.5e3,{"b":"x\u00e9\\y é"}],"c":null,"d":true,"e":"MIIabc","f":{}}"#.utf8)
        #expect(failure(document) == nil)
        for position in document.indices {
            for byte: UInt8 in [0x00, 0x22, 0x2C, 0x5C, 0x5D, 0x7B, 0x7D, 0x30, 0x61, 0x80, 0xFF, 0x20] {
                var damaged = document
                damaged[position] = byte
                let expected = failure(damaged)
                let scanned = scanFailure(damaged)
                // A scalar document parses and cannot be scanned; everything else must give the same error.
                if scanned?.code != .notAContainer { #expect(scanned == expected) }
            }
            #expect(failure(Array(document[..<position])) != nil)
            #expect(scanFailure(Array(document[..<position])) != nil)
        }
    }

    @Test("unescaping leaves text without escapes alone and never reads past a cut escape")
    func unescaping() {
        func unescaped(_ text: String) -> String {
            Array(text.utf8).withUnsafeBufferPointer { String(decoding: JSONStringScan.unescaped($0), as: UTF8.self) }
        }
        #expect(unescaped("") == "")
        #expect(unescaped("plain") == "plain")
        #expect(unescaped(#"a\/b\u00e9\ud83d\ude00"#) == "a/bé😀")
        #expect(unescaped(#"a\"#) == #"a\"#)
        #expect(unescaped(#"a\u12"#) == #"a\u12"#)
        #expect(unescaped(#"a\ud800"#) == #"a\ud800"#)
    }
}
